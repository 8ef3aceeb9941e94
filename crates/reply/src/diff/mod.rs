//! Patches in four forms: unified diffs, search/replace blocks, whole files, envelopes. Parsed, and applied in memory.
//!
//! Diffs are applied in two modes. The strict mode does what `git apply` does. It is own code, because the libraries differ from
//! git in what they refuse (the tests compare with the real program). The tolerant mode accepts what models write while the
//! meaning is clear: wrong counts are corrected, and lines are searched in the whole file and accepted if they occur once.
//! Nothing here knows the rules of the gate or touches a file.

mod apply;
mod binary;
mod elision;
mod envelope;
mod header;
mod hunk;
mod image;
mod names;
mod replace;

use std::borrow::Cow;

pub(crate) use apply::{Applied, Exactness, apply};
pub(crate) use binary::BinaryPatch;
pub(crate) use envelope::{opens as opens_envelope, parse as parse_envelope};
pub(crate) use header::{parse, starts_file};
pub(crate) use hunk::Hunk;
pub(crate) use image::{SearchBudget, TOO_MUCH};
pub(crate) use names::unquote;
pub(crate) use replace::{Replacement, opens as opens_replacement, parse as parse_replacements, path_line};

/// The contents of a fence.
pub(crate) type Lines<'a> = [Cow<'a, str>];

/// The kind of change that a diff makes to its files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Change {
    #[default]
    Edit,
    Create,
    Delete,
    Rename,
    Copy,
    /// Creates or replaces the file.
    Write,
}

/// A path in the header of a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrittenPath {
    /// Without the prefix `a/` or `b/`, if it has one.
    pub(crate) path: String,
    /// The path as `git apply` reads it, if different: git strips the first segment, even if it is a folder's name.
    pub(crate) taken_as: Option<String>,
    /// The index of the line in the fence.
    pub(crate) index: usize,
}

/// An error that stops a patch, and its line in the fence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DiffError {
    pub(crate) index: usize,
    pub(crate) message: String,
    /// The lines that were not found, and what the file has instead.
    pub(crate) missed: Option<Missed>,
}

/// A passage of a patch that the file does not contain, or contains several times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Missed {
    /// The lines that were searched for.
    pub(crate) wanted: Vec<String>,
    /// The line of the file, 1-based, that `found` starts at.
    pub(crate) first: usize,
    /// The most similar passage of the file.
    pub(crate) found: Vec<String>,
}

impl DiffError {
    pub(crate) fn new(index: usize, message: impl Into<String>) -> Self {
        Self { index, message: message.into(), missed: None }
    }
}

/// The contents of a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    Hunks(Vec<Hunk>),
    Replacements(Vec<Replacement>),
    /// All lines of the fence are the file.
    Whole,
    /// The file is deleted.
    Gone,
}

impl Default for Body {
    fn default() -> Self {
        Self::Hunks(Vec::new())
    }
}

/// One file of a patch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileDiff {
    /// Its first line in the fence.
    pub(crate) index: usize,
    /// Whether it starts with `diff --git`.
    pub(crate) has_git_header: bool,
    pub(crate) change: Change,
    /// The old file; `None` for a new file.
    pub(crate) old: Option<WrittenPath>,
    /// The new file; `None` for a deleted file.
    pub(crate) new: Option<WrittenPath>,
    /// Every path in the header, including these two.
    pub(crate) written: Vec<WrittenPath>,
    /// The header names different files where all must be the same.
    pub(crate) contradiction: Option<DiffError>,
    /// The block itself is malformed.
    pub(crate) malformed: Option<DiffError>,
    /// Why it cannot be applied to any file.
    pub(crate) error: Option<DiffError>,
    /// Notations that `git apply` rejects although their meaning is clear.
    pub(crate) strict_error: Option<DiffError>,
    pub(crate) new_mode: Option<u32>,
    pub(crate) body: Body,
    pub(crate) binary: Option<BinaryPatch>,
}

impl FileDiff {
    /// A whole file, from the lines of a fence.
    pub(crate) fn whole(path: String) -> Self {
        let named = Some(WrittenPath { path, taken_as: None, index: 0 });
        Self {
            change: Change::Write,
            old: named.clone(),
            new: named.clone(),
            written: named.into_iter().collect(),
            body: Body::Whole,
            ..Self::default()
        }
    }

    pub(crate) fn hunks(&self) -> &[Hunk] {
        match &self.body {
            Body::Hunks(hunks) => hunks,
            Body::Replacements(_) | Body::Whole | Body::Gone => &[],
        }
    }

    /// Whether it contains lines of the old file, not only new ones.
    pub(crate) fn has_old_lines(&self) -> bool {
        match &self.body {
            Body::Hunks(hunks) => !hunks.is_empty(),
            Body::Replacements(_) => true,
            Body::Whole | Body::Gone => false,
        }
    }

    /// Whether it is a diff. Blocks and whole files need no header.
    pub(crate) fn is_diff(&self) -> bool {
        matches!(self.body, Body::Hunks(_))
    }
}

/// A fence parsed as a patch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ParsedDiff {
    pub(crate) files: Vec<FileDiff>,
    /// The index of a hunk without a file.
    pub(crate) stray_hunk: Option<usize>,
    /// An envelope: one block for many files.
    pub(crate) is_envelope: bool,
}
