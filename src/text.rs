//! Untrusted text, made safe to look at without hiding any of it.
//!
//! No function here ever emits a control character (but the newlines of [`pipe`]) or any other that
//! [`is_hidden`](crate::words::is_hidden) names: each appears as a visible `\u{hex}`. Letters, accents,
//! CJK, Hebrew, Arabic and emoji stay as they are. A combining mark with nothing to sit on, and the
//! ninth and later ones on one letter, are escaped too, so that no text draws over its neighbours. All
//! functions are total, pure and linear in the text's length.

mod block;
mod chars;
#[cfg(test)]
mod tests;

pub use block::{Block, block};

use chars::pieces;

/// The text on one line; newlines and tabs are escaped like every other control.
pub fn line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in pieces(text) {
        piece.push_to(&mut out);
    }
    out
}

/// The text with its newlines kept and everything else as in [`line()`]: for free text that goes to
/// a terminal as it is, without a gutter.
pub fn pipe(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in pieces(text) {
        if piece.char == '\n' {
            out.push('\n');
        } else {
            piece.push_to(&mut out);
        }
    }
    out
}

/// The text on one line of at most `columns` display columns, runs of blanks collapsed to one.
///
/// Where it does not fit it ends in `…+N`: N characters (Unicode scalar values) of `text` follow
/// that are not shown. Too narrow even for that mark, it is `…` alone, or empty for no columns.
pub fn cut(text: &str, columns: usize) -> String {
    let mut out = String::new();
    let mut width = 0;
    let mut taken = 0;
    let mut stops = Vec::new();
    let mut after_blank = false;
    let mut rest = pieces(text);
    while let Some(piece) = rest.next() {
        let blank = piece.is_blank();
        if !(blank && after_blank) {
            stops.push(Stop {
                bytes: out.len(),
                width,
                taken,
            });
            if width + piece.width > columns {
                return cut_back(out, &stops, taken + 1 + rest.count(), columns);
            }
            width += piece.width;
            piece.push_to(&mut out);
        }
        after_blank = blank;
        taken += 1;
    }
    out
}

/// A place where [`cut`] may end what it shows. The last that fits is taken, so a letter keeps its
/// marks, which need no room.
struct Stop {
    bytes: usize,
    width: usize,
    taken: usize,
}

fn cut_back(mut out: String, stops: &[Stop], total: usize, columns: usize) -> String {
    for stop in stops.iter().rev() {
        let mark = format!("…+{}", total - stop.taken);
        if stop.width + width(&mark) <= columns {
            out.truncate(stop.bytes);
            return out + &mark;
        }
    }
    if columns > 0 { "…" } else { "" }.to_owned()
}

/// Display columns of a text that is already safe, counted character by character: an upper bound
/// of what terminals make of it, since some join emoji sequences and some do not.
pub fn width(safe: &str) -> usize {
    safe.chars().map(chars::columns).sum()
}
