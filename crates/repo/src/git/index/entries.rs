//! Reads whole entries of git's index: object id, mode and times of each file.
//!
//! `tracked` reads only the names, because every scan needs them and must be fast. This reader is for finding changes. It
//! verifies the checksum, so a damaged index is an error.

use std::collections::BTreeMap;

use crate::git::index::file::{IndexReader, MAX_NAMES_GROWTH, RawEntry, SplitLink};
use crate::git::objects::{HashKind, ObjectId, TreeMode};

/// A whole index, after merging a split one with its base.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    /// Paths from the top of the checkout.
    pub(crate) files: BTreeMap<Vec<u8>, Entry>,
    /// Folders with a known tree id, each with a trailing slash; the top is empty.
    pub(crate) folders: BTreeMap<Vec<u8>, ObjectId>,
    /// Folders that are not checked out, each with a trailing slash; sorted.
    pub(crate) sparse: Vec<Vec<u8>>,
}

/// The index entry of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Nanoseconds since the epoch.
    pub(crate) mtime: i64,
    pub(crate) ctime: i64,
    /// The size modulo 2^32; also 0 for entries that must be compared by content.
    pub(crate) size: u32,
    pub(crate) mode: TreeMode,
    pub(crate) id: ObjectId,
    /// The user set `assume-unchanged`.
    pub(crate) is_assumed: bool,
    /// `skip-worktree`: it need not exist on disk.
    pub(crate) is_skipped: bool,
    /// A conflict of an unfinished merge.
    pub(crate) is_unmerged: bool,
}

/// One index file, with entries in file order.
#[derive(Debug)]
pub(crate) struct EntriesFile {
    entries: Vec<(Vec<u8>, IndexSlot)>,
    folders: BTreeMap<Vec<u8>, ObjectId>,
    link: Option<SplitLink>,
}

#[derive(Clone, Debug)]
enum IndexSlot {
    File(Entry),
    /// A folder of a sparse index.
    Folder,
}

impl EntriesFile {
    /// The error says what is wrong with the file.
    pub(crate) fn parse(bytes: &[u8], hash: HashKind) -> Result<Self, &'static str> {
        let end = bytes.len().checked_sub(hash.length()).ok_or("it is too short")?;
        let reader = IndexReader::new(bytes, hash.length())?;
        let (content, sum) = bytes.split_at_checked(end).ok_or("it is too short")?;
        let sum = ObjectId::from_bytes(sum).ok_or("it is too short")?;
        // Zeros mean that git was configured to skip the checksum (`index.skipHash`).
        if !sum.is_null() && hash.checksum(content) != sum {
            return Err("its checksum is not that of its contents");
        }
        Self::read(reader, hash).ok_or("its entries are damaged")
    }

    fn read(mut reader: IndexReader<'_>, hash: HashKind) -> Option<Self> {
        let mut entries = Vec::new();
        reader.entries(|name, entry| {
            entries.push((name.to_vec(), IndexSlot::of(&entry)?));
            Some(())
        })?;
        let mut known = BTreeMap::new();
        let link = reader.extensions(|signature, content| {
            if signature == b"TREE" {
                known = folders(content, hash)?;
            }
            Some(())
        })?;
        Some(Self { entries, folders: known, link })
    }

    /// The suffix of the name of the shared index that a split index is based on.
    pub(crate) fn base(&self) -> Option<String> {
        self.link.as_ref()?.base.clone()
    }

    /// `None` if the two are inconsistent.
    pub(crate) fn with_base(self, base: Option<Self>) -> Option<Entries> {
        let entries = match (self.link, base) {
            (Some(link), Some(base)) => link.merge(self.entries, base.entries)?,
            (Some(SplitLink { base: Some(_), .. }), None) => return None,
            _ => self.entries,
        };
        let mut index = Entries { folders: self.folders, ..Entries::default() };
        for (name, slot) in entries {
            match slot {
                IndexSlot::Folder => index.sparse.push(name),
                IndexSlot::File(entry) => {
                    index.files.insert(name, entry);
                }
            }
        }
        index.sparse.sort_unstable();
        Some(index)
    }
}

impl IndexSlot {
    fn of(raw: &RawEntry<'_>) -> Option<Self> {
        if raw.is_folder() {
            return Some(Self::Folder);
        }
        Some(Self::File(Entry {
            mtime: raw.mtime(),
            ctime: raw.ctime(),
            size: raw.size(),
            mode: TreeMode::of(raw.mode())?,
            id: ObjectId::from_bytes(raw.id)?,
            is_assumed: raw.flags & 0x8000 != 0,
            is_skipped: raw.more_flags & 0x4000 != 0,
            is_unmerged: raw.flags & 0x3000 != 0,
        }))
    }
}

/// Parses git's cache of tree ids: each folder before its subfolders, with the number of those.
fn folders(content: &[u8], hash: HashKind) -> Option<BTreeMap<Vec<u8>, ObjectId>> {
    let mut found = BTreeMap::new();
    // The open folders, each with the number of its subfolders still to come.
    let mut open: Vec<(Vec<u8>, u32)> = Vec::new();
    let mut rest = content;
    // Bounded: paths of nested folders can take memory quadratic in the size of the file.
    let mut named = 0;
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
        named += path.len();
        if named > content.len().saturating_mul(MAX_NAMES_GROWTH) {
            return None;
        }
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
    use crate::git::index::file::tests::index;
    use crate::git::index::tracked::IndexFile;

    #[test]
    fn the_tree_extension_is_read_with_nested_folders() {
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

    /// Found by fuzzing: a long name that entries repeat with "as before" takes memory quadratic in the size of the file. So do
    /// nested folders.
    #[test]
    fn memory_for_names_is_bounded_by_the_size_of_the_file() {
        let long = "a/".repeat(2_047) + "b";
        let entries = |name| (0..200).map(|_| (name, 0o100644)).collect::<Vec<(&str, u32)>>();
        let greatest = index(4, 20, &entries(&long));
        assert!(IndexFile::parse(&greatest).is_ok() && EntriesFile::parse(&greatest, HashKind::Sha1).is_ok());
        let longer = "a/".repeat(50_000) + "b";
        let hostile = index(4, 20, &entries(&longer));
        assert_eq!(IndexFile::parse(&hostile).err(), Some("its entries are damaged"));
        assert_eq!(EntriesFile::parse(&hostile, HashKind::Sha1).err(), Some("its entries are damaged"));

        let nested = |depth: usize| [b"\0-1 1\n".as_slice(), &b"a\0-1 1\n".repeat(depth), b"a\0-1 0\n"].concat();
        assert!(folders(&nested(400), HashKind::Sha1).is_some());
        assert!(folders(&nested(100_000), HashKind::Sha1).is_none());
    }

    /// Both readers give the same result for a file, and refuse the same files.
    #[test]
    fn required_extensions_are_refused() {
        let mut bytes = index(2, 20, &[("a", 0o100644)]);
        assert!(EntriesFile::parse(&bytes, HashKind::Sha1).is_ok());
        let at = bytes.windows(4).position(|window| window == b"ABCD").unwrap();
        bytes[at] = b'a';
        assert!(EntriesFile::parse(&bytes, HashKind::Sha1).is_err() && IndexFile::parse(&bytes).is_err());
    }
}
