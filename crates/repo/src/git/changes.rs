//! Finds the files of a checkout that differ from git's index or a revision, without running git.
//!
//! Files whose size or times differ from the index are hashed as git hashes them. Conversions (line ends, filters such as LFS)
//! are not reversed: a converted file that was written after git's last refresh counts as changed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::Path;

use rayon::prelude::*;

use crate::git::index::entries::{Entries, EntriesFile, Entry};
use crate::git::objects::{
    GitError, GitLayout, ObjectHasher, ObjectId, ObjectKind, ObjectStore, RevisionFiles, TreeMode, resolve,
};
use crate::paths::join;
use crate::system::{EntryKind, System};
use crate::system_ext::SystemExt as _;

/// Fits an index of ten million files; anything larger is not an index.
const MAX_INDEX_BYTES: u64 = 2 << 30;

/// The differences of a checkout. Paths are relative to the given root, and in the given order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitChanges<'f> {
    /// The commit that was compared with; `None` for the index or a plain tree.
    pub commit: Option<String>,
    /// Files that existed before and differ now.
    pub changed: Vec<&'f str>,
    /// Files that did not exist before, or that git does not track.
    pub added: Vec<&'f str>,
    /// Files and symlinks of the revision or the index that the working tree lacks; sorted.
    pub deleted: Vec<String>,
}

/// Compares files below the root with the revision, or with the index. Tracked files outside of `files` are only checked for
/// deletion.
pub fn git_changes<'f>(
    system: &dyn System,
    root: &str,
    files: &[&'f str],
    revision: Option<&str>,
) -> Result<GitChanges<'f>, GitError> {
    let place = GitLayout::find(system, root)?;
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

/// The index and its modification time. When comparing with a revision, a missing index means that nothing is tracked.
fn read_index(place: &GitLayout<'_>, is_optional: bool) -> Result<(Entries, i64), GitError> {
    let path = join(&place.directory, "index");
    let Some(bytes) = place.read(&path, MAX_INDEX_BYTES)? else {
        return if is_optional { Ok((Entries::default(), 0)) } else { Err(GitError::NoIndex) };
    };
    let mtime = place.system.lstat(Path::new(&path)).map_or(0, |stat| stat.mtime);
    let bad = |reason| GitError::BadIndex { reason };
    let file = EntriesFile::parse(&bytes, place.format.hash).map_err(bad)?;
    let base = match file.base() {
        None => None,
        Some(id) => {
            let shared = place.read(&join(&place.directory, &format!("sharedindex.{id}")), MAX_INDEX_BYTES)?;
            let shared = shared.ok_or_else(|| bad("its shared part is missing"))?;
            Some(EntriesFile::parse(&shared, place.format.hash).map_err(bad)?)
        }
    };
    let entries = file.with_base(base).ok_or_else(|| bad("its two parts do not fit together"))?;
    Ok((entries, mtime))
}

struct Comparison<'c, 's> {
    place: &'c GitLayout<'s>,
    index: &'c Entries,
    index_mtime: i64,
    /// `None` to compare with the index.
    before: Option<&'c RevisionFiles>,
}

impl Comparison<'_, '_> {
    fn judge(&self, file: &str) -> Option<Change> {
        let name = [self.place.prefix.as_bytes(), file.as_bytes()].concat();
        // An untracked file counts as added, whatever the revision had there.
        let Some(entry) = self.index.files.get(&name) else { return Some(Change::Added) };
        let Some(before) = self.before(&name) else { return Some(Change::Added) };
        let is_changed = entry.is_unmerged || self.now(entry, file) != Some(before);
        is_changed.then_some(Change::Changed)
    }

    /// The state of the path before.
    fn before(&self, name: &[u8]) -> Option<(TreeMode, ObjectId)> {
        match self.before {
            Some(files) if !files.is_same(name) => files.files.get(name).copied(),
            _ => self.index.files.get(name).map(|entry| (entry.mode, entry.id)),
        }
    }

    /// Mode and blob id of a tracked path in the working tree; `None` if it cannot be read.
    fn now(&self, entry: &Entry, file: &str) -> Option<(TreeMode, ObjectId)> {
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
            (true, true) => TreeMode::Executable,
            (true, false) => TreeMode::Plain,
        };
        (total == open.stat.size).then(|| (mode, hasher.finish()))
    }

    /// Whether the file is unchanged since git's last refresh. Times close to that of the index, or to now, prove nothing: a file
    /// can be written twice within the clock's resolution ("racily clean").
    fn is_clean(&self, entry: &Entry, path: &str) -> bool {
        let Ok(stat) = self.place.system.lstat(Path::new(path)) else { return false };
        entry.size != 0
            && entry.mtime != 0
            && entry.size == stat.size as u32
            && (entry.mtime, entry.ctime) == (stat.mtime, stat.ctime)
            && entry.mtime < self.index_mtime
            && self.place.system.now().saturating_sub(stat.mtime) >= 2_000_000_000
    }

    /// Deleted paths below the root.
    fn deleted(&self, files: &[&str]) -> Vec<String> {
        let given: BTreeSet<&str> = files.iter().copied().collect();
        let tracked = self.index.files.iter().filter(|(name, _)| self.before.is_none_or(|before| before.is_same(name)));
        let tracked = tracked.map(|(name, entry)| (name, entry.mode));
        let listed = self.before.iter().flat_map(|before| before.files.iter().map(|(name, (mode, _))| (name, *mode)));
        let mut folders = Folders::default();
        let mut gone: Vec<String> = tracked
            .chain(listed)
            .filter(|(name, mode)| *mode != TreeMode::Submodule && !self.is_left_out(name))
            .filter_map(|(name, mode)| {
                // The universe has no file whose name is not UTF-8.
                let file = std::str::from_utf8(name).ok()?.strip_prefix(self.place.prefix.as_str())?;
                let is_gone = !given.contains(file) && self.is_gone(file, mode, &mut folders);
                is_gone.then(|| file.to_owned())
            })
            .collect();
        gone.sort_unstable();
        gone.dedup();
        gone
    }

    /// Whether git ignores that the path is missing on disk: sparse folder, `skip-worktree`, `assume-unchanged`.
    fn is_left_out(&self, name: &[u8]) -> bool {
        let folders = name.iter().enumerate().filter(|(_, byte)| **byte == b'/').filter_map(|(at, _)| name.get(..=at));
        let is_sparse =
            |folder: &[u8]| self.index.sparse.binary_search_by(|known| known.as_slice().cmp(folder)).is_ok();
        self.index.files.get(name).is_some_and(|entry| entry.is_skipped || entry.is_assumed)
            || folders.into_iter().any(is_sparse)
    }

    fn is_gone(&self, file: &str, mode: TreeMode, folders: &mut Folders) -> bool {
        let parent = file.rsplit_once('/').map_or("", |(parent, _)| parent);
        let path = |relative: &str| self.place.top.absolute(&[&self.place.prefix, relative].concat());
        if !folders.is_real(parent, &|folder| self.kind(&path(folder)) == Some(EntryKind::Dir)) {
            return true;
        }
        match self.kind(&path(file)) {
            Some(EntryKind::File) => false,
            Some(EntryKind::Link) => mode != TreeMode::Link,
            _ => true,
        }
    }

    fn kind(&self, path: &str) -> Option<EntryKind> {
        self.place.system.lstat(Path::new(path)).ok().map(|stat| stat.kind)
    }
}

/// Which folders exist, and are not behind a symlink.
#[derive(Default)]
struct Folders {
    known: BTreeMap<String, bool>,
}

impl Folders {
    fn is_real(&mut self, folder: &str, is_folder: &dyn Fn(&str) -> bool) -> bool {
        // From the top down, so that nothing behind a symlink is stat'ed.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::objects::HashKind;
    use crate::memory::MemorySystem;

    const OLD: i64 = 1_000_000_000_000;

    /// An index of the current files, which git wrote at `OLD` plus ten seconds.
    fn repository(files: &[(&str, &str)], flags: u16) -> MemorySystem {
        let system = MemorySystem::new();
        let mut index = b"DIRC\0\0\0\x02".to_vec();
        index.extend((files.len() as u32).to_be_bytes());
        for (name, contents) in files {
            let start = index.len();
            let path = format!("/r/{name}");
            system.set_file(&path, *contents).set_times(&path, OLD, OLD);
            for time in [OLD, OLD] {
                index.extend(((time / 1_000_000_000) as u32).to_be_bytes());
                index.extend(((time % 1_000_000_000) as u32).to_be_bytes());
            }
            index.extend([0; 8]);
            index.extend(0o100_644u32.to_be_bytes());
            index.extend([0; 8]);
            index.extend((contents.len() as u32).to_be_bytes());
            index.extend(HashKind::Sha1.object_id(ObjectKind::Blob, contents.as_bytes()).as_bytes());
            index.extend((name.len() as u16 | flags).to_be_bytes());
            index.extend(name.as_bytes());
            index.resize(index.len() + 8 - (index.len() - start) % 8, 0);
        }
        let sum = HashKind::Sha1.checksum(&index);
        index.extend(sum.as_bytes());
        system.set_file("/r/.git/index", index).set_times("/r/.git/index", OLD + 10_000_000_000, OLD);
        system.set_file("/r/.git/HEAD", "ref: refs/heads/main").set_dir("/r/.git/refs").set_dir("/r/.git/objects");
        system.set_now(OLD + 1_000_000_000_000);
        system
    }

    fn changed(system: &MemorySystem) -> Vec<&'static str> {
        git_changes(system, "/r", &["a.ts", "b.ts"], None).unwrap().changed
    }

    #[test]
    fn a_change_that_keeps_size_and_mtime_is_detected_by_ctime() {
        let system = repository(&[("a.ts", "one"), ("b.ts", "two")], 0);
        assert!(changed(&system).is_empty());
        system.set_file("/r/a.ts", "eno").set_times("/r/a.ts", OLD, OLD + 5);
        assert_eq!(changed(&system), ["a.ts"]);
    }

    #[test]
    fn files_that_are_as_new_as_the_index_are_hashed() {
        let system = repository(&[("a.ts", "one"), ("b.ts", "two")], 0);
        system.set_file("/r/a.ts", "eno").set_times("/r/a.ts", OLD, OLD).set_times("/r/.git/index", OLD, OLD);
        assert_eq!(changed(&system), ["a.ts"]);
    }

    #[test]
    fn assume_unchanged_files_are_unchanged() {
        let system = repository(&[("a.ts", "one"), ("b.ts", "two")], 0x8000);
        system.set_file("/r/a.ts", "other");
        assert!(changed(&system).is_empty());
    }

    /// Writes a loose object with stored (uncompressed) blocks.
    fn loose(system: &MemorySystem, kind: ObjectKind, bytes: &[u8]) -> ObjectId {
        let id = HashKind::Sha1.object_id(kind, bytes);
        let raw = [format!("{} {}\0", kind.name(), bytes.len()).as_bytes(), bytes].concat();
        let (mut low, mut high) = (1u32, 0u32);
        for byte in &raw {
            low = (low + u32::from(*byte)) % 65_521;
            high = (high + low) % 65_521;
        }
        let length = (raw.len() as u16).to_le_bytes();
        let inverse = (!(raw.len() as u16)).to_le_bytes();
        let stored =
            [&[0x78, 0x01, 0x01], length.as_slice(), &inverse, &raw, &((high << 16) | low).to_be_bytes()].concat();
        let name = id.to_string();
        system.set_file(format!("/r/.git/objects/{}/{}", &name[..2], &name[2..]), stored);
        id
    }

    /// Each level has ten entries for one folder: nine objects with a thousand million paths, with and without files.
    #[test]
    fn a_tree_with_exponentially_many_paths_is_refused_quickly() {
        for is_folder in [true, false] {
            let system = repository(&[("a.ts", "one")], 0);
            let blob = loose(&system, ObjectKind::Blob, b"");
            let mut inner = loose(&system, ObjectKind::Tree, b"");
            for level in 0..9 {
                let (mode, id) = if level == 0 && !is_folder { ("100644", blob) } else { ("40000", inner) };
                let entry = |name: u8| [format!("{mode} {name}\0").as_bytes(), id.as_bytes()].concat();
                let entries: Vec<u8> = (0..10).flat_map(entry).collect();
                inner = loose(&system, ObjectKind::Tree, &entries);
            }
            let error = git_changes(&system, "/r", &["a.ts"], Some(&inner.to_string())).unwrap_err();
            assert!(matches!(error, GitError::TooMuch { limit: 1_000_000, .. }), "{error}");
        }
    }

    /// Objects are verified by their hash, but another user could have prepared which objects a revision names.
    #[test]
    fn alternates_of_another_user_are_not_read() {
        let system = repository(&[("a.ts", "one")], 0);
        let tree = loose(&system, ObjectKind::Tree, b"");
        let name = tree.to_string();
        let (own, borrowed) = (format!("objects/{}/{}", &name[..2], &name[2..]), "/other/objects");
        let mut bytes = Vec::new();
        system.read_into(Path::new(&format!("/r/.git/{own}")), &mut bytes).unwrap();
        system.remove(format!("/r/.git/{own}"));
        system.set_file(format!("/other/{own}"), bytes);
        system.set_file("/r/.git/objects/info/alternates", format!("{borrowed}\n"));
        let ask = || git_changes(&system, "/r", &["a.ts"], Some(&name));
        assert!(ask().is_ok(), "{:?}", ask().err());
        system.set_owner(borrowed, crate::Owner::Root);
        assert!(ask().is_ok(), "{:?}", ask().err());
        system.set_owner(borrowed, crate::Owner::Other);
        assert!(matches!(ask(), Err(GitError::MissingObject { looked_for, .. }) if looked_for == ["`/other/objects`"]));
    }

    #[test]
    fn missing_repositories_revisions_and_objects_are_errors() {
        let empty = MemorySystem::new();
        empty.set_file("/r/a.ts", "");
        let ask = |system: &MemorySystem, revision| git_changes(system, "/r", &["a.ts"], revision).unwrap_err();
        assert_eq!(ask(&empty, None), GitError::NoRepository);
        let system = repository(&[("a.ts", "one")], 0);
        assert_eq!(ask(&system, Some("main")), GitError::UnknownRevision { name: "main".to_owned() });
        let id = "1111111111111111111111111111111111111111";
        let missing = GitError::MissingObject { id: id.to_owned(), looked_for: Vec::new() };
        assert_eq!(ask(&system, Some(id)), missing);
        system.set_file("/r/.git/objects/info/alternates", "/gone\n");
        assert!(
            ask(&system, Some(id)).to_string().ends_with("names `/gone`, which does not exist or is not this user's")
        );
        system.set_file("/r/.git/refs/heads/main", "nonsense\n");
        let text = ask(&system, Some("main")).to_string();
        assert_eq!(text, "`.git/refs/heads/main` is damaged: it is not a reference");
        system.set_file("/r/.git/refs/heads/main", "ref: refs/heads/main\n");
        assert!(matches!(ask(&system, Some("main")), GitError::TooMuch { .. }));
        system.set_file("/r/.git/config", "[core]\nrepositoryformatversion = 1\n[extensions]\nrefstorage = reftable\n");
        let text = ask(&system, Some("main")).to_string();
        assert_eq!(text, "the repository uses a reftable for names such as `main`, which stan does not read");
        system.remove("/r/.git/index");
        assert_eq!(ask(&system, None), GitError::NoIndex);
        system.set_file("/r/.git/index", "DIRC");
        assert_eq!(ask(&system, None), GitError::BadIndex { reason: "it is too short" });
    }
}
