//! The tree stays as its documentation draws it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The longest file, in lines; what grows beyond it is two things.
const LINES_MAX: usize = 440;
/// The same for a file of tests: tables are long without being hard to read.
const TESTS_MAX: usize = 600;

/// The layers, from the bottom, as `src/lib.rs` draws them. A module may use what is below it.
const LAYERS: &[&[&str]] = &[
    &[
        "error",
        "config",
        "time",
        "id",
        "secret",
        "fsio",
        "log",
        "repo",
        "interrupt",
        "process",
        "terminal",
        "text",
        "words",
        "diff",
        "http",
    ],
    &["model", "policy"],
    &["events", "store", "watch"],
    &["broker"],
    &["relay", "notice"],
    &["park"],
    &["hook", "mcp", "arc"],
    &["render", "prompt", "completion", "cli", "cmd"],
];

/// The arrows that are drawn within a layer: who, whom.
const DRAWN: &[(&str, &str)] = &[
    ("config", "error"),
    ("repo", "error"),
    ("repo", "id"),
    ("http", "error"),
    ("http", "secret"),
    ("text", "words"),
    ("store", "events"),
    ("prompt", "render"),
    ("cli", "render"),
    ("completion", "cli"),
    ("cmd", "cli"),
    ("cmd", "completion"),
    ("cmd", "prompt"),
    ("cmd", "render"),
];

/// Every Rust file below a directory of this repository.
pub fn sources(dir: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(dir)];
    while let Some(dir) = left.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn everything() -> Vec<(PathBuf, String)> {
    let dirs = ["src", "tests", "examples"];
    let files = dirs.iter().flat_map(|dir| sources(dir));
    files
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            (path, text)
        })
        .collect()
}

/// The module of the library that a file belongs to.
fn module(path: &Path) -> String {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let inside = path.strip_prefix(src).unwrap();
    let first = inside.iter().next().unwrap().to_str().unwrap();
    first.trim_end_matches(".rs").to_owned()
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

/// The modules that a text names after `crate::`; one brace with several is taken apart.
fn used(text: &str) -> Vec<String> {
    let name = |text: &str| -> String {
        text.chars()
            .take_while(|c| c.is_ascii_lowercase() || *c == '_')
            .collect()
    };
    let code = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n");
    let mut found = Vec::new();
    for rest in code.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            Some(several) => {
                let inside = several.split('}').next().unwrap_or_default();
                found.extend(inside.split(',').map(|part| name(part.trim())));
            }
            None => found.push(name(rest)),
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

#[test]
fn imports_point_down_or_along_a_drawn_arrow() {
    let mut wrong = Vec::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for path in sources("src") {
        let own = module(&path);
        if matches!(own.as_str(), "main" | "lib") {
            continue;
        }
        let Some(here) = layer(&own) else {
            panic!("{own} is in no layer: draw it in src/lib.rs and here");
        };
        for other in used(&fs::read_to_string(&path).unwrap()) {
            let Some(there) = layer(&other) else {
                panic!("{} uses {other}, which is in no layer", path.display());
            };
            let drawn = DRAWN.contains(&(own.as_str(), other.as_str()));
            // Failing and telling are everybody's.
            let ground = matches!(other.as_str(), "error" | "log");
            if other != own && there >= here && !drawn && !(ground && here == 0) {
                wrong.push(format!("{} uses {other}", path.display()));
            }
            *seen.entry(own.clone()).or_default() += 1;
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(seen.len() > 10 && seen["cmd"] > 50, "{seen:?}");
}

#[test]
fn the_layers_are_those_of_the_documentation() {
    let docs =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let modules: Vec<&str> = docs
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'))
        .collect();
    for module in modules {
        assert!(layer(module).is_some(), "{module} is in no layer");
        let mut rows = docs.lines().filter(|line| line.starts_with("//! L"));
        let word = |row: &str| {
            row.split(|c: char| !c.is_ascii_lowercase())
                .any(|w| w == module)
        };
        assert!(
            rows.any(word),
            "{module} is not in the diagram of src/lib.rs"
        );
    }
}

#[test]
fn no_file_grows_beyond_what_one_concept_needs() {
    let tests = |path: &Path| path.ends_with("tests.rs") || path.iter().any(|part| part == "tests");
    let mut long = Vec::new();
    for path in sources("src") {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        if lines > if tests(&path) { TESTS_MAX } else { LINES_MAX } {
            long.push(format!("{}: {lines}", path.display()));
        }
    }
    assert_eq!(long, [""; 0]);
}

#[test]
fn no_room_is_called_after_nothing() {
    let empty_names = ["util", "helper", "manager", "handler", "common"];
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (path, _) in everything() {
        let inside = path
            .strip_prefix(root)
            .unwrap()
            .to_string_lossy()
            .into_owned();
        for name in empty_names {
            assert!(!inside.contains(name), "{inside}");
        }
    }
}

#[test]
fn nothing_is_left_to_do_and_no_test_sleeps() {
    // In pieces, so that this file does not hold what it looks for.
    let unfinished = [
        ["todo", "!("].concat(),
        ["unimplemented", "!("].concat(),
        ["TO", "DO"].concat(),
        ["FIX", "ME"].concat(),
        ["XX", "X"].concat(),
    ];
    let sleep = ["thread::", "sleep"].concat();
    for (path, text) in everything() {
        for word in &unfinished {
            assert!(
                !text.contains(word.as_str()),
                "{} has {word}",
                path.display()
            );
        }
        let all_test = path.components().any(|c| c.as_os_str() == "it")
            || path.file_name().is_some_and(|name| name == "tests.rs");
        let tests = match text.split_once("#[cfg(test)]\nmod tests {") {
            _ if all_test => text.as_str(),
            Some((_, tests)) => tests,
            None => "",
        };
        assert!(
            !tests.contains(&sleep),
            "a test in {} sleeps",
            path.display()
        );
    }
}

#[test]
fn unsafe_code_is_forbidden_for_the_whole_package() {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"));
    assert!(manifest.unwrap().contains("unsafe_code = \"forbid\""));
}
