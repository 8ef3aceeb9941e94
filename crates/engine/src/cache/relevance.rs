//! What a ranking was made of, kept for the next one: the words of all files, by their contents, and the history, by the
//! commit that it ends with.
//!
//! Words hold for a file as long as its digest does, whatever else changed. A history that could not be read whole is not
//! kept: what it lacks may be there the next time.

use std::path::Path;

use rustc_hash::FxHashMap;
use stan_model::Digest;
use stan_rank::{Change, FileWords, Fixed, Postings, WordIndex};
use stan_repo::{GitHistory, SystemExt as _};
use xxhash_rust::xxh3::xxh3_64;

use super::bytes::{SectionReader, SectionWriter};
use super::{Cache, LARGEST_DATA};

/// Changes whenever words are counted or stored in another way.
const FORMAT: u32 = 2;
const WORDS_MAGIC: &[u8; 8] = b"stanword";
pub(super) const WORDS_FILE: &str = "words.data";
const HISTORY_MAGIC: &[u8; 8] = b"stanhist";
pub(super) const HISTORY_FILE: &str = "history.data";
const PAST_MAGIC: &[u8; 8] = b"stanpast";
pub(super) const PAST_FILE: &str = "past.data";

/// The words of files, each known by its path and contents.
pub(crate) struct StoredWords {
    files: Vec<(Box<str>, Digest)>,
    pub(crate) index: WordIndex,
}

impl StoredWords {
    /// Whether these are the words of exactly these files.
    pub(crate) fn is_of<'f>(&self, files: impl ExactSizeIterator<Item = (&'f str, Option<Digest>)>) -> bool {
        files.len() == self.files.len()
            && self
                .files
                .iter()
                .zip(files)
                .all(|((path, digest), (known, other))| **path == *known && Some(*digest) == other)
    }

    /// What was counted in each file, by path and contents.
    pub(crate) fn by_file(self) -> FxHashMap<(Box<str>, Digest), FileWords> {
        let words = self.index.file_words();
        self.files.into_iter().zip(words).collect()
    }
}

/// A history as a ranking takes it: of these files, up to this commit.
#[derive(Debug, Default)]
pub(crate) struct StoredPast {
    pub(crate) head: String,
    /// The hash of all paths, in their order.
    pub(crate) files: u64,
    pub(crate) changes: Vec<Change>,
    pub(crate) commits: Vec<String>,
}

impl StoredPast {
    /// What is to be equal for numbers of files to mean the same.
    pub(crate) fn key_of<'f>(paths: impl Iterator<Item = &'f str>) -> u64 {
        let mut all = Vec::new();
        for path in paths {
            all.extend_from_slice(path.as_bytes());
            all.push(0);
        }
        xxh3_64(&all)
    }
}

impl Cache<'_> {
    /// The history of the last run, by the numbers of its files.
    pub(crate) fn load_past(&self) -> Option<StoredPast> {
        let bytes = self.load_sealed(PAST_FILE, PAST_MAGIC)?;
        let mut reader = SectionReader::new(bytes.get(HEAD..)?);
        let head = String::from_utf8(reader.blob()?.to_vec()).ok()?;
        let files = u64::from_le_bytes(reader.blob()?.try_into().ok()?);
        let ids = reader.blobs()?;
        let commits: Vec<String> = (0..ids.len()).map(|at| Some(ids.text(at)?.to_owned())).collect::<Option<_>>()?;
        let ages = numbers(reader.blob()?, u64::from_le_bytes)?;
        let sizes = numbers(reader.blob()?, u32::from_le_bytes)?;
        let lengths = numbers(reader.blob()?, u32::from_le_bytes)?;
        let file_counts = numbers(reader.blob()?, u32::from_le_bytes)?;
        let mut all_files = numbers(reader.blob()?, u32::from_le_bytes)?.into_iter();
        let word_counts = numbers(reader.blob()?, u32::from_le_bytes)?;
        let keys = numbers(reader.blob()?, u64::from_le_bytes)?;
        let mut words = keys.into_iter().zip(numbers(reader.blob()?, u16::from_le_bytes)?);
        let count = commits.len();
        let is_whole = [ages.len(), sizes.len(), lengths.len(), file_counts.len(), word_counts.len()] == [count; 5];
        let change = |at: usize| {
            let files: Vec<u32> = all_files.by_ref().take(file_counts[at] as usize).collect();
            let message: Vec<(u64, u16)> = words.by_ref().take(word_counts[at] as usize).collect();
            Change { age: ages[at], files, size: sizes[at], message, message_length: lengths[at] }
        };
        let changes = if is_whole { (0..count).map(change).collect() } else { return None };
        Some(StoredPast { head, files, changes, commits })
    }

    /// Keeps it for the next run. A failure is ignored.
    pub(crate) fn store_past(&self, head: &str, files: u64, changes: &[Change], commits: &[String]) -> Option<()> {
        let numbers = |number: fn(&Change) -> usize| -> Vec<u32> {
            changes.iter().map(|change| u32::try_from(number(change)).unwrap_or(u32::MAX)).collect()
        };
        let words: Vec<(u64, u16)> = changes.iter().flat_map(|change| change.message.iter().copied()).collect();
        let all_files: Vec<u32> = changes.iter().flat_map(|change| change.files.iter().copied()).collect();
        let ages: Vec<u64> = changes.iter().map(|change| change.age).collect();
        let mut writer = SectionWriter::default();
        writer.blob(head.as_bytes());
        writer.blob(&files.to_le_bytes());
        writer.blobs(commits.iter().map(String::as_bytes));
        writer.blob(&bytes_of(&ages, |age| age.to_le_bytes()));
        writer.u32s(changes.iter().map(|change| change.size));
        writer.u32s(changes.iter().map(|change| change.message_length));
        writer.u32s(numbers(|change| change.files.len()).into_iter());
        writer.u32s(all_files.iter().copied());
        writer.u32s(numbers(|change| change.message.len()).into_iter());
        writer.blob(&bytes_of(&words, |(key, _)| key.to_le_bytes()));
        writer.blob(&bytes_of(&words, |(_, count)| count.to_le_bytes()));
        self.store_sealed(PAST_FILE, PAST_MAGIC, &writer.into_bytes())
    }

    /// The words that the last run left.
    pub(crate) fn load_words(&self) -> Option<StoredWords> {
        let bytes = self.load_sealed(WORDS_FILE, WORDS_MAGIC)?;
        let mut reader = SectionReader::new(bytes.get(HEAD..)?);
        let paths = reader.blobs()?;
        let (digests, rest) = reader.blob()?.as_chunks::<32>();
        let mut postings = || -> Option<Postings> {
            Some(Postings {
                keys: numbers(reader.blob()?, u64::from_le_bytes)?,
                ends: numbers(reader.blob()?, u32::from_le_bytes)?,
                files: numbers(reader.blob()?, u32::from_le_bytes)?,
                counts: numbers(reader.blob()?, u16::from_le_bytes)?,
            })
        };
        let postings = [postings()?, postings()?, postings()?];
        let lengths = numbers(reader.blob()?, u32::from_le_bytes)?;
        let norms = numbers(reader.blob()?, |bytes| Fixed::from_bits(i64::from_le_bytes(bytes)))?;
        let is_whole = reader.is_empty() && rest.is_empty() && paths.len() == digests.len();
        let index = WordIndex::from_parts(postings, lengths, norms)
            .filter(|index| is_whole && index.file_count() == digests.len())?;
        let file = |(at, digest): (usize, &[u8; 32])| Some((paths.text(at)?.into(), Digest(*digest)));
        let files = digests.iter().enumerate().map(file).collect::<Option<_>>()?;
        Some(StoredWords { files, index })
    }

    /// Keeps the words of files for the next run. A failure is ignored.
    pub(crate) fn store_words<'f>(
        &self,
        files: impl Iterator<Item = (&'f str, Digest)> + Clone,
        index: &WordIndex,
    ) -> Option<()> {
        let mut writer = SectionWriter::default();
        writer.blobs(files.clone().map(|(path, _)| path.as_bytes()));
        writer.blob(&files.flat_map(|(_, digest)| digest.0).collect::<Vec<u8>>());
        for Postings { keys, ends, files, counts } in [&index.words, &index.parts, &index.definitions] {
            writer.blob(&bytes_of(keys, |key| key.to_le_bytes()));
            writer.blob(&bytes_of(ends, |end| end.to_le_bytes()));
            writer.blob(&bytes_of(files, |file| file.to_le_bytes()));
            writer.blob(&bytes_of(counts, |count| count.to_le_bytes()));
        }
        writer.blob(&bytes_of(&index.lengths, |length| length.to_le_bytes()));
        writer.blob(&bytes_of(&index.norms, |norm| norm.bits().to_le_bytes()));
        self.store_sealed(WORDS_FILE, WORDS_MAGIC, &writer.into_bytes())
    }

    /// The history that the last run left.
    pub(crate) fn load_history(&self) -> Option<GitHistory> {
        let bytes = self.load_sealed(HISTORY_FILE, HISTORY_MAGIC)?;
        postcard::from_bytes(bytes.get(HEAD..)?).ok()
    }

    /// Keeps a history for the next run. A failure is ignored.
    pub(crate) fn store_history(&self, history: &GitHistory) -> Option<()> {
        if history.is_shallow || history.gap.is_some() {
            return None;
        }
        self.store_sealed(HISTORY_FILE, HISTORY_MAGIC, &postcard::to_stdvec(history).ok()?)
    }

    /// The bytes of a file of ours, its head included, if they are whole.
    pub(super) fn load_sealed(&self, name: &str, magic: &[u8; 8]) -> Option<Vec<u8>> {
        let path = self.path(name);
        self.trusted(&path, LARGEST_DATA)?;
        let mut bytes = Vec::new();
        self.system.read_at_most(Path::new(&path), LARGEST_DATA, &mut bytes).ok()?;
        let (key, body) = bytes.strip_prefix(magic)?.split_first_chunk::<8>()?;
        let (checksum, body) = body.split_first_chunk::<8>()?;
        let is_ours = u64::from_le_bytes(*key) == self.relevance_key();
        (is_ours && u64::from_le_bytes(*checksum) == xxh3_64(body)).then_some(bytes)
    }

    pub(super) fn store_sealed(&self, name: &str, magic: &[u8; 8], body: &[u8]) -> Option<()> {
        let mut bytes = Vec::with_capacity(body.len() + HEAD);
        bytes.extend_from_slice(magic);
        bytes.extend_from_slice(&self.relevance_key().to_le_bytes());
        bytes.extend_from_slice(&xxh3_64(body).to_le_bytes());
        bytes.extend_from_slice(body);
        self.write(name, &bytes)
    }

    fn relevance_key(&self) -> u64 {
        self.key.rotate_left(7) ^ u64::from(FORMAT)
    }
}

/// Magic, key and checksum.
pub(super) const HEAD: usize = 24;

fn bytes_of<T: Copy, const N: usize>(values: &[T], bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    let mut all = Vec::with_capacity(N * values.len());
    values.iter().for_each(|value| all.extend_from_slice(&bytes(*value)));
    all
}

fn numbers<T, const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> T) -> Option<Vec<T>> {
    let (chunks, rest) = bytes.as_chunks::<N>();
    rest.is_empty().then(|| chunks.iter().map(|chunk| number(*chunk)).collect())
}
