//! The view of the file system that resolution works on: existence, contents, real paths.
//!
//! Paths are absolute, normalised, `/`-separated UTF-8 strings. Implementations cache and record what was
//! asked, so that a later run can tell whether any answer would be different now.

use std::borrow::Cow;
use std::sync::Arc;

use crate::EntryKind;

/// Answers about paths. All methods follow links, and answer "no" to what cannot be read.
pub trait Files: Sync {
    /// `File` or `Dir` of what the path resolves to, links followed; `None` when there is nothing readable.
    /// Never returns `Link`.
    fn kind(&self, path: &str) -> Option<EntryKind>;

    /// The contents of a regular file.
    fn read(&self, path: &str) -> Option<Arc<[u8]>>;

    /// The path with every link in it resolved; `None` when it does not resolve.
    fn real_path(&self, path: &str) -> Option<String>;

    /// Names in a directory with their kinds (links: that of the target), sorted by bytes; empty if there is none.
    fn list(&self, path: &str) -> Vec<(String, EntryKind)>;

    fn is_file(&self, path: &str) -> bool {
        self.kind(path) == Some(EntryKind::File)
    }

    /// The first of `endings` that makes a regular file of `stem`, by its index. One question instead of many.
    fn first_file(&self, stem: &str, endings: &[&str]) -> Option<usize> {
        endings.iter().position(|ending| self.is_file(&[stem, ending].concat()))
    }

    /// How many lookups of this thread were refused so far, because the path resolves to where nothing may be read
    /// without consent. Compared before and after a lookup, it distinguishes an absent file from a refused one.
    fn refusals(&self) -> u64 {
        0
    }

    /// The path by which a file of a linked package may be asked for: below the link, because the package's own folder
    /// may lie where nothing else may be read. Any other path is the answer itself.
    fn alias<'p>(&self, path: &'p str) -> Cow<'p, str> {
        Cow::Borrowed(path)
    }

    /// Whether a path resolves through a linked package to where nothing may be read otherwise.
    fn is_in_linked_package(&self, _path: &str) -> bool {
        false
    }

    /// The view of a folder outside the reach in which a package manager keeps what it downloaded; `None` where the caller of
    /// the run named no such folder. Nothing in it can be asked for by any other way, and nothing in it may be asked for
    /// but packages in the versions that a lock file of the repository names.
    fn store(&self, _folder: &str) -> Option<&dyn Files> {
        None
    }

    fn is_dir(&self, path: &str) -> bool {
        self.kind(path) == Some(EntryKind::Dir)
    }
}
