//! Tables whose columns line up, whatever is in them: every cell is made safe here.

use super::style::{Paint, Style};
use crate::text::{cut, width};

/// Between two columns.
const GAP: &str = "  ";
/// What no column but the last may exceed: one long name must not push the rest off the screen.
const WIDEST: usize = 24;
/// With less room than this for the last column, rows are flowed instead.
const NARROWEST_LAST: usize = 12;

/// One cell: a text as it came, and how it looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    text: String,
    paint: Paint,
}

impl Cell {
    /// A cell with a look of its own.
    pub fn new(text: impl Into<String>, paint: Paint) -> Self {
        Self {
            text: text.into(),
            paint,
        }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::new(text, Paint::Plain)
    }
}

/// The head and the rows as lines of at most `columns` (from 20) display columns, without line ends
/// and without trailing blanks of padding.
///
/// Columns are as wide as their widest cell, up to 24; the last one takes what room is left. Both
/// are cut as [`cut`] does. Where that leaves less than 12 for the last column, a row's cells follow
/// one another over as many lines as they need, all but the first indented.
pub fn table(head: &[&str], rows: &[Vec<Cell>], columns: usize, style: Style) -> Vec<String> {
    let head = head.iter().map(|name| Cell::new(*name, Paint::Dim));
    let head: Vec<Cell> = head.collect();
    let widths = widths(std::iter::once(&head).chain(rows));
    let before_last: usize = widths.iter().map(|wide| wide + GAP.len()).sum();
    let room = columns.saturating_sub(before_last);
    let all = std::iter::once(&head).chain(rows);
    if room < NARROWEST_LAST {
        return all.flat_map(|row| flow(row, columns, style)).collect();
    }
    all.map(|row| aligned(row, &widths, room, style)).collect()
}

/// Of every column but the last.
fn widths<'a>(rows: impl Iterator<Item = &'a Vec<Cell>>) -> Vec<usize> {
    let mut widths = Vec::new();
    for row in rows {
        for (at, cell) in row.iter().enumerate().take(row.len().saturating_sub(1)) {
            let wide = width(&cut(&cell.text, WIDEST));
            match widths.get_mut(at) {
                Some(known) => *known = wide.max(*known),
                None => widths.push(wide),
            }
        }
    }
    widths
}

fn aligned(row: &[Cell], widths: &[usize], room: usize, style: Style) -> String {
    let mut line = String::new();
    for (at, cell) in row.iter().enumerate() {
        if at + 1 == row.len() {
            line += &style.paint(cell.paint, &cut(&cell.text, room));
            break;
        }
        let shown = cut(&cell.text, WIDEST);
        line += &style.paint(cell.paint, &shown);
        line += &" ".repeat(widths[at] - width(&shown));
        line += GAP;
    }
    line
}

fn flow(row: &[Cell], columns: usize, style: Style) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for (at, cell) in row.iter().enumerate() {
        let is_last = at + 1 == row.len();
        let room = columns.saturating_sub(GAP.len());
        let shown = cut(&cell.text, if is_last { room } else { room.min(WIDEST) });
        let wide = width(&shown) + GAP.len();
        if used > 0 && used + wide > columns {
            lines.push(String::new());
            used = 0;
        }
        let line = lines.last_mut().expect("never empty");
        if at > 0 {
            line.push_str(GAP);
            used += GAP.len();
        }
        line.push_str(&style.paint(cell.paint, &shown));
        used += width(&shown);
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rows(rows: &[&[&str]]) -> Vec<Vec<Cell>> {
        let cells = |row: &&[&str]| row.iter().map(|&text| Cell::from(text)).collect();
        rows.iter().map(cells).collect()
    }

    #[test]
    fn columns_line_up_by_what_is_seen() {
        let rows = rows(&[
            &["1f3a", "claude", "Deploy?"],
            &["9c", "部署", "x\x1b[2J"],
            &["0b", "e\u{301}", "y"],
        ]);
        let lines = table(&["ID", "AGENT", "SUMMARY"], &rows, 80, Style::PLAIN);
        assert_eq!(
            lines,
            [
                "ID    AGENT   SUMMARY",
                "1f3a  claude  Deploy?",
                "9c    部署    x\\u{1b}[2J",
                "0b    e\u{301}       y",
            ]
        );
    }

    #[test]
    fn the_last_column_is_cut_to_the_terminal_and_long_names_to_theirs() {
        let name = "n".repeat(100);
        let rows = rows(&[&["1f3a", &name, &"x".repeat(1_980)]]);
        let lines = table(&["ID", "AGENT", "SUMMARY"], &rows, 60, Style::PLAIN);
        let shown = format!("1f3a  {}…+80  {}…+1958", "n".repeat(20), "x".repeat(22));
        assert_eq!(lines[1], shown);
        assert_eq!(width(&lines[1]), 60);
    }

    #[test]
    fn a_narrow_terminal_gets_every_cell_on_lines_that_fit() {
        let rows = rows(&[&[
            "1f3a",
            "12s",
            "9m",
            "claude-code",
            "permission",
            "Deploy the thing?",
        ]]);
        let lines = table(
            &["ID", "AGE", "LEFT", "AGENT", "KIND", "SUMMARY"],
            &rows,
            20,
            Style::PLAIN,
        );
        assert_eq!(
            lines[lines.len() - 4..],
            [
                "1f3a  12s  9m",
                "  claude-code",
                "  permission",
                "  Deploy the thing?"
            ]
        );
    }

    #[test]
    fn paint_does_not_shift_columns() {
        let style = Style::decide(super::super::style::When::Always, |_| None, false);
        let rows = vec![vec![Cell::new("no", Paint::Red), "x".into()]];
        let lines = table(&["WAITS", "S"], &rows, 80, style);
        assert_eq!(lines[1], "\x1b[31mno\x1b[0m     x");
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_terminal(
            texts in proptest::collection::vec(".{0,40}", 3..12),
            columns in 20..120_usize,
        ) {
            let rows: Vec<Vec<Cell>> = texts
                .chunks(3)
                .map(|row| row.iter().map(|text| Cell::from(text.as_str())).collect())
                .collect();
            for line in table(&["A", "B", "C"], &rows, columns, Style::PLAIN) {
                prop_assert!(width(&line) <= columns, "{line:?}");
            }
        }
    }
}
