//! Interpreters, the shell's builtins, wrappers and databases.

use crate::policy::trapdoors::options::{holds, operands};
use crate::policy::trapdoors::table::Row;
use crate::policy::trapdoors::words::assignment;
use crate::policy::trapdoors::{Does, Found};

/// A program given as an operand, and assignments in front of it.
pub(in crate::policy::trapdoors) fn wrapped<'a>(
    row: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
    let places = operands(row, arguments);
    let end = places.last().copied().unwrap_or(arguments.len());
    for word in &arguments[..end] {
        if let Some((name, _)) = assignment(word) {
            found.add(Does::Sets, name, word);
        }
    }
    for at in places {
        let program = &arguments[at];
        found.add(Does::Runs, crate::policy::trapdoors::base(program), program);
    }
}

/// An interpreter without a script, or with one from its standard input.
pub(in crate::policy::trapdoors) fn script<'a>(
    row: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
    const ASKS: &str = "--version -V --help -h -v -vV --test";
    let places = operands(row, arguments);
    let first = places.first().map(|at| &*arguments[*at]);
    match first {
        None if arguments.iter().any(|word| holds(ASKS, word)) => {}
        // Another trapdoor may be where the code is.
        None if found.trapdoors.is_empty() => found.add(Does::Reads, "-", "-"),
        None | Some(_) => {}
    }
    for at in places {
        let word = &arguments[at];
        if word == "-" || word.starts_with("/dev/") || word.starts_with("/proc/") {
            found.add(Does::Reads, "-", word);
        }
    }
}

/// `+COMMAND` of editors and pagers.
pub(in crate::policy::trapdoors) fn plus<'a>(
    _: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
    for word in arguments.iter().filter(|word| word.starts_with('+')) {
        // A line number opens nothing.
        if !word[1..].chars().all(|c| c.is_ascii_digit()) {
            found.add(Does::Runs, "+", word);
        }
    }
}

/// A name with a subscript, which bash evaluates.
pub(in crate::policy::trapdoors) fn subscript<'a>(
    _: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
    for word in arguments.iter().filter(|word| word.contains('[')) {
        found.add(Does::Runs, "NAME[…]", word);
    }
}

/// Assignments, which outlive the command, and subscripts.
pub(in crate::policy::trapdoors) fn sets<'a>(
    row: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
    subscript(row, arguments, found);
    for word in arguments {
        if let Some((name, _)) = word.split_once('=') {
            found.add(Does::Sets, name.trim_end_matches('+'), word);
        }
    }
}

/// The words are code: only their own text spells them.
pub(in crate::policy::trapdoors) fn always_asks<'a>(
    _: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
    for word in arguments {
        found.add(Does::Runs, word, word);
    }
}

/// Modules of Python that run nothing but tests and checks of what is named.
const MODULES: &str = "pytest unittest doctest py_compile compileall mypy ruff black isort flake8 pylint pyright bandit \
    coverage json.tool tokenize ast dis tabnanny sysconfig site venv build pip tox nox";

/// `-m MODULE`, and scripts from elsewhere.
pub(in crate::policy::trapdoors) fn python<'a>(
    row: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
    let mut module = None;
    for (at, word) in arguments.iter().enumerate() {
        if !word.starts_with('-') || word == "-" {
            break;
        }
        let Some(letters) = word.strip_prefix('-').filter(|word| !word.starts_with('-')) else {
            continue;
        };
        let Some((before, rest)) = letters.split_once('m') else {
            continue;
        };
        if before.contains(['c', 'W', 'X']) {
            continue;
        }
        let (name, behind) = match rest {
            "" => (arguments.get(at + 1).map_or("", |word| &**word), at + 2),
            name => (name, at + 1),
        };
        module = Some(&arguments[behind.min(arguments.len())..]);
        if !holds(MODULES, name) {
            found.add(Does::Runs, "-m", word);
        } else if let Some(row) = Row::of(name) {
            let rest = module.unwrap_or_default();
            crate::policy::trapdoors::options::look(row, rest, found);
        }
        break;
    }
    if module.is_none() {
        script(row, arguments, found);
    }
}

/// Whether a statement holds a command of psql or mysql that does more than describe (`\\dt`).
fn is_meta(statement: &str) -> bool {
    const DESCRIBES: &str = "d d+ dt dt+ di dv ds df dn du dp dx dy l l+ dt. x timing conninfo";
    match statement.strip_prefix('\\') {
        Some(rest) if !rest.contains('\\') => {
            let name = rest.split(' ').next().unwrap_or_default();
            !holds(DESCRIBES, name) || rest.contains(['`', '|'])
        }
        _ => statement.contains('\\'),
    }
}

/// Commands of a database's shell inside of statements; without a statement they are read from the standard input.
pub(in crate::policy::trapdoors) fn database<'a>(
    _: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
    const CALLS: &[&str] = &[
        "writefile",
        "load_extension",
        "edit(",
        "fts3_tokenizer",
        "readfile",
        "program",
        "copy",
        "lo_export",
        "lo_import",
        "outfile",
        "dumpfile",
        "load_file",
        "load data",
        "system",
        "source",
        "tee ",
        "pager ",
        "read_csv",
        "install",
        "load ",
        "attach",
        "pg_read",
        "pg_write",
        "pg_ls",
        "create function",
        "create extension",
        "create or replace",
        " do ",
    ];
    for word in arguments {
        let text = word.to_ascii_lowercase();
        let statement = text.trim_start();
        // psql and mysql read a backslash anywhere, sqlite3 a point in front.
        let first = statement.split(' ').next().unwrap_or_default();
        let point =
            statement.starts_with('.') && !statement.starts_with("./") && statement.len() > 1;
        if is_meta(statement) || point && (statement.contains('\n') || !holds(SHOWS, first)) {
            found.add(Does::Runs, "\\!", word);
        } else if let Some(call) = CALLS.iter().find(|call| text.contains(**call)) {
            found.add(Does::Writes, call.trim(), word);
        }
    }
    const SHOWS: &str = ".tables .schema .fullschema .indexes .indices .databases .dump .headers .mode .help .show .stats";
    const STATEMENTS: &str = "-c --command -e --execute -l --list -V --version -? --help -version -help --schema-only -s";
    let program = found.path.last().copied().unwrap_or_default();
    let has_statement = match program {
        name if name.starts_with("sqlite") || name.starts_with("duckdb") => {
            arguments
                .iter()
                .filter(|word| !word.starts_with('-'))
                .count()
                > 1
        }
        name if name.contains("dump") => true,
        _ => arguments.iter().any(|word| {
            let option = word.split('=').next().unwrap_or_default();
            holds(STATEMENTS, option)
                || (word.starts_with("-c") || word.starts_with("-e")) && word.len() > 2
        }),
    };
    if !has_statement {
        found.add(Does::Reads, "-", "-");
    }
}

/// Numbers of the shell's own commands, which zsh takes for arithmetic: a subscript in it can run something.
pub(in crate::policy::trapdoors) fn numbers<'a>(
    _: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
    let is_printf = found
        .path
        .last()
        .is_some_and(|program| program.ends_with("printf"));
    let wants_numbers = !is_printf || arguments.iter().any(|word| has_number(word));
    let evaluated = arguments
        .iter()
        .find(|word| word.contains(['$', '`']) && word.contains(['[', '{']));
    if let Some(word) = evaluated.filter(|_| wants_numbers) {
        found.add(Does::Runs, "[…]", word);
    }
}

/// Whether a format of printf has a conversion of a number.
fn has_number(format: &str) -> bool {
    format.split('%').skip(1).any(|conversion| {
        let conversion =
            conversion.trim_start_matches(|c: char| "-+ #'.".contains(c) || c.is_ascii_digit());
        !conversion.starts_with(['s', 'b', 'q']) && !conversion.is_empty()
    })
}
