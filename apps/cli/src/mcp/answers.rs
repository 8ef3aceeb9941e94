//! Recent answers by digest: a client that sends the digest of an answer it has gets only the difference. Answers are kept in
//! memory and, if the repository has a cache, in a folder of it, so that a new server finds them too. Both are bounded. For an
//! unknown digest, the full answer is sent.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use stan_engine::{
    EntryKind, OsSystem, System as _, SystemExt as _, WritableSystem as _, content_digest, unified_patch,
};

/// The maximum number of remembered answers, and of their bytes.
const MAX_ANSWERS: usize = 256;
const MAX_BYTES: usize = 16 << 20;

/// Longer answers are not stored in the cache.
const MAX_STORED_BYTES: usize = 1 << 20;

/// The folder is swept after this many new answers.
const SWEEP_EVERY: usize = 64;

/// Diffs of longer texts take too long to compute.
const MAX_LINES: usize = 4_000;

/// The length of an answer's name, in hex digits of its SHA-256.
const DIGITS: usize = 16;

/// The most recent answers.
#[derive(Default)]
pub(crate) struct AnswerCache {
    texts: BTreeMap<String, String>,
    order: VecDeque<String>,
    bytes: usize,
    /// The root, and the cache folder below it; `None` if answers are not stored on disk.
    cache: Option<(PathBuf, PathBuf)>,
    stored: usize,
}

/// The message that is sent for an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) text: String,
    pub(crate) digest: String,
    pub(crate) form: Form,
}

/// How much of an answer is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Full,
    /// Only the difference from the answer that the client has.
    Changes,
    Unchanged,
}

impl Form {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Changes => "changes",
            Self::Unchanged => "unchanged",
        }
    }
}

impl AnswerCache {
    /// Answers that are also stored in the repository's cache, if it has one.
    pub(crate) fn of(root: &str, stan_path: &str) -> Self {
        let root = PathBuf::from(root);
        let cache = root.join(stan_path).join("cache");
        Self { cache: Some((root, cache)), ..Self::default() }
    }

    fn folder(&self) -> Option<PathBuf> {
        let (root, cache) = self.cache.as_ref()?;
        // Never read or write through a symlink: a hostile repository could point it anywhere.
        let mut path = root.clone();
        for name in cache.strip_prefix(root).ok()?.components() {
            path.push(name);
            OsSystem.lstat(&path).ok().filter(|stat| stat.kind == EntryKind::Dir)?;
        }
        Some(path.join("answers"))
    }

    /// Remembers an answer and returns what a client that has `since` needs.
    pub(crate) fn send(&mut self, text: String, since: Option<&str>) -> Sent {
        let digest = digest_of(&text);
        let (sent, form) = match since {
            None => (text.clone(), Form::Full),
            Some(since) if since == digest => ("unchanged\n".to_owned(), Form::Unchanged),
            Some(since) => match self.find(since) {
                None if is_digest(since) => {
                    (format!("the digest {since} is not known any more; the full answer:\n{text}"), Form::Full)
                }
                // Do not echo `since`: it can be anything, of any length.
                None => (format!("`since` is not the digest of an answer; the full answer:\n{text}"), Form::Full),
                Some(old) => {
                    let changes = changes(&old, &text);
                    if changes.len() < text.len() { (changes, Form::Changes) } else { (text.clone(), Form::Full) }
                }
            },
        };
        self.remember(&digest, text);
        Sent { text: sent, digest, form }
    }

    fn remember(&mut self, digest: &str, text: String) {
        if self.texts.contains_key(digest) {
            return;
        }
        self.store(digest, &text);
        self.bytes += text.len();
        self.texts.insert(digest.to_owned(), text);
        self.order.push_back(digest.to_owned());
        while self.order.len() > MAX_ANSWERS || self.bytes > MAX_BYTES {
            let Some(oldest) = self.order.pop_front() else { break };
            self.bytes -= self.texts.remove(&oldest).map_or(0, |text| text.len());
        }
    }

    /// The text with this digest, from memory or from the cache.
    fn find(&self, digest: &str) -> Option<String> {
        if let Some(known) = self.texts.get(digest) {
            return Some(known.clone());
        }
        let path = self.folder().filter(|_| is_digest(digest))?.join(digest);
        let mut bytes = Vec::new();
        OsSystem.read_real(&path, MAX_STORED_BYTES as u64, &mut bytes).ok()?;
        // A cache file may contain anything, so check its digest.
        String::from_utf8(bytes).ok().filter(|text| digest_of(text) == digest)
    }

    /// Best effort: if it fails, a later answer is sent in full.
    fn store(&mut self, digest: &str, text: &str) {
        let Some(folder) = self.folder().filter(|_| text.len() <= MAX_STORED_BYTES) else { return };
        if OsSystem.lstat(&folder).is_err() && OsSystem.create_private_dir_all(&folder).is_err() {
            return;
        }
        // lstat, because a symlink must not redirect the write.
        let is_folder = OsSystem.lstat(&folder).is_ok_and(|stat| stat.kind == EntryKind::Dir);
        if !is_folder || OsSystem.write_atomic(&folder.join(digest), text.as_bytes()).is_err() {
            return;
        }
        if self.stored.is_multiple_of(SWEEP_EVERY) {
            sweep(&folder);
        }
        self.stored += 1;
    }
}

/// Removes the oldest answers above the limit.
fn sweep(folder: &Path) {
    let entries = OsSystem.read_real_dir(folder).unwrap_or_default();
    let mut files: Vec<(i64, u64, PathBuf)> = entries
        .into_iter()
        .filter_map(|entry| {
            let path = folder.join(&entry.name);
            let stat = OsSystem.lstat(&path).ok()?;
            Some((stat.mtime, stat.size, path))
        })
        .collect();
    files.sort_by(|left, right| right.cmp(left));
    let mut bytes = 0;
    for (index, (_, size, path)) in files.iter().enumerate() {
        bytes += size;
        if index >= MAX_ANSWERS || bytes > MAX_BYTES as u64 {
            let _ = OsSystem.remove_file(path);
        }
    }
}

fn is_digest(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn digest_of(text: &str) -> String {
    content_digest(text.as_bytes()).chars().take(DIGITS).collect()
}

/// A unified diff; for long texts, only the removed and the added lines.
fn changes(old: &str, new: &str) -> String {
    if old.lines().count() + new.lines().count() > MAX_LINES {
        return changed_lines(old, new);
    }
    unified_patch(old, new)
}

/// Removed lines with `-`, added lines with `+`, each in order. Not a patch: lines that only moved are not shown. Takes linear
/// time.
fn changed_lines(old: &str, new: &str) -> String {
    let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
    new.lines().for_each(|line| *counts.entry(line).or_default() += 1);
    let mut text = String::new();
    for line in old.lines() {
        let count = counts.entry(line).or_default();
        *count -= 1;
        if *count < 0 {
            text.extend(["-", line, "\n"]);
        }
    }
    // The remaining lines are new. From the end, so that of equal lines the last ones count as new.
    let mut added: Vec<&str> = Vec::new();
    for line in new.lines().rev() {
        if let Some(count) = counts.get_mut(line).filter(|count| **count > 0) {
            *count -= 1;
            added.push(line);
        }
    }
    added.iter().rev().for_each(|line| text.extend(["+", line, "\n"]));
    if text.is_empty() { "only the order of lines changed\n".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_names_a_digest_gets_what_changed() {
        let mut answers = AnswerCache::default();
        let old: String = (0..50).map(|number| format!("line {number}\n")).collect();
        let first = answers.send(old.clone(), None);
        assert_eq!((first.text, first.form), (old.clone(), Form::Full));
        assert_eq!(answers.send(old.clone(), Some(&first.digest)).form, Form::Unchanged);
        let new = old.replace("line 7\n", "line seven\n").replace("line 9\n", "");
        let sent = answers.send(new, Some(&first.digest));
        let expected = "@@ -5,9 +5,8 @@\n line 4\n line 5\n line 6\n-line 7\n+line seven\n line 8\n-line 9\n line 10\n line 11\n line 12\n";
        assert_eq!((sent.text.as_str(), sent.form), (expected, Form::Changes));
        let unknown = answers.send(old.clone(), Some("0123456789abcdef")).text;
        assert!(unknown.starts_with("the digest 0123456789abcdef is not known any more"), "{unknown}");
        let long = answers.send(old, Some(&"0\n".repeat(1 << 20))).text;
        assert!(long.starts_with("`since` is not the digest of an answer") && long.len() < 10_000, "{}", long.len());
    }

    #[test]
    fn a_change_that_is_longer_than_the_answer_is_the_answer() {
        let mut answers = AnswerCache::default();
        let first = answers.send("a\nb\n".to_owned(), None);
        let sent = answers.send("c\n".to_owned(), Some(&first.digest));
        assert_eq!((sent.text.as_str(), sent.form), ("c\n", Form::Full));
    }

    #[test]
    fn equal_lines_are_counted() {
        assert_eq!(changed_lines("x\n", "x\nx\n"), "+x\n");
        assert_eq!(changed_lines("x\nx\ny\n", "y\nx\n"), "-x\n");
        assert_eq!(changed_lines("a\nb\n", "b\na\n"), "only the order of lines changed\n");
    }

    #[test]
    fn kept_answers_are_bounded_in_bytes_and_number() {
        let mut answers = AnswerCache::default();
        for number in 0..2_000 {
            answers.send(format!("{number} {}", "x".repeat(100_000)), None);
        }
        assert!(answers.bytes <= MAX_BYTES && answers.order.len() <= MAX_ANSWERS);
        assert_eq!(answers.texts.len(), answers.order.len());
    }
}
