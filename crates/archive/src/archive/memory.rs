//! Bytes in memory as an open file, so that large documents are written like large files, without copying them whole.

use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;

use stan_repo::{EntryKind, InputFile, OpenFile, Stat};

struct Shared(Arc<Vec<u8>>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

struct MemoryFile {
    bytes: Cursor<Shared>,
    stat: Stat,
}

pub(super) fn open(bytes: &Arc<Vec<u8>>) -> OpenFile {
    // Bytes in memory have only a size; the other fields are placeholders.
    let stat = Stat { kind: EntryKind::File, size: bytes.len() as u64, mtime: 0, ctime: 0, inode: 0 };
    let reader = Box::new(MemoryFile { bytes: Cursor::new(Shared(Arc::clone(bytes))), stat });
    OpenFile { stat, executable: false, private: false, reader }
}

impl Read for MemoryFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.bytes.read(buffer)
    }
}

impl Seek for MemoryFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}

impl InputFile for MemoryFile {
    fn stat(&self) -> io::Result<Stat> {
        Ok(self.stat)
    }
}
