//! The error of a host call: a code for programs, and a message for users.

use serde::Serialize;

use crate::config::ConfigError;
use crate::context::{EngineError, EngineErrorKind};

/// A failed call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct HostError {
    /// `STAN_INPUT`, `STAN_USAGE`, `STAN_VERIFICATION` or `STAN_INTERNAL`, which correspond to the exit codes 1 to 4 of the
    /// program.
    pub code: &'static str,
    pub message: String,
    /// One line per offending place.
    pub details: Vec<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl HostError {
    fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: Vec::new(), hint: None }
    }

    /// The repository, or a document of the caller, is invalid.
    pub(super) fn input(message: impl Into<String>) -> Self {
        Self::new("STAN_INPUT", message)
    }

    /// An option names something that does not exist.
    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self::new("STAN_USAGE", message)
    }

    /// A bug in stan.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new("STAN_INTERNAL", message)
    }

    /// The JSON that is returned to the host.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self)
            .unwrap_or_else(|_| r#"{"code":"STAN_INTERNAL","message":"","details":[]}"#.to_owned())
    }
}

impl From<EngineError> for HostError {
    fn from(error: EngineError) -> Self {
        let code = match error.kind {
            EngineErrorKind::Input | EngineErrorKind::Locked => "STAN_INPUT",
            EngineErrorKind::Usage => "STAN_USAGE",
            EngineErrorKind::Verification => "STAN_VERIFICATION",
            EngineErrorKind::Internal => "STAN_INTERNAL",
        };
        Self { code, message: error.message, details: error.details, hint: error.hint }
    }
}

impl From<ConfigError> for HostError {
    fn from(error: ConfigError) -> Self {
        Self::input(error.to_string())
    }
}
