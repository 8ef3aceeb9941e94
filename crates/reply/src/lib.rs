//! The reply gate: an assistant's Markdown reply → patches, file operations, checklist → broken rules.
//!
//! Pure: nothing is read, written or applied. [`ReplyFacts`] answers what is archived, what exists, what the map knows and how
//! large things are. The one function [`check`] returns all findings at once.

mod checklist;
mod diff;
mod entries;
mod excerpt;
mod markdown;
mod paths;
mod plan;
mod report;
mod rules;
mod structure;
mod text;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use stan_model::NodeKind;
use stan_model::document::state::{Entry, State};

pub use plan::{Plan, PlannedFile, PlannedMode};
pub use report::{Excerpt, Finding, MissedPassage, Report, Severity};

/// The workspace, as far as the gate needs it. All paths are relative to the repository, with `/`.
pub trait ReplyFacts {
    /// `.stan` unless configured.
    fn stan_path(&self) -> &str;

    /// The bytes of an archived file.
    fn archived(&self, path: &str) -> Option<Cow<'_, [u8]>>;

    /// Whether there is an archive. Without one, it is unknown what the assistant has seen.
    fn has_archive(&self) -> bool {
        true
    }

    /// The bytes that patches are applied to: the archived ones for a check, those of the working tree for [`Purpose::Apply`].
    fn base(&self, path: &str) -> Option<Cow<'_, [u8]>> {
        self.archived(path)
    }

    /// Why a path of the working tree must not be written, as the end of a sentence about it. For [`Purpose::Apply`].
    fn obstacle(&self, _path: &str) -> Option<String> {
        None
    }

    /// The files below a folder of the working tree, sorted; `None` if the folder does not exist. For [`Purpose::Apply`].
    fn files_below(&self, _folder: &str) -> Option<Result<Vec<String>, String>> {
        None
    }

    /// Whether a file is in the archive.
    fn is_archived(&self, path: &str) -> bool {
        self.archived(path).is_some()
    }

    /// Whether the archive contains a file below a folder.
    fn has_archived_below(&self, folder: &str) -> bool;

    /// Whether the repository has this file, archived or not.
    fn exists(&self, path: &str) -> bool;

    /// The first file of the repository below a folder that is not in the archive.
    fn first_unarchived_below(&self, folder: &str) -> Option<String>;

    /// Whether the map has a file node (source or external) with this id.
    fn is_mapped(&self, id: &str) -> bool;

    /// The kind of the map's node with this id.
    fn mapped_kind(&self, _id: &str) -> Option<NodeKind> {
        None
    }

    /// The current state file, wherever it is.
    fn state(&self) -> Option<Cow<'_, [u8]>>;

    /// The nodes that a selection expands to, closures included, sorted.
    fn selected(&self, state: &State) -> Vec<String>;

    /// The size of an entry's closure.
    fn closure_size(&self, entry: &Entry) -> ClosureSize;

    /// A file below `<stanPath>/imports/` with the same bytes as an external node.
    fn imported_copy(&self, external: &str) -> Option<String>;

    /// The files among `paths` that git ignores. Called once per reply.
    fn ignored(&self, _paths: &BTreeSet<&str>) -> Vec<IgnoredFile> {
        Vec::new()
    }

    /// The token count of the archive that would result from a selection and changed files.
    fn tokens_after(&self, state: &State, changed: &ChangedFiles) -> u64;
}

/// The files that a reply changes: the new bytes, or `None` for a deleted file. Copies share their bytes, because one reply can
/// copy a large file a hundred thousand times.
pub type ChangedFiles = BTreeMap<String, Option<Rc<Vec<u8>>>>;

/// The size of a closure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClosureSize {
    pub bytes: u64,
    pub tokens: u64,
}

/// A file of the repository that git ignores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredFile {
    pub path: String,
    /// Why it looks like a secret, as the end of a sentence about it.
    pub secret: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// Whether the reply follows the protocol; patches are applied to the archived bytes.
    #[default]
    Check,
    /// Whether it can be applied to the working tree; ceremony only warns unless `strict` is set.
    Apply,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckOptions {
    pub purpose: Purpose,
    /// Diffs are applied as `git apply` does, and ceremony is an error.
    pub strict: bool,
    /// The map was seen earlier in the thread, so the mode is active even if the archive has no map.
    pub seen: bool,
    /// The maximum token count of the resulting archive.
    pub budget: Option<u64>,
}

/// Checks a reply against all rules.
pub fn check(reply: &str, context: &dyn ReplyFacts, options: &CheckOptions) -> Report {
    judge(reply, context, options).0
}

/// Checks a reply and returns its changes to the working tree. They are complete only if the report accepts the reply.
pub fn plan(reply: &str, context: &dyn ReplyFacts, options: &CheckOptions) -> (Report, Plan) {
    judge(reply, context, &CheckOptions { purpose: Purpose::Apply, ..*options })
}

fn judge(reply: &str, context: &dyn ReplyFacts, options: &CheckOptions) -> (Report, Plan) {
    let lines = text::split_lines(reply.strip_prefix('\u{feff}').unwrap_or(reply));
    if lines.iter().all(|line| line.trim().is_empty()) {
        let notes = vec!["the reply is empty: there is nothing to check".to_owned()];
        return (Report { notes, ..Report::default() }, Plan::default());
    }
    let structure = structure::read(&lines);
    rules::check(&structure, &lines, context, options)
}
