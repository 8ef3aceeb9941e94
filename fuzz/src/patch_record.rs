//! The laws of the journal of applied replies: any bytes as the note of a change in progress, and as its record.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use stan_archive::{Holder, Lock, recover_patches, undo_patches};
use stan_repo::{EntryKind, MemorySystem, System as _, SystemExt as _};

const ROOT: &str = "/r";
const PENDING: &str = "/r/.stan/patch/pending.json";
const STAGED: &str = "/r/.stan/patch/new-00000001";
const APPLIED: &str = "/r/.stan/patch/00000001";

/// A line `---` separates the note from the record. Without a valid seal, nothing outside of `patch/` changes, because the record
/// was not made here. With a seal of this repository, only files in the record change, inside the root and outside of git's
/// folder; each then has its old contents, those stored beside the record, or is deleted.
pub fn law(bytes: &[u8]) {
    const SEPARATOR: &[u8] = b"\n---\n";
    let at = bytes.windows(SEPARATOR.len()).position(|window| window == SEPARATOR);
    let (pending, record) = at.map_or((bytes, &bytes[..0]), |at| (&bytes[..at], &bytes[at + SEPARATOR.len()..]));
    let forged = workspace(pending, record);
    let before = outside(&forged);
    act(&forged);
    assert_eq!(outside(&forged), before, "a record that was not made here changed something");
    let Ok(mut sealed) = serde_json::from_slice::<Value>(record) else { return };
    let Some(document) = sealed.as_object_mut() else { return };
    let system = workspace(pending, b"");
    let Ok(stat) = system.lstat(Path::new(&format!("{STAGED}/seal"))) else { return };
    document.insert("seal".to_owned(), serde_json::json!({ "inode": stat.inode, "time": stat.ctime }));
    system.set_file(format!("{STAGED}/record.json"), sealed.to_string());
    let before = outside(&system);
    act(&system);
    let named: Vec<String> = sealed["files"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|file| file["path"].as_str())
        .map(|path| format!("{ROOT}/{path}"))
        .collect();
    let after = outside(&system);
    for path in before.keys().chain(after.keys()).filter(|path| before.get(*path) != after.get(*path)) {
        let is_folder =
            [before.get(path), after.get(path)].iter().all(|one| one.is_none_or(|bytes| bytes == b"folder"));
        assert!(path.starts_with("/r/") && !path.starts_with("/r/.git"), "{path}");
        assert!(is_folder || named.contains(path), "{path} was changed, but the record does not name it");
    }
}

fn workspace(pending: &[u8], record: &[u8]) -> MemorySystem {
    let system = MemorySystem::new();
    system.set_now(1_000_000);
    system
        .set_file("/r/a.ts", "a")
        .set_file("/r/lib/b.ts", "b")
        .set_file("/r/.git/config", "git")
        .set_file("/out", "out");
    system.set_link("/r/link", "/");
    system.set_file(PENDING, pending);
    for folder in [STAGED, APPLIED] {
        system.set_file(format!("{folder}/seal"), "stan\n").set_file(format!("{folder}/record.json"), record);
        for name in ["new-0", "new-1", "old-0", "old-1"] {
            system.set_file(format!("{folder}/{name}"), "x");
        }
    }
    system
}

/// Runs the next command, and then undoes everything as a user would.
fn act(system: &MemorySystem) {
    let holder = Holder { process: 1, command: "fuzz".to_owned() };
    let Ok(lock) = Lock::acquire(system, Path::new(ROOT), ".stan", &holder, &mut || false, &mut |_| {}) else { return };
    let _ = recover_patches(system, Path::new(ROOT), &lock);
    let _ = undo_patches(system, Path::new(ROOT), &lock);
}

/// Everything except the journal and the lock.
fn outside(system: &MemorySystem) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut pending = vec!["/".to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in system.read_dir(Path::new(&folder)).unwrap_or_default() {
            let path = format!("{}/{}", folder.trim_end_matches('/'), entry.name.to_string_lossy());
            if path.starts_with("/r/.stan") {
                continue;
            }
            let mut bytes = Vec::new();
            match entry.kind {
                EntryKind::Dir => {
                    bytes = b"folder".to_vec();
                    pending.push(path.clone());
                }
                EntryKind::Link | EntryKind::Other => bytes = b"link".to_vec(),
                EntryKind::File => drop(system.read_into(Path::new(&path), &mut bytes)),
            }
            found.insert(path, bytes);
        }
    }
    found
}
