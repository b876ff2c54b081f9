//! git and its kin.

use super::{ROW, Row};
use crate::policy::trapdoors::Does::{Interactive, Reads, Runs, Sets, Writes};
use crate::policy::trapdoors::looks::git;

const SOURCE: &str =
    "git(1) and the manual of each subcommand, git 2.47; gitremote-helpers(7); githooks(5)";

pub(super) const ROWS: &[Row] = &[
    Row {
        names: "git",
        source: SOURCE,
        front: true,
        options: &[
            (Sets, "-c --config-env"),
            (Runs, "--exec-path="),
            (Reads, "--git-dir"),
            (Writes, "--work-tree"),
        ],
        every: &[
            (
                Runs,
                "--open-files-in-pager --ext-diff --textconv --upload-pack --receive-pack --exec --extcmd --upload-archive",
            ),
            (
                Writes,
                "--output --output-directory --export-marks --in-place --index-output --filter-to --object-dir",
            ),
            (Runs, "--strategy"),
        ],
        valued: "-C -c --config-env --git-dir --work-tree --namespace --attr-source",
        flags: "-p -P -v -h --paginate --no-pager --bare --no-replace-objects --no-lazy-fetch --no-optional-locks \
            --no-advice --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --version \
            --help --html-path --man-path --info-path --exec-path",
        harmless: "--text --index --in --filter --strategy-option --exclude --extended-regexp",
        closed: true,
        subs: SUBS,
        known: "add annotate backfill blame branch bugreport cat-file check-attr check-ignore check-mailmap \
            check-ref-format checkout cherry cherry-pick clean column commit commit-graph commit-tree \
            count-objects describe diff diff-files diff-index diff-pairs diff-tree fast-export fetch-pack \
            fmt-merge-msg for-each-ref fsck gc get-tar-commit-id hash-object help index-pack \
            interpret-trailers last-modified log ls-files ls-tree merge merge-base merge-ours \
            merge-recursive merge-resolve merge-subtree merge-tree mktag mktree mv name-rev notes \
            pack-redundant pack-refs patch-id prune prune-packed range-diff read-tree reflog refs repack \
            replace repo request-pull rerere reset restore rev-list rev-parse revert rm shortlog show \
            show-branch show-index show-ref sparse-checkout stage stash status stripspace switch \
            symbolic-ref tag unpack-file unpack-objects update-index update-ref update-server-info var \
            verify-commit verify-pack verify-tag version whatchanged write-tree",
        looks: "",
        ..ROW
    },
    Row {
        names: "gitk git-gui tig lazygit gitui",
        source: "gitk(1), git-gui(1), tig(1): run what is typed",
        itself: Some(Interactive),
        ..ROW
    },
    Row {
        names: "scalar",
        source: "scalar(1): registers maintenance and sets configuration",
        itself: Some(Sets),
        ..ROW
    },
    Row {
        names: "gh glab",
        source: "gh(1): alias and extension run other programs; api sends requests of any method",
        subs: &[
            Row {
                names: "alias extension ext extensions config",
                itself: Some(Sets),
                ..ROW
            },
            Row {
                names: "codespace cs",
                itself: Some(Runs),
                ..ROW
            },
            Row {
                names: "api",
                options: &[(Writes, "-X --method -f --raw-field -F --field --input")],
                ..ROW
            },
            Row {
                names: "auth",
                itself: Some(Sets),
                ..ROW
            },
            Row {
                names: "browse",
                itself: Some(Runs),
                ..ROW
            },
        ],
        closed: true,
        known: "pr issue repo run workflow release search status label gist org project cache secret variable \
            ruleset ssh-key gpg-key attestation completion help version mr ci job user",
        ..ROW
    },
    Row {
        names: "hg",
        source: "hg(1): --config sets hooks, aliases and extensions",
        every: &[
            (Sets, "--config --config-file"),
            (Runs, "--ssh --remotecmd --tool --insecure"),
        ],
        subs: &[
            Row {
                names: "bisect",
                options: &[(Runs, "-c --command")],
                ..ROW
            },
            Row {
                names: "extdiff",
                itself: Some(Runs),
                ..ROW
            },
        ],
        ..ROW
    },
    Row {
        names: "svn",
        source: "svn help: --diff-cmd and editors run programs; --config-option sets them",
        every: &[
            (Runs, "--diff-cmd --diff3-cmd --editor-cmd"),
            (Sets, "--config-option --config-dir"),
        ],
        ..ROW
    },
];

const SUBS: &[Row] = &[
    Row {
        names: "config",
        look: Some(git::git_config),
        looks: "config",
        ..ROW
    },
    Row {
        names: "bisect",
        subs: &[
            Row {
                names: "run",
                itself: Some(Runs),
                ..ROW
            },
            Row {
                names: "visualize view",
                itself: Some(Runs),
                ..ROW
            },
            Row {
                names: "replay",
                itself: Some(Reads),
                ..ROW
            },
        ],
        ..ROW
    },
    Row {
        names: "submodule",
        subs: &[
            Row {
                names: "foreach",
                itself: Some(Runs),
                ..ROW
            },
            Row {
                names: "set-url",
                itself: Some(Sets),
                ..ROW
            },
        ],
        look: Some(git::git_address),
        ..ROW
    },
    Row {
        names: "rebase",
        options: &[(Runs, "-x -s")],
        valued: "-X -s -x --onto -C --strategy-option",
        ..ROW
    },
    Row {
        names: "pull",
        options: &[(Runs, "-s")],
        valued: "-X -s -o -j",
        look: Some(git::git_address),
        ..ROW
    },
    Row {
        names: "grep",
        options: &[(Runs, "-O")],
        valued: "-A -B -C -m -f -e -O",
        ..ROW
    },
    Row {
        names: "difftool mergetool",
        itself: Some(Runs),
        ..ROW
    },
    Row {
        names: "filter-branch filter-repo",
        itself: Some(Runs),
        ..ROW
    },
    Row {
        names: "format-patch",
        options: &[(Writes, "-o")],
        valued: "-o -v -U -l -S -G -O",
        ..ROW
    },
    Row {
        names: "archive",
        options: &[(Writes, "-o")],
        valued: "-o",
        look: Some(git::git_address),
        ..ROW
    },
    Row {
        names: "diagnose",
        options: &[(Writes, "-o")],
        valued: "-o -s",
        ..ROW
    },
    Row {
        names: "bundle",
        subs: &[Row {
            names: "create",
            itself: Some(Writes),
            ..ROW
        }],
        ..ROW
    },
    Row {
        names: "clone",
        options: &[
            (Runs, "-u"),
            (Sets, "-c --config"),
            (Runs, "--template"),
            (Writes, "--separate-git-dir"),
        ],
        valued: "-u -c -b -o -j --branch --origin --depth --jobs --reference",
        look: Some(git::git_address),
        ..ROW
    },
    Row {
        names: "init init-db",
        options: &[(Runs, "--template"), (Writes, "--separate-git-dir")],
        ..ROW
    },
    Row {
        names: "fetch push ls-remote send-pack fetch-pack",
        look: Some(git::git_address),
        looks: "ext::",
        ..ROW
    },
    Row {
        names: "remote",
        look: Some(git::git_address),
        looks: "ext::",
        ..ROW
    },
    Row {
        names: "worktree",
        subs: &[Row {
            names: "add move",
            itself: Some(Runs),
            ..ROW
        }],
        ..ROW
    },
    Row {
        names: "apply am mailinfo mailsplit merge-file checkout-index fast-import pack-objects multi-pack-index",
        itself: Some(Writes),
        ..ROW
    },
    Row {
        names: "hook for-each-repo merge-index merge-one-file merge-octopus replay",
        itself: Some(Runs),
        ..ROW
    },
    Row {
        names: "maintenance",
        subs: &[Row {
            names: "start stop register unregister",
            itself: Some(Sets),
            ..ROW
        }],
        ..ROW
    },
    Row {
        names: "send-email instaweb web--browse daemon cvsserver cvsimport cvsexportcommit archimport p4 svn gui gitk \
            citool imap-send quiltimport http-backend http-fetch http-push shell upload-pack receive-pack \
            upload-archive remote-ext remote-fd credential credential-cache credential-store \
            fsmonitor--daemon difftool--helper sh-setup subtree",
        itself: Some(Runs),
        ..ROW
    },
];
