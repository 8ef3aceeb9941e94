//! Exit codes and error messages: what went wrong and what to do about it. In one place, so that codes keep their meaning: 0
//! done, 1 the input or the workspace is at fault, 2 usage, 3 verification failed, 4 internal error.

use std::io;
use std::process::ExitCode;

use stan_engine::{EngineError, EngineErrorKind};

use crate::args::ColorChoice;
use crate::terminal::{Untrusted, style_of_stderr, tell, text};

/// A failure of a command, ready to be printed.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: FailureKind,
    message: String,
    /// One line each, below the message. Escaped one by one, so that none can forge another.
    details: Vec<String>,
    hint: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FailureKind {
    Input,
    Usage,
    Verification,
    Internal,
    /// Everything was printed already.
    Reported(u8),
    /// The reader closed the pipe: that counts as success.
    BrokenPipe,
}

impl Failure {
    fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), details: Vec::new(), hint: None }
    }

    /// The input or the workspace is at fault.
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Input, message)
    }

    /// The command line names something that does not exist.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Usage, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Internal, message)
    }

    /// The output itself says what is wrong; only the exit code remains to be set.
    pub(crate) fn reported(code: u8) -> Self {
        Self::new(FailureKind::Reported(code), "")
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds lines, each indented below the message.
    pub(crate) fn details(mut self, lines: impl IntoIterator<Item = String>) -> Self {
        self.details.extend(lines.into_iter().map(|line| format!("  {line}")));
        self
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn code(&self) -> ExitCode {
        ExitCode::from(match self.kind {
            FailureKind::BrokenPipe => 0,
            FailureKind::Input => 1,
            FailureKind::Usage => 2,
            FailureKind::Verification => 3,
            FailureKind::Internal => 4,
            FailureKind::Reported(code) => code,
        })
    }

    /// Prints the failure on stderr, unless that was done already.
    pub(crate) fn tell(&self, color: ColorChoice) {
        if matches!(self.kind, FailureKind::BrokenPipe | FailureKind::Reported(_)) {
            return;
        }
        let style = style_of_stderr(color);
        tell(&text!("{} {}", style.error("error:"), Untrusted::new(&self.message)));
        self.details.iter().for_each(|detail| tell(&text!("{}", Untrusted::new(detail))));
        if let Some(hint) = &self.hint {
            tell(&text!("  {} {}", style.strong("help:"), Untrusted::new(hint)));
        }
    }
}

impl From<EngineError> for Failure {
    fn from(refusal: EngineError) -> Self {
        let kind = match refusal.kind {
            EngineErrorKind::Input | EngineErrorKind::Locked => FailureKind::Input,
            EngineErrorKind::Usage => FailureKind::Usage,
            EngineErrorKind::Verification => FailureKind::Verification,
            EngineErrorKind::Internal => FailureKind::Internal,
        };
        let indented = refusal.details.iter().map(|detail| format!("  {detail}"));
        let details = refusal.further.iter().cloned().chain(indented).collect();
        Self { kind, message: refusal.message, details, hint: refusal.hint }
    }
}

/// A failure to write the output.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let kind = if error.kind() == io::ErrorKind::BrokenPipe { FailureKind::BrokenPipe } else { FailureKind::Input };
        Self::new(kind, format!("cannot write the output: {error}"))
    }
}
