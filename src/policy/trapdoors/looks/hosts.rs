//! Other hosts, clusters and the system.

use crate::policy::trapdoors::options::holds;
use crate::policy::trapdoors::table::Row;
use crate::policy::trapdoors::{Does, Found};

/// Addresses that make curl read or write files, and data from files.
pub(in crate::policy::trapdoors) fn curl<'a>(
    _: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
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
pub(in crate::policy::trapdoors) fn socat<'a>(
    _: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
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
pub(in crate::policy::trapdoors) fn schedule<'a>(
    _: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
    let lists = arguments
        .iter()
        .any(|word| holds("-l -V -h --help --version -c", word));
    if !lists {
        found.add(Does::Sets, "-", "-");
    }
}

/// Changes to a cluster, except dry runs.
pub(in crate::policy::trapdoors) fn kubectl_write<'a>(
    _: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
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
pub(in crate::policy::trapdoors) fn terraform<'a>(
    _: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
    let name = found.path.last().copied().unwrap_or_default();
    let reads = matches!(name, "state" | "workspace")
        && arguments.iter().any(|word| holds("list show pull", word));
    if !reads && !matches!(name, "init" | "plan" | "refresh") {
        found.add(Does::Writes, name, name);
    }
}

/// Words that change the system; those that only show it are few.
pub(in crate::policy::trapdoors) fn system<'a>(
    _: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
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

/// Subcommands that show things; any other changes them.
pub(in crate::policy::trapdoors) fn shows<'a>(
    _: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
    let shows = arguments
        .first()
        .is_some_and(|word| holds("ls list inspect ps show df info events --help", word));
    if !shows {
        let name = found.path.last().copied().unwrap_or_default();
        found.add(Does::Sets, name, name);
    }
}
