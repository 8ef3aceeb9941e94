//! Tunnelling through the modules of the earlier run, with the new facts of edited files. The tunneller's `FileKey` of a file is the
//! number of its record here.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use stan_graph::{Module, Modules, Tunneller};
use stan_lang::ProjectResolvers;
use stan_model::{EdgeKind, FileFacts, FileKey};
use stan_repo::Reach;

use super::IncrementalUpdate;
use super::edit::Edit;
use crate::cache::RecordId;

/// Implicit edges by file.
pub(super) type ImplicitEdges = FxHashMap<RecordId, Vec<(RecordId, EdgeKind)>>;

impl IncrementalUpdate<'_> {
    /// The implicit edges of the affected files. `None` if they depend on something that the earlier run did not analyse.
    pub(super) fn tunnel(
        &self,
        edits: &[Edit],
        affected: &[RecordId],
        resolvers: &ProjectResolvers<'_>,
        reach: &Reach,
    ) -> Option<ImplicitEdges> {
        let modules = EditedModules {
            update: self,
            edits: edits.iter().map(|edit| (edit.file, (edit, keys(&edit.targets)))).collect(),
            loaded: (0..self.data.len()).map(|_| OnceLock::new()).collect(),
            resolvers,
            reach,
            needs_full_run: AtomicBool::new(false),
        };
        let tunneller = Tunneller::new(&modules);
        let edges_of = |file: &RecordId| {
            let edges = tunneller.implicit_edges(FileKey(file.0)).edges;
            (*file, edges.into_iter().map(|(target, kind)| (RecordId(target.0), kind)).collect())
        };
        let edges = affected.par_iter().map(edges_of).collect();
        (!modules.needs_full_run.load(Ordering::Relaxed) && !tunneller.exceeds_edge_limit()).then_some(edges)
    }
}

fn keys(targets: &[RecordId]) -> Vec<Option<FileKey>> {
    targets.iter().map(|target| (*target != RecordId::NONE).then_some(FileKey(target.0))).collect()
}

type Stored = Option<(FileFacts, Vec<Option<FileKey>>)>;

struct EditedModules<'m> {
    update: &'m IncrementalUpdate<'m>,
    edits: FxHashMap<RecordId, (&'m Edit, Vec<Option<FileKey>>)>,
    loaded: Vec<OnceLock<Box<Stored>>>,
    resolvers: &'m ProjectResolvers<'m>,
    reach: &'m Reach,
    /// Set if the answer depends on something that the earlier run did not know. [`Modules`] cannot return an error.
    needs_full_run: AtomicBool,
}

impl EditedModules<'_> {
    fn is_external(&self, file: RecordId) -> bool {
        !self.update.is_own(file)
    }

    fn require_full_run(&self) {
        self.needs_full_run.store(true, Ordering::Relaxed);
    }
}

impl Modules for EditedModules<'_> {
    fn module(&self, file: FileKey) -> Option<Module<'_>> {
        let record = RecordId(file.0);
        if let Some((edit, targets)) = self.edits.get(&record) {
            return Some(Module { facts: edit.analysed.facts.as_deref()?, targets });
        }
        let Some(slot) = self.loaded.get(record.index()) else {
            self.require_full_run();
            return None;
        };
        let data = self.update.data;
        if !data.has_facts(record) {
            // An external that was only hashed was never parsed, so its exports are unknown.
            if self.is_external(record) && self.update.options.languages.claim(self.update.path(record)) {
                self.require_full_run();
            }
            return None;
        }
        let load = || Box::new(data.facts(record).zip(data.targets(record).map(|targets| keys(&targets))));
        let (facts, targets) = slot.get_or_init(load).as_ref().as_ref()?;
        if facts.is_linked_by_name() {
            // Its implicit edges also depend on names of other files of its package.
            self.require_full_run();
        }
        Some(Module { facts, targets })
    }

    fn may_enter(&self, from: FileKey, to: FileKey) -> bool {
        let (from, to) = (RecordId(from.0), RecordId(to.0));
        if !self.is_external(from) {
            return true;
        }
        if to == RecordId::UNKNOWN {
            self.require_full_run();
            return false;
        }
        // The manifest of a linked package can only be read through its link, and this run has followed none.
        if [from, to].iter().any(|file| !self.reach.covers(self.update.path(*file))) {
            self.require_full_run();
        }
        self.resolvers.share_package(self.update.path(from), self.update.path(to))
    }
}
