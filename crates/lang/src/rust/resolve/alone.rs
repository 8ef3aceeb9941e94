//! Resolves requests of single files without the facts of the whole repository: reads only the package around them, on demand.

use std::sync::{Arc, OnceLock};

use stan_model::facts::Request;
use stan_model::{FileFacts, FileKey};

use super::Resolver;
use super::forest::{self, Forest};
use super::names::{Meaning, PathResolver};
use crate::language::{ExtractOptions, FactsOf, Target};
use crate::paths::join_plain;
use crate::project::Project;
use crate::rust::extract;
use crate::rust::form::Form;

/// The facts of each file of the universe that has been read.
pub(super) type ReadFacts = Box<[OnceLock<Option<Box<FileFacts>>>]>;

/// Facts of files of the universe, read on demand. Keys are indices in the universe.
struct FactsOnDemand<'r> {
    project: &'r Project<'r>,
    known: &'r ReadFacts,
}

impl FactsOf for FactsOnDemand<'_> {
    fn key_of(&self, path: &str) -> Option<FileKey> {
        let inside = self.project.relative(path)?;
        let at = self.project.universe.first_from(inside);
        (self.project.universe.path(at) == inside).then(|| u32::try_from(at).ok().map(FileKey)).flatten()
    }

    fn facts(&self, file: FileKey) -> Option<&FileFacts> {
        let known = self.known.get(file.index())?.get_or_init(|| {
            let path = join_plain(self.project.root, self.project.universe.path(file.index()));
            let bytes = path.ends_with(".rs").then(|| self.project.files.read(&path)).flatten()?;
            Some(Box::new(extract::extract(&bytes, &ExtractOptions::default()).facts))
        });
        known.as_deref()
    }
}

/// The module trees that a file may belong to.
pub(super) struct Around<'r> {
    resolver: &'r Resolver<'r>,
    facts: FactsOnDemand<'r>,
    forest: Arc<Forest>,
}

impl Resolver<'_> {
    pub(super) fn around(&self, file: &str) -> Around<'_> {
        let known = self.read.get_or_init(|| (0..self.project.universe.len()).map(|_| OnceLock::new()).collect());
        let facts = FactsOnDemand { project: self.project, known };
        let forest = self.forests.get_or(file, || Arc::new(forest::build_around(self, &facts, file)));
        Around { resolver: self, facts, forest }
    }
}

impl Around<'_> {
    /// The file that declares the target of a path, or the file of its module if the name is not found there.
    pub(super) fn target(&self, file: &str, request: &Request) -> Option<Target> {
        let module = self.forest.by_file.get(file).copied().filter(|_| Form::item_call(request).is_none())?;
        let names = PathResolver::new(self.resolver, &self.forest, &self.facts);
        let walked = names.request(module, request);
        let chosen = walked.means.into_iter().chain(walked.named).next()?;
        Some(match chosen {
            Meaning::Module(id) | Meaning::Item(id) => Target::File(self.forest.module(id)?.file.clone()),
            Meaning::Outside(id) => self.forest.outside_crate(id)?.target(),
            Meaning::Builtin(krate) => Target::Builtin(["rust:", krate.name()].concat().into()),
        })
    }
}
