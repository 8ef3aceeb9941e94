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
use super::tree::{Mode, TreeEntry};

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
    /// How many bytes of folders may still be looked at.
    left: u64,
}

/// What a name is in a folder.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Side {
    /// `None` for a folder.
    mode: Option<Mode>,
    id: ObjectId,
}

type Pair = (Option<Side>, Option<Side>);

impl TreeDiff {
    pub(crate) fn new(budget: u64) -> Self {
        Self { kept: FxHashMap::default(), kept_bytes: 0, left: budget }
    }

    /// The files that differ, at most `most`. Without an old folder all files do. Other repositories are no files.
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
                let file = |side: Option<Side>| side.filter(|side| !matches!(side.mode, None | Some(Mode::Submodule)));
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
        for (id, is_new) in [(old, false), (new, true)] {
            let Some(id) = id else { continue };
            let bytes = self.read(store, &id)?;
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                let entry = TreeEntry::parse(&mut rest, id.as_bytes().len());
                let entry = entry.ok_or_else(|| GitError::damaged(&format!("tree {id}"), "an entry makes no sense"))?;
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
