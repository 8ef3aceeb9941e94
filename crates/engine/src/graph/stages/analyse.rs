//! Analyse: every file of the repository is read once, hashed, extracted and resolved.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;
use rayon::{Scope, Yield};
use stan_model::FileKey;

use super::resolve::ThreadResolver;
use super::{AnalysedChunks, CHUNK, Chunk, CompileRun};
use crate::cache::encode::append_entry;
use crate::graph::analyse::{Analysed, BatchAnalyser, analyse, analyse_observed};
use crate::graph::compile::Keep;

/// The usual size of a file's entry in the cache, so that the buffer of a chunk need not grow.
const USUAL_ENTRY: usize = 256;

/// Per-thread state.
pub(super) struct ThreadState<'p> {
    pub(super) analyser: BatchAnalyser<'p>,
    pub(super) resolver: ThreadResolver<'p>,
}

/// The work that the threads of an analysis share, and its results.
#[derive(Default)]
struct SharedWork {
    /// The number of the next chunk to analyse.
    next_chunk: AtomicUsize,
    /// The number of files that were read.
    read: AtomicUsize,
    /// Analysed chunks by number, in any order.
    chunks: Mutex<Vec<(usize, Chunk)>>,
    large: Mutex<Vec<LargeFile>>,
}

/// A large file of the universe, analysed.
struct LargeFile {
    /// Its position in the universe.
    index: usize,
    file: Analysed,
    /// Its entry for the cache.
    entry: Vec<u8>,
}

impl CompileRun<'_> {
    /// Analyses and resolves every file of the universe; also returns the number of files that were read.
    pub(in crate::graph) fn analyse_universe(&self, keep: Keep) -> (AnalysedChunks, usize) {
        if let Some(bundles) = self.bundles {
            return self.analyse_in_groups(bundles, keep);
        }
        let work = SharedWork::default();
        rayon::scope(|scope| {
            if self.universe.files.len() <= CHUNK {
                // Waking the other threads would cost more than one chunk.
                self.analyse_chunks(scope, &work, keep);
            } else {
                scope.spawn_broadcast(|scope, _| self.analyse_chunks(scope, &work, keep));
            }
        });
        let mut chunks = work.chunks.into_inner().unwrap_or_else(PoisonError::into_inner);
        chunks.sort_unstable_by_key(|(number, _)| *number);
        let mut files = AnalysedChunks(chunks.into_iter().map(|(_, chunk)| chunk).collect());
        for LargeFile { index, file, entry } in work.large.into_inner().unwrap_or_else(PoisonError::into_inner) {
            files.put(index, file, entry);
        }
        (files, work.read.into_inner())
    }

    /// Analyses chunk after chunk until none is left. Every thread runs this once: its open directory and its remembered
    /// answers serve all its chunks. (A parallel iterator would make a new state for each chunk.)
    fn analyse_chunks<'s>(&'s self, scope: &Scope<'s>, work: &'s SharedWork, keep: Keep) {
        let mut state = None;
        loop {
            let number = work.next_chunk.fetch_add(1, Ordering::Relaxed);
            let Some(paths) = self.universe.files.chunks(CHUNK).nth(number) else { return };
            let state = state.get_or_insert_with(|| self.thread_state(keep));
            let chunk = self.analyse_chunk(state, paths, keep, &work.read, |at| {
                // A separate task, because the file's neighbours must not wait for it, and barrels are often adjacent.
                scope.spawn(move |_| {
                    let (file, entry) = paths.get(at).map(|path| self.analyse_large(path, keep)).unwrap_or_default();
                    lock(&work.large).push(LargeFile { index: number * CHUNK + at, file, entry });
                });
            });
            lock(&work.chunks).push((number, chunk));
            // Analyse the large files of this chunk, unless an idle thread took them. Otherwise the last ones would be left for
            // the end, when the other threads have nothing to do.
            while rayon::yield_local() == Some(Yield::Executed) {}
        }
    }

    pub(super) fn thread_state(&self, keep: Keep) -> ThreadState<'_> {
        ThreadState {
            analyser: BatchAnalyser::new(self.system, self.options, keep != Keep::Nothing, self.observer),
            resolver: ThreadResolver::new(self.resolvers, self.nodes),
        }
    }

    /// Analyses the files of a chunk, except for large ones, whose positions are passed to `on_large`.
    fn analyse_chunk<'p>(
        &self,
        state: &mut ThreadState<'p>,
        paths: &'p [Box<str>],
        keep: Keep,
        read: &AtomicUsize,
        on_large: impl Fn(usize),
    ) -> Chunk {
        let mut files = Vec::with_capacity(paths.len());
        let mut entries = Vec::with_capacity(if keep == Keep::Nothing { 0 } else { paths.len() * USUAL_ENTRY });
        let root = self.nodes.root_prefix();
        let mut absolute = root.clone();
        let previous = |path: &str| {
            let previous = self.previous(path, true);
            read.fetch_add(usize::from(previous.is_none()), Ordering::Relaxed);
            previous
        };
        while files.len() < paths.len() {
            let start = files.len();
            state.analyser.analyse(&root, &paths[start..], previous, |file| {
                files.push(file.unwrap_or_else(|| {
                    on_large(files.len());
                    Analysed::default()
                }));
            });
            for (file, path) in files[start..].iter_mut().zip(&paths[start..]) {
                absolute.truncate(root.len());
                absolute.push_str(path);
                self.resolve_own(&absolute, file, &mut state.resolver);
                encode_and_trim(file, keep, &mut entries);
            }
        }
        Chunk { files, entries }
    }

    fn analyse_large(&self, path: &str, keep: Keep) -> (Analysed, Vec<u8>) {
        let absolute = self.nodes.absolute_of(path);
        let mut file = analyse_observed(self.system, &absolute, path, self.options, self.observer);
        self.resolve_own(&absolute, &mut file, &mut ThreadResolver::new(self.resolvers, self.nodes));
        let mut entry = Vec::new();
        encode_and_trim(&mut file, keep, &mut entry);
        (file, entry)
    }

    pub(super) fn resolve_own(&self, path: &str, file: &mut Analysed, resolver: &mut ThreadResolver<'_>) {
        let Some(facts) = &file.facts else { return };
        let (resolved, problems) = resolver.resolve_file(path, &self.nodes.display(path), facts);
        file.resolved = resolved;
        file.request_problems = problems;
    }

    /// Files of the repository that are outside the universe but imported (generated, ignored) are analysed like the
    /// rest, and so are the ones that they import in turn.
    pub(in crate::graph) fn load_own_files(&self) {
        let mut next = self.nodes.universe_len();
        while next < self.nodes.len() {
            let end = self.nodes.len();
            (next..end).into_par_iter().map(FileKey).for_each(|key| {
                if let Some(path) = self.own_file_beyond(key) {
                    self.load(key, path, true);
                }
            });
            next = end;
        }
    }

    /// Loads an external file with its exports, for tunnelling and edges between externals.
    pub(super) fn load_external(&self, key: FileKey) -> Option<&Analysed> {
        let path = self.file_beyond(key)?;
        self.load(key, path, false)
    }

    /// Loads a file beyond the universe, at most once.
    fn load(&self, key: FileKey, path: &str, with_requests: bool) -> Option<&Analysed> {
        let slot = self.nodes.slot(key)?;
        Some(slot.loaded.get_or_init(|| {
            let display = self.nodes.display(path);
            let mut file =
                self.previous(path, true).unwrap_or_else(|| analyse(self.system, path, &display, true, self.options));
            let mut resolver = ThreadResolver::new(self.resolvers, self.nodes);
            if with_requests {
                self.resolve_own(path, &mut file, &mut resolver);
            } else {
                if let Some(facts) = &file.facts {
                    file.resolved = resolver.resolve_reexports(path, facts);
                }
                // Problems inside a package are not this repository's, unless the file cannot be read.
                if file.meta.is_some() {
                    file.problems.clear();
                }
            }
            file
        }))
    }

    /// Hashes an external file that was not analysed.
    pub(super) fn hash_external(&self, key: FileKey) {
        if let (Some(slot), Some(path)) = (self.nodes.slot(key), self.file_beyond(key)) {
            slot.loaded.get_or_init(|| {
                // To a later run, facts without resolved requests would look like a module without targets.
                let previous = self.previous(path, false).map(|file| Analysed { facts: None, ..file });
                let display = self.nodes.display(path);
                previous.unwrap_or_else(|| analyse(self.system, path, &display, false, self.options))
            });
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Encodes the file's cache entry while its facts are still in the processor's cache, and drops what no later stage needs.
fn encode_and_trim(file: &mut Analysed, keep: Keep, entries: &mut Vec<u8>) {
    if keep != Keep::Nothing {
        file.entry = append_entry(file, entries);
    }
    if keep != Keep::WithFacts {
        forget_requests(file);
    }
}

/// Specifiers were needed to resolve a file and to encode it. Only links by name ask for requests again.
pub(super) fn forget_requests(file: &mut Analysed) {
    if let Some(facts) = &mut file.facts
        && facts.scopes.is_empty()
        && file.resolved.packages.is_empty()
    {
        facts.requests = Vec::new();
    }
}
