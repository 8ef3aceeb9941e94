//! A cache file that is read in parts. It has a checksum for each block, and only the blocks that are read are verified.
//!
//! Layout: a head (magic, key, checksum and length of the directory); the directory (a description, the lengths of the sections,
//! the checksums of the blocks); then the concatenated sections. Block boundaries ignore section boundaries.

use std::borrow::Cow;
use std::fmt;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use stan_rank::{Batch, ReadRanges, SharedBytes};
use stan_repo::{InputFile, Links};
use xxhash_rust::xxh3::xxh3_64;

use super::bytes::{SectionReader, SectionWriter};
use super::{Cache, MAX_DATA_BYTES};

/// The unit of reading and of checksums.
const BLOCK: usize = 4096;
/// Gaps of at most this many blocks are read too, because that costs less than another system call.
const MAX_GAP_BLOCKS: usize = 4;
const HEAD: usize = 32;
/// A directory has a few bytes for each block.
const MAX_DIRECTORY_BYTES: u64 = MAX_DATA_BYTES / 64;

/// An open file in blocks.
pub(super) struct BlockFile {
    file: Mutex<Box<dyn InputFile>>,
    /// File offset of the first block.
    start: u64,
    length: usize,
    checksums: Vec<u64>,
}

impl fmt::Debug for BlockFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockFile").field("length", &self.length).finish_non_exhaustive()
    }
}

impl BlockFile {
    /// Reads `ranges`, which are sorted by start: the bytes of all blocks that they touch, and where each range starts in these
    /// bytes. `None` if a range is out of bounds or a checksum is wrong.
    fn read(&self, ranges: impl Iterator<Item = Range<usize>>) -> Option<(Vec<u8>, Vec<usize>)> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        let mut places = Vec::new();
        // Total length of the runs before the current one.
        let mut before = 0;
        for range in ranges {
            if range.end > self.length || range.start > range.end {
                return None;
            }
            let blocks = range.start / BLOCK..range.end.div_ceil(BLOCK);
            match runs.last_mut() {
                Some(run) if blocks.start <= run.end + MAX_GAP_BLOCKS => run.end = run.end.max(blocks.end),
                last => {
                    before += last.map_or(0, |run| run.len() * BLOCK);
                    runs.push(blocks);
                }
            }
            let first = runs.last().map_or(0, |run| run.start * BLOCK);
            places.push(before + range.start - first);
        }
        let total: usize = runs.iter().map(|run| run.len() * BLOCK).sum();
        let mut bytes = vec![0; total];
        let mut rest = bytes.as_mut_slice();
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        for run in runs {
            let (piece, others) = rest.split_at_mut(run.len() * BLOCK);
            rest = others;
            // The last block of the file may be shorter.
            let length = piece.len().min(self.length.saturating_sub(run.start * BLOCK));
            let piece = piece.get_mut(..length)?;
            file.seek(SeekFrom::Start(self.start + (run.start * BLOCK) as u64)).ok()?;
            file.read_exact(piece).ok()?;
            let expected = self.checksums.get(run)?;
            if !piece.chunks(BLOCK).map(xxh3_64).eq(expected.iter().copied()) {
                return None;
            }
        }
        Some((bytes, places))
    }
}

/// One section of a file.
#[derive(Clone, Debug)]
pub(super) struct Section {
    file: Arc<BlockFile>,
    place: Range<usize>,
}

impl Section {
    /// All bytes of the section.
    pub(super) fn whole(&self) -> Option<SharedBytes> {
        let [bytes] = read_together([self])?;
        Some(bytes)
    }
}

/// Reads sections of one file, in file order, with one read per group of adjacent sections.
pub(super) fn read_together<const N: usize>(sections: [&Section; N]) -> Option<[SharedBytes; N]> {
    let file = &sections.first()?.file;
    let (bytes, starts) = file.read(sections.iter().map(|section| section.place.clone()))?;
    let bytes = SharedBytes::new(bytes);
    let parts = sections.iter().zip(starts).map(|(section, start)| bytes.part(start..start + section.place.len()));
    parts.collect::<Option<Vec<_>>>()?.try_into().ok()
}

impl ReadRanges for Section {
    fn len(&self) -> usize {
        self.place.len()
    }

    fn read(&self, ranges: &[Range<usize>]) -> Option<Batch<'_>> {
        if ranges.iter().any(|range| range.end > self.place.len()) {
            return None;
        }
        let start = self.place.start;
        let (bytes, starts) = self.file.read(ranges.iter().map(|range| start + range.start..start + range.end))?;
        Some(Batch { bytes: Cow::Owned(bytes), starts })
    }
}

impl Cache<'_> {
    /// Opens a file: its description and its sections, whose contents are not read yet.
    pub(super) fn open_blocks<const N: usize>(
        &self,
        name: &str,
        magic: &[u8; 8],
        key: u64,
    ) -> Option<(Vec<u8>, [Section; N])> {
        let path = self.path(name);
        let size = self.trusted(&path, MAX_DATA_BYTES)?.size;
        let mut file = self.system.open_file(Path::new(&path), Links::Follow).ok()?.reader;
        let mut head = [0; HEAD];
        file.read_exact(&mut head).ok()?;
        let mut reader = SectionReader::new(head.strip_prefix(magic)?);
        let (own_key, checksum, length) = (reader.u64()?, reader.u64()?, reader.u64()?);
        if own_key != key || length > MAX_DIRECTORY_BYTES.min(size) {
            return None;
        }
        let mut directory = vec![0; usize::try_from(length).ok()?];
        file.read_exact(&mut directory).ok()?;
        if xxh3_64(&directory) != checksum {
            return None;
        }
        let mut reader = SectionReader::new(&directory);
        let description = reader.blob()?.to_vec();
        let lengths: [usize; N] =
            numbers(reader.blob()?)?.map(usize::try_from).collect::<Result<Vec<_>, _>>().ok()?.try_into().ok()?;
        let checksums: Vec<u64> = numbers(reader.blob()?)?.collect();
        let start = HEAD as u64 + length;
        let total = lengths.iter().try_fold(0usize, |sum, length| sum.checked_add(*length))?;
        let is_whole = reader.is_empty()
            && start.checked_add(total as u64) == Some(size)
            && checksums.len() == total.div_ceil(BLOCK);
        let file = Arc::new(BlockFile { file: Mutex::new(file), start, length: total, checksums });
        let mut end = 0;
        let section = |length: usize| {
            let place = end..end + length;
            end = place.end;
            Section { file: Arc::clone(&file), place }
        };
        is_whole.then(|| (description, lengths.map(section)))
    }

    /// Writes a file for [`Self::open_blocks`].
    pub(super) fn store_blocks(
        &self,
        name: &str,
        magic: &[u8; 8],
        key: u64,
        description: &[u8],
        sections: &[&[u8]],
    ) -> Option<()> {
        let total: usize = sections.iter().map(|section| section.len()).sum();
        let mut directory = SectionWriter::default();
        directory.blob(description);
        directory.blob(&bytes_of(sections.iter().map(|section| section.len() as u64)));
        let head = HEAD + directory.len() + 8 + 8 * total.div_ceil(BLOCK);
        let mut bytes = Vec::with_capacity(head + total);
        bytes.resize(head, 0);
        sections.iter().for_each(|section| bytes.extend_from_slice(section));
        directory.blob(&bytes_of(bytes.get(head..)?.chunks(BLOCK).map(xxh3_64)));
        let directory = directory.into_bytes();
        let mut writer = SectionWriter::with_capacity(head);
        writer.raw(magic);
        writer.u64(key);
        writer.u64(xxh3_64(&directory));
        writer.u64(directory.len() as u64);
        writer.raw(&directory);
        bytes.get_mut(..head)?.copy_from_slice(&writer.into_bytes());
        self.write(name, &bytes)
    }
}

fn numbers(bytes: &[u8]) -> Option<impl Iterator<Item = u64> + '_> {
    let (chunks, rest) = bytes.as_chunks::<8>();
    rest.is_empty().then(|| chunks.iter().map(|chunk| u64::from_le_bytes(*chunk)))
}

fn bytes_of(numbers: impl Iterator<Item = u64>) -> Vec<u8> {
    numbers.flat_map(u64::to_le_bytes).collect()
}

#[cfg(test)]
mod tests {
    use stan_repo::{MemorySystem, WritableSystem};

    use super::*;
    use crate::cache::CacheLocation;

    const MAGIC: &[u8; 8] = b"testtest";
    const KEY: u64 = 7;

    fn cache(system: &MemorySystem) -> Cache<'_> {
        let location =
            CacheLocation { directory: "/own", root: "/w/r", stan_folder: "/w/r/.stan", state_directory: None };
        Cache::open(system, location, b"key").unwrap()
    }

    fn ranges(section: &Section, ranges: &[Range<usize>]) -> Option<Vec<Vec<u8>>> {
        let batch = section.read(ranges)?;
        Some(
            ranges
                .iter()
                .zip(&batch.starts)
                .map(|(range, start)| batch.bytes[*start..][..range.len()].to_vec())
                .collect(),
        )
    }

    #[test]
    fn sections_can_be_read_in_parts() {
        let system = MemorySystem::from_fixture("//- /w/.git/HEAD\n//- /w/r/a.ts\n");
        let cache = cache(&system);
        let long: Vec<u8> = (0..100_000u32).map(|number| (number / 7) as u8).collect();
        cache.store_blocks("f", MAGIC, KEY, b"what", &[b"one", &long, b""]).unwrap();
        let (description, [one, two, three]) = cache.open_blocks::<3>("f", MAGIC, KEY).unwrap();
        let whole = |section: &Section| section.whole().unwrap().bytes().to_vec();
        assert_eq!((description.as_slice(), whole(&one).as_slice()), (b"what".as_slice(), b"one".as_slice()));
        assert_eq!((whole(&two) == long, whole(&three)), (true, Vec::new()));
        let together = read_together([&one, &two, &three]).unwrap().map(|bytes| bytes.bytes().to_vec());
        assert_eq!(together, [b"one".to_vec(), long.clone(), Vec::new()]);
        let wanted = [0..0, 3..9, 5..4200, 40_000..40_001, 99_000..100_000, 100_000..100_000];
        let expected: Vec<Vec<u8>> = wanted.iter().map(|range| long[range.clone()].to_vec()).collect();
        assert_eq!(ranges(&two, &wanted), Some(expected));
        assert_eq!(ranges(&two, &[0..1, 0..100_001]), None);
        assert!(
            cache.open_blocks::<2>("f", MAGIC, KEY).is_none() && cache.open_blocks::<3>("f", MAGIC, KEY + 1).is_none()
        );
    }

    #[test]
    fn damage_is_detected_in_the_blocks_that_are_read() {
        let system = MemorySystem::from_fixture("//- /w/.git/HEAD\n//- /w/r/a.ts\n");
        let cache = cache(&system);
        cache.store_blocks("f", MAGIC, KEY, b"what", &[b"one", &[5; 30_000]]).unwrap();
        let mut bytes = Vec::new();
        let path = cache.path("f");
        stan_repo::SystemExt::read_into(&system, Path::new(&path), &mut bytes).unwrap();
        for at in (0..bytes.len()).step_by(97).chain([8, 16, 24, bytes.len() - 1]) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            system.write_atomic(Path::new(&path), &damaged).unwrap();
            let read =
                cache.open_blocks::<2>("f", MAGIC, KEY).and_then(|(_, [one, two])| Some((one.whole()?, two.whole()?)));
            assert!(read.is_none(), "{at}");
        }
        for length in [0, 7, 31, 40, 200, bytes.len() - 1] {
            system.write_atomic(Path::new(&path), &bytes[..length]).unwrap();
            assert!(cache.open_blocks::<2>("f", MAGIC, KEY).is_none(), "{length}");
        }
        let mut far = bytes.clone();
        *far.last_mut().unwrap() ^= 1;
        system.write_atomic(Path::new(&path), &far).unwrap();
        let (_, [one, two]) = cache.open_blocks::<2>("f", MAGIC, KEY).unwrap();
        assert!(one.whole().is_some() && ranges(&two, &[0..1, 0..100]).is_some(), "another block");
        assert!(ranges(&two, &[0..1, 29_990..29_999]).is_none());
    }
}
