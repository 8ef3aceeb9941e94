//! The errors of this crate: what is wrong, where, and what to do about it. The program decides on exit codes.

use std::io;
use std::path::{Path, PathBuf};

use stan_repo::advice;

use crate::mismatch::Mismatches;

/// Why an archive, a snapshot or a run's outputs could not be written. Nothing was changed, unless the variant says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A name that could be unpacked outside its folder.
    #[error("`{name}` cannot be the name of a file in an archive or below the repository's root: {reason}")]
    BadName { name: String, reason: &'static str },

    /// Two entries of one archive, or two outputs of one run, have the same name.
    #[error("`{name}` would be written twice; this is a fault of stan, please report it")]
    DuplicateName { name: String },

    /// Everything below the symlink would be written elsewhere.
    #[error(
        "`{path}` is a link in place of a folder; nothing is written through links: remove it, or make it a folder"
    )]
    LinkInPlaceOfFolder { path: String },

    #[error("`{path}` is in the way: a folder is needed there; move or remove it")]
    NotAFolder { path: String },

    #[error("`{path}` is a folder, and a file is to be written there; move or remove it")]
    FolderInPlaceOfFile { path: String },

    /// Symlinks are not followed, and folders cannot be locked.
    #[error("`{path}` is a link, a folder or something else where the lock's file belongs; remove it and run again")]
    NotALock { path: String },

    /// Outputs are written below `<stanPath>` only.
    #[error("`{path}` is outside `{stan_path}/`; stan writes nowhere else")]
    OutsideStanPath { path: String, stan_path: String },

    /// `<stanPath>` would be the repository itself, or git's own folder.
    #[error(
        "`{stan_path}` cannot be the stanPath: {reason}; set `stanPath` to a folder below the root, such as `.stan`"
    )]
    BadStanPath { stan_path: String, reason: &'static str },

    #[error("cannot {doing} `{}`: {}", path.display(), advice(reason))]
    Io { doing: &'static str, path: PathBuf, reason: io::Error },

    /// Another run did not finish within the time that this one waits.
    #[error("another run holds `{lock}` ({holder}{}); wait for it to end, or end it, and run again", duration(*seconds))]
    Locked {
        lock: String,
        holder: String,
        /// How long the other run has held the lock, if known.
        seconds: Option<u64>,
    },

    /// The only error after which some outputs may be new. Each of them is complete.
    #[error(
        "`{path}` could not be put in place ({}); {} of {total} outputs are already the new ones, all are whole: run again",
        advice(reason), done.len()
    )]
    HalfCommitted { path: String, done: Vec<String>, total: usize, reason: io::Error },

    /// A file of the selection cannot be read.
    #[error("`{name}` cannot be archived: {}", advice(reason))]
    Unreadable { name: String, reason: io::Error },

    /// A file of the selection was written during the run.
    #[error("`{name}` changed while it was read ({how}); run again when nothing writes to it")]
    ChangedWhileRead { name: String, how: String },

    /// A verified file changed before it was archived.
    #[error("`{name}` changed after it was verified: expected {expected}, found {actual}; run again")]
    ChangedAfterProof { name: String, expected: String, actual: String },

    #[error("the snapshot `{file}` cannot be used: {reason}; make a new one with `stan snap`")]
    Snapshot { file: String, reason: String },

    /// Another process wrote a file between reading and replacing it.
    #[error("`{path}` changed while the reply was checked; nothing was applied: apply it again")]
    ChangedSinceChecked { path: String },

    /// Undoing would lose later changes.
    #[error(
        "`{path}` was changed since the reply was applied; nothing was undone: take your own change of it back first and run again"
    )]
    ChangedSinceApplied { path: String },

    /// The old bytes exceed the space that is kept for undoing.
    #[error(
        "the files that the reply changes have {bytes} bytes, and at most {most} are kept to undo it; nothing was applied: \
         change fewer files in one reply"
    )]
    TooLargeToUndo { bytes: u64, most: u64 },

    #[error("there is no applied reply to undo")]
    NothingToUndo,

    /// The record of an applied reply is not trustworthy.
    #[error("`{file}` cannot be used: {reason}; remove the folder `patch` that it is in")]
    BadPatchRecord { file: String, reason: String },

    /// Neither all new files nor all old ones could be put in place. The next command tries again.
    #[error(
        "`{path}` could not be put in place ({}), and the files before it not taken back; both are kept: run any stan command once that is fixed",
        advice(reason)
    )]
    HalfApplied { path: String, reason: io::Error },

    /// Externals that differ from the map or the meta.
    #[error("{0}")]
    Mismatches(Mismatches),
}

fn duration(seconds: Option<u64>) -> String {
    match seconds {
        None => String::new(),
        Some(seconds @ ..180) => format!(", for {seconds} s"),
        Some(seconds @ ..10_800) => format!(", for {} min", seconds / 60),
        Some(seconds) => format!(", for {} h", seconds / 3_600),
    }
}

impl Error {
    pub(crate) fn io(doing: &'static str, path: &Path, reason: io::Error) -> Self {
        Self::Io { doing, path: path.to_owned(), reason }
    }
}
