//! Reads an untrusted tar. Memory is bounded for any claimed size; anything that an extractor would silently repair or skip
//! is an error with its offset. Extracts nothing.

use std::io::{self, Read};

use super::{BLOCK, padding};

/// An entry without its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TarEntry {
    /// As written: may not be UTF-8, and may be absolute or contain `..`.
    pub name: Vec<u8>,
    pub kind: TarKind,
    pub size: u64,
    pub mode: u32,
    /// The start of the entry in the archive, including its extended headers.
    pub offset: u64,
}

impl TarEntry {
    /// The name, if this crate could have written it.
    pub fn safe_name(&self) -> Option<&str> {
        std::str::from_utf8(&self.name).ok().filter(|name| crate::names::check_name(name).is_ok())
    }
}

/// The type of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TarKind {
    File,
    Directory,
    /// A symbolic link and its target.
    Link(Vec<u8>),
    /// Another name for an earlier entry.
    HardLink(Vec<u8>),
    /// Devices, pipes and types that some tool invented, by type byte.
    Special(u8),
}

/// The end of an archive without errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TarEnd {
    pub entries: u64,
    /// Whether the two blocks of zeros are present; without them, the archive may have been truncated.
    pub is_marked: bool,
    /// Whether there are further bytes after the end, which readers ignore.
    pub has_trailing_bytes: bool,
}

/// Why an archive cannot be read, and where.
#[derive(Debug, thiserror::Error)]
#[error("{problem} at byte {offset}")]
pub struct TarError {
    pub offset: u64,
    pub problem: TarProblem,
}

/// The problem of an archive.
#[derive(Debug, thiserror::Error)]
pub enum TarProblem {
    #[error("the archive cannot be read ({0})")]
    Io(io::Error),
    #[error("the archive ends in the middle of an entry")]
    Truncated,
    #[error("not a tar header (wrong checksum)")]
    Checksum,
    #[error("the header's field `{0}` is not a number")]
    Number(&'static str),
    #[error("an extended header is longer than {MAX_EXTENSION_BYTES} bytes")]
    ExtensionTooLarge,
    #[error("an extended header is malformed")]
    Extension,
    #[error("an extended header has nothing to extend, or extends it twice")]
    StrayExtension,
    #[error("a link, folder or device has contents")]
    ContentsOfNoFile,
    #[error("one block of zeros is followed by another entry")]
    LoneZeroBlock,
    #[error("the archive has more than {MAX_ENTRIES} entries")]
    TooManyEntries,
}

/// Longer than any name, and small enough to hold in memory.
const MAX_EXTENSION_BYTES: u64 = 1 << 20;

/// More files than any repository has.
const MAX_ENTRIES: u64 = 20_000_000;

/// Calls `visit` with every entry and a reader of its bytes, which need not be read to the end. An error of `visit` stops the
/// reading and is returned as [`TarProblem::Io`].
pub fn read_tar(
    reader: &mut dyn Read,
    visit: &mut dyn FnMut(&TarEntry, &mut dyn Read) -> io::Result<()>,
) -> Result<TarEnd, TarError> {
    let mut archive = Archive { reader, offset: 0 };
    let mut extension = Extension::default();
    let mut entries = 0;
    loop {
        let offset = archive.offset;
        let at = |problem| TarError { offset, problem };
        let Some(block) = archive.block()? else {
            return extension.nothing_pending(TarEnd { entries, is_marked: false, has_trailing_bytes: false }, offset);
        };
        if block == [0; BLOCK] {
            let end = archive.end(entries)?;
            return extension.nothing_pending(end, offset);
        }
        let header = Header::parse(&block).map_err(at)?;
        if matches!(header.kind, b'x' | b'g' | b'L' | b'K') {
            let bytes = archive.extension(header.size)?;
            extension.take(header.kind, bytes, offset).map_err(at)?;
            continue;
        }
        entries += 1;
        if entries > MAX_ENTRIES {
            return Err(at(TarProblem::TooManyEntries));
        }
        let entry = std::mem::take(&mut extension).apply(header, offset).map_err(at)?;
        archive.contents(&entry, visit)?;
    }
}

struct Archive<'r> {
    reader: &'r mut dyn Read,
    offset: u64,
}

impl Archive<'_> {
    /// The next block; `None` at the end of the file.
    fn block(&mut self) -> Result<Option<[u8; BLOCK]>, TarError> {
        let mut block = [0; BLOCK];
        let mut filled = 0;
        while let Some(rest) = block.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.reader.read(rest) {
                Ok(0) if filled == 0 => return Ok(None),
                Ok(0) => return Err(self.error(TarProblem::Truncated)),
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.error(TarProblem::Io(error))),
            }
        }
        self.offset += BLOCK as u64;
        Ok(Some(block))
    }

    /// The contents of an extended header.
    fn extension(&mut self, size: u64) -> Result<Vec<u8>, TarError> {
        if size > MAX_EXTENSION_BYTES {
            return Err(self.error(TarProblem::ExtensionTooLarge));
        }
        let mut bytes = Vec::new();
        self.limited(size, &mut |part| part.read_to_end(&mut bytes).map(drop))?;
        Ok(bytes)
    }

    fn contents(
        &mut self,
        entry: &TarEntry,
        visit: &mut dyn FnMut(&TarEntry, &mut dyn Read) -> io::Result<()>,
    ) -> Result<(), TarError> {
        self.limited(entry.size, &mut |part| visit(entry, part))
    }

    /// Lets `consume` read up to `size` bytes, then skips the rest and the padding.
    fn limited(&mut self, size: u64, consume: &mut dyn FnMut(&mut dyn Read) -> io::Result<()>) -> Result<(), TarError> {
        let start = self.offset;
        let error = |problem| TarError { offset: start, problem };
        let mut part = (&mut *self.reader).take(size);
        consume(&mut part).map_err(|cause| error(TarProblem::Io(cause)))?;
        skip(&mut part).map_err(|cause| error(TarProblem::Io(cause)))?;
        if part.limit() > 0 {
            return Err(error(TarProblem::Truncated));
        }
        let fill = padding(size) as u64;
        let mut rest = (&mut *self.reader).take(fill);
        let skipped = skip(&mut rest).map_err(|cause| error(TarProblem::Io(cause)))?;
        if skipped < fill {
            return Err(error(TarProblem::Truncated));
        }
        self.offset = start
            .checked_add(size)
            .and_then(|end| end.checked_add(fill))
            .ok_or_else(|| error(TarProblem::Truncated))?;
        Ok(())
    }

    /// Reads the end of the archive, after the first block of zeros.
    fn end(&mut self, entries: u64) -> Result<TarEnd, TarError> {
        let start = self.offset;
        let is_marked = match self.block()? {
            None => false,
            Some(block) if block == [0; BLOCK] => true,
            Some(_) => return Err(TarError { offset: start, problem: TarProblem::LoneZeroBlock }),
        };
        let mut buffer = vec![0; 64 << 10];
        let mut has_trailing_bytes = false;
        loop {
            match self.reader.read(&mut buffer) {
                Ok(0) => return Ok(TarEnd { entries, is_marked, has_trailing_bytes }),
                Ok(count) => has_trailing_bytes |= buffer.iter().take(count).any(|&byte| byte != 0),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.error(TarProblem::Io(error))),
            }
        }
    }

    fn error(&self, problem: TarProblem) -> TarError {
        TarError { offset: self.offset, problem }
    }
}

/// Reads to the end and returns the byte count.
fn skip(reader: &mut dyn Read) -> io::Result<u64> {
    io::copy(reader, &mut io::sink())
}

/// The fields of a header block that matter.
struct Header {
    name: Vec<u8>,
    target: Vec<u8>,
    kind: u8,
    size: u64,
    mode: u32,
}

impl Header {
    fn parse(block: &[u8; BLOCK]) -> Result<Self, TarProblem> {
        check_sum(block)?;
        let mut name = text(field(block, 0, 100));
        // Only POSIX headers have a prefix; GNU uses the field for other data.
        let prefix = text(field(block, 345, 155));
        if field(block, 257, 6) == b"ustar\0" && !prefix.is_empty() {
            name = [prefix.as_slice(), b"/", &name].concat();
        }
        let mode = number(field(block, 100, 8)).ok_or(TarProblem::Number("mode"))?;
        Ok(Self {
            name,
            target: text(field(block, 157, 100)),
            kind: field(block, 156, 1).first().copied().unwrap_or(0),
            size: number(field(block, 124, 12)).ok_or(TarProblem::Number("size"))?,
            mode: (mode & 0o7777) as u32,
        })
    }
}

fn field(block: &[u8; BLOCK], at: usize, length: usize) -> &[u8] {
    block.get(at..at + length).unwrap_or_default()
}

/// The field up to its first NUL.
fn text(field: &[u8]) -> Vec<u8> {
    field.split(|&byte| byte == 0).next().unwrap_or_default().to_vec()
}

/// Octal digits between spaces and NULs, or GNU's binary form for large numbers.
fn number(field: &[u8]) -> Option<u64> {
    let (&first, rest) = field.split_first()?;
    if first == 0x80 {
        return rest.iter().try_fold(0_u64, |value, &byte| value.checked_mul(256)?.checked_add(byte.into()));
    }
    let digits = field.trim_ascii_start();
    let end = digits.iter().position(|&byte| byte == 0 || byte == b' ').unwrap_or(digits.len());
    let (digits, rest) = digits.split_at_checked(end)?;
    if rest.iter().any(|&byte| byte != 0 && byte != b' ') {
        return None;
    }
    digits.iter().try_fold(0_u64, |value, &byte| {
        let digit = byte.checked_sub(b'0').filter(|&digit| digit < 8)?;
        value.checked_mul(8)?.checked_add(digit.into())
    })
}

/// Old programs computed the sum of signed bytes.
fn check_sum(block: &[u8; BLOCK]) -> Result<(), TarProblem> {
    let said = number(field(block, 148, 8)).ok_or(TarProblem::Checksum)?;
    let (mut unsigned, mut signed) = (0_u64, 0_i64);
    for (index, &byte) in block.iter().enumerate() {
        let byte = if (148..156).contains(&index) { b' ' } else { byte };
        unsigned += u64::from(byte);
        signed += i64::from(byte.cast_signed());
    }
    if said == unsigned || i64::try_from(said) == Ok(signed) { Ok(()) } else { Err(TarProblem::Checksum) }
}

/// The values in extended headers for the next entry.
#[derive(Default)]
struct Extension {
    name: Option<Vec<u8>>,
    target: Option<Vec<u8>>,
    size: Option<u64>,
    has_pax: bool,
    starts_at: Option<u64>,
}

impl Extension {
    fn take(&mut self, kind: u8, bytes: Vec<u8>, offset: u64) -> Result<(), TarProblem> {
        if kind == b'g' {
            // Global settings: a comment is harmless, but one name or size for all entries is an attack.
            let mut global = Self::default();
            global.pax(&bytes)?;
            let changes = global.name.is_some() || global.target.is_some() || global.size.is_some();
            return if changes { Err(TarProblem::Extension) } else { Ok(()) };
        }
        self.starts_at.get_or_insert(offset);
        let long_name = || bytes.split(|&byte| byte == 0).next().unwrap_or_default().to_vec();
        match kind {
            b'x' if !self.has_pax => {
                self.has_pax = true;
                self.pax(&bytes)
            }
            b'L' if self.name.is_none() => {
                self.name = Some(long_name());
                Ok(())
            }
            b'K' if self.target.is_none() => {
                self.target = Some(long_name());
                Ok(())
            }
            _ => Err(TarProblem::StrayExtension),
        }
    }

    fn pax(&mut self, mut records: &[u8]) -> Result<(), TarProblem> {
        while !records.is_empty() {
            let (key, value, rest) = pax_record(records).ok_or(TarProblem::Extension)?;
            let slot = match key {
                b"path" => &mut self.name,
                b"linkpath" => &mut self.target,
                b"size" => {
                    let digits = std::str::from_utf8(value).ok().filter(|text| !text.starts_with('+'));
                    let size = digits.and_then(|text| text.parse().ok()).ok_or(TarProblem::Number("size"))?;
                    if self.size.replace(size).is_some() {
                        return Err(TarProblem::StrayExtension);
                    }
                    records = rest;
                    continue;
                }
                // The contents of GNU's sparse files differ from their bytes in the archive.
                _ if key.starts_with(b"GNU.sparse") => return Err(TarProblem::Extension),
                _ => {
                    records = rest;
                    continue;
                }
            };
            if value.contains(&0) || slot.replace(value.to_vec()).is_some() {
                return Err(TarProblem::Extension);
            }
            records = rest;
        }
        Ok(())
    }

    fn apply(self, header: Header, offset: u64) -> Result<TarEntry, TarProblem> {
        let name = self.name.unwrap_or(header.name);
        let target = self.target.unwrap_or(header.target);
        let size = self.size.unwrap_or(header.size);
        let kind = match header.kind {
            0 | b'0' if name.ends_with(b"/") => TarKind::Directory,
            0 | b'0' | b'7' => TarKind::File,
            b'1' => TarKind::HardLink(target),
            b'2' => TarKind::Link(target),
            b'5' => TarKind::Directory,
            other => TarKind::Special(other),
        };
        // Readers disagree on whether such contents are skipped, so different readers would see different archives.
        let has_no_contents = match kind {
            TarKind::File => false,
            TarKind::Special(byte) => matches!(byte, b'3' | b'4' | b'6'),
            _ => true,
        };
        if has_no_contents && size > 0 {
            return Err(TarProblem::ContentsOfNoFile);
        }
        Ok(TarEntry { name, kind, size, mode: header.mode, offset: self.starts_at.unwrap_or(offset) })
    }

    fn nothing_pending(&self, end: TarEnd, offset: u64) -> Result<TarEnd, TarError> {
        match self.starts_at {
            None => Ok(end),
            Some(_) => Err(TarError { offset, problem: TarProblem::StrayExtension }),
        }
    }
}

/// The first record: its key, its value, and the rest of the text.
fn pax_record(records: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let space = records.iter().take(20).position(|&byte| byte == b' ')?;
    let digits = records.get(..space)?;
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let length: usize = std::str::from_utf8(digits).ok()?.parse().ok()?;
    let (record, rest) = records.split_at_checked(length)?;
    let record = record.get(space + 1..)?.strip_suffix(b"\n")?;
    let equals = record.iter().position(|&byte| byte == b'=')?;
    Some((record.get(..equals)?, record.get(equals + 1..)?, rest))
}

#[cfg(test)]
mod tests;
