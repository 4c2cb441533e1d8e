//! Programs that run what their arguments say: shells, interpreters, launchers and the like.
//!
//! The tables tell where in an argv the code or the next program stands, no more. They cannot know
//! every such program; they hold those that a pack could wrap by habit and hand its callers a shell.

mod interpreters;
mod launchers;
mod tools;

/// What a program does with its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Runs the first operand: code after `-c`, else a script.
    Shell,
    /// Runs the code of a flag, else the first operand as a script or program text.
    Interpreter,
    /// Starts the program that its first operand names.
    Launcher,
    /// Takes code, or what becomes code, anywhere among its operands.
    Joiner,
    /// A tool with flags or subcommands that run something.
    Runner,
}

/// How one family of programs, or one subcommand, reads its argv.
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
    /// Flags that stand for themselves, where unknown ones are suspected to take the next token.
    switches: &'static [&'static str],
    /// Operands that only say how to read the next one: `run` of `bun run tool.ts`.
    words: &'static [&'static str],
    /// Operands that stand before the program a launcher starts.
    pub(crate) skip: usize,
    /// Whether a caller may choose those operands.
    pub(crate) free_skip: bool,
    /// Whether everything behind the code of a flag is data.
    pub(crate) code_ends_flags: bool,
    /// Whether flags are still read behind operands.
    pub(crate) permutes: bool,
    /// What `--` means.
    pub(crate) end: End,
    /// For a tool whose first operand is a subcommand: those that run something, each read in its
    /// own way.
    subcommands: Option<&'static [(&'static str, Program)]>,
}

/// An entry of the tables is the same as itself and no other.
impl PartialEq for Program {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Program {}

/// What `--` means to a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// No flags behind it.
    Flags,
    /// The command begins behind it.
    Command,
    /// Everything behind it is data.
    Data,
    /// Nothing.
    Nothing,
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
            switches: &[],
            words: &[],
            skip: 0,
            free_skip: false,
            code_ends_flags: false,
            permutes: false,
            end: End::Flags,
            subcommands: None,
        }
    }

    /// A subcommand with flags that run something.
    const fn flags(code: &'static [&'static str]) -> Self {
        Self::new(Role::Runner, &[], code)
    }

    /// A subcommand that starts the program its operands name, behind this many others.
    const fn starts(skip: usize) -> Self {
        Self::new(Role::Launcher, &[], &[]).skip(skip)
    }

    /// A subcommand that makes code of whatever its caller writes.
    const fn joins() -> Self {
        Self::new(Role::Joiner, &[], &[])
    }

    const fn code(mut self, code: &'static [&'static str]) -> Self {
        self.code = code;
        self
    }

    const fn value(mut self, value: &'static [&'static str]) -> Self {
        self.value = value;
        self
    }

    const fn load(mut self, load: &'static [&'static str]) -> Self {
        self.load = load;
        self
    }

    const fn switches(mut self, switches: &'static [&'static str]) -> Self {
        self.switches = switches;
        self
    }

    const fn words(mut self, words: &'static [&'static str]) -> Self {
        self.words = words;
        self
    }

    const fn skip(mut self, skip: usize) -> Self {
        self.skip = skip;
        self
    }

    const fn free_skip(mut self) -> Self {
        self.free_skip = true;
        self
    }

    const fn code_ends_flags(mut self) -> Self {
        self.code_ends_flags = true;
        self
    }

    const fn permutes(mut self) -> Self {
        self.permutes = true;
        self
    }

    const fn end(mut self, end: End) -> Self {
        self.end = end;
        self
    }

    const fn subcommands(mut self, subcommands: &'static [(&'static str, Self)]) -> Self {
        self.subcommands = Some(subcommands);
        self
    }

    /// The program that a bin names, by the last part of its path, without what only says which
    /// build of it it is.
    ///
    /// What a pack ships is its own code, whatever it is called: there, only the names of programs
    /// that nobody gives to anything else count.
    pub(crate) fn of(bin: &str) -> Option<&'static Self> {
        let last = bin.rsplit('/').next().unwrap_or(bin).to_ascii_lowercase();
        let name = plain_name(&last);
        if bin.starts_with('.') && !SHIPPED.contains(&name) {
            return None;
        }
        if LOADERS.iter().any(|loader| last.starts_with(loader)) {
            return Some(&launchers::LOADER);
        }
        let tables = [interpreters::PROGRAMS, launchers::PROGRAMS, tools::PROGRAMS];
        let known = |name: &str| {
            let mut programs = tables.into_iter().flatten();
            programs.find(|program| program.names.contains(&name))
        };
        known(&last).or_else(|| known(name))
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

    /// How the subcommand of this name is read, where it runs something.
    pub(crate) fn subcommand(&self, name: &str) -> Option<&'static Self> {
        let mut all = self.subcommands?.iter();
        all.find(|(word, _)| *word == name)
            .map(|(_, program)| program)
    }

    /// Whether the first operand chooses how all others are read.
    pub(crate) const fn has_subcommands(&self) -> bool {
        self.subcommands.is_some()
    }

    /// Whether this operand only says how to read the next one.
    pub(crate) fn is_word(&self, text: &str) -> bool {
        self.words.contains(&text)
    }

    /// Whether any flag could make a value run.
    pub(crate) const fn has_code_flags(&self) -> bool {
        !self.code.is_empty() || !self.load.is_empty()
    }

    /// Whether this literal is a flag whose value, the next token, is what runs.
    pub(crate) fn takes_code(&self, text: &str) -> bool {
        self.code.iter().any(|flag| is_flag(flag, text))
            || match self.role {
                Role::Shell => letters(text).is_some_and(|letters| letters.contains('c')),
                Role::Interpreter | Role::Runner => letters(text)
                    .and_then(|letters| letters.chars().next_back())
                    .is_some_and(|last| self.code.iter().any(|code| letters_are(code, last))),
                Role::Launcher | Role::Joiner => false,
            }
    }

    /// Whether this literal is a flag whose value, the next token, is loaded besides.
    pub(crate) fn loads(&self, text: &str) -> bool {
        self.load.iter().any(|flag| is_flag(flag, text))
    }

    /// Whether this literal begins with a flag that has what runs attached: `-ecode`,
    /// `--eval=code`.
    pub(crate) fn has_code_attached(&self, text: &str) -> bool {
        self.code.iter().any(|flag| is_attached(flag, text))
    }

    /// Whether a value behind this text, which begins a flag, could be or become what runs.
    pub(crate) fn attaches(&self, text: &str) -> bool {
        let mut flags = self.code.iter().chain(self.load);
        // What is not finished here, the value finishes.
        flags.any(|flag| is_flag(flag, text) || is_attached(flag, text) || flag.starts_with(text))
    }

    /// Whether letters behind this short flag could be those of a flag that runs something.
    pub(crate) fn has_short_code_flags(&self) -> bool {
        let mut flags = self.code.iter().chain(self.load);
        flags.any(|flag| flag.len() == 2)
    }

    /// Whether this literal is a flag that takes the next token as plain data.
    pub(crate) fn takes_value(&self, flag: &str) -> bool {
        self.value.contains(&flag)
    }

    /// Whether this literal is a flag that certainly leaves the next token alone.
    pub(crate) fn is_switch(&self, text: &str) -> bool {
        let short = |flag: &str| {
            let known = |letter: char| self.switches.iter().any(|flag| letters_are(flag, letter));
            letters(flag).is_some_and(|letters| letters.chars().all(known))
        };
        let attached = |flag: &&str| flag.len() == 2 && text.len() > 2 && text.starts_with(*flag);
        text.contains('=')
            || text.starts_with("--no-")
            || matches!(text, "--help" | "--version" | "--verbose" | "--quiet")
            || self.switches.contains(&text)
            || self.value.iter().any(attached)
            || short(text)
    }
}

/// Programs that are what their name says even where a pack ships them.
const SHIPPED: [&str; 21] = [
    "ash", "bash", "busybox", "csh", "dash", "gawk", "ksh", "lua", "luajit", "mawk", "mksh",
    "node", "perl", "php", "python", "rbash", "ruby", "sh", "tcsh", "toybox", "zsh",
];

/// How the names of program loaders begin.
const LOADERS: [&str; 5] = ["ld-linux", "ld-musl", "ld.so", "ld64.so", "ld-2."];

/// What says which build of a program it is, behind its name.
const BUILDS: [&str; 22] = [
    ".exe",
    ".static",
    "-static",
    "-dbg",
    "-debug",
    "-minimal",
    "-musl",
    "-stable",
    "-nightly",
    ".basic",
    ".tiny",
    ".nox",
    ".gtk",
    ".gtk3",
    ".athena",
    ".openbsd",
    ".traditional",
    ".distrib",
    ".real",
    ".orig",
    "-cgi",
    "-cli",
];

/// `python3.11-dbg` without its version and build.
fn plain_name(full: &str) -> &str {
    let mut name = full;
    for machine in ["-x86_64", "-aarch64", "-i386", "-arm"] {
        name = name
            .find(machine)
            .and_then(|at| name.get(..at))
            .unwrap_or(name);
    }
    loop {
        let shorter = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
        let shorter = BUILDS
            .iter()
            .find_map(|build| shorter.strip_suffix(build))
            .unwrap_or(shorter);
        if shorter == name {
            return name;
        }
        name = shorter;
    }
}

/// Whether `text` is this flag: as it is, or a long one cut short, as most tools take it.
fn is_flag(flag: &str, text: &str) -> bool {
    flag == text || (text.len() > 2 && text.starts_with("--") && flag.starts_with(text))
}

/// The letters of short flags written together, as in `-lc`.
fn letters(flag: &str) -> Option<&str> {
    flag.strip_prefix('-')
        .filter(|letters| !letters.is_empty() && letters.bytes().all(|b| b.is_ascii_alphanumeric()))
}

fn letters_are(flag: &str, letter: char) -> bool {
    letters(flag).is_some_and(|letters| letters.chars().eq([letter]))
}

/// Whether `text` is this flag with a value behind it.
fn is_attached(flag: &str, text: &str) -> bool {
    if let Some((name, _)) = text.split_once('=')
        && is_flag(flag, name)
    {
        return true;
    }
    let short = flag.len() == 2 && flag.starts_with('-');
    text.strip_prefix(flag)
        .is_some_and(|rest| short && !rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{Program, Role};

    #[test]
    fn bins_are_known_by_their_last_part_without_version() {
        let cases = [
            ("sh", Some(Role::Shell)),
            ("/bin/sh", Some(Role::Shell)),
            ("./bin/bash", Some(Role::Shell)),
            ("./bin/bash-static", Some(Role::Shell)),
            ("bash-static", Some(Role::Shell)),
            ("dash-static", Some(Role::Shell)),
            ("zsh5-static", Some(Role::Shell)),
            ("/opt/python3.11", Some(Role::Interpreter)),
            ("python3-dbg", Some(Role::Interpreter)),
            ("python3.11-dbg", Some(Role::Interpreter)),
            ("perl5.36-x86_64-linux-gnu", Some(Role::Interpreter)),
            ("PYTHON3", Some(Role::Interpreter)),
            ("r", Some(Role::Interpreter)),
            ("bash-5.2", Some(Role::Shell)),
            ("pwsh.exe", Some(Role::Joiner)),
            ("env", Some(Role::Launcher)),
            ("/lib64/ld-linux-x86-64.so.2", Some(Role::Launcher)),
            ("ld-musl-x86_64.so.1", Some(Role::Launcher)),
            ("vim.tiny", Some(Role::Joiner)),
            ("nc.openbsd", Some(Role::Runner)),
            ("find", Some(Role::Runner)),
            ("./bin/ledger", None),
            // What a pack ships is its own, unless its name says that it is a shell.
            ("./bin/r", None),
            ("./bin/time", None),
            ("./bin/git", None),
            ("./ld-linux", None),
            ("./bin/python3", Some(Role::Interpreter)),
            ("/", None),
            ("", None),
            ("sha256sum", None),
            ("git-lfs", None),
            ("ssh-keygen", None),
        ];
        for (bin, role) in cases {
            assert_eq!(Program::of(bin).map(|program| program.role), role, "{bin}");
        }
    }
}
