//! The one place that writes to the terminal: data on stdout, everything else on stderr, and nothing
//! that a tool, a pack or an agent wrote reaches a person's screen unescaped.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use comfy_table::{Table, presets};
use hcp_output::{escape, escape_lines};
use hcp_spec::ResultEnvelope;
use serde_json::Value;

use crate::failure::Failure;

/// How this process shows things: four independent facts, found out once.
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct Terminal {
    json: bool,
    on_screen: bool,
    color: bool,
    color_on_stderr: bool,
}

/// What a word means to the eye.
#[derive(Clone, Copy)]
pub(crate) enum Tone {
    Good,
    Bad,
    Quiet,
    Strong,
}

impl Terminal {
    pub(crate) fn new(json: bool) -> Self {
        let on_screen = io::stdout().is_terminal();
        let wanted = |choice| !matches!(choice, anstream::ColorChoice::Never);
        Self {
            json: json || !on_screen,
            on_screen,
            color: wanted(anstream::AutoStream::choice(&io::stdout())),
            color_on_stderr: wanted(anstream::AutoStream::choice(&io::stderr())),
        }
    }

    /// Whether lists and tables are wanted as JSON.
    pub(crate) const fn wants_json(&self) -> bool {
        self.json
    }

    /// Shows data: as JSON, or the way `people` says it.
    pub(crate) fn show(&self, data: &Value, people: impl FnOnce(&mut Page<'_>)) {
        if self.json {
            self.print_json(&data.to_string());
            return;
        }
        let mut page = Page {
            text: String::new(),
            terminal: self,
        };
        people(&mut page);
        write_out(page.text.as_bytes());
    }

    /// Shows what is for people only, like help.
    pub(crate) fn show_always(&self, people: impl FnOnce(&mut Page<'_>)) {
        let mut page = Page {
            text: String::new(),
            terminal: self,
        };
        people(&mut page);
        write_out(page.text.as_bytes());
    }

    /// Prints one line of JSON. On a screen, what would steer it is written as a JSON escape.
    pub(crate) fn print_json(&self, text: &str) {
        if self.on_screen {
            write_out(escape_json(text).as_bytes());
        } else {
            write_out(text.as_bytes());
        }
        write_out(b"\n");
    }

    /// Prints a result envelope as one line. Large results are not copied on their way to a pipe.
    pub(crate) fn print_envelope(&self, envelope: &ResultEnvelope) {
        if self.on_screen {
            return self.print_json(&envelope.to_json());
        }
        let mut stdout = io::stdout().lock();
        let written = envelope
            .write_json(&mut stdout)
            .and_then(|()| stdout.write_all(b"\n"))
            .and_then(|()| stdout.flush());
        judge_written(written);
    }

    /// Begins an array that is printed as it comes.
    pub(crate) const fn array(&self) -> JsonArray<'_> {
        JsonArray {
            terminal: self,
            any: false,
        }
    }

    /// Prints a text that hcp itself made, byte for byte.
    #[allow(clippy::unused_self)]
    pub(crate) fn print_bytes(&self, bytes: &[u8]) {
        write_out(bytes);
    }

    /// Prints a bare word or text, the same on a terminal or not.
    #[allow(clippy::unused_self)]
    pub(crate) fn print_bare(&self, text: &str) {
        write_out(text.as_bytes());
        write_out(b"\n");
    }

    /// Says something beside the data, on one line.
    #[allow(clippy::unused_self)]
    pub(crate) fn note(&self, text: &str) {
        write_err(&format!("{}\n", escape(text)));
    }

    /// Warns, with what to do.
    pub(crate) fn warn(&self, message: &str, hint: &str) {
        let label = self.on_stderr(Tone::Strong, "warning");
        write_err(&format!("{label}: {}\n", escape(message)));
        if !hint.is_empty() {
            self.hint(hint);
        }
    }

    /// Says what to do next.
    pub(crate) fn hint(&self, hint: &str) {
        write_err(&format!(
            "{}: {}\n",
            self.on_stderr(Tone::Quiet, "hint"),
            escape(hint)
        ));
    }

    /// Tells a failure and gives the status to end with.
    pub(crate) fn fail(&self, failure: &Failure) -> ExitCode {
        let label = self.on_stderr(Tone::Bad, "error");
        match &failure.report {
            Some((colored, _)) if self.color_on_stderr => {
                write_err(&format!("{}\n", escape_between_colors(colored)));
            }
            Some((_, plain)) => write_err(&format!("{}\n", escape_lines(plain))),
            None => write_err(&format!("{label}: {}\n", escape(&failure.message))),
        }
        if failure.report.is_none()
            && let Some(hint) = &failure.hint
        {
            self.hint(hint);
        }
        ExitCode::from(failure.status.code())
    }

    fn on_stderr(&self, tone: Tone, word: &str) -> String {
        paint(self.color_on_stderr, tone, word)
    }
}

/// A JSON array that is printed element by element, so that it may be longer than memory.
pub(crate) struct JsonArray<'a> {
    terminal: &'a Terminal,
    any: bool,
}

impl JsonArray<'_> {
    /// Prints one more element.
    pub(crate) fn push(&mut self, element: &Value) {
        let text = element.to_string();
        let text = if self.terminal.on_screen {
            escape_json(&text)
        } else {
            text
        };
        write_out(if self.any { b",\n" } else { b"[" });
        write_out(text.as_bytes());
        self.any = true;
    }

    /// Prints the end of the array.
    pub(crate) fn end(self) {
        write_out(if self.any { b"]\n" } else { b"[]\n" });
    }
}

/// Help goes to stdout and is no failure; a wrong command line is one. Its words may come from
/// anybody, so the error goes out escaped and without colour.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    use hcp_spec::ExitStatus;
    if error.use_stderr() {
        write_err(&escape_lines(&error.render().to_string()));
        return ExitCode::from(ExitStatus::Usage.code());
    }
    let _ = error.print();
    ExitCode::from(ExitStatus::Ok.code())
}

/// What a person reads.
pub(crate) struct Page<'a> {
    text: String,
    terminal: &'a Terminal,
}

impl Page<'_> {
    /// A line; whatever it holds is escaped.
    pub(crate) fn line(&mut self, text: &str) {
        self.text.push_str(&escape(text));
        self.text.push('\n');
    }

    /// A name and what there is to say of it.
    pub(crate) fn field(&mut self, name: &str, value: &str) {
        let label = paint(self.terminal.color, Tone::Quiet, &format!("{name:<12}"));
        self.text.extend([&label, " ", &escape(value), "\n"]);
    }

    /// A line that begins with a mark.
    pub(crate) fn marked(&mut self, tone: Tone, mark: &str, text: &str) {
        let mark = paint(self.terminal.color, tone, mark);
        self.text.extend([&mark, " ", &escape(text), "\n"]);
    }

    /// A table without lines, or a sentence when there is nothing in it.
    pub(crate) fn table(&mut self, head: &[&str], rows: Vec<Vec<String>>, when_empty: &str) {
        if rows.is_empty() {
            self.line(when_empty);
            return;
        }
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        table.set_header(head.iter().map(|name| name.to_uppercase()));
        for row in rows {
            table.add_row(row.iter().map(|cell| escape(cell).into_owned()));
        }
        for line in table.lines() {
            self.text.push_str(line.trim_end().trim_start_matches(' '));
            self.text.push('\n');
        }
    }
}

fn paint(color: bool, tone: Tone, word: &str) -> String {
    if !color {
        return word.to_owned();
    }
    let style = match tone {
        Tone::Good => anstyle::AnsiColor::Green.on_default(),
        Tone::Bad => anstyle::AnsiColor::Red.on_default().bold(),
        Tone::Quiet => anstyle::Style::new().dimmed(),
        Tone::Strong => anstyle::AnsiColor::Yellow.on_default().bold(),
    };
    format!("{style}{word}{style:#}")
}

/// Escapes a report but for the colours in it. Only for texts whose own escape characters were
/// replaced when the colours came in, as the snippets of a manifest are.
fn escape_between_colors(report: &str) -> String {
    let mut escaped = String::with_capacity(report.len());
    for (at, part) in report.split("\u{1b}[").enumerate() {
        let code = part.find(|c: char| !c.is_ascii_digit() && c != ';');
        let rest = match code.and_then(|end| part.split_at_checked(end)) {
            Some((code, rest)) if at > 0 && rest.starts_with('m') => {
                escaped.push_str("\u{1b}[");
                escaped.push_str(code);
                rest
            }
            _ if at > 0 => {
                escaped.push_str("\\u{1b}[");
                part
            }
            _ => part,
        };
        escaped.push_str(&escape_lines(rest));
    }
    escaped
}

/// JSON in which nothing steers a screen; outside of strings JSON is plain already.
fn escape_json(text: &str) -> String {
    use std::fmt::Write as _;
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if hcp_spec::name::is_printable(character) {
            escaped.push(character);
        } else {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        }
    }
    escaped
}

/// A reader that has seen enough closes its end; that is no failure of ours.
fn write_out(bytes: &[u8]) {
    let mut stdout = io::stdout().lock();
    judge_written(stdout.write_all(bytes).and_then(|()| stdout.flush()));
}

fn judge_written(written: io::Result<()>) {
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        write_err(&format!("error: stdout: {error}\n"));
        std::process::exit(i32::from(hcp_spec::ExitStatus::Internal.code()));
    }
}

fn write_err(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
