//! Reading a file for its digest alone, and knowing when a stat proves nothing.

use std::io;
use std::path::Path;

use sha2::{Digest as _, Sha256};
use stan_model::Digest;

use crate::system::{Stat, System};

/// Coarser than the clock of any file system in use (two seconds, on FAT).
const CLOCK_GRAIN: i64 = 2_000_000_000;

/// Stat, digest and size of a file's bytes.
pub fn hash_file(system: &dyn System, path: &Path) -> io::Result<(Stat, Digest, u64)> {
    let mut hasher = Sha256::new();
    let mut size = 0;
    let stat = system.read_chunks(path, &mut |bytes| {
        hasher.update(bytes);
        size += bytes.len() as u64;
    })?;
    Ok((stat, Digest(hasher.finalize().into()), size))
}

/// Whether a change after `observed_at` may have left the stat as it was, because the file system's clock is coarse.
pub fn is_racy(stat: &Stat, observed_at: i64) -> bool {
    stat.mtime.max(stat.ctime) >= observed_at.saturating_sub(CLOCK_GRAIN)
}
