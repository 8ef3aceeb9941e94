//! Archives as `.zip`, for programs that support no other format. Written with stored entries, so that the same files give the
//! same bytes everywhere, and read in the same form; compressed archives of other programs are rejected with a message.

use std::io::{self, Read};

use crate::error::Error;
use crate::names::check_name;
use crate::tar::{TarEnd, TarEntry, TarError, TarKind, TarProblem, read_tar};

const LOCAL: [u8; 4] = *b"PK\x03\x04";
const CENTRAL: [u8; 4] = *b"PK\x01\x02";
const END: [u8; 4] = *b"PK\x05\x06";
/// Names are UTF-8.
const FLAGS: u16 = 0x0800;
/// 1 January 1980, the earliest date in this format.
const DATE: u16 = 0x0021;
/// The format stores the length of a name in 16 bits.
const MAX_NAME_BYTES: usize = 64 << 10;

/// One file of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZipFile<'f> {
    pub name: &'f str,
    pub bytes: &'f [u8],
    pub executable: bool,
}

/// Writes files in the given order.
pub fn write_zip(files: &[ZipFile<'_>]) -> Result<Vec<u8>, Error> {
    let mut out = Vec::with_capacity(files.iter().map(|file| file.bytes.len() + 2 * file.name.len() + 76).sum());
    let mut directory = Vec::new();
    for file in files {
        check_name(file.name)?;
        let too_large =
            || Error::BadName { name: file.name.to_owned(), reason: "a zip archive cannot hold so much; use tar" };
        let size = u32::try_from(file.bytes.len()).map_err(|_| too_large())?;
        let offset = u32::try_from(out.len()).map_err(|_| too_large())?;
        let name_length = u16::try_from(file.name.len()).map_err(|_| too_large())?;
        let mut common = Vec::with_capacity(26);
        for field in [20, FLAGS, 0, 0, DATE] {
            common.extend_from_slice(&field.to_le_bytes());
        }
        for field in [crc32(file.bytes), size, size] {
            common.extend_from_slice(&field.to_le_bytes());
        }
        common.extend_from_slice(&name_length.to_le_bytes());
        common.extend_from_slice(&0u16.to_le_bytes());
        out.extend_from_slice(&LOCAL);
        out.extend_from_slice(&common);
        out.extend_from_slice(file.name.as_bytes());
        out.extend_from_slice(file.bytes);
        // Declares Unix as the origin, so that extractors apply the modes.
        let mode: u32 = if file.executable { 0o100_755 } else { 0o100_644 };
        directory.extend_from_slice(&CENTRAL);
        directory.extend_from_slice(&[20, 3]);
        directory.extend_from_slice(&common);
        directory.extend_from_slice(&[0; 6]);
        directory.extend_from_slice(&(mode << 16).to_le_bytes());
        directory.extend_from_slice(&offset.to_le_bytes());
        directory.extend_from_slice(file.name.as_bytes());
    }
    let whole =
        || Error::BadName { name: "archive.zip".to_owned(), reason: "a zip archive cannot hold so much; use tar" };
    let count = u16::try_from(files.len()).map_err(|_| whole())?;
    let start = u32::try_from(out.len()).map_err(|_| whole())?;
    let length = u32::try_from(directory.len()).map_err(|_| whole())?;
    out.extend_from_slice(&directory);
    out.extend_from_slice(&END);
    out.extend_from_slice(&[0; 4]);
    for field in [count, count] {
        out.extend_from_slice(&field.to_le_bytes());
    }
    for field in [length, start] {
        out.extend_from_slice(&field.to_le_bytes());
    }
    out.extend_from_slice(&[0; 2]);
    Ok(out)
}

/// Reads a tar or a zip, detected by its first bytes. Otherwise as [`read_tar`].
pub fn read_any(
    reader: &mut dyn Read,
    visit: &mut dyn FnMut(&TarEntry, &mut dyn Read) -> io::Result<()>,
) -> Result<TarEnd, TarError> {
    let mut start = Vec::with_capacity(4);
    reader.take(4).read_to_end(&mut start).map_err(|error| at(0, TarProblem::Io(error)))?;
    if start == LOCAL || start == END {
        return read_zip(&start, reader, visit);
    }
    read_tar(&mut start.as_slice().chain(reader), visit)
}

fn at(offset: u64, problem: TarProblem) -> TarError {
    TarError { offset, problem }
}

/// Reads entries sequentially, up to the central directory. The directory itself is not needed.
fn read_zip(
    start: &[u8],
    reader: &mut dyn Read,
    visit: &mut dyn FnMut(&TarEntry, &mut dyn Read) -> io::Result<()>,
) -> Result<TarEnd, TarError> {
    let mut signature: Vec<u8> = start.to_vec();
    let (mut offset, mut entries) = (0u64, 0);
    while signature == LOCAL {
        let mut fixed = [0; 26];
        reader.read_exact(&mut fixed).map_err(|error| at(offset, TarProblem::Io(error)))?;
        let short = |index: usize| u16::from_le_bytes([fixed[index], fixed[index + 1]]);
        let long =
            |index: usize| u32::from_le_bytes([fixed[index], fixed[index + 1], fixed[index + 2], fixed[index + 3]]);
        let (flags, method) = (short(2), short(4));
        let (crc, packed, size) = (long(10), long(14), long(18));
        let (name_length, extra) = (usize::from(short(22)), usize::from(short(24)));
        if method != 0 || packed != size || flags & 0x0009 != 0 {
            let message = "the zip archive is compressed or encrypted; stan reads the ones that it writes";
            return Err(at(offset, TarProblem::Io(io::Error::new(io::ErrorKind::Unsupported, message))));
        }
        let mut name = vec![0; name_length.min(MAX_NAME_BYTES)];
        let mut skipped = vec![0; extra];
        let read = reader.read_exact(&mut name).and_then(|()| reader.read_exact(&mut skipped));
        read.map_err(|error| at(offset, TarProblem::Io(error)))?;
        let entry = TarEntry { name, kind: TarKind::File, size: u64::from(size), mode: 0o644, offset };
        let mut contents = Contents { reader: &mut *reader, left: u64::from(size), crc: !0 };
        visit(&entry, &mut contents)
            .and_then(|()| io::copy(&mut contents, &mut io::sink()).map(drop))
            .and_then(|()| contents.finish(crc))
            .map_err(|error| at(offset, TarProblem::Io(error)))?;
        entries += 1;
        offset += 30 + (name_length + extra) as u64 + u64::from(size);
        signature.clear();
        (&mut *reader).take(4).read_to_end(&mut signature).map_err(|error| at(offset, TarProblem::Io(error)))?;
    }
    Ok(TarEnd { entries, is_marked: signature == CENTRAL || signature == END, has_trailing_bytes: false })
}

/// The bytes of an entry, with a running checksum.
struct Contents<'r> {
    reader: &'r mut dyn Read,
    left: u64,
    crc: u32,
}

impl Contents<'_> {
    fn finish(&self, expected: u32) -> io::Result<()> {
        if self.left > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if !self.crc == expected {
            Ok(())
        } else {
            Err(io::Error::new(io::ErrorKind::InvalidData, "a checksum is wrong"))
        }
    }
}

impl Read for Contents<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let count = self.reader.read(buffer.get_mut(..most).unwrap_or_default())?;
        self.crc = update(self.crc, buffer.get(..count).unwrap_or_default());
        self.left -= count as u64;
        Ok(count)
    }
}

/// The CRC-32 of each byte value.
const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut value = 0;
    while value < 256 {
        let mut crc = value as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { 0xedb8_8320 ^ (crc >> 1) } else { crc >> 1 };
            bit += 1;
        }
        table[value] = crc;
        value += 1;
    }
    table
};

fn update(crc: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(crc, |crc, byte| TABLE[((crc ^ u32::from(*byte)) & 0xff) as usize] ^ (crc >> 8))
}

fn crc32(bytes: &[u8]) -> u32 {
    !update(!0, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_back(bytes: &[u8]) -> Result<Vec<(String, Vec<u8>)>, TarError> {
        let mut found = Vec::new();
        let end = read_any(&mut &*bytes, &mut |entry, contents| {
            let mut bytes = Vec::new();
            contents.read_to_end(&mut bytes)?;
            found.push((entry.safe_name().unwrap_or_default().to_owned(), bytes));
            Ok(())
        })?;
        if end.is_marked { Ok(found) } else { Err(at(0, TarProblem::Io(io::ErrorKind::UnexpectedEof.into()))) }
    }

    #[test]
    fn files_of_a_zip_are_read_back_as_they_were() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        let files = [
            ZipFile { name: "a/b c.txt", bytes: b"hello\n", executable: false },
            ZipFile { name: "\u{e9}", bytes: b"", executable: true },
        ];
        let zip = write_zip(&files).expect("the names are good");
        let expected = files.iter().map(|file| (file.name.to_owned(), file.bytes.to_vec())).collect::<Vec<_>>();
        assert_eq!(read_back(&zip).expect("it is whole"), expected);
        assert_eq!(read_back(&write_zip(&[]).expect("no file is too large")).expect("it is whole"), []);
        for cut in 4..zip.len() - 130 {
            assert_eq!(read_back(&zip[..cut]).ok(), None, "a part is not whole");
        }
        let mut damaged = zip.clone();
        damaged[40] ^= 1;
        assert!(read_back(&damaged).is_err());
        assert!(write_zip(&[ZipFile { name: "../a", bytes: b"", executable: false }]).is_err());
    }
}
