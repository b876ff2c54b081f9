use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::pty::{Winsize, openpty};
use nix::sys::termios::OutputFlags;
use proptest::prelude::*;

use super::Key::{Backspace, Char, Enter, Escape, Other};
use super::*;

fn keys(reads: &[&[u8]]) -> Vec<Key> {
    let mut decoder = Decoder::default();
    reads
        .iter()
        .flat_map(|bytes| decoder.decode(bytes))
        .collect()
}

#[test]
fn plain_keys_are_themselves() {
    let typed = keys(&["a é部\r\n\x7f\x08\t\x04\u{85}".as_bytes()]);
    let expected = [
        Char('a'),
        Char(' '),
        Char('é'),
        Char('部'),
        Enter,
        Enter,
        Backspace,
        Backspace,
        Other,
        Other,
        Other,
    ];
    assert_eq!(typed, expected);
}

/// Each is one key or one reply, whole; none may leave a letter behind that could answer.
const SEQUENCES: &[&str] = &[
    "\x1b[A",
    "\x1b[1;5D",
    "\x1b[15~",
    "\x1bOP",
    "\x1bOa",
    "\x1bO1;5A",
    "\x1b[[A",
    "\x1b[Mada",
    "\x1b[<0;12;7M",
    "\x1b[?62;22c",
    "\x1b[97u",
    "\x1b[200~a\r\x1bd\x1b[20\x1b[201~",
    "\x1b]11;rgb:1a1a/dada/adad\x1b\\",
    "\x1b]52;c;YWFh\x07",
    "\x1bP>|term(1)ad\x1b\\",
    "\x1b_Ga\x1b\\",
];

/// Alt with a key; cut after the ESC it cannot be told from Escape and that key.
const ALT: &[&str] = &["\x1ba", "\x1bé", "\x1b\r"];

#[test]
fn a_sequence_is_swallowed_whole() {
    for sequence in SEQUENCES.iter().chain(ALT) {
        let typed = keys(&[sequence.as_bytes(), b"q"]);
        assert_eq!(typed, [Other, Char('q')], "{sequence:?}");
    }
}

#[test]
fn a_sequence_cut_anywhere_leaves_no_letter() {
    for sequence in SEQUENCES {
        for at in 1..sequence.len() {
            let (head, tail) = sequence.as_bytes().split_at(at);
            let typed = keys(&[head, tail, b"q"]);
            let (last, before) = typed.split_last().unwrap();
            assert_eq!(*last, Char('q'), "{sequence:?} cut at {at}");
            let harmless = |key: &Key| matches!(key, Other | Escape);
            assert!(
                before.iter().all(harmless),
                "{sequence:?} cut at {at}: {before:?}"
            );
        }
    }
}

#[test]
fn escape_alone_is_a_key_and_leaves_what_never_ends() {
    assert_eq!(keys(&[b"\x1b", b"a"]), [Escape, Char('a')]);
    assert_eq!(keys(&[b"\x1b", b"\x1b", b"a"]), [Escape, Escape, Char('a')]);
    assert_eq!(keys(&[b"\x1b\x1b[A", b"a"]), [Other, Other, Char('a')]);
    let never_ending: [&[u8]; 5] = [b"\x1b[200~", b"\x1b]0;", b"\x1b[1", b"\x1bP", b"\xc3"];
    for open in never_ending {
        let typed = keys(&[open, b"\x1b", b"a"]);
        assert_eq!(typed, [Escape, Char('a')], "{open:?}");
    }
    assert_eq!(keys(&[b"\x1b]abc\r", b"a"]), [Other, Char('a')]);
}

#[test]
fn broken_utf8_is_no_key() {
    assert_eq!(keys(&[b"\xff\xc3a"]), [Other, Other, Char('a')]);
    assert_eq!(keys(&[b"\xc3", b"\xa9"]), [Char('é')]);
    assert_eq!(keys(&[b"\xed\xa0\x80"]), [Other, Other]);
}

proptest! {
    #[test]
    fn any_bytes_in_any_portions_are_taken(reads in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..8), 0..20)) {
        let mut decoder = Decoder::default();
        for bytes in &reads {
            prop_assert!(decoder.decode(bytes).len() <= bytes.len() + 1);
        }
        decoder.decode(b"\x1b");
        prop_assert_eq!(decoder.decode(b"a"), [Char('a')]);
    }
}

struct Pty {
    master: File,
    slave: OwnedFd,
}

/// A terminal of our own that is nobody's controlling terminal.
fn pty(columns: u16) -> Pty {
    let size = Winsize {
        ws_row: 24,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let pty = openpty(&size, None).unwrap();
    Pty {
        master: File::from(pty.master),
        slave: pty.slave,
    }
}

impl Pty {
    fn type_in(&self, bytes: &[u8]) {
        (&self.master).write_all(bytes).unwrap();
    }

    fn is_readable(&self, wait: PollTimeout) -> bool {
        let mut fds = [PollFd::new(self.slave.as_fd(), PollFlags::POLLIN)];
        poll(&mut fds, wait).unwrap() > 0
    }

    fn modes(&self) -> (LocalFlags, OutputFlags, Vec<u8>) {
        let modes = tcgetattr(&self.slave).unwrap();
        (
            modes.local_flags,
            modes.output_flags,
            modes.control_chars.to_vec(),
        )
    }
}

#[test]
fn single_key_mode_is_entered_and_left() {
    let pty = pty(80);
    let before = pty.modes();
    {
        let _keys = Keys::enter(pty.slave.as_fd()).unwrap();
        let (local, output, _) = pty.modes();
        assert!(!local.intersects(LocalFlags::ICANON | LocalFlags::ECHO));
        assert!(local.contains(LocalFlags::ISIG));
        assert_eq!(output, before.1);
        pty.type_in(b"a");
        assert!(pty.is_readable(PollTimeout::from(5_000_u16)));
        let read = read_keys(pty.slave.as_fd(), &mut Decoder::default()).unwrap();
        assert_eq!(read, Input::Keys(vec![Char('a')]));
    }
    assert_eq!(pty.modes(), before);
}

#[test]
fn a_panic_and_a_pause_restore_the_terminal_too() {
    let pty = pty(80);
    let before = pty.modes();
    let mut keys = Keys::enter(pty.slave.as_fd()).unwrap();
    assert_eq!(keys.paused(|| pty.modes()).unwrap(), before);
    assert_ne!(pty.modes(), before);
    assert!(keys.ready().unwrap());
    let fd = pty.slave.as_fd();
    let caught = std::panic::catch_unwind(|| {
        let _moved = keys;
        panic!("on purpose");
    });
    assert!(caught.is_err());
    assert_eq!(tcgetattr(fd).unwrap().local_flags, before.0);
}

#[test]
fn typed_ahead_input_is_discarded() {
    let pty = pty(80);
    let _keys = Keys::enter(pty.slave.as_fd()).unwrap();
    pty.type_in(b"a");
    assert!(pty.is_readable(PollTimeout::from(5_000_u16)));
    discard_typed_ahead(pty.slave.as_fd()).unwrap();
    assert!(!pty.is_readable(PollTimeout::ZERO));
}

#[test]
fn a_vanished_terminal_is_closed_and_no_error() {
    let Pty { master, slave } = pty(80);
    let keys = Keys::enter(slave.as_fd()).unwrap();
    drop(master);
    let read = read_keys(slave.as_fd(), &mut Decoder::default()).unwrap();
    assert_eq!(read, Input::Closed);
    drop(keys);
}

#[test]
fn what_is_no_terminal_is_refused() {
    let file = tempfile::tempfile().unwrap();
    assert!(Keys::enter(file.as_fd()).is_err());
    assert!(discard_typed_ahead(file.as_fd()).is_err());
}

#[test]
fn columns_come_from_the_variable_or_the_terminal() {
    let pty = pty(97);
    let fd = pty.slave.as_fd();
    assert_eq!(columns(fd, None), Some(97));
    assert_eq!(columns(fd, Some("20")), Some(20));
    assert_eq!(columns(fd, Some("")), Some(97));
    assert_eq!(columns(fd, Some("-5")), Some(97));
    assert_eq!(columns(fd, Some("0")), Some(97));
    let file = tempfile::tempfile().unwrap();
    assert_eq!(columns(file.as_fd(), None), None);
    assert_eq!(columns(file.as_fd(), Some("20")), Some(20));
}
