//! The inputs of a ranking, stored for the next one: files and imports (valid for one graph), the words of all files (valid for
//! their contents), and the history (valid up to one commit). Stored in the form in which they are used.
//!
//! The words of a file stay valid as long as its digest is the same. An incomplete history is not stored: the missing part may be
//! readable in the next run.

use std::borrow::Cow;
use std::path::Path;

use rustc_hash::FxHashMap;
use stan_graph::FileMeta;
use stan_model::Digest;
use stan_rank::{
    FileWords, Flat, History, ImportGraph, Layout, LayoutParts, Lists, Messages, PathWords, Postings, SharedBytes,
    WordIndex,
};
use stan_repo::{GitHistory, SystemExt as _, sha256};
use xxhash_rust::xxh3::xxh3_64;

use super::blocks::{Section, read_together};
use super::bytes::{SectionReader, SectionWriter};
use super::data::{META_LENGTH, file_meta, meta_bytes};
use super::{Cache, Identity, MAX_DATA_BYTES};

/// Raise this when words are counted or stored in another way.
const FORMAT: u32 = 4;
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
    pub(crate) metas: Metas,
    pub(crate) key: FilesKey,
}

/// The encoded digests and sizes of files.
#[derive(Debug)]
pub(crate) struct Metas(Flat<META_LENGTH>);

impl Metas {
    pub(crate) fn of(metas: &[FileMeta]) -> Self {
        Self(Flat::of_chunks(metas.iter().map(|meta| meta_bytes(Some(*meta)))))
    }

    pub(crate) fn get(&self, file: usize) -> Option<FileMeta> {
        file_meta(self.0.chunks().get(file)?)
    }

    /// The size of a file alone.
    pub(crate) fn size(&self, file: usize) -> Option<u64> {
        let (_, size) = self.0.chunks().get(file)?.split_last_chunk::<8>()?;
        Some(u64::from_le_bytes(*size))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    fn iter(&self) -> impl Iterator<Item = FileMeta> + '_ {
        self.0.chunks().iter().filter_map(|meta| file_meta(meta))
    }
}

/// Identifies a numbering of files: a hash of all paths, and a hash of all paths and contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FilesKey {
    pub(crate) paths: Digest,
    pub(crate) contents: Digest,
}

impl FilesKey {
    pub(crate) fn of(layout: &Layout, metas: &Metas) -> Self {
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
    /// Whether the words were counted in exactly these files.
    pub(crate) fn belongs_to(&self, key: &FilesKey) -> bool {
        self.contents == key.contents
    }

    /// The word counts of each file, by path and contents. Empty when they cannot be read.
    pub(crate) fn by_file(self) -> FxHashMap<(Box<str>, Digest), FileWords> {
        self.files_and_words().unwrap_or_default()
    }

    fn files_and_words(self) -> Option<FxHashMap<(Box<str>, Digest), FileWords>> {
        let bytes = self.files.whole()?;
        let mut reader = SectionReader::new(bytes.bytes());
        let (paths, (digests, _)) = (reader.blobs()?, reader.blob()?.as_chunks::<32>());
        let words = self.index.file_words()?;
        let file = |at: usize| Some((paths.text(at)?.into(), Digest(*digests.get(at)?)));
        words.into_iter().enumerate().map(|(at, words)| Some((file(at)?, words))).collect()
    }
}

/// A history in the form that a ranking needs: of these files, up to this commit.
#[derive(Debug)]
pub(crate) struct StoredPast {
    pub(crate) head: String,
    pub(crate) history: History,
    pub(crate) texts: StoredTexts,
}

/// The messages and ids of its commits, which are read only for a query with a text.
#[derive(Debug)]
pub(crate) struct StoredTexts([Section; 5]);

/// The messages and ids of commits, decoded.
#[derive(Debug, Default)]
pub(crate) struct CommitTexts {
    pub(crate) messages: Messages,
    /// The id of each commit.
    pub(crate) ids: Vec<String>,
}

impl CommitTexts {
    /// Whether the texts are those of this many commits.
    pub(crate) fn is_of(&self, commits: usize) -> bool {
        self.ids.len() == commits && self.messages.is_of(commits)
    }
}

impl StoredTexts {
    /// `None` when they cannot be read.
    pub(crate) fn read(&self) -> Option<CommitTexts> {
        let [lengths, ends, keys, counts, ids] = read_together(self.0.each_ref())?;
        let messages = Messages {
            lengths: Flat::from_bytes(lengths)?,
            ends: Flat::from_bytes(ends)?,
            keys: Flat::from_bytes(keys)?,
            counts: Flat::from_bytes(counts)?,
        };
        let ids = SectionReader::new(ids.bytes()).blobs()?;
        let ids = (0..ids.len()).map(|at| Some(ids.text(at)?.to_owned())).collect::<Option<_>>()?;
        Some(CommitTexts { messages, ids })
    }
}

/// Reads the output of a [`SectionWriter`] in place.
struct SharedReader {
    bytes: SharedBytes,
    at: usize,
}

impl SharedReader {
    fn blob(&mut self) -> Option<SharedBytes> {
        let start = self.at.checked_add(8)?;
        let length = u64::from_le_bytes(self.bytes.bytes().get(self.at..start)?.try_into().ok()?);
        self.at = start.checked_add(usize::try_from(length).ok()?)?;
        self.bytes.part(start..self.at)
    }

    fn flat<const N: usize>(&mut self) -> Option<Flat<N>> {
        Flat::from_bytes(self.blob()?)
    }

    fn is_empty(&self) -> bool {
        self.at == self.bytes.bytes().len()
    }
}

impl Cache<'_> {
    /// The files of the last run's graph, if that is `graph`.
    pub(crate) fn load_layout(&self, graph: Identity) -> Option<StoredLayout> {
        let bytes = SharedBytes::new(self.load_sealed(LAYOUT_FILE, LAYOUT_MAGIC)?);
        let mut reader = SharedReader { bytes, at: HEAD };
        if reader.blob()?.bytes() != postcard::to_stdvec(&graph).ok()? {
            return None;
        }
        let mut digest = || Some(Digest(reader.blob()?.bytes().try_into().ok()?));
        let key = FilesKey { paths: digest()?, contents: digest()? };
        let metas = Metas(reader.flat()?);
        let parts = LayoutParts {
            paths: reader.blob()?,
            ends: reader.flat()?,
            classes: reader.flat()?,
            names: reader.flat()?,
            path_words: PathWords { keys: reader.flat()?, ends: reader.flat()?, files: reader.flat()? },
            graph: ImportGraph {
                ends: reader.flat()?,
                others: reader.flat()?,
                steps: reader.flat()?,
                is_import: reader.flat()?,
            },
        };
        let layout = Layout::from_parts(parts)?;
        (reader.is_empty() && metas.len() == layout.len()).then_some(StoredLayout { layout, metas, key })
    }

    /// Stores the files of a graph for the next run. A failure is ignored.
    pub(crate) fn store_layout(&self, graph: Identity, stored: &StoredLayout) -> Option<()> {
        let LayoutParts { paths, ends, classes, names, path_words, graph: imports } = stored.layout.to_parts();
        let mut writer = SectionWriter::default();
        writer.blob(&postcard::to_stdvec(&graph).ok()?);
        writer.blob(&stored.key.paths.0);
        writer.blob(&stored.key.contents.0);
        writer.blob(stored.metas.0.bytes());
        writer.blob(paths.bytes());
        writer.blob(ends.bytes());
        writer.blob(classes.bytes());
        writer.blob(names.bytes());
        writer.blob(path_words.keys.bytes());
        writer.blob(path_words.ends.bytes());
        writer.blob(path_words.files.bytes());
        writer.blob(imports.ends.bytes());
        writer.blob(imports.others.bytes());
        writer.blob(imports.steps.bytes());
        writer.blob(imports.is_import.bytes());
        self.store_sealed(LAYOUT_FILE, LAYOUT_MAGIC, &writer.into_bytes())
    }

    /// The history of the last run, if its files have the same numbers.
    pub(crate) fn load_past(&self, key: &FilesKey, files: usize) -> Option<StoredPast> {
        let (description, sections) = self.open_blocks::<12>(PAST_FILE, PAST_MAGIC, self.relevance_key())?;
        let (paths, head) = description.split_first_chunk::<32>()?;
        if *paths != key.paths.0 {
            return None;
        }
        let [ages, sizes, ends, numbers, churn, weights, totals, texts @ ..] = sections;
        let parts = read_together([&ages, &sizes, &ends, &numbers, &churn, &weights, &totals])?;
        let [ages, sizes, ends, numbers, churn, weights, totals] = parts;
        let history = History {
            ages: Flat::from_bytes(ages)?,
            sizes: Flat::from_bytes(sizes)?,
            ends: Flat::from_bytes(ends)?,
            files: Flat::from_bytes(numbers)?,
            churn: Flat::from_bytes(churn)?.fixed().collect(),
            weights: Flat::from_bytes(weights)?,
            totals: Flat::from_bytes(totals)?,
        };
        let head = String::from_utf8(head.to_vec()).ok()?;
        history.is_of(files).then_some(StoredPast { head, history, texts: StoredTexts(texts) })
    }

    /// Stores a history in this form for the next run. A failure is ignored.
    pub(crate) fn store_past(&self, key: &FilesKey, head: &str, history: &History, texts: &CommitTexts) -> Option<()> {
        let churn: Flat<8> = history.churn.iter().copied().collect();
        let mut ids = SectionWriter::default();
        ids.blobs(texts.ids.iter().map(String::as_bytes));
        let ids = ids.into_bytes();
        let Messages { lengths, ends, keys, counts } = &texts.messages;
        let of_history = [history.ages.bytes(), history.sizes.bytes(), history.ends.bytes(), history.files.bytes()];
        let figures = [churn.bytes(), history.weights.bytes(), history.totals.bytes()];
        let of_texts = [lengths.bytes(), ends.bytes(), keys.bytes(), counts.bytes(), &ids];
        let sections = [of_history.as_slice(), &figures, &of_texts].concat();
        let description = [key.paths.0.as_slice(), head.as_bytes()].concat();
        self.store_blocks(PAST_FILE, PAST_MAGIC, self.relevance_key(), &description, &sections)
    }

    /// The words that the last run stored.
    pub(crate) fn load_words(&self) -> Option<StoredWords> {
        let (description, sections) = self.open_blocks::<18>(WORDS_FILE, WORDS_MAGIC, self.relevance_key())?;
        let [lengths, norms, small @ ..] = &sections;
        let [a, b, c, d, e, f, g, h, i, entries @ ..] = small;
        let small = read_together([lengths, norms, a, b, c, d, e, f, g, h, i])?;
        let [lengths, norms, small @ ..] = small;
        let (mut small, mut entries) = (small.into_iter(), entries.iter().cloned());
        let mut postings = || -> Option<Postings> {
            let keys = Flat::from_bytes(small.next()?)?;
            let mut one = || Lists::new(Flat::from_bytes(small.next()?)?, Box::new(entries.next()?));
            Some(Postings { keys, by_term: one()?, by_file: one()? })
        };
        let postings = [postings()?, postings()?, postings()?];
        let index = WordIndex::from_parts(postings, Flat::from_bytes(lengths)?, Flat::from_bytes(norms)?)?;
        Some(StoredWords { contents: Digest(description.try_into().ok()?), files: entries.next()?, index })
    }

    /// Stores the words of files for the next run. A failure is ignored.
    pub(crate) fn store_words(&self, layout: &Layout, metas: &Metas, index: &WordIndex, key: &FilesKey) -> Option<()> {
        let mut files = SectionWriter::default();
        let paths: Vec<&str> = layout.paths().collect();
        files.blobs(paths.iter().map(|path| path.as_bytes()));
        files.blob(&metas.iter().flat_map(|meta| meta.digest.0).collect::<Vec<u8>>());
        let files = files.into_bytes();
        let all = [&index.words, &index.parts, &index.definitions];
        let entries: Vec<[Cow<'_, [u8]>; 2]> =
            all.iter().map(|one| Some([one.by_term.entries()?, one.by_file.entries()?])).collect::<Option<_>>()?;
        // The sections that every query reads are first, so that one read loads them.
        let mut sections = vec![index.lengths.bytes(), index.norms.bytes()];
        for Postings { keys, by_term, by_file } in all {
            sections.extend([keys.bytes(), by_term.ends().bytes(), by_file.ends().bytes()]);
        }
        sections.extend(entries.iter().flatten().map(|entries| &**entries));
        sections.push(&files);
        self.store_blocks(WORDS_FILE, WORDS_MAGIC, self.relevance_key(), &key.contents.0, &sections)
    }

    /// The history that the last run stored.
    pub(crate) fn load_history(&self) -> Option<GitHistory> {
        let bytes = self.load_sealed(HISTORY_FILE, HISTORY_MAGIC)?;
        postcard::from_bytes(bytes.get(HEAD..)?).ok()
    }

    /// Stores a history for the next run. A failure is ignored.
    pub(crate) fn store_history(&self, history: &GitHistory) -> Option<()> {
        if history.is_shallow || history.gap.is_some() {
            return None;
        }
        self.store_sealed(HISTORY_FILE, HISTORY_MAGIC, &postcard::to_stdvec(history).ok()?)
    }

    /// The bytes of a sealed file, including its head, if the checksum is right.
    pub(super) fn load_sealed(&self, name: &str, magic: &[u8; 8]) -> Option<Vec<u8>> {
        let path = self.path(name);
        self.trusted(&path, MAX_DATA_BYTES)?;
        let mut bytes = Vec::new();
        self.system.read_at_most(Path::new(&path), MAX_DATA_BYTES, &mut bytes).ok()?;
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
