//! Package managers.

use super::{ROW, Row};
use crate::policy::trapdoors::Does::{Reads, Runs, Sets, Writes};
use crate::policy::trapdoors::looks::{build, code};

/// Scripts that repositories usually have; running another one is their word.
const SCRIPTS: &str = "test tests t build dev start lint check typecheck type-check types format fmt prettier tsc compile \
    clean coverage e2e unit integration ci watch serve preview docs storybook validate verify";

pub(super) const ROWS: &[Row] = &[
    Row {
        names: "npm cnpm",
        source: "npm(1) 10, config(7)",
        every: &[
            (
                Runs,
                "--script-shell --shell --node-options --git --editor --viewer --browser --before-script",
            ),
            (
                Sets,
                "--userconfig --globalconfig --registry --prefix -g --global --location --cafile --cache --init-module -C",
            ),
            (Runs, "--call -c"),
        ],
        valued: "-w --workspace --prefix -C --loglevel --registry --script-shell",
        flags: "--silent -s --workspaces -ws --if-present --no-audit --no-fund --version -v --json --yes -y",
        harmless: "--browse --c --ca --g --git-tag-version --s --shel --pre --l --lo --e --b",
        subs: &[
            Row {
                names: "exec x",
                itself: Some(Runs),
                ..ROW
            },
            Row {
                names: "run run-script rum urn",
                look: Some(build::package_script),
                known: SCRIPTS,
                looks: "run",
                valued: "-w --workspace --prefix",
                flags: "--silent -s --if-present --workspaces -ws",
                ..ROW
            },
            Row {
                names: "explore edit create init innit",
                itself: Some(Runs),
                ..ROW
            },
            Row {
                names: "config c set",
                look: Some(build::npm_config),
                looks: "config",
                ..ROW
            },
            Row {
                names: "publish unpublish login logout adduser token owner access",
                itself: Some(Sets),
                ..ROW
            },
            Row {
                names: "install i add in ins isntall",
                look: Some(build::package_source),
                looks: "URL",
                ..ROW
            },
        ],
        ..ROW
    },
    Row {
        names: "npx pnpx bunx uvx pipx",
        source: "npm-exec(1), uvx help: runs a package",
        options: &[(Runs, "-c --call -p --package --shell --from --with")],
        valued: "-p --package -c",
        flags: "-y --yes --no --no-install -q --quiet",
        front: true,
        wraps: true,
        look: Some(code::wrapped),
        looks: "PROGRAM",
        ..ROW
    },
    Row {
        names: "pnpm yarn yarnpkg",
        source: "pnpm help 9, yarn help 4",
        every: &[
            (Runs, "--script-shell --shell-emulator --call -c"),
            (
                Sets,
                "--use-yarnrc --global -g --config --registry --cwd --dir -C --cache-folder --prefix",
            ),
        ],
        valued: "-F --filter -C --dir --cwd",
        flags: "--silent -s -w --recursive --if-present --version -v --frozen-lockfile",
        harmless: "--reporter --recursive --s --shell --pre --prefer-offline --p --c --e",
        closed: true,
        subs: YARN_SUBS,
        known: YARN,
        ..ROW
    },
    Row {
        names: "bun",
        source: "bun --help 1",
        every: &[
            (Runs, "-r --preload --require -e --eval -p --print"),
            (
                Sets,
                "--global -g --config -c --registry --cwd --cache-dir --shell",
            ),
        ],
        valued: "-F --filter --cwd -r --preload",
        flags: "--silent -b --bun --hot --watch --version -v --frozen-lockfile",
        harmless: "--re --reporter --p --print --pre --prefer-offline --c --co --e --s",
        closed: true,
        subs: YARN_SUBS,
        known: YARN,
        ..ROW
    },
    Row {
        names: "pip pip3",
        source: "pip(1) 24",
        every: &[
            (
                Reads,
                "-c --constraint --config-settings -C --global-option --build-option --python",
            ),
            (
                Sets,
                "-i --index-url --extra-index-url -f --find-links --trusted-host --proxy --cert",
            ),
            (
                Writes,
                "-t --target --root --prefix --log --src -d --dest -w --wheel-dir --report",
            ),
        ],
        valued: "-r -c -i -f -t -d -e -C -w",
        harmless: "--pre --platform --re --requirement --p",
        subs: &[
            Row {
                names: "config",
                itself: Some(Sets),
                ..ROW
            },
            Row {
                names: "install download wheel",
                look: Some(build::package_source),
                looks: "URL",
                ..ROW
            },
        ],
        ..ROW
    },
    Row {
        names: "uv poetry pipenv pdm hatch rye",
        source: "uv help 0.4, poetry help 1.8",
        every: &[
            (Runs, "--python -p"),
            (
                Sets,
                "--config-file --index-url --default-index --index --find-links --directory --project --config-setting -C",
            ),
        ],
        valued: "--project --directory --python -p",
        subs: &[
            Row {
                names: "run shell tool x self script",
                itself: Some(Runs),
                ..ROW
            },
            Row {
                names: "config source publish",
                itself: Some(Sets),
                ..ROW
            },
            Row {
                names: "add",
                look: Some(build::package_source),
                ..ROW
            },
        ],
        ..ROW
    },
    Row {
        names: "composer",
        source: "composer help 2",
        subs: &[Row {
            names: "exec run-script run global config create-project",
            itself: Some(Runs),
            ..ROW
        }],
        options: &[(Sets, "-d --working-dir")],
        ..ROW
    },
    Row {
        names: "apt apt-get aptitude dpkg apt-cache",
        source: "apt-get(8), dpkg(1): -o sets hooks; GTFOBins",
        options: &[
            (Sets, "-o --option -c --config-file"),
            (
                Runs,
                "--pre-invoke --post-invoke --status-logger --force-confnew",
            ),
            (
                Writes,
                "-i --install --unpack --configure -r --remove -P --purge",
            ),
        ],
        subs: &[
            Row {
                names: "changelog source build-dep",
                itself: Some(Runs),
                ..ROW
            },
            Row {
                names: "install remove purge upgrade full-upgrade dist-upgrade autoremove edit-sources satisfy",
                itself: Some(Writes),
                ..ROW
            },
        ],
        valued: "-o -c",
        ..ROW
    },
    Row {
        names: "dnf yum rpm zypper pacman apk brew port snap flatpak",
        source: "rpm(8): --eval, --pipe; pacman(8), brew(1); GTFOBins",
        options: &[(
            Runs,
            "--eval -E --pipe --define -D --macros --load --rcfile --dbpath --hookdir --config --gpgdir --root --setopt -c",
        )],
        subs: &[Row {
            names: "run install add remove upgrade tap sh edit services bundle dev-cmd localinstall shell",
            itself: Some(Runs),
            ..ROW
        }],
        ..ROW
    },
    Row {
        names: "corepack n",
        source: "corepack --help",
        itself: Some(Sets),
        ..ROW
    },
];

/// Subcommands of yarn, and scripts that it takes for some.
const YARN: &str = "test tests t build dev start lint check typecheck type-check types format fmt tsc compile clean coverage \
            e2e unit ci serve preview list ls why outdated audit remove rm update up upgrade prune store \
            dedupe import info help licenses pm version bin root versions constraints";

const YARN_SUBS: &[Row] = &[
    Row {
        names: "exec x dlx create explore node init workspace workspaces",
        itself: Some(Runs),
        ..ROW
    },
    Row {
        names: "run run-script",
        look: Some(build::package_script),
        known: SCRIPTS,
        looks: "run",
        valued: "-F --filter",
        flags: "--silent -s --if-present -r --recursive",
        ..ROW
    },
    Row {
        names: "config set plugin link global upgrade-interactive patch-commit",
        itself: Some(Sets),
        ..ROW
    },
    Row {
        names: "publish login logout",
        itself: Some(Sets),
        ..ROW
    },
    Row {
        names: "add install i",
        look: Some(build::package_source),
        looks: "URL",
        ..ROW
    },
];
