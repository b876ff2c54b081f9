//! Editors and pagers.

use super::{ROW, Row};
use crate::policy::trapdoors::Does::{Interactive, Reads, Runs, Writes};
use crate::policy::trapdoors::looks::code;

pub(super) const ROWS: &[Row] = &[
    Row {
        names: "less pg zless",
        source: "less(1) 590; GTFOBins",
        options: &[
            (Writes, "-o -O --log-file --LOG-FILE"),
            (
                Reads,
                "-k --lesskey-file --lesskey-src --lesskey-content -t -T --tag --tag-file",
            ),
        ],
        valued: "-b -h -j -k -o -O -p -P -t -T -x -y -z",
        itself: Some(Interactive),
        look: Some(code::plus),
        looks: "+",
        ..ROW
    },
    Row {
        names: "more most",
        source: "more(1), util-linux 2.38; GTFOBins",
        itself: Some(Interactive),
        look: Some(code::plus),
        looks: "+",
        ..ROW
    },
    Row {
        names: "vi vim nvim view rvim rview gvim vimdiff nvi elvis vimtutor neovide ex",
        source: "vim(1) 9.0; GTFOBins",
        itself: Some(Interactive),
        options: &[(
            Runs,
            "-c --cmd -S -s -u -U -i -e -E -l -es --startuptime -q -t -w -W --remote --remote-expr --remote-send --server --listen --embed",
        )],
        look: Some(code::plus),
        looks: "+",
        ..ROW
    },
    Row {
        names: "emacs emacsclient mg zile jed",
        source: "emacs(1) 28; GTFOBins",
        itself: Some(Interactive),
        options: &[(
            Runs,
            "-e --eval --execute -f --funcall -l --load --script -Q --batch -x -eval -batch -load -funcall -insert -u",
        )],
        ..ROW
    },
    Row {
        names: "nano pico micro joe hx helix kak ne code codium subl zed idea",
        source: "nano(1) 7.2: -s runs a speller; GTFOBins; code --help: --install-extension",
        itself: Some(Interactive),
        options: &[
            (
                Runs,
                "-s --speller -e --install-extension --extensions-dir --user-data-dir -E",
            ),
            (Reads, "-f --rcfile -c --config"),
            (Writes, "-C --backupdir -o --operatingdir"),
        ],
        look: Some(code::plus),
        ..ROW
    },
    Row {
        names: "visudo vipw crontab-ui",
        source: "visudo(8)",
        itself: Some(Interactive),
        ..ROW
    },
    Row {
        names: "lynx w3m links elinks",
        source: "lynx(1), w3m(1): -editor, -cmd_script; GTFOBins",
        single: true,
        options: &[
            (
                Runs,
                "-editor -cmd_script -cfg -cmd_log -pager -mailer -eval -config-file -lss -localhost_exec -exec",
            ),
            (Interactive, "-term"),
        ],
        ..ROW
    },
];
