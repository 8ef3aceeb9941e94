//! Verifies crates that `cargo vendor` copied into the repository: `.cargo-checksum.json` contains the SHA-256 of each file, and
//! the SHA-256 of the archive, which must be the one in Cargo.lock.

use std::path::Path;

use stan_lang::PackageProof;
use stan_lang::packages::vendored::Checksums;
use stan_model::CRATE_CHECKSUMS;
use stan_repo::{System, SystemExt as _};

use super::{Proved, WantedFiles};

/// Real lists are far smaller.
const MAX_LIST_BYTES: u64 = 16 << 20;

/// Verifies files of the crate in `folder`. If the lock file has no checksum of the crate (a git dependency), only the list is
/// checked.
pub(super) fn prove(
    system: &dyn System,
    folder: &str,
    proof: Option<&PackageProof>,
    wanted: &WantedFiles<'_>,
) -> Proved {
    let mut bytes = Vec::new();
    let path = format!("{folder}/{CRATE_CHECKSUMS}");
    if let Err(error) = system.read_real(Path::new(&path), MAX_LIST_BYTES, &mut bytes) {
        return Err(format!("`{CRATE_CHECKSUMS}` of its crate, which proves it, cannot be read ({error})"));
    }
    let Some(checksums) = Checksums::parse(&bytes) else {
        return Err(format!("`{CRATE_CHECKSUMS}` of its crate has no list of files"));
    };
    if let Some(PackageProof::Archive(locked)) = proof
        && !checksums.archive.is_some_and(|archive| locked.contains(&archive))
    {
        return Err(format!("`{CRATE_CHECKSUMS}` of its crate does not have the checksum that Cargo.lock names"));
    }
    Ok(checksums.files.into_iter().filter(|(path, _)| wanted.contains_key(path.as_str())).collect())
}
