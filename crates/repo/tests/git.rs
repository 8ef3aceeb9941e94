//! Compares the scan with the real `git` program: tables of patterns and generated trees. Skipped with a message without git.
#![expect(clippy::disallowed_methods, reason = "these tests build real directories")]
#![expect(clippy::print_stderr, reason = "a skipped test must say so")]
#![cfg(unix)]

mod trees;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use stan_repo::{MemorySystem, OsSystem, ScanOptions, scan};
use stan_testkit::{Git, Random};
use tempfile::TempDir;
use trees::Tree;

const NO_ID: &str = "1111111111111111111111111111111111111111";

/// A directory with an isolated home, in which git can run.
struct Sandbox {
    directory: TempDir,
    repository: PathBuf,
}

impl Sandbox {
    fn new() -> Option<Self> {
        if !Git::is_installed() {
            eprintln!("SKIPPED: git is not installed, so nothing is compared with it");
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        // Canonical, because the system's temporary directory may be behind a symlink.
        let repository = directory.path().canonicalize().unwrap().join("r");
        fs::create_dir(&repository).unwrap();
        Some(Self { directory, repository })
    }

    fn git(&self, at: &Path, arguments: &[&str]) -> Vec<u8> {
        Git::new(self.directory.path()).run(at, arguments)
    }

    fn git_with_input(&self, at: &Path, arguments: &[&str], input: &Path) -> Vec<u8> {
        let output = Git::new(self.directory.path())
            .command(at)
            .args(arguments)
            .stdin(fs::File::open(input).unwrap())
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {error}");
        output.stdout
    }

    /// The files that git lists below `root`, restricted to what the specification counts as files of the universe.
    fn git_files(&self, root: &Path) -> Vec<String> {
        let output = self.git(root, &["ls-files", "-z", "-co", "--exclude-standard"]);
        let mut files: Vec<String> = output
            .split(|&byte| byte == 0)
            .filter_map(|name| std::str::from_utf8(name).ok())
            .filter(|name| !name.is_empty() && !name.ends_with('/'))
            .filter_map(|name| in_universe(root, name))
            .filter(|name| !name.split('/').any(|part| part == ".git" || part == "node_modules"))
            .collect();
        files.sort();
        files.dedup();
        files
    }
}

/// The path in the universe of a path listed by git, if it is a regular file or resolves to one inside the root.
fn in_universe(root: &Path, name: &str) -> Option<String> {
    let path = root.join(name);
    let parent = path.parent()?;
    if parent.canonicalize().ok()? != parent {
        return None;
    }
    let real = path.canonicalize().ok()?;
    if !real.metadata().ok()?.is_file() {
        return None;
    }
    Some(real.strip_prefix(root).ok()?.to_str()?.to_owned())
}

fn scanned(root: &Path) -> Vec<String> {
    let universe = scan(&OsSystem, root, &ScanOptions::default());
    assert!(universe.files.is_sorted() && universe.directories.is_sorted_by(|a, b| a.path < b.path));
    universe.files.into_iter().map(String::from).collect()
}

#[track_caller]
fn compare(sandbox: &Sandbox, root: &Path, about: &dyn std::fmt::Debug) {
    let (ours, gits) = (scanned(root), sandbox.git_files(root));
    let only = |these: &[String], those: &[String]| -> Vec<String> {
        these.iter().filter(|name| !those.contains(name)).cloned().collect()
    };
    assert_eq!(
        (only(&ours, &gits), only(&gits, &ours)),
        (vec![], vec![]),
        "(only ours, only git's) in {root:?} of {about:#?}"
    );
}

/// Puts each ignore file into its own directory, so that git runs once for all of them, and checks every path in each. Only the
/// ignore files are on disk: git also answers for paths that do not exist, and we scan in memory.
fn check_patterns(patterns: &[Vec<u8>], paths: &[String]) {
    let Some(sandbox) = Sandbox::new() else { return };
    sandbox.git(&sandbox.repository, &["init", "-q"]);
    let memory = MemorySystem::new();
    let mut question = Vec::new();
    for (index, pattern) in patterns.iter().enumerate() {
        let directory = format!("{index}");
        fs::create_dir(sandbox.repository.join(&directory)).unwrap();
        fs::write(sandbox.repository.join(&directory).join(".gitignore"), pattern).unwrap();
        memory.set_file(format!("/{directory}/.gitignore"), pattern.as_slice());
        for path in paths {
            memory.set_file(format!("/{directory}/{path}"), "");
            question.extend(format!("{directory}/{path}\0").into_bytes());
        }
    }
    let question_file = sandbox.directory.path().join("question");
    fs::write(&question_file, question).unwrap();
    let answer =
        sandbox.git_with_input(&sandbox.repository, &["check-ignore", "--no-index", "-z", "--stdin"], &question_file);
    let ignored: BTreeSet<&[u8]> = answer.split(|&byte| byte == 0).collect();
    let universe = scan(&memory, Path::new("/"), &ScanOptions::default());
    for (index, pattern) in patterns.iter().enumerate() {
        for path in paths {
            let full = format!("{index}/{path}");
            let (ours, gits) = (!universe.contains(&full), ignored.contains(full.as_bytes()));
            assert_eq!(ours, gits, "whether {:?} ignores {path:?}", String::from_utf8_lossy(pattern));
        }
    }
}

#[test]
fn every_pattern_matches_as_in_git() {
    let patterns = trees::pattern_table();
    assert!(patterns.len() >= 80);
    check_patterns(&patterns, &trees::many_paths());
}

#[test]
fn random_patterns_match_as_in_git() {
    let mut random = Random::new(7);
    let patterns: Vec<Vec<u8>> = (0..600).map(|_| trees::random_pattern(&mut random).into_bytes()).collect();
    check_patterns(&patterns, &trees::few_paths());
}

#[test]
fn generated_trees_agree_with_git() {
    let Some(sandbox) = Sandbox::new() else { return };
    (0..220u64).into_par_iter().for_each(|seed| {
        let tree = Tree::random(seed);
        let top = sandbox.repository.join(seed.to_string());
        fs::create_dir(&top).unwrap();
        build(&sandbox, &top, &tree);
        compare(&sandbox, &top, &tree);
        if let Some(subfolder) = tree.subfolder.as_ref().map(|name| top.join(name)).filter(|path| path.is_dir()) {
            compare(&sandbox, &subfolder, &tree);
        }
        if tree.worktree {
            let worktree = sandbox.repository.join(format!("{seed}w"));
            build_worktree(&sandbox, &top, &worktree, &tree);
            compare(&sandbox, &worktree, &tree);
        }
    });
}

fn build(sandbox: &Sandbox, top: &Path, tree: &Tree) {
    // The files of `git init`, without the time to run it.
    let extension = if tree.sha256 { "[extensions]\n\tobjectFormat = sha256\n" } else { "" };
    let version = u8::from(tree.sha256);
    fs::create_dir_all(top.join(".git/objects")).unwrap();
    fs::create_dir_all(top.join(".git/refs")).unwrap();
    fs::write(top.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(top.join(".git/config"), format!("[core]\n\trepositoryFormatVersion = {version}\n{extension}")).unwrap();
    fs::create_dir_all(top.join(".git/info")).unwrap();
    fs::write(top.join(".git/info/exclude"), &tree.info_exclude).unwrap();
    write_files(top, tree);
    let mut updates: Vec<String> = tree.tracked.iter().map(|path| format!("100644,{},{path}", id(tree))).collect();
    updates.extend(tree.gitlinks.iter().map(|path| format!("160000,{},{path}", id(tree))));
    let mut arguments = vec!["update-index", "--add", "--replace"];
    arguments.extend(tree.index_options.iter().copied());
    for update in &updates {
        arguments.extend(["--cacheinfo", update]);
    }
    sandbox.git(top, &arguments);
    if let Some(later) = &tree.tracked_later {
        // With a split index, this entry is stored in the part that is not shared.
        sandbox
            .git(top, &["update-index", "--add", "--replace", "--cacheinfo", &format!("100644,{},{later}", id(tree))]);
    }
}

fn id(tree: &Tree) -> String {
    if tree.sha256 { "1".repeat(64) } else { NO_ID.to_owned() }
}

fn write_files(top: &Path, tree: &Tree) {
    for (path, contents) in &tree.files {
        let path = top.join(path);
        // If a file and a directory have the same path, the first one stays.
        if fs::create_dir_all(path.parent().unwrap()).is_ok() && !path.is_dir() {
            fs::write(path, contents).unwrap();
        }
    }
    for (path, target) in &tree.links {
        let path = top.join(path);
        if fs::create_dir_all(path.parent().unwrap()).is_ok() && path.symlink_metadata().is_err() {
            symlink(target, path).unwrap();
        }
    }
    for path in &tree.repositories {
        let git = top.join(path).join(".git");
        if fs::create_dir_all(git.join("objects")).is_ok() {
            fs::create_dir_all(git.join("refs")).unwrap();
            fs::write(git.join("HEAD"), if path.contains('a') { "ref: refs/heads/x\n" } else { "garbage" }).unwrap();
        }
    }
}

/// Written by hand, because `git worktree add` would need a commit.
fn build_worktree(sandbox: &Sandbox, main: &Path, worktree: &Path, tree: &Tree) {
    let administration = main.join(".git/worktrees/w");
    fs::create_dir_all(&administration).unwrap();
    fs::create_dir(worktree).unwrap();
    fs::write(administration.join("HEAD"), "ref: refs/heads/w\n").unwrap();
    fs::write(administration.join("commondir"), "../..\n").unwrap();
    fs::write(administration.join("gitdir"), format!("{}/.git\n", worktree.display())).unwrap();
    let relative = format!("gitdir: ../{}/.git/worktrees/w\n", main.file_name().unwrap().to_str().unwrap());
    fs::write(worktree.join(".git"), relative).unwrap();
    write_files(worktree, tree);
    if let Some(path) = tree.tracked.first() {
        sandbox.git(
            worktree,
            &["update-index", "--add", "--replace", "--cacheinfo", &format!("100644,{},{path}", id(tree))],
        );
    }
}
