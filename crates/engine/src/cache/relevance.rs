//! What a ranking was made of, kept for the next one: the words of all files, by their contents, and the history, by the
//! commit that it ends with.
//!
//! Words hold for a file as long as its digest does, whatever else changed. A history that could not be read whole is not
//! kept: what it lacks may be there the next time.

use std::path::Path;

use rustc_hash::FxHashMap;
use stan_model::Digest;
use stan_rank::{FileWords, Postings, WordIndex};
use stan_repo::{GitHistory, SystemExt as _};
use xxhash_rust::xxh3::xxh3_64;

use super::bytes::{Reader, Writer};
use super::{Cache, LARGEST_DATA};

/// Changes whenever words are counted or stored in another way.
const FORMAT: u32 = 1;
const WORDS_MAGIC: &[u8; 8] = b"stanword";
pub(super) const WORDS_FILE: &str = "words.data";
const HISTORY_MAGIC: &[u8; 8] = b"stanhist";
pub(super) const HISTORY_FILE: &str = "history.data";

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

impl Cache<'_> {
    /// The words that the last run left.
    pub(crate) fn load_words(&self) -> Option<StoredWords> {
        let bytes = self.load_sealed(WORDS_FILE, WORDS_MAGIC)?;
        let mut reader = Reader::new(bytes.get(HEAD..)?);
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
        let (words, parts, definitions) = (postings()?, postings()?, postings()?);
        let lengths = numbers(reader.blob()?, u32::from_le_bytes)?;
        let is_whole = reader.is_empty() && rest.is_empty() && paths.len() == digests.len();
        let index = WordIndex::from_parts(words, parts, definitions, lengths)
            .filter(|index| is_whole && index.file_count() == digests.len())?;
        let file = |(at, digest): (usize, &[u8; 32])| Some((paths.text(at)?.into(), Digest(*digest)));
        let files = digests.iter().enumerate().map(file).collect::<Option<_>>()?;
        Some(StoredWords { files, index })
    }

    /// Keeps the words of files for the next run. Failing is no error.
    pub(crate) fn store_words<'f>(
        &self,
        files: impl Iterator<Item = (&'f str, Digest)> + Clone,
        index: &WordIndex,
    ) -> Option<()> {
        let mut writer = Writer::default();
        writer.blobs(files.clone().map(|(path, _)| path.as_bytes()));
        writer.blob(&files.flat_map(|(_, digest)| digest.0).collect::<Vec<u8>>());
        for Postings { keys, ends, files, counts } in [&index.words, &index.parts, &index.definitions] {
            writer.blob(&keys.iter().flat_map(|key| key.to_le_bytes()).collect::<Vec<u8>>());
            writer.blob(&ends.iter().flat_map(|end| end.to_le_bytes()).collect::<Vec<u8>>());
            writer.blob(&files.iter().flat_map(|file| file.to_le_bytes()).collect::<Vec<u8>>());
            writer.blob(&counts.iter().flat_map(|count| count.to_le_bytes()).collect::<Vec<u8>>());
        }
        writer.u32s(index.lengths.iter().copied());
        self.store_sealed(WORDS_FILE, WORDS_MAGIC, &writer.into_bytes())
    }

    /// The history that the last run left.
    pub(crate) fn load_history(&self) -> Option<GitHistory> {
        let bytes = self.load_sealed(HISTORY_FILE, HISTORY_MAGIC)?;
        postcard::from_bytes(bytes.get(HEAD..)?).ok()
    }

    /// Keeps a history for the next run. Failing is no error.
    pub(crate) fn store_history(&self, history: &GitHistory) -> Option<()> {
        if history.is_shallow || history.gap.is_some() {
            return None;
        }
        self.store_sealed(HISTORY_FILE, HISTORY_MAGIC, &postcard::to_stdvec(history).ok()?)
    }

    /// The bytes of a file of ours, its head included, if they are whole.
    fn load_sealed(&self, name: &str, magic: &[u8; 8]) -> Option<Vec<u8>> {
        let path = self.path(name);
        self.trusted(&path, LARGEST_DATA)?;
        let mut bytes = Vec::new();
        self.system.read_at_most(Path::new(&path), LARGEST_DATA, &mut bytes).ok()?;
        let (key, body) = bytes.strip_prefix(magic)?.split_first_chunk::<8>()?;
        let (checksum, body) = body.split_first_chunk::<8>()?;
        let is_ours = u64::from_le_bytes(*key) == self.relevance_key();
        (is_ours && u64::from_le_bytes(*checksum) == xxh3_64(body)).then_some(bytes)
    }

    fn store_sealed(&self, name: &str, magic: &[u8; 8], body: &[u8]) -> Option<()> {
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
const HEAD: usize = 24;

fn numbers<T, const N: usize>(bytes: &[u8], number: fn([u8; N]) -> T) -> Option<Vec<T>> {
    let (chunks, rest) = bytes.as_chunks::<N>();
    rest.is_empty().then(|| chunks.iter().map(|chunk| number(*chunk)).collect())
}
