//! A project: what every language resolves against. Opened once per run, full or incremental.

use stan_model::{FileFacts, Problem};
use stan_repo::{AbsPath, Files};

use crate::language::{
    FactsOf, FileResolver, Languages, NameEdge, NamedFile, ProjectResolver, Resolved, TargetTable, Wanted,
};
use crate::packages::{PackageFolder, PackageProof, PackageStores, PackageVersion};

/// The environment of resolution.
pub struct Project<'p> {
    /// Absolute real path of the repository.
    pub root: &'p str,
    /// The file system, restricted to what resolution may see.
    pub files: &'p dyn Files,
    /// The files of the repository.
    pub universe: &'p dyn FileList,
    pub options: ResolveOptions,
    /// Absolute path of stan's own folder, which resolution must not see: what stan writes must not change its answers.
    pub stan_folder: String,
    /// Where the package managers of this user store downloads.
    pub stores: &'p PackageStores,
}

impl<'p> Project<'p> {
    /// The folder of a package outside the root. Only call it for a version that a lock file of the repository names, see
    /// [`ProjectResolver::proof_of`].
    pub fn package(&self, package: &PackageVersion) -> Option<PackageFolder<'p>> {
        self.stores.package(self.files, package)
    }

    /// The view to read a path through: that of the store that contains it, otherwise the project's.
    pub fn view_of(&self, path: &str) -> &'p dyn Files {
        // A file of the repository is never a file of a store, even if the user keeps a store below the root.
        let store = self.stores.iter().find(|store| AbsPath::new(&store.folder).below(path).is_some());
        store
            .filter(|_| self.relative(path).is_none())
            .and_then(|store| self.files.store(&store.folder))
            .unwrap_or(self.files)
    }

    /// The part of an absolute path below the root.
    pub fn relative<'a>(&self, path: &'a str) -> Option<&'a str> {
        AbsPath::new(self.root).below(path)
    }
}

/// User options that change answers.
#[derive(Clone, Copy, Debug)]
pub struct ResolveOptions {
    /// Whether files outside the repository (and outside `node_modules`) may be dependencies.
    pub outside_root: bool,
}

impl Default for ResolveOptions {
    fn default() -> Self {
        Self { outside_root: true }
    }
}

/// Root-relative paths, sorted by bytes.
pub trait FileList: Sync {
    fn len(&self) -> usize;

    /// Empty for an index out of bounds.
    fn path(&self, index: usize) -> &str;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The index of the first path that is not less than `start`: a lower bound.
    fn first_from(&self, start: &str) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.path(middle) < start { low = middle + 1 } else { high = middle }
        }
        low
    }
}

impl dyn FileList + '_ {
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|index| self.path(index))
    }
}

impl FileList for Vec<Box<str>> {
    fn len(&self) -> usize {
        Vec::len(self)
    }

    fn path(&self, index: usize) -> &str {
        self.get(index).map_or("", |path| path)
    }
}

/// A project, resolved by all languages. Each file is resolved by the language that claims it.
pub struct ProjectResolvers<'p> {
    languages: Languages,
    by_language: Vec<Box<dyn ProjectResolver + 'p>>,
}

impl<'p> ProjectResolvers<'p> {
    pub fn open(languages: Languages, project: &'p Project<'p>) -> Self {
        Self { languages, by_language: languages.iter().map(|language| language.open(project)).collect() }
    }

    /// See [`ProjectResolver::prepare`].
    pub fn prepare(&self) {
        self.by_language.iter().for_each(|resolver| resolver.prepare());
    }

    /// See [`ProjectResolver::finish`].
    pub fn finish(&self) -> Vec<Problem> {
        self.by_language.iter().flat_map(|resolver| resolver.finish()).collect()
    }

    /// A worker for one thread, see [`ProjectResolver::worker`].
    pub fn worker<'r>(&'r self, table: &'r dyn TargetTable) -> Worker<'r> {
        Worker { resolvers: self, table, by_language: self.by_language.iter().map(|_| None).collect() }
    }

    /// Whether two files belong to one package, according to the language of the first. False for files outside any package.
    pub fn share_package(&self, one: &str, other: &str) -> bool {
        let Some(resolver) = self.of(one) else { return false };
        resolver.package_of(one).is_some_and(|package| resolver.package_of(other).as_ref() == Some(&package))
    }

    /// See [`ProjectResolver::link_by_name`].
    pub fn link_by_name(&self, file: &NamedFile<'_>, facts: &dyn FactsOf, table: &dyn TargetTable) -> Vec<NameEdge> {
        self.of(file.path).map(|resolver| resolver.link_by_name(file, facts, table)).unwrap_or_default()
    }

    /// See [`ProjectResolver::proof_of`].
    pub fn proof_of(&self, package: &PackageVersion) -> Option<PackageProof> {
        self.by_language.iter().find_map(|resolver| resolver.proof_of(package))
    }

    fn of(&self, path: &str) -> Option<&dyn ProjectResolver> {
        self.by_language.get(self.languages.position(path)?).map(|resolver| &**resolver)
    }
}

/// Resolves files of all languages on one thread.
pub struct Worker<'r> {
    resolvers: &'r ProjectResolvers<'r>,
    table: &'r dyn TargetTable,
    by_language: Vec<Option<Box<dyn FileResolver + 'r>>>,
}

impl Worker<'_> {
    /// See [`ProjectResolver::package_files`].
    pub fn package_files(&self, file: &str) -> Vec<String> {
        self.resolvers.of(file).map(|resolver| resolver.package_files(file)).unwrap_or_default()
    }

    /// Resolves the requests of a file. Clears `found` first. `file` is an absolute path.
    pub fn resolve(&mut self, file: &str, facts: &FileFacts, wanted: Wanted, found: &mut Resolved) {
        found.clear();
        let Some(position) = self.resolvers.languages.position(file) else { return };
        let (Some(place), Some(resolver)) =
            (self.by_language.get_mut(position), self.resolvers.by_language.get(position))
        else {
            return;
        };
        let table = self.table;
        place.get_or_insert_with(|| resolver.worker(table)).resolve(file, facts, wanted, found);
    }
}
