//! Why git's files cannot answer a question: what is wrong, in which file, and what to do about it.
//!
//! Files are named from the top of the checkout where they lie below it. Nothing is decided here.

/// Why git cannot say what a revision holds or what changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GitError {
    /// Neither the root nor a folder above it is a checkout.
    #[error("there is no git repository around the root")]
    NoRepository,
    /// Nothing was ever added.
    #[error("the git index has not been made yet")]
    NoIndex,
    /// The index is there and no use.
    #[error("the git index cannot be read: {reason}")]
    BadIndex { reason: &'static str },
    /// The spelling means nothing, or something that is not offered.
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
    /// A blob where a commit is needed, for example.
    #[error("the object {id} is a {found}, not a {wanted}")]
    WrongKind { id: String, found: &'static str, wanted: &'static str },
    /// Something names it, and it is nowhere.
    #[error("the object {id} is missing from the repository{}", more(looked_for))]
    MissingObject { id: String, looked_for: Vec<String> },
    /// The contents are not what they must be.
    #[error("`{file}` is damaged: {reason}")]
    Damaged { file: String, reason: String },
    /// The system did not give the contents.
    #[error("`{file}` cannot be read: {reason}")]
    Unreadable { file: String, reason: &'static str },
    /// A feature of git that is not read here.
    #[error("the repository uses {feature}, which stan does not read")]
    Unsupported { feature: String },
    /// Larger, deeper or more than any real repository has.
    #[error("{what} is more than stan reads (the limit is {limit})")]
    TooMuch { what: String, limit: u64 },
}

impl GitError {
    /// What to do now.
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

/// Folders that were expected to hold an object and do not exist.
fn more(looked_for: &[String]) -> String {
    if looked_for.is_empty() {
        return String::new();
    }
    format!("; `objects/info/alternates` names {}, which does not exist or is not this user's", looked_for.join(", "))
}
