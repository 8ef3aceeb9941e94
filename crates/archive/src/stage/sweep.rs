//! Removes everything but the selected externals from the folders of the ecosystems, at the commit. Symlinks are removed, never
//! followed; folders are removed when they are empty.

use std::collections::BTreeSet;
use std::path::PathBuf;

use stan_model::Ecosystem;
use stan_repo::{EntryKind, entries_below};

use super::StagedFile;
use crate::error::Error;
use crate::transaction::{Transaction, is_temporary};

pub(super) fn remove_others(transaction: &mut Transaction<'_>, selected: &[StagedFile]) -> Result<(), Error> {
    let files: BTreeSet<PathBuf> = selected.iter().map(|file| transaction.absolute(&file.id)).collect();
    let mut needed_folders = BTreeSet::new();
    for file in &files {
        // If a folder is known, so are all its parents.
        for folder in file.ancestors().skip(1) {
            if !needed_folders.insert(folder.to_owned()) {
                break;
            }
        }
    }
    for ecosystem in Ecosystem::ALL {
        let top = format!("{}/{}", transaction.lock().stan_path(), ecosystem.context_folder());
        if transaction.folder_exists(&top)? {
            sweep(transaction, &top, &files, &needed_folders)?;
        }
    }
    Ok(())
}

fn sweep(
    transaction: &mut Transaction<'_>,
    top: &str,
    files: &BTreeSet<PathBuf>,
    needed_folders: &BTreeSet<PathBuf>,
) -> Result<(), Error> {
    let top = transaction.absolute(top);
    // Listed before anything is removed: removing borrows the transaction mutably, and listing uses its system.
    let found: Vec<_> = entries_below(transaction.system(), &top)
        .collect::<Result<_, _>>()
        .map_err(|unlisted| Error::io("list", &unlisted.folder, unlisted.error))?;
    let mut unneeded: Vec<PathBuf> = Some(top).into_iter().filter(|top| !needed_folders.contains(top)).collect();
    for entry in found {
        let path = entry.path();
        if entry.kind == EntryKind::Dir {
            if !needed_folders.contains(&path) {
                unneeded.push(path);
            }
        } else if !files.contains(&path) && !entry.name().is_some_and(is_temporary) {
            transaction.remove_found(path);
        }
    }
    // Folders were found before their contents, so in reverse order each is empty when it is removed.
    unneeded.into_iter().rev().for_each(|folder| transaction.remove_found_folder(folder));
    Ok(())
}
