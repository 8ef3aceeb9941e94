//! Every way out: what went wrong, what to do about it, and the exit code. One place, so that codes keep their
//! meaning: 0 done, 1 the input or the workspace is at fault, 2 usage, 3 verification failed, 4 internal error.

use std::io;
use std::process::ExitCode;

use stan_engine::context::{Refusal, RefusalKind};

use crate::style::{Style, printable};

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
    Verification,
    Internal,
    /// Everything has been said already.
    Told(u8),
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

    /// The output itself says what is wrong; only the exit code is left to set.
    pub(crate) fn told(code: u8) -> Self {
        Self { kind: FailureKind::Told(code), message: String::new(), hint: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn code(&self) -> ExitCode {
        ExitCode::from(match self.kind {
            FailureKind::BrokenPipe => 0,
            FailureKind::Input => 1,
            FailureKind::Verification => 3,
            FailureKind::Internal => 4,
            FailureKind::Told(code) => code,
        })
    }

    pub(crate) fn is_silent(&self) -> bool {
        matches!(self.kind, FailureKind::BrokenPipe | FailureKind::Told(_))
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let kind = match refusal.kind {
            RefusalKind::Input => FailureKind::Input,
            RefusalKind::Verification => FailureKind::Verification,
            RefusalKind::Internal => FailureKind::Internal,
        };
        Self { kind, message: refusal.to_string(), hint: refusal.hint }
    }
}

/// Writing the output failed.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let kind = if error.kind() == io::ErrorKind::BrokenPipe { FailureKind::BrokenPipe } else { FailureKind::Input };
        Self { kind, message: format!("cannot write the output: {error}"), hint: None }
    }
}

impl Failure {
    /// The whole message, ready for the terminal.
    pub(crate) fn show(&self, style: Style) -> String {
        let text = format!("{} {}", style.error("error:"), printable(&self.message));
        match &self.hint {
            Some(hint) => format!("{text}\n  {} {}", style.strong("help:"), printable(hint)),
            None => text,
        }
    }
}
