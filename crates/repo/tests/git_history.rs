//! Compares the last commits with `git log`, on generated histories in every storage format. Skipped with a message without git.
#![expect(clippy::disallowed_methods, reason = "these tests build real directories")]
#![expect(clippy::print_stderr, reason = "a skipped test must say so")]
#![cfg(unix)]

mod histories;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use histories::{History, STORAGES, Storage};
use rayon::prelude::*;
use stan_repo::{GitError, GitHistory, HistoryEntry, HistoryLimits, OsSystem, git_history};
use stan_testkit::Git;

fn ours(root: &Path, limits: HistoryLimits) -> Result<GitHistory, GitError> {
    git_history(&OsSystem, root.to_str().unwrap(), limits, |_| None, |_| None)
}

/// Id, time, message and changed paths of each commit that is not a merge.
type Line = (String, i64, String, Vec<String>);

fn gits(history: &History, root: &Path) -> Vec<Line> {
    let format = "--format=%x01%H%x02%ct%x02%B%x03";
    let arguments =
        ["log", "--no-merges", "--no-renames", "--name-only", "--relative", "--ignore-submodules=all", format];
    let output = history.git_at(root, &arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let parse = |block: &str| {
        let (head, files) = block.split_once('\u{3}').unwrap();
        let mut parts = head.splitn(3, '\u{2}');
        let (id, time, message) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
        let mut files: Vec<String> = files.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
        files.sort_unstable();
        (id.to_owned(), time.parse().unwrap(), message.trim().to_owned(), files)
    };
    text.split('\u{1}').skip(1).map(parse).collect()
}

fn line(entry: &HistoryEntry) -> Option<Line> {
    let change = entry.change.as_ref()?;
    Some((entry.id.clone(), entry.time, change.message.trim().to_owned(), change.paths.clone()))
}

fn check(history: &History, root: &Path, label: &str) {
    let shallow = fs::read_to_string(history.checkout.join(".git/shallow")).unwrap_or_default();
    let expected: Vec<Line> = gits(history, root).into_iter().filter(|(id, ..)| !shallow.contains(id)).collect();
    let found = ours(root, HistoryLimits::default()).unwrap();
    assert_eq!(found.entries.iter().filter_map(line).collect::<Vec<_>>(), expected, "{label}");
    assert_eq!((found.is_shallow, found.gap.is_some()), (!shallow.is_empty(), false), "{label}");
    // Known commits are not read again, and without changes nothing is read.
    let by_id: BTreeMap<&str, &HistoryEntry> = found.entries.iter().map(|entry| (entry.id.as_str(), entry)).collect();
    let known = |id: &str| by_id.get(id).map(|entry| (*entry).clone());
    let root = root.to_str().unwrap();
    let again = git_history(&OsSystem, root, HistoryLimits::default(), known, |_| None).unwrap();
    assert_eq!(again, found, "{label}");
    let kept = git_history(
        &OsSystem,
        root,
        HistoryLimits::default(),
        |_| None,
        |head| (head == found.head).then(|| found.clone()),
    );
    assert_eq!(kept, Ok(found), "{label}");
}

#[test]
fn commits_are_those_of_git_log() {
    if !Git::is_installed() {
        eprintln!("skipped: there is no git");
        return;
    }
    STORAGES.par_iter().for_each(|&storage| {
        for seed in 0..3 {
            let history = History::generate(seed * 71 + storage as u64, storage);
            let label = format!("{storage:?} {seed}");
            check(&history, &history.checkout, &label);
            let below = history.checkout.join("src");
            if below.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
                check(&history, &below, &format!("{label} src"));
            }
        }
    });
}

#[test]
fn a_history_ends_at_the_limit_of_commits() {
    if !Git::is_installed() {
        eprintln!("skipped: there is no git");
        return;
    }
    let history = History::generate(5, Storage::Loose);
    let all = ours(&history.checkout, HistoryLimits::default()).unwrap();
    let two = ours(&history.checkout, HistoryLimits { commits: 2, ..HistoryLimits::default() }).unwrap();
    assert_eq!(two.entries, all.entries[..two.entries.len()]);
    assert_eq!(two.entries.iter().filter(|entry| entry.parents.len() < 2).count(), 2);
    let small = ours(&history.checkout, HistoryLimits { files: 1, ..HistoryLimits::default() }).unwrap();
    let sizes = small.entries.iter().filter_map(|entry| entry.change.as_ref()).map(|change| change.paths.len());
    assert!(sizes.max().unwrap_or(0) <= 1 && small.entries.len() == all.entries.len());
}

#[test]
fn missing_history_is_reported() {
    if !Git::is_installed() {
        eprintln!("skipped: there is no git");
        return;
    }
    let history = History::generate(6, Storage::Loose);
    let output = history.git_with_input(&["rev-parse", "HEAD~2^{tree}", "HEAD~3"], "");
    let ids = String::from_utf8(output).unwrap();
    let mut ids = ids.lines();
    let remove =
        |id: &str| fs::remove_file(history.checkout.join(".git/objects").join(&id[..2]).join(&id[2..])).unwrap();
    let whole = ours(&history.checkout, HistoryLimits::default()).unwrap();
    remove(ids.next().unwrap());
    let partial = ours(&history.checkout, HistoryLimits::default()).unwrap();
    assert!(partial.gap.as_ref().is_some_and(|gap| gap.contains("is missing")), "{:?}", partial.gap);
    assert_eq!(partial.entries.len(), whole.entries.len());
    remove(ids.next().unwrap());
    assert!(ours(&history.checkout, HistoryLimits::default()).unwrap().entries.len() < whole.entries.len());
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(ours(empty.path(), HistoryLimits::default()), Err(GitError::NoRepository));
    history.git_at(empty.path(), &["init", "-q"]);
    assert!(matches!(ours(empty.path(), HistoryLimits::default()), Err(GitError::UnknownRevision { .. })));
}
