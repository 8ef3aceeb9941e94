//! Every way out: what went wrong, what to do about it, and the exit code. One place, so that codes keep their
//! meaning: 0 done, 1 the input or the workspace is at fault, 2 usage, 4 internal error.

use std::fmt;
use std::io;
use std::process::ExitCode;

/// A failure of a command, ready to be shown.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: FailureKind,
    message: String,
    hint: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FailureKind {
    Input,
    Internal,
    /// Whoever read our output has seen enough: that is success.
    BrokenPipe,
}

impl Failure {
    /// The input or the workspace is at fault.
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Input, message: message.into(), hint: None }
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Internal, message: message.into(), hint: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn code(&self) -> ExitCode {
        ExitCode::from(match self.kind {
            FailureKind::BrokenPipe => 0,
            FailureKind::Input => 1,
            FailureKind::Internal => 4,
        })
    }

    pub(crate) fn is_silent(&self) -> bool {
        self.kind == FailureKind::BrokenPipe
    }
}

/// Writing the output failed.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let kind = if error.kind() == io::ErrorKind::BrokenPipe { FailureKind::BrokenPipe } else { FailureKind::Input };
        Self { kind, message: format!("cannot write the output: {error}"), hint: None }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\n  help: {hint}"),
            None => Ok(()),
        }
    }
}
