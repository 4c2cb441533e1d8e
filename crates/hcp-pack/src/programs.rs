//! Programs that run what their arguments say: shells, interpreters, launchers and the like.
//!
//! The table tells where in their argv the code or the next program stands, no more. It cannot know
//! every such program; it holds those that a pack could wrap by habit and hand its callers a shell.

/// What a program does with its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Runs the first operand: code after `-c`, else a script.
    Shell,
    /// Runs the code of a flag, else the first operand as a script or program text.
    Interpreter,
    /// Starts the program that its first operand names.
    Launcher,
    /// Joins its operands to a command line for a shell.
    Joiner,
    /// A tool with flags whose value is a command.
    Runner,
}

/// How one family of programs reads its argv.
#[derive(Debug)]
pub(crate) struct Program {
    names: &'static [&'static str],
    pub(crate) role: Role,
    /// Flags whose value is what runs: code, a file of it, or a command.
    code: &'static [&'static str],
    /// Flags whose value is loaded or run besides.
    load: &'static [&'static str],
    /// Flags that take the next token as a value that is not code.
    value: &'static [&'static str],
    /// Operands that stand before the program a launcher starts.
    pub(crate) skip: usize,
    /// Whether everything behind the code of a flag is data.
    pub(crate) code_ends_flags: bool,
    /// Whether flags are still read behind operands.
    pub(crate) permutes: bool,
}

impl Program {
    const fn new(
        role: Role,
        names: &'static [&'static str],
        code: &'static [&'static str],
    ) -> Self {
        Self {
            names,
            role,
            code,
            load: &[],
            value: &[],
            skip: 0,
            code_ends_flags: false,
            permutes: false,
        }
    }

    const fn value(mut self, value: &'static [&'static str]) -> Self {
        self.value = value;
        self
    }

    const fn load(mut self, load: &'static [&'static str]) -> Self {
        self.load = load;
        self
    }

    const fn skip(mut self, skip: usize) -> Self {
        self.skip = skip;
        self
    }

    /// The program that a bin names, by the last part of its path without a version.
    pub(crate) fn of(bin: &str) -> Option<&'static Self> {
        let last = bin.rsplit('/').next().unwrap_or(bin).to_ascii_lowercase();
        let full = last.strip_suffix(".exe").unwrap_or(&last);
        let unversioned =
            full.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
        PROGRAMS.iter().find(|program| {
            program
                .names
                .iter()
                .any(|name| *name == full || *name == unversioned)
        })
    }

    /// What the program is called in a message.
    pub(crate) const fn noun(&self) -> &'static str {
        match self.role {
            Role::Shell => "a shell",
            Role::Interpreter => "an interpreter",
            Role::Launcher | Role::Joiner => "a launcher",
            Role::Runner => "a tool that runs commands",
        }
    }

    /// Whether this literal is a flag whose value, the next token, is what runs.
    pub(crate) fn takes_code(&self, flag: &str) -> bool {
        self.code.contains(&flag)
            || match self.role {
                Role::Shell => letters(flag).is_some_and(|letters| letters.contains('c')),
                Role::Interpreter => letters(flag)
                    .and_then(|letters| letters.chars().next_back())
                    .is_some_and(|last| self.code.iter().any(|code| letters_are(code, last))),
                _ => false,
            }
    }

    /// Whether this literal is a flag whose value, the next token, is loaded besides.
    pub(crate) fn loads(&self, flag: &str) -> bool {
        self.load.contains(&flag)
    }

    /// Whether this literal begins with a flag that has what runs attached: `-ecode`,
    /// `--eval=code`.
    pub(crate) fn has_code_attached(&self, text: &str) -> bool {
        self.code.iter().any(|flag| is_attached(flag, text))
    }

    /// Whether this text, before a placeholder, makes its value code of any kind.
    pub(crate) fn attaches(&self, text: &str) -> bool {
        let mut flags = self.code.iter().chain(self.load);
        flags.any(|flag| text == *flag || is_attached(flag, text))
    }

    /// Whether this literal is a flag that takes the next token as plain data.
    pub(crate) fn takes_value(&self, flag: &str) -> bool {
        self.value.contains(&flag)
    }
}

/// The letters of short flags written together, as in `-lc`.
fn letters(flag: &str) -> Option<&str> {
    flag.strip_prefix('-')
        .filter(|letters| !letters.is_empty() && letters.bytes().all(|b| b.is_ascii_alphanumeric()))
}

fn letters_are(flag: &str, letter: char) -> bool {
    letters(flag).is_some_and(|letters| letters.chars().eq([letter]))
}

fn is_attached(flag: &str, text: &str) -> bool {
    let short = flag.len() == 2 && flag.starts_with('-');
    text.strip_prefix(flag)
        .is_some_and(|rest| rest.starts_with('=') || (short && !rest.is_empty()))
}

static PROGRAMS: &[Program] = &[
    Program::new(
        Role::Shell,
        &[
            "sh", "bash", "rbash", "dash", "ash", "zsh", "ksh", "mksh", "oksh", "yash", "csh",
            "tcsh", "fish", "elvish", "nu", "xonsh",
        ],
        &["-c", "--command"],
    )
    .load(&["--rcfile", "--init-file", "--init-command", "-C"])
    .value(&["-o", "+o", "-O", "+O"]),
    Program::new(
        Role::Shell,
        &["pwsh", "powershell", "cmd"],
        &[
            "-c",
            "-command",
            "-Command",
            "-e",
            "-ec",
            "-EncodedCommand",
            "-File",
            "-f",
            "/c",
            "/C",
            "/k",
        ],
    ),
    Program {
        code_ends_flags: true,
        ..Program::new(
            Role::Interpreter,
            &["python", "pypy", "jython", "micropython"],
            &["-c", "-m"],
        )
        .value(&["-W", "-X"])
    },
    Program::new(Role::Interpreter, &["perl"], &["-e", "-E"])
        .load(&["-M", "-m", "-F"])
        .value(&["-I"]),
    Program::new(Role::Interpreter, &["ruby", "jruby", "irb"], &["-e"])
        .load(&["-r"])
        .value(&["-I", "-C", "-E"]),
    Program::new(
        Role::Interpreter,
        &["node", "nodejs", "qjs", "bun"],
        &["-e", "--eval", "-p", "--print"],
    )
    .load(&[
        "-r",
        "--require",
        "--import",
        "--loader",
        "--experimental-loader",
    ]),
    Program::new(
        Role::Interpreter,
        &["php"],
        &["-r", "-B", "-R", "-E", "-F", "-f"],
    )
    .value(&["-d", "-c", "-z"]),
    Program::new(Role::Interpreter, &["lua", "luajit"], &["-e"]).load(&["-l"]),
    Program::new(Role::Interpreter, &["tclsh", "wish", "expect"], &["-f"]).load(&["-c"]),
    Program::new(
        Role::Interpreter,
        &[
            "rscript",
            "r",
            "julia",
            "osascript",
            "ghci",
            "runghc",
            "scala",
            "groovy",
            "guile",
        ],
        &["-e", "-E", "-c", "--file", "--expression"],
    )
    .load(&["-L", "-l"]),
    Program {
        permutes: true,
        ..Program::new(
            Role::Interpreter,
            &["awk", "gawk", "mawk", "nawk", "original-awk"],
            &["-e", "-f", "-E", "--source", "--file", "--exec"],
        )
        .load(&["-i", "-l", "--include", "--load"])
        .value(&["-v", "-F", "--assign", "--field-separator"])
    },
    Program {
        permutes: true,
        ..Program::new(
            Role::Interpreter,
            &["sed", "gsed"],
            &["-e", "--expression", "-f", "--file"],
        )
        .value(&["-l", "--line-length"])
    },
    Program::new(Role::Launcher, &["env"], &["-S", "--split-string"])
        .value(&["-u", "--unset", "-C", "--chdir"]),
    Program::new(Role::Launcher, &["xargs"], &[])
        .value(&["-I", "-i", "-n", "-P", "-L", "-s", "-d", "-E", "-a"]),
    Program::new(Role::Launcher, &["sudo", "doas", "pkexec", "run0"], &[]).value(&[
        "-u", "-g", "-h", "-p", "-C", "-T", "-U", "-R", "-D", "-r", "-t", "--user",
    ]),
    Program::new(Role::Launcher, &["nice", "ionice"], &[]).value(&["-n", "-c", "-p"]),
    Program::new(Role::Launcher, &["timeout"], &[])
        .value(&["-s", "-k", "--signal", "--kill-after"])
        .skip(1),
    Program::new(
        Role::Launcher,
        &[
            "nohup",
            "setsid",
            "time",
            "command",
            "exec",
            "busybox",
            "toybox",
            "npx",
            "bunx",
            "uvx",
            "catchsegv",
            "fakeroot",
            "linux32",
            "linux64",
            "setpriv",
            "numactl",
            "bwrap",
            "firejail",
            "unshare",
            "dbus-run-session",
            "xvfb-run",
            "entr",
        ],
        &[],
    ),
    Program::new(Role::Launcher, &["stdbuf"], &[]).value(&["-i", "-o", "-e"]),
    Program::new(Role::Launcher, &["strace", "ltrace", "gdb"], &[])
        .load(&["-ex", "-x", "-ix", "-iex"])
        .value(&["-e", "-o", "-p", "-s"]),
    Program::new(
        Role::Launcher,
        &[
            "chroot", "chrt", "taskset", "faketime", "setarch", "deno", "uv", "pipx",
        ],
        &[],
    )
    .skip(1),
    Program::new(Role::Launcher, &["flock"], &["-c", "--command"])
        .value(&["-w", "-E"])
        .skip(1),
    Program::new(
        Role::Launcher,
        &["nsenter", "systemd-run", "runuser"],
        &["-c", "--command"],
    )
    .value(&["-t", "-p", "-u", "-E", "-g"]),
    Program::new(
        Role::Joiner,
        &[
            "ssh", "rsh", "mosh", "watch", "eval", "parallel", "su", "script", "capsh", "at",
            "batch",
        ],
        &[],
    ),
    Program::new(
        Role::Runner,
        &["find"],
        &["-exec", "-execdir", "-ok", "-okdir"],
    ),
    Program::new(
        Role::Runner,
        &["fd", "fdfind"],
        &["-x", "--exec", "-X", "--exec-batch"],
    ),
    Program::new(
        Role::Runner,
        &["tar", "gtar", "bsdtar"],
        &[
            "-I",
            "-F",
            "--to-command",
            "--use-compress-program",
            "--checkpoint-action",
            "--info-script",
            "--new-volume-script",
            "--rsh-command",
            "--rmt-command",
        ],
    ),
    Program::new(Role::Runner, &["rsync"], &["-e", "--rsh", "--rsync-path"]),
    Program::new(
        Role::Runner,
        &["git"],
        &[
            "-c",
            "--config-env",
            "--exec-path",
            "--upload-pack",
            "--receive-pack",
            "--ext-diff",
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::{Program, Role};

    #[test]
    fn bins_are_known_by_their_last_part_without_version() {
        let cases = [
            ("sh", Some(Role::Shell)),
            ("/bin/sh", Some(Role::Shell)),
            ("./bin/bash", Some(Role::Shell)),
            ("/opt/python3.11", Some(Role::Interpreter)),
            ("PYTHON3", Some(Role::Interpreter)),
            ("bash-5.2", Some(Role::Shell)),
            ("pwsh.exe", Some(Role::Shell)),
            ("env", Some(Role::Launcher)),
            ("find", Some(Role::Runner)),
            ("./bin/ledger", None),
            ("/", None),
            ("", None),
            ("sha256sum", None),
        ];
        for (bin, role) in cases {
            assert_eq!(Program::of(bin).map(|program| program.role), role, "{bin}");
        }
    }
}
