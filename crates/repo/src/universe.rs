//! The result of a scan: the files that become nodes, and everything that affected which ones do.

use serde::{Deserialize, Serialize};
use stan_model::Problem;

use crate::observations::{Observations, ObservedDirectory, ObservedFile, ObservedLink, ObservedProbe};
use crate::paths::Root;
use crate::system::{EntryKind, Stat};

/// The user's options of a scan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScanOptions {
    /// Root-relative path of stan's own directory, of which only `system/**` and `imports/**` are scanned.
    pub stan_path: String,
    /// Globs that add files, overriding ignore rules.
    pub includes: Vec<String>,
    /// Globs that remove files, overriding `includes`.
    pub excludes: Vec<String>,
}

impl Default for ScanOptions {
    fn default() -> Self {
        Self { stan_path: ".stan".to_owned(), includes: Vec::new(), excludes: Vec::new() }
    }
}

/// The files of a repository, and the data that a later run must compare to know that they are still the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Universe {
    /// Root-relative, `/`-separated, sorted by bytes, without duplicates.
    pub files: Vec<Box<str>>,
    /// Symlinks to files: the path of the symlink, and the real path of its target inside the root. Sorted.
    pub aliases: Vec<(Box<str>, Box<str>)>,
    /// Every directory listed, sorted by path.
    pub directories: Vec<ScannedDirectory>,
    /// Every other file whose contents affected the result: ignore files, the git index, …
    pub inputs: Vec<ObservedFile>,
    /// Every symlink that was read.
    pub links: Vec<ObservedLink>,
    /// Every path whose existence alone affected the result: components of symlinks, `.git` in parents of the root.
    pub probes: Vec<ObservedProbe>,
    pub problems: Vec<Problem>,
}

/// A listed directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScannedDirectory {
    /// Root-relative; empty for the root.
    pub path: Box<str>,
    /// Taken before listing.
    pub stat: Stat,
    /// A hash of all entries, including names that are not UTF-8.
    pub listing: u64,
    /// All entries with UTF-8 names, including ignored ones, sorted by bytes. Symlinks are not followed.
    pub entries: Vec<(Box<str>, EntryKind)>,
}

impl Universe {
    /// Whether the root-relative path is one of the files.
    pub fn contains(&self, path: &str) -> bool {
        self.files.binary_search_by(|file| file.as_ref().cmp(path)).is_ok()
    }

    /// Everything that the scan stat'ed, listed and read, for a later run. `root` is the real path of the scanned root.
    pub fn observations(&self, root: &str) -> Observations {
        let root = Root::new(root);
        let observed = |directory: &ScannedDirectory| ObservedDirectory {
            path: root.absolute(&directory.path),
            stat: Some(directory.stat),
            listing: directory.listing,
        };
        let mut observations = Observations {
            directories: self.directories.iter().map(observed).collect(),
            files: self.inputs.clone(),
            links: self.links.clone(),
            probes: self.probes.clone(),
        };
        observations.sort();
        observations
    }
}
