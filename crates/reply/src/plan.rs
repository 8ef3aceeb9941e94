//! What a reply does to the working tree, as data: for the one who writes it.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// All changes of an accepted reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// By path.
    pub files: BTreeMap<String, PlannedFile>,
    /// Folders that are there afterwards, even when nothing is in them.
    pub made_folders: BTreeSet<String>,
    /// Folders that go with what was in them.
    pub removed_folders: BTreeSet<String>,
}

/// What becomes of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedFile {
    /// `None`: it is removed.
    pub bytes: Option<Rc<Vec<u8>>>,
    pub mode: PlannedMode,
}

/// The permissions of a file that is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PlannedMode {
    /// As they are; a new file gets the usual ones.
    #[default]
    Kept,
    /// As those that another file has before anything is changed.
    Of(String),
    /// As the patch says, for all who may read it.
    Executable(bool),
}
