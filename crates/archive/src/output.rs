//! The destination of an output while it is written. An output that every run writes is compared with the file that it would
//! replace, so that a run without changes writes nothing and keeps the file's time.

use std::io::{self, Read, Seek, SeekFrom, Write};

use stan_repo::{InputFile, OpenFile, OutputFile};

/// A temporary file, and the file that it would replace. As long as both are equal, nothing is written.
pub(crate) struct Sink {
    out: Box<dyn OutputFile>,
    old: Option<Old>,
}

struct Old {
    /// Whether other users may not read the old file.
    private: bool,
    reader: Box<dyn InputFile>,
    /// The number of equal bytes so far. None of them is in the temporary file.
    agreed: u64,
    buffer: Vec<u8>,
}

/// The size of the pieces in which bytes are copied.
const PIECE: u64 = 1 << 20;

impl Sink {
    pub(crate) fn new(out: Box<dyn OutputFile>) -> Self {
        Self { out, old: None }
    }

    pub(crate) fn unless_same(out: Box<dyn OutputFile>, old: OpenFile) -> Self {
        let OpenFile { private, reader, .. } = old;
        Self { out, old: Some(Old { private, reader, agreed: 0, buffer: Vec::new() }) }
    }

    /// Makes the temporary file readable for other users, as far as the umask permits.
    pub(crate) fn share(&mut self) -> io::Result<()> {
        self.out.share()
    }

    /// Ends the output. Returns whether the old file has exactly the same bytes, and is private if it must be. Otherwise the
    /// temporary file is complete now.
    pub(crate) fn is_same(&mut self, must_be_private: bool) -> io::Result<bool> {
        let Some(old) = &mut self.old else { return Ok(false) };
        if old.rest_is_empty() && (old.private || !must_be_private) {
            return Ok(true);
        }
        self.diverge()?;
        Ok(false)
    }

    /// From here on the files differ: copies the equal bytes to the temporary file, and closes the old one.
    fn diverge(&mut self) -> io::Result<()> {
        let Some(Old { mut reader, agreed, mut buffer, .. }) = self.old.take() else { return Ok(()) };
        reader.seek(SeekFrom::Start(0))?;
        let mut left = agreed;
        while left > 0 {
            buffer.clear();
            match (&mut *reader).take(left.min(PIECE)).read_to_end(&mut buffer)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => left -= count as u64,
            }
            self.out.write_all(&buffer)?;
        }
        Ok(())
    }
}

impl Old {
    fn agrees(&mut self, bytes: &[u8]) -> bool {
        self.buffer.resize(bytes.len(), 0);
        // An unreadable old file counts as different; the output is then simply written.
        let same = self.reader.read_exact(&mut self.buffer).is_ok() && self.buffer == bytes;
        if same {
            self.agreed += bytes.len() as u64;
        }
        same
    }

    fn rest_is_empty(&mut self) -> bool {
        matches!(self.reader.read(&mut [0]), Ok(0))
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(old) = &mut self.old {
            if old.agrees(bytes) {
                return Ok(bytes.len());
            }
            self.diverge()?;
        }
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
