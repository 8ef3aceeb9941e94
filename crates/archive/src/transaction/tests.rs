//! Outputs are committed together or not at all. `tests/faults.rs` tests a failure of every single effect.

use stan_repo::{MemorySystem, System, SystemExt as _};

use super::*;
use crate::lock::Holder;

const TREE: &str = "
//- /r/.stan/output/archive.tar
old
//- /r/.stan/output/gone
old
//- /r/elsewhere/x
";

fn locked(system: &MemorySystem) -> Lock<'_> {
    let holder = Holder { process: 7, command: "test".to_owned() };
    Lock::acquire(system, Path::new("/r"), ".stan", &holder, &mut || false, &mut |_| {}).unwrap()
}

fn begin<'s>(system: &'s MemorySystem, lock: &'s Lock<'s>) -> Transaction<'s> {
    Transaction::begin(system, Path::new("/r"), lock, &["output", "context"]).unwrap()
}

/// Every file below `/r/.stan` with its contents, except the lock.
fn files(system: &MemorySystem) -> Vec<String> {
    let mut found = Vec::new();
    let mut pending = vec![PathBuf::from("/r/.stan")];
    while let Some(directory) = pending.pop() {
        for entry in system.read_dir(&directory).unwrap() {
            let path = directory.join(&entry.name);
            let mut text = Vec::new();
            match entry.kind {
                EntryKind::Dir => {
                    found.push(format!("{}/", path.display()));
                    pending.push(path);
                }
                EntryKind::File if entry.name != ".lock" => {
                    system.read_into(&path, &mut text).unwrap();
                    found.push(format!("{} {}", path.display(), String::from_utf8_lossy(&text).trim()));
                }
                _ => {}
            }
        }
    }
    found.sort();
    found
}

const OLD: [&str; 3] = ["/r/.stan/output/", "/r/.stan/output/archive.tar old", "/r/.stan/output/gone old"];

#[test]
fn nothing_is_there_before_the_commit_and_everything_after() {
    let system = MemorySystem::from_fixture(TREE);
    let lock = locked(&system);
    let mut transaction = begin(&system, &lock);
    let prepared = transaction.write(".stan/output/archive.tar", b"new", Access::Shared).unwrap();
    assert_eq!(prepared.path(), Path::new("/r/.stan/output/.stan-tmp-7-0-archive.tar"));
    let mut stream = transaction.stream(".stan/context/npm/a/b", Access::Private).unwrap();
    stream.put(b"str").unwrap();
    stream.write_all(b"eam").unwrap();
    transaction.finish(stream).unwrap();
    let discarded = transaction.write(".stan/output/other", b"x", Access::Shared).unwrap();
    transaction.discard(discarded).unwrap();
    drop(transaction.stream(".stan/output/unfinished", Access::Shared).unwrap());
    transaction.remove(".stan/output/gone").unwrap();
    transaction.remove(".stan/output/never-there").unwrap();
    let mut visible = files(&system);
    visible.retain(|line| !line.contains(".stan-tmp-") && !line.ends_with('/'));
    assert_eq!(visible, OLD[1..]);
    transaction.commit().unwrap();
    let expected = [
        "/r/.stan/context/",
        "/r/.stan/context/npm/",
        "/r/.stan/context/npm/a/",
        "/r/.stan/context/npm/a/b stream",
        "/r/.stan/output/",
        "/r/.stan/output/archive.tar new",
    ];
    assert_eq!(files(&system), expected);
}

#[test]
fn dropping_rolls_everything_back() {
    let system = MemorySystem::from_fixture(TREE);
    let lock = locked(&system);
    let mut transaction = begin(&system, &lock);
    transaction.write(".stan/output/archive.tar", b"new", Access::Shared).unwrap();
    let mut stream = transaction.stream(".stan/context/npm/a/b", Access::Shared).unwrap();
    stream.put(b"half").unwrap();
    transaction.remove(".stan/output/gone").unwrap();
    drop(stream);
    drop(transaction);
    assert_eq!(files(&system), OLD);
}

#[test]
fn only_leftovers_of_killed_runs_are_removed() {
    let system = MemorySystem::from_fixture(TREE);
    let keep = [".stan-tmp-", ".stan-tmp-1-2", ".stan-tmp-x-1-a", ".stan-tmp-1-x-a", "stan-tmp-1-2-a"];
    for name in keep {
        system.set_file(format!("/r/.stan/context/{name}"), "");
    }
    system.set_file("/r/.stan/context/npm/z/.stan-tmp-99-3-index.js", "");
    system.set_file("/r/.stan/output/.stan-tmp-99-0-archive.tar", "");
    system.set_file("/r/.stan/imports/.stan-tmp-99-0-a", "").set_file("/r/elsewhere/.stan-tmp-1-2-a", "");
    system.set_link("/r/.stan/context/link", "/r/elsewhere").set_link("/r/.stan/output/.stan-tmp-1-2-l", "x");
    let lock = locked(&system);
    drop(begin(&system, &lock));
    for name in keep {
        assert!(system.lstat(&Path::new("/r/.stan/context").join(name)).is_ok(), "{name}");
    }
    let is_there = |path: &str| system.lstat(Path::new(path)).is_ok();
    assert!(!is_there("/r/.stan/context/npm/z/.stan-tmp-99-3-index.js"));
    assert!(!is_there("/r/.stan/output/.stan-tmp-99-0-archive.tar"));
    assert!(is_there("/r/.stan/imports/.stan-tmp-99-0-a") && is_there("/r/elsewhere/.stan-tmp-1-2-a"));
    assert!(is_there("/r/.stan/output/.stan-tmp-1-2-l"));
}

fn check_refused(target: &str, expected: &str) {
    let system = MemorySystem::from_fixture(TREE);
    system.set_link("/r/.stan/linked", "/r/elsewhere").set_dir("/r/.stan/folder").set_file("/r/.stan/file", "");
    let lock = locked(&system);
    let before = files(&system);
    let mut transaction = begin(&system, &lock);
    let error = transaction.write(target, b"x", Access::Shared).unwrap_err().to_string();
    assert!(error.contains(expected), "{target}: {error}");
    assert_eq!(transaction.remove(target).unwrap_err().to_string(), error, "removing is no more daring than writing");
    drop(transaction);
    assert_eq!(files(&system), before);
}

#[test]
fn unsafe_targets_are_refused() {
    check_refused(".stan/linked/x", "`.stan/linked` is a link in place of a folder");
    check_refused(".stan/folder", "`.stan/folder` is a folder, and a file is to be written there");
    check_refused(".stan/file/x", "`.stan/file` is in the way");
    check_refused("elsewhere/x", "`elsewhere/x` is outside `.stan/`");
    check_refused(".stanley/x", "is outside");
    check_refused(".stan", "is outside");
    check_refused(".stan/../x", "cannot be the name");
    check_refused("/r/.stan/x", "cannot be the name");
}

#[test]
fn a_target_is_written_once_and_long_names_fit() {
    let system = MemorySystem::from_fixture(TREE);
    let lock = locked(&system);
    let mut transaction = begin(&system, &lock);
    transaction.write(".stan/a", b"1", Access::Shared).unwrap();
    assert!(transaction.write(".stan/a", b"2", Access::Shared).is_err());
    let long = format!(".stan/{}", "ä".repeat(127));
    let prepared = transaction.write(&long, b"3", Access::Shared).unwrap();
    assert!(prepared.path().file_name().unwrap().len() <= 255);
    transaction.commit().unwrap();
    assert!(system.lstat(&Path::new("/r").join(long)).is_ok());
}

#[test]
fn a_link_at_the_target_is_replaced() {
    let system = MemorySystem::from_fixture(TREE);
    system.set_link("/r/.stan/l", "/r/elsewhere/x");
    let lock = locked(&system);
    let mut transaction = begin(&system, &lock);
    transaction.write(".stan/l", b"new", Access::Shared).unwrap();
    transaction.commit().unwrap();
    assert_eq!(system.lstat(Path::new("/r/.stan/l")).unwrap().kind, EntryKind::File);
    assert_eq!(system.lstat(Path::new("/r/elsewhere/x")).unwrap().size, 0);
}

#[test]
fn an_output_with_the_same_bytes_is_not_replaced() {
    let system = MemorySystem::new();
    system.set_dir("/r");
    let root = Path::new("/r");
    let target = ".stan/output/archive.tar";
    let put = |pieces: &[&str]| {
        let lock = locked(&system);
        let mut transaction = Transaction::begin(&system, root, &lock, &["output"]).unwrap();
        let mut stream = transaction.stream_unless_same(target, Access::Shared).unwrap();
        for piece in pieces {
            stream.put(piece.as_bytes()).unwrap();
            stream.flush().unwrap();
        }
        let prepared = transaction.finish(stream).unwrap();
        let mut waiting = Vec::new();
        system.read_into(prepared.path(), &mut waiting).unwrap();
        assert_eq!(waiting, pieces.concat().as_bytes(), "the bytes are there before the commit");
        let writes = transaction.writes().count();
        transaction.commit().unwrap();
        let mut bytes = Vec::new();
        system.read_into(&root.join(target), &mut bytes).unwrap();
        assert_eq!(bytes, pieces.concat().as_bytes());
        assert_eq!(system.read_dir(&root.join(".stan/output")).unwrap().len(), 1, "nothing is left beside it");
        writes
    };
    for (pieces, writes) in [
        (&["one", "two"][..], 1),
        (&["one", "two"], 0),
        (&["onetwo"], 0),
        (&["one", "twx"], 1),
        (&["one"], 1),
        (&["one", "more"], 1),
        (&["xne", "more"], 1),
        (&[], 1),
        (&[], 0),
    ] {
        assert_eq!(put(pieces), writes, "{pieces:?}");
    }
}
