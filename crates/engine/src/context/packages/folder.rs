//! Go's `h1`: the SHA-256 of a list with one line per file of a module, containing the file's SHA-256 and name, sorted by name.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use sha2::{Digest as _, Sha256};
use stan_model::Digest;
use stan_repo::{EntryKind, System, SystemExt as _, entries_below, hash_open_file};

use super::{MAX_BYTES, MAX_FILES, Proved, WantedFiles};

/// Verifies a folder. `prefix` is the prefix of the listed names: `module@version`.
pub(super) fn prove(
    system: &dyn System,
    folder: &str,
    prefix: &str,
    hashes: &[Digest],
    wanted: &WantedFiles<'_>,
) -> Proved {
    let mut paths = files_of(system, folder)?;
    paths.sort_unstable();
    let bytes = AtomicU64::new(0);
    let digest_of = |path: &String| {
        let unreadable = |error: std::io::Error| format!("`{prefix}/{path}` cannot be read ({error})");
        let file = system.open_real(Path::new(&format!("{folder}/{path}"))).map_err(unreadable)?;
        if bytes.fetch_add(file.stat.size, Ordering::Relaxed).saturating_add(file.stat.size) > MAX_BYTES {
            return Err(format!("{prefix} is too large to be verified"));
        }
        hash_open_file(file).map(|file| file.digest).map_err(unreadable)
    };
    let digests: Result<Vec<Digest>, String> = paths.par_iter().map(digest_of).collect();
    let digests = digests?;
    let mut list = Sha256::new();
    for (path, digest) in paths.iter().zip(&digests) {
        list.update(format!("{digest}  {prefix}/{path}\n"));
    }
    if !hashes.contains(&Digest(list.finalize().into())) {
        return Err(format!(
            "the files of {prefix} in the module cache do not have the hash that go.sum names (`go mod verify` tells more)"
        ));
    }
    let named = paths.into_iter().zip(digests);
    Ok(named.filter(|(path, _)| wanted.contains_key(path.as_str())).collect())
}

/// The paths of all files below a folder. A module contains only files and folders; anything else is an error.
fn files_of(system: &dyn System, folder: &str) -> Result<Vec<String>, String> {
    let mut paths = Vec::new();
    for entry in entries_below(system, Path::new(folder)) {
        let entry = entry.map_err(|unlisted| format!("its package cannot be listed ({})", unlisted.error))?;
        let path = entry.path();
        // Go's list has one line per file, so a newline in a name could make two sets of files hash alike.
        let below = path.strip_prefix(folder).ok().and_then(Path::to_str).filter(|path| !path.contains('\n'));
        match (entry.kind, below) {
            (EntryKind::Dir, _) => {}
            (EntryKind::File, Some(below)) => paths.push(below.to_owned()),
            (EntryKind::Link, _) => return Err("there is a link among the files of its package".to_owned()),
            _ => return Err("there is something among the files of its package that is not a file".to_owned()),
        }
        if paths.len() > MAX_FILES {
            return Err("its package has too many files to be verified".to_owned());
        }
    }
    Ok(paths)
}
