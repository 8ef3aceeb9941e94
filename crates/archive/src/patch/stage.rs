//! Prepares a change: new files with their permissions and copies of the old ones, all beside the record. Nothing outside
//! `<stanPath>/patch` is changed.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use stan_repo::{Access, EntryKind, SystemExt as _, is_unsupported, sha256};

use super::record::{RECORD, Record, RecordedFile, SEAL, Seal, Side, read, write_new};
use super::{MAX_KEPT_BYTES, NewFile, NewMode, PatchFile, PatchFolder, PatchSet};
use crate::error::Error;
use crate::folders::Folders;

/// The maximum size of a file that a reply changes.
const MAX_BYTES: u64 = 1 << 30;

/// The name of a staged copy: of the new contents of a file, or of the old.
pub(super) fn staged_name(is_undo: bool, index: usize) -> String {
    format!("{}-{index}", if is_undo { "back" } else { "new" })
}

pub(super) fn backup_name(is_undo: bool, index: usize) -> String {
    format!("{}-{index}", if is_undo { "current" } else { "old" })
}

pub(super) fn stage(place: &PatchFolder<'_>, folder: &str, set: &PatchSet) -> Result<Record, Error> {
    let mut folders = Folders::new(place.root);
    folders.ensure(place.system, &place.folder, Access::Shared)?;
    let path = place.path(folder);
    place.system.create_private_dir_all(&path).map_err(|error| Error::io("make the folder", &path, error))?;
    write_new(place, &[folder, "/", SEAL].concat(), b"stan\n", Access::Private)?;
    let mut files = Vec::new();
    let mut kept = 0;
    let mut made = BTreeSet::new();
    for (index, file) in set.files.iter().enumerate() {
        crate::names::check_name(&file.path)?;
        if file.new.is_some() {
            missing_folders(place, parent(&file.path), &mut made)?;
        }
        let (old, bytes) = look_at(place, file)?;
        if let Some(bytes) = &bytes {
            kept += bytes.len() as u64;
            if kept > MAX_KEPT_BYTES {
                return Err(Error::TooLargeToUndo { bytes: kept, most: MAX_KEPT_BYTES });
            }
            let name = [folder, "/", &backup_name(false, index)].concat();
            write_new(place, &name, bytes, Access::Private)?;
        }
        let new = match &file.new {
            None => None,
            Some(new) => Some(write_staged(place, &[folder, "/", &staged_name(false, index)].concat(), new)?),
        };
        if old != new {
            files.push(RecordedFile { path: file.path.clone(), old, new });
        } else {
            // Copies have the indices of the record.
            files.push(RecordedFile { path: file.path.clone(), old: old.clone(), new: old });
        }
    }
    for folder in &set.made_folders {
        missing_folders(place, folder, &mut made)?;
    }
    let mut removed = BTreeSet::new();
    for folder in &set.removed_folders {
        folders_below(place, folder, &mut removed)?;
    }
    let record = Record {
        v: 1,
        seal: Seal::of(place, folder)?,
        files,
        made_folders: made.into_iter().collect(),
        removed_folders: removed.into_iter().collect(),
    };
    record.write(place, folder)?;
    let _ = place.system.sync_dir(&place.path(folder));
    Ok(record)
}

/// Stages the reverse of the change. Fails if a file no longer has the contents that the reply wrote.
pub(super) fn stage_undo(place: &PatchFolder<'_>, folder: &str, record: &Record) -> Result<Record, Error> {
    // An earlier attempt may have left copies.
    let path = place.path(folder);
    for entry in place.system.read_real_dir(&path).map_err(|error| Error::io("list", &path, error))? {
        let is_copy = entry.name.to_str().is_some_and(|name| name.starts_with("back-") || name.starts_with("current-"));
        if is_copy {
            let path = path.join(&entry.name);
            place.system.remove_file(&path).map_err(|error| Error::io("remove", &path, error))?;
        }
    }
    let mut folders = Folders::new(place.root);
    for (index, file) in record.files.iter().enumerate() {
        folders
            .exists(place.system, parent(&file.path))
            .map_or_else(|error| if parent(&file.path).is_empty() { Ok(false) } else { Err(error) }, Ok)?;
        if side_of(place, &file.path)?.as_ref().map(|(side, _)| side) != file.new.as_ref() {
            return Err(Error::ChangedSinceApplied { path: file.path.clone() });
        }
        if let Some((_, bytes)) = side_of(place, &file.path)? {
            write_new(place, &[folder, "/", &backup_name(true, index)].concat(), &bytes, Access::Private)?;
        }
        if let Some(old) = &file.old {
            let bytes = read(place, &place.path(folder).join(backup_name(false, index)))?;
            if hex(&bytes) != old.sha256 {
                let file = [&place.folder, "/", folder, "/", RECORD].concat();
                let reason = "the old bytes beside it are not those it names".to_owned();
                return Err(Error::BadPatchRecord { file, reason });
            }
            let mode = old.mode.map_or(NewMode::Usual { executable: false }, NewMode::Bits);
            let new = NewFile { bytes: std::rc::Rc::new(bytes), mode };
            write_staged(place, &[folder, "/", &staged_name(true, index)].concat(), &new)?;
        }
    }
    Ok(record.clone())
}

/// The parent folder of a path; empty for the root.
pub(super) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The state of a path of the repository, read without following symlinks.
pub(super) fn side_of(place: &PatchFolder<'_>, path: &str) -> Result<Option<(Side, Vec<u8>)>, Error> {
    let absolute = place.root.join(path);
    match place.system.lstat(&absolute) {
        Ok(stat) if stat.kind == EntryKind::File => {}
        Ok(stat) if stat.kind == EntryKind::Dir => return Err(Error::FolderInPlaceOfFile { path: path.to_owned() }),
        Ok(_) => return Err(Error::LinkInPlaceOfFolder { path: path.to_owned() }),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(Error::io("stat", &absolute, error)),
    }
    let mut bytes = Vec::new();
    let read = place.system.read_real(&absolute, MAX_BYTES, &mut bytes);
    read.map_err(|error| Error::io("read", &absolute, error))?;
    let mode = mode_of(place, &absolute)?;
    Ok(Some((Side { size: bytes.len() as u64, sha256: hex(&bytes), mode }, bytes)))
}

fn mode_of(place: &PatchFolder<'_>, absolute: &Path) -> Result<Option<u32>, Error> {
    match place.system.permissions(absolute) {
        Ok(mode) => Ok(Some(mode)),
        Err(error) if is_unsupported(&error) || error.kind() == io::ErrorKind::Unsupported => Ok(None),
        Err(error) => Err(Error::io("stat", absolute, error)),
    }
}

fn look_at(place: &PatchFolder<'_>, file: &PatchFile) -> Result<(Option<Side>, Option<Vec<u8>>), Error> {
    let folder = parent(&file.path);
    let is_there = folder.is_empty() || Folders::new(place.root).exists(place.system, folder)?;
    let found = if is_there { side_of(place, &file.path)? } else { None };
    let (side, bytes) = found.map_or((None, None), |(side, bytes)| (Some(side), Some(bytes)));
    if bytes.as_deref().map(sha256) != file.old {
        return Err(Error::ChangedSinceChecked { path: file.path.clone() });
    }
    Ok((side, bytes))
}

/// Writes a file that will be renamed to its path, with its final permissions.
pub(super) fn write_staged(place: &PatchFolder<'_>, name: &str, new: &NewFile) -> Result<Side, Error> {
    let path = place.path(name);
    let access = match new.mode {
        NewMode::Usual { executable: false } => Access::Shared,
        NewMode::Usual { executable: true } => Access::Executable,
        NewMode::Bits(_) => Access::Private,
    };
    write_new(place, name, &new.bytes, access)?;
    if let NewMode::Bits(mode) = new.mode {
        match place.system.set_permissions(&path, mode) {
            Err(error) if error.kind() != io::ErrorKind::Unsupported => {
                return Err(Error::io("set the permissions of", &path, error));
            }
            _ => {}
        }
    }
    let mode = mode_of(place, &path)?;
    Ok(Side { size: new.bytes.len() as u64, sha256: hex(&new.bytes), mode })
}

/// Collects the missing folders on the path to a folder.
fn missing_folders(place: &PatchFolder<'_>, folder: &str, missing: &mut BTreeSet<String>) -> Result<(), Error> {
    if folder.is_empty() {
        return Ok(());
    }
    crate::names::check_name(folder)?;
    let mut folders = Folders::new(place.root);
    let ends = folder.match_indices('/').map(|(at, _)| at).chain([folder.len()]);
    for part in ends.filter_map(|end| folder.get(..end)) {
        if !folders.exists(place.system, part)? {
            missing.insert(part.to_owned());
        }
    }
    Ok(())
}

/// Collects a folder and all folders below it.
fn folders_below(place: &PatchFolder<'_>, folder: &str, found: &mut BTreeSet<String>) -> Result<(), Error> {
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        let absolute = place.root.join(&folder);
        if !Folders::new(place.root).exists(place.system, &folder)? {
            continue;
        }
        let entries = place.system.read_real_dir(&absolute).map_err(|error| Error::io("list", &absolute, error))?;
        for entry in entries.into_iter().filter(|entry| entry.kind == EntryKind::Dir) {
            if let Ok(name) = entry.name.into_string() {
                pending.push([&folder, "/", &name].concat());
            }
        }
        found.insert(folder);
    }
    Ok(())
}

pub(super) fn hex(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&sha256(bytes).hex()).into_owned()
}
