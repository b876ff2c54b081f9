//! The grammar of bash (tree-sitter-bash) and what its trees are trusted with.
//!
//! Promise: [`Parsed::plain`] lists a text's simple commands only if the tree is free of errors, holds no
//! kind of node but those of simple commands, pipelines and lists, and its leaves cover every byte but
//! space, tab and newline. The last point matters: without an ERROR node this grammar joins lines over a
//! backslash, passes over control characters, and takes arguments behind a redirection for its targets.
//! [`Parsed::commands`] lists everything that looks like a command at any depth, whatever else there is.

use std::cell::Cell;
use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use super::plain::Reason;
use super::scan::{self, Word};

/// Named kinds of nodes in a plain command.
const PLAIN_KINDS: &[&str] = &[
    "program",
    "list",
    "pipeline",
    "redirected_statement",
    "command",
    "command_name",
    "word",
    "number",
    "string",
    "string_content",
    "raw_string",
    "concatenation",
    "file_redirect",
    "file_descriptor",
];

/// Those of them that are words where they stand in a command.
const WORD_KINDS: &[&str] = &["word", "number", "string", "raw_string", "concatenation"];

/// Tokens between them.
const PLAIN_TOKENS: &[&str] = &["&&", "||", "|", ";", "\n", "\"", ">", "<", "&>", ">&"];

/// Bytes that the parser gets at a time, so that what it reads again and again is noticed.
const CHUNK: usize = 256;
/// Reads that a text may cost, and bytes for which there is another: eight times over, where what people
/// write takes two to three. Looking ahead in unclosed brackets takes it quadratic time otherwise.
const READS: (usize, usize) = (64, CHUNK / 8);
/// Hundreds of parser operations that a text may cost, and bytes for which there is another.
const OPERATIONS: (usize, usize) = (64, 4);
/// Characters that make the parser follow many readings at once, and how many of each it gets: the time
/// for more grows with their cube.
const AMBIGUOUS: &[(char, usize)] = &[('|', 512), ('`', 64)];

/// A text and its tree.
pub(super) struct Parsed<'a> {
    text: &'a str,
    tree: Tree,
}

impl<'a> Parsed<'a> {
    /// The tree of a text; `None` if it takes the parser too much effort or it is sure to have errors.
    pub(super) fn new(text: &'a str) -> Option<Self> {
        let too_many = |(c, max): &(char, usize)| text.matches(*c).count() > *max;
        if AMBIGUOUS.iter().any(too_many) {
            return None;
        }
        let mut parser = Parser::new();
        parser
            .set_language(&tree_sitter_bash::LANGUAGE.into())
            .ok()?;
        let allowance = |(base, per): (usize, usize)| base + text.len() / per;
        let reads = Cell::new(allowance(READS));
        let mut operations = allowance(OPERATIONS);
        let mut watch = |state: &ParseState| {
            operations = operations.saturating_sub(1);
            if operations == 0 || reads.get() == 0 || state.has_error() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let mut read = |at: usize, _| {
            reads.set(reads.get().saturating_sub(1));
            chunk(text, at)
        };
        let options = ParseOptions::new().progress_callback(&mut watch);
        let tree = parser.parse_with_options(&mut read, None, Some(options))?;
        Some(Self { text, tree })
    }

    /// Whether the grammar did not understand some of it.
    pub(super) fn has_error(&self) -> bool {
        self.tree.root_node().has_error()
    }

    /// The words of each simple command, quotes removed.
    ///
    /// # Errors
    /// Says what else the text holds.
    pub(super) fn plain(&self) -> Result<Vec<Vec<String>>, Reason> {
        const OTHER: Reason = "syntax that is not plain";
        let mut commands = vec![];
        let mut covered = 0;
        let root = self.tree.root_node();
        let mut nodes = vec![(root, root)];
        if self.has_error() {
            return Err("a syntax error");
        }
        while let Some((node, parent)) = nodes.pop() {
            let known = if node.is_named() {
                PLAIN_KINDS
            } else {
                PLAIN_TOKENS
            };
            if !known.contains(&node.kind()) {
                return Err(OTHER);
            }
            if node.child_count() == 0 {
                if !self.is_blank(covered, node.start_byte()) {
                    return Err("text that the grammar passes over");
                }
                covered = node.end_byte();
            }
            match node.kind() {
                "command" => commands.push(vec![]),
                kind if WORD_KINDS.contains(&kind) && is_command(parent) => {
                    let word = plain_word(self.source(node)).ok_or(OTHER)?;
                    commands.last_mut().ok_or(OTHER)?.push(word);
                }
                _ => {}
            }
            let mut cursor = node.walk();
            let children: Vec<_> = node.children(&mut cursor).collect();
            nodes.extend(children.into_iter().rev().map(|child| (child, node)));
        }
        if !self.is_blank(covered, self.text.len()) {
            return Err("text that the grammar passes over");
        }
        Ok(commands)
    }

    fn is_blank(&self, from: usize, to: usize) -> bool {
        let between = self.text.get(from..to);
        between.is_some_and(|text| text.bytes().all(|b| matches!(b, b' ' | b'\t' | b'\n')))
    }

    fn source(&self, node: Node) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// The words of everything that looks like a command, at any depth.
    pub(super) fn commands(&self) -> Vec<Vec<Word>> {
        let mut commands = vec![];
        let root = self.tree.root_node();
        // Node::parent would search from the root each time.
        let mut nodes = vec![(root, root)];
        while let Some((node, parent)) = nodes.pop() {
            if matches!(
                node.kind(),
                "command" | "declaration_command" | "unset_command"
            ) {
                commands.push(self.words(node, parent));
            }
            let mut cursor = node.walk();
            nodes.extend(node.children(&mut cursor).map(|child| (child, node)));
        }
        commands
    }

    /// The words of a command, and those that the grammar takes for further targets of a redirection.
    fn words(&self, command: Node, parent: Node) -> Vec<Word> {
        let mut words = vec![];
        let mut cursor = command.walk();
        for child in command.children(&mut cursor) {
            if !child.kind().ends_with("_redirect") {
                words.push(scan::word(self.source(child)));
            }
        }
        if parent.kind() != "redirected_statement" {
            return words;
        }
        let mut cursor = parent.walk();
        for redirect in parent.children_by_field_name("redirect", &mut cursor) {
            let (field, targets) = match redirect.kind() {
                "file_redirect" => ("destination", 1),
                "heredoc_redirect" => ("argument", 0),
                _ => continue,
            };
            let mut cursor = redirect.walk();
            for extra in redirect
                .children_by_field_name(field, &mut cursor)
                .skip(targets)
            {
                words.push(scan::word(self.source(extra)));
            }
        }
        words
    }
}

/// The next bytes for the parser, whole characters. It must never see an end where there is none: it reads
/// behind a text that stops within a character.
fn chunk(text: &str, at: usize) -> &[u8] {
    let mut end = text.len().min(at + CHUNK);
    while !text.is_char_boundary(end) {
        end += 1;
    }
    &text.as_bytes()[at.min(end)..end]
}

fn is_command(node: Node) -> bool {
    matches!(node.kind(), "command" | "command_name")
}

/// The word without its quotes; what else could be special in it is ruled out by `plain`.
fn plain_word(source: &str) -> Option<String> {
    let mut word = String::new();
    let mut rest = source;
    while let Some(at) = rest.find(['\'', '"']) {
        let (before, quoted) = rest.split_at(at);
        let quote = quoted.chars().next()?;
        let (inside, behind) = quoted[1..].split_once(quote)?;
        word.push_str(before);
        word.push_str(inside);
        rest = behind;
    }
    word.push_str(rest);
    Some(word)
}
