//! The error of all verbs: what is wrong, where, and what to do. The program maps its kind to an exit code. Parts of the engine
//! have their own errors, which each verb converts at its end.

use std::fmt;

use stan_graph::BuildError;

use crate::config::ConfigError;
use crate::imports::ImportError;
use crate::init::InitError;

/// Who is at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineErrorKind {
    /// A file of the user, or the workspace: exit code 1.
    Input,
    /// Another run holds the lock of the workspace: exit code 1.
    Locked,
    /// An argument of the caller is malformed: exit code 2.
    Usage,
    /// Bytes do not match a recorded hash: exit code 3.
    Verification,
    /// A bug in stan: exit code 4.
    Internal,
}

/// The failure of a verb. It changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct EngineError {
    pub kind: EngineErrorKind,
    pub message: String,
    /// Further errors in the same input, in the form of `message`.
    pub further: Vec<String>,
    /// One line per offending place.
    pub details: Vec<String>,
    pub hint: Option<String>,
}

impl EngineError {
    pub fn new(kind: EngineErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), further: Vec::new(), details: Vec::new(), hint: None }
    }

    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::new(EngineErrorKind::Input, message)
    }

    pub(crate) fn verification(message: impl Into<String>) -> Self {
        Self::new(EngineErrorKind::Verification, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(EngineErrorKind::Internal, message)
    }

    /// Several errors in the input, one line each.
    pub(crate) fn lines(lines: impl IntoIterator<Item = String>) -> Self {
        let mut lines = lines.into_iter();
        let first = lines.next().unwrap_or_default();
        Self { further: lines.collect(), ..Self::input(first) }
    }

    pub(crate) fn details(mut self, details: impl IntoIterator<Item = String>) -> Self {
        self.details.extend(details);
        self
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for further in &self.further {
            write!(f, "\n{further}")?;
        }
        for detail in &self.details {
            write!(f, "\n  {detail}")?;
        }
        Ok(())
    }
}

impl From<BuildError> for EngineError {
    fn from(error: BuildError) -> Self {
        Self::internal(format!("internal error: {error}")).hint("please report this, with the command that shows it")
    }
}

impl From<ConfigError> for EngineError {
    fn from(error: ConfigError) -> Self {
        Self::lines(error.lines())
    }
}

impl From<ImportError> for EngineError {
    fn from(error: ImportError) -> Self {
        let hint = match &error {
            ImportError::Outside { .. } => "read the configuration first: the files that it imports are archived",
            _ => "fix `imports` in the configuration",
        };
        Self::input(error.to_string()).hint(hint)
    }
}

impl From<InitError> for EngineError {
    fn from(error: InitError) -> Self {
        Self::lines(error.lines()).hint(match &error {
            InitError::StanPath(_) => "use a relative path such as .stan",
            InitError::Refused(_) => "nothing was written; run `stan init` again",
            InitError::Failed { .. } => "see who may write there, then run `stan init` again",
        })
    }
}
