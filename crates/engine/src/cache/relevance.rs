//! The inputs of a ranking, stored for the next one: files and imports (valid for one graph), the words of all files (valid for their
//! contents), and the history (valid up to one commit). Stored in the form in which they are used.
//!
//! The words of a file stay valid as long as its digest is the same. An incomplete history is not stored: the missing part may be
//! readable in the next run.

use std::borrow::Cow;
use std::path::Path;

use rustc_hash::FxHashMap;
use stan_graph::FileMeta;
use stan_model::Digest;
use stan_rank::{
    FileWords, Fixed, Flat, History, ImportGraph, Layout, LayoutParts, Lists, Messages, PathWords, Postings, WordIndex,
};
use stan_repo::{GitHistory, SystemExt as _, sha256};
use xxhash_rust::xxh3::xxh3_64;

use super::blocks::Section;
use super::bytes::{SectionReader, SectionWriter};
use super::data::{META_LENGTH, file_meta, meta_bytes};
use super::{Cache, Identity, LARGEST_DATA};

/// Changes whenever words are counted or stored in another way.
const FORMAT: u32 = 3;
const LAYOUT_MAGIC: &[u8; 8] = b"stanlayo";
pub(super) const LAYOUT_FILE: &str = "layout.data";
const WORDS_MAGIC: &[u8; 8] = b"stanword";
pub(super) const WORDS_FILE: &str = "words.data";
const HISTORY_MAGIC: &[u8; 8] = b"stanhist";
pub(super) const HISTORY_FILE: &str = "history.data";
const PAST_MAGIC: &[u8; 8] = b"stanpast";
pub(super) const PAST_FILE: &str = "past.data";

/// The files of a graph.
#[derive(Debug)]
pub(crate) struct StoredLayout {
    pub(crate) layout: Layout,
    pub(crate) metas: Vec<FileMeta>,
    pub(crate) key: FilesKey,
}

/// Identifies a numbering of files: a hash of all paths, and a hash of all paths and contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FilesKey {
    pub(crate) paths: Digest,
    pub(crate) contents: Digest,
}

impl FilesKey {
    pub(crate) fn of(layout: &Layout, metas: &[FileMeta]) -> Self {
        let mut all = Vec::new();
        for path in layout.paths() {
            all.extend_from_slice(path.as_bytes());
            all.push(0);
        }
        let paths = sha256(&all);
        metas.iter().for_each(|meta| all.extend_from_slice(&meta.digest.0));
        Self { paths, contents: sha256(&all) }
    }
}

/// The words of files, by path and contents.
pub(crate) struct StoredWords {
    contents: Digest,
    files: Section,
    pub(crate) index: WordIndex,
}

impl StoredWords {
    /// Whether these are the words of exactly these files.
    pub(crate) fn belongs_to(&self, key: &FilesKey) -> bool {
        self.contents == key.contents
    }

    /// What was counted in each file, by path and contents. Empty when it cannot be read.
    pub(crate) fn by_file(self) -> FxHashMap<(Box<str>, Digest), FileWords> {
        self.files_and_words().unwrap_or_default()
    }

    fn files_and_words(self) -> Option<FxHashMap<(Box<str>, Digest), FileWords>> {
        let bytes = self.files.whole()?;
        let mut reader = SectionReader::new(&bytes);
        let (paths, (digests, _)) = (reader.blobs()?, reader.blob()?.as_chunks::<32>());
        let words = self.index.file_words()?;
        let file = |at: usize| Some((paths.text(at)?.into(), Digest(*digests.get(at)?)));
        words.into_iter().enumerate().map(|(at, words)| Some((file(at)?, words))).collect()
    }
}

/// A history as a ranking takes it: of these files, up to this commit.
#[derive(Debug)]
pub(crate) struct StoredPast {
    pub(crate) head: String,
    pub(crate) history: History,
    pub(crate) commits: Vec<String>,
}

impl Cache<'_> {
    /// The files of the graph of the last run, if it is this one.
    pub(crate) fn load_layout(&self, graph: Identity) -> Option<StoredLayout> {
        let bytes = self.load_sealed(LAYOUT_FILE, LAYOUT_MAGIC)?;
        let mut reader = SectionReader::new(bytes.get(HEAD..)?);
        if reader.blob()? != postcard::to_stdvec(&graph).ok()? {
            return None;
        }
        let mut digest = || Some(Digest(reader.blob()?.try_into().ok()?));
        let key = FilesKey { paths: digest()?, contents: digest()? };
        let (metas, rest) = reader.blob()?.as_chunks::<META_LENGTH>();
        let metas: Vec<FileMeta> = metas.iter().map(|meta| file_meta(meta)).collect::<Option<_>>()?;
        let parts = LayoutParts {
            paths: String::from_utf8(reader.blob()?.to_vec()).ok()?,
            ends: numbers(reader.blob()?, u32::from_le_bytes)?,
            classes: reader.blob()?.to_vec(),
            names: numbers(reader.blob()?, u64::from_le_bytes)?,
            path_words: PathWords {
                keys: numbers(reader.blob()?, u64::from_le_bytes)?,
                ends: numbers(reader.blob()?, u32::from_le_bytes)?,
                files: numbers(reader.blob()?, u32::from_le_bytes)?,
            },
            graph: ImportGraph {
                ends: numbers(reader.blob()?, u32::from_le_bytes)?,
                others: numbers(reader.blob()?, u32::from_le_bytes)?,
                steps: numbers(reader.blob()?, fixed)?,
                is_import: reader.blob()?.to_vec(),
            },
        };
        let layout = Layout::from_parts(parts)?;
        let is_whole = reader.is_empty() && rest.is_empty() && metas.len() == layout.len();
        is_whole.then_some(StoredLayout { layout, metas, key })
    }

    /// Keeps it for the next run. A failure is ignored.
    pub(crate) fn store_layout(&self, graph: Identity, stored: &StoredLayout) -> Option<()> {
        let LayoutParts { paths, ends, classes, names, path_words, graph: imports } = stored.layout.to_parts();
        let mut writer = SectionWriter::default();
        writer.blob(&postcard::to_stdvec(&graph).ok()?);
        writer.blob(&stored.key.paths.0);
        writer.blob(&stored.key.contents.0);
        writer.blob(&stored.metas.iter().flat_map(|meta| meta_bytes(Some(*meta))).collect::<Vec<u8>>());
        writer.blob(paths.as_bytes());
        writer.u32s(ends.into_iter());
        writer.blob(&classes);
        writer.blob(&bytes_of(&names, u64::to_le_bytes));
        writer.blob(&bytes_of(&path_words.keys, u64::to_le_bytes));
        writer.u32s(path_words.ends.into_iter());
        writer.u32s(path_words.files.into_iter());
        writer.u32s(imports.ends.into_iter());
        writer.u32s(imports.others.into_iter());
        writer.blob(&bytes_of(&imports.steps, |step| step.bits().to_le_bytes()));
        writer.blob(&imports.is_import);
        self.store_sealed(LAYOUT_FILE, LAYOUT_MAGIC, &writer.into_bytes())
    }

    /// The history of the last run, if its files have the same numbers.
    pub(crate) fn load_past(&self, key: &FilesKey, files: usize) -> Option<StoredPast> {
        let bytes = self.load_sealed(PAST_FILE, PAST_MAGIC)?;
        let mut reader = SectionReader::new(bytes.get(HEAD..)?);
        let head = String::from_utf8(reader.blob()?.to_vec()).ok()?;
        if reader.blob()? != key.paths.0 {
            return None;
        }
        let ids = reader.blobs()?;
        let commits: Vec<String> = (0..ids.len()).map(|at| Some(ids.text(at)?.to_owned())).collect::<Option<_>>()?;
        let history = History {
            ages: numbers(reader.blob()?, u64::from_le_bytes)?,
            sizes: numbers(reader.blob()?, u32::from_le_bytes)?,
            ends: numbers(reader.blob()?, u32::from_le_bytes)?,
            files: numbers(reader.blob()?, u32::from_le_bytes)?,
            messages: Messages {
                lengths: numbers(reader.blob()?, u32::from_le_bytes)?,
                ends: numbers(reader.blob()?, u32::from_le_bytes)?,
                keys: numbers(reader.blob()?, u64::from_le_bytes)?,
                counts: numbers(reader.blob()?, u16::from_le_bytes)?,
            },
            churn: numbers(reader.blob()?, fixed)?,
            weights: numbers(reader.blob()?, fixed)?,
            totals: numbers(reader.blob()?, fixed)?,
        };
        let is_whole = reader.is_empty() && history.is_of(files) && history.len() == commits.len();
        is_whole.then_some(StoredPast { head, history, commits })
    }

    /// Keeps it for the next run. A failure is ignored.
    pub(crate) fn store_past(&self, key: &FilesKey, head: &str, history: &History, commits: &[String]) -> Option<()> {
        let fixed = |numbers: &[Fixed]| bytes_of(numbers, |number| number.bits().to_le_bytes());
        let messages = &history.messages;
        let mut writer = SectionWriter::default();
        writer.blob(head.as_bytes());
        writer.blob(&key.paths.0);
        writer.blobs(commits.iter().map(String::as_bytes));
        writer.blob(&bytes_of(&history.ages, u64::to_le_bytes));
        writer.u32s(history.sizes.iter().copied());
        writer.u32s(history.ends.iter().copied());
        writer.u32s(history.files.iter().copied());
        writer.u32s(messages.lengths.iter().copied());
        writer.u32s(messages.ends.iter().copied());
        writer.blob(&bytes_of(&messages.keys, u64::to_le_bytes));
        writer.blob(&bytes_of(&messages.counts, u16::to_le_bytes));
        writer.blob(&fixed(&history.churn));
        writer.blob(&fixed(&history.weights));
        writer.blob(&fixed(&history.totals));
        self.store_sealed(PAST_FILE, PAST_MAGIC, &writer.into_bytes())
    }

    /// The words that the last run left.
    pub(crate) fn load_words(&self) -> Option<StoredWords> {
        let (description, sections) = self.open_blocks::<18>(WORDS_FILE, WORDS_MAGIC, self.relevance_key())?;
        let [files, lengths, norms, lists @ ..] = sections;
        let mut lists = lists.into_iter();
        let mut postings = || -> Option<Postings> {
            let keys = Flat::from_bytes(lists.next()?.whole()?)?;
            let mut one = || Lists::new(Flat::from_bytes(lists.next()?.whole()?)?, Box::new(lists.next()?));
            Some(Postings { keys, by_term: one()?, by_file: one()? })
        };
        let postings = [postings()?, postings()?, postings()?];
        let norms = numbers(&norms.whole()?, fixed)?;
        let index = WordIndex::from_parts(postings, Flat::from_bytes(lengths.whole()?)?, norms)?;
        Some(StoredWords { contents: Digest(description.try_into().ok()?), files, index })
    }

    /// Keeps the words of files for the next run. A failure is ignored.
    pub(crate) fn store_words(
        &self,
        layout: &Layout,
        metas: &[FileMeta],
        index: &WordIndex,
        key: &FilesKey,
    ) -> Option<()> {
        let mut files = SectionWriter::default();
        let paths: Vec<&str> = layout.paths().collect();
        files.blobs(paths.iter().map(|path| path.as_bytes()));
        files.blob(&metas.iter().flat_map(|meta| meta.digest.0).collect::<Vec<u8>>());
        let files = files.into_bytes();
        let norms = bytes_of(&index.norms, |norm| norm.bits().to_le_bytes());
        let mut sections = vec![files.as_slice(), index.lengths.bytes(), &norms];
        let all = [&index.words, &index.parts, &index.definitions];
        let entries: Vec<[Cow<'_, [u8]>; 2]> =
            all.iter().map(|one| Some([one.by_term.entries()?, one.by_file.entries()?])).collect::<Option<_>>()?;
        for (Postings { keys, by_term, by_file }, [of_terms, of_files]) in all.into_iter().zip(&entries) {
            sections.extend([keys.bytes(), by_term.ends().bytes(), of_terms, by_file.ends().bytes(), of_files]);
        }
        self.store_blocks(WORDS_FILE, WORDS_MAGIC, self.relevance_key(), &key.contents.0, &sections)
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

fn fixed(bytes: [u8; 8]) -> Fixed {
    Fixed::from_bits(i64::from_le_bytes(bytes))
}

fn numbers<T, const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> T) -> Option<Vec<T>> {
    let (chunks, rest) = bytes.as_chunks::<N>();
    rest.is_empty().then(|| chunks.iter().map(|chunk| number(*chunk)).collect())
}
