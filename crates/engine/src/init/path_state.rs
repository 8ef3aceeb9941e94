//! The state of a path below the root: an lstat, and the contents of a regular file. Makes no decisions.

use std::io;
use std::path::{Path, PathBuf};

use stan_repo::{EntryKind, System, SystemExt as _, advice};

use super::error::InitConflict;

/// Files that `stan` or users write for this purpose are far smaller.
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
        // If a file is at the path of a parent folder, nothing can exist below it; the check of that folder reports it.
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

/// The missing folders on the path to `folder`, including `folder`, parents first. Anything but a folder on the path is an error:
/// files would be written elsewhere, or not at all.
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

/// The parent folder of a root-relative path; empty for the root.
pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

pub(super) fn absolute(root: &str, path: &str) -> PathBuf {
    Path::new(root).join(path)
}
