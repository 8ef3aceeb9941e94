//! Why a verb of context mode did not do its work: what is wrong, each place, and what to do now. The program turns
//! the kind into its exit code.

use std::fmt;

/// Whose fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineErrorKind {
    /// A file of the user, or the workspace: exit code 1.
    Input,
    /// Bytes are not what they were promised to be: exit code 3.
    Verification,
    /// A fault of stan: exit code 4.
    Internal,
}

/// A verb that did not do its work. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct EngineError {
    pub kind: EngineErrorKind,
    pub message: String,
    /// One line for each offending place.
    pub details: Vec<String>,
    pub hint: Option<String>,
}

impl EngineError {
    pub fn new(kind: EngineErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), details: Vec::new(), hint: None }
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

    pub(crate) fn details(mut self, details: impl IntoIterator<Item = String>) -> Self {
        self.details.extend(details);
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for detail in &self.details {
            write!(f, "\n  {detail}")?;
        }
        Ok(())
    }
}
