//! After the commit nothing but the selected externals is in the folders of the ecosystems: everything else is removed, links as
//! links, folders when they are empty. Nothing is followed.

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
        // Everything above a folder that is known is known as well.
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
    // Listed before anything is removed: removing needs the transaction, whose system lists.
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
    // A folder is found before what is in it, so that backwards they are empty one after the other.
    unneeded.into_iter().rev().for_each(|folder| transaction.remove_found_folder(folder));
    Ok(())
}
