//! An argv read the way its programs would read it, with an eye on what a caller could make run.
//!
//! Where it cannot be known how a token is read (one that may be left out, a flag that may take the
//! next token) it is read in every way, side by side.

use crate::possible::Element;
use crate::programs::{End, Program, Role};

/// What a token that a caller fills in could become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exposed {
    /// Code, the name of a program, or a flag that takes either.
    Code,
    /// Nothing, so that the flag before it takes what stands behind it.
    Nothing,
    /// The subcommand, which decides how everything behind it is read.
    Subcommand,
}

/// A token that may become one of several things.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Manner {
    /// What the caller writes may begin with `-`.
    pub(crate) dash: bool,
    /// It may be left out.
    pub(crate) removable: bool,
}

/// One way in which the argv up to here has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and any may hold with any other"
)]
pub(crate) struct Reading {
    pub(crate) program: &'static Program,
    /// What the argv calls it.
    pub(crate) name: String,
    /// Something before was left out, so that what stands behind it moved up.
    pub(crate) moved: bool,
    next: Next,
    /// Operands still to come before the program that is started.
    skip: usize,
    /// Code has been seen, or the flag of a shell that makes the first operand code.
    code: bool,
    /// No flags are read any more.
    ended: bool,
    /// The first operand has been seen.
    within: bool,
    /// The program is only suspected, from a word that names one.
    suspected: bool,
}

/// What the next token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// A flag or an operand.
    Any,
    /// The value of a flag, which runs.
    Code,
    /// The value of a flag, which is loaded.
    Load,
    /// The value of a flag.
    Value,
}

type Further = Vec<Reading>;

impl Reading {
    /// The argv of this bin, before its first token.
    pub(crate) fn of_bin(bin: &str) -> Option<Self> {
        Program::of(bin).map(|program| Self::of(program, bin))
    }

    /// A shell or interpreter in the argv of whatever else: `docker run x sh -c {{code}}`.
    pub(crate) fn suspected(word: &str) -> Option<Self> {
        let program = Program::of(word)?;
        matches!(program.role, Role::Shell | Role::Interpreter).then(|| Self {
            suspected: true,
            ..Self::of(program, word)
        })
    }

    fn of(program: &'static Program, name: &str) -> Self {
        Self {
            program,
            name: name.to_owned(),
            moved: false,
            next: Next::Any,
            skip: program.skip,
            code: false,
            ended: false,
            within: false,
            suspected: false,
        }
    }

    /// Reads one more token; nothing is left where all that follows is data.
    ///
    /// # Errors
    /// What a caller could make of the token.
    pub(crate) fn read(&self, element: &Element, manner: Manner) -> Result<Further, Exposed> {
        match element {
            Element::Removed => Ok(vec![Self {
                moved: true,
                ..self.clone()
            }]),
            Element::Text(text) => Ok(self.text(text)),
            Element::Free(before) => self.free(before, manner),
        }
    }

    fn text(&self, text: &str) -> Further {
        match self.next {
            Next::Any => {}
            Next::Code => return self.code_is(text),
            Next::Load | Next::Value => return vec![self.then(Next::Any)],
        }
        if text == "--" && !self.ended && self.program.end != End::Nothing {
            return self.end();
        }
        let program = self.program;
        if !self.ended && (begins_flag(text) || self.takes_code(text)) {
            return self.flag(text);
        }
        if program.is_word(text) {
            return vec![self.clone()];
        }
        if program.has_subcommands() && !self.within {
            return vec![self.subcommand(text)];
        }
        match program.role {
            Role::Interpreter if program.permutes => vec![self.with_code()],
            Role::Shell | Role::Interpreter => Vec::new(),
            Role::Launcher if self.skip > 0 => vec![self.skipped()],
            // A variable for the program that follows.
            Role::Launcher if text.contains('=') => vec![self.clone()],
            Role::Launcher => self.started(text).into_iter().collect(),
            Role::Joiner | Role::Runner => vec![self.clone()],
        }
    }

    /// The value of a flag that takes code, where the author wrote it.
    fn code_is(&self, text: &str) -> Further {
        // `find -exec env {{x}} ;`: the code is a program with an argv of its own.
        let runs_argv = self.program.role == Role::Runner;
        let mut further: Further = self
            .started(text)
            .filter(|_| runs_argv)
            .into_iter()
            .collect();
        if !self.program.code_ends_flags {
            further.push(self.with_code());
        }
        further
    }

    fn started(&self, name: &str) -> Option<Self> {
        Program::of(name).map(|program| Self {
            moved: self.moved,
            ..Self::of(program, name)
        })
    }

    fn end(&self) -> Further {
        let ended = Self {
            ended: true,
            ..self.clone()
        };
        match (self.program.role, self.program.end) {
            (Role::Interpreter, _) if self.code => Vec::new(),
            (_, End::Data) => Vec::new(),
            (_, End::Command) => vec![Self { skip: 0, ..ended }],
            _ => vec![ended],
        }
    }

    fn flag(&self, text: &str) -> Further {
        let program = self.program;
        if self.takes_code(text) {
            // The code of a shell is its first operand, behind all flags.
            let is_operand = program.role == Role::Shell && !text.starts_with("--");
            return vec![if is_operand {
                self.with_code()
            } else {
                self.then(Next::Code)
            }];
        }
        if program.loads(text) && (program.role != Role::Shell || text.starts_with("--")) {
            return vec![self.then(Next::Load)];
        }
        if program.has_code_attached(text) {
            let ends = program.code_ends_flags;
            return if ends {
                Vec::new()
            } else {
                vec![self.with_code()]
            };
        }
        if program.takes_value(text) {
            return vec![self.then(Next::Value)];
        }
        let may_take_value = match program.role {
            Role::Launcher => true,
            Role::Runner => program.has_subcommands() && !self.within,
            Role::Interpreter => text.starts_with("--") && !self.suspected,
            Role::Shell | Role::Joiner => false,
        };
        if may_take_value && !program.is_switch(text) {
            return vec![self.clone(), self.then(Next::Value)];
        }
        vec![self.clone()]
    }

    fn subcommand(&self, text: &str) -> Self {
        match self.program.subcommand(text) {
            Some(program) => Self {
                name: self.name.clone(),
                moved: self.moved,
                ..Self::of(program, text)
            },
            None => Self {
                within: true,
                ..self.clone()
            },
        }
    }

    fn free(&self, before: &str, manner: Manner) -> Result<Further, Exposed> {
        let program = self.program;
        match self.next {
            Next::Any => {}
            Next::Code | Next::Load => return Err(Exposed::Code),
            Next::Value if manner.removable && program.role != Role::Runner => {
                return Err(Exposed::Nothing);
            }
            Next::Value => return Ok(vec![self.then(Next::Any)]),
        }
        if program.role == Role::Joiner {
            return Err(Exposed::Code);
        }
        if !self.ended && before.starts_with(['-', '+']) {
            let exposed = if before.starts_with("--") {
                self.attaches(before)
            } else {
                self.is_short_exposed(before)
            };
            return if exposed {
                Err(Exposed::Code)
            } else {
                Ok(vec![self.clone()])
            };
        }
        let may_be_flag = manner.dash && !self.ended && before.is_empty();
        match program.role {
            _ if program.has_subcommands() && !self.within => Err(Exposed::Subcommand),
            Role::Runner if may_be_flag && program.has_code_flags() => Err(Exposed::Code),
            Role::Runner => Ok(vec![self.clone()]),
            Role::Shell | Role::Interpreter if self.suspected && !self.code => Ok(Vec::new()),
            Role::Interpreter if self.code && !may_be_flag => Ok(if program.permutes {
                vec![self.clone()]
            } else {
                Vec::new()
            }),
            Role::Launcher if self.skip > 0 && program.free_skip && !may_be_flag => {
                Ok(vec![self.skipped()])
            }
            _ => Err(Exposed::Code),
        }
    }

    /// Whether this flag takes code here: short ones of a tool belong to it, not to its subcommands.
    fn takes_code(&self, text: &str) -> bool {
        (!self.within || text.starts_with("--")) && self.program.takes_code(text)
    }

    fn attaches(&self, before: &str) -> bool {
        self.program.attaches(before)
    }

    /// Whether what stands behind a single dash could be, or take, code.
    fn is_short_exposed(&self, before: &str) -> bool {
        match self.program.role {
            Role::Runner if self.within => false,
            Role::Runner => self.program.has_short_code_flags() || self.attaches(before),
            _ => true,
        }
    }

    /// Behind one of the operands that stand before the program.
    fn skipped(&self) -> Self {
        Self {
            skip: self.skip - 1,
            ended: self.ended || !self.program.permutes,
            ..self.clone()
        }
    }

    fn then(&self, next: Next) -> Self {
        Self {
            next,
            ..self.clone()
        }
    }

    fn with_code(&self) -> Self {
        Self {
            code: true,
            next: Next::Any,
            ..self.clone()
        }
    }
}

fn begins_flag(text: &str) -> bool {
    text.len() > 1 && text.starts_with(['-', '+'])
}
