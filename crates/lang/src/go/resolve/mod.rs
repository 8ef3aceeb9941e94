//! Resolves import paths to the files of packages, by the rules of Go modules: the standard library, the module around the file,
//! other modules of the repository (`replace`, `go.work`, nested ones), `vendor` folders, and the module cache in the versions
//! that `go.mod` requires and `go.sum` lists. All file access goes through a `Files` view.
//!
//! Build constraints are ignored: a package contains the files of its folder for all systems.

mod manifest;
mod modules;
mod sums;
#[cfg(test)]
mod tests;

use std::hash::BuildHasher as _;
use std::sync::Arc;

use rustc_hash::{FxBuildHasher, FxHashMap};
use stan_model::{Ecosystem, EdgeKind, FileFacts, FileKey, Problem, RepoPath, Resolution};
use stan_repo::{EntryKind, Files};

use self::modules::{Module, Modules, Source, prefixes};
use crate::language::{
    Answer, FactsOf, FileResolver, NameEdge, NamedFile, ProjectResolver, Resolved, Target, TargetTable, Wanted,
};
use crate::memo::Memo;
use crate::packages::{PackageFolder, PackageProof, PackageVersion, version_of};
use crate::paths::{contains, join_plain, parent};
use crate::project::Project;

/// The first components of standard library paths. Any other path without a dot belongs to an unpublished module.
#[rustfmt::skip]
const STANDARD: [&str; 51] = [
    "archive", "arena", "bufio", "builtin", "bytes", "cmp", "compress", "container", "context", "crypto", "database", "debug",
    "embed", "encoding", "errors", "expvar", "flag", "fmt", "go", "hash", "html", "image", "index", "internal", "io", "iter",
    "log", "maps", "math", "mime", "net", "os", "path", "plugin", "reflect", "regexp", "runtime", "slices", "sort", "strconv",
    "strings", "structs", "sync", "syscall", "testing", "text", "time", "unicode", "unique", "unsafe", "weak",
];

/// The project of one run.
pub struct Resolver<'f> {
    project: &'f Project<'f>,
    files: &'f dyn Files,
    root: Box<str>,
    modules: Modules<'f>,
    /// The `vendor` folders of a folder and its parents.
    vendors: Memo<String, Arc<[String]>>,
    /// By the folders of the module and of the vendored packages.
    surroundings: Memo<String, Arc<Surroundings>>,
    /// Files of packages by folder.
    members: Memo<String, Option<Target>>,
    /// Packages of the module cache, by importing module and import path.
    cached: Memo<String, Option<Target>>,
    /// The names that the files of a folder declare.
    scopes: Memo<String, Arc<FolderScope>>,
    /// The names that the files of a package declare, by these files.
    packages: Memo<Vec<FileKey>, Arc<Scope>>,
}

/// Everything about a repository folder that the meaning of import paths depends on. Shared by most folders of a module.
struct Surroundings {
    module: Option<Arc<Module>>,
    /// The nearest first.
    vendors: Arc<[String]>,
    /// Targets of import paths, except those relative to the importing folder.
    known: Memo<String, Target>,
}

/// The files of a folder: those of the package that others import, which share one scope, and the rest (tests).
struct FolderScope {
    package: Arc<Scope>,
    others: Scope,
}

/// Files, and which of them declare a name.
#[derive(Default)]
struct Scope {
    files: Vec<ScopeFile>,
    /// Package names; few folders have more than two.
    packages: Vec<Option<Box<str>>>,
    /// By the hash of a name, the index of its last entry in `entries`. The text is compared in the facts, and only on lookup: a
    /// package declares far more names than are looked up.
    declaring: FxHashMap<u64, u32>,
    entries: Vec<ScopeEntry>,
}

struct ScopeFile {
    key: FileKey,
    /// The index of its package name.
    package: u32,
    is_test: bool,
}

/// One declaration of a name in a file.
#[derive(Clone, Copy)]
struct ScopeEntry {
    file: u32,
    /// The index among the file's declared names.
    name: u32,
    /// The previous entry with the same hash.
    before: u32,
}

/// A file that is added to a scope.
struct DeclaringFile<'f> {
    key: FileKey,
    facts: &'f FileFacts,
    is_test: bool,
}

/// The end of a list of entries.
const END: u32 = u32::MAX;

impl Scope {
    fn new(files: &[DeclaringFile<'_>]) -> Self {
        let mut scope = Self::default();
        scope.files.reserve_exact(files.len());
        scope.entries.reserve_exact(files.iter().map(|file| file.facts.declares.len()).sum());
        // Files for different systems declare the same names, so the largest file gives a good estimate.
        scope.declaring.reserve(files.iter().map(|file| file.facts.declares.len()).max().unwrap_or(0));
        files.iter().for_each(|file| scope.add(file));
        scope
    }

    fn add(&mut self, added: &DeclaringFile<'_>) {
        let DeclaringFile { key, facts: declared, is_test } = *added;
        let file = self.files.len() as u32;
        let package = self.package(&declared.package).unwrap_or_else(|| {
            self.packages.push(declared.package.clone());
            self.packages.len() as u32 - 1
        });
        self.files.push(ScopeFile { key, package, is_test });
        for (index, name) in (0..).zip(&declared.declares) {
            let entry = self.entries.len() as u32;
            let before = self.declaring.insert(FxBuildHasher.hash_one(&**name), entry).unwrap_or(END);
            self.entries.push(ScopeEntry { file, name: index, before });
        }
    }

    fn package(&self, name: &Option<Box<str>>) -> Option<u32> {
        self.packages.iter().position(|known| known == name).map(|index| index as u32)
    }

    fn is_named(&self, entry: &ScopeEntry, name: &str, facts: &dyn FactsOf) -> bool {
        let file = self.files.get(entry.file as usize);
        let declared = file.and_then(|file| facts.facts(file.key));
        declared.and_then(|facts| facts.declares.get(entry.name as usize)).is_some_and(|known| **known == *name)
    }

    /// Calls `found` once for each file that declares one of the names.
    fn declaring<'n>(
        &self,
        names: impl Iterator<Item = &'n str>,
        facts: &dyn FactsOf,
        mut found: impl FnMut(&ScopeFile),
    ) {
        let mut is_seen = vec![false; self.files.len()];
        let mut left = self.files.len();
        for name in names {
            let mut at = self.declaring.get(&FxBuildHasher.hash_one(name)).copied().unwrap_or(END);
            while let Some(entry) = self.entries.get(at as usize) {
                at = entry.before;
                if let (Some(seen), Some(file)) =
                    (is_seen.get_mut(entry.file as usize), self.files.get(entry.file as usize))
                    && !*seen
                    && self.is_named(entry, name, facts)
                {
                    *seen = true;
                    left -= 1;
                    found(file);
                }
            }
            // All members are found: files for different systems declare the same names, so this happens early.
            if left == 0 {
                return;
            }
        }
    }
}

impl<'f> Resolver<'f> {
    pub fn new(project: &'f Project<'f>) -> Self {
        let root = project.root.trim_end_matches('/');
        Self {
            project,
            files: project.files,
            root: if root.is_empty() { "/" } else { root }.into(),
            modules: Modules::new(project, if root.is_empty() { "/" } else { root }),
            vendors: Memo::new(),
            surroundings: Memo::new(),
            members: Memo::new(),
            cached: Memo::new(),
            scopes: Memo::new(),
            packages: Memo::new(),
        }
    }

    /// `around` is the context of the folder if it is in the repository.
    fn resolve(&self, folder: &str, around: Option<&Surroundings>, path: &str) -> Target {
        let missing = || Target::Missing { id: path.into(), problem: None };
        if is_relative(path) {
            let target = join_plain(folder, path);
            let inside = contains(&self.root, &target);
            return inside.then(|| self.package(&target)).flatten().unwrap_or_else(missing);
        }
        if RepoPath::new(path).is_none() {
            return missing();
        }
        let Some(around) = around else {
            return self.inside_cache(folder, path).or_else(|| standard(path)).unwrap_or_else(missing);
        };
        around.known.get_or(path, || {
            let module = around.module.as_deref();
            let vendored = around.vendors.iter().find_map(|vendor| self.package(&join_plain(vendor, path)));
            let found = vendored.or_else(|| self.in_modules(module, path)).or_else(|| standard(path));
            found.unwrap_or_else(|| {
                if let Some(module) = module {
                    self.modules.note_absent(module, path);
                }
                missing()
            })
        })
    }

    /// The context of a folder; `None` outside the repository.
    fn surroundings(&self, folder: &str) -> Option<Arc<Surroundings>> {
        if !contains(&self.root, folder) {
            return None;
        }
        let (module, vendors) = (self.modules.around(folder), self.vendors(folder));
        let mut key = module.as_ref().map_or("", |module| &*module.folder).to_owned();
        for vendor in &*vendors {
            key.push('\0');
            key.push_str(vendor);
        }
        Some(self.surroundings.get_or(&*key, || Arc::new(Surroundings { module, vendors, known: Memo::new() })))
    }

    /// The `vendor` folders of a folder and its parents, the nearest first.
    fn vendors(&self, folder: &str) -> Arc<[String]> {
        self.vendors.get_or(folder, || {
            let mut found = Vec::new();
            let mut current = folder;
            while contains(&self.root, current) {
                let vendor = join_plain(current, "vendor");
                if self.files.is_dir(&vendor) {
                    found.push(vendor);
                }
                if *current == *self.root {
                    break;
                }
                current = parent(current);
            }
            found.into()
        })
    }

    fn in_modules(&self, module: Option<&Module>, path: &str) -> Option<Target> {
        if let Some(module) = module {
            if let Some(below) = below(path, &module.path) {
                return self.package(&join_plain(&module.folder, below));
            }
            for prefix in prefixes(path) {
                if let Some(Source::Folder(replaced)) = self.modules.source(module, prefix) {
                    let target = join_plain(&replaced, below(path, prefix)?);
                    return contains(&self.root, &target).then(|| self.package(&target)).flatten();
                }
            }
        }
        // The repository's module with the longest matching path.
        let all = self.modules.all();
        if let Some(prefix) = prefixes(path).find(|prefix| all.contains_key(*prefix)) {
            return self.package(&join_plain(all.get(prefix)?, below(path, prefix)?));
        }
        // The path of a published module starts with a domain name.
        if is_standard(path) { None } else { self.required(module?, path) }
    }

    /// A package in the module cache, of a module that `module` requires.
    fn required(&self, module: &Module, path: &str) -> Option<Target> {
        self.cached.get_or(&[&module.folder, "\0", path].concat(), || {
            prefixes(path).find_map(|prefix| match self.modules.source(module, prefix)? {
                Source::Version(name, version) => {
                    let folder = self.modules.cached(module, name, version)?;
                    self.cached_package(&folder, below(path, prefix)?)
                }
                Source::Folder(_) => None,
            })
        })
    }

    /// The target of an import in a file of the module cache: in its own module, or in another one in the version that the
    /// repository requires.
    fn inside_cache(&self, folder: &str, path: &str) -> Option<Target> {
        let file = self.project.stores.file_at(&join_plain(folder, "x.go"))?;
        let package = version_of(&file);
        match below(path, &file.name) {
            Some(below) if self.proof_of(&package).is_some() => {
                self.cached_package(&self.project.package(&package)?, below)
            }
            _ => self.required(&*self.modules.main()?, path),
        }
    }

    /// The files of a package in the module cache, without following symlinks.
    fn cached_package(&self, folder: &PackageFolder<'_>, below: &str) -> Option<Target> {
        let path = join_plain(&folder.path, below);
        self.members.get_or(&*path, || {
            let names = folder.list(below).into_iter().filter(|(name, kind)| is_member(name, *kind));
            members(names.map(|(name, _)| join_plain(&path, &name).into()).collect())
        })
    }

    /// The files of a package that importers get: all but tests.
    fn package(&self, folder: &str) -> Option<Target> {
        self.members.get_or(folder, || {
            let names = self.files.list(folder).into_iter().filter(|(name, kind)| is_member(name, *kind));
            let paths = names.filter_map(|(name, _)| self.files.real_path(&join_plain(folder, &name)).map(Arc::from));
            members(paths.collect())
        })
    }

    /// The scope of a folder's files.
    fn scope(&self, folder: &str, facts: &dyn FactsOf) -> Arc<FolderScope> {
        self.scopes.get_or(folder, || {
            let (mut members, mut others) = (Vec::new(), Vec::new());
            for (name, kind) in self.files.list(folder) {
                if kind != EntryKind::File || !name.ends_with(".go") {
                    continue;
                }
                let key = facts.key_of(&join_plain(folder, &name));
                match key.and_then(|key| Some((key, facts.facts(key)?))) {
                    Some((key, _)) if is_member(&name, kind) => members.push(key),
                    Some((key, facts)) => others.push(DeclaringFile { key, facts, is_test: is_test(&name) }),
                    None => {}
                }
            }
            Arc::new(FolderScope { package: self.package_scope(&members, facts), others: Scope::new(&others) })
        })
    }

    /// The scope of a package's files.
    fn package_scope(&self, members: &[FileKey], facts: &dyn FactsOf) -> Arc<Scope> {
        self.packages.get_or(members, || {
            let known = members
                .iter()
                .filter_map(|key| Some(DeclaringFile { key: *key, facts: facts.facts(*key)?, is_test: false }));
            Arc::new(Scope::new(&known.collect::<Vec<_>>()))
        })
    }

    /// The files of imported packages that declare a name which the file takes from them, or all files if none does. Gives the
    /// edges of `name_links::link`, but looks up each name once instead of once per file.
    fn imported(&self, file: &NamedFile<'_>, facts: &dyn FactsOf) -> Vec<NameEdge> {
        let mut edges = Vec::new();
        let mut taken: Vec<(u32, &str)> = Vec::new();
        if !file.packages.is_empty() {
            taken.extend(file.facts.imports.iter().map(|import| (import.request, &*import.name)));
            taken.sort_unstable_by_key(|(request, _)| *request);
        }
        for (request, members) in file.packages {
            let scope = self.package_scope(members, facts);
            let from = taken.partition_point(|(of, _)| of < request);
            let names = taken.iter().skip(from).take_while(|(of, _)| of == request).map(|(_, name)| *name);
            let before = edges.len();
            scope.declaring(names, facts, |one| edges.push(explicit(one.key)));
            if edges.len() == before {
                edges.extend(members.iter().map(|member| explicit(*member)));
            }
        }
        edges
    }
}

fn explicit(target: FileKey) -> NameEdge {
    NameEdge { target, kind: EdgeKind::Runtime, resolution: Resolution::Explicit }
}

impl ProjectResolver for Resolver<'_> {
    fn worker<'r>(&'r self, table: &'r dyn TargetTable) -> Box<dyn FileResolver + 'r> {
        let (folder, around, known) = (String::new(), None, FxHashMap::default());
        Box::new(GoFileResolver { resolver: self, table, folder, around, known })
    }

    fn package_of(&self, _: &str) -> Option<String> {
        None
    }

    fn package_files(&self, file: &str) -> Vec<String> {
        let folder = parent(file);
        let files = self.project.view_of(file);
        let clause = |path: &str| files.read(path).and_then(|bytes| package_clause(&bytes).map(str::to_owned));
        let Some(package) = clause(file) else { return Vec::new() };
        let names = files.list(folder).into_iter().filter(|(name, kind)| {
            *kind == EntryKind::File && name.ends_with(".go") && (is_test(file) || !is_test(name))
        });
        let paths = names.map(|(name, _)| join_plain(folder, &name));
        paths.filter(|path| path != file && clause(path).as_deref() == Some(&*package)).collect()
    }

    fn link_by_name(&self, file: &NamedFile<'_>, facts: &dyn FactsOf, _: &dyn TargetTable) -> Vec<NameEdge> {
        let mut edges = self.imported(file, facts);
        let scope = self.scope(parent(file.path), facts);
        let asks_from_test = is_test(file.path);
        for scope in [&*scope.package, &scope.others] {
            let Some(own) = scope.package(&file.facts.package) else { continue };
            scope.declaring(file.facts.uses.iter().map(|name| &**name), facts, |one| {
                if one.package == own && (asks_from_test || !one.is_test) {
                    edges.push(NameEdge { resolution: Resolution::Implicit, ..explicit(one.key) });
                }
            });
        }
        edges.retain(|edge| edge.target != file.key);
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    fn proof_of(&self, package: &PackageVersion) -> Option<PackageProof> {
        if package.ecosystem != Ecosystem::Go {
            return None;
        }
        let hashes = self.modules.hashes(&package.name, &package.version);
        (!hashes.is_empty()).then(|| PackageProof::Folder(hashes.to_vec()))
    }

    fn finish(&self) -> Vec<Problem> {
        self.modules.problems()
    }
}

struct GoFileResolver<'r> {
    resolver: &'r Resolver<'r>,
    table: &'r dyn TargetTable,
    folder: String,
    around: Option<Arc<Surroundings>>,
    /// Answers that depend only on the context: files of one module import many of the same packages.
    known: FxHashMap<Box<str>, Answer>,
}

impl GoFileResolver<'_> {
    fn enter(&mut self, folder: &str) {
        if self.folder == folder {
            return;
        }
        folder.clone_into(&mut self.folder);
        let around = self.resolver.surroundings(folder);
        let is_same = matches!((&around, &self.around), (Some(around), Some(before)) if Arc::ptr_eq(around, before));
        if !is_same {
            self.known.clear();
        }
        self.around = around;
    }

    fn answer(&mut self, path: &str) -> Answer {
        if let Some(known) = self.known.get(path) {
            return known.clone();
        }
        let target = self.resolver.resolve(&self.folder, self.around.as_deref(), path);
        let answer = self.table.answer(&target);
        if !is_relative(path) {
            self.known.insert(path.into(), answer.clone());
        }
        answer
    }
}

impl FileResolver for GoFileResolver<'_> {
    fn resolve(&mut self, file: &str, facts: &FileFacts, wanted: Wanted, found: &mut Resolved) {
        if wanted == Wanted::Reexports {
            // Go has no re-exports.
            found.answers.resize(facts.requests.len(), Answer::Nothing);
            return;
        }
        self.enter(parent(file));
        for request in &facts.requests {
            let answer = self.answer(&request.specifier);
            found.answers.push(answer);
        }
    }
}

/// Whether an import path is relative to the importing folder.
fn is_relative(path: &str) -> bool {
    path.starts_with("./") || path.starts_with("../") || path == "." || path == ".."
}

/// Resolves a package of the standard library.
fn standard(path: &str) -> Option<Target> {
    is_standard(path).then(|| Target::Builtin(["go:", path].concat().into()))
}

fn is_standard(path: &str) -> bool {
    STANDARD.binary_search(&path.split('/').next().unwrap_or(path)).is_ok()
}

fn is_member(name: &str, kind: EntryKind) -> bool {
    kind == EntryKind::File && name.ends_with(".go") && !is_test(name) && !name.starts_with(['_', '.'])
}

fn members(members: Vec<Arc<str>>) -> Option<Target> {
    match members.as_slice() {
        [] => None,
        [one] => Some(Target::File(one.clone())),
        _ => Some(Target::Files(members.into())),
    }
}

fn is_test(path: &str) -> bool {
    path.ends_with("_test.go")
}

/// The name in the package clause. Only comments may precede it.
fn package_clause(bytes: &[u8]) -> Option<&str> {
    let mut rest = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    loop {
        rest = rest.trim_ascii_start();
        if rest.starts_with(b"//") {
            rest = rest.get(memchr::memchr(b'\n', rest)?..)?;
        } else if rest.starts_with(b"/*") {
            rest = rest.get(memchr::memmem::find(rest, b"*/")? + 2..)?;
        } else {
            break;
        }
    }
    let name = rest.strip_prefix(b"package")?.trim_ascii_start();
    let end = name.iter().position(|byte| byte.is_ascii_whitespace() || matches!(byte, b';' | b'/'));
    std::str::from_utf8(name.get(..end.unwrap_or(name.len()))?).ok().filter(|name| !name.is_empty())
}

/// The part of a path after a module path; empty for the module itself.
fn below<'p>(path: &'p str, module: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(module)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}
