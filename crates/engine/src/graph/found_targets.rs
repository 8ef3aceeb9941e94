//! A table of targets for callers that resolve single files without giving out node keys: the incremental update and packs.

use std::cell::{Cell, RefCell};

use stan_lang::Target;
use stan_lang::language::{Answer, TargetTable};
use stan_model::FileKey;

use super::excluded::ExcludedFiles;

/// Collects the targets that resolution finds. The key of a target is its index here.
pub(crate) struct FoundTargets<'e> {
    found: RefCell<Vec<Target>>,
    excluded: &'e ExcludedFiles,
    excluded_imports: Cell<u64>,
}

impl<'e> FoundTargets<'e> {
    pub(crate) fn new(excluded: &'e ExcludedFiles) -> Self {
        Self { found: RefCell::default(), excluded, excluded_imports: Cell::new(0) }
    }

    pub(crate) fn get(&self, key: FileKey) -> Option<Target> {
        self.found.borrow().get(key.index()).cloned()
    }

    /// Whether a file, by its absolute real path, is excluded.
    pub(crate) fn is_excluded(&self, path: &str) -> bool {
        self.excluded.cover(path)
    }

    /// How many imports resolved to excluded files.
    pub(crate) fn excluded_imports(&self) -> u64 {
        self.excluded_imports.get()
    }
}

impl TargetTable for FoundTargets<'_> {
    fn answer(&self, target: &Target) -> Answer {
        if let Target::File(path) = target
            && self.is_excluded(path)
        {
            self.excluded_imports.set(self.excluded_imports.get() + 1);
            return Answer::Excluded;
        }
        let mut targets = self.found.borrow_mut();
        let key = FileKey(u32::try_from(targets.len()).unwrap_or(u32::MAX));
        targets.push(target.clone());
        match target {
            Target::Nothing => Answer::Nothing,
            Target::File(_) => Answer::File(key),
            Target::Files(_) => Answer::Files([key].into()),
            Target::Builtin(_) | Target::Missing { .. } => Answer::Other(key),
        }
    }

    fn listed(&self, _: usize) -> FileKey {
        // Only globs list files, and no caller uses those edges: an edited file with globs needs a full run, and packs do not follow
        // globs.
        FileKey(u32::MAX)
    }
}
