//! The last commits before `HEAD`: which files each changed, when, and its message. Read without running git.
//!
//! Commits are in the order of `git log`. Merges and commits of too many files have no changes here. Already parsed commits can
//! be passed in, so that only new commits cost time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use serde::{Deserialize, Serialize};

use crate::git::objects::{
    Commit, GitError, GitLayout, ObjectId, ObjectKind, ObjectStore, References, TreeChanges, TreeDiff, resolve,
    shallow_commits,
};
use crate::system::System;

/// Longer messages are truncated.
const MAX_MESSAGE_BYTES: usize = 4 << 10;
/// Stop after this many unreadable commits: a partial clone has no trees of old commits.
const MAX_UNREADABLE: usize = 20;
/// The maximum bytes of trees read for one history.
const MAX_TREE_BYTES: u64 = 1 << 30;

/// The limits of a history.
#[derive(Clone, Copy, Debug)]
pub struct HistoryLimits {
    /// The maximum number of commits that are not merges.
    pub commits: usize,
    /// Commits that change more files have no changes.
    pub files: usize,
}

impl Default for HistoryLimits {
    fn default() -> Self {
        Self { commits: 2000, files: 200 }
    }
}

/// The last commits, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitHistory {
    /// The id of the commit at `HEAD`.
    pub head: String,
    /// Includes merges.
    pub entries: Vec<HistoryEntry>,
    /// The history ends early because the clone is shallow.
    pub is_shallow: bool,
    /// Why some commits, or the commits before them, could not be read.
    pub gap: Option<String>,
}

/// One commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryEntry {
    pub id: String,
    pub parents: Vec<String>,
    /// The committer's time, in seconds since the epoch.
    pub time: i64,
    /// `None` for merges, commits of too many files, and unreadable ones.
    pub change: Option<CommitChange>,
}

/// The changes of a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitChange {
    /// Relative to the given root, sorted by bytes; a rename is two paths.
    pub paths: Vec<String>,
    pub message: String,
}

/// Reads the history of the repository around the root. `known` has already parsed commits, for the same root and the same
/// limits.
pub fn git_history(
    system: &dyn System,
    root: &str,
    limits: HistoryLimits,
    known: impl Fn(&str) -> Option<HistoryEntry>,
    unchanged: impl Fn(&str) -> Option<GitHistory>,
) -> Result<GitHistory, GitError> {
    let place = GitLayout::find(system, root)?;
    // If `HEAD` is unchanged since `known` was read, no object is read.
    let named = References::new(&place).find("HEAD").ok().flatten();
    if let Some(history) = named.and_then(|id| unchanged(&id.to_string())) {
        return Ok(history);
    }
    let mut store = ObjectStore::open(&place)?;
    let head = resolve(&place, &mut store, "HEAD")?.commit;
    let head = head.ok_or_else(|| GitError::UnknownRevision { name: "HEAD".to_owned() })?;
    if named != Some(head)
        && let Some(history) = unchanged(&head.to_string())
    {
        return Ok(history);
    }
    let shallow = shallow_commits(&place)?.into_iter().collect();
    let diff = TreeDiff::new(MAX_TREE_BYTES);
    let mut reader =
        HistoryReader { place: &place, store, limits, known: &known, shallow, diff, parents: BTreeMap::new() };
    Ok(reader.history(head))
}

struct HistoryReader<'r, 's, K> {
    place: &'r GitLayout<'s>,
    store: ObjectStore<'r, 's>,
    limits: HistoryLimits,
    known: &'r K,
    shallow: BTreeSet<ObjectId>,
    diff: TreeDiff,
    /// Parents whose trees were read for their children, before they are visited themselves.
    parents: BTreeMap<ObjectId, (Commit, String)>,
}

/// The queue of pending commits, by time and index: the newest first; on a tie, the one seen first.
type Pending = BinaryHeap<(i64, Reverse<usize>)>;

impl<K: Fn(&str) -> Option<HistoryEntry>> HistoryReader<'_, '_, K> {
    fn history(&mut self, head: ObjectId) -> GitHistory {
        let mut history = GitHistory { head: head.to_string(), ..GitHistory::default() };
        let mut unreadable = 0;
        let mut seen: BTreeSet<ObjectId> = BTreeSet::from([head]);
        let mut pending = Pending::new();
        let mut commits: Vec<Option<(ObjectId, Read)>> = Vec::new();
        let mut count = 0;
        let mut next = vec![head];
        loop {
            for id in next.drain(..) {
                match self.commit(&id) {
                    Ok(read) => {
                        pending.push((read.time(), Reverse(commits.len())));
                        commits.push(Some((id, read)));
                    }
                    Err(error) => history.gap = history.gap.take().or(Some(error.to_string())),
                }
            }
            let Some((_, Reverse(index))) = pending.pop() else { break };
            let Some((id, read)) = commits.get_mut(index).and_then(Option::take) else { continue };
            let is_cut = self.shallow.contains(&id);
            history.is_shallow |= is_cut;
            let (entry, error) = self.entry(&id, read, is_cut);
            unreadable += usize::from(error.is_some());
            history.gap = history.gap.take().or_else(|| error.map(|error| error.to_string()));
            let hash = self.place.format.hash;
            let parents = entry.parents.iter().filter_map(|parent| ObjectId::from_hex(parent.as_bytes(), hash));
            next.extend(parents.filter(|parent| seen.insert(*parent)));
            count += usize::from(entry.parents.len() < 2);
            history.entries.push(entry);
            // Merges do not count towards the limit, but a history of only merges must end too.
            let is_enough = count >= self.limits.commits || history.entries.len() >= self.limits.commits * 4;
            if is_enough || unreadable > MAX_UNREADABLE {
                break;
            }
        }
        history
    }

    fn commit(&mut self, id: &ObjectId) -> Result<Read, GitError> {
        if let Some(entry) = (self.known)(&id.to_string()) {
            return Ok(Read::Known(entry));
        }
        let (commit, message) = match self.parents.remove(id) {
            Some(read) => read,
            None => self.parsed(id)?,
        };
        Ok(Read::New(commit, message))
    }

    fn parsed(&mut self, id: &ObjectId) -> Result<(Commit, String), GitError> {
        let bytes = self.store.read_as(id, ObjectKind::Commit)?;
        let commit = Commit::parse(id, &bytes, self.place.format.hash)?;
        let message = commit.message(&bytes);
        let message = String::from_utf8_lossy(message.get(..MAX_MESSAGE_BYTES).unwrap_or(message)).into_owned();
        Ok((commit, message))
    }

    /// The tree of a commit that was visited already or will be.
    fn tree_of(&mut self, id: &ObjectId) -> Result<ObjectId, GitError> {
        if let Some((commit, _)) = self.parents.get(id) {
            return Ok(commit.tree);
        }
        let read = self.parsed(id)?;
        let tree = read.0.tree;
        if self.parents.len() < self.limits.commits {
            self.parents.insert(*id, read);
        }
        Ok(tree)
    }

    /// The entry of a commit. If its trees cannot be read, an entry without a change, and why.
    fn entry(&mut self, id: &ObjectId, read: Read, is_cut: bool) -> (HistoryEntry, Option<GitError>) {
        let (commit, message) = match read {
            Read::Known(entry) => return (entry, None),
            Read::New(commit, message) => (commit, message),
        };
        // The first commit of a shallow clone lacks its parent, so its changes are unknown.
        let parents = if is_cut { &[][..] } else { &commit.parents };
        let mut entry = HistoryEntry {
            id: id.to_string(),
            parents: parents.iter().map(ToString::to_string).collect(),
            time: commit.time,
            change: None,
        };
        if is_cut || parents.len() > 1 {
            return (entry, None);
        }
        match self.changes(parents.first(), commit.tree) {
            Ok(paths) => {
                entry.change = paths.map(|paths| CommitChange { paths, message });
                (entry, None)
            }
            Err(error) => (entry, Some(error)),
        }
    }

    /// The paths that a commit changed; `None` if there are too many.
    fn changes(&mut self, parent: Option<&ObjectId>, tree: ObjectId) -> Result<Option<Vec<String>>, GitError> {
        let before = match parent {
            None => None,
            Some(parent) => Some(self.tree_of(parent)?),
        };
        let prefix = self.place.prefix.as_bytes();
        match self.diff.compare(&mut self.store, (before, tree), prefix, self.limits.files)? {
            TreeChanges::TooMany => Ok(None),
            // The universe has no file whose name is not UTF-8.
            TreeChanges::Paths(paths) => {
                Ok(Some(paths.into_iter().filter_map(|path| String::from_utf8(path).ok()).collect()))
            }
        }
    }
}

enum Read {
    Known(HistoryEntry),
    New(Commit, String),
}

impl Read {
    fn time(&self) -> i64 {
        match self {
            Self::Known(entry) => entry.time,
            Self::New(commit, _) => commit.time,
        }
    }
}
