//! Shells and their builtins.

use super::{ROW, Row};
use crate::policy::trapdoors::Does::{Interactive, Reads, Runs, Sets};
use crate::policy::trapdoors::looks::code;

const BASH: &str = "bash(1) 5.2, SHELL BUILTIN COMMANDS; zshbuiltins(1)";

pub(super) const ROWS: &[Row] = &[
    Row {
        names: "sh bash dash zsh ksh ksh93 mksh oksh pdksh ash rbash yash csh tcsh fish xonsh nu elvish osh pwsh powershell",
        source: "bash(1), dash(1), zsh(1), fish(1): -c, -s, -i, --rcfile",
        front: true,
        options: &[
            (
                Runs,
                "-c --command --commands -C --init-command -Command -EncodedCommand",
            ),
            (
                Reads,
                "-s -i -l --rcfile --init-file --login --interactive -f --config --env-config -File --stdin",
            ),
        ],
        valued: "-o -O",
        look: Some(code::script),
        ..ROW
    },
    Row {
        names: "printf gprintf",
        source: "bash(1): -v assigns, a subscript is evaluated",
        options: &[(Runs, "-v")],
        valued: "-v",
        look: Some(code::numbers),
        looks: "[…]",
        ..ROW
    },
    Row {
        names: "exit return break continue shift",
        source: "zshbuiltins(1): their numbers are arithmetic",
        look: Some(code::numbers),
        looks: "[…]",
        ..ROW
    },
    Row {
        names: "test [ [[",
        source: "bash(1), CONDITIONAL EXPRESSIONS: -v and arithmetic evaluate a subscript",
        single: true,
        options: &[(Runs, "-v -R -eq -ne -lt -le -gt -ge -t")],
        ..ROW
    },
    Row {
        names: "read",
        source: BASH,
        look: Some(code::subscript),
        options: &[(Runs, "-e -a -A")],
        looks: "NAME[…]",
        ..ROW
    },
    Row {
        names: "export declare typeset local readonly integer float unset unsetenv setenv getopts wait print",
        source: BASH,
        look: Some(code::sets),
        options: &[(Sets, "-n -f -i -A -a -v")],
        looks: "NAME=",
        ..ROW
    },
    Row {
        names: "let ((",
        source: "bash(1): arithmetic evaluates subscripts",
        itself: Some(Runs),
        ..ROW
    },
    Row {
        names: "eval source .",
        source: BASH,
        look: Some(code::always_asks),
        looks: "…",
        ..ROW
    },
    Row {
        names: "trap alias unalias",
        source: BASH,
        itself: Some(Sets),
        ..ROW
    },
    Row {
        names: "hash",
        source: BASH,
        options: &[(Sets, "-p")],
        ..ROW
    },
    Row {
        names: "enable",
        source: BASH,
        options: &[(Runs, "-f"), (Sets, "-n")],
        ..ROW
    },
    Row {
        names: "complete compgen compopt compctl",
        source: BASH,
        options: &[(Runs, "-C -F -K -W -G")],
        ..ROW
    },
    Row {
        names: "bind bindkey",
        source: BASH,
        options: &[(Runs, "-x"), (Reads, "-f")],
        itself: Some(Sets),
        ..ROW
    },
    Row {
        names: "mapfile readarray",
        source: BASH,
        options: &[(Runs, "-C")],
        look: Some(code::subscript),
        ..ROW
    },
    Row {
        names: "fc history r",
        source: BASH,
        options: &[(Runs, "-e -s"), (Reads, "-a -n -r -w")],
        itself: Some(Runs),
        ..ROW
    },
    Row {
        names: "shopt set setopt unsetopt zmodload autoload zstyle zle emulate ulimit umask",
        source: BASH,
        itself: Some(Sets),
        ..ROW
    },
    Row {
        names: "coproc exec command builtin noglob nocorrect",
        source: "bash(1): runs its operand",
        itself: None,
        wraps: true,
        flags: "-p -v -V -a -c -l",
        look: Some(code::wrapped),
        looks: "PROGRAM",
        ..ROW
    },
    Row {
        names: "jobs",
        source: "bash(1): -x runs its operand",
        options: &[(Runs, "-x")],
        ..ROW
    },
    Row {
        names: "select vared zcompile",
        source: "zshbuiltins(1)",
        itself: Some(Interactive),
        ..ROW
    },
];
