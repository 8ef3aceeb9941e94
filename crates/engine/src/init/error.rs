//! Why `stan init` failed: reported before anything is written, or after everything was rolled back.

use std::fmt;

use crate::config::ConfigError;

/// Something in the repository that `stan init` cannot work with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitConflict {
    /// Root-relative.
    pub path: String,
    /// 1-based, if the problem is on a line.
    pub line: Option<usize>,
    /// What is wrong and what to do, as one sentence without a full stop.
    pub message: String,
}

impl fmt::Display for InitConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path, self.message),
            None => write!(f, "{}: {}", self.path, self.message),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// The path cannot be a workspace folder.
    #[error(transparent)]
    StanPath(#[from] ConfigError),
    /// Found while planning; nothing was written. At least one.
    #[error("{}", lines(.0))]
    Refused(Vec<InitConflict>),
    /// Writing failed half-way, and the earlier steps were rolled back.
    #[error("{path}: {reason}; {}", outcome(.left))]
    Failed {
        /// Root-relative.
        path: String,
        reason: String,
        /// Paths that could not be rolled back, root-relative; usually empty.
        left: Vec<String>,
    },
}

impl InitError {
    /// The message as lines. Separate, because joined lines could not be distinguished from a line break in a name.
    pub fn lines(&self) -> Vec<String> {
        match self {
            Self::StanPath(error) => error.lines(),
            Self::Refused(refusals) => refusals.iter().map(InitConflict::to_string).collect(),
            Self::Failed { .. } => vec![self.to_string()],
        }
    }
}

fn lines(refusals: &[InitConflict]) -> String {
    refusals.iter().map(InitConflict::to_string).collect::<Vec<_>>().join("\n")
}

fn outcome(left: &[String]) -> String {
    if left.is_empty() {
        return "everything is as it was before".to_owned();
    }
    format!("this was done already and could not be taken back: {}", left.join(", "))
}
