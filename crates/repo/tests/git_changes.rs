//! Compares changes since a revision with the real `git` program, on generated histories and on damaged repositories. Skipped
//! with a message without git.
#![expect(clippy::disallowed_methods, reason = "these tests build real directories")]
#![expect(clippy::print_stderr, reason = "a skipped test must say so")]
#![cfg(unix)]

mod histories;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use histories::{History, STORAGES, Storage};
use rayon::prelude::*;
use stan_repo::{GitChanges, GitError, MemorySystem, OsSystem, ScanOptions, git_changes, scan};
use stan_testkit::Git;

type Paths = BTreeSet<String>;

fn split(output: &[u8]) -> Vec<String> {
    let names = output.split(|&byte| byte == 0).filter(|name| !name.is_empty());
    names.map(|name| String::from_utf8(name.to_vec()).unwrap()).collect()
}

/// git's answer for a folder of the checkout: changed files of the universe, and deleted paths. `tree` is the object that a
/// revision resolves to; without it, the index is compared with. `None` if git itself crashes, as 2.47 does for a tree with a
/// file where a sparse index has a folder.
fn gits(history: &History, root: &Path, universe: &Paths, tree: Option<&str>) -> Option<(Paths, Paths)> {
    let run = |arguments: &[&str]| {
        let output = history.git_at(root, arguments);
        output.status.code()?;
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        Some(split(&output.stdout))
    };
    let mut diff = vec!["diff", "--name-only", "--no-renames", "--relative", "--ignore-submodules=all", "-z"];
    diff.extend(tree);
    let listed = tree.map_or_else(|| run(&["ls-files", "-s", "-z"]), |tree| run(&["ls-tree", "-r", "-z", tree]))?;
    let lines = listed.iter().filter_map(|line| line.split_once('\t'));
    let modes: BTreeMap<&str, &str> = lines.map(|(head, name)| (name, &head[..2])).collect();
    let mut paths: Paths = run(&diff)?.into_iter().collect();
    // Lower-case tags mark `assume-unchanged` paths, `S` those that are not checked out.
    let tagged = run(&["ls-files", "-v", "-z"])?;
    let is_left_out = |line: &&String| line.starts_with(|tag: char| tag == 'S' || tag.is_ascii_lowercase());
    let left_out: BTreeSet<&str> = tagged.iter().filter(is_left_out).filter_map(|line| line.get(2..)).collect();
    let is_gone = |name: &&String| {
        !universe.contains(*name)
            && !left_out.contains(name.as_str())
            && is_gone(root, name, modes.get(name.as_str()).copied().unwrap_or_default())
    };
    let gone = paths.iter().filter(is_gone).cloned().collect();
    paths.extend(run(&["ls-files", "-z", "-o", "--exclude-standard"])?);
    Some((paths.intersection(universe).cloned().collect(), gone))
}

/// Whether a differing path was a file or a symlink, and is now neither a file nor the same symlink.
fn is_gone(root: &Path, name: &str, mode: &str) -> bool {
    let path = root.join(name);
    let parent = path.parent().unwrap();
    let is_behind_link = parent.canonicalize().map_or(true, |real| real != parent);
    let kind = path.symlink_metadata().ok().filter(|_| !is_behind_link);
    match mode {
        "10" => !kind.is_some_and(|kind| kind.is_file()),
        "12" => !kind.is_some_and(|kind| kind.is_file() || kind.is_symlink()),
        _ => false,
    }
}

fn ours(root: &Path, universe: &Paths, revision: Option<&str>) -> Result<(Paths, Paths), GitError> {
    let files: Vec<&str> = universe.iter().map(String::as_str).collect();
    let GitChanges { changed, added, deleted, .. } = git_changes(&OsSystem, root.to_str().unwrap(), &files, revision)?;
    assert!(deleted.is_sorted() && changed.is_sorted() && added.is_sorted());
    Ok((changed.into_iter().chain(added).map(str::to_owned).collect(), deleted.into_iter().collect()))
}

/// Spellings of revisions, most of which are valid in the history.
fn revisions(history: &mut History) -> Vec<String> {
    let names = [
        "HEAD",
        "@",
        "main",
        "topic/one",
        "heads/main",
        "refs/heads/topic/one",
        "annotated",
        "twice",
        "tags/annotated",
        "annotated^{commit}",
        "twice^{}",
        "twice~1",
        "HEAD^{tree}",
        "HEAD~1^{tree}",
        "HEAD~2",
        "HEAD^",
        "HEAD^2",
        "HEAD^^",
        "HEAD^0",
        "HEAD~1^2~1",
        "HEAD~99",
        "HEAD^9",
        "v1",
        "v2",
        "v3^{commit}",
        "origin/main",
        "origin",
        "remotes/origin/topic/one",
        "nothing",
        "refs/heads",
        "config",
        "HEAD.lock",
        "../HEAD",
        "0000000000000000000000000000000000000000",
    ];
    let mut all: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let ids = String::from_utf8(history.git(&["rev-list", "--all", "HEAD", "--max-count=6"])).unwrap();
    for id in ids.lines().take(6) {
        let length = 4 + history.below(8);
        all.extend([id.to_owned(), id[..length].to_owned(), format!("{}~1", &id[..12]), id[..7].to_uppercase()]);
        all.push(format!("v1-3-g{}", &id[..10]));
    }
    all
}

/// The trees that git resolves the spellings to, in one call. An error for a spelling that git does not resolve, and whether that
/// is because it is ambiguous.
fn meanings(history: &History, spellings: &[String]) -> Vec<Result<String, bool>> {
    let question: String = spellings.iter().map(|spelling| format!("{spelling}^{{tree}}\n")).collect();
    let answer = history.git_with_input(&["cat-file", "--batch-check"], &question);
    let answer = String::from_utf8(answer).unwrap();
    let meaning = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
        [id, "tree", _] => Ok(id.to_owned()),
        _ => Err(line.ends_with("ambiguous")),
    };
    answer.lines().map(meaning).collect()
}

fn compare(history: &mut History, about: &str) -> usize {
    let top = history.checkout.clone();
    let spellings = revisions(history);
    let meanings = meanings(history, &spellings);
    assert_eq!(spellings.len(), meanings.len());
    let mut answered = 0;
    for (root, most) in [(top.clone(), 5), (top.join("src"), 2), (top.join("src/deep"), 1)] {
        if !root.is_dir() || root.symlink_metadata().unwrap().is_symlink() {
            continue;
        }
        let universe: Paths =
            scan(&OsSystem, &root, &ScanOptions::default()).files.into_iter().map(String::from).collect();
        let index = gits(history, &root, &universe, None).unwrap();
        assert_eq!(ours(&root, &universe, None), Ok(index), "against the index in {root:?} of {about}");
        // Many spellings resolve to the same tree, for which git runs only once.
        let mut known: BTreeMap<&str, Option<(Paths, Paths)>> = BTreeMap::new();
        for (spelling, meaning) in spellings.iter().zip(&meanings) {
            let ours = ours(&root, &universe, Some(spelling));
            match meaning {
                Ok(tree) if known.len() < most || known.contains_key(tree.as_str()) => {
                    let gits = known.entry(tree).or_insert_with(|| gits(history, &root, &universe, Some(tree)));
                    let Some(gits) = gits else { continue };
                    assert_eq!(ours.as_ref(), Ok(&*gits), "(ours) == (git's) since {spelling} in {root:?} of {about}");
                    answered += 1;
                }
                Ok(_) => assert!(ours.is_ok(), "{ours:?} since {spelling} in {root:?} of {about}"),
                // Git refuses a prefix that a commit shares with another object; we take the commit.
                Err(true) => {}
                Err(false) => assert!(ours.is_err(), "{ours:?} since {spelling} in {root:?} of {about}"),
            }
        }
    }
    answered
}

#[test]
fn generated_histories_agree_with_git() {
    if !Git::is_installed() {
        eprintln!("SKIPPED: git is not installed, so nothing is compared with it");
        return;
    }
    let answered: usize = (0..112u64)
        .into_par_iter()
        .map(|seed| {
            let storage = STORAGES[seed as usize % STORAGES.len()];
            let mut history = History::generate(seed, storage);
            compare(&mut history, &format!("history {seed}, {storage:?}"))
        })
        .sum();
    assert!(answered > 2500, "only {answered} revisions were compared");
}

/// Loads a checkout and its repository into memory, where damaging them is fast.
fn in_memory(at: &Path, to: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(at).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{to}/{}", entry.file_name().to_str().unwrap());
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => in_memory(&entry.path(), &path, files),
            kind if kind.is_file() => drop(files.insert(path, fs::read(entry.path()).unwrap())),
            _ => {}
        }
    }
}

type Answer = Result<GitChanges<'static>, GitError>;

fn ask(system: &MemorySystem, revision: &str) -> Answer {
    const FILES: [&str; 4] = ["a.ts", "src/a.ts", "src/deep/c.ts", "src/b.ts"];
    git_changes(system, "/r", &FILES, Some(revision))
}

/// Changes each byte or truncates the file, one way at a time; `is_allowed` decides whether an answer other than the right one is
/// acceptable.
fn damage(system: &MemorySystem, path: &str, good: &[u8], revisions: &[&str], is_allowed: impl Fn(&Answer) -> bool) {
    let right: Vec<Answer> = revisions.iter().map(|revision| ask(system, revision)).collect();
    assert!(right.iter().all(Result::is_ok), "{right:?}");
    for at in 0..good.len() {
        let flips = [1u8, 0x80].map(|mask| {
            let mut bytes = good.to_vec();
            bytes[at] ^= mask;
            bytes
        });
        for bytes in flips.into_iter().chain([good[..at].to_vec()]) {
            system.set_file(path, bytes.clone());
            for (revision, right) in revisions.iter().zip(&right) {
                let answer = ask(system, revision);
                assert!(answer == *right || is_allowed(&answer), "{path} at {at}, {revision}: {answer:?}");
            }
        }
    }
    system.set_file(path, good.to_vec());
}

#[test]
fn damage_is_an_error_or_harmless() {
    if !Git::is_installed() {
        eprintln!("SKIPPED: git is not installed, so there is nothing to damage");
        return;
    }
    for (storage, seed) in [
        (Storage::DeepDeltas, 3),
        (Storage::NamedBases, 5),
        (Storage::OldIndex, 6),
        (Storage::LargeOffsets, 7),
        (Storage::Loose, 8),
    ] {
        let history = History::generate(seed, storage);
        let mut files = BTreeMap::new();
        in_memory(&history.checkout, "/r", &mut files);
        let system = MemorySystem::new();
        for (path, bytes) in &files {
            system.set_file(path, bytes.clone());
        }
        system.set_dir("/r/.git/refs").set_dir("/r/.git/objects");
        let names = ["HEAD~2", "annotated"];
        let ids: Vec<String> = names
            .iter()
            .map(|name| String::from_utf8(history.git(&["rev-parse", name])).unwrap().trim().to_owned())
            .collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        for (path, bytes) in files.iter().filter(|(path, _)| path.starts_with("/r/.git/objects/")) {
            // Objects are identified by their hash, so a damaged one is never accepted.
            damage(&system, path, bytes, &ids, Result::is_err);
        }
        let small = ["index", "HEAD", "packed-refs", "config", "refs/heads/main"];
        for path in small.map(|name| format!("/r/.git/{name}")) {
            // A damaged name may be another valid name, and a damaged option another option: any answer is fine, but no crash.
            let is_index = path.ends_with("index");
            files
                .get(&path)
                .inspect(|bytes| damage(&system, &path, bytes, &names, |answer| !is_index || answer.is_err()));
        }
    }
}
