//! Compares the gate with the real `git apply` on generated patches: it refuses what git refuses, and otherwise the bytes are
//! equal. Fails without git.

#![expect(clippy::disallowed_methods, reason = "git works on real files")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use stan_reply::CheckOptions;
use stan_testkit::{Git, Random};

use crate::common::{World, codes};

fn git(folder: &Path, arguments: &[&str]) -> Option<bool> {
    let mut command = Command::new("git");
    command.current_dir(folder).args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // A work tree above the temporary folder must not affect how git reads paths.
    command.env("GIT_CEILING_DIRECTORIES", folder).env("GIT_DIR", folder.join(".none")).env("LC_ALL", "C");
    command.status().ok().map(|status| status.success())
}

/// Lines with many repetitions, so that hunks fit at several positions.
fn text(random: &mut Random) -> String {
    let count = random.below(24);
    let mut text: String =
        (0..count).map(|_| random.pick_text(&["a\n", "b\n", "c\n", "\n", "d\r\n", "e e\n"])).collect();
    if random.one_in(4) && text.ends_with('\n') {
        text.pop();
    }
    text
}

/// Changes some lines, as an assistant would.
fn changed(random: &mut Random, old: &str) -> String {
    let mut new = String::new();
    for line in old.split_inclusive('\n') {
        match random.below(8) {
            0 => {}
            1 => new.push_str("new\n"),
            2 => {
                new.push_str(line);
                if !line.ends_with('\n') {
                    new.push('\n');
                }
                new.push_str("added\n");
            }
            _ => new.push_str(line),
        }
    }
    if random.one_in(6) && new.ends_with('\n') {
        new.pop();
    }
    new
}

/// A patch written by git, slightly damaged.
fn bent(random: &mut Random, patch: &str) -> String {
    let mut lines: Vec<String> = patch.split_inclusive('\n').map(str::to_owned).collect();
    for _ in 0..random.below(3) {
        let at = random.below(lines.len().max(1));
        let is_header = lines
            .get(at)
            .is_some_and(|line| line.starts_with("diff") || line.starts_with("+++") || line.starts_with("---"));
        if is_header || lines.is_empty() {
            continue;
        }
        match random.below(7) {
            0 => _ = lines.remove(at),
            1 => lines.insert(at, random.pick_text(&[" a\n", "+x\n", "-b\n", "\n", "junk\n"]).to_owned()),
            2 => lines[at] = lines[at].replace("@@ -", "@@ -1"),
            3 => lines[at] = lines[at].replace(",", ",1"),
            4 => lines[at] = lines[at].replacen(" +", " +3", 1),
            5 => lines[at] = lines[at].replacen('+', "-", 1),
            _ => {
                let copy = lines[at].clone();
                lines.insert(at, copy);
            }
        }
    }
    lines.concat()
}

fn written_by_git(folder: &Path, old: &str, new: &str, context: usize) -> String {
    std::fs::create_dir_all(folder.join("a")).expect("a folder");
    std::fs::create_dir_all(folder.join("b")).expect("a folder");
    std::fs::write(folder.join("a/f"), old).expect("a file");
    std::fs::write(folder.join("b/f"), new).expect("a file");
    let unified = format!("-U{context}");
    let output = Command::new("git")
        .current_dir(folder)
        .env("GIT_DIR", folder.join(".none"))
        .args(["diff", "--no-index", "--no-prefix", &unified, "a/f", "b/f"])
        .output()
        .expect("git ran a moment ago");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_gate_agrees_with_git() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    if !Git::is_installed() {
        return;
    }
    let mut random = Random::new(7);
    let (mut applied, mut refused) = (0, 0);
    for round in 0..400 {
        let old = text(&mut random);
        let new = changed(&mut random, &old);
        let context = random.below(4);
        let straight = written_by_git(folder.path(), &old, &new, context);
        if straight.is_empty() {
            continue;
        }
        // The file may have changed since the patch was written.
        let base = if random.one_in(3) { changed(&mut random, &old) } else { old.clone() };
        let patch = if random.one_in(3) { straight } else { bent(&mut random, &straight) };
        if !patch.ends_with('\n') {
            continue;
        }
        std::fs::write(folder.path().join("f"), &base).expect("a file");
        std::fs::write(folder.path().join("p"), &patch).expect("a file");
        let is_applied = git(folder.path(), &["apply", "p"]).expect("git ran a moment ago");
        let theirs = is_applied.then(|| std::fs::read(folder.path().join("f")).expect("the file"));
        let ours = by_the_gate(&base, &patch);
        assert_eq!(
            ours.as_deref().map(String::from_utf8_lossy),
            theirs.as_deref().map(String::from_utf8_lossy),
            "round {round}, base {base:?}\n{patch}"
        );
        if is_applied { applied += 1 } else { refused += 1 }
    }
    assert!(applied > 50 && refused > 50, "{applied} applied, {refused} refused");
}

/// The bytes after the patch, or `None` if it is refused.
fn by_the_gate(base: &str, patch: &str) -> Option<Vec<u8>> {
    let mut world = World::new();
    world.archive.insert("f".to_owned(), base.as_bytes().to_vec());
    // With a line that has no carriage return, those of the patch are kept.
    let reply = format!("words\n\n~~~~~~diff\n{patch}~~~~~~\n");
    let report = world
        .report(&reply, CheckOptions { seen: true, budget: Some(u64::MAX), strict: true, ..CheckOptions::default() });
    let is_refused = codes(&report).contains("0011");
    let changed: BTreeMap<_, _> = world.changed.take();
    (!is_refused).then(|| changed.get("f").cloned().flatten().unwrap_or_default().to_vec())
}

/// Headers of many forms for the files `src/a.ts` (ten lines), `my file.ts`, `top.ts`, `empty` and `no-newline`.
const HEADERS: &[&str] = &[
    "diff --git a/top.ts b/top.ts\n--- a/top.ts\n+++ b/top.ts\nHUNK",
    "diff --git a/top.ts b/top.ts\nindex 1..2 100644\nHUNK",
    "diff --git a/top.ts b/top.ts\nHUNK",
    "diff --git a/top.ts b/top.ts\n",
    "diff --git a/top.ts b/top.ts\n--- a/top.ts\n+++ b/top.ts\n",
    "diff --git a/my file.ts b/my file.ts\n--- a/my file.ts\n+++ b/my file.ts\nHUNK",
    "diff --git a/my file.ts b/my file.ts\n--- a/my file.ts\t\n+++ b/my file.ts\t\nHUNK",
    "diff --git a/top.ts b/top.ts\n--- a/top.ts\t2020-01-01 00:00:00\n+++ b/top.ts\t2020-01-01\nHUNK",
    "diff --git \"a/top.ts\" \"b/top.ts\"\n--- \"a/top.ts\"\n+++ \"b/top.ts\"\nHUNK",
    "diff --git \"a/\\164op.ts\" \"b/top.ts\"\n--- \"a/\\164op.ts\"\n+++ \"b/top.ts\"\nHUNK",
    "diff --git src/a.ts src/a.ts\n--- src/a.ts\n+++ src/a.ts\nHUNK",
    "diff --git top.ts top.ts\n--- top.ts\n+++ top.ts\nHUNK",
    "diff --git i/top.ts w/top.ts\n--- i/top.ts\n+++ w/top.ts\nHUNK",
    "diff --git a/src//a.ts b/src//a.ts\n--- a/src//a.ts\n+++ b/src//a.ts\nHUNK",
    "diff --git a/new.ts b/new.ts\nnew file mode 100644\n--- /dev/null\n+++ b/new.ts\n@@ -0,0 +1 @@\n+x\n",
    "diff --git a/new.ts b/new.ts\n--- /dev/null\n+++ b/new.ts\n@@ -0,0 +1 @@\n+x\n",
    "diff --git a/new.ts b/new.ts\nnew file mode 100644\nindex 0000000..e69de29\n",
    "diff --git a/new.ts b/new.ts\nnew file mode 100644\n--- /dev/null\n+++ b/new.ts\n@@ -1 +1 @@\n-y\n+x\n",
    "diff --git a/new.ts b/new.ts\nnew file mode junk\n--- /dev/null\n+++ b/new.ts\n@@ -0,0 +1 @@\n+x\n",
    "diff --git a/top.ts b/top.ts\nnew file mode 100644\n--- /dev/null\n+++ b/top.ts\n@@ -0,0 +1 @@\n+x\n",
    "diff --git a/no-newline b/no-newline\ndeleted file mode 100644\n--- a/no-newline\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\\ No newline at end of file\n",
    "diff --git a/no-newline b/no-newline\ndeleted file mode 100644\n--- a/no-newline\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
    "diff --git a/top.ts b/top.ts\ndeleted file mode 100644\nindex 1..0\n",
    "diff --git a/empty b/empty\ndeleted file mode 100644\nindex e69de29..0000000\n",
    "diff --git a/empty b/empty\n--- a/empty\n+++ b/empty\n@@ -0,0 +1 @@\n+x\n",
    "diff --git a/top.ts b/top.ts\n--- a/top.ts\n+++ b/top.ts\n@@ -0,0 +1 @@\n+x\n",
    "diff --git a/top.ts b/top.ts\nold mode 100644\nnew mode 100755\n",
    "diff --git a/top.ts b/top.ts\nold mode 100644\nnew mode 100755\n--- a/top.ts\n+++ b/top.ts\nHUNK",
    "diff --git a/top.ts b/c.ts\nsimilarity index 100%\nrename from top.ts\nrename to c.ts\n",
    "diff --git a/top.ts b/c.ts\nsimilarity index 90%\nrename from top.ts\nrename to c.ts\n--- a/top.ts\n+++ b/c.ts\nHUNK",
    "diff --git a/top.ts b/src/a.ts\nsimilarity index 100%\nrename from top.ts\nrename to src/a.ts\n",
    "diff --git a/none b/c.ts\nsimilarity index 100%\nrename from none\nrename to c.ts\n",
    "diff --git a/top.ts b/c.ts\nsimilarity index 100%\ncopy from top.ts\ncopy to c.ts\n",
    "diff --git a/top.ts b/c.ts\ncopy from top.ts\ncopy to c.ts\n--- a/top.ts\n+++ b/c.ts\nHUNK",
    "diff --git a/top.ts b/top.ts\nnew file mode 100644\ndeleted file mode 100644\n--- a/top.ts\n+++ b/top.ts\nHUNK",
    "diff --git a/x b/x\nnew file mode 100644\nindex 0000000..1111111\nBinary files /dev/null and b/x differ\n",
    "words before\n\ndiff --git a/top.ts b/top.ts\n--- a/top.ts\n+++ b/top.ts\nHUNKwords behind\n",
    "From 1 Mon Sep 17\nSubject: x\n---\n top.ts | 2 +-\n\ndiff --git a/top.ts b/top.ts\n--- a/top.ts\n+++ b/top.ts\nHUNK-- \n2.40\n",
    "diff --git a/top.ts b/top.ts\r\n--- a/top.ts\r\n+++ b/top.ts\r\nHUNK",
    "diff --git a/none b/none\n--- a/none\n+++ b/none\nHUNK",
    "diff --git a/top.ts b/top.ts\n--- a/top.ts\n+++ b/top.ts\n@@ -4,3 +4,3 @@junk\n 4\n-5\n+five\n 6\n",
    "diff --git a/top.ts b/top.ts\n--- a/top.ts\n+++ b/top.ts\n@@ -4,3 +4,3\n 4\n-5\n+five\n 6\n",
    "diff --git a/top.ts b/top.ts\n--- a/top.ts\n+++ b/top.ts\n@@ @@\n 4\n-5\n+five\n 6\n",
    "diff --git a/top.ts b/top.ts\n--- a/top.ts\n+++ b/top.ts\n@@ -04,3 +04,3 @@\n 4\n-5\n+five\n 6\n",
];

#[test]
fn headers_are_read_as_git_reads_them() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    if !Git::is_installed() {
        return;
    }
    let ten: String = (1..=10).map(|line| format!("{line}\n")).collect();
    let files =
        [("top.ts", ten.as_str()), ("src/a.ts", &ten), ("my file.ts", &ten), ("empty", ""), ("no-newline", "x")];
    std::fs::create_dir_all(folder.path().join("src")).expect("a folder");
    let mut world = World::new();
    for (path, text) in files {
        std::fs::write(folder.path().join(path), text).expect("a file");
        world.archive.insert(path.to_owned(), text.as_bytes().to_vec());
    }
    for header in HEADERS {
        let patch = header.replace("HUNK", "@@ -4,3 +4,3 @@\n 4\n-5\n+five\n 6\n");
        std::fs::write(folder.path().join("p"), &patch).expect("a file");
        let theirs = git(folder.path(), &["apply", "--check", "p"]).expect("git ran a moment ago");
        let reply = format!("words\n\n~~~~~~diff\n{patch}~~~~~~\n");
        let report = world.report(&reply, CheckOptions { strict: true, ..CheckOptions::default() });
        assert_eq!(!codes(&report).contains("0011"), theirs, "{patch}\n{:#?}", report.findings);
    }
}
