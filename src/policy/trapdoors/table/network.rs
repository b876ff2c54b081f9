//! Programs that talk to other hosts.

use super::{ROW, Row};
use crate::policy::trapdoors::Does::{Interactive, Reads, Runs, Sets, Writes};
use crate::policy::trapdoors::looks::{files, hosts};

pub(super) const ROWS: &[Row] = &[
    Row {
        names: "curl",
        source: "curl(1) 7.88; GTFOBins",
        options: &[
            (
                Writes,
                "-o --output -O --remote-name --remote-name-all --output-dir -J --remote-header-name -c --cookie-jar -D --dump-header --trace --trace-ascii --stderr --libcurl --etag-save --hsts --alt-svc --create-dirs",
            ),
            (
                Writes,
                "-T --upload-file -Q --quote  --ftp-create-dirs --mail-from",
            ),
            (Reads, "-K --config"),
            (Runs, "--engine"),
            (
                Sets,
                "--unix-socket --abstract-unix-socket -x --proxy --preproxy --netrc-file",
            ),
        ],
        valued: "--output --dump-header --output-document -A -b -c -C -d -D -e -E -F -H -K -m -o -P -Q -r -t -T -u -U -w -x -X -y -Y -z",
        harmless: "--connect-timeout --cookie --data --form --proto --trace-time --trace-ids --proxy-header --no-progress-meter --h --head --header --help --progress-bar --cre --create-file-mode --st --s --c --t --p --pr --pro --prox --q --e --d --r --re --rem --o --u --a --f --n --l --m --compressed",
        look: Some(hosts::curl),
        looks: "file:// @FILE",
        ..ROW
    },
    Row {
        names: "wget wget2",
        source: "wget(1) 1.21; GTFOBins",
        options: &[
            (
                Writes,
                "-O --output-document -o --output-file -a --append-output -P --directory-prefix --save-cookies --warc-file --hsts-file -i --input-file --rejected-log --warc-cdx --warc-tempdir --delete-after",
            ),
            (Runs, "--use-askpass -e --execute"),
            (Reads, "--config"),
            (Writes, "--post-file --body-file"),
        ],
        valued: "--output-document --output-file -O -o -a -P -i -e -t -T -w -Q -U -l -A -R -D -I -X -B",
        ..ROW
    },
    Row {
        names: "http https xh httpie aria2c",
        source: "aria2c(1): --on-download-complete; http --help",
        options: &[
            (Writes, "-o --output -d --download -O --out --dir -l --log"),
            (
                Runs,
                "--on-download-complete --on-download-start --on-download-error --on-download-stop --on-download-pause --on-bt-download-complete",
            ),
            (Reads, "--conf-path -i --input-file --session"),
        ],
        valued: "-o -d -O",
        ..ROW
    },
    Row {
        names: "ssh autossh mosh slogin dbclient",
        source: "ssh(1), ssh_config(5), OpenSSH 9.2; GTFOBins",
        itself: Some(Runs),
        options: &[
            (Runs, "-o -I -J -L -R -D -w -W"),
            (Reads, "-F"),
            (Writes, "-E"),
            (Sets, "-S -M -O"),
        ],
        valued: "-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w",
        ..ROW
    },
    Row {
        names: "scp sftp",
        source: "scp(1), sftp(1), OpenSSH 9.2; GTFOBins",
        options: &[(Runs, "-S -o -D -J"), (Reads, "-F -b"), (Sets, "-s")],
        valued: "-c -D -F -i -J -l -o -P -S -X -b -B -R",
        look: Some(files::destination),
        ..ROW
    },
    Row {
        names: "ssh-keygen ssh-add ssh-agent ssh-copy-id ssh-keyscan sshfs",
        source: "ssh-keygen(1): -D and -w load a library; GTFOBins",
        options: &[(Runs, "-D -s -w -P -S"), (Writes, "-f -R -y -o")],
        itself: Some(Sets),
        ..ROW
    },
    Row {
        names: "openssl",
        source: "openssl(1) 3.0; GTFOBins",
        single: true,
        options: &[
            (
                Runs,
                "-engine -provider -provider-path -engine_impl -post_handshake_auth",
            ),
            (
                Writes,
                "-out -keyout -writerand -sess_out -keylogfile -CAserial -outdir",
            ),
            (Reads, "-config -rand"),
        ],
        subs: &[Row {
            names: "engine s_server s_client req ca",
            single: true,
            itself: Some(Runs),
            ..ROW
        }],
        ..ROW
    },
    Row {
        names: "gpg gpg2 gpgsm gpgconf gpg-agent",
        source: "gpg(1) 2.2",
        options: &[
            (
                Runs,
                "--photo-viewer --agent-program --dirmngr-program --keyserver-options --exec-path --pinentry-program --keyboxd-program",
            ),
            (
                Writes,
                "-o --output --logger-file --attribute-file --status-file --import --edit-key --delete-keys --delete-secret-keys --log-file",
            ),
            (
                Reads,
                "--options --homedir --command-file --command-fd --load-extension --keyring --secret-keyring",
            ),
        ],
        valued: "-o -u -r -a",
        ..ROW
    },
    Row {
        names: "age sops pass",
        source: "age(1), sops help: exec-env, --output",
        options: &[
            (Writes, "-o --output -i --in-place"),
            (Runs, "exec-env exec-file edit --exec"),
            (Reads, "--config -j"),
        ],
        ..ROW
    },
    Row {
        names: "tcpdump tshark dumpcap ngrep wireshark",
        source: "tcpdump(8): -z runs a command; GTFOBins",
        options: &[
            (Runs, "-z -X --postrotate-command"),
            (Writes, "-w -W -b"),
            (Reads, "-F -V"),
        ],
        valued: "-B -c -C -E -F -G -i -j -m -M -Q -r -s -T -V -w -W -y -z",
        ..ROW
    },
    Row {
        names: "nmap",
        source: "nmap(1) 7.93: --script; GTFOBins",
        single: true,
        options: &[
            (
                Runs,
                "--script --script-args --interactive --datadir --servicedb --resume --scriptdb -script",
            ),
            (Writes, "-oN -oX -oS -oG -oA"),
            (Reads, "-iL --excludefile --script-args-file"),
        ],
        ..ROW
    },
    Row {
        names: "dig host nslookup whois",
        source: "dig(1): -f reads queries",
        options: &[(Reads, "-f")],
        ..ROW
    },
    Row {
        names: "rclone aws gcloud az gsutil doctl heroku flyctl fly vercel netlify wrangler firebase",
        source: "their help: remote state; rclone --password-command",
        every: &[
            (
                Runs,
                "--password-command --metadata-mapper --header-command exec ssh run-command --cli-binary-format --endpoint-url --plugin",
            ),
            (
                Reads,
                "--config --profile --flags-file --cli-input-json --configuration",
            ),
        ],
        subs: &[
            Row {
                names: "rm rb delete purge sync move cp mv copy deploy destroy",
                itself: Some(Writes),
                ..ROW
            },
            Row {
                names: "config configure",
                itself: Some(Sets),
                ..ROW
            },
        ],
        ..ROW
    },
    Row {
        names: "ftp lftp tftp telnet irssi mutt mail mailx sendmail",
        source: "ftp(1), lftp(1), mail(1): ! runs a shell; GTFOBins",
        itself: Some(Interactive),
        options: &[(Runs, "-c -e -f --exec -u"), (Runs, "-C -X -oQ")],
        ..ROW
    },
    Row {
        names: "ngrok cloudflared tailscale",
        source: "their help: open this machine to others",
        itself: Some(Sets),
        ..ROW
    },
];
