//! The last commits as the ranking takes them: files by number, messages by their words, and what could not be read.

use std::cell::OnceCell;

use rustc_hash::FxHashMap;
use stan_rank::{Change, FileClass, RankedFile, file_class, message_words};
use stan_repo::{GitError, GitHistory, HistoryEntry, HistoryLimits, System, git_history};

use crate::cache::{Cache, StoredPast};

/// The history of some files.
#[derive(Debug, Default)]
pub(super) struct Past {
    /// The newest first.
    pub(super) changes: Vec<Change>,
    /// The id of each.
    pub(super) commits: Vec<String>,
    /// What is missing, one sentence each.
    pub(super) unavailable: Vec<String>,
}

/// Reads the history around the root, as far as the last run did not; `files` are sorted by path.
pub(super) fn read(system: &dyn System, root: &str, files: &[RankedFile], cache: Option<&Cache<'_>>) -> Past {
    let key = StoredPast::key_of(files.iter().map(|file| &*file.path));
    let past = cache.and_then(Cache::load_past).filter(|past| past.files == key);
    // Only a history that grew has to be known commit by commit.
    let loaded: OnceCell<Stored> = OnceCell::new();
    let stored = || loaded.get_or_init(|| Stored::load(cache));
    let mut is_same = false;
    let unchanged = |head: &str| {
        is_same = past.as_ref().is_some_and(|past| past.head == head);
        if is_same {
            Some(GitHistory::default())
        } else {
            stored().history.clone().filter(|history| history.head == head)
        }
    };
    let known = |id: &str| stored().entry(id).cloned();
    let history = match git_history(system, root, HistoryLimits::default(), known, unchanged) {
        Ok(history) => history,
        Err(error) => return Past { unavailable: vec![missing(&error)], ..Past::default() },
    };
    if let Some(past) = past.filter(|_| is_same) {
        return Past { changes: past.changes, commits: past.commits, unavailable: Vec::new() };
    }
    let past = past_of(&history, files);
    if let Some(cache) = cache {
        if stored().history.as_ref() != Some(&history) {
            cache.store_history(&history);
        }
        if past.unavailable.is_empty() {
            cache.store_past(&history.head, key, &past.changes, &past.commits);
        }
    }
    past
}

/// The history that the last run left, by commit.
#[derive(Default)]
struct Stored {
    history: Option<GitHistory>,
    places: FxHashMap<String, usize>,
}

impl Stored {
    fn load(cache: Option<&Cache<'_>>) -> Self {
        let history = cache.and_then(Cache::load_history);
        let entries = history.iter().flat_map(|history| &history.entries);
        let places = entries.enumerate().map(|(at, entry)| (entry.id.clone(), at)).collect();
        Self { history, places }
    }

    fn entry(&self, id: &str) -> Option<&HistoryEntry> {
        self.history.as_ref()?.entries.get(*self.places.get(id)?)
    }
}

fn missing(error: &GitError) -> String {
    match error {
        GitError::NoRepository => "history: there is no git repository".to_owned(),
        GitError::UnknownRevision { .. } => "history: there is no commit yet".to_owned(),
        error => format!("history: {error}"),
    }
}

fn past_of(history: &GitHistory, files: &[RankedFile]) -> Past {
    let mut past = Past::default();
    let now = history.entries.iter().map(|entry| entry.time).max().unwrap_or_default();
    for entry in &history.entries {
        let Some(change) = &entry.change else { continue };
        let sources = change.paths.iter().filter(|path| file_class(path) != FileClass::Other).count();
        let number = |path: &String| {
            let found = files.binary_search_by(|file| (*file.path).cmp(path)).ok()?;
            u32::try_from(found).ok()
        };
        let mut numbers: Vec<u32> = change.paths.iter().filter_map(number).collect();
        if numbers.is_empty() {
            continue;
        }
        numbers.sort_unstable();
        numbers.dedup();
        let (message, message_length) = message_words(&change.message);
        past.changes.push(Change {
            // Commit dates are untrusted: one far in the past or in the future is useless, but harmless.
            age: u64::try_from(now.saturating_sub(entry.time)).unwrap_or_default(),
            files: numbers,
            size: u32::try_from(sources.max(1)).unwrap_or(u32::MAX),
            message,
            message_length,
        });
        past.commits.push(entry.id.clone());
    }
    if past.changes.is_empty() {
        past.unavailable.push("history: no commit changed a file that is here".to_owned());
    }
    if history.is_shallow {
        let count = past.changes.len();
        past.unavailable.push(format!("history: the clone is shallow; {count} commits were used"));
    }
    if let Some(gap) = &history.gap {
        past.unavailable.push(format!("history: some commits could not be read: {gap}"));
    }
    past
}
