//! Resolves modules, imports and paths to files: builds the trees of `mod` declarations from the crates of each `Cargo.toml`, and
//! looks up names in them by the rules of the language. All file access goes through a `Files` view.
//!
//! The first pass resolves what depends on one file only: `mod x;` and `include!`. Paths depend on the declarations of other
//! files, so their edges are added in the second pass, from the facts of all files. For single files (in packs), only the package
//! around them is read instead.

mod alone;
mod forest;
mod lock;
mod manifest;
mod names;
mod packages;
mod segments;
mod standard;

use std::sync::{Arc, OnceLock};

use stan_model::facts::Request;
use stan_model::{Ecosystem, EdgeKind, FileFacts, FileKey, Problem, Resolution};
use stan_repo::Files;

use self::alone::ReadFacts;
use self::forest::{Forest, ModuleId, OutsideId};
use self::names::{Meaning, PathResolver};
use self::packages::Packages;
use self::standard::Standard;
use super::form::Form;
use crate::language::{
    Answer, FactsOf, FileResolver, NameEdge, NamedFile, ProjectResolver, Resolved, Target, TargetTable, Wanted,
};
use crate::memo::Memo;
use crate::packages::{PackageProof, PackageVersion};
use crate::paths::{base_name, contains, join_plain, parent};
use crate::project::Project;

/// The project of one run.
pub struct Resolver<'f> {
    project: &'f Project<'f>,
    files: &'f dyn Files,
    packages: Packages<'f>,
    forest: OnceLock<Forest>,
    /// For requests of single files.
    read: OnceLock<ReadFacts>,
    forests: Memo<String, Arc<Forest>>,
}

impl<'f> Resolver<'f> {
    pub fn new(project: &'f Project<'f>) -> Self {
        Self {
            project,
            files: project.files,
            packages: Packages::new(project),
            forest: OnceLock::new(),
            read: OnceLock::new(),
            forests: Memo::new(),
        }
    }

    /// The file of a `mod` declaration. The error is the first path that it could have.
    fn module_file(&self, file: &str, request: &Request) -> Result<Arc<str>, String> {
        let (form, depth) = Form::of(request.form);
        let folder = parent(file);
        let own = self.module_folder(file);
        let found = |path: &String| contains(&self.packages.root, path) && self.files.is_file(path);
        if form == Form::ModulePath {
            let path = join_plain(if depth == 0 { folder } else { &own }, &request.specifier);
            return Some(path.clone()).filter(found).and_then(|path| self.real_file(&path)).ok_or(path);
        }
        let stem = join_plain(&own, &request.specifier);
        let first = [&stem, ".rs"].concat();
        if found(&first) {
            return self.real_file(&first).ok_or(first);
        }
        // The submodules of a file loaded with `#[path]` are in the file's own folder.
        let in_file_folder = || (*own != *folder).then(|| join_plain(folder, &request.specifier));
        let mut others = std::iter::once([&stem, "/mod.rs"].concat()).chain(
            std::iter::once_with(in_file_folder)
                .flatten()
                .flat_map(|stem| [[&stem, ".rs"].concat(), [&stem, "/mod.rs"].concat()]),
        );
        others.find(found).and_then(|path| self.real_file(&path)).ok_or(first)
    }

    /// The folder for the submodules of a file.
    fn module_folder(&self, file: &str) -> String {
        let folder = parent(file);
        if base_name(file) == "mod.rs" || self.packages.is_root(file) {
            return folder.to_owned();
        }
        file.strip_suffix(".rs").unwrap_or(folder).to_owned()
    }

    fn include_target(&self, file: &str, request: &Request) -> Target {
        let (_, depth) = Form::of(request.form);
        let manifest = self.packages.around(parent(file));
        let base = match (depth, &manifest) {
            (0, _) => parent(file),
            (_, Some(manifest)) => &manifest.folder,
            (_, None) => return Target::Nothing,
        };
        let relative = if depth == 0 { &*request.specifier } else { request.specifier.trim_start_matches('/') };
        if relative.starts_with('/') {
            return Target::Nothing;
        }
        self.file_target(join_plain(base, relative))
    }

    fn file_target(&self, path: String) -> Target {
        let inside = contains(&self.packages.root, &path);
        match (inside && self.files.is_file(&path)).then(|| self.real_file(&path)).flatten() {
            Some(real) => Target::File(real),
            None => self.missing(&path),
        }
    }

    fn missing(&self, path: &str) -> Target {
        match self.project.relative(path) {
            Some(inside) => Target::Missing { id: inside.into(), problem: None },
            None => Target::Nothing,
        }
    }

    fn real_file(&self, path: &str) -> Option<Arc<str>> {
        self.files.real_path(path).filter(|real| !self.is_hidden(real)).map(Into::into)
    }

    /// stan's own folder is hidden, except for `system` and `imports`.
    fn is_hidden(&self, real: &str) -> bool {
        let below = real.strip_prefix(&*self.project.stan_folder).and_then(|rest| rest.strip_prefix('/'));
        below.is_some_and(|below| !below.starts_with("system/") && !below.starts_with("imports/"))
    }

    /// Resolves requests that need no other file; `None` for paths.
    fn alone(&self, file: &str, request: &Request) -> Option<Target> {
        match Form::of(request.form).0 {
            Form::Module => Some(match self.module_file(file, request) {
                Ok(path) => Target::File(path),
                Err(path) => self.missing(&path),
            }),
            Form::ModulePath | Form::OptionalModule => {
                Some(self.module_file(file, request).map_or(Target::Nothing, Target::File))
            }
            Form::Include => Some(self.include_target(file, request)),
            Form::Use | Form::Path | Form::Extern | Form::Macro => None,
        }
    }
}

impl ProjectResolver for Resolver<'_> {
    fn worker<'r>(&'r self, table: &'r dyn TargetTable) -> Box<dyn FileResolver + 'r> {
        Box::new(RustFileResolver { resolver: self, table })
    }

    /// The folder of the package.
    fn package_of(&self, file: &str) -> Option<String> {
        self.packages.around(parent(file)).map(|manifest| manifest.folder.to_string())
    }

    fn link_by_name(&self, file: &NamedFile<'_>, facts: &dyn FactsOf, table: &dyn TargetTable) -> Vec<NameEdge> {
        let forest = self.forest.get_or_init(|| forest::build(self, facts));
        let Some(module) = forest.by_file.get(file.path).copied() else { return Vec::new() };
        let names = PathResolver::new(self, forest, facts);
        let (found, builtins, outside) = (Vec::new(), Vec::new(), Vec::new());
        let mut edges = Edges { file: file.key, forest, table, found, builtins, outside };
        for request in &file.facts.requests {
            let form = Form::of(request.form).0;
            if !matches!(form, Form::Use | Form::Path | Form::Extern | Form::Macro)
                || Form::item_call(request).is_some()
            {
                continue;
            }
            let walked = names.request(module, request);
            for meaning in &walked.named {
                let is_module = matches!(meaning, Meaning::Module(id) if forest.module(*id).map(|named| named.krate) == forest.module(module).map(|own| own.krate));
                // Exported macros are named through the crate root, which is not the module that defines them.
                if form != Form::Macro || !is_module {
                    edges.add(meaning, Resolution::Explicit);
                }
            }
            for meaning in
                walked.means.iter().filter(|meaning| matches!(meaning, Meaning::Item(_) | Meaning::Module(_)))
            {
                edges.add(meaning, Resolution::Implicit);
            }
        }
        edges.add_macros(module, file.facts);
        edges.finish()
    }

    /// A lock file contains the SHA-256 of the crate's archive.
    fn proof_of(&self, package: &PackageVersion) -> Option<PackageProof> {
        if package.ecosystem != Ecosystem::Crates {
            return None;
        }
        let checksums = self.packages.checksums(&package.name, &package.version);
        (!checksums.is_empty()).then_some(PackageProof::Archive(checksums))
    }

    fn finish(&self) -> Vec<Problem> {
        Vec::new()
    }
}

struct Edges<'e> {
    file: FileKey,
    forest: &'e Forest,
    table: &'e dyn TargetTable,
    found: Vec<NameEdge>,
    /// Keys of builtins and of other crates. Memoised: a file refers to few of them, but often.
    builtins: Vec<(Standard, Option<FileKey>)>,
    outside: Vec<(OutsideId, Option<FileKey>)>,
}

impl Edges<'_> {
    fn builtin(&mut self, krate: Standard) -> Option<FileKey> {
        if let Some((_, known)) = self.builtins.iter().find(|(known, _)| *known == krate) {
            return *known;
        }
        let key = self.key(&Target::Builtin(["rust:", krate.name()].concat().into()));
        self.builtins.push((krate, key));
        key
    }

    fn outside(&mut self, id: OutsideId) -> Option<FileKey> {
        if let Some((_, known)) = self.outside.iter().find(|(known, _)| *known == id) {
            return *known;
        }
        let key = self.forest.outside_crate(id).and_then(|outside| self.key(&outside.target()));
        self.outside.push((id, key));
        key
    }

    fn add(&mut self, meaning: &Meaning, resolution: Resolution) {
        let target = match meaning {
            Meaning::Module(id) | Meaning::Item(id) => self.forest.module(*id).map(|module| module.key),
            Meaning::Outside(id) => self.outside(*id),
            Meaning::Builtin(krate) => self.builtin(*krate),
        };
        if let Some(target) = target.filter(|target| *target != self.file) {
            let edge = NameEdge { target, kind: EdgeKind::Runtime, resolution };
            // Consecutive names often come from the same module.
            if self.found.last() != Some(&edge) {
                self.found.push(edge);
            }
        }
    }

    fn key(&self, target: &Target) -> Option<FileKey> {
        match self.table.answer(target) {
            Answer::File(key) | Answer::Other(key) => Some(key),
            Answer::Files(_) | Answer::Excluded | Answer::Nothing => None,
        }
    }

    /// Adds edges for calls, without a path, of macros that another file of the crate defines.
    fn add_macros(&mut self, module: ModuleId, facts: &FileFacts) {
        let Some(krate) = self.forest.crate_of(module) else { return };
        for name in &facts.uses {
            let is_bound =
                facts.scopes.iter().any(|scope| scope.bindings.binary_search_by(|known| known.name.cmp(name)).is_ok());
            let defining = krate.macros.get(name).filter(|_| !is_bound);
            for file in defining.into_iter().flatten().copied().collect::<Vec<_>>() {
                self.add(&Meaning::Item(file), Resolution::Implicit);
            }
        }
    }

    /// Removes implicit edges that are also explicit.
    fn finish(mut self) -> Vec<NameEdge> {
        self.found.sort_unstable_by_key(|edge| (edge.target, edge.resolution));
        self.found.dedup_by_key(|edge| edge.target);
        self.found
    }
}

struct RustFileResolver<'r> {
    resolver: &'r Resolver<'r>,
    table: &'r dyn TargetTable,
}

impl FileResolver for RustFileResolver<'_> {
    fn resolve(&mut self, file: &str, facts: &FileFacts, wanted: Wanted, found: &mut Resolved) {
        if wanted == Wanted::Reexports {
            found.answers.resize(facts.requests.len(), Answer::Nothing);
            return;
        }
        let around = (wanted == Wanted::Requests).then(|| self.resolver.around(file));
        for request in &facts.requests {
            let target = self.resolver.alone(file, request).or_else(|| around.as_ref()?.target(file, request));
            found.answers.push(target.map_or(Answer::Nothing, |target| self.table.answer(&target)));
        }
    }
}
