//! Laws of applied replies on an in-memory file system: all files are old or all are new, whatever fails at any time, and undo
//! restores bytes and permissions.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use stan_repo::{
    DirEntry, Fault, FaultySystem, Links, MemorySystem, OpenFile, Stat, System, SystemExt as _, SystemLayer,
    WritableLayer,
};

use super::*;
use crate::lock::Holder;

const ROOT: &str = "/r";

fn workspace() -> MemorySystem {
    let system = MemorySystem::new();
    system.set_now(1_000_000);
    system.set_file("/r/a.ts", "old a").set_file("/r/run.sh", "old run").set_executable("/r/run.sh", true);
    system.set_file("/r/lib/gone.ts", "gone").set_file("/r/lib/deep/too.ts", "too").set_file("/r/kept.ts", "kept");
    system.set_file("/r/secret.ts", "secret").set_private("/r/secret.ts", true);
    system
}

fn digest(system: &dyn WritableSystem, path: &str) -> Option<Digest> {
    let mut bytes = Vec::new();
    system.read_into(&Path::new(ROOT).join(path), &mut bytes).ok()?;
    Some(stan_repo::sha256(&bytes))
}

fn change(system: &dyn WritableSystem, path: &str, new: Option<(&str, NewMode)>) -> PatchFile {
    let new = new.map(|(text, mode)| NewFile { bytes: Rc::new(text.as_bytes().to_vec()), mode });
    PatchFile { path: path.to_owned(), old: digest(system, path), new }
}

const USUAL: NewMode = NewMode::Usual { executable: false };

/// Edits, creates and removes files and folders, and changes permissions.
fn reply(system: &dyn WritableSystem) -> PatchSet {
    PatchSet {
        files: vec![
            change(system, "a.ts", Some(("new a", NewMode::Bits(0o644)))),
            change(system, "run.sh", Some(("old run", NewMode::Bits(0o644)))),
            change(system, "secret.ts", Some(("new secret", NewMode::Bits(0o600)))),
            change(system, "lib/gone.ts", None),
            change(system, "lib/deep/too.ts", None),
            change(system, "new/folder/b.ts", Some(("new b", USUAL))),
            change(system, "tool.sh", Some(("new tool", NewMode::Usual { executable: true }))),
        ],
        made_folders: vec!["empty".to_owned()],
        removed_folders: vec!["lib".to_owned()],
    }
}

fn with_lock<T>(system: &dyn WritableSystem, act: impl FnOnce(&Lock<'_>) -> Result<T, Error>) -> Result<T, Error> {
    let holder = Holder { process: 1, command: "test".to_owned() };
    let lock = Lock::acquire(system, Path::new(ROOT), ".stan", &holder, &mut || false, &mut |_| {})?;
    act(&lock)
}

fn apply(system: &dyn WritableSystem, set: &PatchSet) -> Result<(), Error> {
    with_lock(system, |lock| apply_patches(system, Path::new(ROOT), lock, set))
}

fn undo(system: &dyn WritableSystem) -> Result<Vec<String>, Error> {
    with_lock(system, |lock| undo_patches(system, Path::new(ROOT), lock))
}

fn recover(system: &dyn WritableSystem) -> Result<Option<Recovered>, Error> {
    with_lock(system, |lock| recover_patches(system, Path::new(ROOT), lock))
}

/// Every file and folder outside `.stan`, with bytes and permissions.
fn tree(system: &MemorySystem) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut pending = vec![std::path::PathBuf::from(ROOT)];
    while let Some(folder) = pending.pop() {
        for entry in system.read_dir(&folder).unwrap() {
            let path = folder.join(&entry.name);
            if path == Path::new("/r/.stan") {
                continue;
            }
            let shown = path.to_string_lossy().into_owned();
            if entry.kind == EntryKind::Dir {
                found.insert(shown, "folder".to_owned());
                pending.push(path);
                continue;
            }
            if entry.kind == EntryKind::Link {
                found.insert(shown, format!("link {:?}", system.read_link(&path).unwrap()));
                continue;
            }
            let mut bytes = Vec::new();
            system.read_into(&path, &mut bytes).unwrap();
            let mode = system.permissions(&path).unwrap();
            found.insert(shown, format!("{mode:o} {}", String::from_utf8_lossy(&bytes)));
        }
    }
    found
}

#[test]
fn an_applied_reply_can_be_undone() {
    let system = workspace();
    let old = tree(&system);
    apply(&system, &reply(&system)).unwrap();
    let new = tree(&system);
    for (path, expected) in [
        ("/r/a.ts", Some("644 new a")),
        ("/r/run.sh", Some("644 old run")),
        ("/r/secret.ts", Some("600 new secret")),
        ("/r/lib", None),
        ("/r/new/folder/b.ts", Some("644 new b")),
        ("/r/tool.sh", Some("755 new tool")),
        ("/r/empty", Some("folder")),
        ("/r/kept.ts", Some("644 kept")),
    ] {
        assert_eq!(new.get(path).map(String::as_str), expected, "{path}");
    }
    assert!(!has_pending_patch(&system, Path::new(ROOT), ".stan"));
    assert_eq!(undo(&system).unwrap().len(), 7);
    assert_eq!(tree(&system), old);
    assert!(matches!(undo(&system), Err(Error::NothingToUndo)));
}

#[test]
fn files_changed_since_the_check_are_not_overwritten() {
    let system = workspace();
    let set = reply(&system);
    system.set_file("/r/a.ts", "by hand");
    assert!(matches!(apply(&system, &set), Err(Error::ChangedSinceChecked { path }) if path == "a.ts"));
    let set = reply(&system);
    apply(&system, &set).unwrap();
    system.set_file("/r/tool.sh", "by hand");
    let before = tree(&system);
    assert!(matches!(undo(&system), Err(Error::ChangedSinceApplied { path }) if path == "tool.sh"));
    assert_eq!(tree(&system), before);
}

#[test]
fn links_and_folders_are_not_written_over() {
    let system = workspace();
    system.set_link("/r/link", "a.ts").set_link("/r/folder", "lib");
    let before = tree(&system);
    for path in ["link", "folder/x.ts", "lib", "a.ts/x", "../out", ".git/../x"] {
        let set = PatchSet {
            files: vec![PatchFile {
                path: path.to_owned(),
                old: None,
                new: Some(NewFile { bytes: Rc::default(), mode: USUAL }),
            }],
            ..PatchSet::default()
        };
        assert!(apply(&system, &set).is_err(), "{path}");
        assert_eq!(tree(&system), before, "{path}");
    }
}

#[test]
fn only_the_last_ten_patches_are_kept() {
    let system = workspace();
    for version in 0..13 {
        let set = PatchSet {
            files: vec![change(&system, "a.ts", Some((&format!("version {version}"), NewMode::Bits(0o644))))],
            ..PatchSet::default()
        };
        apply(&system, &set).unwrap();
    }
    for version in (2..12).rev() {
        undo(&system).unwrap();
        assert_eq!(tree(&system)["/r/a.ts"], format!("644 version {version}"));
    }
    assert!(matches!(undo(&system), Err(Error::NothingToUndo)));
}

#[test]
fn more_than_can_be_undone_is_refused() {
    let system = workspace();
    system.set_file("/r/large.ts", "x".repeat((50 << 20) + 1));
    let set = PatchSet { files: vec![change(&system, "large.ts", None)], ..PatchSet::default() };
    assert!(matches!(apply(&system, &set), Err(Error::TooLargeToUndo { .. })));
    assert!(system.lstat(Path::new("/r/large.ts")).is_ok());
}

/// A repository may contain a journal, which is not trusted. A folder with nine digits would be applied, and could neither be
/// undone nor recovered.
#[test]
fn a_folder_that_came_with_the_repository_does_not_use_up_the_numbers() {
    let system = workspace();
    let before = tree(&system);
    system.set_file("/r/.stan/patch/99999999/x", "x");
    let message = apply(&system, &reply(&system)).unwrap_err().to_string();
    assert!(message.contains("`.stan/patch/99999999`") && message.contains("remove the folder"), "{message}");
    assert_eq!(tree(&system), before);
    let message = undo(&system).unwrap_err().to_string();
    assert!(message.contains("there is none; remove the folder"), "{message}");
    assert_eq!(tree(&system), before);
    // Smaller numbers are skipped.
    system.remove("/r/.stan/patch/99999999/x").remove("/r/.stan/patch/99999999");
    system.set_file("/r/.stan/patch/00000041/x", "x");
    apply(&system, &reply(&system)).unwrap();
    undo(&system).unwrap();
    assert_eq!(tree(&system), before);
}

#[test]
fn a_record_of_another_place_is_refused() {
    let system = workspace();
    let before = tree(&system);
    let side = r#"{"size":1,"sha256":"x","mode":420}"#;
    let record = format!(
        r#"{{"v":1,"seal":{{"inode":1,"time":1}},"files":[{{"path":".git/hooks/x","old":null,"new":{side}}}],"madeFolders":[],"removedFolders":[]}}"#
    );
    for (name, folder) in [("new-00000001", "new-00000001"), ("00000001", "00000001")] {
        let system = system.duplicate();
        system.set_file(format!("/r/.stan/patch/{name}/record.json"), &*record);
        system.set_file(format!("/r/.stan/patch/{name}/seal"), "stan\n");
        system.set_file(format!("/r/.stan/patch/{name}/new-0"), "x");
        system.set_file("/r/.stan/patch/pending.json", format!(r#"{{"folder":"{folder}","kind":"apply"}}"#));
        let message = recover(&system).unwrap_err().to_string();
        assert!(message.contains("was not written here"), "{message}");
        assert_eq!(tree(&system), before);
    }
    for broken in ["", "{}", r#"{"folder":"../..","kind":"apply"}"#, r#"{"folder":"0","kind":"apply"}"#] {
        let system = system.duplicate();
        system.set_file("/r/.stan/patch/pending.json", broken);
        assert!(recover(&system).is_err(), "{broken}");
        assert_eq!(tree(&system), before);
    }
}

/// Without the folders: one that cannot be removed is left over, empty.
fn files(system: &MemorySystem) -> BTreeMap<String, String> {
    tree(system).into_iter().filter(|(_, text)| text != "folder").collect()
}

/// Each effect fails in turn, once or from there on. Afterwards, or after the next command's recovery, all files are old or all
/// are new.
fn fail_everywhere(act: impl Fn(&dyn WritableSystem) -> Result<(), Error>, before: &MemorySystem) -> usize {
    let old = files(before);
    let after = before.duplicate();
    act(&after).unwrap();
    let new = files(&after);
    assert_ne!(old, new);
    let mut positions = 0;
    let faults = [Fault::NoSpace, Fault::Io, Fault::Denied, Fault::ReadOnly, Fault::OtherDevice, Fault::TooManyFiles];
    for fault in faults {
        for lasting in [false, true] {
            for at in 0.. {
                let system = before.duplicate();
                let faulty = FaultySystem::new(&system, fault, at, lasting);
                let outcome = act(&faulty);
                if faulty.injected().is_empty() {
                    break;
                }
                positions += 1;
                let what = format!("{fault:?} at {at}, lasting {lasting}: {outcome:?} {:?}", faulty.injected().first());
                let is_pending = has_pending_patch(&system, Path::new(ROOT), ".stan");
                if !is_pending {
                    let expected = if outcome.is_ok() { &new } else { &old };
                    let found = files(&system);
                    assert!(found == *expected || found == new, "{what}\n{found:#?}");
                }
                recover(&system).unwrap_or_else(|error| panic!("{what}: {error}"));
                let found = files(&system);
                assert!(found == old || found == new, "{what}\n{found:#?}");
                assert!(!has_pending_patch(&system, Path::new(ROOT), ".stan"), "{what}");
                if found == old {
                    act(&system).unwrap_or_else(|error| panic!("{what}: {error}"));
                    assert_eq!(files(&system), new, "{what}");
                }
            }
        }
    }
    positions
}

#[test]
fn whatever_fails_while_a_reply_is_applied() {
    let before = workspace();
    let set = reply(&before);
    let positions = fail_everywhere(|system| apply(system, &set), &before);
    assert!(positions > 500, "{positions}");
}

#[test]
fn whatever_fails_while_a_reply_is_taken_back() {
    let before = workspace();
    let set = reply(&before);
    apply(&before, &set).unwrap();
    let positions = fail_everywhere(|system| undo(system).map(drop), &before);
    assert!(positions > 500, "{positions}");
}

/// A change is stopped halfway, and then a user edits one of the files.
#[test]
fn edits_by_users_after_a_kill_are_kept() {
    let before = workspace();
    let set = reply(&before);
    for at in 0.. {
        let system = before.duplicate();
        let faulty = FaultySystem::new(&system, Fault::Io, at, true);
        let _ = apply(&faulty, &set);
        if faulty.injected().is_empty() {
            break;
        }
        if has_pending_patch(&system, Path::new(ROOT), ".stan") {
            system.set_file("/r/a.ts", "by hand");
            recover(&system).unwrap();
            assert_eq!(tree(&system)["/r/a.ts"], "644 by hand", "at {at}");
        }
    }
}

/// A change of one path of a small tree.
fn random_change() -> impl Strategy<Value = (usize, Option<(Vec<u8>, u32)>)> {
    let mode = prop_oneof![Just(0o644_u32), Just(0o755), Just(0o600), Just(0o700)];
    (0..PLACES.len(), prop::option::of((prop::collection::vec(any::<u8>(), 0..40), mode)))
}

/// Replaces `/r/lib` by a link to `/out` before call number `at`.
struct Swapping {
    system: MemorySystem,
    calls: AtomicUsize,
    at: usize,
}

impl Swapping {
    fn call<T>(&self, call: impl FnOnce(&MemorySystem) -> io::Result<T>) -> io::Result<T> {
        if self.calls.fetch_add(1, Ordering::Relaxed) == self.at {
            self.system.rename(Path::new("/r/lib"), Path::new("/r/away"))?;
            self.system.set_link("/r/lib", "/out");
        }
        call(&self.system)
    }
}

impl SystemLayer for Swapping {
    type Inner = MemorySystem;

    fn inner(&self) -> &MemorySystem {
        &self.system
    }

    fn list_dir(&self, path: &Path, links: Links) -> io::Result<Vec<DirEntry>> {
        self.call(|system| system.list_dir(path, links))
    }

    fn lstat(&self, path: &Path) -> io::Result<Stat> {
        self.call(|system| system.lstat(path))
    }

    fn open_file(&self, path: &Path, links: Links) -> io::Result<OpenFile> {
        self.call(|system| system.open_file(path, links))
    }

    fn read_file(&self, path: &Path, links: Links, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Stat> {
        self.call(|system| system.read_file(path, links, limit, buffer))
    }
}

impl WritableLayer for Swapping {
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.call(|system| system.remove_file(path))
    }

    fn remove_real(&self, path: &Path) -> io::Result<()> {
        self.call(|system| system.remove_real(path))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call(|system| system.rename(from, to))
    }

    fn rename_real(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call(|system| system.rename_real(from, to))
    }
}

/// What is in `/out`.
fn outside(system: &MemorySystem) -> (Vec<u8>, Vec<std::ffi::OsString>) {
    let mut bytes = Vec::new();
    let _ = system.read_into(Path::new("/out/edit.ts"), &mut bytes);
    let mut names: Vec<_> = system.read_dir(Path::new("/out")).unwrap().into_iter().map(|entry| entry.name).collect();
    names.sort();
    (bytes, names)
}

/// The check of a path and the write that follows it are two calls, and a folder may become a link between any two.
#[test]
fn nothing_is_changed_behind_a_link_that_appears_while_a_reply_is_applied() {
    for is_undone in [false, true] {
        for at in 0.. {
            let memory = workspace();
            memory
                .set_file("/out/gone.ts", "gone")
                .set_file("/out/deep/too.ts", "too")
                .set_file("/out/edit.ts", "edit");
            memory.set_file("/r/lib/edit.ts", "edit");
            let edited = change(&memory, "lib/edit.ts", Some(("edited", USUAL)));
            let gone = change(&memory, "lib/gone.ts", None);
            let set = PatchSet { files: vec![edited, gone], ..PatchSet::default() };
            if is_undone {
                apply(&memory, &set).unwrap();
                // The same as in the folder, so that no digest tells them apart.
                memory.set_file("/out/edit.ts", "edited").remove("/out/gone.ts");
            }
            let before = outside(&memory);
            let system = Swapping { system: memory, calls: AtomicUsize::new(0), at };
            let _ = if is_undone { undo(&system).map(drop) } else { apply(&system, &set) };
            assert_eq!(outside(&system.system), before, "call {at}, undone: {is_undone}");
            if system.calls.load(Ordering::Relaxed) <= at {
                assert!(at > 20, "only {at} calls");
                break;
            }
        }
    }
}

const PLACES: [&str; 8] =
    ["a.ts", "run.sh", "secret.ts", "lib/gone.ts", "lib/deep/too.ts", "new/x", "new/deep/y", "top.bin"];

proptest! {
    /// Applies one reply after the other, then undoes them all: bytes, permissions and folders are restored at each
    /// step.
    #[test]
    fn taking_back_is_the_inverse_of_applying(replies in prop::collection::vec(prop::collection::vec(random_change(), 1..6), 1..6)) {
        let system = workspace();
        let mut earlier = vec![tree(&system)];
        for changes in replies {
            let changes: BTreeMap<usize, _> = changes.into_iter().collect();
            let file = |(place, new): (usize, Option<(Vec<u8>, u32)>)| {
                let path = PLACES[place];
                let new = new.map(|(bytes, mode)| NewFile { bytes: Rc::new(bytes), mode: NewMode::Bits(mode) });
                PatchFile { path: path.to_owned(), old: digest(&system, path), new }
            };
            let files: Vec<PatchFile> = changes.into_iter().map(file).filter(|file| file.old.is_some() || file.new.is_some()).collect();
            if files.is_empty() {
                continue;
            }
            let paths: Vec<(String, Option<Vec<u8>>)> =
                files.iter().map(|file| (format!("/r/{}", file.path), file.new.as_ref().map(|new| new.bytes.to_vec()))).collect();
            apply(&system, &PatchSet { files, ..PatchSet::default() }).unwrap();
            for (path, expected) in paths {
                let mut bytes = Vec::new();
                let found = system.read_into(Path::new(&path), &mut bytes).ok().map(|_| bytes);
                prop_assert_eq!(found, expected);
            }
            earlier.push(tree(&system));
        }
        prop_assert_eq!(&tree(&system), &earlier.pop().unwrap());
        while let Some(before) = earlier.pop() {
            undo(&system).unwrap();
            prop_assert_eq!(&tree(&system), &before);
        }
        prop_assert!(matches!(undo(&system), Err(Error::NothingToUndo)));
    }
}
