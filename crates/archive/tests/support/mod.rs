//! A whole run as the engine does it: lock, stage, map, archives, snapshot, commit; and the state of the disk afterwards.
#![expect(dead_code, reason = "every test file compiles this and uses its own part")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use stan_archive::{
    ArchiveEntry, Error, External, FinishedArchive, Holder, Lock, Snapshot, Staged, Transaction, Written, stage,
    write_archive, write_diff,
};
use stan_repo::{Access, EntryKind, HashedFile, System, SystemExt as _, WritableSystem, hash_file, sha256};

pub(crate) const FOLDERS: [&str; 3] = ["context", "output", "diff"];

/// The selection of a run: files of the repository, and externals by id and source.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selection {
    pub(crate) files: Vec<String>,
    pub(crate) externals: Vec<External>,
}

/// An external whose promises match its source.
pub(crate) fn external(system: &dyn System, id: &str, source: impl Into<PathBuf>) -> External {
    let source = source.into();
    let HashedFile { digest, size, .. } = hash_file(system, &source).unwrap();
    let half = std::array::from_fn(|index| digest.0[index]);
    External { id: id.to_owned(), source, map: Some((size, digest)), meta: Some((size, half)) }
}

pub(crate) fn lock<'s>(system: &'s dyn WritableSystem, root: &Path) -> Result<Lock<'s>, Error> {
    let holder = Holder { process: std::process::id(), command: "a test".to_owned() };
    Lock::acquire(system, root, ".stan", &holder, &mut || false, &mut |_| {})
}

/// Only stages, and commits.
pub(crate) fn stage_all(system: &dyn WritableSystem, root: &Path, externals: Vec<External>) -> Result<(), Error> {
    let lock = lock(system, root)?;
    let mut transaction = Transaction::begin(system, root, &lock, &FOLDERS)?;
    stage(&mut transaction, externals)?;
    transaction.commit()
}

/// A whole run.
pub(crate) fn run(system: &dyn WritableSystem, root: &Path, selection: &Selection) -> Result<Written, Error> {
    let lock = lock(system, root)?;
    let mut transaction = Transaction::begin(system, root, &lock, &FOLDERS)?;
    let staged = stage(&mut transaction, selection.externals.clone())?;
    let map = format!("{:?}", selection.externals);
    transaction.write(".stan/context/dependency.map.json", map.as_bytes(), Access::Private)?;
    let mut out = transaction.stream(".stan/output/archive.tar", Access::Shared)?;
    let written = write_archive(system, entries(root, selection, &staged), 0, &mut out)?;
    let full = transaction.finish(out)?;
    let changed: Vec<&str> = written.files.iter().map(|file| file.name.as_str()).step_by(2).collect();
    let list = [ArchiveEntry::bytes(".stan/output/archive.diff.json", "{}")];
    let mut out = transaction.stream(".stan/output/archive.diff.tar", Access::Shared)?;
    write_diff(system, FinishedArchive { file: &full, written: &written }, changed, &list, 0, &mut out)?;
    transaction.finish(out)?;
    let snapshot: Snapshot = written.snapshot();
    transaction.write_durable(".stan/diff/.archive.snapshot.json", &snapshot.encode(), Access::Shared)?;
    transaction.remove(".stan/output/stale")?;
    transaction.commit()?;
    Ok(written)
}

fn entries(root: &Path, selection: &Selection, staged: &Staged) -> Vec<ArchiveEntry> {
    let files = selection.files.iter().map(|name| ArchiveEntry::file(name, root.join(name)));
    files.chain(staged.entries()).collect()
}

/// Everything below `<stanPath>` except the lock: files by digest, symlinks and folders by kind.
pub(crate) fn outputs(system: &dyn System, root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut pending = vec![root.join(".stan")];
    while let Some(directory) = pending.pop() {
        for entry in system.read_dir(&directory).unwrap_or_default() {
            let path = directory.join(&entry.name);
            let what = match entry.kind {
                EntryKind::Dir => {
                    pending.push(path.clone());
                    "folder".to_owned()
                }
                EntryKind::File => {
                    let mut bytes = Vec::new();
                    system.read_into(&path, &mut bytes).unwrap();
                    format!("{} bytes {}", bytes.len(), sha256(&bytes))
                }
                _ => "other".to_owned(),
            };
            if entry.name != ".lock" {
                found.insert(path.strip_prefix(root).unwrap().display().to_string(), what);
            }
        }
    }
    found
}
