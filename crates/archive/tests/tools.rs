//! GNU tar, bsdtar, Python's tarfile and Node's tar unpack the archive, with unusual names and modes. Tools that are not
//! installed are skipped, with a note.
#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "the tests read real directories")]
#![expect(clippy::print_stderr, reason = "a skipped tool is said")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use stan_archive::{ArchiveEntry, Transaction, write_archive};
use stan_repo::{Access, OsSystem};

type Tree = BTreeMap<String, (Vec<u8>, bool)>;

fn tree() -> Tree {
    let mut tree = Tree::new();
    let mut add = |name: &str, bytes: &[u8], executable| tree.insert(name.to_owned(), (bytes.to_vec(), executable));
    add("plain.txt", b"text\n", false);
    add("empty", b"", false);
    add("bin/run.sh", b"#!/bin/sh\n", true);
    add("block", &[b'x'; 512], false);
    add("large", &vec![b'y'; 3_000_000], false);
    for odd in ["with space", "new\nline", "quo\"te'`$x", "-rf", "tab\t", "*?[a]", "ünïcödé/日本語.ts", "😀"] {
        add(&format!("odd/{odd}"), odd.as_bytes(), false);
    }
    add(&"n".repeat(100), b"100", false);
    add(&"m".repeat(101), b"101", true);
    add(&"l".repeat(255), b"255", false);
    add(&format!("{}/{}", "d".repeat(155), "f".repeat(100)), b"155/100", false);
    add(&format!("{}/{}", "e".repeat(156), "f".repeat(100)), b"156/100", false);
    add(&format!("{}/x", ["ä"; 20].join("/")), b"deep", false);
    add(&format!("{}/{}", ["folder-with-a-name"; 30].join("/"), "z".repeat(200)), b"long", false);
    tree
}

/// Writes the tree and archives it.
fn make(root: &Path, tree: &Tree) {
    for (name, (bytes, executable)) in tree {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(if *executable { 0o700 } else { 0o600 })).unwrap();
    }
    let lock = support::lock(&OsSystem, root).unwrap();
    let mut transaction = Transaction::begin(&OsSystem, root, &lock, &[]).unwrap();
    let mut out = transaction.stream(".stan/archive.tar", Access::Shared).unwrap();
    let entries = tree.keys().map(|name| ArchiveEntry::file(name, root.join(name))).collect();
    let written = write_archive(&OsSystem, entries, 1_000_000_000, &mut out).unwrap();
    assert_eq!(written.files.len(), tree.len());
    transaction.finish(out).unwrap();
    transaction.commit().unwrap();
}

fn read(root: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
                continue;
            }
            let executable = path.metadata().unwrap().permissions().mode() & 0o100 != 0;
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            tree.insert(name, (fs::read(&path).unwrap(), executable));
        }
    }
    tree
}

/// Unpacks with a command whose last argument is the archive, and whose working directory is the target.
fn check(tool: &str, command: &[&str]) {
    let directory = tempfile::tempdir().unwrap();
    let (root, unpacked) = (directory.path().join("r"), directory.path().join("u"));
    fs::create_dir_all(&root).unwrap();
    fs::create_dir_all(&unpacked).unwrap();
    let tree = tree();
    make(&root, &tree);
    let output = Command::new(command[0])
        .args(&command[1..])
        .arg(root.join(".stan/archive.tar"))
        .current_dir(&unpacked)
        .env("LC_ALL", "C.UTF-8")
        .output();
    let Ok(output) = output else {
        eprintln!("{tool} is not on this machine: skipped");
        return;
    };
    let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && complaints.is_empty(), "{tool}: {complaints}");
    let found = read(&unpacked);
    let names = |tree: &Tree| tree.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&found), names(&tree), "{tool}");
    assert!(found == tree, "{tool}: contents or modes differ");
}

fn is_there(command: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(command).args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[test]
fn gnu_tar_extracts_what_was_archived() {
    if is_there("tar", &["--version"]).is_some_and(|version| version.contains("GNU")) {
        check("GNU tar", &["tar", "-xf"]);
    } else {
        eprintln!("GNU tar is not on this machine: skipped");
    }
}

#[test]
fn bsdtar_extracts_what_was_archived() {
    // bsdtar composes decomposed characters in names (`e\u{301}` becomes `é`), so the tree contains none.
    check("bsdtar", &["bsdtar", "-xf"]);
}

#[test]
fn python_extracts_what_was_archived() {
    let script = "import sys, tarfile\nwith tarfile.open(sys.argv[1]) as tar:\n    for member in tar:\n        assert member.uid == member.gid == 0 and member.uname == member.gname == '' and member.mtime == 1000000000\n        tar.extract(member)\n";
    check("Python", &["python3", "-W", "ignore", "-c", script]);
}

#[test]
fn node_extracts_what_was_archived() {
    // npm contains the package `tar`.
    let package = is_there("npm", &["root", "-g"]).map(|root| format!("{root}/npm/node_modules/tar"));
    let Some(package) = package.filter(|package| Path::new(package).is_dir()) else {
        eprintln!("Node's tar is not on this machine: skipped");
        return;
    };
    let script = "require(process.argv[1]).x({ file: process.argv[2], sync: true, strict: true })";
    check("Node's tar", &["node", "-e", script, &package]);
}
