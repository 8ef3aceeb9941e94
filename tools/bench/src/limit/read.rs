//! Reads a file with the minimum of system calls: open, read, read at the end, close.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// One buffer, reused for all files.
pub(super) struct FileReader {
    buffer: Vec<u8>,
}

impl Default for FileReader {
    fn default() -> Self {
        FileReader { buffer: vec![0; 1 << 18] }
    }
}

impl FileReader {
    pub(super) fn read(&mut self, path: &Path) -> io::Result<&[u8]> {
        let mut file = File::open(path)?;
        let mut filled = 0;
        loop {
            if filled == self.buffer.len() {
                self.buffer.resize(filled * 2, 0);
            }
            match file.read(&mut self.buffer[filled..])? {
                0 => return Ok(&self.buffer[..filled]),
                count => filled += count,
            }
        }
    }
}
