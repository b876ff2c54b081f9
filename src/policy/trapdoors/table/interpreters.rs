//! Interpreters of languages, and databases' shells.

use super::{ROW, Row};
use crate::policy::trapdoors::Does::{Interactive, Reads, Runs, Sets, Writes};
use crate::policy::trapdoors::looks::{build, code};

/// A row for a program whose first operand is a script; what follows belongs to the script.
const SCRIPT: Row = Row {
    front: true,
    look: Some(code::script),
    ..ROW
};

pub(super) const ROWS: &[Row] = &[
    Row {
        names: "python pypy python3 python2 ipython bpython pythonw",
        source: "python(1) 3.11; GTFOBins",
        options: &[(Runs, "-c"), (Interactive, "-i")],
        valued: "-c -m -W -X --check-hash-based-pycs",
        flags: "-B -b -d -E -I -O -OO -P -q -s -S -u -v -V -x",
        look: Some(code::python),
        looks: "-m -",
        ..SCRIPT
    },
    Row {
        names: "node nodejs",
        source: "node(1) 22",
        options: &[
            (Runs, "-e --eval -p --print -pe --run"),
            (
                Reads,
                "-r --require --import --loader --experimental-loader --env-file --env-file-if-exists --snapshot-blob --experimental-config-file --openssl-config --experimental-default-config-file",
            ),
            (
                Runs,
                "--inspect --inspect-brk --inspect-wait --test-reporter --test-global-setup",
            ),
            (Interactive, "-i --interactive"),
            (
                Writes,
                "--redirect-warnings --report-directory --diagnostic-dir --cpu-prof-dir --heap-prof-dir --build-snapshot --test-reporter-destination",
            ),
        ],
        valued: "-e -p -r -C",
        flags: "-c --check --test --watch --no-warnings --trace-warnings --enable-source-maps --expose-gc --experimental-strip-types --experimental-vm-modules",
        harmless: "--test --experimental --report",
        ..SCRIPT
    },
    Row {
        names: "deno",
        source: "deno help 2",
        subs: &[Row {
            names: "eval repl run task serve install x jupyter upgrade compile",
            itself: Some(Runs),
            ..ROW
        }],
        every: &[
            (Reads, "-c --config --import-map --preload --env-file"),
            (Runs, "-A --allow-all --allow-run --allow-ffi -r --reload"),
            (Writes, "--output -o --allow-write"),
        ],
        known: "check fmt lint test info doc cache bench coverage types add outdated",
        closed: true,
        ..ROW
    },
    Row {
        names: "ts-node tsx swc-node esno vite-node babel-node",
        source: "tsx --help, ts-node --help",
        options: &[
            (Runs, "-e --eval -p --print"),
            (
                Reads,
                "-r --require --import --loader -C --compiler -P --project --tsconfig",
            ),
        ],
        valued: "-e -p -r -C -P -O",
        ..SCRIPT
    },
    Row {
        names: "ruby jruby irb erb rdoc ri",
        source: "ruby(1) 3.1; GTFOBins",
        options: &[(Runs, "-e -r"), (Reads, "-I -C -X -S"), (Writes, "-i")],
        valued: "-e -r -I -C -E -F -K -T -W",
        ..SCRIPT
    },
    Row {
        names: "perl",
        source: "perlrun(1) 5.36; GTFOBins",
        options: &[
            (Runs, "-e -E -M -m -d"),
            (Reads, "-I -x -S"),
            (Writes, "-i"),
        ],
        valued: "-e -E -M -m -I -F -0 -C -x",
        ..SCRIPT
    },
    Row {
        names: "php",
        source: "php(1) 8.2; GTFOBins",
        options: &[
            (
                Runs,
                "-r --run -R --process-code -B --process-begin -E --process-end -a --interactive -S --server",
            ),
            (
                Reads,
                "-d --define -c --php-ini -z --zend-extension -F --process-file -f",
            ),
        ],
        valued: "-r -R -B -E -d -c -z -F -S -t",
        ..SCRIPT
    },
    Row {
        names: "lua luajit texlua tclsh wish guile scheme racket sbcl clisp ecl clojure clj lein ghci runghc runhaskell ocaml utop erl escript elixir iex julia Rscript R octave gnuplot groovy kotlin scala jshell bb swift dotnet-script csi fsi maxima gp bc dc janet raku rakudo nim crystal",
        source: "their manuals: -e and its kin are code; without a file the standard input is",
        options: &[
            (
                Runs,
                "-e --eval --evaluate -E --expression --execute -execute --exec -eval -x --print -p -s -S -load",
            ),
            (
                Reads,
                "-l -r --load --require -i --init --init-file -L -f --file --rpc-eval --remsh --dot-iex",
            ),
            (Interactive, "--interactive"),
        ],
        ..SCRIPT
    },
    Row {
        names: "java javaw",
        source: "java(1) 17: agents and main classes",
        single: true,
        options: &[
            (
                Runs,
                "-javaagent -agentlib -agentpath -XX:OnError -XX:OnOutOfMemoryError -cp -classpath -class-path -m -module -p -module-path -Xbootclasspath/a -upgrade-module-path",
            ),
            (Reads, "-XX:Flags -XX:VMOptionsFile"),
        ],
        look: Some(build::java),
        looks: "@ -javaagent: -agentlib:",
        ..ROW
    },
    Row {
        names: "javac kotlinc scalac",
        source: "javac(1) 17: annotation processors and plug-ins",
        single: true,
        options: &[
            (
                Runs,
                "-processor -processorpath -processor-path -processor-module-path -Xplugin -J",
            ),
            (Writes, "-d -h -s"),
        ],
        look: Some(build::java),
        ..ROW
    },
    Row {
        names: "psql pg_dump pgcli",
        source: "psql(1) 15: \\! and \\o in commands; GTFOBins",
        options: &[
            (Reads, "-f --file"),
            (Writes, "-o --output -L --log-file"),
            (Sets, "-v --set --variable"),
        ],
        valued: "-c -d -f -F -h -L -o -p -P -R -T -U -v --command --dbname --host --port --username",
        look: Some(code::database),
        looks: "\\! \\o \\copy",
        ..ROW
    },
    Row {
        names: "sqlite3 sqlite duckdb litecli",
        source: "sqlite3(1) 3.40: .shell, .output, writefile; GTFOBins",
        single: true,
        options: &[
            (Reads, "-init -cmd -f -c"),
            (Interactive, "-interactive"),
            (Runs, "-A -append -vfs"),
        ],
        look: Some(code::database),
        looks: ".shell .output .load .import",
        ..ROW
    },
    Row {
        names: "mysql mariadb mycli mysqldump",
        source: "mysql(1) 8.0: system, tee, source; GTFOBins",
        options: &[
            (Runs, "--pager --plugin-dir --init-command"),
            (Writes, "--tee -r --result-file -T --tab"),
            (
                Reads,
                "--defaults-file --defaults-extra-file --local-infile",
            ),
        ],
        valued: "-D -e -h -p -P -S -u --execute",
        look: Some(code::database),
        looks: "\\! system tee",
        ..ROW
    },
    Row {
        names: "mongosh mongo redis-cli clickhouse-client cqlsh",
        source: "mongosh --help, redis-cli --help",
        options: &[
            (Runs, "--eval --shell -f --file --eval-ro"),
            (Reads, "--rcfile"),
        ],
        valued: "-h -p -n -u",
        ..ROW
    },
];
