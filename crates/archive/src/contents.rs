//! The files of a finished archive, read back from it: for other formats of the same files, so that no source is read a
//! second time.

use std::io::{Read, SeekFrom};

use stan_repo::{System, SystemExt as _};

use crate::entry::{ArchivedFile, Written};
use crate::error::Error;
use crate::tar::padding;
use crate::transaction::Prepared;

/// Hands every file of a prepared archive to `visit`, in order, with its bytes.
pub fn each_file<E: From<Error>>(
    system: &dyn System,
    (full, written): (&Prepared, &Written),
    mut visit: impl FnMut(&ArchivedFile, Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    let unreadable = |error| E::from(Error::io("read", full.path(), error));
    let mut archive = system.open(full.path()).map_err(unreadable)?;
    for file in &written.files {
        // Contents and their padding are the end of an entry.
        let start = file.range.end - file.size - padding(file.size) as u64;
        archive.reader.seek(SeekFrom::Start(start)).map_err(unreadable)?;
        let mut bytes = Vec::new();
        (&mut *archive.reader).take(file.size).read_to_end(&mut bytes).map_err(unreadable)?;
        visit(file, bytes)?;
    }
    Ok(())
}
