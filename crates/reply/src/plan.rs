//! What a reply changes in the working tree, as data for the code that writes it.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// All changes of an accepted reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// By path.
    pub files: BTreeMap<String, PlannedFile>,
    /// Folders that exist afterwards, even if they are empty.
    pub made_folders: BTreeSet<String>,
    /// Folders that are removed with their contents.
    pub removed_folders: BTreeSet<String>,
}

/// The new state of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedFile {
    /// `None` if it is removed.
    pub bytes: Option<Rc<Vec<u8>>>,
    pub mode: PlannedMode,
}

/// The permissions of a file that is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PlannedMode {
    /// Unchanged; a new file gets the default permissions.
    #[default]
    Kept,
    /// Copied from another file, as it was before any change.
    Of(String),
    /// As in the patch: for all users who may read the file.
    Executable(bool),
}
