//! Reading a file in as few system calls as there are: open, read, read the end, close.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// One buffer, reused for file after file.
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
