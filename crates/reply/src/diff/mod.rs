//! Unified diffs: read as `git apply` reads them, and applied in memory as it applies them.
//!
//! Own code, because exactness is the point and the libraries differ from git in what they refuse: where a hunk must
//! match (the tests compare with the real program), which headers contradict each other, what is ignored.
//! Nothing here knows the rules of the gate or touches a file.

mod apply;
mod binary;
mod header;
mod hunk;
mod names;

use std::borrow::Cow;

pub(crate) use apply::{Applied, TOO_MUCH, Work, apply};
pub(crate) use binary::BinaryPatch;
pub(crate) use header::{parse, starts_file};
pub(crate) use hunk::Hunk;
pub(crate) use names::unquote;

/// The contents of a fence.
pub(crate) type Lines<'a> = [Cow<'a, str>];

/// What a diff does to its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Edit,
    Create,
    Delete,
    Rename,
    Copy,
}

/// A path somewhere in the header of a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrittenPath {
    /// Without the prefix `a/` or `b/`, if it has one.
    pub(crate) path: String,
    /// What `git apply` makes of it, when that is something else: it takes the first segment off, whatever it says.
    pub(crate) taken_as: Option<String>,
    /// The index of the line in the fence.
    pub(crate) index: usize,
}

/// Something that stops `git apply`, and the line in the fence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DiffError {
    pub(crate) index: usize,
    pub(crate) message: String,
}

impl DiffError {
    pub(crate) fn new(index: usize, message: impl Into<String>) -> Self {
        Self { index, message: message.into() }
    }
}

/// One file of a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileDiff {
    /// The first line of it in the fence.
    pub(crate) index: usize,
    /// Whether it opens with `diff --git`.
    pub(crate) has_git_header: bool,
    pub(crate) change: Change,
    /// The file that is read; of a new file none.
    pub(crate) old: Option<WrittenPath>,
    /// The file that is written; of a deleted file none.
    pub(crate) new: Option<WrittenPath>,
    /// Every path in the header, the two above among them.
    pub(crate) written: Vec<WrittenPath>,
    /// The header names different files where it should name one.
    pub(crate) contradiction: Option<DiffError>,
    /// What `git apply` refuses before it looks at any file.
    pub(crate) error: Option<DiffError>,
    pub(crate) new_mode: Option<u32>,
    pub(crate) hunks: Vec<Hunk>,
    pub(crate) binary: Option<BinaryPatch>,
}

/// A fence, read as a patch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ParsedDiff {
    pub(crate) files: Vec<FileDiff>,
    /// The index of a hunk that belongs to no file.
    pub(crate) stray_hunk: Option<usize>,
}
