//! Hashes files without keeping their bytes, and decides when an unchanged stat proves nothing.

use std::io::{self, Read as _};
use std::path::Path;

use sha2::{Digest as _, Sha256};
use stan_model::Digest;

use crate::system::{OpenFile, Stat, System};
use crate::system_ext::SystemExt as _;

/// The coarsest granularity of timestamps on any file system in use (two seconds, on FAT).
const CLOCK_GRAIN: i64 = 2_000_000_000;

/// A file whose bytes were hashed and dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashedFile {
    /// Taken from the open file before reading.
    pub stat: Stat,
    pub digest: Digest,
    /// The number of hashed bytes. Differs from the stat's size if the file was written in the meantime.
    pub size: u64,
}

/// The digest and size of a file.
pub fn hash_file(system: &dyn System, path: &Path) -> io::Result<HashedFile> {
    let mut hasher = Sha256::new();
    let mut size = 0;
    let stat = system.read_chunks(path, &mut |bytes| {
        hasher.update(bytes);
        size += bytes.len() as u64;
    })?;
    Ok(HashedFile { stat, digest: Digest(hasher.finalize().into()), size })
}

/// As [`hash_file`], for a path without symlinks (see `Links::Refuse`).
pub fn hash_real_file(system: &dyn System, path: &Path) -> io::Result<HashedFile> {
    hash_open_file(system.open_real(path)?)
}

/// As [`hash_file`], for an open file.
pub fn hash_open_file(file: OpenFile) -> io::Result<HashedFile> {
    let mut hasher = Sha256::new();
    let mut size = 0;
    let OpenFile { stat, mut reader, .. } = file;
    let wanted = usize::try_from(stat.size).unwrap_or(usize::MAX).saturating_add(1);
    let mut buffer = vec![0; wanted.min(PIECE)];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(HashedFile { stat, digest: Digest(hasher.finalize().into()), size }),
            Ok(count) => {
                hasher.update(buffer.get(..count).unwrap_or_default());
                size += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// How much of a file is in memory while it is hashed.
const PIECE: usize = 1 << 20;

/// Whether a change after `observed_at` may have left the stat the same, because timestamps are coarse.
pub fn is_racy(stat: &Stat, observed_at: i64) -> bool {
    stat.mtime.max(stat.ctime) >= observed_at.saturating_sub(CLOCK_GRAIN)
}
