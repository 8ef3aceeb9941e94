//! The file format of git's index (versions 2, 3 and 4, SHA-1 and SHA-256, split or not): entries, then extensions.
//!
//! The callers interpret the entries: `tracked` takes only names, `entries` everything. The file is untrusted: memory is bounded
//! by a fixed multiple of its size.

use crate::git::index::ewah::{self, Bitmap};

/// The maximum ratio of the total length of names to the size of a version 4 index. That version stores only how each name
/// differs from the previous one. An entry takes 63 bytes and a path at most 4,096, so no index of real files comes near the
/// limit, but one crafted to exhaust memory does.
pub(crate) const MAX_NAMES_GROWTH: usize = 64;

/// A reader that goes through the entries of an index.
pub(crate) struct IndexReader<'a> {
    /// Without the trailing checksum.
    bytes: &'a [u8],
    position: usize,
    /// The length of an object id, in bytes.
    hash: usize,
    version: u32,
    count: u32,
    /// The name of the last entry, which version 4 entries are relative to.
    name: Vec<u8>,
    /// The length of all names so far.
    named: usize,
}

/// One entry, without its name.
pub(crate) struct RawEntry<'a> {
    fixed: &'a [u8; 40],
    pub(crate) id: &'a [u8],
    pub(crate) flags: u16,
    /// Zero before version 3.
    pub(crate) more_flags: u16,
}

/// The link extension of a split index.
#[derive(Debug)]
pub(crate) struct SplitLink {
    /// The hex suffix of `sharedindex.<id>`; `None` if there is no base.
    pub(crate) base: Option<String>,
    deleted: Bitmap,
    replaced: Bitmap,
}

impl<'a> IndexReader<'a> {
    /// `hash` is the length of an object id. The error says what is wrong with the file.
    pub(crate) fn new(bytes: &'a [u8], hash: usize) -> Result<Self, &'static str> {
        let header = bytes.first_chunk::<12>().ok_or("it is too short")?;
        let [_, _, _, _, v0, v1, v2, v3, c0, c1, c2, c3] = *header;
        if !header.starts_with(b"DIRC") {
            return Err("it has no DIRC signature");
        }
        let version = u32::from_be_bytes([v0, v1, v2, v3]);
        if !(2..=4).contains(&version) {
            return Err("its version is not 2, 3 or 4");
        }
        let count = u32::from_be_bytes([c0, c1, c2, c3]);
        let bytes = bytes.len().checked_sub(hash).and_then(|end| bytes.get(..end)).ok_or("it is too short")?;
        Ok(Self { bytes, position: 12, hash, version, count, name: Vec::new(), named: 0 })
    }

    /// Calls `take` with every entry and its name. `None` if an entry is damaged or `take` refuses it.
    pub(crate) fn entries(&mut self, mut take: impl FnMut(&[u8], RawEntry<'a>) -> Option<()>) -> Option<()> {
        for _ in 0..self.count {
            let entry = self.entry()?;
            self.named += self.name.len();
            if self.named > self.bytes.len().saturating_mul(MAX_NAMES_GROWTH) {
                return None;
            }
            take(&self.name, entry)?;
        }
        Some(())
    }

    fn entry(&mut self) -> Option<RawEntry<'a>> {
        let start = self.position;
        let fixed = self.take(40)?.try_into().ok()?;
        let id = self.take(self.hash)?;
        let flags = self.u16()?;
        let more_flags = if flags & 0x4000 == 0 {
            0
        } else {
            (self.version >= 3).then_some(())?;
            self.u16()?
        };
        if self.version == 4 {
            let strip = self.offset()?;
            self.name.truncate(self.name.len().checked_sub(strip)?);
            let rest = self.bytes.get(self.position..)?;
            let suffix = rest.get(..rest.iter().position(|&byte| byte == 0)?)?;
            self.name.extend_from_slice(suffix);
            self.position += suffix.len() + 1;
        } else {
            let length = match usize::from(flags & 0xfff) {
                0xfff => self.bytes.get(self.position..)?.iter().position(|&byte| byte == 0)?,
                length => length,
            };
            self.name.clear();
            let name = self.take(length)?;
            self.name.extend_from_slice(name);
            // One to eight zero bytes pad the entry to a multiple of eight.
            let padding = 8 - (self.position - start) % 8;
            self.take(padding)?.iter().all(|&byte| byte == 0).then_some(())?;
        }
        Some(RawEntry { fixed, id, flags, more_flags })
    }

    /// Parses the extensions after the entries: returns the split-index link if there is one, and calls `take` for optional
    /// extensions. `None` if a required extension is unknown, or if they do not end exactly at the checksum.
    pub(crate) fn extensions(
        mut self,
        mut take: impl FnMut(&[u8], &'a [u8]) -> Option<()>,
    ) -> Option<Option<SplitLink>> {
        let mut link = None;
        while self.position < self.bytes.len() {
            let signature = self.take(4)?;
            let size = usize::try_from(self.u32()?).ok()?;
            let content = self.take(size)?;
            match signature {
                b"link" => link = Some(SplitLink::parse(content, self.hash)?),
                b"sdir" => {}
                [b'A'..=b'Z', ..] => take(signature, content)?,
                // Lower-case extensions are required. Git refuses unknown ones too.
                _ => return None,
            }
        }
        Some(link)
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let end = self.position.checked_add(length)?;
        let taken = self.bytes.get(self.position..end)?;
        self.position = end;
        Some(taken)
    }

    fn u16(&mut self) -> Option<u16> {
        self.take(2)?.try_into().ok().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_be_bytes)
    }

    /// Git's offset encoding: seven bits per byte, most significant first; each continuation adds one.
    fn offset(&mut self) -> Option<usize> {
        let mut byte = *self.take(1)?.first()?;
        let mut value = usize::from(byte & 127);
        while byte & 128 != 0 {
            byte = *self.take(1)?.first()?;
            value = value.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 127))?;
        }
        Some(value)
    }
}

impl RawEntry<'_> {
    fn number(&self, index: usize) -> u32 {
        let bytes = self.fixed.get(index * 4..).and_then(|rest| rest.first_chunk::<4>());
        bytes.map_or(0, |bytes| u32::from_be_bytes(*bytes))
    }

    fn time(&self, index: usize) -> i64 {
        i64::from(self.number(index)) * 1_000_000_000 + i64::from(self.number(index + 1))
    }

    /// Nanoseconds since the epoch.
    pub(crate) fn ctime(&self) -> i64 {
        self.time(0)
    }

    /// Nanoseconds since the epoch.
    pub(crate) fn mtime(&self) -> i64 {
        self.time(2)
    }

    pub(crate) fn mode(&self) -> u32 {
        self.number(6)
    }

    /// The size modulo 2^32.
    pub(crate) fn size(&self) -> u32 {
        self.number(9)
    }

    /// A collapsed folder of a sparse index.
    pub(crate) fn is_folder(&self) -> bool {
        self.mode() >> 12 == 0o4
    }
}

impl SplitLink {
    fn parse(content: &[u8], hash: usize) -> Option<Self> {
        let (id, bitmaps) = content.split_at_checked(hash)?;
        let base = id.iter().any(|&byte| byte != 0).then(|| id.iter().map(|byte| format!("{byte:02x}")).collect());
        if bitmaps.is_empty() {
            return Some(Self { base, deleted: Bitmap::default(), replaced: Bitmap::default() });
        }
        let (deleted, rest) = ewah::decode(bitmaps)?;
        let (replaced, rest) = ewah::decode(rest)?;
        rest.is_empty().then_some(Self { base, deleted, replaced })
    }

    /// The entries of the base, changed as the link says, followed by the index's own entries. `None` if the two are
    /// inconsistent.
    pub(crate) fn merge<N: AsRef<[u8]>, T>(
        &self,
        own: impl IntoIterator<Item = (N, T)>,
        base: impl IntoIterator<Item = (N, T)>,
    ) -> Option<Vec<(N, T)>> {
        let mut own = own.into_iter();
        let mut merged = Vec::new();
        for (position, (name, entry)) in base.into_iter().enumerate() {
            if self.deleted.bit(position) {
                continue;
            }
            // Replacements come first in the index file, in the order of the base and without names.
            let entry = if self.replaced.bit(position) { own.next()?.1 } else { entry };
            merged.push((name, entry));
        }
        for (name, entry) in own {
            (!name.as_ref().is_empty()).then_some(())?;
            merged.push((name, entry));
        }
        Some(merged)
    }

    /// Writes everything that determines the merged entries, for a digest.
    pub(crate) fn meaning(&self, write: &mut dyn FnMut(&[u8])) {
        write(self.base.as_deref().unwrap_or_default().as_bytes());
        for bitmap in [&self.deleted, &self.replaced] {
            write(&[0]);
            bitmap.meaning(write);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    /// An index with an unknown extension, and without a checksum.
    pub(crate) fn index(version: u32, hash: usize, entries: &[(&str, u32)]) -> Vec<u8> {
        let mut bytes = b"DIRC".to_vec();
        bytes.extend(version.to_be_bytes());
        bytes.extend((entries.len() as u32).to_be_bytes());
        let mut previous = "";
        for (name, mode) in entries {
            let start = bytes.len();
            bytes.extend([0; 24]);
            bytes.extend(mode.to_be_bytes());
            bytes.extend(vec![7; 12 + hash]);
            bytes.extend((name.len().min(0xfff) as u16).to_be_bytes());
            if version == 4 {
                let common = previous.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
                bytes.push((previous.len() - common) as u8);
                bytes.extend(&name.as_bytes()[common..]);
                bytes.push(0);
                previous = name;
            } else {
                bytes.extend(name.as_bytes());
                bytes.resize(bytes.len() + 8 - (bytes.len() - start) % 8, 0);
            }
        }
        bytes.extend(b"ABCD\0\0\0\x03abc");
        bytes.extend(vec![0; hash]);
        bytes
    }
}
