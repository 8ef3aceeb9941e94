//! A bare walk: one `readdir` per folder, on several threads, without ignore rules and `stat`.

use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::Result;

/// Paths relative to the working directory, unordered.
#[derive(Default)]
pub(super) struct FilesAndFolders {
    pub(super) files: Vec<PathBuf>,
    pub(super) folders: Vec<PathBuf>,
}

/// Folders to read, and the number of threads that may still add some.
struct Queue {
    folders: Vec<PathBuf>,
    reading: usize,
}

/// Everything below the working directory except `.git` and `node_modules`.
pub(super) fn walk(threads: usize) -> Result<FilesAndFolders> {
    let queue = Mutex::new(Queue { folders: vec![PathBuf::new()], reading: 0 });
    let changed = Condvar::new();
    let parts = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(|| work(&queue, &changed))).collect();
        handles
            .into_iter()
            .map(|handle| handle.join().map_err(|_| "a walker panicked")?)
            .collect::<Result<Vec<FilesAndFolders>>>()
    })?;
    let mut all = FilesAndFolders::default();
    for mut part in parts {
        all.files.append(&mut part.files);
        all.folders.append(&mut part.folders);
    }
    Ok(all)
}

fn work(queue: &Mutex<Queue>, changed: &Condvar) -> Result<FilesAndFolders> {
    let mut found = FilesAndFolders::default();
    while let Some(folder) = take(queue, changed) {
        let mut children = Vec::new();
        let outcome = read_folder(&folder, &mut children, &mut found);
        let mut queue = lock(queue);
        queue.reading -= 1;
        queue.folders.append(&mut children);
        drop(queue);
        changed.notify_all();
        outcome?;
        // The working directory itself is `.`, so that `lstat` accepts it.
        found.folders.push(if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder });
    }
    Ok(found)
}

/// The next folder; `None` if the queue is empty and no thread can add one.
fn take(queue: &Mutex<Queue>, changed: &Condvar) -> Option<PathBuf> {
    let mut guard = lock(queue);
    loop {
        if let Some(folder) = guard.folders.pop() {
            guard.reading += 1;
            return Some(folder);
        }
        if guard.reading == 0 {
            return None;
        }
        guard = changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
    }
}

fn lock(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read_folder(folder: &Path, children: &mut Vec<PathBuf>, found: &mut FilesAndFolders) -> Result<()> {
    let on_disk = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    for entry in std::fs::read_dir(on_disk)? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        if kind.is_dir() {
            if name != ".git" && name != "node_modules" {
                children.push(folder.join(name));
            }
        } else if kind.is_file() {
            found.files.push(folder.join(name));
        }
    }
    Ok(())
}
