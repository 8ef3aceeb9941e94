//! Reads what a ranking needs: the graph's files and imports, the words of each file, the history.

use std::borrow::Cow;
use std::cell::RefCell;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use stan_graph::FileMeta;
use stan_model::{Digest, EdgeKind, NodeKind, Resolution};
use stan_rank::{Edge, FileClass, FileWords, Fixed, RankedFile, WordCounter, WordIndex, file_class};
use stan_repo::{AbsPath, System, SystemExt as _, sha256};

use super::{MAX_INDEXED, Relevance, history};
use crate::cache::{Cache, StoredWords};
use crate::context::{EngineError, Repository};
use crate::engine::Engine;
use crate::graph::{Graph, GraphRequest, graph_seeing, open_cache};

impl Relevance {
    /// Reads everything: the graph (from its cache where that holds), the words of all files, the last commits.
    pub fn gather(
        engine: &Engine<'_>,
        repository: &Repository<'_>,
        request: &GraphRequest,
    ) -> Result<Self, EngineError> {
        let system = engine.system();
        let options = repository.config.graph_options(repository.root);
        let request = GraphRequest { stats_only: false, ..request.clone() };
        let seen = SeenWords::default();
        let see = |path: &str, bytes: &[u8], meta: &FileMeta| seen.see(path, bytes, meta);
        let outcome = graph_seeing(engine, &options, &request, &see)?;
        let not_analysed = outcome.not_analysed();
        let graph = outcome.graph.ok_or_else(|| EngineError::internal("the graph is missing from its outcome"))?;
        let (numbers, files, metas) = files_of(&graph);
        let edges = edges_of(&graph, &numbers);
        let cache = open_cache(system, &options, &request);
        let seen = seen.into_words();
        let reading = WordSource {
            system,
            root: repository.root,
            cache: cache.as_ref(),
            files: &files,
            metas: &metas,
            seen: &seen,
        };
        let (index, past) = engine.share(|| {
            rayon::join(|| reading.words(), || history::read(system, repository.root, &files, cache.as_ref()))
        });
        let mut unavailable = past.unavailable;
        if edges.is_empty() && files.iter().any(|file| file.class == FileClass::Code) {
            unavailable
                .push("imports: no file of the repository imports another, as far as stan reads them".to_owned());
        }
        Ok(Self {
            root: repository.root.to_owned(),
            stan_path: repository.config.stan_path.clone(),
            files,
            metas,
            index,
            edges,
            history: past.changes,
            commits: past.commits,
            unavailable,
            not_analysed,
        })
    }
}

/// The file number of each node, the files, and their digests and sizes.
fn files_of(graph: &Graph) -> (Vec<Option<u32>>, Vec<RankedFile>, Vec<FileMeta>) {
    let mut files = Vec::new();
    let mut metas = Vec::new();
    let number = |node: &stan_graph::Node| {
        let meta = node.file.filter(|_| node.kind == NodeKind::Source && !node.outside_root)?;
        let number = u32::try_from(files.len()).ok()?;
        files.push(RankedFile { path: node.id.clone(), class: file_class(&node.id) });
        metas.push(meta);
        Some(number)
    };
    let numbers = graph.nodes().iter().map(number).collect();
    (numbers, files, metas)
}

/// Imports between files of the repository. What is imported at run time binds more than a type, and what was written more
/// than what was found behind a barrel.
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

/// What the words of files are read from.
struct WordSource<'r> {
    system: &'r dyn System,
    root: &'r str,
    cache: Option<&'r Cache<'r>>,
    files: &'r [RankedFile],
    metas: &'r [FileMeta],
    /// Counted while the graph was made, by digest and path.
    seen: &'r FxHashMap<FileContents, FileWords>,
}

/// Digest and path of a file.
type FileContents = (Digest, Box<str>);

/// Words of files that are read for the graph: their bytes are in memory then.
#[derive(Default)]
struct SeenWords {
    words: Mutex<Vec<(FileContents, FileWords)>>,
}

thread_local! {
    static COUNTER: RefCell<WordCounter> = RefCell::default();
}

impl SeenWords {
    fn see(&self, path: &str, bytes: &[u8], meta: &FileMeta) {
        if file_class(path) == FileClass::Other || meta.size > MAX_INDEXED {
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
    /// The words of all files: as the last run left them, where the contents are the same.
    fn words(&self) -> WordIndex {
        let digests = || self.files.iter().zip(self.metas).map(|(file, meta)| (&*file.path, Some(meta.digest)));
        let known = match self.cache.and_then(Cache::load_words) {
            Some(stored) if stored.is_of(digests()) => return stored.index,
            stored => stored.map(StoredWords::by_file).unwrap_or_default(),
        };
        let count = |counter: &mut (WordCounter, Vec<u8>), (file, meta): (&RankedFile, &FileMeta)| match known
            .get(&(file.path.clone(), meta.digest))
        {
            Some(words) => (Cow::Borrowed(words), true),
            None => match self.seen.get(&(meta.digest, file.path.clone())) {
                Some(words) => (Cow::Borrowed(words), true),
                None => {
                    let (words, is_proved) = self.count(counter, file, meta);
                    (Cow::Owned(words), is_proved)
                }
            },
        };
        let counted: Vec<(Cow<'_, FileWords>, bool)> =
            self.files.par_iter().zip(self.metas).map_init(Default::default, count).collect();
        let is_proved = counted.iter().all(|(_, is_proved)| *is_proved);
        let words: Vec<Cow<'_, FileWords>> = counted.into_iter().map(|(words, _)| words).collect();
        let index = WordIndex::build(&words);
        if let Some(cache) = self.cache.filter(|_| is_proved) {
            let digests = self.files.iter().zip(self.metas).map(|(file, meta)| (&*file.path, meta.digest));
            cache.store_words(digests, &index);
        }
        index
    }

    /// The words of a file, and whether they are those of the contents that the graph saw.
    fn count(&self, counter: &mut (WordCounter, Vec<u8>), file: &RankedFile, meta: &FileMeta) -> (FileWords, bool) {
        if file.class == FileClass::Other || meta.size > MAX_INDEXED {
            return (FileWords::default(), true);
        }
        let (counter, bytes) = counter;
        bytes.clear();
        match self.system.read_real(Path::new(&AbsPath::new(self.root).join(&file.path)), MAX_INDEXED, bytes) {
            Ok(_) => (counter.count(&file.path, bytes), sha256(bytes) == meta.digest),
            Err(_) => (FileWords::default(), false),
        }
    }
}
