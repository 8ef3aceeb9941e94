//! Reads the files of a finished archive from the archive itself, to write them in other formats without reading any source
//! again.

use std::io::{Read, SeekFrom};

use stan_repo::{System, SystemExt as _};

use crate::entry::{ArchivedFile, Written};
use crate::error::Error;
use crate::tar::padding;
use crate::transaction::Prepared;

/// An archive that is written but not committed: its temporary file, and its index.
#[derive(Clone, Copy)]
pub struct FinishedArchive<'a> {
    pub file: &'a Prepared,
    pub written: &'a Written,
}

/// Calls `visit` with every file of a finished archive and its bytes, in order.
pub fn each_file<E: From<Error>>(
    system: &dyn System,
    archive: FinishedArchive<'_>,
    mut visit: impl FnMut(&ArchivedFile, Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    let unreadable = |error| E::from(Error::io("read", archive.file.path(), error));
    let mut opened = system.open(archive.file.path()).map_err(unreadable)?;
    for file in &archive.written.files {
        // An entry ends with its contents and their padding.
        let start = file.range.end - file.size - padding(file.size) as u64;
        opened.reader.seek(SeekFrom::Start(start)).map_err(unreadable)?;
        let mut bytes = Vec::new();
        (&mut *opened.reader).take(file.size).read_to_end(&mut bytes).map_err(unreadable)?;
        visit(file, bytes)?;
    }
    Ok(())
}
