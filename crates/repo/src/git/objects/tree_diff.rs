//! Which files differ between two folders of git's: folders of the same name and hash are not opened.
//!
//! Hostile folders may differ without end and hold nothing: how many are opened for one comparison, and how many bytes
//! for all of them, is limited.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::error::GitError;
use super::id::{ObjectId, ObjectKind};
use super::store::ObjectStore;
use super::tree::{TreeEntry, TreeMode};

/// More folders are not opened for one comparison.
const MAX_FOLDERS: usize = 20_000;
/// What folders are kept, in bytes: the next comparison has most of them again.
const MAX_KEPT: usize = 32 << 20;
/// No longer path can be opened.
const MAX_PATH: usize = 1 << 16;

/// What differs between two folders.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TreeChanges {
    /// Paths below the prefix and without it, sorted.
    Paths(Vec<Vec<u8>>),
    /// More than were asked for.
    TooMany,
}

/// Compares one pair of folders after the other.
pub(crate) struct TreeDiff {
    kept: FxHashMap<Vec<u8>, Rc<Vec<u8>>>,
    kept_bytes: usize,
    /// How many bytes of trees may still be read.
    left: u64,
}

/// What a name is in a folder.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Side {
    /// `None` for a folder.
    mode: Option<TreeMode>,
    id: ObjectId,
}

/// The next entry of a folder.
fn parsed<'b>(rest: &mut &'b [u8], folder: Option<ObjectId>) -> Result<TreeEntry<'b>, GitError> {
    let length = folder.map_or(0, |id| id.as_bytes().len());
    let shown = || folder.map(|id| id.to_string()).unwrap_or_default();
    TreeEntry::parse(rest, length)
        .ok_or_else(|| GitError::damaged(&format!("tree {}", shown()), "an entry makes no sense"))
}

type Pair = (Option<Side>, Option<Side>);

impl TreeDiff {
    pub(crate) fn new(budget: u64) -> Self {
        Self { kept: FxHashMap::default(), kept_bytes: 0, left: budget }
    }

    /// The files that differ, at most `most`. Without an old tree all files do. Submodules are not files.
    pub(crate) fn compare(
        &mut self,
        store: &mut ObjectStore<'_, '_>,
        (old, new): (Option<ObjectId>, ObjectId),
        prefix: &[u8],
        most: usize,
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
                if (old.is_some() || new.is_some()) && is_below && full.len() < MAX_PATH {
                    pending.push((folder, old, new));
                }
                let file =
                    |side: Option<Side>| side.filter(|side| !matches!(side.mode, None | Some(TreeMode::Submodule)));
                if file(pair.0) != file(pair.1)
                    && let Some(below) = full.strip_prefix(prefix)
                {
                    found.push(below.to_vec());
                    if found.len() > most {
                        return Ok(TreeChanges::TooMany);
                    }
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(TreeChanges::Paths(found))
    }

    /// The names of two folders that are not the same in both.
    fn entries(
        &mut self,
        store: &mut ObjectStore<'_, '_>,
        old: Option<ObjectId>,
        new: Option<ObjectId>,
    ) -> Result<BTreeMap<Vec<u8>, Pair>, GitError> {
        let mut entries: BTreeMap<Vec<u8>, Pair> = BTreeMap::new();
        let old_bytes = old.map(|id| self.read(store, &id)).transpose()?.unwrap_or_default();
        let new_bytes = new.map(|id| self.read(store, &id)).transpose()?.unwrap_or_default();
        let mut rest = (old_bytes.as_slice(), new_bytes.as_slice());
        // Most names are in both, in the same order: as long as that is so, nothing has to be looked up.
        while !rest.0.is_empty() && !rest.1.is_empty() {
            let mut next = rest;
            let before = parsed(&mut next.0, old)?;
            let entry = rest.0.get(..rest.0.len() - next.0.len()).unwrap_or_default();
            // The same bytes are the same entry.
            if let Some(behind) = rest.1.strip_prefix(entry) {
                rest = (next.0, behind);
                continue;
            }
            let after = parsed(&mut next.1, new)?;
            if before.name != after.name {
                break;
            }
            let old_side = Side { mode: before.mode, id: before.id };
            let new_side = Side { mode: after.mode, id: after.id };
            if old_side != new_side {
                entries.insert(before.name.to_vec(), (Some(old_side), Some(new_side)));
            }
            rest = next;
        }
        for (id, mut rest, is_new) in [(old, rest.0, false), (new, rest.1, true)] {
            while !rest.is_empty() {
                let entry = parsed(&mut rest, id)?;
                let side = Some(Side { mode: entry.mode, id: entry.id });
                match entries.get_mut(entry.name) {
                    Some(pair) if is_new && pair.0 == side => drop(entries.remove(entry.name)),
                    Some(pair) if is_new => pair.1 = side,
                    Some(pair) => pair.0 = side,
                    None if is_new => drop(entries.insert(entry.name.to_vec(), (None, side))),
                    None => drop(entries.insert(entry.name.to_vec(), (side, None))),
                }
            }
        }
        Ok(entries)
    }

    fn read(&mut self, store: &mut ObjectStore<'_, '_>, id: &ObjectId) -> Result<Rc<Vec<u8>>, GitError> {
        let bytes = match self.kept.get(id.as_bytes()) {
            Some(bytes) => Rc::clone(bytes),
            None => {
                let bytes = store.read_as(id, ObjectKind::Tree)?;
                if self.kept_bytes.saturating_add(bytes.len()) > MAX_KEPT {
                    self.kept.clear();
                    self.kept_bytes = 0;
                }
                self.kept_bytes += bytes.len();
                self.kept.insert(id.as_bytes().to_vec(), Rc::clone(&bytes));
                bytes
            }
        };
        let left = self.left.checked_sub(bytes.len() as u64);
        self.left = left.ok_or_else(|| GitError::TooMuch {
            what: "what the history needs from the repository".to_owned(),
            limit: self.left,
        })?;
        Ok(bytes)
    }
}
