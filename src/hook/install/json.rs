//! Edits JSON in its own text: every byte that an edit is not about stays as it was.
//!
//! What [`append`] puts in, [`remove`] takes out again, so that the two together leave the text
//! unchanged. That also holds for what was created on the way: a container that `append`'s caller made
//! disappears with its last child, one that was there before and empty is left as it was. The
//! difference is written in the text itself, as white space after the opening bracket ([`Opening`]).
//!
//! Comments and trailing commas are accepted, since hosts write and read them; nothing else beyond
//! RFC 8259 is.

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::layout::{Style, comma, is_blank, line_indent, own_line, trailing_blanks};

/// One step from a container to a child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The member of this name.
    Member(String),
    /// The element at this index.
    Element(usize),
}

/// A fault in a document: what is wrong, at which byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// What is wrong.
    pub(super) what: String,
    /// Where, in bytes from the start.
    pub(super) at: usize,
}

impl Fault {
    pub(super) fn new(what: impl Into<String>, at: usize) -> Self {
        Self {
            what: what.into(),
            at,
        }
    }

    /// Line and column, both from 1; the column counts characters.
    pub(super) fn position(&self, text: &str) -> (usize, usize) {
        position(text, self.at)
    }
}

/// Line and column of a byte, both from 1; the column counts characters.
pub(super) fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    (
        before.matches('\n').count() + 1,
        before[line_start..].chars().count() + 1,
    )
}

/// What is left after a removal.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// This text.
    Text(String),
    /// Nothing: the removed child was all that the document was created for.
    Nothing,
}

/// Parses a document whose top level must be an object.
pub(super) fn object(text: &str) -> Result<Object<'_>, Fault> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options).map_err(|e| {
        let what = e.kind().to_string().to_lowercase();
        Fault::new(format!("not valid JSON: {what}"), e.range().start)
    })?;
    match parsed.value {
        Some(Value::Object(object)) => Ok(object),
        Some(other) => Err(Fault::new("the top level is not an object", other.start())),
        None => Err(Fault::new("not valid JSON: the file is empty", 0)),
    }
}

/// The member of this name; a name that occurs twice is a fault, since readers differ in which counts.
pub(super) fn member<'b, 'a>(
    object: &'b Object<'a>,
    name: &str,
) -> Result<Option<&'b Value<'a>>, Fault> {
    let mut found = object.properties.iter().filter(|p| p.name.as_str() == name);
    let first = found.next();
    if let Some(second) = found.next() {
        return Err(Fault::new(
            format!("member {name:?} occurs twice"),
            second.start(),
        ));
    }
    Ok(first.map(|p| &p.value))
}

/// Puts a child at the end of the container that `path` leads to: a member where `name` is given, else
/// an element. The container must exist.
pub(super) fn append(
    text: &str,
    path: &[Step],
    name: Option<&str>,
    value: &serde_json::Value,
) -> Result<String, Fault> {
    let root = object(text)?;
    let style = Style::of(text, &root);
    let root = Value::Object(root);
    let container = follow(&root, path)?;
    let inside = Inside::of(container);
    let item = |indent: &str| {
        let value = style.render(value, indent);
        name.map_or(value.clone(), |n| {
            format!("{}: {value}", serde_json::Value::from(n))
        })
    };
    let outer = line_indent(text, inside.open);
    Ok(match inside.children.last() {
        Some(last) => append_after(text, &inside, *last, &style, &item),
        None => append_first(text, &inside, outer, &style, &item),
    })
}

/// Gives what `path` leads to another value.
pub(super) fn set(text: &str, path: &[Step], value: &serde_json::Value) -> Result<String, Fault> {
    let root = object(text)?;
    let style = Style::of(text, &root);
    let root = Value::Object(root);
    let old = follow(&root, path)?;
    let new = style.render(value, line_indent(text, old.start()));
    Ok(splice(text, vec![(old.start()..old.end(), new)]))
}

/// Takes the child at the end of `path` out. Containers that were created for it go too, those at depth
/// `keep` or deeper (the top level is at depth 0).
pub(super) fn remove(text: &str, path: &[Step], keep: usize) -> Result<Left, Fault> {
    let root = Value::Object(object(text)?);
    let mut path = path;
    loop {
        let Some((step, parents)) = path.split_last() else {
            return Ok(Left::Nothing);
        };
        let container = follow(&root, parents)?;
        let inside = Inside::of(container);
        let index = index_of(container, step)?;
        let opening = inside.opening(text);
        if inside.children.len() == 1 && opening == Opening::Created && parents.len() >= keep {
            path = parents;
            continue;
        }
        let cuts = inside.cuts(text, index, opening);
        return Ok(Left::Text(splice(text, cuts)));
    }
}

/// Replaces byte ranges, which must not overlap.
pub(super) fn splice(text: &str, mut parts: Vec<(std::ops::Range<usize>, String)>) -> String {
    parts.sort_by_key(|(range, _)| range.start);
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (range, new) in parts {
        out.push_str(&text[from..range.start]);
        out.push_str(&new);
        from = range.end;
    }
    out.push_str(&text[from..]);
    out
}

/// What the white space after an opening bracket says about a container's origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opening {
    /// It was created together with its child.
    Created,
    /// It was there and had nothing inside, not even white space.
    Empty,
    /// It was there and held the white space that now follows the child; or comments prove that it was.
    Blank,
}

/// The inside of an object or array.
struct Inside {
    /// Just after the opening bracket.
    open: usize,
    /// At the closing bracket.
    close: usize,
    /// Where the children stand.
    children: Vec<(usize, usize)>,
}

impl Inside {
    fn of(container: &Value<'_>) -> Self {
        let children = match container {
            Value::Object(o) => o.properties.iter().map(|p| (p.start(), p.end())).collect(),
            Value::Array(a) => a.elements.iter().map(|v| (v.start(), v.end())).collect(),
            _ => Vec::new(),
        };
        Self {
            open: container.start() + 1,
            close: container.end() - 1,
            children,
        }
    }

    /// Reads the mark that [`append_first`] and [`Style::render`] leave: the blanks between the bracket
    /// and the first line end, or the child. With lines: none created, one empty, more blank. On one
    /// line: one created, none empty, more blank.
    fn opening(&self, text: &str) -> Opening {
        let &[(start, end)] = self.children.as_slice() else {
            return Opening::Blank;
        };
        let (lead, tail) = (&text[self.open..start], &text[end..self.close]);
        if !is_blank(lead) || !is_blank(&tail.replacen(',', "", 1)) {
            return Opening::Blank;
        }
        match (lead.find(['\n', '\r']), lead.len()) {
            (Some(0), _) | (None, 1) => Opening::Created,
            (Some(1), _) => Opening::Empty,
            (None, 0) if tail.is_empty() => Opening::Empty,
            _ => Opening::Blank,
        }
    }

    /// What to cut to remove one child.
    fn cuts(
        &self,
        text: &str,
        index: usize,
        opening: Opening,
    ) -> Vec<(std::ops::Range<usize>, String)> {
        let (start, end) = self.children[index];
        let cut = |from: usize, to: usize| (from..to, String::new());
        if self.children.len() == 1 && matches!(opening, Opening::Created | Opening::Empty) {
            return vec![cut(self.open, self.close)];
        }
        if index == 0 && self.children.len() > 1 {
            // The first child's lead stays: it is the container's mark, and fits the next child.
            let between = &text[end..self.children[1].0];
            if is_blank(&between.replacen(',', "", 1)) {
                return vec![cut(start, self.children[1].0)];
            }
            let comma = comma(between).map(|c| cut(end + c, end + c + 1));
            return [cut(start, end)].into_iter().chain(comma).collect();
        }
        let floor = if index == 0 {
            self.open
        } else {
            self.children[index - 1].1
        };
        let lead = start - trailing_blanks(&text[floor..start]);
        let next = self.children.get(index + 1).map_or(self.close, |c| c.0);
        let mut cuts = vec![cut(lead, end)];
        if let Some(comma) = comma(&text[end..next]) {
            cuts.push(cut(end + comma, end + comma + 1));
        } else if let Some(comma) = comma(&text[floor..start]).filter(|_| index > 0) {
            cuts.push(cut(floor + comma, floor + comma + 1));
        }
        cuts
    }
}

fn append_after(
    text: &str,
    inside: &Inside,
    last: (usize, usize),
    style: &Style,
    item: &dyn Fn(&str) -> String,
) -> String {
    let rest = &text[last.1..inside.close];
    let solid = inside.close - trailing_blanks(rest);
    let (lead, indent) = match own_line(text, last.0) {
        Some(indent) if matches!(style, Style::Lines { .. }) => {
            (style.lead(indent), indent.to_owned())
        }
        _ => {
            let outer = line_indent(text, last.0).to_owned();
            let lead = if rest.contains('\n') || rest.contains('\r') {
                style.lead(&outer)
            } else {
                " ".to_owned()
            };
            (lead, outer)
        }
    };
    let item = item(&indent);
    if comma(rest).is_some() {
        return splice(text, vec![(solid..solid, format!("{lead}{item},"))]);
    }
    if solid == last.1 {
        return splice(text, vec![(solid..solid, format!(",{lead}{item}"))]);
    }
    splice(
        text,
        vec![
            (last.1..last.1, ",".to_owned()),
            (solid..solid, format!("{lead}{item}")),
        ],
    )
}

fn append_first(
    text: &str,
    inside: &Inside,
    outer: &str,
    style: &Style,
    item: &dyn Fn(&str) -> String,
) -> String {
    let inner = style.deeper(outer);
    let item = item(&inner);
    let content = &text[inside.open..inside.close];
    if !is_blank(content) {
        let solid = inside.close - trailing_blanks(content);
        return splice(
            text,
            vec![(solid..solid, format!("{}{item}", style.lead(&inner)))],
        );
    }
    let new = match (style, content.is_empty()) {
        (Style::Lines { eol, .. }, true) => format!(" {eol}{inner}{item}{eol}{outer}"),
        (Style::Lines { eol, .. }, false) => format!("  {eol}{inner}{item}"),
        (Style::OneLine, true) => item,
        (Style::OneLine, false) => format!("  {item}"),
    };
    splice(text, vec![(inside.open..inside.open, new)])
}

/// The node at the end of a path.
pub(super) fn follow<'b, 'a>(root: &'b Value<'a>, path: &[Step]) -> Result<&'b Value<'a>, Fault> {
    path.iter().try_fold(root, |node, step| {
        let child = match (node, step) {
            (Value::Object(o), Step::Member(name)) => member(o, name)?,
            (Value::Array(a), Step::Element(i)) => a.elements.get(*i),
            _ => None,
        };
        child.ok_or_else(|| Fault::new("a member disappeared during the edit", node.start()))
    })
}

fn index_of(container: &Value<'_>, step: &Step) -> Result<usize, Fault> {
    let index = match (container, step) {
        (Value::Object(o), Step::Member(name)) => {
            o.properties.iter().position(|p| p.name.as_str() == name)
        }
        (Value::Array(a), Step::Element(i)) => (*i < a.elements.len()).then_some(*i),
        _ => None,
    };
    index.ok_or_else(|| Fault::new("a member disappeared during the edit", container.start()))
}

#[cfg(test)]
mod tests;
