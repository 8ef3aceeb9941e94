//! Errors about git's files: what is wrong, in which file, and what to do about it.
//!
//! Files below the top of the checkout are shown relative to it. Nothing is decided here.

/// Why a revision or its changes cannot be determined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GitError {
    /// Neither the root nor a folder above it is a checkout.
    #[error("there is no git repository around the root")]
    NoRepository,
    /// Nothing was ever staged.
    #[error("the git index has not been made yet")]
    NoIndex,
    /// The index exists but is unusable.
    #[error("the git index cannot be read: {reason}")]
    BadIndex { reason: &'static str },
    /// The spelling is invalid or not supported.
    #[error("`{revision}` cannot be used as a revision: {reason}")]
    Spelling { revision: String, reason: &'static str },
    /// Neither a reference nor an object.
    #[error("no branch, tag, reference or commit is called `{name}`")]
    UnknownRevision { name: String },
    /// Several objects start with the same digits.
    #[error("the object id `{prefix}` is ambiguous; it may be {}", candidates.join(", "))]
    Ambiguous { prefix: String, candidates: Vec<String> },
    /// `~` or `^` goes further than the history does.
    #[error("`{revision}` goes too far: commit {commit} has no parent {number}")]
    NoParent { revision: String, commit: String, number: u32 },
    /// For example, a blob where a commit is needed.
    #[error("the object {id} is a {found}, not a {wanted}")]
    WrongKind { id: String, found: &'static str, wanted: &'static str },
    /// Something refers to it, but it does not exist.
    #[error("the object {id} is missing from the repository{}", more(looked_for))]
    MissingObject { id: String, looked_for: Vec<String> },
    /// The contents are invalid.
    #[error("`{file}` is damaged: {reason}")]
    Damaged { file: String, reason: String },
    /// The system could not read the contents.
    #[error("`{file}` cannot be read: {reason}")]
    Unreadable { file: String, reason: &'static str },
    /// A feature of git that is not supported.
    #[error("the repository uses {feature}, which stan does not read")]
    Unsupported { feature: String },
    /// A limit that no real repository reaches.
    #[error("{what} is more than stan reads (the limit is {limit})")]
    TooMuch { what: String, limit: u64 },
}

impl GitError {
    /// Advice to the user.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Spelling { .. } | Self::UnknownRevision { .. } | Self::WrongKind { .. } | Self::NoParent { .. } => {
                "name a commit: a branch, a tag, HEAD, an object id, or one of them with ~N or ^N behind it"
            }
            Self::Ambiguous { .. } => "write more digits of the object id",
            Self::MissingObject { .. } => {
                "a shallow or partial clone lacks objects: `git fetch` what is missing, or name the files with --focus"
            }
            Self::Damaged { .. } => "`git fsck` tells what else is damaged; or name the files with --focus instead",
            _ => "name the files with --focus instead",
        }
    }

    pub(crate) fn damaged(file: &str, reason: impl Into<String>) -> Self {
        Self::Damaged { file: file.to_owned(), reason: reason.into() }
    }
}

/// Object folders that should exist but do not.
fn more(looked_for: &[String]) -> String {
    if looked_for.is_empty() {
        return String::new();
    }
    format!("; `objects/info/alternates` names {}, which does not exist or is not this user's", looked_for.join(", "))
}
