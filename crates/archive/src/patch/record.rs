//! The two small documents of an applied reply: its changes (`record.json`, in its folder), and the journal of a started change
//! (`pending.json`).

use std::path::Path;

use serde::{Deserialize, Serialize};
use stan_model::is_git_folder;
use stan_repo::{Access, SystemExt as _, skip_unsupported_sync};

use super::PatchFolder;
use crate::error::Error;
use crate::names::check_name;

/// The journal of a started change, removed when the change is complete.
pub(super) const PENDING: &str = "pending.json";
/// The record in each folder.
pub(super) const RECORD: &str = "record.json";
/// The file that a record is tied to.
pub(super) const SEAL: &str = "seal";
/// Prefix of a folder that is still being staged.
pub(super) const STAGED: &str = "new-";
/// Prefix of a folder whose change was undone.
pub(super) const UNDONE: &str = "old-";

/// Larger than the record of any reply.
const MAX_BYTES: u64 = 64 << 20;

/// The direction of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PatchKind {
    Apply,
    Undo,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pending {
    pub(super) folder: String,
    pub(super) kind: PatchKind,
}

/// The changes of a reply, with the state before them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Record {
    pub(super) v: u32,
    pub(super) seal: Seal,
    pub(super) files: Vec<RecordedFile>,
    /// Outermost first.
    pub(super) made_folders: Vec<String>,
    /// Outermost first.
    pub(super) removed_folders: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Seal {
    pub(super) inode: u64,
    pub(super) time: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedFile {
    pub(super) path: String,
    pub(super) old: Option<Side>,
    pub(super) new: Option<Side>,
}

/// The state of a file before or after a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Side {
    pub(super) size: u64,
    pub(super) sha256: String,
    /// `None` on platforms without mode bits.
    pub(super) mode: Option<u32>,
}

impl Pending {
    pub(super) fn write(&self, place: &PatchFolder<'_>) -> Result<(), Error> {
        let bytes = serde_json::to_vec(self).unwrap_or_default();
        let path = place.path(PENDING);
        place.system.write_atomic_durable(&path, &bytes).map_err(|error| Error::io("write", &path, error))
    }

    pub(super) fn read(place: &PatchFolder<'_>) -> Result<Self, Error> {
        let bytes = read(place, &place.path(PENDING))?;
        let shown = [&place.folder, "/", PENDING].concat();
        let refuse = |reason: String| Error::BadPatchRecord { file: shown.clone(), reason };
        let pending: Self = serde_json::from_slice(&bytes).map_err(|error| refuse(error.to_string()))?;
        let number = pending.folder.strip_prefix(STAGED).unwrap_or(&pending.folder);
        if number.len() != 8 || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(refuse("it names no folder of an applied reply".to_owned()));
        }
        Ok(pending)
    }

    pub(super) fn remove(&self, place: &PatchFolder<'_>) -> Result<(), Error> {
        let path = place.path(PENDING);
        match place.system.remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", &path, error)),
            _ => Ok(()),
        }
    }
}

impl Record {
    pub(super) fn write(&self, place: &PatchFolder<'_>, folder: &str) -> Result<(), Error> {
        let bytes = serde_json::to_vec(self).unwrap_or_default();
        write_new(place, &[folder, "/", RECORD].concat(), &bytes, Access::Private)
    }

    /// Reads a record. Rejects one with another seal, or with a path outside the repository.
    pub(super) fn read(place: &PatchFolder<'_>, folder: &str) -> Result<Self, Error> {
        let shown = [&place.folder, "/", folder, "/", RECORD].concat();
        let refuse = |reason: String| Error::BadPatchRecord { file: shown.clone(), reason };
        let path = place.path(folder).join(RECORD);
        let is_missing = place.system.lstat(&path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound);
        if is_missing {
            return Err(refuse("there is none".to_owned()));
        }
        let bytes = read(place, &path)?;
        let record: Self = serde_json::from_slice(&bytes).map_err(|error| refuse(error.to_string()))?;
        if record.v != 1 {
            return Err(refuse(format!("its version is {}, and this stan knows version 1", record.v)));
        }
        if Seal::of(place, folder)? != record.seal {
            return Err(refuse("it was not written here: it came with a copy of the repository".to_owned()));
        }
        let folders = record.made_folders.iter().chain(&record.removed_folders);
        for path in record.files.iter().map(|file| &file.path).chain(folders) {
            if check_name(path).is_err() || path.split('/').any(is_git_folder) {
                return Err(refuse(format!("{path:?} is not a path that a reply can change")));
            }
        }
        Ok(record)
    }
}

impl Seal {
    /// The seal of a folder, which ties it to this disk.
    pub(super) fn of(place: &PatchFolder<'_>, folder: &str) -> Result<Self, Error> {
        let path = place.path(folder).join(SEAL);
        let stat = place.system.lstat(&path).map_err(|error| Error::io("stat", &path, error))?;
        Ok(Self { inode: stat.inode, time: stat.ctime })
    }
}

/// The bytes of a file in one of the patch folders.
pub(super) fn read(place: &PatchFolder<'_>, path: &Path) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    place.system.read_real(path, MAX_BYTES, &mut bytes).map_err(|error| Error::io("read", path, error))?;
    Ok(bytes)
}

/// Writes a new file that survives a power cut.
pub(super) fn write_new(place: &PatchFolder<'_>, name: &str, bytes: &[u8], access: Access) -> Result<(), Error> {
    use std::io::Write as _;
    let path = place.path(name);
    let written = place.system.create_new(&path, access).and_then(|mut file| {
        file.write_all(bytes)?;
        skip_unsupported_sync(file.sync())
    });
    written.map_err(|error| Error::io("write", &path, error))
}
