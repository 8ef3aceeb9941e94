//! Compares two trees of git, skipping subtrees with equal hashes.
//!
//! Hostile trees may have huge numbers of differing subtrees without any file. So the number of trees read per comparison, and
//! their total size, are limited.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::error::GitError;
use super::id::{ObjectId, ObjectKind};
use super::store::ObjectStore;
use super::tree::{TreeEntry, TreeMode};

/// The maximum number of folders read per comparison.
const MAX_FOLDERS: usize = 20_000;
/// The maximum total size of cached folders, in bytes: the next comparison needs most of them again.
const MAX_CACHED_BYTES: usize = 32 << 20;
/// Longer paths cannot be opened.
const MAX_PATH_BYTES: usize = 1 << 16;

/// The differences between two folders.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TreeChanges {
    /// Paths relative to the prefix, sorted.
    Paths(Vec<Vec<u8>>),
    /// More than the limit.
    TooMany,
}

/// Compares pairs of trees, with a cache that is kept in between.
pub(crate) struct TreeDiff {
    kept: FxHashMap<ObjectId, Rc<Tree>>,
    kept_bytes: usize,
    /// The remaining budget of tree bytes.
    left: u64,
}

/// The mode and id of a name in a folder.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Side {
    /// `None` for a folder.
    mode: Option<TreeMode>,
    id: ObjectId,
}

/// A parsed folder, of which every entry is valid.
#[derive(Default)]
struct Tree {
    bytes: Rc<Vec<u8>>,
    /// The end of each entry.
    ends: Vec<u32>,
    /// The length of an id, in bytes.
    id_length: usize,
}

impl Tree {
    fn new(id: &ObjectId, bytes: Rc<Vec<u8>>) -> Result<Self, GitError> {
        let id_length = id.as_bytes().len();
        // Common names make entries of some 40 bytes.
        let mut ends = Vec::with_capacity(bytes.len() / 32);
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            if TreeEntry::parse(&mut rest, id_length).is_none() {
                return Err(GitError::damaged(&format!("tree {id}"), "an entry makes no sense"));
            }
            ends.push(u32::try_from(bytes.len() - rest.len()).unwrap_or(u32::MAX));
        }
        Ok(Self { bytes, ends, id_length })
    }
}

/// A position in the entries of a folder.
struct Cursor<'t> {
    tree: &'t Tree,
    /// The number of entries before the position, and their bytes.
    number: usize,
    start: usize,
}

impl<'t> Cursor<'t> {
    fn new(tree: &'t Tree) -> Self {
        Self { tree, number: 0, start: 0 }
    }

    fn rest(&self) -> &'t [u8] {
        self.tree.bytes.get(self.start..).unwrap_or_default()
    }

    fn next(&self) -> Option<TreeEntry<'t>> {
        TreeEntry::parse(&mut self.rest(), self.tree.id_length)
    }

    /// The number of whole entries within the next `length` bytes.
    fn entries_in(&self, length: usize) -> usize {
        let ends = self.tree.ends.get(self.number..).unwrap_or_default();
        ends.partition_point(|end| *end as usize <= self.start + length)
    }

    fn skip(&mut self, entries: usize) {
        self.number += entries;
        let last = self.number.checked_sub(1).and_then(|last| self.tree.ends.get(last));
        self.start = last.map_or(0, |end| *end as usize);
    }
}

/// The length of the common prefix of two slices.
fn common(left: &[u8], right: &[u8]) -> usize {
    let chunks = left.as_chunks::<32>().0.iter().zip(right.as_chunks::<32>().0);
    let start = 32 * chunks.take_while(|(left, right)| left == right).count();
    let bytes = left.iter().skip(start).zip(right.iter().skip(start));
    start + bytes.take_while(|(left, right)| left == right).count()
}

/// git's order: a folder is sorted as if its name ended with a slash.
fn order(left: &TreeEntry<'_>, right: &TreeEntry<'_>) -> Ordering {
    let length = left.name.len().min(right.name.len());
    let behind = |entry: &TreeEntry<'_>| match (entry.name.get(length), entry.mode) {
        (Some(byte), _) => *byte,
        (None, None) => b'/',
        (None, Some(_)) => 0,
    };
    left.name.get(..length).cmp(&right.name.get(..length)).then_with(|| behind(left).cmp(&behind(right)))
}

/// Adds one side of a name; removes the name if both sides are equal.
fn put(entries: &mut BTreeMap<Vec<u8>, Pair>, entry: &TreeEntry<'_>, is_new: bool) {
    let side = Some(Side { mode: entry.mode, id: entry.id });
    match entries.get_mut(entry.name) {
        Some(pair) => {
            *(if is_new { &mut pair.1 } else { &mut pair.0 }) = side;
            if pair.0 == pair.1 {
                entries.remove(entry.name);
            }
        }
        None => drop(entries.insert(entry.name.to_vec(), if is_new { (None, side) } else { (side, None) })),
    }
}

type Pair = (Option<Side>, Option<Side>);

/// The names that differ between two folders.
fn differences(old: &Tree, new: &Tree) -> BTreeMap<Vec<u8>, Pair> {
    let mut entries: BTreeMap<Vec<u8>, Pair> = BTreeMap::new();
    let (mut old, mut new) = (Cursor::new(old), Cursor::new(new));
    loop {
        // Fast path: equal bytes are equal entries, and most are equal.
        let same = old.entries_in(common(old.rest(), new.rest()));
        old.skip(same);
        new.skip(same);
        let (Some(before), Some(after)) = (old.next(), new.next()) else { break };
        // If a folder is not sorted, both sides of a name still meet in the map, only later.
        let order = order(&before, &after);
        if order.is_le() {
            put(&mut entries, &before, false);
            old.skip(1);
        }
        if order.is_ge() {
            put(&mut entries, &after, true);
            new.skip(1);
        }
    }
    for (rest, is_new) in [(&mut old, false), (&mut new, true)] {
        while let Some(entry) = rest.next() {
            put(&mut entries, &entry, is_new);
            rest.skip(1);
        }
    }
    entries
}

impl TreeDiff {
    pub(crate) fn new(budget: u64) -> Self {
        Self { kept: FxHashMap::default(), kept_bytes: 0, left: budget }
    }

    /// The files that differ, at most `max_paths`. Without an old tree, all files differ. Submodules do not count as files.
    pub(crate) fn compare(
        &mut self,
        store: &mut ObjectStore<'_, '_>,
        (old, new): (Option<ObjectId>, ObjectId),
        prefix: &[u8],
        max_paths: usize,
    ) -> Result<TreeChanges, GitError> {
        let mut found = Vec::new();
        let mut opened = 0;
        let mut pending = vec![(Vec::new(), old, Some(new))];
        while let Some((path, old, new)) = pending.pop() {
            if old == new {
                continue;
            }
            opened += 1;
            if opened > MAX_FOLDERS {
                return Err(GitError::TooMuch {
                    what: "the number of folders that a commit changes".to_owned(),
                    limit: MAX_FOLDERS as u64,
                });
            }
            for (name, pair) in self.entries(store, old, new)? {
                let full = [path.as_slice(), &name].concat();
                let folder = [full.as_slice(), b"/"].concat();
                let [old, new] =
                    [pair.0, pair.1].map(|side| side.filter(|side| side.mode.is_none()).map(|side| side.id));
                let is_below = folder.starts_with(prefix) || prefix.starts_with(&folder);
                if (old.is_some() || new.is_some()) && is_below && full.len() < MAX_PATH_BYTES {
                    pending.push((folder, old, new));
                }
                let file =
                    |side: Option<Side>| side.filter(|side| !matches!(side.mode, None | Some(TreeMode::Submodule)));
                if file(pair.0) != file(pair.1)
                    && let Some(below) = full.strip_prefix(prefix)
                {
                    found.push(below.to_vec());
                    if found.len() > max_paths {
                        return Ok(TreeChanges::TooMany);
                    }
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(TreeChanges::Paths(found))
    }

    /// The names that differ between two trees.
    fn entries(
        &mut self,
        store: &mut ObjectStore<'_, '_>,
        old: Option<ObjectId>,
        new: Option<ObjectId>,
    ) -> Result<BTreeMap<Vec<u8>, Pair>, GitError> {
        let old = old.map(|id| self.read(store, &id)).transpose()?.unwrap_or_default();
        let new = new.map(|id| self.read(store, &id)).transpose()?.unwrap_or_default();
        Ok(differences(&old, &new))
    }

    fn read(&mut self, store: &mut ObjectStore<'_, '_>, id: &ObjectId) -> Result<Rc<Tree>, GitError> {
        let tree = match self.kept.get(id) {
            Some(tree) => Rc::clone(tree),
            None => {
                let tree = Rc::new(Tree::new(id, store.read_as(id, ObjectKind::Tree)?)?);
                if self.kept_bytes.saturating_add(tree.bytes.len()) > MAX_CACHED_BYTES {
                    self.kept.clear();
                    self.kept_bytes = 0;
                }
                self.kept_bytes += tree.bytes.len();
                self.kept.insert(*id, Rc::clone(&tree));
                tree
            }
        };
        let left = self.left.checked_sub(tree.bytes.len() as u64);
        self.left = left.ok_or_else(|| GitError::TooMuch {
            what: "what the history needs from the repository".to_owned(),
            limit: self.left,
        })?;
        Ok(tree)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a tree: `/` after the names of folders, `=` before an id.
    fn tree(entries: &str) -> Tree {
        let mut bytes = Vec::new();
        for entry in entries.split_whitespace() {
            let (name, id) = entry.split_once('=').unwrap();
            let folder = name.strip_suffix('/');
            let mode: &[u8] = if folder.is_some() { b"40000 " } else { b"100644 " };
            bytes.extend([mode, folder.unwrap_or(name).as_bytes(), b"\0", &[id.parse().unwrap(); 20]].concat());
        }
        Tree::new(&ObjectId::from_bytes(&[1; 20]).unwrap(), Rc::new(bytes)).unwrap()
    }

    fn shown(old: &str, new: &str) -> String {
        let side = |side: Option<Side>| match side {
            None => "-".to_owned(),
            Some(side) => format!("{}{}", side.id.as_bytes()[0], if side.mode.is_none() { "/" } else { "" }),
        };
        let pairs = differences(&tree(old), &tree(new));
        let line = |(name, (old, new)): (Vec<u8>, Pair)| {
            format!("{} {}>{}", String::from_utf8_lossy(&name), side(old), side(new))
        };
        pairs.into_iter().map(line).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn differences_between_two_folders_are_found() {
        for (old, new, expected) in [
            ("", "", ""),
            ("a=1 b=2 c=3", "a=1 b=2 c=3", ""),
            ("a=1 b=2 c=3", "a=1 b=5 c=3", "b 2>5"),
            ("a=1 c=3 d=4", "a=1 b=2 c=3 d=4", "b ->2"),
            ("a=1 b=2 c=3 d=4", "a=1 c=3 d=5", "b 2>-, d 4>5"),
            ("", "a=1 b/=2", "a ->1, b ->2/"),
            ("a=1 b/=2", "", "a 1>-, b 2/>-"),
            // A folder is sorted as if its name ended with a slash.
            ("a=1 a-b=2 a.c=3", "a-b=2 a.c=3 a/=1", "a 1>1/"),
            ("a-b=2 a/=1 ab=3", "a=1 a-b=2 ab=3", "a 1/>1"),
            // Unsorted.
            ("b=2 a=1", "a=1 b=2", ""),
            ("c=3 b=2 a=1", "a=1 b=4 c=3 d=5", "b 2>4, d ->5"),
        ] {
            assert_eq!(shown(old, new), expected, "{old} | {new}");
        }
    }

    #[test]
    fn an_invalid_tree_entry_is_reported_as_damage() {
        let id = ObjectId::from_bytes(&[1; 20]).unwrap();
        let whole = [b"100644 a\0".as_slice(), &[7; 20]].concat();
        for bytes in [b"100644 a".to_vec(), whole[..20].to_vec(), [whole.as_slice(), b"x"].concat()] {
            assert!(Tree::new(&id, Rc::new(bytes)).is_err());
        }
    }
}
