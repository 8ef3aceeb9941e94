//! The stages of a full run, one file each, in the order in which `compile.rs` calls them.

mod analyse;
mod assemble;
mod link;
pub(crate) mod resolve;
mod shared;
mod tunnel;

use stan_lang::ProjectResolvers;
use stan_model::{EdgeKind, FileKey};
use stan_repo::{System, Universe};

use super::GraphOptions;
use super::analyse::Analysed;
use super::compile::{ContentObserver, PreviousRun};
use super::node_table::{NodeName, NodeTable};
use crate::shared::Bundles;

/// The number of files that a thread takes at once. Small, so that all threads end at about the same time; large enough that
/// files of one directory are handled together and share resolved specifiers.
const CHUNK: usize = 128;

/// An edge between keys.
#[derive(Clone, Copy)]
pub(in crate::graph) struct KeyedEdge {
    source: FileKey,
    target: FileKey,
    kind: EdgeKind,
}

/// The state that all stages of one run share. Each stage adds methods in its own file.
pub(super) struct CompileRun<'r> {
    pub(super) system: &'r dyn System,
    pub(super) options: &'r GraphOptions,
    pub(super) universe: &'r Universe,
    pub(super) resolvers: &'r ProjectResolvers<'r>,
    pub(super) nodes: &'r NodeTable<'r>,
    pub(super) previous: Option<&'r dyn PreviousRun>,
    pub(super) observer: Option<&'r ContentObserver<'r>>,
    /// Facts from other machines. Used only if there is no earlier run: its facts cost no request.
    pub(super) bundles: Option<&'r Bundles>,
}

impl CompileRun<'_> {
    fn previous(&self, path: &str, with_facts: bool) -> Option<Analysed> {
        self.previous?.analysed(self.system, path, with_facts)
    }

    /// Whether a key is a file outside the repository, or an installed one.
    fn is_external(&self, key: FileKey) -> bool {
        self.file_beyond(key).is_some_and(|path| !self.nodes.is_own(path))
    }

    /// The path of a file of the repository that is not in the universe: generated or ignored, and imported.
    fn own_file_beyond(&self, key: FileKey) -> Option<&str> {
        self.file_beyond(key).filter(|path| self.nodes.is_own(path))
    }

    fn file_beyond(&self, key: FileKey) -> Option<&str> {
        match &self.nodes.slot(key)?.name {
            NodeName::File(path) => Some(path),
            NodeName::Builtin(_) | NodeName::Missing(_) => None,
        }
    }
}

/// The files of the universe by key, kept in the chunks in which they were analysed to avoid one large copy.
pub(in crate::graph) struct AnalysedChunks(Vec<Chunk>);

/// Files that were analysed one after the other.
#[derive(Default)]
pub(in crate::graph) struct Chunk {
    pub(in crate::graph) files: Vec<Analysed>,
    /// The concatenated cache entries of these files; empty if they are not encoded yet.
    pub(in crate::graph) entries: Vec<u8>,
}

impl Chunk {
    fn replace(&mut self, place: usize, file: Analysed, entry: Vec<u8>) {
        let length = |file: &Analysed| file.entry.map_or(0, |entry| entry.length as usize);
        let start: usize = self.files.iter().take(place).map(length).sum();
        if let Some(before) = self.files.get_mut(place) {
            self.entries.splice(start..start + length(before), entry);
            *before = file;
        }
    }
}

impl AnalysedChunks {
    /// Files in the order of their keys.
    fn of(mut files: impl Iterator<Item = Analysed>) -> Self {
        let mut chunk = || Some(files.by_ref().take(CHUNK).collect::<Vec<_>>()).filter(|chunk| !chunk.is_empty());
        Self(std::iter::from_fn(|| Some(Chunk { files: chunk()?, entries: Vec::new() })).collect())
    }

    pub(super) fn get(&self, key: FileKey) -> Option<&Analysed> {
        self.0.get(key.index() / CHUNK)?.files.get(key.index() % CHUNK)
    }

    /// Replaces the file at an index, and its cache entry if entries are encoded.
    fn put(&mut self, index: usize, file: Analysed, entry: Vec<u8>) {
        if let Some(chunk) = self.0.get_mut(index / CHUNK) {
            chunk.replace(index % CHUNK, file, entry);
        }
    }

    pub(in crate::graph) fn iter(&self) -> impl Iterator<Item = &Analysed> {
        self.0.iter().flat_map(|chunk| &chunk.files)
    }

    pub(in crate::graph) fn chunks(&self) -> &[Chunk] {
        &self.0
    }
}
