//! Why a pack was refused, for one line of a log and for several lines of a terminal.

use std::io;
use std::path::PathBuf;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use thiserror::Error;

use crate::finding::Finding;
use crate::node::Fault;
use crate::source::{Excerpt, SourceFile};

/// A pack, manifest or config that cannot be used.
#[derive(Debug, Error)]
pub enum PackError {
    /// Something is wrong at a place of the text.
    #[error("{0}")]
    Source(Box<SourceFault>),
    /// Something is wrong with a manifest that has no text at hand.
    #[error("{message}")]
    Manifest {
        /// What is wrong.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// Neither manifest is there.
    #[error("neither `hcp.toml` nor `hcp.json` is in `{}`", .0.display())]
    NoManifest(PathBuf),
    /// Both manifests are there, and they could differ.
    #[error("both `hcp.toml` and `hcp.json` are in `{}`", .0.display())]
    TwoManifests(PathBuf),
    /// The manifest is larger than any honest one.
    #[error("`{name}` is over {limit} bytes")]
    TooLarge {
        /// The file.
        name: String,
        /// The limit, in bytes.
        limit: u64,
    },
    /// The manifest is not text.
    #[error("`{name}` is not UTF-8 at byte {offset}")]
    NotText {
        /// The file.
        name: String,
        /// Offset of the first byte that is no text.
        offset: usize,
    },
    /// The pack declares no such command.
    #[error("pack `{pack_id}` has no command `{verb_key}`")]
    NoCommand {
        /// The pack.
        pack_id: String,
        /// The key that was asked for.
        verb_key: String,
    },
    /// A pack holds plain files and folders only.
    #[error("`{}` is {what}, and a pack holds plain files and folders only", .path.display())]
    SpecialFile {
        /// The entry, relative to the pack.
        path: PathBuf,
        /// What it is, with its article.
        what: &'static str,
    },
    /// A file was not what it had been when the pack was scanned.
    #[error("`{}` changed while the pack was read", .0.display())]
    Changed(PathBuf),
    /// The system refused.
    #[error("`{}`: {source}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// A fault at a place of a source text.
#[derive(Debug, Error)]
#[error("{name}:{line}:{column}: {message}")]
pub struct SourceFault {
    rule: &'static str,
    name: String,
    line: usize,
    column: usize,
    message: String,
    hint: Option<String>,
    /// The line it stands in; `None` where that may hold a secret. No more of the text is kept, since
    /// whoever prints this error would print it too.
    excerpt: Option<Excerpt>,
}

impl SourceFault {
    /// The file, as it is shown to people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Line and column in it, both counted from 1, the column in characters.
    pub const fn place(&self) -> (usize, usize) {
        (self.line, self.column)
    }

    /// What is wrong, without the place.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl PackError {
    /// A fault of `source` against `rule`, reported with its line.
    pub(crate) fn at(source: &SourceFile, rule: &'static str, fault: Fault) -> Self {
        let excerpt = source.excerpt(&fault.span);
        Self::located(source, rule, fault, Some(excerpt))
    }

    /// A fault of `source` against `rule`, reported by its place alone.
    pub(crate) fn at_unshown(source: &SourceFile, rule: &'static str, fault: Fault) -> Self {
        Self::located(source, rule, fault, None)
    }

    fn located(
        source: &SourceFile,
        rule: &'static str,
        fault: Fault,
        excerpt: Option<Excerpt>,
    ) -> Self {
        let (line, column) = source.line_and_column(fault.span.start);
        Self::Source(Box::new(SourceFault {
            rule,
            name: source.name.clone(),
            line,
            column,
            message: fault.message,
            hint: fault.hint,
            excerpt,
        }))
    }

    /// What the system said about `path`.
    pub(crate) fn io(path: impl Into<PathBuf>, source: impl Into<io::Error>) -> Self {
        Self::Io {
            path: path.into(),
            source: source.into(),
        }
    }

    /// The rule that was broken, by a name that stays; [`crate::rule`] explains it.
    pub fn rule(&self) -> &'static str {
        match self {
            Self::Source(fault) => fault.rule,
            Self::Manifest { .. } => "manifest-contradiction",
            Self::NoManifest(_) => "no-manifest",
            Self::TwoManifests(_) => "two-manifests",
            Self::TooLarge { .. } => "manifest-too-large",
            Self::NotText { .. } => "manifest-not-text",
            Self::NoCommand { .. } => "no-such-command",
            Self::SpecialFile { .. } => "special-file",
            Self::Changed(_) => "changed-while-read",
            Self::Io { .. } => "unreadable",
        }
    }

    /// What to do about it, where something can be said.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Source(fault) => fault.hint.clone(),
            Self::Manifest { hint, .. } => hint.clone(),
            Self::NoManifest(_) => {
                Some("`hcp pack new` writes a manifest to start from".to_owned())
            }
            Self::TwoManifests(_) => {
                Some("keep the one that you edit, remove the other".to_owned())
            }
            Self::TooLarge { .. } => {
                Some("a manifest describes commands; data belongs into files beside it".to_owned())
            }
            Self::SpecialFile { .. } => {
                Some("replace it by a copy of what it stands for, or remove it".to_owned())
            }
            Self::Changed(_) => Some("add the pack again once nothing writes to it".to_owned()),
            Self::NotText { .. } | Self::NoCommand { .. } | Self::Io { .. } => None,
        }
    }

    /// The whole report for people: what is wrong, the line it stands in, what to do about it.
    pub fn report(&self, color: bool) -> String {
        let renderer = if color {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        let renderer = renderer.decor_style(DecorStyle::Ascii);
        let hint = self.hint();
        let message = match self {
            Self::Source(fault) => fault.message.clone(),
            other => other.to_string(),
        };
        let mut group = Group::with_title(Level::ERROR.primary_title(message));
        if let Self::Source(fault) = self {
            group = match &fault.excerpt {
                Some(excerpt) => group.element(
                    Snippet::source(excerpt.line.as_str())
                        .line_start(fault.line)
                        .path(fault.name.as_str())
                        .annotation(AnnotationKind::Primary.span(excerpt.marked.clone())),
                ),
                None => group.element(
                    Origin::path(fault.name.as_str())
                        .line(fault.line)
                        .char_column(fault.column),
                ),
            };
        }
        if let Some(hint) = &hint {
            group = group.element(Level::HELP.with_name("hint").message(hint));
        }
        renderer.render(&[group])
    }
}

impl From<Finding> for PackError {
    fn from(finding: Finding) -> Self {
        Self::Manifest {
            message: finding.message,
            hint: finding.hint,
        }
    }
}
