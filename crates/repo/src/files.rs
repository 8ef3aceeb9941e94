//! The view of the file system for resolution: existence, contents, real paths.
//!
//! Paths are absolute, normalised, `/`-separated UTF-8 strings. Implementations cache and record all queries, so that a later run
//! can tell whether any answer would differ.

use std::borrow::Cow;
use std::sync::Arc;

use crate::EntryKind;

/// Queries about paths. All methods follow symlinks, and treat unreadable paths as missing.
pub trait Files: Sync {
    /// `File` or `Dir`, after following symlinks; `None` if nothing readable is there. Never returns `Link`.
    fn kind(&self, path: &str) -> Option<EntryKind>;

    /// The contents of a regular file.
    fn read(&self, path: &str) -> Option<Arc<[u8]>>;

    /// The path with all symlinks resolved; `None` if it does not resolve.
    fn real_path(&self, path: &str) -> Option<String>;

    /// The names in a directory with their kinds (that of the target for symlinks), sorted by bytes; empty if it does not exist.
    fn list(&self, path: &str) -> Vec<(String, EntryKind)>;

    fn is_file(&self, path: &str) -> bool {
        self.kind(path) == Some(EntryKind::File)
    }

    /// The index of the first of `endings` for which `stem` plus the ending is a regular file. One query instead of many.
    fn first_file(&self, stem: &str, endings: &[&str]) -> Option<usize> {
        endings.iter().position(|ending| self.is_file(&[stem, ending].concat()))
    }

    /// How many lookups of this thread were refused so far, because the path resolves to a place that may not be read without
    /// consent. The difference before and after a lookup distinguishes a refused file from a missing one.
    fn refusals(&self) -> u64 {
        0
    }

    /// The path through which a file of a linked package must be accessed: below the symlink, because the package's own folder
    /// may not be readable otherwise. Any other path is returned as is.
    fn alias<'p>(&self, path: &'p str) -> Cow<'p, str> {
        Cow::Borrowed(path)
    }

    /// Whether a path resolves through a linked package to a place that may not be read otherwise.
    fn is_in_linked_package(&self, _path: &str) -> bool {
        false
    }

    /// The view of a download folder of a package manager, outside the reach; `None` if the caller of the run did not allow this
    /// folder. It is the only way to access the folder, and only packages in versions that a lock file of the repository names
    /// may be accessed.
    fn store(&self, _folder: &str) -> Option<&dyn Files> {
        None
    }

    fn is_dir(&self, path: &str) -> bool {
        self.kind(path) == Some(EntryKind::Dir)
    }
}
