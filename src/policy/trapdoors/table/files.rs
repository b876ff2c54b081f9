//! Finding, copying and packing files.

use super::{ROW, Row};
use crate::policy::trapdoors::Does::{Interactive, Reads, Runs, Writes};
use crate::policy::trapdoors::looks::files;

pub(super) const ROWS: &[Row] = &[
    Row {
        names: "find gfind",
        source: "find(1), GNU findutils 4.9; GTFOBins",
        single: true,
        options: &[
            (Runs, "-exec -execdir -ok -okdir"),
            (Writes, "-delete -fprint -fprint0 -fprintf -fls"),
            (Reads, "-files0-from"),
        ],
        ..ROW
    },
    Row {
        names: "fd fdfind",
        source: "fd(1) 10",
        options: &[(Runs, "-x --exec -X --exec-batch")],
        valued: "-d -t -e -E -S -c -j -C -o -x -X --exec --exec-batch",
        harmless: "--exclude --extension --exact-depth",
        ..ROW
    },
    Row {
        names: "tar gtar bsdtar star",
        source: "tar(1), GNU tar 1.34; bsdtar(1); GTFOBins",
        options: &[
            (
                Runs,
                "-I --use-compress-program --to-command --checkpoint-action --rsh-command --rmt-command",
            ),
            (Runs, "-F --info-script --new-volume-script"),
            (Reads, "-T --files-from"),
            (
                Writes,
                "-P --absolute-names --index-file --volno-file --listed-incremental -g",
            ),
        ],
        valued: "-I -F -T -f -C -b -g -H -K -L -N -V -X",
        harmless: "--checkpoint --list --file",
        look: Some(files::tar),
        looks: "HOST:",
        ..ROW
    },
    Row {
        names: "cpio pax",
        source: "cpio(1): --rsh-command, -O and -F write; pax(1)",
        options: &[
            (Runs, "--rsh-command"),
            (Writes, "-p -O -F --file -i -r --extract --pass-through"),
        ],
        valued: "-O -F -C -H -I -E -R",
        ..ROW
    },
    Row {
        names: "zip",
        source: "zip(1) 3.0: -TT runs a command; GTFOBins",
        single: true,
        options: &[
            (Runs, "-TT -unzip-command -T"),
            (Writes, "-O -output-file -m -move"),
        ],
        look: Some(files::zip),
        ..ROW
    },
    Row {
        names: "unzip",
        source: "unzip(1) 6.0: -d leads elsewhere, : keeps ../",
        options: &[(Writes, "-d -: -K -X")],
        ..ROW
    },
    Row {
        names: "7z 7za 7zr 7zz",
        source: "7z help: -o, -si, -w, @listfile",
        look: Some(files::seven_zip),
        looks: "-o -w",
        ..ROW
    },
    Row {
        names: "unrar rar",
        source: "unrar(1), rar: -ap, -c, -w; @listfile",
        itself: Some(Writes),
        ..ROW
    },
    Row {
        names: "ar llvm-ar",
        source: "ar(1): an archive is written in place; @file and --plugin read",
        options: &[(Reads, "--plugin")],
        ..ROW
    },
    Row {
        names: "gzip gunzip bzip2 xz zstd lz4",
        source: "gzip(1), xz(1), zstd(1): a file is put in place of another",
        options: &[(
            Writes,
            "-o --output --files --files0 --output-dir-flat --output-dir-mirror",
        )],
        valued: "-o -S -T -M -D",
        ..ROW
    },
    Row {
        names: "tee sponge",
        source: "tee(1), GNU coreutils 9.1",
        look: Some(files::all_operands),
        looks: "/…",
        ..ROW
    },
    Row {
        names: "cp mv ln gcp gmv gln",
        source: "cp(1), mv(1), ln(1), GNU coreutils 9.1",
        look: Some(files::destination),
        looks: "/…",
        ..ROW
    },
    Row {
        names: "install ginstall",
        source: "install(1), GNU coreutils 9.1",
        options: &[(Runs, "--strip-program")],
        valued: "-g -m -o -S -t",
        look: Some(files::destination),
        looks: "/…",
        ..ROW
    },
    Row {
        names: "dd",
        source: "dd(1), GNU coreutils 9.1",
        single: true,
        options: &[(Writes, "of=")],
        ..ROW
    },
    Row {
        names: "truncate shred",
        source: "truncate(1), shred(1), GNU coreutils 9.1",
        look: Some(files::all_operands),
        looks: "/…",
        ..ROW
    },
    Row {
        names: "split gsplit csplit",
        source: "split(1), GNU coreutils 9.1: --filter runs a shell",
        options: &[(Runs, "--filter")],
        look: Some(files::all_operands),
        ..ROW
    },
    Row {
        names: "sort gsort",
        source: "sort(1), GNU coreutils 9.1",
        options: &[
            (Writes, "-o --output"),
            (Runs, "--compress-program"),
            (Writes, "-T --temporary-directory"),
            (Reads, "--files0-from"),
        ],
        valued: "-k -t -S -o -T --key --field-separator --buffer-size --parallel",
        ..ROW
    },
    Row {
        names: "uniq guniq shuf tsort pr",
        source: "uniq(1), shuf(1): a second operand or -o is written",
        options: &[(Writes, "-o --output")],
        valued: "-f -s -w -n -i -o",
        look: Some(files::second_operand),
        ..ROW
    },
    Row {
        names: "rsync",
        source: "rsync(1) 3.2; GTFOBins",
        options: &[
            (Runs, "-e --rsh --rsync-path"),
            (Reads, "--daemon --config --password-file"),
            (
                Writes,
                "--log-file --write-batch --only-write-batch --temp-dir -T --backup-dir --partial-dir",
            ),
            (
                Writes,
                "--delete --delete-before --delete-during --delete-after --delete-excluded --remove-source-files",
            ),
            (Reads, "-M --remote-option --read-batch"),
        ],
        valued: "-e -f -T -B -M",
        harmless: "--recursive --relative",
        look: Some(files::destination),
        ..ROW
    },
    Row {
        names: "tree",
        source: "tree(1) 2.1",
        options: &[(Writes, "-o -R")],
        valued: "-L -P -I -H -T -o",
        ..ROW
    },
    Row {
        names: "file",
        source: "file(1) 5.44: -C writes a compiled magic file; -m reads one",
        options: &[(Writes, "-C --compile"), (Reads, "-m --magic-file")],
        valued: "-e -F -f -m -P",
        ..ROW
    },
    Row {
        names: "patch",
        source: "patch(1) 2.7: an ed script is run by ed",
        options: &[
            (Writes, "-o --output -r --reject-file -B -z"),
            (Runs, "-e --ed -g --get"),
        ],
        valued: "-B -D -d -F -g -i -o -p -r -V -Y -z",
        look: Some(files::leads_out_after_options),
        ..ROW
    },
    Row {
        names: "diff3 sdiff",
        source: "diff3(1), sdiff(1): --diff-program; -o",
        options: &[(Runs, "--diff-program"), (Writes, "-o --output")],
        ..ROW
    },
    Row {
        names: "vifm mc ranger nnn",
        source: "mc(1): runs what is typed",
        itself: Some(Interactive),
        ..ROW
    },
    Row {
        names: "rename prename",
        source: "rename(1), File::Rename: the first operand is Perl",
        itself: Some(Runs),
        ..ROW
    },
    Row {
        names: "logrotate",
        source: "logrotate(8): scripts in the configuration; -s, -l",
        itself: Some(Runs),
        ..ROW
    },
    Row {
        names: "run-parts",
        source: "run-parts(8); GTFOBins",
        itself: Some(Runs),
        ..ROW
    },
    Row {
        names: "entr watchexec",
        source: "entr(1), watchexec(1)",
        itself: Some(Runs),
        ..ROW
    },
    Row {
        names: "xdg-open open",
        source: "xdg-open(1): opens with whatever program is set",
        itself: Some(Runs),
        ..ROW
    },
];
