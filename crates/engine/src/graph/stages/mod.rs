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
use super::compile::{PreviousRun, SeeBytes};
use super::node_table::{NodeName, NodeTable};
use crate::shared::Bundles;

/// How many files a thread takes at once: few enough that no thread waits long for the last one, and enough to make use of
/// what neighbours have in common.
const CHUNK: usize = 128;

/// Source, target, kind.
type KeyedEdge = (FileKey, FileKey, EdgeKind);

/// The fixed surroundings of one run; each stage adds its methods.
pub(super) struct CompileRun<'r> {
    pub(super) system: &'r dyn System,
    pub(super) options: &'r GraphOptions,
    pub(super) universe: &'r Universe,
    pub(super) resolvers: &'r ProjectResolvers<'r>,
    pub(super) nodes: &'r NodeTable<'r>,
    pub(super) previous: Option<&'r dyn PreviousRun>,
    pub(super) see: Option<&'r SeeBytes<'r>>,
    /// Facts from other machines; requested only by a run without results of an earlier one.
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
pub(super) struct AnalysedChunks(Vec<Vec<Analysed>>);

impl AnalysedChunks {
    /// Files in the order of their keys.
    fn of(mut files: impl Iterator<Item = Analysed>) -> Self {
        let chunk = || Some(files.by_ref().take(CHUNK).collect::<Vec<_>>()).filter(|chunk| !chunk.is_empty());
        Self(std::iter::from_fn(chunk).collect())
    }

    pub(super) fn get(&self, key: FileKey) -> Option<&Analysed> {
        self.0.get(key.index() / CHUNK)?.get(key.index() % CHUNK)
    }

    fn put(&mut self, index: usize, file: Analysed) {
        if let Some(place) = self.0.get_mut(index / CHUNK).and_then(|chunk| chunk.get_mut(index % CHUNK)) {
            *place = file;
        }
    }

    fn iter(&self) -> impl Iterator<Item = &Analysed> {
        self.0.iter().flatten()
    }
}
