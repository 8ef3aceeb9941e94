//! The cost of an archive compared with `tar cf` of the same list. Ignored by default: it needs a quiet machine and a tree
//! (`STAN_MEASURE_TREE=DIR cargo test --profile quick -p stan-archive --test measure -- --ignored --nocapture`).
#![expect(clippy::disallowed_methods, clippy::print_stderr, reason = "a measurement talks to the person who runs it")]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use stan_archive::{ArchiveEntry, Transaction, Written, write_archive};
use stan_repo::{Access, EntryKind, OsSystem, SystemExt as _};

fn list(root: &Path) -> Vec<PathBuf> {
    let (mut files, mut pending) = (Vec::new(), vec![root.to_owned()]);
    while let Some(directory) = pending.pop() {
        for entry in OsSystem.read_dir(&directory).unwrap() {
            match entry.kind {
                EntryKind::Dir => pending.push(directory.join(entry.name)),
                EntryKind::File => files.push(directory.join(entry.name)),
                _ => {}
            }
        }
    }
    files.sort();
    files
}

fn ours(tree: &Path, files: &[PathBuf], work: &Path) -> (Duration, Written) {
    let name = |path: &Path| path.strip_prefix(tree).unwrap().to_str().unwrap().to_owned();
    let entries = files.iter().map(|path| ArchiveEntry::file(name(path), path)).collect();
    let lock = support::lock(&OsSystem, work).unwrap();
    let start = Instant::now();
    let mut transaction = Transaction::begin(&OsSystem, work, &lock, &["output"]).unwrap();
    let mut out = transaction.stream(".stan/output/archive.tar", Access::Shared).unwrap();
    let written = write_archive(&OsSystem, entries, 0, &mut out).unwrap();
    transaction.finish(out).unwrap();
    transaction.commit().unwrap();
    (start.elapsed(), written)
}

fn theirs(tree: &Path, list: &Path, work: &Path) -> Duration {
    let start = Instant::now();
    let mut command = Command::new("tar");
    command.args(["cf", "theirs.tar", "-C"]).arg(tree).args(["--no-recursion", "--null", "-T"]).arg(list);
    command.current_dir(work);
    assert!(command.status().unwrap().success());
    start.elapsed()
}

#[test]
#[ignore = "a measurement"]
fn time_and_memory_of_archives_are_measured() {
    let Some(tree) = std::env::var_os("STAN_MEASURE_TREE").map(PathBuf::from) else { return };
    let directory = tempfile::tempdir_in(".").unwrap();
    let work = directory.path();
    let files = list(&tree);
    let names: Vec<u8> = files
        .iter()
        .flat_map(|path| [path.strip_prefix(&tree).unwrap().as_os_str().as_encoded_bytes(), b"\0"].concat())
        .collect();
    std::fs::write(work.join("list"), names).unwrap();
    let list = work.join("list").canonicalize().unwrap();
    let (mut best_ours, mut best_theirs) = (Duration::MAX, Duration::MAX);
    for _ in 0..7 {
        best_theirs = best_theirs.min(theirs(&tree, &list, work));
        let (time, written) = ours(&tree, &files, work);
        best_ours = best_ours.min(time);
        eprintln!("{} files, {} binaries, {} bytes", written.files.len(), written.binaries.len(), written.size);
    }
    let ratio = best_ours.as_secs_f64() / best_theirs.as_secs_f64();
    let archive = work.join(".stan/output/archive.tar");
    let start = Instant::now();
    std::fs::File::open(archive).unwrap().sync_all().unwrap();
    eprintln!("ours {best_ours:?}, tar {best_theirs:?}, ratio {ratio:.2}; syncing takes {:?} more", start.elapsed());
}
