//! The terminal under the key line: single keys, typed lines, an editor; each ends at once when the
//! question is settled elsewhere.

use std::fmt::Write as _;
use std::io::{Stdin, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::Command;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::error::{Error, Result};
use crate::park::{Ended, Wait};
use crate::render::out::to_stderr;
use crate::terminal::{Decoder, Input, Key, Keys, Resumed, discard_typed_ahead, read_keys};
use crate::watch::Also;

/// What came at the key line.
pub(super) enum Event {
    /// One key.
    Key(char),
    /// The number of an option; not every number has one.
    Number(usize),
    /// Nothing to act on; the key line may need printing again.
    Again,
    /// The wait ended.
    Ended(Ended),
    /// The terminal is gone.
    Gone,
}

/// What came where a line was typed.
pub(super) enum Typed {
    /// The line, without its end.
    Line(String),
    /// End of input in an empty line.
    Abandoned,
    /// The wait ended.
    Ended(Ended),
    /// The terminal is gone.
    Gone,
}

/// A hand has rested, and no key is held, where none came for so long.
const QUIET: Duration = Duration::from_millis(200);

/// One press, or why there was none.
enum Press {
    Key(char),
    /// Two digits at once.
    Pair(char, char),
    Event(Event),
    /// Nothing in time.
    Late,
}

/// A terminal whose keys answer.
pub(super) struct Console<'a> {
    stdin: BorrowedFd<'a>,
    keys: Option<Keys<'a>>,
    decoder: Decoder,
}

impl<'a> Console<'a> {
    /// Takes the keys of the terminal on standard input; a dumb one keeps its lines.
    pub(super) fn open(stdin: &'a Stdin, dumb: bool) -> Result<Self> {
        let stdin = stdin.as_fd();
        let keys = if dumb {
            None
        } else {
            Some(Keys::enter(stdin).map_err(broken)?)
        };
        Ok(Self {
            stdin,
            keys,
            decoder: Decoder::default(),
        })
    }

    /// What was typed before this cannot answer what is printed next.
    pub(super) fn forget_typed_ahead(&mut self) -> Result<()> {
        self.decoder = Decoder::default();
        discard_typed_ahead(self.stdin).map_err(broken)
    }

    /// Takes no key until `least` has passed, and 200 ms without any. Ends early if the wait does.
    pub(super) fn settle(&mut self, least: Duration, wait: &mut Wait<'_>) -> Result<Option<Ended>> {
        let start = Instant::now();
        let mut quiet_since = start;
        loop {
            if let Some(ended) = wait.check()? {
                return Ok(Some(ended));
            }
            let now = Instant::now();
            let left = (start + least)
                .max(quiet_since + QUIET)
                .saturating_duration_since(now);
            if left.is_zero() {
                return Ok(None);
            }
            let ready = match &mut self.keys {
                Some(keys) => keys.ready().map_err(broken)?,
                None => true,
            };
            let also = [Also {
                fd: self.stdin,
                events: PollFlags::POLLIN,
            }];
            let also = if ready { &also[..] } else { &[] };
            if wait.sleep_at_most(left, also)?.first() == Some(&true) {
                quiet_since = Instant::now();
                if !alive(self.stdin) {
                    return Ok(None);
                }
                self.forget_typed_ahead()?;
            }
        }
    }

    /// Prints the line of keys.
    #[allow(clippy::unused_self, reason = "only an open console has a key line")]
    pub(super) fn say_keys(&self, line: &str) {
        let mut prompt = String::new();
        let _ = write!(prompt, "{line} > ");
        let mut stderr = std::io::stderr().lock();
        let _ = stderr.write_all(prompt.as_bytes());
        let _ = stderr.flush();
    }

    /// The next key, unless the wait ends first. Where options have numbers of one or two `digits` (0:
    /// there are none), their keys come as a number. Several keys at once are a paste, and are dropped.
    pub(super) fn next_key(&mut self, digits: usize, wait: &mut Wait<'_>) -> Result<Event> {
        let (first, second) = match self.press(digits, None, wait)? {
            Press::Key(key) if digits > 0 && key.is_ascii_digit() => (key, None),
            Press::Pair(first, second) => (first, Some(second)),
            Press::Key(key) => return Ok(Event::Key(key)),
            Press::Event(event) => return Ok(event),
            Press::Late => return Ok(Event::Again),
        };
        if digits == 1 {
            return Ok(Event::Number(number(&[first])));
        }
        let second = match second {
            Some(second) => second,
            None => match self.second_digit(first, wait)? {
                Ok(second) => second,
                Err(event) => return Ok(event),
            },
        };
        if first == second
            && let Some(event) = self.held(wait)?
        {
            return Ok(event);
        }
        Ok(Event::Number(number(&[first, second])))
    }

    /// Waits a moment for a number's second digit. A first one that was left standing must not make a
    /// number with what is pressed much later, and any other key takes it back.
    fn second_digit(
        &mut self,
        first: char,
        wait: &mut Wait<'_>,
    ) -> Result<std::result::Result<char, Event>> {
        const TOGETHER: Duration = Duration::from_secs(3);
        if self.keys.is_some() {
            self.say_keys(&format!("{first}_ second digit"));
            match self.press(2, Some(Instant::now() + TOGETHER), wait)? {
                Press::Key(key) if key.is_ascii_digit() => return Ok(Ok(key)),
                Press::Event(event @ (Event::Ended(_) | Event::Gone)) => return Ok(Err(event)),
                Press::Late => new_line(),
                _ => {}
            }
        }
        say("no number: it has two digits here, one right after the other, such as 01");
        Ok(Err(Event::Again))
    }

    /// Whether the digit that came twice is a key that is held: none if it is not.
    fn held(&mut self, wait: &mut Wait<'_>) -> Result<Option<Event>> {
        if self.keys.is_none() {
            return Ok(None);
        }
        match self.press(2, Some(Instant::now() + QUIET), wait)? {
            Press::Late => return Ok(None),
            Press::Event(event @ (Event::Ended(_) | Event::Gone)) => return Ok(Some(event)),
            _ => say("no number: a third key came at once"),
        }
        let ended = self.settle(Duration::ZERO, wait)?;
        Ok(Some(ended.map_or(Event::Again, Event::Ended)))
    }

    /// The next press, up to a time.
    fn press(
        &mut self,
        digits: usize,
        until: Option<Instant>,
        wait: &mut Wait<'_>,
    ) -> Result<Press> {
        loop {
            if let Some(ended) = wait.check()? {
                new_line();
                return Ok(Press::Event(Event::Ended(ended)));
            }
            if wait.take_stop() {
                return self.suspend().map(Press::Event);
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(Press::Late);
            }
            let ready = match &mut self.keys {
                Some(keys) => keys.ready().map_err(broken)?,
                None => true,
            };
            let stdin = [Also {
                fd: self.stdin,
                events: PollFlags::POLLIN,
            }];
            let also = if ready { &stdin[..] } else { &[] };
            let limit = left.unwrap_or(Duration::MAX);
            if wait.sleep_at_most(limit, also)?.first() != Some(&true) {
                continue;
            }
            match read_keys(self.stdin, &mut self.decoder).map_err(broken)? {
                Input::Closed => return Ok(Press::Event(Event::Gone)),
                Input::Keys(keys) => {
                    if let Some(press) = self.meaning(&keys, digits) {
                        return Ok(press);
                    }
                }
            }
        }
    }

    fn meaning(&self, keys: &[Key], digits: usize) -> Option<Press> {
        let again = Some(Press::Event(Event::Again));
        let keys = match (keys, &self.keys) {
            // A dumb terminal sends whole lines, and has echoed their ends.
            ([Key::Enter], None) => return again,
            ([line @ .., Key::Enter], None) => line,
            (keys, _) => keys,
        };
        let echo = |text: &str| {
            if self.keys.is_some() {
                to_stderr(text);
            }
        };
        match *keys {
            [Key::Char(key)] => {
                echo(&key.to_string());
                Some(Press::Key(key))
            }
            [Key::Char(first), Key::Char(second)]
                if digits == 2 && first.is_ascii_digit() && second.is_ascii_digit() =>
            {
                echo(&format!("{first}{second}"));
                Some(Press::Pair(first, second))
            }
            [] | [Key::Other | Key::Backspace | Key::Escape] => None,
            [Key::Enter] => {
                new_line();
                again
            }
            _ => {
                say("several keys at once count as none");
                again
            }
        }
    }

    fn suspend(&mut self) -> Result<Event> {
        new_line();
        if let Some(keys) = &mut self.keys {
            match keys.suspend().map_err(broken)? {
                Resumed::Foreground => self.forget_typed_ahead()?,
                Resumed::Background | Resumed::NotStopped => {}
            }
        }
        Ok(Event::Again)
    }

    /// Reads a line as terminals edit them, unless the wait ends first.
    pub(super) fn read_line(&mut self, label: &str, wait: &mut Wait<'_>) -> Result<Typed> {
        let mut stderr = std::io::stderr().lock();
        let _ = stderr.write_all(label.as_bytes());
        let _ = stderr.flush();
        drop(stderr);
        let stdin = self.stdin;
        match &mut self.keys {
            Some(keys) => keys.paused(|| typed_line(stdin, wait)).map_err(broken)?,
            None => typed_line(stdin, wait),
        }
    }

    /// Hands a text to `$VISUAL`, `$EDITOR` or `vi` and returns what they left.
    pub(super) fn edit(&mut self, before: &str) -> std::result::Result<String, String> {
        let mut file = tempfile::Builder::new()
            .suffix(".json")
            .tempfile()
            .map_err(|e| e.to_string())?;
        writeln!(file, "{before}").map_err(|e| e.to_string())?;
        let set = |name| std::env::var(name).ok().filter(|v| !v.trim().is_empty());
        let editor = set("VISUAL")
            .or_else(|| set("EDITOR"))
            .unwrap_or_else(|| "vi".into());
        // The variable holds a command line, by the custom of every program that reads it.
        let run = || {
            Command::new("sh")
                .arg("-c")
                .arg(format!("{editor} \"$1\""))
                .arg("sh")
                .arg(file.path())
                .status()
        };
        let status = match &mut self.keys {
            Some(keys) => keys.paused(run).map_err(|e| e.to_string())?,
            None => run(),
        };
        match status {
            Ok(status) if status.success() => {
                std::fs::read_to_string(file.path()).map_err(|e| e.to_string())
            }
            Ok(status) => Err(format!("the editor ended with {status}")),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Whether a terminal that is ready to be read has keys and is not gone.
fn alive(stdin: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::new(stdin, PollFlags::POLLIN)];
    let _ = poll(&mut fds, PollTimeout::ZERO);
    let gone = PollFlags::POLLHUP | PollFlags::POLLERR | PollFlags::POLLNVAL;
    !fds[0]
        .revents()
        .is_some_and(|events| events.intersects(gone))
}

fn typed_line(stdin: BorrowedFd<'_>, wait: &mut Wait<'_>) -> Result<Typed> {
    let mut typed = Vec::new();
    loop {
        if let Some(ended) = wait.check()? {
            new_line();
            return Ok(Typed::Ended(ended));
        }
        let also = Also {
            fd: stdin,
            events: PollFlags::POLLIN,
        };
        if !wait.sleep(&[also])?[0] {
            continue;
        }
        let mut bytes = [0; 4096];
        match nix::unistd::read(stdin, &mut bytes) {
            Ok(0) if typed.is_empty() => return Ok(Typed::Abandoned),
            Ok(0) => {}
            Ok(count) => typed.extend_from_slice(&bytes[..count]),
            Err(nix::errno::Errno::EINTR | nix::errno::Errno::EAGAIN) => continue,
            Err(_) => return Ok(Typed::Gone),
        }
        if let Some(end) = typed.iter().position(|b| *b == b'\n') {
            let line = String::from_utf8_lossy(&typed[..end]).into_owned();
            return Ok(Typed::Line(line));
        }
    }
}

/// Says something on a line of its own.
pub(super) fn say(text: &str) {
    to_stderr(text);
}

/// The number that some digits spell.
fn number(digits: &[char]) -> usize {
    let digits = digits.iter().filter_map(|digit| digit.to_digit(10));
    digits.fold(0, |number, digit| number * 10 + digit as usize)
}

fn new_line() {
    let _ = std::io::stderr().lock().write_all(b"\n");
}

fn broken(error: std::io::Error) -> Error {
    Error::unavailable(format!("the terminal cannot be used: {error}"))
}
