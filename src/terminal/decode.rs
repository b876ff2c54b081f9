//! Bytes of a terminal to keys. What is no plain key can never be taken for one: escape sequences,
//! pasted text within its brackets and a terminal's late replies are swallowed whole, also when
//! they come in parts.

/// One key press.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A printable character, the space among them.
    Char(char),
    /// Return or line feed.
    Enter,
    /// The escape key alone.
    Escape,
    /// Backspace or delete-to-the-left.
    Backspace,
    /// Anything else: arrows, function keys, Alt and Ctrl with a key, a paste, bad UTF-8.
    Other,
}

/// A paste ends with `ESC [ 201 ~` (xterm, "bracketed paste mode").
const PASTE_END: &[u8] = b"\x1b[201~";
/// What stands between `ESC [` and `~` where a paste begins.
const PASTE_START: &[u8] = b"200";

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;

/// Where in a sequence the bytes so far have led.
#[derive(Debug, Default)]
enum State {
    #[default]
    Ground,
    /// After ESC.
    Escape,
    /// After an ESC that was reported as the key, since nothing had come after it.
    Reported,
    /// After `ESC [`, with what has come since (ECMA-48, 5.4).
    Control(Vec<u8>),
    /// After `ESC O`: keypad and function keys.
    Function,
    /// This many more bytes of a sequence of fixed length.
    Rest(u8),
    /// In an OSC, DCS, APC, PM or SOS string: a late reply to what another program asked.
    Text,
    /// After an ESC in such a string.
    TextEscape,
    /// In a paste, with how much of its end has come.
    Paste(usize),
    /// In a UTF-8 character, held down with Alt or not.
    Char(Vec<u8>, Modifier),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Modifier {
    None,
    Alt,
}

/// Turns bytes into keys and keeps what is incomplete until the next bytes come. Keep one for as
/// long as the terminal is read.
#[derive(Debug, Default)]
pub struct Decoder {
    state: State,
}

impl Decoder {
    /// The keys that are complete with these bytes, which are those of one `read`.
    ///
    /// An ESC that ends them is [`Key::Escape`] at once; if it was the first byte of a sequence cut
    /// in two, the rest of that is still swallowed. Pressing Escape alone leaves any sequence that
    /// never ends.
    pub fn decode(&mut self, bytes: &[u8]) -> Vec<Key> {
        let mut keys = Vec::new();
        if bytes == [ESC] {
            self.state = State::Ground;
        }
        for &byte in bytes {
            let state = std::mem::take(&mut self.state);
            self.state = step(state, byte, &mut keys);
        }
        if matches!(self.state, State::Escape) {
            keys.push(Key::Escape);
            self.state = State::Reported;
        }
        keys
    }
}

fn step(state: State, byte: u8, keys: &mut Vec<Key>) -> State {
    match state {
        State::Ground => plain(byte, Modifier::None, keys),
        State::Escape => introducer(byte).unwrap_or_else(|| plain(byte, Modifier::Alt, keys)),
        State::Reported => introducer(byte).unwrap_or_else(|| plain(byte, Modifier::None, keys)),
        State::Control(so_far) => control(so_far, byte, keys),
        State::Function if (0x20..0x40).contains(&byte) => State::Function,
        State::Rest(left) if left > 1 => State::Rest(left - 1),
        State::Text => text(byte, keys),
        State::TextEscape if byte != b'\\' => step(State::Escape, byte, keys),
        State::Paste(matched) => paste(matched, byte, keys),
        State::Char(bytes, modifier) => character(bytes, byte, modifier, keys),
        State::Function | State::Rest(_) | State::TextEscape => other(keys),
    }
}

fn other(keys: &mut Vec<Key>) -> State {
    keys.push(Key::Other);
    State::Ground
}

/// The sequence that this byte begins after an ESC.
fn introducer(byte: u8) -> Option<State> {
    match byte {
        b'[' => Some(State::Control(Vec::new())),
        b'O' => Some(State::Function),
        b']' | b'P' | b'X' | b'^' | b'_' => Some(State::Text),
        _ => None,
    }
}

/// A byte outside any sequence, or one that came with Alt and so is no plain key.
fn plain(byte: u8, modifier: Modifier, keys: &mut Vec<Key>) -> State {
    let key = match byte {
        ESC if modifier == Modifier::None => return State::Escape,
        ESC => {
            keys.push(Key::Other);
            return State::Escape;
        }
        0xc2..=0xf4 => return State::Char(vec![byte], modifier),
        _ if modifier == Modifier::Alt => Key::Other,
        b'\r' | b'\n' => Key::Enter,
        0x08 | 0x7f => Key::Backspace,
        0x20..=0x7e => Key::Char(char::from(byte)),
        _ => Key::Other,
    };
    keys.push(key);
    State::Ground
}

/// Besides the standard form: `ESC [ [ A` (function keys of the Linux console) and `ESC [ M` with
/// three bytes (xterm's first mouse protocol). A control character ends a broken sequence.
fn control(mut so_far: Vec<u8>, byte: u8, keys: &mut Vec<Key>) -> State {
    match byte {
        0x20..0x40 => {
            if so_far.len() < PASTE_START.len() + 1 {
                so_far.push(byte);
            }
            State::Control(so_far)
        }
        b'[' if so_far.is_empty() => State::Rest(1),
        b'M' if so_far.is_empty() => State::Rest(3),
        b'~' if so_far == PASTE_START => State::Paste(0),
        ESC => {
            keys.push(Key::Other);
            State::Escape
        }
        _ => other(keys),
    }
}

/// No reply holds a line end, so Enter also leaves a string that was none (Alt with `]`).
fn text(byte: u8, keys: &mut Vec<Key>) -> State {
    match byte {
        BEL | b'\r' | b'\n' => other(keys),
        ESC => State::TextEscape,
        _ => State::Text,
    }
}

fn paste(matched: usize, byte: u8, keys: &mut Vec<Key>) -> State {
    if byte != PASTE_END[matched] {
        return State::Paste(usize::from(byte == ESC));
    }
    if matched + 1 == PASTE_END.len() {
        return other(keys);
    }
    State::Paste(matched + 1)
}

fn character(mut bytes: Vec<u8>, byte: u8, modifier: Modifier, keys: &mut Vec<Key>) -> State {
    if !(0x80..0xc0).contains(&byte) {
        keys.push(Key::Other);
        return plain(byte, Modifier::None, keys);
    }
    bytes.push(byte);
    match std::str::from_utf8(&bytes) {
        Ok(text) => {
            let plain = |char: &char| modifier == Modifier::None && !char.is_control();
            let char = text.chars().next().filter(plain);
            keys.push(char.map_or(Key::Other, Key::Char));
            State::Ground
        }
        Err(error) if error.error_len().is_none() => State::Char(bytes, modifier),
        Err(_) => other(keys),
    }
}
