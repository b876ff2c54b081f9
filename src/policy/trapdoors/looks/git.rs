//! git's configuration and addresses.

use super::is_operand;
use crate::policy::trapdoors::options::holds;
use crate::policy::trapdoors::table::Row;
use crate::policy::trapdoors::words::runs_helper;
use crate::policy::trapdoors::{Does, Found};

/// `git config`, except where it only reads.
pub(in crate::policy::trapdoors) fn git_config<'a>(
    _: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
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
pub(in crate::policy::trapdoors) fn git_address<'a>(
    _: &'static Row,
    arguments: &'a [String],
    found: &mut Found<'a>,
) {
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
