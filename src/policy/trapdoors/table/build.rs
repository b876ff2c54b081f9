//! Builders, compilers and test runners.

use super::{ROW, Row};
use crate::policy::trapdoors::Does::{Interactive, Reads, Runs, Sets, Writes};
use crate::policy::trapdoors::looks::build;

pub(super) const ROWS: &[Row] = &[
    Row {
        names: "make gmake bmake nmake remake",
        source: "make(1), GNU make 4.3 and 4.4; GTFOBins",
        options: &[
            (Reads, "-f --file --makefile"),
            (Runs, "--eval -E"),
            (Sets, "-e --environment-overrides --shuffle"),
        ],
        valued: "-f -C -I -o -W -E",
        harmless: "--environment",
        look: Some(build::make),
        looks: "SHELL=",
        ..ROW
    },
    Row {
        names: "cmake",
        source: "cmake(1) 3.25",
        options: &[
            (Reads, "-P -C --preset --workflow -E"),
            (Runs, "--open"),
            (Writes, "--install --prefix"),
            (Sets, "--toolchain --graphviz"),
        ],
        valued: "-S -B -D -G -T -A -C -P",
        look: Some(build::cmake),
        looks: "-DCMAKE_CXX_COMPILER=",
        ..ROW
    },
    Row {
        names: "ctest cpack",
        source: "ctest(1) 3.25",
        options: &[
            (Reads, "-S --script -SP -C --test-dir --config"),
            (
                Runs,
                "--build-and-test -D --dashboard --build-makeprogram --test-command",
            ),
            (Writes, "-O --output-log --output-junit"),
        ],
        harmless: "--output --test",
        flags: "--output-on-failure",
        single: true,
        ..ROW
    },
    Row {
        names: "ninja samu",
        source: "ninja(1) 1.11",
        options: &[(Reads, "-f"), (Runs, "-t")],
        valued: "-f -C -j -k -l -d -w -t",
        ..ROW
    },
    Row {
        names: "meson",
        source: "meson(1) 1.0",
        subs: &[
            Row {
                names: "devenv wrap",
                itself: Some(Runs),
                ..ROW
            },
            Row {
                names: "test",
                options: &[(Runs, "--wrapper --wrap --gdb --gdb-path")],
                ..ROW
            },
            Row {
                names: "setup configure",
                options: &[(Reads, "--cross-file --native-file -D")],
                ..ROW
            },
        ],
        ..ROW
    },
    Row {
        names: "bazel bazelisk buck buck2 pants blaze",
        source: "bazel help: run, and rc files",
        every: &[
            (
                Reads,
                "--bazelrc --server_javabase --host_jvm_args --workspace_status_command --override_repository --repo_env --action_env",
            ),
            (
                Runs,
                "--run_under --test_strategy --spawn_strategy --shell_executable --credential_helper --script_path --install_base --output_base --output_user_root",
            ),
        ],
        subs: &[Row {
            names: "run mobile-install",
            itself: Some(Runs),
            ..ROW
        }],
        ..ROW
    },
    Row {
        names: "cargo",
        source: "cargo(1) 1.90 and the manual of each subcommand",
        every: &[
            (Sets, "--config -Z"),
            (Reads, "--manifest-path --lockfile-path"),
            (Writes, "--target-dir --artifact-dir --out-dir"),
        ],
        valued: "--config -Z -C --color --manifest-path",
        flags: "-v -q --verbose --quiet --locked --offline --frozen --version -V --list",
        harmless: "--target --no-default-features",
        closed: true,
        subs: &[
            Row {
                names: "run r",
                itself: Some(Runs),
                ..ROW
            },
            Row {
                names: "install uninstall",
                itself: Some(Runs),
                ..ROW
            },
            Row {
                names: "miri fuzz expand watch make binstall xtask script bloat flamegraph udeps",
                itself: Some(Runs),
                ..ROW
            },
            Row {
                names: "login logout owner publish yank",
                itself: Some(Sets),
                ..ROW
            },
            Row {
                names: "rustc rustdoc",
                itself: Some(Runs),
                options: &[
                    (Runs, "-C --codegen -Clinker -Zcodegen-backend -o --out-dir"),
                    (Reads, "-L"),
                ],
                look: Some(build::rustc),
                ..ROW
            },
        ],
        known: "add audit b bench build c check clean clippy config d deny doc fetch fix fmt generate-lockfile help info \
            init llvm-cov locate-project machete metadata new nextest outdated package pkgid read-manifest \
            remove report rm search t test tree update vendor verify-project version hack semver-checks insta",
        ..ROW
    },
    Row {
        names: "rustc rustdoc clippy-driver",
        source: "rustc(1): -C linker, -Z codegen-backend, @file",
        options: &[
            (Runs, "-C --codegen -Z --test-runtool --runtool"),
            (Reads, "--sysroot --extern -L"),
            (Writes, "-o --out-dir --emit"),
        ],
        valued: "-C -L -l -o -A -W -D -F -Z",
        look: Some(build::rustc),
        ..ROW
    },
    Row {
        names: "rustup",
        source: "rustup help",
        subs: &[
            Row {
                names: "run self",
                itself: Some(Runs),
                ..ROW
            },
            Row {
                names: "default override set",
                itself: Some(Sets),
                ..ROW
            },
            Row {
                names: "toolchain",
                subs: &[Row {
                    names: "link",
                    itself: Some(Sets),
                    ..ROW
                }],
                ..ROW
            },
        ],
        ..ROW
    },
    Row {
        names: "go",
        source: "go help build, go help test, go help testflag, go 1.23",
        single: true,
        every: &[
            (
                Runs,
                "-exec -toolexec -vettool -fixtool -compiler -gccgoflags -ldflags -overlay -modfile -pkgdir -test.exec",
            ),
            (Writes, "-o"),
        ],
        files: "-outputdir -cpuprofile -memprofile -blockprofile -mutexprofile -trace -coverprofile -testlogfile",
        valued: "-C",
        subs: &[
            Row {
                names: "run generate",
                single: true,
                itself: Some(Runs),
                ..ROW
            },
            Row {
                names: "install",
                single: true,
                itself: Some(Runs),
                ..ROW
            },
            Row {
                names: "tool",
                single: true,
                itself: Some(Runs),
                ..ROW
            },
            Row {
                names: "env",
                single: true,
                options: &[(Sets, "-w -u")],
                ..ROW
            },
            Row {
                names: "bug telemetry",
                single: true,
                itself: Some(Runs),
                ..ROW
            },
        ],
        ..ROW
    },
    Row {
        names: "gcc g++ cc c++ clang clang++ cpp tcc ld lld gold mold ld.lld",
        source: "gcc(1) 12, ld(1): -wrapper, -B, plug-ins, @file",
        options: &[(
            Runs,
            "-wrapper -B -fplugin -specs --specs -plugin -fuse-ld -Xclang -load -dynamic-linker -run -fpass-plugin",
        )],
        files: "-o",
        single: true,
        look: Some(build::compiler),
        looks: "@FILE -B -fplugin=",
        ..ROW
    },
    Row {
        names: "pytest py.test",
        source: "pytest --help 8: -p loads a module, -c and --rootdir its settings",
        options: &[
            (Runs, "-p --pdbcls --pdb --trace"),
            (
                Reads,
                "-c --config-file --rootdir --confcutdir --pyargs --import-mode",
            ),
            (Sets, "-o --override-ini"),
            (
                Writes,
                "--basetemp --debug --junitxml --junit-xml --log-file --report-log --resultlog --cov-config --pastebin",
            ),
        ],
        valued: "-k -m -n -r -W -p -c -o",
        look: Some(build::pytest),
        looks: "",
        harmless: "--co --cov --log --durations --import --report --cov-fail-under --pd --capture",
        ..ROW
    },
    Row {
        names: "tox nox",
        source: "tox --help, nox --help",
        options: &[
            (Reads, "-c --conf --noxfile -f -x --override"),
            (Runs, "exec e devenv"),
            (Writes, "--workdir --envdir"),
        ],
        ..ROW
    },
    Row {
        names: "mvn mvnw gradle gradlew ant sbt mill",
        source: "mvn --help, gradle --help",
        options: &[(
            Reads,
            "-f --file -I --init-script -b --build-file -c --settings-file -s --settings -gs --global-settings -t --toolchains -p --project-dir --include-build -g --gradle-user-home -lib -buildfile -propertyfile -addPluginSbtFile",
        )],
        look: Some(build::java),
        single: true,
        ..ROW
    },
    Row {
        names: "tsc",
        source: "tsc --all 5: --outDir writes, --plugins in a project",
        options: &[(
            Writes,
            "--outFile --outDir --declarationDir --tsBuildInfoFile --generateTrace --generateCpuProfile",
        )],
        single: true,
        ..ROW
    },
    Row {
        names: "eslint prettier stylelint jest vitest mocha webpack vite rollup esbuild babel rspack turbo nx lerna playwright cypress ava tap karma biome",
        source: "their help: configuration, plug-ins and reporters are code",
        options: &[
            (
                Reads,
                "-c --config --rulesdir --plugin --plugin-search-dir --resolve-plugins-relative-to --parser -r --require --import --loader --setupFiles --setupFilesAfterEnv --globalSetup --globalTeardown --preset --transform --runner --testRunner --testEnvironment --resolver --rootDir --root --config-path --cwd --ui --env-file --configLoader",
            ),
            (
                Runs,
                "-f --format --formatter --custom-formatter --reporter --reporters -R",
            ),
            (
                Writes,
                "-o --output-file --outputFile --outfile --outdir --coverageDirectory --cacheDirectory",
            ),
        ],
        valued: "-g -t -c",
        harmless: "--coverage --cache --config --root --format --run --re --reporter --test --c --co --pre",
        subs: &[Row {
            names: "exec",
            itself: Some(Runs),
            ..ROW
        }],
        ..ROW
    },
    Row {
        names: "ruff black mypy flake8 pylint isort bandit pyright coverage",
        source: "their help: --config and plug-ins",
        options: &[
            (
                Reads,
                "--config --config-file --rcfile --load-plugins --init-hook --append-config --settings-path --python-executable --custom-typeshed-dir",
            ),
            (Writes, "--output-file -o"),
        ],
        harmless: "--con",
        subs: &[Row {
            names: "run",
            itself: Some(Runs),
            ..ROW
        }],
        ..ROW
    },
    Row {
        names: "pre-commit husky lefthook",
        source: "pre-commit --help",
        options: &[(Reads, "-c --config")],
        subs: &[Row {
            names: "install uninstall try-repo migrate-config init-templatedir",
            itself: Some(Sets),
            ..ROW
        }],
        ..ROW
    },
    Row {
        names: "rake bundle bundler gem rspec rails",
        source: "rake --help, bundle help, gem help",
        options: &[
            (
                Reads,
                "-f --rakefile -I --libdir -R --rakelibdir -r --require -O --options --default-path --gemfile",
            ),
            (
                Runs,
                "-e --execute -E --execute-continue -p --execute-print",
            ),
        ],
        subs: &[
            Row {
                names: "exec runner r console c dbconsole open",
                itself: Some(Runs),
                ..ROW
            },
            Row {
                names: "config",
                itself: Some(Sets),
                ..ROW
            },
        ],
        ..ROW
    },
    Row {
        names: "dotnet msbuild nuget",
        source: "dotnet help",
        subs: &[Row {
            names: "run exec tool script watch fsi",
            itself: Some(Runs),
            ..ROW
        }],
        options: &[
            (
                Reads,
                "-logger -l --logger -a --test-adapter-path -s --settings -distributedlogger -dl",
            ),
            (Writes, "-o --output"),
        ],
        single: true,
        ..ROW
    },
    Row {
        names: "zig",
        source: "zig --help",
        subs: &[Row {
            names: "run build test cc c++",
            itself: Some(Runs),
            ..ROW
        }],
        options: &[(Runs, "--test-cmd --zig-lib-dir --build-runner")],
        ..ROW
    },
    Row {
        names: "gdb-multiarch lldb-server ipdb pdb jdb",
        source: "their help: debuggers run commands",
        itself: Some(Interactive),
        ..ROW
    },
];
