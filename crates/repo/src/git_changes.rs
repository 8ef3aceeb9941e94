//! Which files of a checkout are not what git's index or a revision says, found without running git.
//!
//! Files whose size or times differ from the index are hashed as git hashes them. Conversions (of line ends, by filters
//! such as LFS) are not undone: a converted file that was written since git last looked counts as changed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::Path;

use rayon::prelude::*;

use crate::git_entries::{Entries, EntriesFile, Entry};
use crate::git_objects::{
    GitError, GitPlace, Mode, ObjectHasher, ObjectId, ObjectKind, ObjectStore, RevisionFiles, resolve,
};
use crate::paths::join;
use crate::system::{EntryKind, System};

/// An index of ten million files; what is larger is not an index.
const MAX_INDEX: u64 = 2 << 30;

/// What is different in a checkout. Paths are relative to the root that was asked about, and sorted as they were given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitChanges<'f> {
    /// The commit that was compared with, unless it was the index or a plain folder.
    pub commit: Option<String>,
    /// Files that were there and are something else now.
    pub changed: Vec<&'f str>,
    /// Files that were not there, or that git does not track.
    pub added: Vec<&'f str>,
    /// Files and links that were there and are no longer; sorted.
    pub deleted: Vec<String>,
}

/// Compares files below the root with the revision, or with the index. Files that are not given are looked at only to
/// see whether they are gone.
pub fn git_changes<'f>(
    system: &dyn System,
    root: &str,
    files: &[&'f str],
    revision: Option<&str>,
) -> Result<GitChanges<'f>, GitError> {
    let place = GitPlace::find(system, root)?;
    let (index, index_mtime) = read_index(&place, revision.is_some())?;
    let (commit, before) = match revision {
        None => (None, None),
        Some(spelling) => {
            let mut store = ObjectStore::open(&place)?;
            let found = resolve(&place, &mut store, spelling)?;
            let files = RevisionFiles::list(&mut store, found.tree, place.prefix.as_bytes(), &index.folders)?;
            (found.commit.map(|id| id.to_string()), Some(files))
        }
    };
    let comparison = Comparison { place: &place, index: &index, index_mtime, before: before.as_ref() };
    let judged: Vec<Option<Change>> = files.par_iter().map(|file| comparison.judge(file)).collect();
    let those = |wanted: Change| {
        let matching = files.iter().zip(&judged).filter(move |(_, change)| **change == Some(wanted));
        matching.map(|(file, _)| *file).collect()
    };
    let deleted = comparison.deleted(files);
    Ok(GitChanges { commit, changed: those(Change::Changed), added: those(Change::Added), deleted })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Changed,
    Added,
}

/// The index and when it was written. With a revision to compare with, no index means that nothing is tracked.
fn read_index(place: &GitPlace<'_>, is_optional: bool) -> Result<(Entries, i64), GitError> {
    let path = join(&place.directory, "index");
    let Some(bytes) = place.read(&path, MAX_INDEX)? else {
        return if is_optional { Ok((Entries::default(), 0)) } else { Err(GitError::NoIndex) };
    };
    let mtime = place.system.lstat(Path::new(&path)).map_or(0, |stat| stat.mtime);
    let bad = |reason| GitError::BadIndex { reason };
    let file = EntriesFile::parse(&bytes, place.format.hash).map_err(bad)?;
    let base = match file.base() {
        None => None,
        Some(id) => {
            let shared = place.read(&join(&place.directory, &format!("sharedindex.{id}")), MAX_INDEX)?;
            let shared = shared.ok_or_else(|| bad("its shared part is missing"))?;
            Some(EntriesFile::parse(&shared, place.format.hash).map_err(bad)?)
        }
    };
    let entries = file.with_base(base).ok_or_else(|| bad("its two parts do not fit together"))?;
    Ok((entries, mtime))
}

struct Comparison<'c, 's> {
    place: &'c GitPlace<'s>,
    index: &'c Entries,
    index_mtime: i64,
    /// `None` to compare with the index.
    before: Option<&'c RevisionFiles>,
}

impl Comparison<'_, '_> {
    fn judge(&self, file: &str) -> Option<Change> {
        let name = [self.place.prefix.as_bytes(), file.as_bytes()].concat();
        // What git does not track is new to it, whatever a revision had there.
        let Some(entry) = self.index.files.get(&name) else { return Some(Change::Added) };
        let Some(before) = self.before(&name) else { return Some(Change::Added) };
        let is_changed = entry.is_unmerged || self.now(entry, file) != Some(before);
        is_changed.then_some(Change::Changed)
    }

    /// What the path was.
    fn before(&self, name: &[u8]) -> Option<(Mode, ObjectId)> {
        match self.before {
            Some(files) if !files.is_same(name) => files.files.get(name).copied(),
            _ => self.index.files.get(name).map(|entry| (entry.mode, entry.id)),
        }
    }

    /// What a tracked path is; `None` when it cannot be told.
    fn now(&self, entry: &Entry, file: &str) -> Option<(Mode, ObjectId)> {
        let path = self.place.top.absolute(&[&self.place.prefix, file].concat());
        let system = self.place.system;
        if entry.is_assumed || self.is_clean(entry, &path) {
            return Some((entry.mode, entry.id));
        }
        let mut open = system.open(Path::new(&path)).ok()?;
        let mut hasher = ObjectHasher::new(self.place.format.hash, ObjectKind::Blob, open.stat.size);
        let mut buffer = vec![0; 64 << 10];
        let mut total = 0u64;
        loop {
            let count = open.reader.read(&mut buffer).ok()?;
            if count == 0 {
                break;
            }
            hasher.update(buffer.get(..count)?);
            total += count as u64;
        }
        let mode = match (self.place.format.trusts_executable_bit, open.executable) {
            (false, _) => entry.mode,
            (true, true) => Mode::Executable,
            (true, false) => Mode::Plain,
        };
        (total == open.stat.size).then(|| (mode, hasher.finish()))
    }

    /// Whether the file is as it was when git last looked. Times close to the one at which the index was written, or to
    /// now, prove nothing: a file can be written twice within them.
    fn is_clean(&self, entry: &Entry, path: &str) -> bool {
        let Ok(stat) = self.place.system.lstat(Path::new(path)) else { return false };
        entry.size != 0
            && entry.mtime != 0
            && entry.size == stat.size as u32
            && (entry.mtime, entry.ctime) == (stat.mtime, stat.ctime)
            && entry.mtime < self.index_mtime
            && self.place.system.now().saturating_sub(stat.mtime) >= 2_000_000_000
    }

    /// What was there below the root and is gone.
    fn deleted(&self, files: &[&str]) -> Vec<String> {
        let given: BTreeSet<&str> = files.iter().copied().collect();
        let tracked = self.index.files.iter().filter(|(name, _)| self.before.is_none_or(|before| before.is_same(name)));
        let tracked = tracked.map(|(name, entry)| (name, entry.mode));
        let listed = self.before.iter().flat_map(|before| before.files.iter().map(|(name, (mode, _))| (name, *mode)));
        let mut folders = Folders::default();
        let mut gone: Vec<String> = tracked
            .chain(listed)
            .filter(|(name, mode)| *mode != Mode::Submodule && !self.is_left_out(name))
            .filter_map(|(name, mode)| {
                // Names that are not UTF-8 belong to no file of the universe.
                let file = std::str::from_utf8(name).ok()?.strip_prefix(self.place.prefix.as_str())?;
                let is_gone = !given.contains(file) && self.is_gone(file, mode, &mut folders);
                is_gone.then(|| file.to_owned())
            })
            .collect();
        gone.sort_unstable();
        gone.dedup();
        gone
    }

    /// Whether the path is not meant to be on the disk.
    fn is_left_out(&self, name: &[u8]) -> bool {
        self.index.files.get(name).is_some_and(|entry| entry.is_skipped || entry.is_assumed)
            || self.index.sparse.iter().any(|folder| name.starts_with(folder))
    }

    fn is_gone(&self, file: &str, mode: Mode, folders: &mut Folders) -> bool {
        let parent = file.rsplit_once('/').map_or("", |(parent, _)| parent);
        let path = |relative: &str| self.place.top.absolute(&[&self.place.prefix, relative].concat());
        if !folders.is_real(parent, &|folder| self.kind(&path(folder)) == Some(EntryKind::Dir)) {
            return true;
        }
        match self.kind(&path(file)) {
            Some(EntryKind::File) => false,
            Some(EntryKind::Link) => mode != Mode::Link,
            _ => true,
        }
    }

    fn kind(&self, path: &str) -> Option<EntryKind> {
        self.place.system.lstat(Path::new(path)).ok().map(|stat| stat.kind)
    }
}

/// Which folders are there, and not behind a link.
#[derive(Default)]
struct Folders {
    known: BTreeMap<String, bool>,
}

impl Folders {
    fn is_real(&mut self, folder: &str, is_folder: &dyn Fn(&str) -> bool) -> bool {
        // From the top down, so that nothing below a link is asked for.
        let ends = folder.match_indices('/').map(|(at, _)| at).chain((!folder.is_empty()).then_some(folder.len()));
        for end in ends {
            let Some(upto) = folder.get(..end) else { return false };
            let is_real = match self.known.get(upto) {
                Some(&known) => known,
                None => *self.known.entry(upto.to_owned()).or_insert(is_folder(upto)),
            };
            if !is_real {
                return false;
            }
        }
        true
    }
}
