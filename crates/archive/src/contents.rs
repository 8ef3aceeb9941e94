//! Reads the files of a finished archive back from it, to write them in other formats without reading any source again.

use std::io::{Read, SeekFrom};

use stan_repo::{System, SystemExt as _};

use crate::entry::{ArchivedFile, Written};
use crate::error::Error;
use crate::tar::padding;
use crate::transaction::Prepared;

/// An archive that is written but not yet in place: its temporary file, and what is where in it.
#[derive(Clone, Copy)]
pub struct FinishedArchive<'a> {
    pub file: &'a Prepared,
    pub written: &'a Written,
}

/// Hands every file of a finished archive to `visit`, in order, with its bytes.
pub fn each_file<E: From<Error>>(
    system: &dyn System,
    archive: FinishedArchive<'_>,
    mut visit: impl FnMut(&ArchivedFile, Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    let unreadable = |error| E::from(Error::io("read", archive.file.path(), error));
    let mut opened = system.open(archive.file.path()).map_err(unreadable)?;
    for file in &archive.written.files {
        // Contents and their padding are the end of an entry.
        let start = file.range.end - file.size - padding(file.size) as u64;
        opened.reader.seek(SeekFrom::Start(start)).map_err(unreadable)?;
        let mut bytes = Vec::new();
        (&mut *opened.reader).take(file.size).read_to_end(&mut bytes).map_err(unreadable)?;
        visit(file, bytes)?;
    }
    Ok(())
}
