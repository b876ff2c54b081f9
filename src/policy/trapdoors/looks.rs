//! Closer looks at arguments, for what a list of options cannot say.

use super::options::{holds, operands};
use super::table::Row;
use super::words::{assignment, is_plain, leads_away, leads_out, runs_helper};
use super::{Does, Found};

pub(super) use super::awk::look as awk;
pub(super) use super::sed::look as sed;

fn is_operand(word: &str) -> bool {
    !word.starts_with('-') || word == "-"
}

/// The value in an option word: what stands behind `=`, or attached to a short one.
fn attached(word: &str) -> &str {
    match word.split_once('=') {
        Some((_, value)) if word.starts_with("--") => value,
        _ if word.starts_with('-') && !word.starts_with("--") => word.get(2..).unwrap_or_default(),
        _ => "",
    }
}

/// Every operand, and every value that is attached to an option, that is written and leads away.
pub(super) fn all_operands<'a>(_: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    for word in arguments {
        let path = if is_operand(word) {
            word
        } else {
            attached(word)
        };
        if leads_away(path) {
            found.add_path(Does::Writes, path);
        }
    }
}

/// The last operand; all of them where the last may be a value, or where the program removes or links its sources.
pub(super) fn destination<'a>(row: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    let takes_sources = found
        .path
        .last()
        .is_some_and(|program| program.contains("mv") || program.contains("ln"));
    let valued = |word: &String| {
        !is_operand(word) && (word.starts_with("--t") || word.starts_with("--s"))
            || word.starts_with('-') && !word.starts_with("--") && word.contains(['t', 'S'])
    };
    if takes_sources || arguments.iter().any(valued) {
        return all_operands(row, arguments, found);
    }
    let last = arguments.iter().rev().find(|word| is_operand(word));
    if let Some(last) = last.filter(|path| leads_away(path)) {
        found.add_path(Does::Writes, last);
    }
}

/// `uniq INPUT OUTPUT`.
pub(super) fn second_operand<'a>(_: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    let mut paths = arguments
        .iter()
        .filter(|word| is_operand(word) && leads_away(word));
    if let Some(path) = paths.next_back().filter(|_| arguments.len() > 1) {
        let operands = arguments.iter().filter(|word| is_operand(word)).count();
        if operands > 1 {
            found.add_path(Does::Writes, path);
        }
    }
}

/// Operands that lead out of the working directory.
pub(super) fn leads_out_after_options<'a>(
    _: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
    for word in arguments
        .iter()
        .filter(|word| is_operand(word) && leads_out(word))
    {
        found.add_path(Does::Writes, word);
    }
}

/// Old-style bundles (`tar cfI x y`), archives on another host, and unpacking elsewhere.
pub(super) fn tar<'a>(row: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    if let Some(first) = arguments.first().filter(|word| !word.starts_with('-')) {
        for (does, names) in row.options {
            for name in names
                .split_ascii_whitespace()
                .filter(|name| name.len() == 2)
            {
                if first.contains(&name[1..]) {
                    found.add(*does, name, first);
                }
            }
        }
    }
    let mut before = "";
    for word in arguments {
        let (host, rest) = word.split_once(':').unwrap_or((word, ""));
        let value = attached(word);
        if !rest.is_empty() && !host.contains('/') && !word.starts_with("--exclude") {
            found.add(Does::Runs, "HOST:", word);
        }
        let is_directory = |option: &str| {
            option.starts_with("--dir") || option.starts_with("--one") || option.starts_with("-C")
        };
        let bundled = before.starts_with('-') && !before.starts_with("--") && before.ends_with('C');
        let bundled = bundled
            || arguments
                .first()
                .is_some_and(|first| is_operand(first) && first.contains('C'));
        let path = match () {
            () if is_directory(word) => value,
            () if is_directory(before) || bundled => &**word,
            () => "",
        };
        if leads_out(path) {
            found.add_path(Does::Writes, path);
        }
        before = word;
    }
}

/// `-TT COMMAND`, also in a bundle.
pub(super) fn zip<'a>(_: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    for word in arguments {
        if word.starts_with('-') && !word.starts_with("--") && word.contains("TT") {
            found.add(Does::Runs, "-TT", word);
        }
    }
}

/// `-oDIR`, `-wDIR`, `-sfx`, `-sdel`, and lists of files.
pub(super) fn seven_zip<'a>(_: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    for word in arguments {
        for name in ["-o", "-w", "-sfx", "-sdel", "-spf"] {
            if word.starts_with(name) {
                found.add(Does::Writes, name, word);
            }
        }
    }
}

/// `git config`, except where it only reads.
pub(super) fn git_config<'a>(_: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    const READS: &str = "--get --get-all --get-regexp --get-urlmatch --list -l get list get-color get-colorbool \
        --get-color --get-colorbool";
    const ALONGSIDE: &str = "--global --local --system --worktree --show-origin --show-scope --name-only -z --null \
        --type --bool --int --path --all --regexp --default --includes --no-includes";
    let first = arguments
        .iter()
        .find(|word| !holds(ALONGSIDE, word.split('=').next().unwrap_or_default()));
    let operands = arguments.iter().filter(|word| is_operand(word)).count();
    let reads = match first {
        None => true,
        Some(first) if holds(READS, first) => true,
        // `git config user.name` alone prints it.
        Some(first) => is_operand(first) && operands == 1 && first.contains('.'),
    };
    const WRITES: &[&str] = &[
        "--add", "--unset", "--rep", "--rem", "--ren", "--edit", "--app", "-e", "-f", "--file",
        "--blob",
    ];
    let writes = |word: &String| WRITES.iter().any(|name| word.starts_with(name));
    if !reads || arguments.iter().any(writes) {
        found.add(Does::Sets, "config", "config");
    }
}

/// Addresses that git hands to a helper program.
pub(super) fn git_address<'a>(_: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    for word in arguments {
        let address = word.split_once('=').filter(|_| word.starts_with('-'));
        let address = address.map_or(&**word, |(_, value)| value);
        if runs_helper(address) {
            found.add(
                Does::Runs,
                address.split(':').next().unwrap_or_default(),
                word,
            );
        }
    }
}

/// Variables of make that name programs or flags of its own.
const MAKE_VARIABLES: &str = "SHELL .SHELLFLAGS MAKE MAKEFLAGS GNUMAKEFLAGS MAKEFILES MFLAGS CC CXX CPP LD AR AS \
    RANLIB FC LEX YACC INSTALL RM CP MV PYTHON NODE PATH VPATH CFLAGS CXXFLAGS CPPFLAGS LDFLAGS";

/// Assignments whose value make or its shell would expand, or that name a program.
pub(super) fn make<'a>(_: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    for word in arguments {
        let Some((name, value)) = assignment(word) else {
            continue;
        };
        let name = name.trim_end_matches([':', '+', '?', '!']);
        if holds(MAKE_VARIABLES, name)
            || !is_plain(value)
            || word
                .split_once('=')
                .is_some_and(|(name, _)| name.ends_with('!'))
        {
            found.add(Does::Sets, name, word);
        }
    }
    let mut before = "";
    for word in arguments {
        let directory = if before == "-C" || before == "-I" || before.starts_with("--dir") {
            word
        } else if word.starts_with("-C")
            || word.starts_with("-I")
            || word.starts_with("--dir")
            || word.starts_with("--inc")
        {
            attached(word)
        } else {
            ""
        };
        if leads_out(directory) {
            found.add_path(Does::Reads, directory);
        }
        before = word;
    }
}

/// A program given as an operand: each word that could be it.
pub(super) fn wrapped<'a>(row: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    let mut left = row.skips;
    let mut from = 0;
    // Assignments of env, and operands in front of the program (timeout's duration).
    while let Some(at) = operands(row, &arguments[from..]).last() {
        let word = &arguments[from + at];
        if assignment(word).is_some() {
            let name = word.split('=').next().unwrap_or_default();
            found.add(Does::Sets, name, name);
        } else if left > 0 {
            left -= 1;
        } else {
            break;
        }
        from += at + 1;
    }
    for at in operands(row, &arguments[from..]) {
        let program = &arguments[from + at];
        found.add(Does::Runs, super::base(program), program);
    }
}

/// An interpreter without a script, or with one from its standard input.
pub(super) fn script<'a>(row: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    const ASKS: &str = "--version -V --help -h -v -vV --test";
    let places = operands(row, arguments);
    let first = places.first().map(|at| &*arguments[*at]);
    match first {
        None if arguments.iter().any(|word| holds(ASKS, word)) => {}
        None => found.add(Does::Reads, "-", "-"),
        Some(_) => {}
    }
    for at in places {
        let word = &arguments[at];
        if word == "-" || word.starts_with("/dev/") || word.starts_with("/proc/") {
            found.add(Does::Reads, "-", word);
        }
    }
}

/// `+COMMAND` of editors and pagers.
pub(super) fn plus<'a>(_: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    for word in arguments.iter().filter(|word| word.starts_with('+')) {
        // A line number opens nothing.
        if !word[1..].chars().all(|c| c.is_ascii_digit()) {
            found.add(Does::Runs, "+", word);
        }
    }
}

/// A name with a subscript, which bash evaluates.
pub(super) fn subscript<'a>(_: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    for word in arguments.iter().filter(|word| word.contains('[')) {
        found.add(Does::Runs, "NAME[…]", word);
    }
}

/// Assignments, which outlive the command, and subscripts.
pub(super) fn sets<'a>(row: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    subscript(row, arguments, found);
    for word in arguments {
        if let Some((name, _)) = word.split_once('=') {
            found.add(Does::Sets, name.trim_end_matches('+'), word);
        }
    }
}

/// The words are code: only their own text spells them.
pub(super) fn always_asks<'a>(_: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    for word in arguments {
        found.add(Does::Runs, word, word);
    }
}

/// Modules of Python that run nothing but tests and checks of what is named.
const MODULES: &str = "pytest unittest doctest py_compile compileall mypy ruff black isort flake8 pylint pyright bandit \
    coverage json.tool tokenize ast dis tabnanny sysconfig site venv build pip tox nox";

/// `-m MODULE`, and scripts from elsewhere.
pub(super) fn python<'a>(row: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
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
            super::options::look(row, rest, found);
        }
        break;
    }
    if module.is_none() {
        script(row, arguments, found);
    }
}

/// Agents and argument files of Java's programs, and properties that name code.
pub(super) fn java<'a>(_: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    for word in arguments {
        for name in [
            "-javaagent:",
            "-agentlib:",
            "-agentpath:",
            "-Xplugin:",
            "-J",
            "@",
            "-XX:On",
            "-XX:Flags",
        ] {
            if word.starts_with(name) {
                found.add(Does::Runs, name, word);
            }
        }
    }
}

/// Commands of a database's shell inside of statements; without a statement they are read from the standard input.
pub(super) fn database<'a>(row: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
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
        if text.contains('\\') || point && (statement.contains('\n') || !holds(SHOWS, first)) {
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
            operands(row, arguments).len() + 1 <= arguments.len() && arguments.len() > 1
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

/// Addresses that make curl read or write files, and data from files.
pub(super) fn curl<'a>(_: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    for word in arguments {
        let lower = word.to_ascii_lowercase();
        for scheme in [
            "file:", "dict:", "gopher:", "smtp:", "smtps:", "telnet:", "tftp:", "scp:", "sftp:",
            "smb:",
        ] {
            if lower.contains(scheme) {
                found.add(Does::Reads, scheme, word);
            }
        }
    }
}

/// `socat` addresses that run programs or open files.
pub(super) fn socat<'a>(_: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    for word in arguments {
        let upper = word.to_ascii_uppercase();
        for name in [
            "EXEC:", "SYSTEM:", "SHELL:", "OPEN:", "CREATE:", "GOPEN:", "FILE:", "PIPE:",
        ] {
            if upper.contains(name) {
                found.add(Does::Runs, name, word);
            }
        }
    }
}

/// A schedule is set by a file, the standard input or any word but those that list.
pub(super) fn schedule<'a>(_: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    let lists = arguments
        .iter()
        .any(|word| holds("-l -V -h --help --version -c", word));
    if !lists {
        found.add(Does::Sets, "-", "-");
    }
}

/// `cmake -E` and definitions that name programs.
pub(super) fn cmake<'a>(_: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    const PROGRAMS: &[&str] = &[
        "COMPILER",
        "LINKER",
        "LAUNCHER",
        "PROGRAM",
        "COMMAND",
        "TOOLCHAIN",
        "EXECUTABLE",
        "INCLUDE",
        "EMULATOR",
        "PREFIX",
        "PATH",
        "RULE",
        "FLAGS",
        "TOOL",
        "_DIR",
    ];
    for word in arguments {
        let name = word.split(['=', ':']).next().unwrap_or_default();
        let plain = word.starts_with("-D") || !word.starts_with('-');
        if plain && word.contains('=') && PROGRAMS.iter().any(|part| name.contains(part)) {
            found.add(Does::Sets, name, word);
        } else if is_operand(word) && leads_out(word) && word != ".." {
            found.add_path(Does::Reads, word);
        }
    }
}

/// Argument files and linkers.
pub(super) fn rustc<'a>(_: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    for word in arguments {
        if word.starts_with('@')
            || word.starts_with("linker=")
            || word.starts_with("codegen-backend=")
        {
            found.add(Does::Runs, "linker=", word);
        }
    }
}

/// Attached values that make a compiler run something, and argument files.
pub(super) fn compiler<'a>(_: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    for word in arguments {
        for name in [
            "@",
            "-B",
            "-fplugin",
            "-fpass-plugin",
            "-wrapper",
            "-specs",
            "--specs",
            "-o/",
            "-Wl,-plugin",
            "-Wl,--plugin",
            "-Wl,-dynamic-linker",
            "-Wl,-I",
        ] {
            if word.starts_with(name) {
                found.add(Does::Runs, name, word);
            }
        }
    }
}

/// Tests from elsewhere.
pub(super) fn pytest<'a>(_: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    for word in arguments.iter().filter(|word| word.starts_with('@')) {
        found.add(Does::Reads, "@", word);
    }
}

/// `npm run SCRIPT`, where the script is not one that repositories usually have.
pub(super) fn package_script<'a>(
    row: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
    for at in operands(row, arguments) {
        let script = &*arguments[at];
        let stem = script.split([':', '-', '.']).next().unwrap_or_default();
        if !holds(row.known, script) && !holds(row.known, stem) {
            found.add(Does::Runs, "run", "run");
        }
    }
}

/// `npm config`, except where it reads.
pub(super) fn npm_config<'a>(_: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    if !arguments.iter().any(|word| holds("get list ls", word)) {
        found.add(Does::Sets, "config", "config");
    }
}

/// Packages from an address or a path run their scripts.
pub(super) fn package_source<'a>(_: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    for word in arguments {
        let value = word.split_once('=').filter(|_| word.starts_with('-'));
        let value = value.map_or(&**word, |(_, value)| value);
        if value.contains(':') || leads_out(value) {
            found.add(Does::Runs, "URL", word);
        }
    }
}

/// Changes to a cluster, except dry runs.
pub(super) fn kubectl_write<'a>(_: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    let dry = arguments
        .iter()
        .any(|word| word == "--dry-run=client" || word == "--dry-run=server");
    let reads = arguments.iter().any(|word| holds("status history", word));
    if !dry && !reads {
        let name = found.path.last().copied().unwrap_or_default();
        found.add(Does::Writes, name, name);
    }
}

/// Plans and changes run what the configuration names.
pub(super) fn terraform<'a>(_: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    let name = found.path.last().copied().unwrap_or_default();
    let reads = matches!(name, "state" | "workspace")
        && arguments.iter().any(|word| holds("list show pull", word));
    if !reads && !matches!(name, "init" | "plan" | "refresh") {
        found.add(Does::Writes, name, name);
    }
}

/// Words that ImageMagick and TeX take for commands.
pub(super) fn magick<'a>(_: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    for word in arguments {
        let lower = word.to_ascii_lowercase();
        for name in [
            "|",
            "@",
            "msl:",
            "ephemeral:",
            "url:",
            "https:",
            "http:",
            "mvg:",
            "text:",
            "label:@",
            "\\",
            "macro:",
            "vnd.sun.star",
        ] {
            let hit = match name {
                "\\" => lower.contains(name),
                name => lower.starts_with(name),
            };
            if hit {
                found.add(Does::Runs, name, word);
            }
        }
    }
}

/// Words that change the system; those that only show it are few.
pub(super) fn system<'a>(_: &'static Row, arguments: &'a [String], found: &mut Found<'a>) {
    let program = found.path.last().copied().unwrap_or_default();
    const SHOWS: &str = "show status list ls get addr address a link route r neigh n -br -brief -4 -6 -j -json -s -a \
        --help --version query help dev";
    let plain = match program {
        "date" => arguments
            .iter()
            .all(|word| word.starts_with('+') || word.starts_with('-')),
        _ => arguments.iter().all(|word| holds(SHOWS, word)),
    };
    let changes = "add del delete set change replace flush up down exec enable disable";
    let changes = arguments
        .iter()
        .any(|word| holds(changes, word) || word.contains('='));
    if changes || !plain && !matches!(program, "date" | "ip" | "mount" | "sysctl" | "ifconfig") {
        found.add(Does::Sets, program, program);
    }
}
