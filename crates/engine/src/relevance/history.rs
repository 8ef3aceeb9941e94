//! The last commits in the form that the ranking needs: files by number, messages by their words, and errors.

use std::cell::{Cell, OnceCell};
use std::sync::OnceLock;

use rustc_hash::FxHashMap;
use stan_rank::{Change, FileClass, History, Layout, Messages, file_class, message_words};
use stan_repo::{GitError, GitHistory, HistoryEntry, HistoryLimits, System, git_history};

use crate::cache::{Cache, CommitTexts, StoredLayout, StoredPast, StoredTexts};

/// The history of the ranked files.
#[derive(Debug, Default)]
pub(super) struct Past {
    pub(super) history: History,
    pub(super) texts: PastTexts,
    /// The parts that could not be read, one sentence each.
    pub(super) unavailable: Vec<String>,
}

/// The messages and ids of the commits of a history.
#[derive(Debug, Default)]
pub(super) struct PastTexts {
    stored: Option<StoredTexts>,
    read: OnceLock<CommitTexts>,
}

impl PastTexts {
    fn new(texts: CommitTexts) -> Self {
        Self { stored: None, read: texts.into() }
    }

    /// The texts of the first `commits` commits. `again` reads the history if the stored texts are unreadable.
    pub(super) fn get(&self, commits: usize, again: impl FnOnce() -> Past) -> &CommitTexts {
        self.read.get_or_init(|| {
            let is_whole = |texts: &CommitTexts| texts.is_of(commits);
            let stored = self.stored.as_ref().and_then(StoredTexts::read).filter(is_whole);
            stored.unwrap_or_else(|| again().texts.read.into_inner().filter(is_whole).unwrap_or_default())
        })
    }

    /// The id of a commit, if a query loaded the ids.
    pub(super) fn id(&self, commit: usize) -> Option<&str> {
        self.read.get()?.ids.get(commit).map(String::as_str)
    }
}

/// Reads the history of the repository, reusing what the last run stored.
pub(super) fn read(system: &dyn System, root: &str, files: &StoredLayout, cache: Option<&Cache<'_>>) -> Past {
    let past = cache.and_then(|cache| cache.load_past(&files.key, files.layout.len()));
    // The stored history is decoded commit by commit only if new commits must be added to it.
    let loaded: OnceCell<Stored> = OnceCell::new();
    let stored = || loaded.get_or_init(|| Stored::load(cache));
    let is_same = Cell::new(false);
    let unchanged = |head: &str| {
        is_same.set(past.as_ref().is_some_and(|past| past.head == head));
        if is_same.get() {
            Some(GitHistory::default())
        } else {
            stored().history.clone().filter(|history| history.head == head)
        }
    };
    let known = |id: &str| stored().entry(id).cloned();
    let history = match git_history(system, root, HistoryLimits::default(), known, unchanged) {
        Ok(history) => history,
        Err(error) => return Past { unavailable: vec![missing(&error)], ..Past::none(&files.layout) },
    };
    if let Some(StoredPast { history, texts, .. }) = past.filter(|_| is_same.get()) {
        let texts = PastTexts { stored: Some(texts), read: OnceLock::new() };
        return Past { history, texts, unavailable: Vec::new() };
    }
    let (past, texts) = past_of(&history, &files.layout);
    if let Some(cache) = cache {
        if stored().history.as_ref() != Some(&history) {
            cache.store_history(&history);
        }
        if past.unavailable.is_empty() {
            cache.store_past(&files.key, &history.head, &past.history, &texts);
        }
    }
    Past { texts: PastTexts::new(texts), ..past }
}

/// The stored history of the last run, by commit.
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

impl Past {
    fn none(files: &Layout) -> Self {
        Self { history: History::new(&[], files.len()), ..Self::default() }
    }
}

fn past_of(history: &GitHistory, files: &Layout) -> (Past, CommitTexts) {
    let (mut past, mut texts) = (Past::default(), CommitTexts::default());
    let mut changes = Vec::new();
    let now = history.entries.iter().map(|entry| entry.time).max().unwrap_or_default();
    for entry in &history.entries {
        let Some(change) = &entry.change else { continue };
        let sources = change.paths.iter().filter(|path| file_class(path) != FileClass::Other).count();
        let mut numbers: Vec<u32> = change.paths.iter().filter_map(|path| files.find(path)).collect();
        if numbers.is_empty() {
            continue;
        }
        numbers.sort_unstable();
        numbers.dedup();
        let (message, message_length) = message_words(&change.message);
        changes.push(Change {
            // Commit dates are untrusted: one far in the past or in the future is useless, but harmless.
            age: u64::try_from(now.saturating_sub(entry.time)).unwrap_or_default(),
            files: numbers,
            size: u32::try_from(sources.max(1)).unwrap_or(u32::MAX),
            message,
            message_length,
        });
        texts.ids.push(entry.id.clone());
    }
    past.history = History::new(&changes, files.len());
    texts.messages = Messages::new(&changes);
    if changes.is_empty() {
        past.unavailable.push("history: no commit changed a file that is here".to_owned());
    }
    if history.is_shallow {
        let count = changes.len();
        past.unavailable.push(format!("history: the clone is shallow; {count} commits were used"));
    }
    if let Some(gap) = &history.gap {
        past.unavailable.push(format!("history: some commits could not be read: {gap}"));
    }
    (past, texts)
}
