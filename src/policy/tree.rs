//! The grammar of bash (tree-sitter-bash) and what its trees are trusted with.
//!
//! Promise: [`Parsed::plain`] finds the words of a text's simple commands only if the tree is free of errors, holds
//! no kind of node but those of a fixed list, and its leaves cover every byte but
//! space, tab and newline. The last point matters: without an ERROR node this grammar joins lines over a
//! backslash, passes over control characters, and takes arguments behind a redirection for its targets.
//! [`Parsed::commands`] lists everything that looks like a command at any depth, whatever else there is.

use std::cell::Cell;
use std::ops::{ControlFlow, Range};

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
    "subshell",
    "compound_statement",
    "if_statement",
    "elif_clause",
    "else_clause",
    "for_statement",
    "do_group",
    "test_command",
    "test_operator",
    "extglob_pattern",
    "unary_expression",
    "binary_expression",
    "variable_assignment",
    "variable_name",
    "simple_expansion",
    "expansion",
    "special_variable_name",
];

/// Tokens between them.
const PLAIN_TOKENS: &[&str] = &[
    "&&", "||", "|", ";", "\n", "\"", ">", "<", "&>", ">&", "(", ")", "{", "}", "[", "]", "!", "=",
    "!=", "$", "${", "if", "then", "elif", "else", "fi", "for", "in", "do", "done",
];

const PASSED_OVER: Reason = "text that the grammar passes over";

/// What is found while the tree is walked.
struct Reading {
    steps: Vec<Vec<Range<usize>>>,
    /// The end of the last leaf.
    covered: usize,
}

/// Nodes that are still to be looked at.
enum Visit<'t> {
    Enter(Node<'t>),
    LoopEnds,
}

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

    /// Where the words of each simple command are, and of the head of each loop (its end has none).
    ///
    /// # Errors
    /// Says what else the text holds.
    pub(super) fn plain(&self) -> Result<Vec<Vec<Range<usize>>>, Reason> {
        if self.has_error() {
            return Err("a syntax error");
        }
        let mut reading = Reading {
            steps: vec![],
            covered: 0,
        };
        let mut nodes = vec![Visit::Enter(self.tree.root_node())];
        while let Some(visit) = nodes.pop() {
            let node = match visit {
                Visit::Enter(node) => node,
                Visit::LoopEnds => {
                    reading.steps.push(vec![]);
                    continue;
                }
            };
            self.enter(node, &mut reading)?;
            if node.kind() == "for_statement" {
                nodes.push(Visit::LoopEnds);
            }
            let mut cursor = node.walk();
            let children: Vec<_> = node.children(&mut cursor).collect();
            nodes.extend(children.into_iter().rev().map(Visit::Enter));
        }
        if !self.is_blank(reading.covered, self.text.len()) {
            return Err(PASSED_OVER);
        }
        Ok(reading.steps)
    }

    fn enter(&self, node: Node, reading: &mut Reading) -> Result<(), Reason> {
        let known = match node.is_named() {
            true => PLAIN_KINDS,
            false => PLAIN_TOKENS,
        };
        if !known.contains(&node.kind()) {
            return Err("syntax that is not plain");
        }
        if node.child_count() == 0 {
            if !self.is_blank(reading.covered, node.start_byte()) {
                return Err(PASSED_OVER);
            }
            reading.covered = node.end_byte();
        }
        match node.kind() {
            "command" | "test_command" => reading.steps.push(words_of(node)),
            "for_statement" => {
                let mut cursor = node.walk();
                let head = node.children(&mut cursor);
                let head = head.filter(|child| child.is_named() && child.kind() != "do_group");
                reading
                    .steps
                    .push(head.map(|child| child.byte_range()).collect());
            }
            _ => {}
        }
        Ok(())
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

/// Where the words of a simple command are; those of `[ … ]` are parts of an expression.
fn words_of(command: Node) -> Vec<Range<usize>> {
    let mut ranges = vec![];
    let mut nodes = vec![command];
    while let Some(node) = nodes.pop() {
        let mut cursor = node.walk();
        let inside = matches!(
            node.kind(),
            "command" | "test_command" | "unary_expression" | "binary_expression"
        );
        if inside {
            let children: Vec<_> = node.children(&mut cursor).collect();
            nodes.extend(children.into_iter().rev());
        } else if !node.kind().ends_with("_redirect") {
            ranges.push(node.byte_range());
        }
    }
    ranges
}
