//! Programs that are there to run another one.

use super::{ROW, Row};
use crate::policy::trapdoors::Does::{Interactive, Reads, Runs, Sets, Writes};
use crate::policy::trapdoors::looks::{code, hosts};

/// A row for a program whose first operand is a program.
const WRAPPER: Row = Row {
    wraps: true,
    look: Some(code::wrapped),
    looks: "PROGRAM",
    ..ROW
};

pub(super) const ROWS: &[Row] = &[
    Row {
        names: "env genv",
        source: "env(1), GNU coreutils 9.1",
        options: &[(Runs, "-S --split-string")],
        valued: "-u -C -S --unset --chdir",
        flags: "-i - -0 -v --ignore-environment --null",
        front: true,
        ..WRAPPER
    },
    Row {
        names: "timeout gtimeout",
        source: "timeout(1), GNU coreutils 9.1",
        skips: 1,
        valued: "-k -s --kill-after --signal",
        flags: "-v --foreground --preserve-status --verbose",
        ..WRAPPER
    },
    Row {
        names: "nice gnice ionice chrt taskset setpriv",
        source: "nice(1), ionice(1), chrt(1), taskset(1)",
        valued: "-n -c --adjustment --class --classdata",
        ..WRAPPER
    },
    Row {
        names: "stdbuf gstdbuf",
        source: "stdbuf(1), GNU coreutils 9.1",
        valued: "-i -o -e --input --output --error",
        ..WRAPPER
    },
    Row {
        names: "nohup setsid chronic ts unbuffer dbus-run-session fakeroot proxychains proxychains4 torsocks catchsegv eatmydata faketime rlwrap ltrace systemd-inhibit caffeinate pkexec retry ifne pee zrun mispipe firejail",
        source: "nohup(1), moreutils, and the manual of each",
        ..WRAPPER
    },
    Row {
        names: "xargs gxargs",
        source: "xargs(1), GNU findutils 4.9",
        options: &[(Reads, "-a --arg-file")],
        valued: "-a -d -E -I -L -n -P -s --delimiter --max-args --max-procs",
        flags: "-0 -r -t -x --null --no-run-if-empty --verbose",
        front: true,
        ..WRAPPER
    },
    Row {
        names: "parallel sem rush",
        source: "parallel(1): the words are a shell command",
        itself: None,
        options: &[
            (
                Runs,
                "--tmux --pipe-part --sshlogin -S --transferfile --env --filter --rpl",
            ),
            (Reads, "-a --arg-file --profile -J"),
        ],
        valued: "-j -a -S -J -n -N -I",
        ..WRAPPER
    },
    Row {
        names: "sudo doas su runuser sudoedit gosu su-exec please run0",
        source: "sudo(8), doas(1), su(1)",
        options: &[
            (Runs, "-e --edit -s --shell -i --login -c --command"),
            (Reads, "-A --askpass -C"),
        ],
        valued: "-u -g -h -p -C -D -R -T -U -c",
        flags: "-n -E -H -S -k",
        front: true,
        ..WRAPPER
    },
    Row {
        names: "chroot flock",
        source: "chroot(8), flock(1); GTFOBins",
        options: &[(Runs, "-c --command")],
        skips: 1,
        ..WRAPPER
    },
    Row {
        names: "strace perf valgrind gdb lldb rr",
        source: "strace(1), valgrind(1), gdb(1); GTFOBins",
        options: &[
            (Writes, "-o --output --log-file"),
            (
                Runs,
                "-ex --eval-command -x --command --ex -iex -ix --args -o --one-line -s --source",
            ),
            (Runs, "-p --pid"),
        ],
        ..WRAPPER
    },
    Row {
        names: "time gtime",
        source: "time(1), GNU time 1.9",
        options: &[(Writes, "-o --output")],
        valued: "-f -o --format",
        ..WRAPPER
    },
    Row {
        names: "busybox toybox watch unshare nsenter bwrap",
        source: "busybox(1), watch(1), unshare(1), nsenter(1); GTFOBins",
        ..WRAPPER
    },
    Row {
        names: "systemd-run systemd-nspawn machinectl systemd-cat",
        source: "systemd-run(1)",
        ..WRAPPER
    },
    Row {
        names: "nix-shell nix",
        source: "nix(1), nix-shell(1)",
        options: &[(
            Runs,
            "--run --command -c --pure --expr -E -p --packages -i --option --extra-experimental-features",
        )],
        subs: &[Row {
            names: "run shell develop eval build profile",
            itself: Some(Runs),
            ..ROW
        }],
        ..ROW
    },
    Row {
        names: "direnv mise asdf rtx devbox volta fnm nvm pyenv rbenv conda mamba micromamba",
        source: "mise help, direnv help, conda help",
        subs: &[
            Row {
                names: "exec x run shell allow en trust task r tasks",
                itself: Some(Runs),
                ..ROW
            },
            Row {
                names: "install use set create env activate hook add",
                itself: Some(Sets),
                ..ROW
            },
        ],
        ..ROW
    },
    Row {
        names: "tmux screen zellij dtach abduco",
        source: "tmux(1): every command may hold another",
        itself: Some(Runs),
        look: Some(code::always_asks),
        looks: "…",
        ..ROW
    },
    Row {
        names: "expect autoexpect socat nc ncat netcat",
        source: "expect(1), socat(1), ncat(1); GTFOBins",
        options: &[(Runs, "-e -c --exec --sh-exec --lua-exec -f -b")],
        look: Some(hosts::socat),
        looks: "EXEC: SYSTEM:",
        ..ROW
    },
    Row {
        names: "at batch crontab",
        source: "at(1), crontab(1)",
        options: &[(Sets, "-e -r -f -t -m")],
        look: Some(hosts::schedule),
        looks: "FILE",
        ..ROW
    },
    Row {
        names: "hyperfine",
        source: "hyperfine --help: the operands are shell commands",
        options: &[
            (Runs, "-p --prepare -s --setup -c --cleanup -S --shell"),
            (
                Writes,
                "--export-json --export-csv --export-markdown --export-asciidoc --output",
            ),
        ],
        wraps: true,
        look: Some(code::wrapped),
        ..ROW
    },
    Row {
        names: "pexec dsh pdsh clush ansible ansible-playbook",
        source: "ansible(1): modules run commands",
        itself: Some(Runs),
        options: &[(Runs, "-m --module-name -a --args")],
        ..ROW
    },
    Row {
        names: "just task mage doit",
        source: "just(1), task help: recipes of a file",
        options: &[
            (
                Reads,
                "-f --justfile --taskfile -t -d --dir --dotenv-path --init --working-directory -E",
            ),
            (
                Runs,
                "-c --command --shell --shell-arg --choose --chooser --edit -e --eval --evaluate --set",
            ),
        ],
        valued: "-f -d -c -t",
        ..ROW
    },
    Row {
        names: "foreman overmind honcho pm2 supervisorctl nodemon concurrently npm-run-all",
        source: "their help: run what a file or an operand says",
        itself: Some(Runs),
        look: Some(code::wrapped),
        wraps: true,
        ..ROW
    },
    Row {
        names: "osascript automator launchctl defaults",
        source: "osascript(1), launchctl(1)",
        itself: Some(Runs),
        options: &[(Runs, "-e")],
        ..ROW
    },
    Row {
        names: "dialog whiptail",
        source: "dialog(1)",
        itself: Some(Interactive),
        ..ROW
    },
];
