//! Lists what is below a folder, to compare a workspace before and after, and to read everything once.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::program::digest;
use crate::Result;

/// The size of every file by path below `root`; symlinks are not followed.
pub(super) fn sizes(root: &Path) -> Result<BTreeMap<String, u64>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                folders.push(path);
                continue;
            }
            match entry.metadata() {
                Ok(metadata) => {
                    found.insert(path.to_string_lossy().into_owned(), metadata.len());
                }
                // Other processes may delete files meanwhile.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(found)
}

/// The SHA-256 of every file for which `keep` returns true, by path below `root`.
pub(super) fn digests(root: &Path, keep: impl Fn(&str) -> bool) -> Result<BTreeMap<String, String>> {
    let names = sizes(root)?.into_keys().filter(|path| keep(path));
    names.map(|path| Ok((path.clone(), digest(&root.join(&path))?))).collect()
}

/// A few of the names whose values differ between the maps, or that are only in one.
pub(super) fn differences<V: PartialEq>(left: &BTreeMap<String, V>, right: &BTreeMap<String, V>) -> Vec<String> {
    let names = left.keys().chain(right.keys().filter(|name| !left.contains_key(*name)));
    names.filter(|name| left.get(*name) != right.get(*name)).take(8).cloned().collect()
}

/// Reads and discards every file below `root` except `.git`, `.stan` and `node_modules`, on one thread per processor.
pub(super) fn read_everything(root: &Path) -> Result<u64> {
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let (queue, total) = (Mutex::new(files_of_repository(root)?), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(|| read_some(&queue, &total))).collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| "a reader panicked")?)
    })?;
    Ok(total.into_inner())
}

fn files_of_repository(root: &Path) -> Result<Vec<PathBuf>> {
    let (mut files, mut folders) = (Vec::new(), vec![root.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_file() {
                files.push(entry.path());
            } else if kind.is_dir() && ![".git", ".stan", "node_modules"].iter().any(|name| entry.file_name() == *name)
            {
                folders.push(entry.path());
            }
        }
    }
    Ok(files)
}

fn read_some(queue: &Mutex<Vec<PathBuf>>, total: &AtomicU64) -> Result<()> {
    let mut buffer = vec![0; 1 << 18];
    loop {
        let next = queue.lock().map_err(|_| "a reader panicked")?.pop();
        let Some(path) = next else { return Ok(()) };
        let mut file = File::open(path)?;
        loop {
            match file.read(&mut buffer)? {
                0 => break,
                count => total.fetch_add(count as u64, Ordering::Relaxed),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{differences, digests, read_everything, sizes};

    #[test]
    fn files_are_found_read_and_hashed() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        std::fs::create_dir_all(folder.path().join("a/b")).expect("folders");
        std::fs::create_dir_all(folder.path().join(".stan")).expect("folders");
        for (name, text) in [("a/b/c", "123"), ("d", "4567"), (".stan/e", "x")] {
            std::fs::write(folder.path().join(name), text).expect("files");
        }
        let expected = [(".stan/e", 1), ("a/b/c", 3), ("d", 4)].map(|(name, size)| (name.to_owned(), size));
        assert_eq!(sizes(folder.path()).expect("sizes"), BTreeMap::from(expected));
        assert_eq!(digests(folder.path(), |name| name == "d").expect("digests").len(), 1);
        assert_eq!(read_everything(folder.path()).expect("it is read"), 7);
    }

    #[test]
    fn differences_are_named() {
        let map = |items: &[(&str, u8)]| -> BTreeMap<String, u8> {
            items.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
        };
        let (left, right) = (map(&[("a", 1), ("b", 2), ("c", 3)]), map(&[("b", 2), ("c", 4), ("d", 5)]));
        assert_eq!(differences(&left, &right), ["a", "c", "d"]);
    }
}
