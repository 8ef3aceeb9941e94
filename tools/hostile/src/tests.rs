//! A suite that finds nothing proves nothing: these tests run programs that break each promise, and each breach must be found.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::play::play;
use super::process::Machine;
use super::site::{CANARY, Scale};
use super::trees;

/// The breaches when a shell script replaces both programs, on the valid tree.
fn breaches(script: &str) -> Option<String> {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let folder = fs::canonicalize(folder.path()).expect("a real path");
    let program = folder.join("program");
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("a script");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("permissions");
    let mut machine = Machine::new(program.clone(), program).expect("a machine");
    machine.longest = std::time::Duration::from_secs(2);
    if !machine.has_strace {
        return None;
    }
    let tree = trees::all().into_iter().find(|tree| tree.name == "healthy").expect("the tree");
    let played = play(&tree, Scale::Short, &machine, &folder).expect("a verdict");
    Some(played.breaches.iter().map(|(command, breach)| format!("{command}: {breach}\n")).collect())
}

#[test]
fn every_violation_of_a_law_is_reported() {
    for (script, expected) in [
        ("exit 101", "ended with the code Some(101)"),
        ("exit 4", "stan graph: ended with the code Some(4)"),
        ("kill -SEGV $$", "ended by signal 11"),
        ("echo \"thread 'main' panicked at x\" >&2", "panicked: thread"),
        ("read x < ../secret.txt; exit 1", "opened …/secret.txt"),
        ("read x < ../secret.txt; echo \"$x\"", "a secret is on standard output"),
        ("/bin/true; exit 1", "called "),
        ("echo x > ../escaped; exit 1", "escaped is new"),
        (": > src/cart.ts; exit 1", "repo/src/cart.ts is changed"),
        ("printf '{'", "standard output is not JSON"),
        ("printf '\\033[31m'", "control characters are on standard output"),
        ("printf '\\342\\200\\256' >&2; exit 1", "control characters are on standard error"),
        ("echo $$", "gave other bytes the second time"),
        ("mkdir -p .stan/output; echo kanarienvogel > .stan/output/x; exit 1", "a secret is in repo/.stan/output/x"),
        ("mkdir -p .stan/output; : > .stan/output/.stan-tmp-1; exit 1", "left repo/.stan/output/.stan-tmp-1 behind"),
        ("mkdir -p .stan/output; echo x > .stan/output/archive.tar; exit 1", "repo/.stan/output/archive.tar: no end"),
    ] {
        let Some(found) = breaches(script) else { return };
        assert!(found.contains(expected), "{script}: {expected} is not among\n{found}");
    }
}

#[test]
fn trees_have_names_of_their_own_and_build_twice_the_same() {
    let trees = trees::all();
    let mut names: Vec<&str> = trees.iter().map(|tree| tree.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), trees.len());
    let folder = tempfile::tempdir().expect("a scratch folder");
    for tree in trees.iter().filter(|tree| ["link-files", "names", "git-index-paths"].contains(&tree.name)) {
        let listed = |name: &str| {
            let place = folder.path().join(name);
            super::build(tree, &place, Scale::Short).expect("a tree");
            contents(&place)
        };
        assert_eq!(listed("same"), listed("same"), "{}", tree.name);
    }
    assert!(!CANARY.is_empty());
}

/// Every file with its contents or, for a symlink, its target.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(next) = pending.pop() {
        for entry in fs::read_dir(&next).expect("a folder").flatten() {
            let path = entry.path();
            let shown = path.to_string_lossy().into_owned();
            match entry.file_type().expect("a type") {
                kind if kind.is_dir() => pending.push(path),
                kind if kind.is_symlink() => {
                    found.push((shown, fs::read_link(&path).expect("a link").into_os_string().into_encoded_bytes()));
                }
                _ => found.push((shown, fs::read(&path).expect("a file"))),
            }
        }
    }
    found.sort_unstable();
    found
}
