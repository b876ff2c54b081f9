//! Generated settings files, in every layout that a person or a program might have left behind.

use proptest::prelude::*;

use crate::hook::host::Host;

/// A JSON value, before layout.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// Literal text: a number, string, boolean or null.
    Leaf(String),
    /// An array.
    List(Vec<Node>),
    /// An object.
    Map(Vec<(String, Node)>),
}

/// How a value is written down.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    kind: Kind,
    eol: &'static str,
    unit: &'static str,
    /// Choices for white space and comments, used in turn.
    dice: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Pretty,
    Compact,
    Spaced,
    Messy,
}

impl Layout {
    fn roll(&mut self) -> u8 {
        let die = self.dice[0];
        self.dice.rotate_left(1);
        die
    }

    fn gap(&mut self, depth: usize) -> String {
        match self.kind {
            Kind::Compact => String::new(),
            Kind::Spaced => " ".to_owned(),
            Kind::Pretty => format!("{}{}", self.eol, self.unit.repeat(depth)),
            Kind::Messy => {
                let eol = self.eol;
                match self.roll() % 9 {
                    0 | 1 => String::new(),
                    2 => " ".to_owned(),
                    3 => "\t".to_owned(),
                    4 => eol.to_owned(),
                    5 => format!("{eol}{eol}   "),
                    6 => " /* a, b */ ".to_owned(),
                    7 => format!("// x, \"y\" {eol}"),
                    _ => format!(" /**/ // {eol}\t"),
                }
            }
        }
    }

    fn colon(&mut self) -> String {
        match self.kind {
            Kind::Compact => ":".to_owned(),
            Kind::Messy => format!("{}:{}", self.gap(0), self.gap(0)),
            Kind::Pretty | Kind::Spaced => ": ".to_owned(),
        }
    }

    fn trailing_comma(&mut self) -> bool {
        self.kind == Kind::Messy && self.roll().is_multiple_of(3)
    }

    /// White space in an empty container; people leave anything there.
    fn hollow(&mut self) -> String {
        let eol = self.eol;
        match (self.kind, self.roll() % 5) {
            (Kind::Compact | Kind::Spaced, 0) => " ".to_owned(),
            (Kind::Compact | Kind::Spaced, _) | (_, 0) => String::new(),
            (_, 1) => " ".to_owned(),
            (_, 2) => eol.to_owned(),
            (_, 3) => format!("{eol}  {eol}"),
            _ => format!("// none{eol}"),
        }
    }

    pub(super) fn write(&mut self, node: &Node, depth: usize) -> String {
        let (open, close, items): (_, _, Vec<String>) = match node {
            Node::Leaf(text) => return text.clone(),
            Node::List(list) => {
                let items = list.iter().map(|v| self.write(v, depth + 1)).collect();
                ('[', ']', items)
            }
            Node::Map(map) => {
                let item = |(name, value): &(String, Node)| {
                    let colon = self.colon();
                    let name = serde_json::Value::from(name.as_str());
                    format!("{name}{colon}{}", self.write(value, depth + 1))
                };
                ('{', '}', map.iter().map(item).collect())
            }
        };
        if items.is_empty() {
            return format!("{open}{}{close}", self.hollow());
        }
        let mut out = open.to_string();
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                if self.kind == Kind::Messy {
                    out += &self.gap(0);
                }
                out.push(',');
            }
            if self.kind != Kind::Spaced || i > 0 {
                out += &self.gap(depth + 1);
            }
            out += item;
        }
        if self.trailing_comma() {
            out += &self.gap(0);
            out.push(',');
        }
        if self.kind != Kind::Spaced {
            out += &self.gap(depth);
        }
        out.push(close);
        out
    }
}

fn leaf() -> impl Strategy<Value = Node> {
    prop_oneof![
        Just("null"),
        Just("true"),
        Just("0"),
        Just("1.0"),
        Just("-2.50e+07"),
        Just("123456789012345678901234567890"),
        Just("\"\""),
        Just("\"a \\\"b\\\" \\u00e9 é // no comment, []{}\""),
        Just("\"sayso hook\""),
    ]
    .prop_map(|text| Node::Leaf(text.to_owned()))
}

fn any_value() -> impl Strategy<Value = Node> {
    leaf().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Node::List),
            prop::collection::vec(inner, 0..3).prop_map(|v| {
                let named = v.into_iter().enumerate();
                Node::Map(named.map(|(i, v)| (format!("k{i}"), v)).collect())
            }),
        ]
    })
}

fn text(value: &str) -> Node {
    Node::Leaf(serde_json::Value::from(value).to_string())
}

/// Commands that are not ours, some of them look-alikes.
pub(super) const FOREIGN_COMMANDS: [&str; 6] = [
    "echo hi",
    "./format.sh",
    "/opt/sayso-old hook claude stop",
    "cd / && sayso hook codex stop",
    "echo 'sayso hook gemini session-end'",
    "sayso hook nobody stop",
];

fn foreign_command() -> impl Strategy<Value = &'static str> {
    prop::sample::select(FOREIGN_COMMANDS.to_vec())
}

fn foreign_entry(host: Host) -> impl Strategy<Value = Node> {
    let format = host.entries().unwrap();
    (foreign_command(), any::<bool>()).prop_map(move |(command, timed)| {
        let mut entry = vec![
            ("type".to_owned(), text("command")),
            (format.command.to_owned(), text(command)),
        ];
        if timed {
            entry.push((format.timeout.to_owned(), Node::Leaf("5.0".to_owned())));
        }
        Node::Map(entry)
    })
}

fn foreign_element(host: Host) -> impl Strategy<Value = Node> {
    let grouped = host.entries().unwrap().grouped;
    prop::collection::vec(foreign_entry(host), 0..3).prop_map(move |entries| {
        if grouped {
            let matcher = ("matcher".to_owned(), text("Bash"));
            Node::Map(vec![matcher, ("hooks".to_owned(), Node::List(entries))])
        } else {
            let spare = Node::Map(vec![("note".to_owned(), text("spare"))]);
            entries.into_iter().next().unwrap_or(spare)
        }
    })
}

fn hooks(host: Host) -> impl Strategy<Value = Node> {
    let mut names: Vec<&str> = host
        .entries()
        .unwrap()
        .events
        .iter()
        .map(|e| e.native)
        .collect();
    names.push("SomeOtherEvent");
    let lists = prop::collection::vec(foreign_element(host), 0..3).prop_map(Node::List);
    (
        prop::sample::subsequence(names.clone(), 0..=names.len()),
        prop::collection::vec(lists, names.len()),
    )
        .prop_map(|(names, lists)| {
            let named = names.into_iter().map(str::to_owned).zip(lists);
            Node::Map(named.collect())
        })
}

/// A settings file of this host that holds nothing of ours.
pub(super) fn settings(host: Host) -> impl Strategy<Value = String> {
    let layout = (
        prop_oneof![
            Just(Kind::Pretty),
            Just(Kind::Compact),
            Just(Kind::Spaced),
            Just(Kind::Messy),
        ],
        prop_oneof![Just("\n"), Just("\r\n")],
        prop_oneof![Just("  "), Just("    "), Just("\t"), Just("")],
        prop::collection::vec(any::<u8>(), 40),
    );
    let others = prop::collection::vec(any_value(), 0..4);
    let place = any::<prop::sample::Index>();
    let ends = prop_oneof![
        Just(("", "")),
        Just(("", "\n")),
        Just(("\n// top\n", " \r\n"))
    ];
    (
        layout,
        others,
        prop::option::of(hooks(host)),
        any::<bool>(),
        place,
        ends,
    )
        .prop_map(
            |((kind, eol, unit, dice), others, hooks, version, place, (before, after))| {
                let mut map: Vec<(String, Node)> = others
                    .into_iter()
                    .enumerate()
                    .map(|(i, v)| (format!("other{i}"), v))
                    .collect();
                if let Some(hooks) = hooks {
                    map.insert(place.index(map.len() + 1), ("hooks".to_owned(), hooks));
                }
                if version {
                    let at = place.index(map.len() + 1);
                    map.insert(at, ("version".to_owned(), Node::Leaf("1".to_owned())));
                }
                let mut layout = Layout {
                    kind,
                    eol,
                    unit,
                    dice,
                };
                let body = layout.write(&Node::Map(map), 0);
                format!("{before}{body}{after}")
            },
        )
}

/// The hosts whose settings hold hook entries.
pub(super) fn hosts() -> impl Strategy<Value = Host> {
    prop_oneof![
        Just(Host::Claude),
        Just(Host::Codex),
        Just(Host::Gemini),
        Just(Host::Copilot),
        Just(Host::Cursor),
    ]
}
