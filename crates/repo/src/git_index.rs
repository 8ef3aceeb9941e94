//! Reads the names out of git's index (versions 2, 3 and 4, SHA-1 and SHA-256, split or not).
//!
//! Only names matter here: which paths are tracked and which are submodules. Object ids, stat data, the
//! checksum and every optional extension are skipped. No object is ever read.

use std::cmp::Ordering;

use crate::ewah::{self, Bitmap};

/// How much larger than the file the names of a version 4 index may be, which says of each name only what differs from the
/// one before. An entry takes 63 bytes and no path is longer than 4,096, so that no index of real files comes near it; one
/// that was made to fill the memory does.
const GROWTH: usize = 64;

/// Tracked paths from the top of the checkout, sorted by bytes and unique.
#[derive(Debug, Default)]
pub(crate) struct TrackedPaths {
    names: Names,
    /// Submodules, sorted.
    gitlinks: Vec<Box<[u8]>>,
}

/// One index file as written: entries in their order, and the split-index link if it has one.
#[derive(Debug)]
pub(crate) struct IndexFile {
    names: Names,
    gitlinks: Vec<bool>,
    pub(crate) link: Option<SplitLink>,
}

/// What a split index says of the file it is based on.
#[derive(Debug)]
pub(crate) struct SplitLink {
    /// Lower-case hex, the end of `sharedindex.<id>`; `None` when there is no base.
    pub(crate) base: Option<String>,
    deleted: Bitmap,
    replaced: Bitmap,
}

/// Many byte strings in one allocation.
#[derive(Debug, Default)]
struct Names {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl TrackedPaths {
    /// `None` when the bitmaps and the base do not fit together.
    pub(crate) fn new(index: IndexFile, base: Option<IndexFile>) -> Option<Self> {
        let merged = match (&index.link, base) {
            (Some(link), Some(base)) => merge(&index, link, &base)?,
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

    /// Whether any tracked path lies below the directory, which is given without a trailing slash.
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
        let header = bytes.first_chunk::<12>().ok_or("it is too short")?;
        if !header.starts_with(b"DIRC") {
            return Err("it has no DIRC signature");
        }
        let version = u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
        if !(2..=4).contains(&version) {
            return Err("its version is not 2, 3 or 4");
        }
        let count = u32::from_be_bytes([header[8], header[9], header[10], header[11]]);
        // The file does not say how long its hashes are, and the wrong length never leads to its exact end.
        let parse = |hash| Reader { bytes, position: 12, hash }.index(version, count);
        parse(20).or_else(|| parse(32)).ok_or("its entries are damaged")
    }

    /// Everything that the set of tracked paths depends on, and nothing else: what `git status` refreshes is not in it.
    pub(crate) fn meaning(&self, mut write: impl FnMut(&[u8])) {
        for (name, gitlink) in self.names.iter().zip(&self.gitlinks) {
            write(name);
            write(&[0, u8::from(*gitlink)]);
        }
        if let Some(link) = &self.link {
            write(link.base.as_deref().unwrap_or_default().as_bytes());
            for bitmap in [&link.deleted, &link.replaced] {
                write(&[0]);
                bitmap.meaning(&mut write);
            }
        }
    }
}

fn merge(index: &IndexFile, link: &SplitLink, base: &IndexFile) -> Option<IndexFile> {
    let mut own = index.names.iter().zip(&index.gitlinks);
    let mut names = Names::default();
    let mut gitlinks = Vec::with_capacity(base.gitlinks.len() + index.gitlinks.len());
    for (position, (name, gitlink)) in base.names.iter().zip(&base.gitlinks).enumerate() {
        if link.deleted.bit(position) {
            continue;
        }
        // Replacements come first in the index file, in the order of the base and with their names left out.
        let gitlink = if link.replaced.bit(position) { own.next()?.1 } else { gitlink };
        names.push(name);
        gitlinks.push(*gitlink);
    }
    for (name, gitlink) in own {
        if name.is_empty() {
            return None;
        }
        names.push(name);
        gitlinks.push(*gitlink);
    }
    Some(IndexFile { names, gitlinks, link: None })
}

impl Names {
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

    /// Git writes its index sorted, so the usual case is one comparison per name.
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

struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
    hash: usize,
}

impl<'a> Reader<'a> {
    fn index(mut self, version: u32, count: u32) -> Option<IndexFile> {
        let mut names = Names::default();
        let mut gitlinks = Vec::new();
        for _ in 0..count {
            let (is_gitlink, is_directory) = self.entry(version, &mut names)?;
            if is_directory {
                // A folder that a sparse index left collapsed. What lies in it is not checked out, and finding its
                // names would mean reading objects.
                return self.without_sparse(version, count);
            }
            gitlinks.push(is_gitlink);
        }
        let link = self.extensions()?;
        Some(IndexFile { names, gitlinks, link })
    }

    /// The slow path for sparse indexes: version 4 names build on their predecessors, so those are kept apart.
    fn without_sparse(mut self, version: u32, count: u32) -> Option<IndexFile> {
        self.position = 12;
        let mut all = Names::default();
        let mut names = Names::default();
        let mut gitlinks = Vec::new();
        for index in 0..count {
            let (is_gitlink, is_directory) = self.entry(version, &mut all)?;
            if !is_directory {
                names.push(all.get(usize::try_from(index).ok()?)?);
                gitlinks.push(is_gitlink);
            }
        }
        let link = self.extensions()?;
        Some(IndexFile { names, gitlinks, link })
    }

    /// Appends the entry's name; tells whether it is a submodule and whether it is a collapsed directory.
    fn entry(&mut self, version: u32, names: &mut Names) -> Option<(bool, bool)> {
        let start = self.position;
        let fixed = self.take(40)?;
        let mode = u32::from_be_bytes([fixed[24], fixed[25], fixed[26], fixed[27]]);
        self.take(self.hash)?;
        let flags = self.u16()?;
        if flags & 0x4000 != 0 {
            if version < 3 {
                return None;
            }
            self.u16()?;
        }
        if version == 4 {
            self.compressed_name(names)?;
        } else {
            let rest = self.bytes.get(self.position..)?;
            let length = match usize::from(flags & 0xfff) {
                0xfff => rest.iter().position(|&byte| byte == 0)?,
                length => length,
            };
            names.push(self.take(length)?);
            // One to eight zero bytes fill the entry up to a multiple of eight.
            let padding = 8 - (self.position - start) % 8;
            self.take(padding)?.iter().all(|&byte| byte == 0).then_some(())?;
        }
        let kind = mode >> 12;
        matches!(kind, 0o10 | 0o12 | 0o16 | 0o4).then_some((kind == 0o16, kind == 0o4))
    }

    fn compressed_name(&mut self, names: &mut Names) -> Option<()> {
        let strip = self.offset()?;
        let rest = self.bytes.get(self.position..)?;
        let suffix = rest.get(..rest.iter().position(|&byte| byte == 0)?)?;
        self.position += suffix.len() + 1;
        let end = names.bytes.len();
        let start = match names.ends.len() {
            0 | 1 => 0,
            length => *names.ends.get(length - 2)?,
        };
        let keep = (end - start).checked_sub(strip)?;
        if end + keep + suffix.len() > self.bytes.len().saturating_mul(GROWTH) {
            return None;
        }
        names.bytes.extend_from_within(start..start + keep);
        names.bytes.extend_from_slice(suffix);
        names.ends.push(names.bytes.len());
        Some(())
    }

    /// Succeeds only when the extensions end exactly where the checksum starts.
    fn extensions(&mut self) -> Option<Option<SplitLink>> {
        let end = self.bytes.len().checked_sub(self.hash)?;
        let mut link = None;
        while self.position < end {
            let signature = self.take(4)?;
            let size = usize::try_from(self.u32()?).ok()?;
            let content = self.take(size)?;
            match signature {
                b"link" => link = Some(SplitLink::parse(content, self.hash)?),
                b"sdir" => {}
                // Git refuses required extensions that it does not know; those start with a small letter.
                [b'A'..=b'Z', ..] => {}
                _ => return None,
            }
        }
        (self.position == end).then_some(link)
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
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn index(version: u32, hash: usize, entries: &[(&str, u32)]) -> Vec<u8> {
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
        bytes.extend(b"TREE\0\0\0\x03abc");
        bytes.extend(vec![9; hash]);
        bytes
    }

    fn tracked(bytes: &[u8]) -> TrackedPaths {
        TrackedPaths::new(IndexFile::parse(bytes).unwrap(), None).unwrap()
    }

    #[test]
    fn every_version_and_hash() {
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
    fn sparse_directories_are_left_out() {
        for version in 3..=4 {
            let paths = tracked(&index(version, 20, &[("abc/", 0o040000), ("abcd", 0o100644), ("b", 0o100644)]));
            assert!(paths.contains(b"abcd") && paths.contains(b"b") && !paths.any_below(b"abc"));
        }
    }

    /// Found by fuzzing: a long name, repeated by entries that say "as before", grows with the square of the file.
    #[test]
    fn names_do_not_outgrow_the_file() {
        let long = "a/".repeat(2_047) + "b";
        let entries = |name| (0..200).map(|_| (name, 0o100644)).collect::<Vec<(&str, u32)>>();
        assert!(IndexFile::parse(&index(4, 20, &entries(&long))).is_ok(), "paths of the greatest length");
        let longer = "a/".repeat(50_000) + "b";
        assert_eq!(IndexFile::parse(&index(4, 20, &entries(&longer))).err(), Some("its entries are damaged"));
    }

    #[test]
    fn unsorted_entries_are_sorted() {
        let paths = tracked(&index(2, 20, &[("b", 0o100644), ("a", 0o100644), ("a", 0o100644)]));
        assert!(paths.contains(b"a") && paths.contains(b"b"));
    }

    #[test]
    fn damage_is_an_error() {
        let good = index(2, 20, &[("a", 0o100644), ("b/c", 0o100644)]);
        // Behind the entries come 11 bytes of extension and the checksum; a cut in there can look like a whole file,
        // because checksums are not verified.
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
