//! Converters of pictures, sound and documents.

use super::{ROW, Row};
use crate::policy::trapdoors::Does::{Reads, Runs, Writes};
use crate::policy::trapdoors::looks::files;

pub(super) const ROWS: &[Row] = &[
    Row {
        names: "ffmpeg ffplay",
        source: "ffmpeg(1) 5.1: outputs are operands; -f tee, -filter_script, -y",
        single: true,
        options: &[
            (
                Writes,
                "-y -report -dump_attachment -passlogfile -progress -vstats_file",
            ),
            (
                Reads,
                "-filter_script -filter_complex_script -init_hw_device -protocol_whitelist -fpre -vpre -apre -pre -attach",
            ),
        ],
        look: Some(files::leads_out_after_options),
        ..ROW
    },
    Row {
        names: "convert magick mogrify composite montage identify gm",
        source: "ImageMagick(1): delegates, msl:, |command, @file",
        options: &[
            (Writes, "-write -path"),
            (Runs, "-process -script --script"),
        ],
        single: true,
        look: Some(files::magick),
        looks: "|COMMAND msl:",
        ..ROW
    },
    Row {
        names: "gs ghostscript ps2pdf",
        source: "gs(1): PostScript is code, -o writes, %pipe%",
        itself: Some(Runs),
        options: &[(Writes, "-o"), (Runs, "-c -f")],
        ..ROW
    },
    Row {
        names: "tex latex pdflatex xelatex lualatex luatex latexmk pdftex xetex bibtex tectonic context",
        source: "tex(1): -shell-escape, \\write18; latexmk(1): -e; GTFOBins",
        single: true,
        options: &[
            (
                Runs,
                "-shell-escape -shell-restricted -enable-write18 -e -r -pdflatex -latex -output-driver -fmt -lua -ini -pvc -usepretex -Z",
            ),
            (Writes, "-output-directory -outdir -auxdir -jobname"),
        ],
        look: Some(files::magick),
        ..ROW
    },
    Row {
        names: "dot neato circo fdp twopi graphviz d2 mmdc plantuml",
        source: "dot(1): -o, -O, -l",
        options: &[
            (Writes, "-o -O --output"),
            (
                Reads,
                "-l -c --config --configFile --puppeteerConfigFile -p",
            ),
        ],
        valued: "-T -G -N -E -K -l -o -s -n",
        ..ROW
    },
    Row {
        names: "exiftool",
        source: "exiftool(1): -if and -config are Perl, -o writes",
        single: true,
        options: &[
            (Runs, "-if -if2 -config -p -execute -api -fileNUM"),
            (Reads, "-@ -stay_open"),
            (Writes, "-o -w -w! -W -W! -overwrite_original -tagsfromfile"),
        ],
        ..ROW
    },
    Row {
        names: "mpv vlc cvlc mplayer sox youtube-dl yt-dlp",
        source: "yt-dlp --help: --exec; mpv(1): --script",
        options: &[
            (
                Runs,
                "--exec --exec-before-download --script --scripts --input-commands --external-downloader --downloader --ffmpeg-location --use-postprocessor --plugin-dirs --netrc-cmd --extcap --lua-config",
            ),
            (
                Writes,
                "-o --output -P --paths --record-file --stream-record --o -a --batch-file --print-to-file --cookies",
            ),
            (
                Reads,
                "--config-location --config-locations --config --include --input-conf --load-info-json --cookies-from-browser",
            ),
        ],
        harmless: "--c --p --print --e --external --in --i --r --l --s --u --n --b",
        ..ROW
    },
    Row {
        names: "libreoffice soffice wkhtmltopdf chromium chrome google-chrome firefox chromium-browser",
        source: "soffice --help: macros; chromium: --utility-cmd-prefix, --renderer-cmd-prefix",
        options: &[
            (
                Runs,
                "--renderer-cmd-prefix --utility-cmd-prefix --gpu-launcher --ppapi-plugin-launcher --browser-subprocess-path --load-extension --remote-debugging-port --no-sandbox --accept -env --script --run-script --allow",
            ),
            (
                Writes,
                "--outdir --user-data-dir --print-to-pdf --screenshot --print-to-file --log-file",
            ),
        ],
        look: Some(files::magick),
        single: true,
        ..ROW
    },
];
