use proptest::prelude::*;

use super::table::{FAMILIES, List, Row};
use super::*;

mod found;
mod harmless;
mod spelled;

/// The words of a line: blanks part them, quotes hold them together.
pub(super) fn split(line: &str) -> Vec<String> {
    let mut words = vec![];
    let mut word = None;
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_with(String::new);
            }
            (None, ' ') => words.extend(word.take()),
            _ => word.get_or_insert_with(String::new).push(c),
        }
    }
    assert_eq!(quote, None, "{line}");
    words.extend(word);
    words
}

/// The trapdoors of a line that a rule for its program does not spell.
pub(super) fn open(line: &str) -> Vec<String> {
    let words = split(line);
    let pattern = Pattern::parse(&format!("{} *", words[0])).unwrap();
    let used = used(&words).into_iter();
    used.filter(|trapdoor| !trapdoor.is_spelled_by(&pattern))
        .map(|trapdoor| trapdoor.reason())
        .collect()
}

/// An entry of the table.
#[derive(Clone, Debug)]
struct Entry {
    /// The program and its subcommands.
    path: Vec<&'static str>,
    name: &'static str,
    single: bool,
    /// Where it has to stand: behind so many words of the path.
    after: usize,
    /// Whether anything that is no option may stand before it.
    front: bool,
    /// Options that the abbreviation must not be.
    harmless: Vec<&'static str>,
}

fn entries() -> Vec<Entry> {
    let mut all = vec![];
    for row in FAMILIES.iter().copied().flatten() {
        collect(row, &[], &mut all);
    }
    all
}

fn collect(row: &'static Row, above: &[&'static str], all: &mut Vec<Entry>) {
    let name = row.names.split(' ').next().unwrap();
    let path = [above, &[name]].concat();
    let mut push = |lists: &'static [List], front: bool| {
        for name in lists.iter().flat_map(|(_, names)| names.split_whitespace()) {
            all.push(Entry {
                path: path.clone(),
                name,
                single: row.single,
                after: path.len(),
                front,
                harmless: [row.harmless, row.flags, row.valued]
                    .iter()
                    .flat_map(|list| list.split_whitespace())
                    .collect(),
            });
        }
    };
    push(row.options, row.front);
    push(row.every, false);
    for sub in row.subs {
        collect(sub, &path, all);
    }
}

impl Entry {
    /// The ways to write it.
    fn spellings(&self) -> Vec<String> {
        let name = self.name;
        if let Some(bare) = name.strip_suffix('=') {
            return vec![format!("{bare}=v"), format!("{bare}=/x y")];
        }
        let Some(option) = name.strip_prefix('-') else {
            return vec![name.to_owned()];
        };
        if self.single || !option.starts_with('-') && option.len() > 1 {
            let mut both = vec![name.to_owned(), format!("{name}=v")];
            if !option.starts_with('-') {
                both.push(format!("-{name}"));
            }
            return both;
        }
        if let Some(long) = option.strip_prefix('-') {
            let mut all = vec![name.to_owned(), format!("{name}=v")];
            let cuts = (1..long.len()).map(|end| &name[..2 + end]);
            let cuts = cuts.filter(|cut| !self.harmless.contains(cut));
            for cut in cuts {
                all.extend([cut.to_owned(), format!("{cut}=v")]);
            }
            return all;
        }
        vec![
            name.to_owned(),
            format!("{name}v"),
            format!("-9{option}"),
            format!("-9{option}v"),
        ]
    }

    fn command(&self, spelling: &str, before: &[&str], behind: &[&str]) -> Vec<String> {
        let words = self.path[..self.after].iter().chain(before);
        let words = words.chain([&spelling]).chain(behind);
        words.map(|word| (*word).to_owned()).collect()
    }
}

#[test]
fn every_row_has_a_name_and_a_source() {
    let mut names = vec![];
    for row in FAMILIES.iter().copied().flatten() {
        assert!(row.source.len() > 5, "{}", row.names);
        names.extend(row.names.split(' '));
    }
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "a program has two rows");
}

#[test]
fn every_entry_is_found_in_every_spelling() {
    let entries = entries();
    assert!(entries.len() > 1000, "{}", entries.len());
    for entry in entries {
        let spellings = entry.spellings();
        for spelling in &spellings {
            let words = entry.command(spelling, &[], &["a", "b.txt"]);
            let found = used(&words);
            assert!(
                found.iter().any(|trapdoor| trapdoor.spelled == entry.name),
                "{words:?} {found:?}"
            );
        }
    }
}

/// Options that no row knows, operands, and a `--` that could be a value.
const BEFORE: &[&[&str]] = &[&["-9"], &["--zzz"], &["--zzz", "--"], &["--zzz=v"]];
const OPERANDS: &[&[&str]] = &[&["a"], &["b.txt"], &["src/c"], &["--zzz", "v"]];

proptest! {
    #[test]
    fn no_trapdoor_is_hidden_by_what_stands_around_it(
        entry in prop::sample::select(entries()),
        spelling in any::<prop::sample::Index>(),
        options in prop::collection::vec(prop::sample::select(BEFORE), 0..4),
        operands in prop::collection::vec(prop::sample::select(OPERANDS), 0..4),
        behind in prop::collection::vec(prop::sample::select(OPERANDS), 0..4),
    ) {
        let spellings = entry.spellings();
        let spelling = spelling.get(&spellings);
        let mut before = options.concat();
        if !entry.front {
            before.extend(operands.concat());
        }
        let words = entry.command(spelling, &before, &behind.concat());
        let found = used(&words);
        let trapdoor = found.iter().find(|trapdoor| trapdoor.spelled == entry.name);
        prop_assert!(trapdoor.is_some(), "{:?} {:?}", words, found);
        let trapdoor = trapdoor.unwrap();
        let spells = |text: String| trapdoor.is_spelled_by(&Pattern::parse(&text).unwrap());
        let program = entry.path.join(" ");
        if !entry.path.contains(&entry.name) {
            prop_assert!(!spells(format!("{program} *")), "{trapdoor:?}");
            prop_assert!(!spells(format!("{program} a * b.txt src/c -9 --zzz=*")), "{trapdoor:?}");
        }
        prop_assert!(spells(format!("{program} * {} *", entry.name)), "{trapdoor:?}");
        prop_assert!(spells(format!("{program} {}*", entry.name)), "{trapdoor:?}");
        prop_assert!(!spells("*".to_owned()));
    }

    #[test]
    fn no_words_make_it_panic(program in prop::sample::select(entries()), words in prop::collection::vec(r"[-+a-z=:/.{}()$;|>\\'ä\[\] \n]{0,12}", 0..6)) {
        let mut all: Vec<_> = program.path.iter().map(|word| (*word).to_owned()).collect();
        all.extend(words);
        for trapdoor in used(&all) {
            prop_assert!(trapdoor.reason().ends_with("no rule names it"));
            for stars in ["*", "* *", "zzz * *"] {
                let pattern = Pattern::parse(stars).unwrap();
                prop_assert!(!trapdoor.is_spelled_by(&pattern), "{trapdoor:?}");
            }
        }
    }
}

#[test]
fn programs_with_and_without_a_row() {
    for program in [
        "find",
        "/usr/bin/sort",
        "python3.12",
        "FIND",
        "sed",
        "xargs",
        "lua5.4",
    ] {
        assert!(has_row(program), "{program}");
    }
    for program in [
        "grep", "wc", "cat", "head", "tail", "ls", "echo", "cut", "tr", "", "/", "3",
    ] {
        assert!(!has_row(program), "{program}");
    }
}
