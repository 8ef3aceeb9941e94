//! Reads the inputs of a ranking: the graph's files and imports, the words of each file, the history.

use std::borrow::Cow;
use std::cell::RefCell;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use stan_graph::FileMeta;
use stan_model::{Digest, EdgeKind, NodeKind, Resolution};
use stan_rank::{Edge, FileClass, FileWords, Fixed, Layout, WordCounter, WordIndex, file_class};
use stan_repo::{AbsPath, System, SystemExt as _, sha256};

use super::{MAX_INDEXED_BYTES, Relevance, history};
use crate::cache::{Cache, CommitTexts, FilesKey, Identity, Metas, StoredLayout, StoredWords};
use crate::context::{EngineError, Repository};
use crate::engine::Engine;
use crate::graph::{Graph, GraphRequest, graph_with_observer, open_cache};

impl Relevance {
    /// Reads all inputs: the graph (from its cache if that is valid), the words of all files, the last commits.
    pub fn gather(
        engine: &Engine<'_>,
        repository: &Repository<'_>,
        request: &GraphRequest,
    ) -> Result<Self, EngineError> {
        Self::gather_with_cache(engine, repository, request).map(|(relevance, _)| relevance)
    }

    /// As [`Self::gather`]; also returns the opened cache.
    pub(crate) fn gather_with_cache<'s>(
        engine: &Engine<'s>,
        repository: &Repository<'_>,
        request: &GraphRequest,
    ) -> Result<(Self, Option<Cache<'s>>), EngineError> {
        let system = engine.system();
        let options = repository.config.graph_options(repository.root);
        let request = GraphRequest { stats_only: false, ..request.clone() };
        let seen = SeenWords::default();
        let observer = |path: &str, bytes: &[u8], meta: &FileMeta| seen.record(path, bytes, meta);
        // If nothing changed, the graph itself is not needed: the cache has its files and imports in the form that a ranking
        // needs.
        let kept: OnceLock<StoredLayout> = OnceLock::new();
        let is_enough = |cache: &Cache<'_>, graph: Identity| {
            cache.load_layout(graph).is_some_and(|layout| kept.set(layout).is_ok())
        };
        let (outcome, identity) = graph_with_observer(engine, &options, &request, &observer, &is_enough)?;
        let not_analysed = outcome.not_analysed();
        let cache = open_cache(system, &options, &request);
        let is_kept = outcome.graph.is_none();
        let layout = match (outcome.graph, kept.into_inner()) {
            (Some(graph), _) => {
                let layout = layout_of(&graph);
                if let (Some(cache), Some(identity)) = (&cache, identity) {
                    cache.store_layout(identity, &layout);
                }
                layout
            }
            (None, Some(layout)) => layout,
            (None, None) => return Err(EngineError::internal("the graph is missing from its outcome")),
        };
        let seen = seen.into_words();
        let reading = WordSource { system, root: repository.root, cache: cache.as_ref(), files: &layout, seen: &seen };
        let words = || reading.words();
        let past = || history::read(system, repository.root, &layout, cache.as_ref());
        // Reading cached data takes less time than waking up another thread.
        let (index, past) = if is_kept { (words(), past()) } else { engine.share(|| rayon::join(words, past)) };
        let mut unavailable = past.unavailable;
        let has_code = || (0..layout.layout.len()).any(|file| layout.layout.class(file) == FileClass::Code);
        if layout.layout.has_no_imports() && has_code() {
            unavailable
                .push("imports: no file of the repository imports another, as far as stan reads them".to_owned());
        }
        let relevance = Self {
            root: repository.root.to_owned(),
            stan_path: repository.config.stan_path.clone(),
            files: layout,
            index,
            counted: OnceLock::new(),
            history: past.history,
            texts: past.texts,
            no_texts: CommitTexts::default(),
            unavailable,
            not_analysed,
        };
        Ok((relevance, cache))
    }

    /// The messages of commits, which only a query with a text needs.
    pub(super) fn texts(&self, system: &dyn System) -> &CommitTexts {
        self.texts.get(self.history.len(), || history::read(system, &self.root, &self.files, None))
    }

    /// Counts the words of all files again, if the cached index turns out to be damaged.
    pub(super) fn count_words(&self, system: &dyn System) -> WordIndex {
        WordSource { system, root: &self.root, cache: None, files: &self.files, seen: &FxHashMap::default() }.words()
    }
}

/// The files of a graph, and the imports between them.
fn layout_of(graph: &Graph) -> StoredLayout {
    let mut paths: Vec<&str> = Vec::new();
    let mut metas = Vec::new();
    let number = |node: &'_ stan_graph::Node| {
        let meta = node.file.filter(|_| node.kind == NodeKind::Source && !node.outside_root)?;
        let number = u32::try_from(metas.len()).ok()?;
        metas.push(meta);
        Some(number)
    };
    let numbers: Vec<Option<u32>> = graph.nodes().iter().map(number).collect();
    paths.extend(graph.nodes().iter().zip(&numbers).filter(|(_, number)| number.is_some()).map(|(node, _)| &*node.id));
    let layout = Layout::new(paths.into_iter(), &edges_of(graph, &numbers));
    let metas = Metas::of(&metas);
    let key = FilesKey::of(&layout, &metas);
    StoredLayout { layout, metas, key }
}

/// Imports between files of the repository. A runtime import weighs more than a type import, and an explicit one more than one
/// found by tunnelling through a barrel.
fn edges_of(graph: &Graph, numbers: &[Option<u32>]) -> Vec<Edge> {
    let number = |node: u32| numbers.get(node as usize).copied().flatten();
    let mut edges = Vec::new();
    for node in graph.indices() {
        let Some(from) = number(node) else { continue };
        for same_target in graph.edges(node).chunk_by(|left, right| left.target == right.target) {
            let Some(to) = same_target.first().and_then(|edge| number(edge.target)).filter(|to| *to != from) else {
                continue;
            };
            let is_type = same_target.iter().all(|edge| edge.kind != EdgeKind::Runtime);
            let is_implicit = same_target.iter().all(|edge| edge.resolution == Resolution::Implicit);
            let weight = match (is_type, is_implicit) {
                (false, false) => Fixed::ONE,
                (true, false) => Fixed::per_mille(700),
                (false, true) => Fixed::HALF,
                (true, true) => Fixed::per_mille(350),
            };
            edges.push(Edge { from, to, weight });
        }
    }
    edges
}

/// The sources of word counts.
struct WordSource<'r> {
    system: &'r dyn System,
    root: &'r str,
    cache: Option<&'r Cache<'r>>,
    files: &'r StoredLayout,
    /// Counted while the graph was built, by digest and path.
    seen: &'r FxHashMap<FileContents, FileWords>,
}

/// Digest and path of a file.
type FileContents = (Digest, Box<str>);

/// Words of files that the graph reads anyway, while their bytes are in memory.
#[derive(Default)]
struct SeenWords {
    words: Mutex<Vec<(FileContents, FileWords)>>,
}

/// Buffers that a thread reuses from file to file.
#[derive(Default)]
struct CountScratch {
    counter: WordCounter,
    bytes: Vec<u8>,
}

thread_local! {
    static COUNTER: RefCell<WordCounter> = RefCell::default();
}

impl SeenWords {
    fn record(&self, path: &str, bytes: &[u8], meta: &FileMeta) {
        if file_class(path) == FileClass::Other || meta.size > MAX_INDEXED_BYTES {
            return;
        }
        let words = COUNTER.with_borrow_mut(|counter| counter.count(path, bytes));
        self.words.lock().unwrap_or_else(PoisonError::into_inner).push(((meta.digest, path.into()), words));
    }

    fn into_words(self) -> FxHashMap<FileContents, FileWords> {
        self.words.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().collect()
    }
}

impl WordSource<'_> {
    /// The words of all files. Reuses the stored counts of files whose contents are the same.
    fn words(&self) -> WordIndex {
        let StoredLayout { layout, metas, key } = self.files;
        let known = match self.cache.and_then(Cache::load_words) {
            Some(stored) if stored.belongs_to(key) => return stored.index,
            stored => stored.map(StoredWords::by_file).unwrap_or_default(),
        };
        let count = |scratch: &mut CountScratch, file: usize| {
            let path = layout.path(file);
            let Some(meta) = metas.get(file) else { return (Cow::Owned(FileWords::default()), false) };
            let found = known.get(&(path.into(), meta.digest)).or_else(|| self.seen.get(&(meta.digest, path.into())));
            match found {
                Some(words) => (Cow::Borrowed(words), true),
                None => {
                    let (words, is_proved) = self.count(scratch, file, &meta);
                    (Cow::Owned(words), is_proved)
                }
            }
        };
        let counted: Vec<(Cow<'_, FileWords>, bool)> =
            (0..metas.len()).into_par_iter().map_init(CountScratch::default, count).collect();
        let is_proved = counted.iter().all(|(_, is_proved)| *is_proved);
        let words: Vec<Cow<'_, FileWords>> = counted.into_iter().map(|(words, _)| words).collect();
        let index = WordIndex::build(&words);
        if let Some(cache) = self.cache.filter(|_| is_proved) {
            cache.store_words(layout, metas, &index, key);
        }
        index
    }

    /// The words of a file, and whether its contents are those that the graph saw.
    fn count(&self, scratch: &mut CountScratch, file: usize, meta: &FileMeta) -> (FileWords, bool) {
        let layout = &self.files.layout;
        if layout.class(file) == FileClass::Other || meta.size > MAX_INDEXED_BYTES {
            return (FileWords::default(), true);
        }
        let CountScratch { counter, bytes } = scratch;
        bytes.clear();
        match self.system.read_real(
            Path::new(&AbsPath::new(self.root).join(layout.path(file))),
            MAX_INDEXED_BYTES,
            bytes,
        ) {
            Ok(_) => (counter.count(layout.path(file), bytes), sha256(bytes) == meta.digest),
            Err(_) => (FileWords::default(), false),
        }
    }
}
