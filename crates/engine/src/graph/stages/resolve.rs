//! Resolve: the requests of one file → edges by key. Full and incremental runs use the same function with different tables of
//! keys.

use std::sync::Arc;

use stan_lang::ProjectResolvers;
use stan_lang::language::{Answer, Resolved, TargetTable, Wanted};
use stan_lang::project::Worker;
use stan_model::{EdgeKind, FileFacts, FileKey, Problem};

/// The targets of one file's requests. Keys belong to the table that the file was resolved with.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResolvedFile {
    /// Explicit edges.
    pub(crate) edges: Vec<(FileKey, EdgeKind)>,
    /// The code behind declarations that requests resolve to: implicit edges.
    pub(crate) implementations: Vec<(FileKey, EdgeKind)>,
    /// For each request the file that it resolves to; `None` for one that resolves to several.
    pub(crate) targets: Vec<Option<FileKey>>,
    /// The requests that resolve to several files, each with its index: their edges follow from names.
    pub(crate) packages: Vec<(u32, Arc<[FileKey]>)>,
}

/// Resolves files on one thread, one after the other.
pub(crate) struct ThreadResolver<'r> {
    worker: Worker<'r>,
    found: Resolved,
}

impl<'r> ThreadResolver<'r> {
    /// Keys are those of `table`.
    pub(crate) fn new(resolvers: &'r ProjectResolvers<'r>, table: &'r dyn TargetTable) -> Self {
        Self { worker: resolvers.worker(table), found: Resolved::default() }
    }

    /// Resolves all requests of a file; also returns problems with their targets. `path` is absolute, `display` the name in
    /// problems.
    pub(crate) fn resolve_file(
        &mut self,
        path: &str,
        display: &str,
        facts: &FileFacts,
    ) -> (ResolvedFile, Vec<Problem>) {
        let Self { worker, found } = self;
        worker.resolve(path, facts, Wanted::Everything, found);
        let mut file = ResolvedFile::default();
        // These lists stay in memory for the whole run, so reserve exactly. In Rust code, few paths result in an edge.
        let edges = found.answers.iter().filter(|answer| matches!(answer, Answer::File(_) | Answer::Other(_))).count();
        file.edges.reserve_exact(edges + found.matches.len());
        file.targets.reserve_exact(facts.requests.len());
        let mut excluded = 0;
        for ((request, answer), at) in facts.requests.iter().zip(&found.answers).zip(0..) {
            file.targets.push(one_file(answer));
            match answer {
                Answer::File(key) | Answer::Other(key) => file.edges.push((*key, request.kind)),
                Answer::Files(keys) => file.packages.push((at, keys.clone())),
                Answer::Excluded => excluded += 1,
                Answer::Nothing => {}
            }
        }
        file.edges.extend_from_slice(&found.matches);
        file.implementations.extend_from_slice(&found.implementations);
        let mut problems: Vec<Problem> = found.problems.drain(..).map(|problem| problem.in_file(display)).collect();
        if excluded > 0 {
            problems.push(Problem::excluded_imports(excluded));
        }
        (file, problems)
    }

    /// Resolves only the requests that exports come from. For external files: tunnelling follows nothing else.
    pub(crate) fn resolve_reexports(&mut self, path: &str, facts: &FileFacts) -> ResolvedFile {
        self.worker.resolve(path, facts, Wanted::Reexports, &mut self.found);
        ResolvedFile { targets: self.found.answers.iter().map(one_file).collect(), ..ResolvedFile::default() }
    }

    /// The files that the requests of a file resolve to, each with the kind of its request.
    pub(crate) fn files_of(&mut self, path: &str, facts: &FileFacts) -> impl Iterator<Item = (FileKey, EdgeKind)> {
        self.worker.resolve(path, facts, Wanted::Requests, &mut self.found);
        let requests = facts.requests.iter().zip(&self.found.answers);
        requests.filter_map(|(request, answer)| Some((one_file(answer)?, request.kind)))
    }
}

fn one_file(answer: &Answer) -> Option<FileKey> {
    match answer {
        Answer::File(key) => Some(*key),
        Answer::Files(_) | Answer::Other(_) | Answer::Excluded | Answer::Nothing => None,
    }
}
