//! The cache between runs: an index (the files to stat, and the figures), the data (graph and facts), later edits, the map of the
//! graph, the overview of the map, and the inputs of the ranking (words and history).
//!
//! A cache is only a shortcut. If anything is wrong with it (corrupt, foreign, outdated, index without data), it is ignored, and
//! failing to write it is not an error. A cache is foreign unless a run of this user wrote it in this checkout (`seal.rs`): a
//! repository can ship files that look like a cache.

mod blocks;
mod bytes;
mod clean;
pub(crate) mod data;
mod declared;
mod edits;
pub(crate) mod encode;
mod ids;
mod index;
mod kept_blobs;
mod map;
mod outlines;
mod overview;
mod relevance;
mod run;
mod seal;
mod tokens;

use std::ops::{Range, RangeInclusive};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use stan_graph::Graph;
use stan_lang::Languages;
use stan_model::NodeKind;
use stan_repo::{AbsPath, EntryKind, Stat, System, SystemExt as _, WritableSystem, remove_leftovers};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use self::data::{Contents, Data, ReadContents};
use self::encode::{Encoded, RecordFingerprints};
use self::index::{FactsTable, FileTable, Section, fingerprint};
use self::seal::Trust;
use crate::graph::analyse::Analysed;
use crate::graph::compile::{CacheInput, PreviousRun};
use crate::graph::memory::Memory;
use crate::graph::record::Record;

pub(crate) use self::data::DataPart;
pub(crate) use self::declared::{KeptNames, names_key};
pub(crate) use self::edits::{NewEdits, StoredEdits};
pub(crate) use self::ids::{NodeIndex, RecordId};
pub(crate) use self::index::{Answer, Identity, Index, UNPROVED, proved_fingerprint};
pub(crate) use self::map::{DocumentFingerprint, Manifests, MapIdentity, MapKey, MapParts, StoredMap};
pub(crate) use self::outlines::{KeptOutlines, OutlineView, StoredOutline, StoredUnit};
pub(crate) use self::overview::{OverviewKey, StoredOverviews};
pub(crate) use self::relevance::{CommitTexts, FilesKey, Metas, StoredLayout, StoredPast, StoredTexts, StoredWords};
pub(crate) use self::run::StoredRun;
pub(crate) use self::tokens::{KeptTokens, TokenTable};

/// Raise this when the layout of the files changes.
const FORMAT: u32 = 10;
const MAGIC: &[u8; 8] = b"stangrph";
const IGNORE: &str = ".gitignore";
const DATA: &str = "graph.data";
const INDEX: &str = "graph.index";
/// Far more than the largest repositories need. A larger file is an attempt to exhaust memory.
const MAX_INDEX_BYTES: u64 = 512 << 20;
const MAX_DATA_BYTES: u64 = 2 << 30;

/// The cache of one repository.
pub(crate) struct Cache<'s> {
    system: &'s dyn WritableSystem,
    directory: String,
    /// The root of the repository, absolute.
    root: String,
    trust: Trust,
    /// Hash of format, tool version and options.
    key: u64,
}

/// The location of a cache, and the paths that decide whether it can be trusted there. All paths are absolute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CacheLocation<'l> {
    pub(crate) directory: &'l str,
    /// The root of the repository.
    pub(crate) root: &'l str,
    /// stan's own folder in the repository.
    pub(crate) stan_folder: &'l str,
    /// The folder with this user's key.
    pub(crate) state_directory: Option<&'l str>,
}

impl<'s> Cache<'s> {
    /// Creates the folder before the scan: if it were created afterwards, the next run would see a change. Returns `None` if no
    /// cache is possible there.
    ///
    /// A stan folder behind a link may belong to another user, so nothing is written there.
    pub(crate) fn open(system: &'s dyn WritableSystem, location: CacheLocation<'_>, key: &[u8]) -> Option<Self> {
        let CacheLocation { directory, root, stan_folder, state_directory } = location;
        let inside = directory.strip_prefix(stan_folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        if inside && has_link_below_root(system, root, directory) {
            return None;
        }
        let trust = Trust::of(system, root, directory, state_directory)?;
        system.create_dir_all(Path::new(directory)).ok()?;
        // Temporary files of runs that were killed while writing. Those of running processes are locked and stay.
        const SEALED: [&str; 15] = [
            DATA,
            INDEX,
            clean::FILE,
            declared::FILE,
            edits::FILE,
            map::FILE,
            outlines::FILE,
            overview::FILE,
            run::FILE,
            relevance::LAYOUT_FILE,
            relevance::WORDS_FILE,
            relevance::HISTORY_FILE,
            relevance::PAST_FILE,
            tokens::FILES[0],
            tokens::FILES[1],
        ];
        let seals = SEALED.map(|name| [name, seal::SUFFIX].concat());
        let names: Vec<&str> = SEALED.into_iter().chain(seals.iter().map(String::as_str)).chain([IGNORE]).collect();
        remove_leftovers(system, Path::new(directory), &names);
        // A folder that the user named is not hidden from git.
        let ignore = format!("{directory}/{IGNORE}");
        if inside && system.lstat(Path::new(&ignore)).is_err() {
            system.write_atomic(Path::new(&ignore), b"*\n").ok()?;
        }
        let key = xxh3_64(key) ^ u64::from(FORMAT);
        Some(Self { system, directory: directory.to_owned(), root: root.to_owned(), trust, key })
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.directory)
    }

    /// The stat of a cache file, if a run of this user wrote it and it is unchanged since.
    fn trusted(&self, path: &str, max_bytes: u64) -> Option<Stat> {
        let stat = self.system.lstat(Path::new(path)).ok()?;
        let may_be_ours = stat.kind == EntryKind::File && stat.size <= max_bytes;
        (may_be_ours && self.trust.accepts(self.system, path, &stat)).then_some(stat)
    }

    /// Writes a file atomically and seals it.
    fn write(&self, name: &str, bytes: &[u8]) -> Option<()> {
        self.write_pieces(name, &[bytes])
    }

    /// As `write`, for contents in several buffers.
    fn write_pieces(&self, name: &str, pieces: &[&[u8]]) -> Option<()> {
        let path = self.path(name);
        self.system.write_atomic_pieces(Path::new(&path), pieces).ok()?;
        self.trust.seal(self.system, &path)
    }

    pub(crate) fn load_index(&self) -> Option<Index> {
        let path = self.path(INDEX);
        self.trusted(&path, MAX_INDEX_BYTES)?;
        let path = Path::new(&path);
        // Do not read a large index of another format or key to its end.
        let mut start = [0; 16];
        self.system.read_range(path, 0, &mut start).ok()?;
        if start.strip_prefix(MAGIC)? != self.key.to_le_bytes() {
            return None;
        }
        let mut bytes = Vec::new();
        self.system.read_at_most(path, MAX_INDEX_BYTES, &mut bytes).ok()?;
        let body = bytes.strip_prefix(MAGIC)?;
        let (key, body) = body.split_first_chunk::<8>()?;
        let (checksum, body) = body.split_first_chunk::<8>()?;
        if u64::from_le_bytes(*key) != self.key || u64::from_le_bytes(*checksum) != xxh3_64(body) {
            return None;
        }
        // An index without the root's listing would never notice a new file.
        let is_root = |path: &str| AbsPath::new(path) == AbsPath::new(&self.root);
        let has_root = |index: &Index| index.observations.directories.iter().any(|seen| is_root(&seen.path));
        let mut index = Index::decode(body).filter(has_root)?;
        if let Some(edits) = self.load_edits() {
            index.take_edits(edits);
        }
        Some(index)
    }

    /// Reads only the graph: an unchanged run needs nothing else.
    pub(crate) fn load_graph(&self, index: &Index) -> Option<Graph> {
        let loaded = self.load(index, DataPart::GRAPH)?;
        data::decode_graph(loaded.part(DataPart::Metas), loaded.part(DataPart::Shape))
    }

    /// Reads parts of the data that belong to an index, and verifies their checksums.
    pub(crate) fn load(&self, index: &Index, parts: RangeInclusive<DataPart>) -> Option<LoadedParts> {
        let parts = parts.start().index()..parts.end().index() + 1;
        let path = self.path(DATA);
        let lengths = index.parts.iter().map(|part| part.length);
        let ends: Vec<u64> = lengths
            .scan(0u64, |end, length| {
                *end = end.saturating_add(length);
                Some(*end)
            })
            .collect();
        // A forged index must not make us allocate all memory.
        if self.trusted(&path, MAX_DATA_BYTES)?.size != *ends.last()? {
            return None;
        }
        let start = |part: usize| if part == 0 { 0 } else { ends.get(part - 1).copied().unwrap_or(0) };
        let first = start(parts.start);
        let mut bytes = vec![0; usize::try_from(start(parts.end) - first).ok()?];
        let mut rest = bytes.as_mut_slice();
        let mut at = first;
        let mut ranges: [Range<usize>; DataPart::COUNT] = [const { 0..0 }; DataPart::COUNT];
        for part in parts {
            let Section { length, checksum } = index.parts[part];
            let (piece, others) = std::mem::take(&mut rest).split_at_mut(usize::try_from(length).ok()?);
            rest = others;
            if self.read_in_halves(&path, at, piece)? != checksum {
                return None;
            }
            let start = usize::try_from(at - first).ok()?;
            ranges[part] = start..start + piece.len();
            at += length;
        }
        Some(LoadedParts { bytes, ranges })
    }

    /// Reads a piece of a file on two threads; returns its checksum.
    fn read_in_halves(&self, path: &str, offset: u64, piece: &mut [u8]) -> Option<u64> {
        let half = piece.len() / 2;
        let (first, second) = piece.split_at_mut(half);
        let read = |offset: u64, part: &mut [u8]| {
            self.system.read_range(Path::new(path), offset, part).ok().map(|()| xxh3_64(part))
        };
        let (first, second) = rayon::join(|| read(offset, first), || read(offset + half as u64, second));
        Some(halves(first?, second?))
    }

    /// Stores the outcome of a run that began at `observed_at`.
    pub(crate) fn store(
        &self,
        graph: &Graph,
        kept: CacheInput,
        answer: Answer,
        observed_at: i64,
        languages: Languages,
        memory: Memory,
    ) -> Option<Identity> {
        let CacheInput { records, general_problems, observations } = kept;
        let fingerprints_of = |record: Record<'_>, facts: u64| {
            let stat = record.file.stat.as_ref();
            RecordFingerprints {
                facts: stats_fingerprint(graph, record, facts, languages),
                stat: stat.map_or(UNPROVED, |stat| proved_fingerprint(stat, observed_at)),
            }
        };
        let Encoded { head, parts, contents, fingerprints } =
            encode::encode(graph, &records, &general_problems, fingerprints_of)?;
        let files = FileTable::new(records.paths(), fingerprints.iter().map(|one| one.stat).collect());
        let facts = FactsTable::new(fingerprints.iter().map(|one| one.facts));
        let mut pieces: Vec<&[u8]> = contents.iter().map(AsRef::as_ref).collect();
        let [metas, shape, records_part] = parts.map(|part| section(&[head.get(part).unwrap_or_default()]));
        let parts = [metas, shape, records_part, section(&pieces)];
        pieces.insert(0, &head);
        let index = Index { observed_at, parts, answer, observations, files, facts, edits: None };
        let identity = index.identity();
        // In any order: each file is written atomically, and `load` detects an index whose data is missing or older.
        let (data, index) = rayon::join(|| self.write_pieces(DATA, &pieces), || self.write_index(&index));
        memory.release((head, contents));
        // Freeing these is slow: they are hundreds of thousands of small allocations.
        memory.release((records, data?, index?));
        Some(identity)
    }

    /// Returns the encoded index, so that the caller decides when its memory is freed.
    fn write_index(&self, index: &Index) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&self.key.to_le_bytes());
        bytes.extend_from_slice(&[0; 8]);
        let start = bytes.len();
        let mut bytes = index.encode(bytes)?;
        let checksum = xxh3_64(bytes.get(start..)?);
        bytes.get_mut(start - 8..start)?.copy_from_slice(&checksum.to_le_bytes());
        self.write(INDEX, &bytes)?;
        Some(bytes)
    }
}

/// Whether a path component between the root and a folder below it is anything but a directory, such as a link.
fn has_link_below_root(system: &dyn WritableSystem, root: &str, folder: &str) -> bool {
    let Some(below) = AbsPath::new(root).below(folder) else { return true };
    let start = folder.len() - below.len();
    let ends = below.match_indices('/').map(|(at, _)| at).chain([below.len()]);
    ends.filter_map(|end| folder.get(..start + end))
        .map_while(|part| system.lstat(Path::new(part)).ok())
        .any(|stat| stat.kind != EntryKind::Dir)
}

/// Length and checksum of the concatenated pieces.
fn section(pieces: &[&[u8]]) -> Section {
    let length: usize = pieces.iter().map(|piece| piece.len()).sum();
    let checksum = |half: Range<usize>| {
        let mut hash = Xxh3::new();
        let mut start = 0;
        for piece in pieces {
            let within = |at: usize| at.saturating_sub(start).min(piece.len());
            hash.update(&piece[within(half.start)..within(half.end)]);
            start += piece.len();
        }
        hash.digest()
    };
    let (first, second) = rayon::join(|| checksum(0..length / 2), || checksum(length / 2..length));
    Section { length: length as u64, checksum: halves(first, second) }
}

/// Combines the checksums of the two halves of a section. They are hashed in parallel.
fn halves(first: u64, second: u64) -> u64 {
    first.rotate_left(1) ^ second
}

/// Parts of the data.
pub(crate) struct LoadedParts {
    bytes: Vec<u8>,
    ranges: [Range<usize>; DataPart::COUNT],
}

impl LoadedParts {
    /// Empty for a part that was not loaded.
    fn part(&self, part: DataPart) -> &[u8] {
        self.ranges.get(part.index()).and_then(|range| self.bytes.get(range.clone())).unwrap_or_default()
    }

    /// Decodes data of which all parts are loaded.
    pub(crate) fn data(&self) -> Option<Data<'_>> {
        self.data_with(Contents::Whole(self.part(DataPart::Contents)))
    }

    /// As [`Self::data`], with contents from another source.
    pub(crate) fn data_with<'l>(&'l self, contents: Contents<'l>) -> Option<Data<'l>> {
        let [metas, shape, records] = [DataPart::Metas, DataPart::Shape, DataPart::Records].map(|part| self.part(part));
        Data::decode(metas, shape, records, contents)
    }
}

/// Reads the contents of single files; after many requests, reads everything once and answers from memory.
pub(crate) struct ContentsOnDisk<'c> {
    cache: &'c Cache<'c>,
    index: &'c Index,
    asked: AtomicUsize,
    whole: OnceLock<Option<LoadedParts>>,
}

impl<'c> ContentsOnDisk<'c> {
    /// With more single reads than this, reading everything is cheaper.
    const MAX_PIECES: usize = 64;

    pub(crate) fn new(cache: &'c Cache<'c>, index: &'c Index) -> Self {
        Self { cache, index, asked: AtomicUsize::new(0), whole: OnceLock::new() }
    }
}

impl ReadContents for ContentsOnDisk<'_> {
    fn read(&self, offset: usize, length: usize) -> Option<Vec<u8>> {
        if self.asked.fetch_add(1, Ordering::Relaxed) >= Self::MAX_PIECES {
            let contents = DataPart::Contents..=DataPart::Contents;
            let whole = self.whole.get_or_init(|| self.cache.load(self.index, contents)).as_ref()?;
            return whole.part(DataPart::Contents).get(offset..)?.get(..length).map(<[u8]>::to_vec);
        }
        let [before @ .., contents] = &self.index.parts;
        if (offset.checked_add(length)? as u64) > contents.length {
            return None;
        }
        let start = before.iter().try_fold(0u64, |sum, part| sum.checked_add(part.length))?;
        let mut bytes = vec![0; length];
        let path = self.cache.path(DATA);
        self.cache.system.read_range(Path::new(&path), start.checked_add(offset as u64)?, &mut bytes).ok()?;
        Some(bytes)
    }
}

/// A fingerprint of the file's contribution to the figures: an edit that keeps it changes no figure. `OPAQUE` if that cannot be
/// determined.
fn stats_fingerprint(graph: &Graph, record: Record<'_>, facts: u64, languages: Languages) -> u64 {
    let file = record.file;
    let is_own = record.in_universe() || record.node().is_some_and(|node| graph.node(node.0).kind == NodeKind::Source);
    let is_clean = file.problems.is_empty() && file.request_problems.is_empty() && !file.incomplete;
    let has_facts = file.facts.is_some() || !languages.claim(record.path());
    if is_own && is_clean && has_facts && file.meta.is_some() { facts } else { FactsTable::OPAQUE }
}

/// Facts of an earlier run, for files that are unchanged since.
pub(crate) struct CachedFacts<'c> {
    index: &'c Index,
    data: Option<Data<'c>>,
    by_path: rustc_hash::FxHashMap<&'c str, RecordId>,
    /// Files whose facts in the data are outdated.
    edited: Vec<RecordId>,
    languages: Languages,
}

impl<'c> CachedFacts<'c> {
    /// `loaded`: all parts.
    pub(crate) fn new(index: &'c Index, loaded: &'c LoadedParts, languages: Languages) -> Self {
        let data = loaded.data().filter(|data| data.len() == index.files.len());
        let by_path = (0..index.files.len()).map(|file| (index.files.path(file), RecordId::at(file))).collect();
        Self { index, data, by_path, edited: index.edited(), languages }
    }
}

impl PreviousRun for CachedFacts<'_> {
    fn analysed(&self, system: &dyn System, path: &str, with_facts: bool) -> Option<Analysed> {
        let data = self.data.as_ref()?;
        let file = *self.by_path.get(path)?;
        let recorded = self.index.files.fingerprint(file.index());
        let stat = system.lstat(Path::new(path)).ok()?;
        if recorded == UNPROVED || fingerprint(&stat) != recorded || self.edited.binary_search(&file).is_ok() {
            return None;
        }
        if with_facts && !data.has_facts(file) && self.languages.claim(path) {
            return None;
        }
        let facts = if data.has_facts(file) { Some(Box::new(data.facts(file)?)) } else { None };
        Some(Analysed {
            stat: Some(stat),
            meta: Some(data.meta(file)?),
            facts,
            heading: data.heading(file)?,
            problems: data.problems(file)?.0,
            incomplete: data.is_incomplete(file),
            ..Analysed::default()
        })
    }
}
