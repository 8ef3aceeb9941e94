//! Which files besides the edited ones need new implicit edges: those that take a name which is re-exported from a changed name.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::edit::Edit;
use super::{IncrementalUpdate, by_file};
use crate::cache::RecordId;
use crate::graph::changed_names::ChangedNames;

/// With more affected files than this, a full run is faster.
const MAX_AFFECTED: usize = 50_000;

impl IncrementalUpdate<'_> {
    /// The files whose implicit edges may have changed, ascending.
    pub(super) fn affected(&self, edits: &[Edit]) -> Option<Vec<RecordId>> {
        let mut affected: BTreeSet<RecordId> = edits.iter().map(|edit| edit.file).collect();
        let changes = self.changed_names(edits)?;
        if !changes.is_empty() {
            for file in self.data.records().filter(|file| self.is_own(*file)) {
                let concerns =
                    |(target, name): (RecordId, u32)| changes.get(&target).is_some_and(|names| names.has(name));
                if self.data.taken_names(file)?.any(concerns) {
                    affected.insert(file);
                }
            }
        }
        (affected.len() <= MAX_AFFECTED).then(|| affected.into_iter().collect())
    }

    /// For each file the exported names that may resolve differently now.
    ///
    /// A change spreads through re-exports, which may form cycles and are stored in no useful order. So all records are visited until
    /// nothing changes any more. Sets only grow, so this ends; in practice after as many rounds as barrels are nested.
    fn changed_names(&self, edits: &[Edit]) -> Option<FxHashMap<RecordId, ChangedNames>> {
        let mut changes: FxHashMap<RecordId, ChangedNames> = FxHashMap::default();
        for edit in edits {
            let old = self.data.facts(edit.file);
            let old_targets = self.data.targets(edit.file)?;
            let old = old.as_ref().map(|facts| (facts, &*old_targets));
            let names = ChangedNames::between(old, edit.analysed.facts.as_deref().map(|facts| (facts, &*edit.targets)));
            if !names.is_empty() {
                changes.insert(edit.file, names);
            }
        }
        let edited = by_file(edits);
        let mut grows = !changes.is_empty();
        while grows {
            grows = false;
            for file in self.data.records() {
                let concerns =
                    |(target, name): (RecordId, u32)| changes.get(&target).is_some_and(|names| names.concern(name));
                if !self.data.passed_names(file)?.any(concerns) {
                    continue;
                }
                let passed = match edited.get(&file) {
                    Some(edit) => {
                        let facts = edit.analysed.facts.as_deref();
                        facts.map(|facts| ChangedNames::passed_on(facts, &edit.targets, &changes))
                    }
                    None => {
                        let facts = self.data.facts(file)?;
                        Some(ChangedNames::passed_on(&facts, &self.data.targets(file)?, &changes))
                    }
                };
                if let Some(passed) = passed.filter(|passed| !passed.is_empty()) {
                    grows |= changes.entry(file).or_default().add(passed);
                }
            }
        }
        Some(changes)
    }
}
