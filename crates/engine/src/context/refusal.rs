//! Why a verb of context mode did not do its work: what is wrong, each place, and what to do now. The program turns
//! the kind into its exit code.

use std::fmt;

/// Whose fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// A file that somebody wrote, or the workspace: exit code 1.
    Input,
    /// Bytes are not what they were promised to be: exit code 3.
    Verification,
    /// A fault of stan: exit code 4.
    Internal,
}

/// A verb that did not do its work. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Refusal {
    pub kind: RefusalKind,
    pub message: String,
    /// One line for each offending place.
    pub details: Vec<String>,
    pub hint: Option<String>,
}

impl Refusal {
    pub fn new(kind: RefusalKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), details: Vec::new(), hint: None }
    }

    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::new(RefusalKind::Input, message)
    }

    pub(crate) fn verification(message: impl Into<String>) -> Self {
        Self::new(RefusalKind::Verification, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(RefusalKind::Internal, message)
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

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for detail in &self.details {
            write!(f, "\n  {detail}")?;
        }
        Ok(())
    }
}
