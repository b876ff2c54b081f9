//! Searching, editing and showing text.

use super::{ROW, Row};
use crate::policy::trapdoors::Does::{Interactive, Reads, Runs, Writes};
use crate::policy::trapdoors::looks::{code, files};
use crate::policy::trapdoors::{awk, sed};

pub(super) const ROWS: &[Row] = &[
    Row {
        names: "rg ripgrep rga",
        source: "rg(1), ripgrep 14; GTFOBins",
        options: &[(Runs, "--pre --hostname-bin"), (Runs, "--search-zip -z")],
        valued: "-A -B -C -E -M -d -e -f -g -j -m -r -t -T",
        harmless: "--pre-glob --pretty --search",
        ..ROW
    },
    Row {
        names: "ag ack",
        source: "ag(1): --pager; ack(1): --pager, --ackrc",
        options: &[(Runs, "--pager"), (Reads, "--ackrc")],
        ..ROW
    },
    Row {
        names: "ugrep ug zgrep",
        source: "ugrep(1): --filter, --pager, --view, --save-config",
        options: &[
            (Runs, "--filter --filter-magic-label --pager --view"),
            (Writes, "--save-config"),
            (Reads, "--config"),
            (Interactive, "-Q --query"),
        ],
        valued: "-A -B -C -e -f -g -m -t",
        ..ROW
    },
    Row {
        names: "sed gsed",
        source: "sed(1), GNU sed 4.9; GTFOBins",
        options: &[(Writes, "-i -I --in-place"), (Reads, "-f --file")],
        valued: "-e -f --expression --file",
        look: Some(sed::look),
        looks: "e w",
        ..ROW
    },
    Row {
        names: "ssed super-sed",
        source: "as sed",
        itself: Some(Runs),
        ..ROW
    },
    Row {
        names: "awk gawk mawk nawk original-awk goawk bwk",
        source: "gawk(1) 5.2, mawk(1) 1.3.4; GTFOBins",
        options: &[
            (
                Reads,
                "-f --file -i --include -l --load -E --exec -D --debug -W -e --source",
            ),
            (Writes, "-o --pretty-print -d --dump-variables -p --profile"),
        ],
        valued: "-F -v -f -i -l -E -e --field-separator --assign",
        flags: "--posix --traditional --re-interval --sandbox -S",
        look: Some(awk::look),
        looks: "system | >",
        ..ROW
    },
    Row {
        names: "jq gojq jaq",
        source: "jq(1) 1.7: -f reads the filter, -L modules",
        options: &[(Reads, "-f --from-file -L --library-path")],
        valued: "--arg --argjson --slurpfile --rawfile --indent",
        ..ROW
    },
    Row {
        names: "yq",
        source: "yq 4 help: -i, -s write; load reads",
        options: &[
            (Writes, "-i --inplace --in-place -s --split-exp"),
            (Reads, "--from-file --split-exp-file"),
        ],
        valued: "-I -o -p -s -f",
        ..ROW
    },
    Row {
        names: "xmlstarlet xsltproc xmllint",
        source: "xmllint(1), xsltproc(1): --output, --shell",
        options: &[
            (Writes, "-o --output -L --inplace"),
            (Interactive, "--shell"),
            (Reads, "--catalogs --nocatalogs --path"),
        ],
        single: true,
        ..ROW
    },
    Row {
        names: "sd",
        source: "sd --help: files are edited in place",
        itself: Some(Writes),
        ..ROW
    },
    Row {
        names: "fzf sk",
        source: "fzf(1): --preview, --bind execute",
        options: &[(
            Runs,
            "--preview --bind --listen --with-shell --preview-window --tmux --become",
        )],
        itself: Some(Interactive),
        ..ROW
    },
    Row {
        names: "man gman",
        source: "man(1), man-db 2.11; GTFOBins",
        options: &[
            (
                Runs,
                "-P --pager -H --html --preprocessor -p -X --gxditview -T --troff-device -Z --ditroff",
            ),
            (Reads, "-C --config-file -M --manpath -l --local-file -S"),
        ],
        valued: "-C -P -H -p -M -T -X -E -L -m -R -r -s -S -e",
        harmless: "--troff",
        ..ROW
    },
    Row {
        names: "groff troff nroff",
        source: "groff(1): -U unsafe, -p -t run preprocessors",
        options: &[(Runs, "-U --unsafe -l -L -P -X -S"), (Reads, "-m -M -I")],
        ..ROW
    },
    Row {
        names: "info",
        source: "info(1): -o writes, --restore reads keys",
        options: &[
            (Writes, "-o --output --dribble"),
            (Reads, "--restore --init-file"),
        ],
        ..ROW
    },
    Row {
        names: "bat batcat delta",
        source: "bat(1) 0.24; delta --help",
        options: &[
            (Runs, "--pager --diff-so-fancy"),
            (Reads, "--config-file --config-dir"),
            (Runs, "--lessopen --detect-dark-light"),
        ],
        harmless: "--config",
        ..ROW
    },
    Row {
        names: "pandoc",
        source: "pandoc(1) 3: filters, templates and engines run programs",
        options: &[
            (
                Runs,
                "-F --filter -L --lua-filter --pdf-engine --pdf-engine-opt",
            ),
            (Writes, "-o --output --extract-media --log"),
            (
                Reads,
                "-d --defaults --data-dir --template --syntax-definition",
            ),
        ],
        valued: "-f -t -r -w -o -F -L -d -V -M -H -B -A -c -T",
        ..ROW
    },
    Row {
        names: "enscript a2ps lpr lp",
        source: "enscript(1): --filter; a2ps(1): -P, -E",
        options: &[(Runs, "--filter -I --delegate")],
        itself: Some(Writes),
        ..ROW
    },
    Row {
        names: "iconv",
        source: "iconv(1): -o",
        options: &[(Writes, "-o --output")],
        valued: "-f -t -o",
        ..ROW
    },
    Row {
        names: "xxd",
        source: "xxd(1): a second operand is written",
        options: &[],
        look: Some(files::second_operand),
        ..ROW
    },
    Row {
        names: "script scriptreplay",
        source: "script(1): runs a shell and writes what it prints",
        itself: Some(Runs),
        options: &[(Runs, "-c --command")],
        ..ROW
    },
    Row {
        names: "ed red",
        source: "ed(1): ! and w; GTFOBins",
        itself: Some(Interactive),
        look: Some(code::plus),
        ..ROW
    },
];
