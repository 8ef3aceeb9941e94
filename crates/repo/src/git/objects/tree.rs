//! Lists the files of a folder in a revision, without reading subfolders that are known to be unchanged.
//!
//! Iterative, with an own stack. Trees cannot be cyclic, because they are named by their hash. But one tree can be referenced
//! many times, so that a few objects have billions of paths: the number of paths is limited, and each tree is read and verified
//! once.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::error::GitError;
use super::id::{ObjectId, ObjectKind};
use super::store::ObjectStore;

/// The maximum number of listed files and folders. Folders that equal the index's are not listed, so larger repositories work as
/// long as most of their folders are unchanged.
const MAX_PATHS: usize = 1_000_000;
/// The maximum length of all names together, in bytes.
const MAX_NAME_BYTES: usize = 256 << 20;
/// The maximum total size of cached folders, which may be referenced again.
const MAX_CACHED_BYTES: usize = 64 << 20;
/// Longer paths cannot be opened.
const MAX_PATH_BYTES: usize = 1 << 16;

/// The kind of a path in a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TreeMode {
    Plain,
    Executable,
    Link,
    /// A submodule: another repository.
    Submodule,
}

/// The files below one folder of a revision. Paths are relative to the top of the checkout.
#[derive(Debug, Default)]
pub(crate) struct RevisionFiles {
    pub(crate) files: BTreeMap<Vec<u8>, (TreeMode, ObjectId)>,
    /// Folders that were not read because `known` has the same id, each with a trailing slash; the top is empty.
    pub(crate) same: BTreeSet<Vec<u8>>,
}

impl TreeMode {
    /// Converts modes as git does for trees and its index; `None` for folders and invalid modes.
    pub(crate) fn of(bits: u32) -> Option<Self> {
        match bits >> 12 {
            0o10 if bits & 0o100 != 0 => Some(Self::Executable),
            0o10 => Some(Self::Plain),
            0o12 => Some(Self::Link),
            0o16 => Some(Self::Submodule),
            _ => None,
        }
    }
}

impl RevisionFiles {
    /// Lists everything below `prefix` (empty, or with a trailing slash) in the tree. `known` has the ids of folders that need
    /// not be read.
    pub(crate) fn list(
        store: &mut ObjectStore<'_, '_>,
        top: ObjectId,
        prefix: &[u8],
        known: &BTreeMap<Vec<u8>, ObjectId>,
    ) -> Result<Self, GitError> {
        let mut files = Self::default();
        let (mut paths, mut names) = (0usize, 0usize);
        let mut trees = Trees::default();
        let mut pending = vec![(Vec::new(), top)];
        while let Some((path, id)) = pending.pop() {
            if path.starts_with(prefix) && known.get(&path) == Some(&id) {
                files.same.insert(path);
                continue;
            }
            let bytes = trees.read(store, &id)?;
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                let entry = TreeEntry::parse(&mut rest, id.as_bytes().len());
                let entry = entry.ok_or_else(|| GitError::damaged(&format!("tree {id}"), "an entry makes no sense"))?;
                let mut full = [&path, entry.name].concat();
                if entry.mode.is_none() {
                    full.push(b'/');
                }
                // Only descend towards the prefix, and below it.
                let is_on_the_way = entry.mode.is_none() && prefix.starts_with(&full);
                if !is_on_the_way && !full.starts_with(prefix) {
                    continue;
                }
                (paths, names) = (paths + 1, names.saturating_add(full.len()));
                if paths > MAX_PATHS || names > MAX_NAME_BYTES || full.len() > MAX_PATH_BYTES {
                    let what = "the number of paths in the revision that differ from the index".to_owned();
                    return Err(GitError::TooMuch { what, limit: MAX_PATHS as u64 });
                }
                match entry.mode {
                    None => pending.push((full, entry.id)),
                    Some(mode) => {
                        files.files.insert(full, (mode, entry.id));
                    }
                }
            }
        }
        Ok(files)
    }

    /// Whether the path is in a folder that equals the known one.
    pub(crate) fn is_same(&self, path: &[u8]) -> bool {
        if self.same.is_empty() {
            return false;
        }
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at + 1);
        std::iter::once(0).chain(ends).any(|end| path.get(..end).is_some_and(|folder| self.same.contains(folder)))
    }
}

/// A cache of folders. Most are referenced once; those that are referenced many times are small.
#[derive(Default)]
struct Trees {
    kept: BTreeMap<ObjectId, Rc<Vec<u8>>>,
    bytes: usize,
}

impl Trees {
    fn read(&mut self, store: &mut ObjectStore<'_, '_>, id: &ObjectId) -> Result<Rc<Vec<u8>>, GitError> {
        if let Some(known) = self.kept.get(id) {
            return Ok(Rc::clone(known));
        }
        let bytes = store.read_as(id, ObjectKind::Tree)?;
        if self.bytes + bytes.len() <= MAX_CACHED_BYTES {
            self.bytes += bytes.len();
            self.kept.insert(*id, Rc::clone(&bytes));
        }
        Ok(bytes)
    }
}

pub(super) struct TreeEntry<'t> {
    /// `None` for a folder.
    pub(super) mode: Option<TreeMode>,
    pub(super) name: &'t [u8],
    pub(super) id: ObjectId,
}

impl<'t> TreeEntry<'t> {
    /// Octal mode, space, name, zero byte, id.
    pub(super) fn parse(rest: &mut &'t [u8], id_length: usize) -> Option<Self> {
        let (mode, behind) = mode(rest)?;
        // Git never writes a name with a slash, `.` or `..`: that would refer to something outside of the folder.
        let end = behind.iter().position(|byte| matches!(byte, 0 | b'/'))?;
        let (name, behind) = behind.split_at_checked(end)?;
        let (id, behind) = behind.strip_prefix(&[0])?.split_at_checked(id_length)?;
        if matches!(name, b"" | b"." | b"..") {
            return None;
        }
        *rest = behind;
        Some(Self { mode, name, id: ObjectId::from_bytes(id)? })
    }
}

/// Parses the mode of an entry. Also returns the rest after the space.
fn mode(entry: &[u8]) -> Option<(Option<TreeMode>, &[u8])> {
    // Fast path: nearly all entries have one of these modes.
    if let Some(behind) = entry.strip_prefix(b"100644 ") {
        return Some((Some(TreeMode::Plain), behind));
    }
    if let Some(behind) = entry.strip_prefix(b"40000 ") {
        return Some((None, behind));
    }
    let space = entry.iter().position(|byte| *byte == b' ')?;
    let (digits, behind) = entry.split_at_checked(space)?;
    let bits = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()?;
    let mode = TreeMode::of(bits);
    (bits == 0o40000 || mode.is_some()).then_some((mode, behind.get(1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Option<(Option<TreeMode>, String, usize)> {
        let bytes = [text.as_bytes(), b"\0", &[7; 20]].concat();
        let mut rest = bytes.as_slice();
        let entry = TreeEntry::parse(&mut rest, 20)?;
        Some((entry.mode, String::from_utf8_lossy(entry.name).into_owned(), rest.len()))
    }

    #[test]
    fn modes_and_names_of_tree_entries_are_read() {
        let some = |mode, name: &str| Some((mode, name.to_owned(), 0));
        assert_eq!(parse("100644 a b"), some(Some(TreeMode::Plain), "a b"));
        assert_eq!(parse("100664 a"), some(Some(TreeMode::Plain), "a"));
        assert_eq!(parse("100755 a"), some(Some(TreeMode::Executable), "a"));
        assert_eq!(parse("120000 a"), some(Some(TreeMode::Link), "a"));
        assert_eq!(parse("160000 a"), some(Some(TreeMode::Submodule), "a"));
        assert_eq!(parse("40000 a"), some(None, "a"));
        assert_eq!(parse("040000 a"), some(None, "a"));
        for bad in [
            "",
            "100644",
            "100644 ",
            "100644 a/b",
            "40000 ..",
            "40000 .",
            "50000 a",
            "x a",
            "99999999999 a",
            "100648 a",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
        assert!(TreeEntry::parse(&mut b"100644 a\0too short".as_slice(), 20).is_none());
    }

    #[test]
    fn a_file_in_an_unchanged_folder_is_unchanged() {
        let same = |folders: &[&str]| RevisionFiles {
            same: folders.iter().map(|folder| folder.as_bytes().to_vec()).collect(),
            ..RevisionFiles::default()
        };
        assert!(same(&[""]).is_same(b"a") && same(&[""]).is_same(b"a/b/c"));
        assert!(
            same(&["a/b/"]).is_same(b"a/b/c/d")
                && !same(&["a/b/"]).is_same(b"a/bc")
                && !same(&["a/b/"]).is_same(b"a/c")
        );
        assert!(!same(&[]).is_same(b"a"));
    }
}
