//! The system's own programs.

use super::{ROW, Row};
use crate::policy::trapdoors::Does::{Interactive, Reads, Runs, Sets, Writes};
use crate::policy::trapdoors::looks::hosts;

pub(super) const ROWS: &[Row] = &[
    Row {
        names: "systemctl loginctl",
        source: "systemctl(1) 252; GTFOBins",
        every: &[(Runs, "-H --host -M --machine"), (Sets, "--root --image")],
        valued: "-H -M -t -p -n -o -s",
        harmless: "--h --help --m --r --i --recursive --ro",
        closed: true,
        subs: &[Row {
            names: "edit start stop restart reload try-restart reload-or-restart isolate kill enable disable reenable preset mask unmask link revert add-wants add-requires set-property set-default set-environment unset-environment import-environment daemon-reload daemon-reexec reboot poweroff halt suspend hibernate kexec switch-root bind mount-image emergency rescue exit service-log-level clean freeze thaw cancel enable-linger disable-linger terminate-session terminate-user kill-session",
            itself: Some(Runs),
            ..ROW
        }],
        known: "status show cat help list-units list-unit-files list-sockets list-timers list-dependencies list-jobs list-machines is-active is-enabled is-failed is-system-running show-environment get-default list-automounts list-paths whoami list-sessions list-users session-status user-status show-session show-user",
        ..ROW
    },
    Row {
        names: "journalctl",
        source: "journalctl(1) 252: a pager; --vacuum-*",
        options: &[
            (
                Writes,
                "--vacuum-size --vacuum-time --vacuum-files --rotate --flush --relinquish-var --cursor-file --setup-keys",
            ),
            (Reads, "-D --directory --root --image --file"),
        ],
        valued: "-u -n -o -p -S -U -t -D -b -g",
        harmless: "--f --follow --r --reverse --c --cursor --v --verify --s --since --fields --facility --d",
        ..ROW
    },
    Row {
        names: "hostnamectl timedatectl localectl resolvectl networkctl sysctl ip ifconfig iptables nft ufw route tc date hwclock mount umount losetup swapon mkfs fdisk parted insmod modprobe rmmod dmsetup",
        source: "ip(8): netns exec, -batch; sysctl(8), mount(8); GTFOBins",
        options: &[(
            Runs,
            "exec -batch -b -f -force -w --write -p --load --system -s --set -o",
        )],
        look: Some(hosts::system),
        looks: "",
        ..ROW
    },
    Row {
        names: "ldconfig ld.so ld-linux.so ld-linux-x86-64.so ldd",
        source: "ld.so(8): runs its operand; ldd(1)",
        itself: Some(Runs),
        ..ROW
    },
    Row {
        names: "useradd usermod userdel groupadd passwd chpasswd chsh chfn adduser deluser newgrp sg",
        source: "usermod(8), sg(1)",
        itself: Some(Sets),
        ..ROW
    },
    Row {
        names: "service rc-service invoke-rc.d update-rc.d update-alternatives init telinit shutdown reboot poweroff halt",
        source: "service(8), update-alternatives(1); GTFOBins",
        itself: Some(Sets),
        ..ROW
    },
    Row {
        names: "top htop btop atop iotop nmon glances",
        source: "top(1): writes its file, kills",
        options: &[(Reads, "-c --config")],
        itself: Some(Interactive),
        flags: "-b",
        ..ROW
    },
    Row {
        names: "start-stop-daemon daemonize runit chpst svc sv",
        source: "start-stop-daemon(8); GTFOBins",
        itself: Some(Runs),
        ..ROW
    },
    Row {
        names: "debugfs gdisk testdisk",
        source: "debugfs(8): ! runs a shell; GTFOBins",
        itself: Some(Interactive),
        ..ROW
    },
    Row {
        names: "capsh setfacl setcap chcon chattr",
        source: "capsh(1); GTFOBins",
        itself: Some(Sets),
        ..ROW
    },
    Row {
        names: "dmesg",
        source: "dmesg(1): -H pages, -C clears; GTFOBins",
        options: &[
            (Interactive, "-H --human"),
            (
                Writes,
                "-C --clear -c --read-clear -D -E -n --console-level",
            ),
        ],
        valued: "-n -l -f -s -F",
        harmless: "--c --h --help",
        ..ROW
    },
    Row {
        names: "base64 base32 od hexdump strings nm objdump readelf",
        source: "objdump(1), nm(1): --plugin; @file",
        options: &[(Runs, "--plugin")],
        ..ROW
    },
    Row {
        names: "strip objcopy",
        source: "strip(1), objcopy(1): files are changed in place",
        options: &[
            (Runs, "--plugin"),
            (Writes, "-o --output-target --dump-section"),
        ],
        ..ROW
    },
    Row {
        names: "claude codex gemini aider opencode goose amp crush",
        source: "their help: agents run commands",
        itself: Some(Runs),
        options: &[(
            Runs,
            "-p --print --dangerously-skip-permissions exec e --yolo -y",
        )],
        ..ROW
    },
    Row {
        names: "sayso agentnotify",
        source: "sayso(1): on_answer and --then run programs; answers are the operator's",
        itself: None,
        subs: &[Row {
            names: "answer policy config harness relay workflow hook",
            itself: Some(Sets),
            ..ROW
        }],
        ..ROW
    },
];
