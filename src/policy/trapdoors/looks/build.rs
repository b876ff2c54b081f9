//! Builders, compilers and package managers.

use super::{attached, is_operand};
use crate::policy::trapdoors::options::{holds, operands};
use crate::policy::trapdoors::table::Row;
use crate::policy::trapdoors::words::{assignment, is_plain, leads_away, leads_out};
use crate::policy::trapdoors::{Does, Found};

/// Variables of make that name programs or flags of its own.
const MAKE_VARIABLES: &str = "SHELL .SHELLFLAGS MAKE MAKEFLAGS GNUMAKEFLAGS MAKEFILES MFLAGS CC CXX CPP LD AR AS \
    RANLIB FC LEX YACC INSTALL RM CP MV PYTHON NODE PATH VPATH CFLAGS CXXFLAGS CPPFLAGS LDFLAGS";

/// Assignments whose value make or its shell would expand, or that name a program.
pub(in crate::policy::trapdoors) fn make<'a>(
    _: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
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

/// Agents and argument files of Java's programs, and properties that name code.
pub(in crate::policy::trapdoors) fn java<'a>(
    _: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
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

/// `cmake -E` and definitions that name programs.
pub(in crate::policy::trapdoors) fn cmake<'a>(
    _: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
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
pub(in crate::policy::trapdoors) fn rustc<'a>(
    _: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
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
pub(in crate::policy::trapdoors) fn compiler<'a>(
    _: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
    for word in arguments {
        for name in [
            "@",
            "-B",
            "-fplugin",
            "-fpass-plugin",
            "-wrapper",
            "-specs",
            "--specs",
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
pub(in crate::policy::trapdoors) fn pytest<'a>(
    _: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
    for word in arguments {
        if word.starts_with('@') {
            found.add(Does::Reads, "@", word);
        }
        // `xml:FILE`
        let file = word.rsplit(':').next().unwrap_or_default();
        if word.starts_with("--cov-report") && word.contains(':') && leads_away(file) {
            found.add(Does::Writes, "--cov-report", word);
        }
    }
}

/// `npm run SCRIPT`, where the script is not one that repositories usually have.
pub(in crate::policy::trapdoors) fn package_script<'a>(
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
pub(in crate::policy::trapdoors) fn npm_config<'a>(
    _: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
    if !arguments.iter().any(|word| holds("get list ls", word)) {
        found.add(Does::Sets, "config", "config");
    }
}

/// Packages from an address or a path run their scripts.
pub(in crate::policy::trapdoors) fn package_source<'a>(
    _: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
    for word in arguments {
        let value = word.split_once('=').filter(|_| word.starts_with('-'));
        let value = value.map_or(&**word, |(_, value)| value);
        if value.contains(':') || leads_out(value) {
            found.add(Does::Runs, "URL", word);
        }
    }
}
