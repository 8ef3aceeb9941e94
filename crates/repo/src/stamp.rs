//! Reading a file for its digest alone, and knowing when a stat proves nothing.

use std::io;
use std::path::Path;

use stan_model::Digest;

use crate::hash::sha256;
use crate::system::{Stat, System};

/// Stat, digest and size of a file's bytes.
pub fn hash_file(system: &dyn System, path: &Path) -> io::Result<(Stat, Digest, u64)> {
    let mut buffer = Vec::new();
    let stat = system.read_into(path, &mut buffer)?;
    Ok((stat, sha256(&buffer), buffer.len() as u64))
}

/// Whether a change after `observed_at` may have left the stat as it was, because the file system's clock is coarse.
pub fn is_racy(stat: &Stat, observed_at: i64) -> bool {
    stat.mtime.max(stat.ctime) >= observed_at.saturating_sub(2_000_000_000)
}
