//! Records what a run read and found, so that a later run can tell whether its answer would differ.
//!
//! Everything here is plain data that can be stored; the scan fills it through `Recorder`.

use std::io;
use std::path::Path;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use stan_model::{Digest, Problem};

use crate::advice::read_failure;
use crate::git::directory::is_head;
use crate::git::directory::{MAX_GIT_FILE_BYTES, MAX_INDEX_BYTES};
use crate::git::index::tracked::IndexFile;
use crate::hash::{listing_hash, sha256, sha256_of_pieces};
use crate::scan::MAX_PATTERN_FILE;
use crate::stamp::is_racy;
use crate::system::{DirEntry, EntryKind, Stat, System};
use crate::system_ext::SystemExt as _;

/// Everything that was stat'ed, listed or read. Paths are absolute; each list is sorted by path, without duplicates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observations {
    pub directories: Vec<ObservedDirectory>,
    pub files: Vec<ObservedFile>,
    pub links: Vec<ObservedLink>,
    pub probes: Vec<ObservedProbe>,
}

/// A directory that was listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedDirectory {
    pub path: String,
    /// Taken before listing; `None` if there was no directory.
    pub stat: Option<Stat>,
    /// A hash of the sorted entries, including names that are not UTF-8.
    pub listing: u64,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedFile {
    pub path: String,
    /// `None` if it did not exist.
    pub stat: Option<Stat>,
    /// The digest of the part in `DigestScope`; `None` if the file could not be read.
    pub digest: Option<Digest>,
    pub scope: DigestScope,
}

/// The part of a file's contents that affects the result, and that its digest covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DigestScope {
    /// Every byte.
    Bytes,
    /// Only the tracked paths: `git status` and `git commit` often rewrite the rest.
    GitIndex,
    /// Only whether the contents are those of a `HEAD` file.
    GitHead,
}

/// A symlink whose target was read; `None` if it could not be read or is not UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ObservedLink {
    pub path: String,
    pub target: Option<String>,
}

/// A path whose kind was queried without following symlinks; `None` if it did not exist.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ObservedProbe {
    pub path: String,
    pub kind: Option<EntryKind>,
}

impl Observations {
    /// Adds the observations of another part of the same run. Of two observations of one path, the first wins.
    pub fn merge(&mut self, other: Self) {
        self.extend(other);
        self.sort();
    }

    /// Appends without sorting; `sort` must follow.
    pub(crate) fn extend(&mut self, other: Self) {
        self.directories.extend(other.directories);
        self.files.extend(other.files);
        self.links.extend(other.links);
        self.probes.extend(other.probes);
    }

    pub(crate) fn sort(&mut self) {
        // Stable sorts, so that the first of two observations of one path wins.
        self.directories.sort_by(|a, b| a.path.cmp(&b.path));
        self.directories.dedup_by(|b, a| a.path == b.path);
        self.files.sort_by(|a, b| a.path.cmp(&b.path).then(a.scope.cmp(&b.scope)));
        self.files.dedup_by(|b, a| a.path == b.path && a.scope == b.scope);
        self.links.sort_by(|a, b| a.path.cmp(&b.path));
        self.links.dedup_by(|b, a| a.path == b.path);
        self.probes.sort_by(|a, b| a.path.cmp(&b.path));
        self.probes.dedup_by(|b, a| a.path == b.path);
    }

    /// The paths that changed since, sorted. If there are none, the same run would see exactly the same.
    ///
    /// Costs one `lstat` per path. Contents are read again only if the stat changed, or if the recorded stat is so close to
    /// `observed_at` (`System::now` at the start of that run) that a later change may have left it the same.
    pub fn changes(&self, system: &dyn System, observed_at: i64) -> Vec<&str> {
        let check = Check { system, observed_at };
        let mut changed: Vec<&str> = self
            .directories
            .par_iter()
            .filter(|seen| !check.directory(seen))
            .map(|seen| seen.path.as_str())
            .chain(self.files.par_iter().filter(|seen| !check.file(seen)).map(|seen| seen.path.as_str()))
            .chain(self.links.par_iter().filter(|seen| !check.link(seen)).map(|seen| seen.path.as_str()))
            .chain(self.probes.par_iter().filter(|seen| !check.probe(seen)).map(|seen| seen.path.as_str()))
            .collect();
        changed.sort_unstable();
        changed.dedup();
        changed
    }
}

impl DigestScope {
    /// The maximum size of a file that is read in this scope.
    fn limit(self) -> u64 {
        match self {
            Self::Bytes => MAX_PATTERN_FILE,
            Self::GitIndex => MAX_INDEX_BYTES,
            Self::GitHead => MAX_GIT_FILE_BYTES,
        }
    }

    pub(crate) fn digest(self, bytes: &[u8]) -> Digest {
        match self {
            Self::Bytes => sha256(bytes),
            Self::GitIndex => index_digest(IndexFile::parse(bytes).as_ref().ok()),
            Self::GitHead => sha256(if is_head(bytes) { b"head" } else { b"other" }),
        }
    }
}

/// `None` for a damaged index.
pub(crate) fn index_digest(index: Option<&IndexFile>) -> Digest {
    match index {
        Some(index) => sha256_of_pieces(|write| index.meaning(write)),
        None => sha256(b"damaged"),
    }
}

/// Lists a directory, sorted by the bytes of the names.
pub(crate) fn sorted_entries(system: &dyn System, path: &Path) -> io::Result<Vec<DirEntry>> {
    let entries = system.read_real_dir(path)?;
    // Names lie scattered in memory. Their first bytes, compared as an integer, nearly always decide.
    let mut keyed: Vec<(u128, DirEntry)> = entries.into_iter().map(|entry| (beginning(&entry), entry)).collect();
    keyed.sort_unstable_by(|(first, left), (second, right)| {
        first.cmp(second).then_with(|| left.name.as_encoded_bytes().cmp(right.name.as_encoded_bytes()))
    });
    Ok(keyed.into_iter().map(|(_, entry)| entry).collect())
}

/// The first 16 bytes of a name, padded with zeros, as an integer with the same order up to ties.
fn beginning(entry: &DirEntry) -> u128 {
    let name = entry.name.as_encoded_bytes();
    let mut first = [0; 16];
    let length = name.len().min(first.len());
    first[..length].copy_from_slice(&name[..length]);
    u128::from_be_bytes(first)
}

struct Check<'a> {
    system: &'a dyn System,
    observed_at: i64,
}

impl Check<'_> {
    /// Whether the stat proves that nothing changed since.
    fn same(&self, seen: Option<Stat>, now: Option<Stat>) -> bool {
        seen == now && seen.is_none_or(|stat| !is_racy(&stat, self.observed_at))
    }

    fn directory(&self, seen: &ObservedDirectory) -> bool {
        let path = Path::new(&seen.path);
        let now = self.system.lstat(path).ok();
        self.same(seen.stat, now)
            || (seen.stat.map(|stat| stat.kind) == now.map(|stat| stat.kind)
                && listing_hash(&sorted_entries(self.system, path).unwrap_or_default()) == seen.listing)
    }

    fn file(&self, seen: &ObservedFile) -> bool {
        let path = Path::new(&seen.path);
        let now = self.system.lstat(path).ok();
        // The stat of a symlink does not cover its target.
        if self.same(seen.stat, now) && seen.stat.is_none_or(|stat| stat.kind != EntryKind::Link) {
            return true;
        }
        let mut buffer = Vec::new();
        // A file that was too large to be read has no digest now either.
        let read = self.system.read_at_most(path, seen.scope.limit(), &mut buffer);
        let digest = read.ok().map(|_| seen.scope.digest(&buffer));
        seen.stat.is_some() == now.is_some() && digest == seen.digest
    }

    fn link(&self, seen: &ObservedLink) -> bool {
        read_link(self.system, &seen.path) == seen.target
    }

    fn probe(&self, seen: &ObservedProbe) -> bool {
        self.system.lstat(Path::new(&seen.path)).ok().map(|stat| stat.kind) == seen.kind
    }
}

fn read_link(system: &dyn System, path: &str) -> Option<String> {
    system.read_link(Path::new(path)).ok()?.into_os_string().into_string().ok()
}

/// Queries the system, and records each query with its result.
pub(crate) struct Recorder<'a> {
    pub(crate) system: &'a dyn System,
    pub(crate) observations: Observations,
    pub(crate) problems: Vec<Problem>,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(system: &'a dyn System) -> Self {
        Self { system, observations: Observations::default(), problems: Vec::new() }
    }

    pub(crate) fn probe(&mut self, path: &str) -> Option<EntryKind> {
        let kind = self.system.lstat(Path::new(path)).ok().map(|stat| stat.kind);
        self.observations.probes.push(ObservedProbe { path: path.to_owned(), kind });
        kind
    }

    pub(crate) fn read_link(&mut self, path: &str) -> Option<String> {
        let target = read_link(self.system, path);
        self.observations.links.push(ObservedLink { path: path.to_owned(), target: target.clone() });
        target
    }

    /// The contents of a file of at most `limit` bytes.
    pub(crate) fn read(&mut self, path: &str, scope: DigestScope, limit: u64) -> Result<Vec<u8>, Unread> {
        let (stat, result) = read_limited(self.system, path, limit);
        let digest = result.as_ref().ok().map(|bytes| scope.digest(bytes));
        self.observations.files.push(ObservedFile { path: path.to_owned(), stat, digest, scope });
        result
    }

    pub(crate) fn problem(&mut self, file: &str, message: impl Into<String>) {
        self.problems.push(Problem::new(file, message));
    }
}

/// Why a file was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    Absent,
    TooLarge,
    Denied,
    Failed,
}

impl Unread {
    pub(crate) fn of(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Absent,
            io::ErrorKind::PermissionDenied => Self::Denied,
            _ => Self::Failed,
        }
    }

    pub(crate) fn reason(self) -> &'static str {
        let kind = match self {
            Self::Absent => io::ErrorKind::NotFound,
            Self::TooLarge => io::ErrorKind::FileTooLarge,
            Self::Denied => io::ErrorKind::PermissionDenied,
            Self::Failed => io::ErrorKind::Other,
        };
        read_failure(&kind.into())
    }
}

/// The result of reading a file, and its stat if it exists. The stat comes from `lstat`, because a later run compares that, and
/// is taken before reading.
pub(crate) type Limited = (Option<Stat>, Result<Vec<u8>, Unread>);

/// Reads a file of at most `limit` bytes; follows symlinks.
pub(crate) fn read_limited(system: &dyn System, path: &str, limit: u64) -> Limited {
    limited(system, path, limit, |path, buffer| system.read_at_most(path, limit, buffer))
}

/// As [`read_limited`], for a path without symlinks (see `Links::Refuse`).
pub(crate) fn read_real_limited(system: &dyn System, path: &str, limit: u64) -> Limited {
    limited(system, path, limit, |path, buffer| system.read_real(path, limit, buffer))
}

fn limited(
    system: &dyn System,
    path: &str,
    limit: u64,
    read: impl FnOnce(&Path, &mut Vec<u8>) -> io::Result<Stat>,
) -> Limited {
    let path = Path::new(path);
    let stat = match system.lstat(path) {
        Ok(stat) => stat,
        Err(error) => return (None, Err(Unread::of(&error))),
    };
    if stat.kind == EntryKind::File && stat.size > limit {
        return (Some(stat), Err(Unread::TooLarge));
    }
    let mut buffer = Vec::new();
    match read(path, &mut buffer) {
        Ok(_) => (Some(stat), Ok(buffer)),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => (Some(stat), Err(Unread::TooLarge)),
        Err(error) => (Some(stat), Err(Unread::of(&error))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemorySystem;

    /// Found by the long form of `cargo xtask hostile`: a second run read manifests of gigabytes that the first had rejected.
    #[test]
    fn files_above_the_limit_are_not_read_to_detect_changes() {
        let system = MemorySystem::from_fixture("//- link /r/link -> large\n");
        system.set_file("/r/large", vec![b' '; MAX_PATTERN_FILE as usize + 1]);
        for path in ["/r/large", "/r/link"] {
            let (stat, read) = read_limited(&system, path, MAX_PATTERN_FILE);
            assert_eq!(read.err(), Some(Unread::TooLarge), "{path}");
            let seen = ObservedFile { path: path.to_owned(), stat, digest: None, scope: DigestScope::Bytes };
            let observations = Observations { files: vec![seen], ..Observations::default() };
            // No stat is trusted: the file may have been written within the clock's granularity.
            assert_eq!(observations.changes(&system, i64::MIN), Vec::<&str>::new(), "{path}");
            system.set_file("/r/large", b"small");
            assert_eq!(observations.changes(&system, i64::MIN), [path]);
            system.set_file("/r/large", vec![b' '; MAX_PATTERN_FILE as usize + 1]);
        }
    }
}
