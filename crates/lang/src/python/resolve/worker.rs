//! The requests of one file after the other, on one thread. Files of a folder ask for the same modules, so the answers for the
//! last folder are remembered.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use stan_model::facts::FormCode;
use stan_model::{EdgeKind, FileFacts, FileKey};

use super::{Importer, Resolver};
use crate::language::{Answer, FileResolver, Resolved, Target, TargetTable, Wanted};
use crate::python::form::Form;
use crate::python::is_stub;
use crate::typescript::resolve::path::parent;

/// More answers than this are not remembered.
const MOST_ANSWERS: usize = 1 << 12;

pub(super) struct Worker<'r> {
    resolver: &'r Resolver<'r>,
    table: &'r dyn TargetTable,
    folder: String,
    is_stub: bool,
    answers: FxHashMap<Box<str>, Vec<Known>>,
}

/// An answer that holds for every file of a folder, but for the file that it leads to.
struct Known {
    form: FormCode,
    answer: Answer,
    file: Option<Arc<str>>,
    /// The packages around the module that run before it.
    above: Arc<[FileKey]>,
}

impl Known {
    /// The answer for a file: no module depends on itself.
    fn of(&self, file: &str) -> Answer {
        if self.file.as_deref() == Some(file) { Answer::Nothing } else { self.answer.clone() }
    }
}

impl<'r> Worker<'r> {
    pub(super) fn new(resolver: &'r Resolver<'r>, table: &'r dyn TargetTable) -> Self {
        Self { resolver, table, folder: String::new(), is_stub: false, answers: FxHashMap::default() }
    }

    /// The answer, and the packages around its module.
    fn answer(&mut self, file: &str, specifier: &str, form: FormCode) -> (Answer, Arc<[FileKey]>) {
        let known = self.answers.get(specifier).and_then(|known| known.iter().find(|known| known.form == form));
        if let Some(known) = known {
            return (known.of(file), known.above.clone());
        }
        let importer = Importer { folder: &self.folder, is_stub: self.is_stub };
        let target = self.resolver.resolve(importer, specifier, Form::decode(form));
        let leads_to = if let Target::File(path) = &target { Some(path.clone()) } else { None };
        let above = match (&leads_to, Form::decode(form)) {
            (None, _) | (_, Form::Resource) => Vec::new(),
            (Some(path), form) => self.resolver.packages_above(importer, specifier, form, path),
        };
        let above = above.into_iter().filter_map(|path| match self.table.answer(&Target::File(path.into())) {
            Answer::File(key) => Some(key),
            _ => None,
        });
        let known = Known { form, above: above.collect(), answer: self.table.answer(&target), file: leads_to };
        let answer = (known.of(file), known.above.clone());
        if self.answers.len() < MOST_ANSWERS {
            self.answers.entry(specifier.into()).or_default().push(known);
        }
        answer
    }
}

impl FileResolver for Worker<'_> {
    fn resolve(&mut self, file: &str, facts: &FileFacts, wanted: Wanted, found: &mut Resolved) {
        let (folder, is_stub) = (parent(file), is_stub(file));
        if *folder != *self.folder || is_stub != self.is_stub {
            self.answers.clear();
            folder.clone_into(&mut self.folder);
            self.is_stub = is_stub;
        }
        if wanted == Wanted::Reexports {
            found.answers.resize(facts.requests.len(), Answer::Nothing);
            for request in facts.reexported_requests() {
                let at = request as usize;
                if let (Some(request), Some(Answer::Nothing)) = (facts.requests.get(at), found.answers.get(at)) {
                    let (answer, _) = self.answer(file, &request.specifier, request.form);
                    if let (Answer::File(_), Some(place)) = (&answer, found.answers.get_mut(at)) {
                        *place = answer;
                    }
                }
            }
            return;
        }
        let mut above: Vec<(FileKey, EdgeKind)> = Vec::new();
        for request in &facts.requests {
            let (answer, packages) = self.answer(file, &request.specifier, request.form);
            above.extend(packages.iter().map(|package| (*package, request.kind)));
            found.answers.push(answer);
        }
        if wanted == Wanted::Everything {
            above.sort_unstable();
            above.dedup();
            // What an import names has its edge already.
            let named = facts.requests.iter().zip(&found.answers).filter_map(|(request, answer)| match answer {
                Answer::File(key) => Some((*key, request.kind)),
                _ => None,
            });
            let named: FxHashSet<(FileKey, EdgeKind)> = named.collect();
            found.implementations.extend(above.into_iter().filter(|edge| !named.contains(edge)));
        }
    }
}
