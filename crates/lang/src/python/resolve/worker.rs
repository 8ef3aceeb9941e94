//! Resolves the requests of files on one thread. Files of a folder import many of the same modules, so the answers for the last
//! folder are cached.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use stan_model::facts::FormCode;
use stan_model::{EdgeKind, FileFacts, FileKey};

use super::{Importer, Resolver};
use crate::language::{Answer, FileResolver, Resolved, Target, TargetTable, Wanted};
use crate::paths::parent;
use crate::python::form::Form;
use crate::python::is_stub;

/// The cache is limited to this many answers.
const MAX_ANSWERS: usize = 1 << 12;

pub(super) struct PythonFileResolver<'r> {
    resolver: &'r Resolver<'r>,
    table: &'r dyn TargetTable,
    folder: String,
    is_stub: bool,
    answers: FxHashMap<Box<str>, Vec<FolderAnswer>>,
}

/// An answer that applies to every file of a folder except the target file itself.
struct FolderAnswer {
    form: FormCode,
    answer: Answer,
    file: Option<Arc<str>>,
    /// The packages that contain the module and run before it. Compared by path, because tables may assign several keys to one
    /// file.
    above: Arc<[(Arc<str>, FileKey)]>,
}

impl FolderAnswer {
    /// The answer for a file: no module depends on itself.
    fn of(&self, file: &str) -> ResolvedRequest {
        let answer = if self.file.as_deref() == Some(file) { Answer::Nothing } else { self.answer.clone() };
        ResolvedRequest { answer, file: self.file.clone(), above: self.above.clone() }
    }
}

/// The answer to one request, the target file, and the packages that contain it.
struct ResolvedRequest {
    answer: Answer,
    file: Option<Arc<str>>,
    above: Arc<[(Arc<str>, FileKey)]>,
}

impl<'r> PythonFileResolver<'r> {
    pub(super) fn new(resolver: &'r Resolver<'r>, table: &'r dyn TargetTable) -> Self {
        Self { resolver, table, folder: String::new(), is_stub: false, answers: FxHashMap::default() }
    }

    fn answer(&mut self, file: &str, specifier: &str, form: FormCode) -> ResolvedRequest {
        let known = self.answers.get(specifier).and_then(|known| known.iter().find(|known| known.form == form));
        if let Some(known) = known {
            return known.of(file);
        }
        let importer = Importer { folder: &self.folder, is_stub: self.is_stub };
        let target = self.resolver.resolve(importer, specifier, Form::decode(form));
        let leads_to = if let Target::File(path) = &target { Some(path.clone()) } else { None };
        let above = match (&leads_to, Form::decode(form)) {
            (None, _) | (_, Form::Resource) => Vec::new(),
            (Some(path), form) => self.resolver.packages_above(importer, specifier, form, path),
        };
        let above = above.into_iter().filter_map(|path| {
            let path: Arc<str> = path.into();
            match self.table.answer(&Target::File(path.clone())) {
                Answer::File(key) => Some((path, key)),
                _ => None,
            }
        });
        let known = FolderAnswer { form, above: above.collect(), answer: self.table.answer(&target), file: leads_to };
        let answer = known.of(file);
        if self.answers.len() < MAX_ANSWERS {
            self.answers.entry(specifier.into()).or_default().push(known);
        }
        answer
    }
}

impl FileResolver for PythonFileResolver<'_> {
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
                    let answer = self.answer(file, &request.specifier, request.form).answer;
                    if let (Answer::File(_), Some(place)) = (&answer, found.answers.get_mut(at)) {
                        *place = answer;
                    }
                }
            }
            return;
        }
        let mut above: Vec<(Arc<str>, EdgeKind, FileKey)> = Vec::new();
        // An explicit import already has its edge.
        let mut named: FxHashSet<(Arc<str>, EdgeKind)> = FxHashSet::default();
        for request in &facts.requests {
            let ResolvedRequest { answer, file: leads_to, above: packages } =
                self.answer(file, &request.specifier, request.form);
            found.answers.push(answer);
            if wanted == Wanted::Everything {
                above.extend(packages.iter().map(|(path, key)| (path.clone(), request.kind, *key)));
                named.extend(leads_to.map(|path| (path, request.kind)));
            }
        }
        above.sort_unstable();
        above.dedup_by(|one, other| (&one.0, one.1) == (&other.0, other.1));
        above.retain(|(path, kind, _)| !named.contains(&(path.clone(), *kind)));
        found.implementations.extend(above.into_iter().map(|(_, kind, key)| (key, kind)));
    }
}
