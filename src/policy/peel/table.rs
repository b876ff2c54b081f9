//! Programs that run the command in their arguments, and the options that stand between.

/// The options of a program, as far as they matter for finding the first word behind them.
pub(super) struct Options {
    /// Letters of options that take a value.
    pub(super) short: &'static str,
    /// Letters of options that take none; a letter in neither is read both ways.
    pub(super) short_flags: &'static str,
    /// Long options that take the next word as their value.
    pub(super) long: &'static [&'static str],
    /// Long options that take none.
    pub(super) long_flags: &'static [&'static str],
    /// Options (of either length) whose value is a script.
    pub(super) scripts: &'static [&'static str],
}

/// A program that runs the command in its arguments.
pub(super) struct Wrapper {
    pub(super) name: &'static str,
    pub(super) options: Options,
    /// Words between the options and the command.
    pub(super) operands: usize,
    /// Whether the command gets further arguments.
    pub(super) more: bool,
    /// Whether the words are joined and given to a shell.
    pub(super) joins: bool,
}

const NO_OPTIONS: Options = Options {
    short: "",
    short_flags: "",
    long: &[],
    long_flags: &[],
    scripts: &[],
};

const fn wrapper(name: &'static str, short: &'static str, short_flags: &'static str) -> Wrapper {
    Wrapper {
        name,
        options: Options {
            short,
            short_flags,
            ..NO_OPTIONS
        },
        operands: 0,
        more: false,
        joins: false,
    }
}

impl Wrapper {
    const fn long(mut self, long: &'static [&'static str]) -> Self {
        self.options.long = long;
        self
    }

    const fn flags(mut self, flags: &'static [&'static str]) -> Self {
        self.options.long_flags = flags;
        self
    }

    const fn scripts(mut self, scripts: &'static [&'static str]) -> Self {
        self.options.scripts = scripts;
        self
    }

    const fn operands(mut self, operands: usize) -> Self {
        self.operands = operands;
        self
    }

    const fn more(mut self) -> Self {
        self.more = true;
        self
    }

    const fn joins(mut self) -> Self {
        self.joins = true;
        self
    }
}

/// Words in front of a command that are syntax. The grammar knows them; the scanner does not.
pub(super) const KEYWORDS: &[&str] = &[
    "!",
    "{",
    "if",
    "then",
    "elif",
    "else",
    "while",
    "until",
    "do",
    "builtin",
    "noglob",
    "nocorrect",
    "-",
];

/// Shells.
pub(super) const SHELLS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash", "yash",
];

/// Options of shells: `-c` is a flag, the script is the first word behind all options.
pub(super) const SHELL_OPTIONS: Options = Options {
    short: "oO",
    short_flags: "abcefhiklmnprstuvxBCDEHPT",
    long: &["rcfile", "init-file"],
    long_flags: &[
        "login",
        "norc",
        "noprofile",
        "posix",
        "restricted",
        "verbose",
        "noediting",
    ],
    scripts: &[],
};

/// Global options of git (git(1)).
pub(super) const GIT_OPTIONS: Options = Options {
    short: "Cc",
    short_flags: "pPhv",
    long: &[
        "git-dir",
        "work-tree",
        "namespace",
        "super-prefix",
        "config-env",
        "attr-source",
    ],
    long_flags: &[
        "paginate",
        "no-pager",
        "bare",
        "no-replace-objects",
        "literal-pathspecs",
        "glob-pathspecs",
        "noglob-pathspecs",
        "icase-pathspecs",
        "no-optional-locks",
        "no-lazy-fetch",
        "no-advice",
        "version",
        "help",
        "exec-path",
        "html-path",
        "man-path",
        "info-path",
    ],
    scripts: &[],
};

/// Options as in the manual pages of GNU coreutils, findutils, util-linux and sudo.
pub(super) const WRAPPERS: &[Wrapper] = &[
    wrapper("env", "uCSa", "i0v")
        .long(&["unset", "chdir", "split-string", "argv0"])
        .flags(&["ignore-environment", "null", "debug"])
        .scripts(&["S", "split-string"]),
    wrapper("sudo", "ughpCTrtUDRa", "AbBEeHiKklnPSsVv")
        .long(&[
            "user",
            "group",
            "host",
            "prompt",
            "close-from",
            "command-timeout",
            "role",
            "type",
            "other-user",
            "chdir",
            "chroot",
            "auth-type",
        ])
        .flags(&[
            "askpass",
            "background",
            "bell",
            "edit",
            "login",
            "non-interactive",
            "preserve-env",
            "preserve-groups",
            "reset-timestamp",
            "set-home",
            "shell",
            "stdin",
        ]),
    wrapper("doas", "uC", "Lns"),
    wrapper("command", "", "pvV"),
    wrapper("exec", "a", "cl"),
    wrapper("nohup", "", ""),
    wrapper("time", "fo", "apvqV").long(&["format", "output"]),
    wrapper("nice", "n", "0123456789").long(&["adjustment"]),
    wrapper("ionice", "cnpPu", "t").long(&["class", "classdata"]),
    wrapper("chrt", "TPD", "abdfiorRmv").operands(1),
    wrapper("taskset", "", "acp").operands(1),
    wrapper("timeout", "sk", "fpv")
        .long(&["signal", "kill-after"])
        .flags(&["foreground", "preserve-status", "verbose"])
        .operands(1),
    wrapper("stdbuf", "ioe", "").long(&["input", "output", "error"]),
    wrapper("setsid", "", "cfw"),
    wrapper("unshare", "SGRw", "imnpuUCTfrc"),
    wrapper("chroot", "", "").operands(1),
    wrapper("flock", "wE", "sxeunoF")
        .long(&["timeout", "conflict-exit-code"])
        .operands(1),
    wrapper("strace", "aeEIoOpPsSuUX", "cCdfFhiknqrtTvVwxyYzZ"),
    wrapper("ltrace", "aAeFlnopsuwx", "bcCfhiLrStTV"),
    wrapper("xargs", "IEdaLnPs", "0rtpxoi")
        .long(&[
            "replace",
            "eof",
            "delimiter",
            "arg-file",
            "max-lines",
            "max-args",
            "max-procs",
            "max-chars",
        ])
        .flags(&[
            "null",
            "no-run-if-empty",
            "verbose",
            "interactive",
            "exit",
            "open-tty",
        ])
        .more(),
    wrapper("parallel", "jNnaISPC", "0kmXvtqu")
        .long(&["jobs", "max-args", "arg-file", "colsep"])
        .flags(&["keep-order", "dry-run", "bar", "null", "verbose"])
        .joins()
        .more(),
    wrapper("watch", "nq", "bcdeghprtwx")
        .long(&["interval"])
        .joins(),
    wrapper("su", "cgGsTw", "fhlmpP")
        .long(&["command", "session-command", "group", "shell"])
        .flags(&["login", "preserve-environment"])
        .scripts(&["c", "command", "session-command"])
        .operands(1),
    wrapper("runuser", "cgGsTwu", "fhlmpP")
        .long(&["command", "session-command", "group", "shell", "user"])
        .scripts(&["c", "command", "session-command"]),
    wrapper("script", "cEIOBTmo", "aefqV")
        .long(&["command"])
        .scripts(&["c", "command"]),
    wrapper("ssh", "BbcDEeFIiJLlmOoPpQRSWw", "46AaCfGgKkMNnqsTtVvXxYy")
        .operands(1)
        .joins(),
    wrapper("busybox", "", ""),
    wrapper("toybox", "", ""),
];
