//! Reads the names in git's index: which paths are tracked and which are submodules.
//!
//! Skips object ids, stat data, the checksum and all optional extensions, because every scan needs the names and must be fast.
//! Never reads an object.

use std::cmp::Ordering;

use crate::git::index::file::{IndexReader, RawEntry, SplitLink};

/// The minimum bytes of an entry without its name.
const MIN_ENTRY_BYTES: usize = 62;

/// Tracked paths from the top of the checkout, sorted by bytes, without duplicates.
#[derive(Debug, Default)]
pub(crate) struct TrackedPaths {
    names: ByteStrings,
    /// Submodules, sorted.
    gitlinks: Vec<Box<[u8]>>,
}

/// One index file: entries in file order, and the split-index link if there is one.
#[derive(Debug)]
pub(crate) struct IndexFile {
    names: ByteStrings,
    gitlinks: Vec<bool>,
    pub(crate) link: Option<SplitLink>,
}

/// Many byte strings in one allocation.
#[derive(Debug, Default)]
struct ByteStrings {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl TrackedPaths {
    /// `None` if the bitmaps and the base are inconsistent.
    pub(crate) fn new(index: IndexFile, base: Option<IndexFile>) -> Option<Self> {
        let merged = match (&index.link, base) {
            (Some(link), Some(base)) => index.merged(link, &base)?,
            _ => index,
        };
        let mut gitlinks: Vec<Box<[u8]>> = merged
            .gitlinks
            .iter()
            .zip(merged.names.iter())
            .filter(|(is_gitlink, _)| **is_gitlink)
            .map(|(_, name)| name.into())
            .collect();
        gitlinks.sort_unstable();
        Some(Self { names: merged.names.sorted(), gitlinks })
    }

    pub(crate) fn contains(&self, path: &[u8]) -> bool {
        self.names.position(path).is_ok()
    }

    /// Whether a tracked path is below the directory, which has no trailing slash.
    pub(crate) fn any_below(&self, directory: &[u8]) -> bool {
        if directory.is_empty() {
            return !self.names.ends.is_empty();
        }
        let prefix = [directory, b"/"].concat();
        let first = self.names.position(&prefix).unwrap_or_else(|insert| insert);
        self.names.get(first).is_some_and(|name| name.starts_with(&prefix))
    }

    /// All names, sorted.
    pub(crate) fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.names.iter()
    }

    /// All submodules, sorted.
    pub(crate) fn gitlinks(&self) -> impl Iterator<Item = &[u8]> {
        self.gitlinks.iter().map(AsRef::as_ref)
    }

    pub(crate) fn is_gitlink(&self, path: &[u8]) -> bool {
        !self.gitlinks.is_empty() && self.gitlinks.binary_search_by(|link| link.as_ref().cmp(path)).is_ok()
    }
}

impl IndexFile {
    /// The error says what is wrong with the file.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, &'static str> {
        // The file does not state the length of its hashes. With the wrong length, parsing never ends exactly at the end of the
        // file.
        let parse = |hash| IndexReader::new(bytes, hash).map(|reader| Self::read(reader, bytes.len()));
        match parse(20)? {
            Some(file) => Ok(file),
            None => parse(32)?.ok_or("its entries are damaged"),
        }
    }

    fn read(mut reader: IndexReader<'_>, length: usize) -> Option<Self> {
        // Names are about half of the file. Unused capacity takes no memory.
        let most = length / MIN_ENTRY_BYTES;
        let mut names = ByteStrings { bytes: Vec::with_capacity(length / 2), ends: Vec::with_capacity(most) };
        let mut gitlinks = Vec::with_capacity(most);
        reader.entries(|name, entry: RawEntry<'_>| {
            let kind = entry.mode() >> 12;
            // Files in a collapsed folder of a sparse index are not checked out, and finding their names would require reading
            // objects.
            if !entry.is_folder() {
                names.push(name);
                gitlinks.push(kind == 0o16);
            }
            matches!(kind, 0o10 | 0o12 | 0o16 | 0o4).then_some(())
        })?;
        let link = reader.extensions(|_, _| Some(()))?;
        Some(Self { names, gitlinks, link })
    }

    fn entries(&self) -> impl Iterator<Item = (&[u8], bool)> {
        self.names.iter().zip(self.gitlinks.iter().copied())
    }

    /// Writes everything that determines the set of tracked paths, for a digest; not the stat data that `git status` refreshes.
    pub(crate) fn meaning(&self, mut write: impl FnMut(&[u8])) {
        for (name, gitlink) in self.entries() {
            write(name);
            write(&[0, u8::from(gitlink)]);
        }
        if let Some(link) = &self.link {
            link.meaning(&mut write);
        }
    }

    /// Merges a split index with its base.
    fn merged(&self, link: &SplitLink, base: &Self) -> Option<Self> {
        let mut names = ByteStrings::default();
        let mut gitlinks = Vec::with_capacity(base.gitlinks.len() + self.gitlinks.len());
        for (name, gitlink) in link.merge(self.entries(), base.entries())? {
            names.push(name);
            gitlinks.push(gitlink);
        }
        Some(Self { names, gitlinks, link: None })
    }
}

impl ByteStrings {
    fn push(&mut self, name: &[u8]) {
        self.bytes.extend_from_slice(name);
        self.ends.push(self.bytes.len());
    }

    fn get(&self, index: usize) -> Option<&[u8]> {
        let start = if index == 0 { 0 } else { *self.ends.get(index - 1)? };
        self.bytes.get(start..*self.ends.get(index)?)
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len()).filter_map(|index| self.get(index))
    }

    fn position(&self, name: &[u8]) -> Result<usize, usize> {
        let (mut low, mut high) = (0, self.ends.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.get(middle).map(|found| found.cmp(name)) {
                Some(Ordering::Less) => low = middle + 1,
                Some(Ordering::Greater) => high = middle,
                _ => return Ok(middle),
            }
        }
        Err(low)
    }

    /// Git writes its index sorted, so usually this is one comparison per name.
    fn sorted(self) -> Self {
        if self.iter().zip(self.iter().skip(1)).all(|(left, right)| left < right) {
            return self;
        }
        let mut all: Vec<&[u8]> = self.iter().collect();
        all.sort_unstable();
        all.dedup();
        let mut sorted = Self::default();
        all.into_iter().for_each(|name| sorted.push(name));
        sorted
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::git::index::file::tests::index;

    fn tracked(bytes: &[u8]) -> TrackedPaths {
        TrackedPaths::new(IndexFile::parse(bytes).unwrap(), None).unwrap()
    }

    #[test]
    fn indexes_of_every_version_and_hash_are_read() {
        let entries = [("a", 0o100644), ("a/b.ts", 0o100755), ("lib", 0o160000), ("lib2/x", 0o120000)];
        for version in 2..=4 {
            for hash in [20, 32] {
                let paths = tracked(&index(version, hash, &entries));
                assert!(entries.iter().all(|(name, _)| paths.contains(name.as_bytes())), "v{version} {hash}");
                assert!(!paths.contains(b"a/b") && !paths.contains(b"") && !paths.contains(b"z"));
                assert!(paths.any_below(b"a") && paths.any_below(b"lib2") && paths.any_below(b""));
                assert!(!paths.any_below(b"lib") && !paths.any_below(b"li") && !paths.any_below(b"z"));
                assert!(paths.is_gitlink(b"lib") && !paths.is_gitlink(b"a"));
            }
        }
    }

    #[test]
    fn sparse_directories_are_omitted() {
        for version in 3..=4 {
            let paths = tracked(&index(version, 20, &[("abc/", 0o040000), ("abcd", 0o100644), ("b", 0o100644)]));
            assert!(paths.contains(b"abcd") && paths.contains(b"b") && !paths.any_below(b"abc"));
        }
    }

    #[test]
    fn unsorted_entries_are_sorted() {
        let paths = tracked(&index(2, 20, &[("b", 0o100644), ("a", 0o100644), ("a", 0o100644)]));
        assert!(paths.contains(b"a") && paths.contains(b"b"));
    }

    #[test]
    fn a_damaged_index_is_an_error() {
        let good = index(2, 20, &[("a", 0o100644), ("b/c", 0o100644)]);
        // After the entries come 11 bytes of an extension and the checksum. A file truncated there can look complete, because
        // checksums are not verified.
        for length in 0..good.len() - 31 {
            assert!(IndexFile::parse(&good[..length]).is_err(), "cut at {length}");
        }
        assert!(IndexFile::parse(b"DIRC\0\0\0\x02\xff\xff\xff\xff").is_err());
        assert!(IndexFile::parse(b"GARBAGE GARBAGE GARBAGE").is_err());
    }

    proptest! {
        #[test]
        fn damaged_indexes_never_panic(at in 0usize..400, byte in any::<u8>(), version in 2u32..=4) {
            let mut bytes = index(version, 20, &[("a/b", 0o100644), ("a/c", 0o100644), ("d", 0o160000)]);
            let at = at % bytes.len();
            bytes[at] = byte;
            if let Ok(file) = IndexFile::parse(&bytes) {
                TrackedPaths::new(file, None);
            }
        }
    }
}
