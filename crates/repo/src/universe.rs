//! The result of a scan: the files that are nodes, and everything that decided which ones are.

use serde::{Deserialize, Serialize};
use stan_model::Problem;

use crate::observations::{Observations, ObservedDirectory, ObservedFile, ObservedLink, ObservedProbe};
use crate::paths::Root;
use crate::system::{EntryKind, Stat};

/// What the user decides about a scan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScanOptions {
    /// Root-relative directory of stan itself, of which only `system/**` and `imports/**` are scanned.
    pub stan_path: String,
    /// Globs that add files over ignore rules.
    pub includes: Vec<String>,
    /// Globs that remove files, over `includes`.
    pub excludes: Vec<String>,
}

impl Default for ScanOptions {
    fn default() -> Self {
        Self { stan_path: ".stan".to_owned(), includes: Vec::new(), excludes: Vec::new() }
    }
}

/// The files of a repository, and what a later run must compare to know that they are still the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Universe {
    /// Root-relative, `/`-separated, sorted by bytes and unique: the nodes.
    pub files: Vec<Box<str>>,
    /// Links that are shown as files: their own path, and the real path of their target inside the root. Sorted.
    pub aliases: Vec<(Box<str>, Box<str>)>,
    /// Every directory listed, sorted by path.
    pub directories: Vec<ScannedDirectory>,
    /// Every other file whose contents decided the result: ignore files, the git index, …
    pub inputs: Vec<ObservedFile>,
    /// Every link inspected.
    pub links: Vec<ObservedLink>,
    /// Every path whose bare existence decided something: components of links, `.git` in folders above the root.
    pub probes: Vec<ObservedProbe>,
    pub problems: Vec<Problem>,
}

/// One directory as it was listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScannedDirectory {
    /// Root-relative; empty for the root.
    pub path: Box<str>,
    /// Taken before listing.
    pub stat: Stat,
    /// Of all entries, the ones whose names are not UTF-8 included.
    pub listing: u64,
    /// All entries with UTF-8 names, ignored ones included, sorted by bytes. Links are not followed.
    pub entries: Vec<(Box<str>, EntryKind)>,
}

impl Universe {
    /// Whether the root-relative path is one of the files.
    pub fn contains(&self, path: &str) -> bool {
        self.files.binary_search_by(|file| file.as_ref().cmp(path)).is_ok()
    }

    /// What the scan stat'ed, listed and read, to be kept for a later run. `root` is the real path of the scanned root.
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
