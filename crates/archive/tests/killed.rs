//! Real runs in real processes, killed at random moments: outputs are old or new and complete, and the next run succeeds. Also
//! two runs at once.
#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "tests edit real directories, and a child gets its folder")]
#![expect(clippy::print_stdout, reason = "a test shows how its random moments fell")]

mod support;

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use stan_archive::Error;
use stan_repo::{OsSystem, System};

use support::{Selection, external, outputs, run};

/// Passes the folder to the child process; users never set it.
const FOLDER: &str = "STAN_ARCHIVE_TEST_FOLDER";

/// Writes the inputs of a version, and returns the selection.
fn selection(folder: &Path, version: usize) -> Selection {
    let mut selection = Selection::default();
    std::fs::create_dir_all(folder.join("r/src")).unwrap();
    std::fs::create_dir_all(folder.join("n")).unwrap();
    for number in 0..30 {
        let name = format!("src/{number}.ts");
        std::fs::write(folder.join("r").join(&name), format!("{version} ").repeat(number * 200)).unwrap();
        selection.files.push(name);
    }
    for number in 0..20 {
        let source = folder.join(format!("n/{version}-{number}.js"));
        std::fs::write(&source, format!("{version} {number} ").repeat(1 << (number % 19))).unwrap();
        let package = number + version % 7;
        let id = format!(".stan/context/npm/p{package}/1.0.0/{number}.js");
        selection.externals.push(external(&OsSystem, &id, source));
    }
    selection
}

/// Not a test: the process to be killed. It runs only if the parent passes a folder.
#[test]
fn a_child_process_runs_until_it_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let version = std::fs::read_to_string(folder.join("version")).unwrap().parse().unwrap();
    // The parent wrote the inputs; writing them again gives the same bytes.
    let selection = selection(&folder, version);
    std::fs::write(folder.join("ready"), "").unwrap();
    run(&OsSystem, &folder.join("r"), &selection).unwrap();
}

fn spawn(folder: &Path, version: usize) -> Child {
    std::fs::write(folder.join("version"), version.to_string()).unwrap();
    let _ = std::fs::remove_file(folder.join("ready"));
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_child_process_runs_until_it_is_killed", "--quiet"])
        .env(FOLDER, folder)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    for _ in 0..5_000 {
        if OsSystem.lstat(&folder.join("ready")).is_ok() {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    child
}

#[test]
fn killed_at_random_moments() {
    let directory = tempfile::tempdir().unwrap();
    let (folder, root) = (directory.path(), directory.path().join("r"));
    run(&OsSystem, &root, &selection(folder, 0)).unwrap();
    let mut random = 12_345_u64;
    let (mut early, mut late, mut between) = (0, 0, 0);
    for version in 1..=25 {
        let old = outputs(&OsSystem, &root);
        let mut child = spawn(folder, version);
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        std::thread::sleep(Duration::from_micros((random >> 33) % 20_000));
        child.kill().unwrap();
        child.wait().unwrap();
        let torn = outputs(&OsSystem, &root);
        run(&OsSystem, &root, &selection(folder, version)).unwrap();
        let new = outputs(&OsSystem, &root);
        for (path, what) in torn.iter().filter(|(path, _)| !path.contains("/.stan-tmp-")) {
            let is_whole = Some(what) == old.get(path) || Some(what) == new.get(path) || what == "folder";
            assert!(is_whole, "run {version}: {path} is {what}");
        }
        assert!(!new.keys().any(|path| path.contains("/.stan-tmp-")), "run {version} left something behind");
        let archive = ".stan/output/archive.tar";
        match (torn == old, torn == new) {
            (_, true) => late += 1,
            (true, _) => early += 1,
            _ => between += 1,
        }
        assert!(torn.contains_key(archive), "there is always an archive");
    }
    // The distribution depends on the machine, so it is only printed.
    println!("{early} killed before the commit, {between} within, {late} after");
}

#[test]
fn two_runs_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let (folder, root) = (directory.path(), directory.path().join("r"));
    let selection = selection(folder, 1);
    let held = support::lock(&OsSystem, &root).unwrap();
    let error = run(&OsSystem, &root, &selection).unwrap_err();
    let who = format!("pid {}: a test", std::process::id());
    assert!(matches!(&error, Error::Locked { holder, .. } if *holder == who), "{error}");
    let mut child = spawn(folder, 1);
    assert!(!child.wait().unwrap().success(), "another process does not get it either");
    drop(held);
    run(&OsSystem, &root, &selection).unwrap();
}
