//! Resolves the requests of consecutive files on one thread. Files of a directory request many of the same modules, so the
//! answers for the last directory are cached, which needs no lock and little memory.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use stan_model::facts::{FormCode, GlobRequest, Request};
use stan_model::{EdgeKind, FileFacts, FileProblem, Weight};

use crate::language::{Answer, FileResolver, Resolved, Target, TargetTable, Wanted};
use crate::typescript::globs;

use super::refused::Refused;
use super::{Importer, Located, Resolver, path};

/// The problem of a configuration whose rules are stricter than a bundler's.
const LENIENT: &str = "its rules (`moduleResolution` node16 or nodenext) reject specifiers that resolve to files, such as \
                       imports without an extension; those were resolved by a bundler's rules";

/// The answers of a file with more requests are not cached: other files rarely request the same modules.
const MAX_REQUESTS: usize = 64;

/// In a directory with files of more endings, the cache is cleared from time to time.
const MAX_IMPORTERS: usize = 8;

/// The maximum number of cached specifiers.
const MAX_SPECIFIERS: usize = 1 << 12;

pub(super) struct TypeScriptFileResolver<'r> {
    resolver: &'r Resolver<'r>,
    table: &'r dyn TargetTable,
    cache: ResolutionCache,
}

/// The importers of the last directory, one per ending, with their answers.
#[derive(Default)]
struct ResolutionCache {
    importers: Vec<(Importer, AnswersBySpecifier)>,
}

/// Answers by specifier, then by form.
#[derive(Default)]
struct AnswersBySpecifier {
    by_specifier: FxHashMap<Box<str>, Vec<(FormCode, CachedAnswer)>>,
}

/// A cached answer to one request.
#[derive(Clone)]
struct CachedAnswer {
    answer: Answer,
    implementation: Option<Arc<str>>,
    is_lenient: bool,
}

impl<'r> TypeScriptFileResolver<'r> {
    pub(super) fn new(resolver: &'r Resolver<'r>, table: &'r dyn TargetTable) -> Self {
        Self { resolver, table, cache: ResolutionCache::default() }
    }
}

impl FileResolver for TypeScriptFileResolver<'_> {
    fn resolve(&mut self, file: &str, facts: &FileFacts, wanted: Wanted, found: &mut Resolved) {
        let (resolver, table) = (self.resolver, self.table);
        // Created even for files without requests, so that the problems of configurations depend only on the files, not on their
        // imports.
        let (importer, answers) = self.cache.importer(resolver, file);
        if wanted == Wanted::Reexports {
            reexports(resolver, importer, facts, table, found);
            return;
        }
        let mut answers = answers.filter(|_| facts.requests.len() <= MAX_REQUESTS);
        let mut refused = Refused::default();
        let mut is_lenient = false;
        // A declaration file is never executed.
        let runs = !path::is_declaration(file);
        for request in &facts.requests {
            let known = answers.as_ref().and_then(|answers| answers.get(request));
            let known = known.unwrap_or_else(|| {
                let Located { target, implementation, is_lenient } = resolver.resolve(importer, request);
                let known = CachedAnswer { answer: table.answer(&target), implementation, is_lenient };
                match &target {
                    Target::Missing { problem: Some(problem), .. } => {
                        found.problems.extend(refused.take(request, problem));
                    }
                    _ => answers.iter_mut().for_each(|answers| answers.remember(request, &known)),
                }
                known
            });
            is_lenient |= known.is_lenient;
            if let Some(code) = known.implementation.filter(|_| runs && request.kind != EdgeKind::Type)
                && let Answer::File(key) = table.answer(&Target::File(code))
            {
                found.implementations.push((key, request.kind));
            }
            found.answers.push(known.answer);
        }
        found.problems.extend(refused.problem());
        if is_lenient && let Some(config) = &importer.config.file {
            // The same text for each file of a configuration, so that it is reported once.
            let config = resolver.project.relative(config).unwrap_or(config);
            found.problems.push(FileProblem::new(LENIENT).about(config).weighing(Weight::Note));
        }
        if wanted == Wanted::Everything {
            for glob in &facts.globs {
                expand(resolver, file, importer, glob, table, found);
            }
        }
    }
}

/// For an external file, only the requests behind its exports matter: tunnelling follows these.
fn reexports(
    resolver: &Resolver<'_>,
    importer: &Importer,
    facts: &FileFacts,
    table: &dyn TargetTable,
    found: &mut Resolved,
) {
    found.answers.resize(facts.requests.len(), Answer::Nothing);
    let mut is_wanted = vec![false; facts.requests.len()];
    for request in facts.reexported_requests() {
        if let Some(flag) = is_wanted.get_mut(request as usize) {
            *flag = true;
        }
    }
    for ((request, is_wanted), answer) in facts.requests.iter().zip(is_wanted).zip(&mut found.answers) {
        if is_wanted && let target @ Target::File(_) = resolver.resolve(importer, request).target {
            *answer = table.answer(&target);
        }
    }
}

fn expand(
    resolver: &Resolver<'_>,
    file: &str,
    importer: &Importer,
    glob: &GlobRequest,
    table: &dyn TargetTable,
    found: &mut Resolved,
) {
    let project = resolver.project;
    let package = resolver.package_of(file);
    let package = package.as_deref().and_then(|directory| project.relative(directory)).unwrap_or("");
    let patterns = resolver.glob_patterns(importer, &glob.patterns);
    let display = project.relative(file).unwrap_or(file);
    let expansion = globs::expand(project.universe, display, package, &patterns, glob.with_hidden);
    found.matches.extend(expansion.matches.into_iter().map(|index| (table.listed(index), EdgeKind::Dynamic)));
    found.problems.extend(expansion.problem.map(|problem| FileProblem::at(glob.line, problem)));
}

impl ResolutionCache {
    /// The importer for a file, and the cached answers; `None` if the answers are valid only for this file.
    fn importer(&mut self, resolver: &Resolver<'_>, file: &str) -> (&Importer, Option<&mut AnswersBySpecifier>) {
        if !self.importers.first().is_some_and(|(importer, _)| importer.is_beside(file)) {
            self.importers.clear();
        }
        let at = match self.importers.iter().position(|(importer, _)| importer.serves(file)) {
            Some(at) => at,
            None => {
                if self.importers.len() >= MAX_IMPORTERS {
                    self.importers.clear();
                }
                self.importers.push((resolver.importer(file), AnswersBySpecifier::default()));
                self.importers.len() - 1
            }
        };
        let (importer, answers) = &mut self.importers[at];
        (importer, importer.is_shared().then_some(answers))
    }
}

impl AnswersBySpecifier {
    fn get(&self, request: &Request) -> Option<CachedAnswer> {
        let answers = self.by_specifier.get(&request.specifier)?;
        answers.iter().find(|(form, _)| *form == request.form).map(|(_, known)| known.clone())
    }

    fn remember(&mut self, request: &Request, known: &CachedAnswer) {
        if self.by_specifier.len() < MAX_SPECIFIERS {
            let answers = self.by_specifier.entry(request.specifier.clone()).or_default();
            answers.push((request.form, known.clone()));
        }
    }
}
