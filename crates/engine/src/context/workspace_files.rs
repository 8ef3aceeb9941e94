//! Reads what earlier runs and users left in stan's folder, and refuses links out of it.

use std::io::{self, Read as _};
use std::path::Path;

use stan_model::Ecosystem;
use stan_repo::{EntryKind, Stat, System, SystemExt as _};

use super::layout::WorkspaceLayout;
use crate::error::EngineError;

/// Larger documents are never valid and would not fit into memory.
const MAX_SIZE: u64 = 2 << 30;

/// Files are compared in chunks of this size.
const PIECE: usize = 256 << 10;

/// Reads a root-relative file in stan's folder; `None` if there is none.
pub(crate) fn read_if_there(
    system: &dyn System,
    layout: &WorkspaceLayout,
    file: &str,
) -> Result<Option<Vec<u8>>, EngineError> {
    if stat_if_there(system, layout, file)?.is_none() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    match system.read_real(Path::new(&layout.absolute(file)), MAX_SIZE, &mut bytes) {
        Ok(_) => Ok(Some(bytes)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(unreadable(file, &error)),
    }
}

/// Whether a root-relative file in stan's folder has exactly these bytes. Reads in chunks and stops at the first difference.
pub(crate) fn file_has_bytes(
    system: &dyn System,
    layout: &WorkspaceLayout,
    file: &str,
    bytes: &[u8],
) -> Result<bool, EngineError> {
    let Some(stat) = stat_if_there(system, layout, file)? else { return Ok(false) };
    if stat.size != bytes.len() as u64 {
        return Ok(false);
    }
    let mut reader =
        system.open_real(Path::new(&layout.absolute(file))).map_err(|error| unreadable(file, &error))?.reader;
    let mut buffer = vec![0; PIECE];
    let mut left = bytes;
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(left.is_empty()),
            Ok(count) => match buffer.get(..count).and_then(|read| left.strip_prefix(read)) {
                Some(rest) => left = rest,
                None => return Ok(false),
            },
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(unreadable(file, &error)),
        }
    }
}

/// Stats the path of a file; `None` if nothing is there. Anything but a regular file is an error.
fn stat_if_there(system: &dyn System, layout: &WorkspaceLayout, file: &str) -> Result<Option<Stat>, EngineError> {
    match system.lstat(Path::new(&layout.absolute(file))) {
        Ok(stat) if stat.kind == EntryKind::File => Ok(Some(stat)),
        Ok(stat) => {
            let (what, hint) = match stat.kind {
                EntryKind::Dir => ("a folder", "move or remove it, and run again"),
                EntryKind::Link => ("a link", "links are not followed here: put the file itself in its place"),
                EntryKind::File | EntryKind::Other => ("a pipe, socket or device", "move or remove it, and run again"),
            };
            Err(EngineError::input(format!("`{file}` is {what}; stan needs a file there")).hint(hint))
        }
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(unreadable(file, &error)),
    }
}

/// Folders below stan's own that runs read or write. A link in place of one would redirect the run elsewhere.
fn folders() -> impl Iterator<Item = &'static str> {
    let staged = Ecosystem::ALL.into_iter().map(Ecosystem::context_folder);
    ["system", "imports", "context"].into_iter().chain(staged).chain(["output", "diff", "patch"])
}

/// Fails if anything but a folder is in place of one of stan's folders.
pub(crate) fn check_folders(system: &dyn System, layout: &WorkspaceLayout) -> Result<(), EngineError> {
    let own = layout.stan_path();
    let ends = own.match_indices('/').map(|(index, _)| index).chain([own.len()]);
    let above = ends.filter_map(|end| own.get(..end)).map(str::to_owned);
    for folder in above.chain(folders().map(|below| layout.own(below))) {
        let kind = match system.lstat(Path::new(&layout.absolute(&folder))) {
            Ok(stat) => stat.kind,
            Err(error) if is_absent(&error) => continue,
            Err(error) => return Err(unreadable(&folder, &error)),
        };
        if kind != EntryKind::Dir {
            let what = if kind == EntryKind::Link { "a link" } else { "not a folder" };
            return Err(EngineError::input(format!("`{folder}` is {what}; stan needs a folder there"))
                .hint("remove it, or choose another folder with --stan-path"));
        }
    }
    Ok(())
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn unreadable(file: &str, error: &io::Error) -> EngineError {
    EngineError::input(format!("`{file}` cannot be read: {error}")).hint("check its permissions")
}
