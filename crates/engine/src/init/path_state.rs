//! What exists at a path below the root: an lstat, and a read of a regular file. Decides nothing about it.

use std::io;
use std::path::{Path, PathBuf};

use stan_repo::{EntryKind, System, SystemExt as _, advice};

use super::error::InitConflict;

/// A larger file was not written by `stan` or a user for this purpose.
const MAX_SIZE: u64 = 8 << 20;

pub(super) enum PathState {
    Nothing,
    File(Vec<u8>),
    TooLarge,
    Link,
    Folder,
    /// A pipe, socket or device.
    Other,
    Unreadable(io::Error),
}

pub(super) fn inspect(system: &dyn System, root: &str, path: &str) -> PathState {
    let path = absolute(root, path);
    match system.lstat(&path).map(|stat| stat.kind) {
        Ok(EntryKind::File) => {}
        Ok(EntryKind::Link) => return PathState::Link,
        Ok(EntryKind::Dir) => return PathState::Folder,
        Ok(EntryKind::Other) => return PathState::Other,
        // With a file in place of a folder nothing can be below it; the folder's own check reports that.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return PathState::Nothing;
        }
        Err(error) => return PathState::Unreadable(error),
    }
    let mut bytes = Vec::new();
    match system.read_at_most(&path, MAX_SIZE, &mut bytes) {
        Ok(_) => PathState::File(bytes),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => PathState::TooLarge,
        Err(error) => PathState::Unreadable(error),
    }
}

/// The folders on the way to `folder`, itself included, that do not exist yet, parents first. Anything but a folder on
/// the way is refused: what is written would end up elsewhere, or nowhere.
pub(super) fn missing_folders(system: &dyn System, root: &str, folder: &str) -> Result<Vec<String>, InitConflict> {
    let mut missing = Vec::new();
    let ends = folder.match_indices('/').map(|(at, _)| at).chain([folder.len()]);
    for path in ends.filter_map(|end| folder.get(..end)).filter(|path| !path.is_empty()) {
        let refuse = |message: String| Err(InitConflict { path: path.to_owned(), line: None, message });
        if !missing.is_empty() {
            missing.push(path.to_owned());
            continue;
        }
        match system.lstat(&absolute(root, path)).map(|stat| stat.kind) {
            Ok(EntryKind::Dir) => {}
            Ok(EntryKind::Link) => {
                return refuse("this is a link, and stan writes through none; put a folder in its place".to_owned());
            }
            Ok(_) => return refuse("this is a file where a folder is needed; move it away".to_owned()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => missing.push(path.to_owned()),
            Err(error) => return refuse(format!("this folder cannot be read: {}", advice(&error))),
        }
    }
    Ok(missing)
}

/// The folder that a root-relative path lies in; empty for the root.
pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

pub(super) fn absolute(root: &str, path: &str) -> PathBuf {
    Path::new(root).join(path)
}
