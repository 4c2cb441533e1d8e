//! The adapter as a child of the kit: started, asked, and ended when it does not answer.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use super::{Claims, Hello, Reply, Request, VERSION};
use crate::error::KitError;

/// A running adapter. Dropping it ends it.
pub struct Adapter {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    claims: Claims,
}

impl Adapter {
    /// Starts the adapter and greets it.
    ///
    /// # Errors
    /// [`KitError::Adapter`] when it does not start or does not say who it is,
    /// [`KitError::Silent`] when it does not answer within `limit`.
    pub fn start(command: &[String], limit: Duration) -> Result<Self, KitError> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(KitError::Adapter("its command is empty".to_owned()));
        };
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| KitError::Adapter(format!("`{program}` does not start: {error}")))?;
        let (send, lines) = channel();
        if let Some(output) = child.stdout.take() {
            std::thread::spawn(move || {
                let lines = BufReader::new(output).lines();
                // Ends with the adapter, or once nobody listens.
                for line in lines.map_while(Result::ok) {
                    if send.send(line).is_err() {
                        return;
                    }
                }
            });
        }
        let mut adapter = Self {
            input: child.stdin.take(),
            child,
            lines,
            claims: Claims::default(),
        };
        let reply = adapter.ask(&Request::Hello(Hello { version: VERSION }), limit)?;
        adapter.claims = reply.runtime.ok_or_else(|| {
            let said = reply.failed.or(reply.unsupported).unwrap_or_default();
            KitError::Adapter(format!("it does not say which runtime it is: {said}"))
        })?;
        Ok(adapter)
    }

    /// Who the runtime is and what it claims.
    pub const fn claims(&self) -> &Claims {
        &self.claims
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// [`KitError::Silent`] when none comes within `limit`, [`KitError::Adapter`] when the adapter
    /// is gone or what it says is no answer. It is of no use afterwards.
    pub fn ask(&mut self, request: &Request, limit: Duration) -> Result<Reply, KitError> {
        let text =
            serde_json::to_string(request).map_err(|error| KitError::Adapter(error.to_string()))?;
        let gone =
            || KitError::Adapter(format!("it ended before it answered `{}`", request.name()));
        let input = self.input.as_mut().ok_or_else(gone)?;
        writeln!(input, "{text}").map_err(|_| gone())?;
        input.flush().map_err(|_| gone())?;
        let line = self
            .lines
            .recv_timeout(limit)
            .map_err(|error| match error {
                RecvTimeoutError::Disconnected => gone(),
                RecvTimeoutError::Timeout => KitError::Silent {
                    request: request.name(),
                    limit_ms: limit.as_millis(),
                },
            })?;
        serde_json::from_str(&line).map_err(|error| {
            KitError::Adapter(format!(
                "its answer to `{}` is none: {error}",
                request.name()
            ))
        })
    }
}

impl Drop for Adapter {
    fn drop(&mut self) {
        // End of input is the polite way to say goodbye; an adapter that hangs is not waited for.
        drop(self.input.take());
        for _ in 0..20 {
            if matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Splits a command line into words: at white space, except within single or double quotes. Nothing
/// is expanded.
pub fn split_command(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for character in text.chars() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, _) if character.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::split_command;

    #[test]
    fn commands_split_at_white_space_outside_of_quotes() {
        let cases: [(&str, &[&str]); 4] = [
            ("", &[]),
            (" a  b\tc ", &["a", "b", "c"]),
            ("'a b' \"c 'd\" e'f'g", &["a b", "c 'd", "efg"]),
            ("a '' b", &["a", "", "b"]),
        ];
        for (text, words) in cases {
            assert_eq!(split_command(text), words, "{text}");
        }
    }
}
