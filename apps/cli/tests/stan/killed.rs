//! Runs that are killed at random moments, and runs on a full disk: outputs are the old or the new ones, each whole, and
//! the next run succeeds and leaves nothing behind.
//!
//! The ordinary test kills a dozen. Two hundred:
//! `cargo test -p stan-cli --test stan -- --ignored killed::two_hundred --nocapture`
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::archives::contents;
use crate::project::{ARCHIVE, DIFF, Random, STATE, everything, succeeds};
use crate::support::Repository;

const RUN: &[&str] = &["run", "--context"];

/// Enough files that a run takes a while.
fn repository() -> Repository {
    let repository = Repository::new(&[
        ("package.json", "{\"name\":\"app\",\"version\":\"1.0.0\"}\n"),
        (".gitignore", "node_modules\n/.stan/*\n!/.stan/system\n"),
        (".stan/system/stan.system.md", "Follow the protocol.\n"),
    ]);
    for number in 0..12 {
        let package = format!("node_modules/p{number}");
        let manifest = format!("{{\"name\":\"p{number}\",\"version\":\"1.0.{number}\",\"main\":\"index.js\"}}\n");
        repository.write(&format!("{package}/package.json"), &manifest);
        repository.write(&format!("{package}/index.js"), &format!("exports.p = {number};\n").repeat(number * 300 + 1));
    }
    edit(&repository, 0);
    repository
}

/// The sources and the selection of a version.
fn edit(repository: &Repository, version: usize) {
    let mut index = String::new();
    for number in 0..40 {
        let _ = writeln!(index, "import './m{number}';");
        let text = format!("import 'p{}';\nexport const x = {version};\n", (number + version) % 12);
        repository.write(&format!("src/m{number}.ts"), &text.repeat(number % 7 + 1));
    }
    repository.write("src/index.ts", &index);
    let depth = version % 3;
    repository.write(STATE, &format!("{{\"v\":2,\"i\":[[\"src/index.ts\",{depth}],[\"src/m{depth}.ts\",1]]}}\n"));
}

/// Everything that a run may write, and what people put there.
fn workspace(repository: &Repository) -> BTreeMap<String, Vec<u8>> {
    everything(&repository.root().join(".stan"))
}

/// Names of files that are not meant to stay, anywhere in stan's folder.
fn left_behind(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type().unwrap().is_dir() {
            found.extend(left_behind(&entry.path()));
        } else if name.contains("tmp") {
            found.push(name);
        }
    }
    found
}

/// Each output is the old or the new one, and what is both before and after is there in between.
fn check_whole(
    what: &str,
    old: &BTreeMap<String, Vec<u8>>,
    torn: &BTreeMap<String, Vec<u8>>,
    new: &BTreeMap<String, Vec<u8>>,
) {
    for (path, bytes) in torn.iter().filter(|(path, _)| !path.contains(".stan-tmp-")) {
        let is_whole = Some(bytes) == old.get(path) || Some(bytes) == new.get(path) || bytes == b"folder";
        assert!(is_whole, "{what}: {path} is neither the old nor the new one");
    }
    for path in old.keys().filter(|path| new.contains_key(*path)) {
        assert!(torn.contains_key(path), "{what}: {path} is gone");
    }
}

/// Kills that many runs, and tells how many fell before, into and after the moment when outputs are put in place.
fn kill(count: usize, seed: u64) -> [usize; 3] {
    let repository = repository();
    let started = Instant::now();
    succeeds(&repository, RUN);
    let longest = started.elapsed().max(Duration::from_millis(20));
    let mut random = Random(seed);
    let mut fell = [0; 3];
    for version in 1..=count {
        edit(&repository, version);
        if version % 5 == 0 {
            // As a first run: no output is there yet.
            for folder in ["output", "diff", "context/npm", "cache"] {
                let _ = fs::remove_dir_all(repository.root().join(".stan").join(folder));
            }
        }
        let old = workspace(&repository);
        let mut child = repository.command(RUN).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let longest = usize::try_from(longest.as_micros()).unwrap_or(usize::MAX);
        std::thread::sleep(Duration::from_micros(random.below(longest) as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        let torn = workspace(&repository);
        for archive in [ARCHIVE, DIFF].map(|archive| repository.root().join(archive)) {
            if archive.exists() {
                contents(&archive);
            }
        }
        succeeds(&repository, RUN);
        assert_eq!(left_behind(&repository.root().join(".stan")), [""; 0], "run {version} left something behind");
        succeeds(&repository, &["verify"]);
        succeeds(&repository, &["run", "--context", "--frozen"]);
        if version % 5 == 0 {
            // With the killed run's snapshot this would be the run after it, not the same one.
            let _ = fs::remove_dir_all(repository.root().join(".stan/diff"));
        }
        succeeds(&repository, RUN);
        let new = workspace(&repository);
        check_whole(&format!("run {version}"), &old, &torn, &new);
        fell[if torn == new { 2 } else { usize::from(torn != old) }] += 1;
    }
    fell
}

#[test]
fn a_dozen_runs() {
    kill(12, 1);
}

#[test]
#[ignore = "takes minutes"]
fn two_hundred_runs() {
    let [before, within, after] = kill(200, 2);
    println!("{before} killed before anything was written, {within} within, {after} after");
}

/// A small file system that is gone with this value.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// `None` where nobody may mount one.
    fn new(kilobytes: usize) -> Option<Self> {
        let directory = tempfile::tempdir().ok()?;
        let size = format!("size={kilobytes}k");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(directory.path()).output();
        mounted.is_ok_and(|output| output.status.success()).then(|| Self(directory))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk() {
    let Some(disk) = SmallDisk::new(4_096) else {
        println!("no file system can be mounted here: skipped");
        return;
    };
    let repository = repository();
    let root = disk.0.path().join("r");
    copy(repository.root(), &root);
    let stan = |arguments: &[&str]| repository.command(arguments).current_dir(&root).output().unwrap();
    assert!(stan(RUN).status.success());
    let (mut failed, state) = (0, root.join(STATE));
    for left in [0, 4, 16, 40, 64, 100, 160, 240, 400] {
        let selection = format!("{{\"v\":2,\"i\":[[\"src/index.ts\",{}]]}}\n", 1 + left % 3);
        fs::write(&state, selection).unwrap();
        fs::write(root.join("src/m1.ts"), format!("import 'p{}';\n// {left}\n", left % 12)).unwrap();
        fill(&disk.0.path().join("filler"), left);
        let old = everything(&root.join(".stan"));
        let output = stan(RUN);
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            failed += 1;
            assert_eq!(output.status.code(), Some(1), "{said}");
            assert!(said.contains("no space is left; make some and run again"), "{said}");
            assert!(everything(&root.join(".stan")) == old, "{left} kB: a failed run changed something");
            assert_eq!(left_behind(&root.join(".stan")), [""; 0]);
        }
        fs::remove_file(disk.0.path().join("filler")).unwrap();
        assert!(stan(RUN).status.success(), "there is space again");
        assert!(stan(&["verify"]).status.success());
    }
    assert!(failed >= 3, "the disk was never full");
}

/// Leaves that many kilobytes on the disk.
fn fill(path: &Path, left: usize) {
    use std::io::Write as _;
    let mut filler = fs::File::create(path).unwrap();
    let mut written = 0_u64;
    while filler.write_all(&[0; 4_096]).is_ok() {
        written += 4_096;
    }
    filler.set_len(written.saturating_sub(left as u64 * 1_024)).unwrap();
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
