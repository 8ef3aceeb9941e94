//! What git's index knows of each file: its object, mode and times (versions 2, 3 and 4, SHA-1 and SHA-256, split or not).
//!
//! `git_index` reads the same file for its names alone, which is what every scan needs and must be quick. This one is for
//! the question of what changed. The checksum is verified, so that a damaged index is no answer.

use std::collections::BTreeMap;

use crate::ewah::{self, Bitmap};
use crate::git_objects::{HashKind, Mode, ObjectId};

/// The index as a whole.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    /// Paths from the top of the checkout.
    pub(crate) files: BTreeMap<Vec<u8>, Entry>,
    /// Folders that are exactly this object, each with a slash at its end; the top is empty.
    pub(crate) folders: BTreeMap<Vec<u8>, ObjectId>,
    /// Folders that are not checked out, each with a slash at its end.
    pub(crate) sparse: Vec<Vec<u8>>,
}

/// What the index knows of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Nanoseconds since the epoch.
    pub(crate) mtime: i64,
    pub(crate) ctime: i64,
    /// The last 32 bits of it; 0 also for entries that must be looked at again.
    pub(crate) size: u32,
    pub(crate) mode: Mode,
    pub(crate) id: ObjectId,
    /// The user told git to take it for unchanged.
    pub(crate) is_assumed: bool,
    /// It need not be on the disk.
    pub(crate) is_skipped: bool,
    /// A merge has left it open.
    pub(crate) is_unmerged: bool,
}

/// One file as written: entries in their order.
#[derive(Debug)]
pub(crate) struct EntriesFile {
    entries: Vec<(Vec<u8>, Slot)>,
    folders: BTreeMap<Vec<u8>, ObjectId>,
    link: Option<Link>,
}

#[derive(Clone, Debug)]
enum Slot {
    File(Entry),
    /// A folder of a sparse index.
    Folder,
}

/// What a split index says of the file it is based on.
#[derive(Debug)]
struct Link {
    base: Option<ObjectId>,
    deleted: Bitmap,
    replaced: Bitmap,
}

impl EntriesFile {
    /// The error says what is wrong with the file.
    pub(crate) fn parse(bytes: &[u8], hash: HashKind) -> Result<Self, &'static str> {
        let header = bytes.first_chunk::<12>().ok_or("it is too short")?;
        let [_, _, _, _, v0, v1, v2, v3, c0, c1, c2, c3] = *header;
        if !header.starts_with(b"DIRC") {
            return Err("it has no DIRC signature");
        }
        let version = u32::from_be_bytes([v0, v1, v2, v3]);
        if !(2..=4).contains(&version) {
            return Err("its version is not 2, 3 or 4");
        }
        let end = bytes.len().checked_sub(hash.length()).ok_or("it is too short")?;
        let (content, sum) = bytes.split_at_checked(end).ok_or("it is too short")?;
        let sum = ObjectId::from_bytes(sum).ok_or("it is too short")?;
        // Zeros mean that git was told not to spend time on it.
        if !sum.is_null() && hash.checksum(content) != sum {
            return Err("its checksum is not that of its contents");
        }
        let count = u32::from_be_bytes([c0, c1, c2, c3]);
        Reader { bytes: content, position: 12, hash }.file(version, count).ok_or("its entries are damaged")
    }

    /// The end of the name of the file that this one is based on.
    pub(crate) fn base(&self) -> Option<String> {
        self.link.as_ref()?.base.map(|id| id.to_string())
    }

    /// `None` when the two do not fit together.
    pub(crate) fn with_base(self, base: Option<Self>) -> Option<Entries> {
        let entries = match (self.link, base) {
            (Some(link), Some(base)) => merge(self.entries, &link, base.entries)?,
            (Some(Link { base: Some(_), .. }), None) => return None,
            _ => self.entries,
        };
        let mut index = Entries { folders: self.folders, ..Entries::default() };
        for (name, slot) in entries {
            match slot {
                Slot::Folder => index.sparse.push(name),
                Slot::File(entry) => {
                    index.files.insert(name, entry);
                }
            }
        }
        Some(index)
    }
}

fn merge(own: Vec<(Vec<u8>, Slot)>, link: &Link, base: Vec<(Vec<u8>, Slot)>) -> Option<Vec<(Vec<u8>, Slot)>> {
    let mut own = own.into_iter();
    let mut merged = Vec::with_capacity(base.len());
    for (position, (name, slot)) in base.into_iter().enumerate() {
        if link.deleted.bit(position) {
            continue;
        }
        // Replacements come first in the index file, in the order of the base and with their names left out.
        let slot = if link.replaced.bit(position) { own.next()?.1 } else { slot };
        merged.push((name, slot));
    }
    for (name, slot) in own {
        (!name.is_empty()).then_some(())?;
        merged.push((name, slot));
    }
    Some(merged)
}

struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
    hash: HashKind,
}

impl<'a> Reader<'a> {
    fn file(mut self, version: u32, count: u32) -> Option<EntriesFile> {
        let mut file = EntriesFile { entries: Vec::new(), folders: BTreeMap::new(), link: None };
        let mut name = Vec::new();
        for _ in 0..count {
            let slot = self.entry(version, &mut name)?;
            file.entries.push((name.clone(), slot));
        }
        while self.position < self.bytes.len() {
            let signature = self.take(4)?;
            let size = usize::try_from(self.number()?).ok()?;
            let content = self.take(size)?;
            match signature {
                b"link" => file.link = Some(Link::parse(content, self.hash)?),
                b"TREE" => file.folders = folders(content, self.hash)?,
                _ => {}
            }
        }
        Some(file)
    }

    fn entry(&mut self, version: u32, name: &mut Vec<u8>) -> Option<Slot> {
        let start = self.position;
        let (ctime, mtime) = (self.time()?, self.time()?);
        self.take(8)?;
        let bits = self.number()?;
        self.take(8)?;
        let size = self.number()?;
        let id = ObjectId::from_bytes(self.take(self.hash.length())?)?;
        let flags = self.short()?;
        let more = if flags & 0x4000 == 0 {
            0
        } else {
            (version >= 3).then_some(())?;
            self.short()?
        };
        let rest = self.bytes.get(self.position..)?;
        if version == 4 {
            let strip = self.offset()?;
            name.truncate(name.len().checked_sub(strip)?);
            let rest = self.bytes.get(self.position..)?;
            let length = rest.iter().position(|&byte| byte == 0)?;
            name.extend_from_slice(self.take(length)?);
            self.take(1)?;
        } else {
            let length = match usize::from(flags & 0xfff) {
                0xfff => rest.iter().position(|&byte| byte == 0)?,
                length => length,
            };
            name.clear();
            name.extend_from_slice(self.take(length)?);
            // One to eight zero bytes fill the entry up to a multiple of eight.
            let padding = 8 - (self.position - start) % 8;
            self.take(padding)?.iter().all(|&byte| byte == 0).then_some(())?;
        }
        if bits >> 12 == 0o4 {
            return Some(Slot::Folder);
        }
        let (is_assumed, is_unmerged, is_skipped) = (flags & 0x8000 != 0, flags & 0x3000 != 0, more & 0x4000 != 0);
        let mode = Mode::of(bits)?;
        Some(Slot::File(Entry { mtime, ctime, size, mode, id, is_assumed, is_skipped, is_unmerged }))
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.position..self.position.checked_add(length)?)?;
        self.position += length;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn short(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    fn time(&mut self) -> Option<i64> {
        let (seconds, nanoseconds) = (self.number()?, self.number()?);
        Some(i64::from(seconds) * 1_000_000_000 + i64::from(nanoseconds))
    }

    /// Git's offset encoding: seven bits per byte, most significant first, each continuation adding one.
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

impl Link {
    fn parse(content: &[u8], hash: HashKind) -> Option<Self> {
        let (id, bitmaps) = content.split_at_checked(hash.length())?;
        let base = ObjectId::from_bytes(id).filter(|id| !id.is_null());
        if bitmaps.is_empty() {
            return Some(Self { base, deleted: Bitmap::default(), replaced: Bitmap::default() });
        }
        let (deleted, rest) = ewah::decode(bitmaps)?;
        let (replaced, rest) = ewah::decode(rest)?;
        rest.is_empty().then_some(Self { base, deleted, replaced })
    }
}

/// Git's note of which folders are which objects: each folder before the ones in it, with how many those are.
fn folders(content: &[u8], hash: HashKind) -> Option<BTreeMap<Vec<u8>, ObjectId>> {
    let mut found = BTreeMap::new();
    // The folders that are open, each with how many of its own are still to come.
    let mut open: Vec<(Vec<u8>, u32)> = Vec::new();
    let mut rest = content;
    while !rest.is_empty() {
        let zero = rest.iter().position(|&byte| byte == 0)?;
        let line_end = rest.iter().skip(zero).position(|&byte| byte == b'\n')? + zero;
        let numbers = std::str::from_utf8(rest.get(zero + 1..line_end)?).ok()?;
        let (files, inner) = numbers.split_once(' ')?;
        let (files, inner): (i64, u32) = (files.parse().ok()?, inner.parse().ok()?);
        let path = match open.last() {
            None => Vec::new(),
            Some((parent, _)) => [parent, rest.get(..zero)?, b"/"].concat(),
        };
        rest = rest.get(line_end + 1..)?;
        if files >= 0 {
            let (id, behind) = rest.split_at_checked(hash.length())?;
            found.insert(path.clone(), ObjectId::from_bytes(id)?);
            rest = behind;
        }
        if let Some((_, left)) = open.last_mut() {
            *left = left.checked_sub(1)?;
        }
        open.push((path, inner));
        while open.last().is_some_and(|(_, left)| *left == 0) {
            open.pop();
        }
    }
    open.is_empty().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_folders() {
        let id = [7; 20];
        let mut content = Vec::new();
        for (line, has_id) in [("\0-1 2\n", false), ("a\x002 1\n", true), ("b\x001 0\n", true), ("c\0-1 0\n", false)] {
            content.extend(line.as_bytes());
            content.extend(has_id.then_some(id).iter().flatten());
        }
        let found = folders(&content, HashKind::Sha1).unwrap();
        let names: Vec<&[u8]> = found.keys().map(Vec::as_slice).collect();
        assert_eq!(names, [b"a/".as_slice(), b"a/b/"]);
        for length in 1..content.len() {
            assert!(folders(&content[..length], HashKind::Sha1).is_none(), "cut at {length}");
        }
        assert!(folders(b"", HashKind::Sha1).unwrap().is_empty());
    }
}
