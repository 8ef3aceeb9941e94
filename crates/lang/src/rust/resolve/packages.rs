//! The packages of a repository: which one contains a file, and the location of the library behind a dependency's name.

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;
use stan_model::{Digest, Ecosystem};
use stan_repo::{AbsPath, EntryKind, Files};

use super::lock::{Lock, MAX_LOCK_BYTES};
use super::manifest::{self, Dependency, Manifest, folders_up};
use crate::memo::Memo;
use crate::packages::PackageVersion;
use crate::paths::{contains, join_plain, parent};
use crate::project::Project;

/// The maximum number of manifests that are read in a repository.
const MAX_MANIFESTS: usize = 1 << 16;

/// Libraries whose name differs from their package's, with the keys of the dependencies.
type LibraryKeys = FxHashMap<Box<str>, Box<str>>;

/// The name and the root file of a library.
type NameAndFile = (Box<str>, Box<str>);

pub(super) struct Packages<'f> {
    project: &'f Project<'f>,
    files: &'f dyn Files,
    pub(super) root: Box<str>,
    manifests: Memo<String, Option<Arc<Manifest>>>,
    around: Memo<String, Option<Arc<Manifest>>>,
    locks: Memo<String, Option<Arc<Lock>>>,
    vendors: Memo<String, Arc<Vec<String>>>,
    /// The renamed libraries of each package, see [`LibraryKeys`].
    libraries: Memo<String, Arc<LibraryKeys>>,
    named: OnceLock<FxHashMap<Box<str>, Box<str>>>,
    /// Libraries outside the repository, by the package that uses them.
    stored: Memo<String, Option<NameAndFile>>,
    all_locks: OnceLock<Vec<Arc<Lock>>>,
    /// By package and library name.
    answers: Memo<String, Option<Library>>,
}

/// The target of a dependency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Library {
    /// The root file.
    File(Arc<str>),
    /// A declared dependency that is not available.
    Missing(Box<str>),
}

impl<'f> Packages<'f> {
    pub(super) fn new(project: &'f Project<'f>) -> Self {
        let root = project.root.trim_end_matches('/');
        Self {
            project,
            files: project.files,
            root: if root.is_empty() { "/" } else { root }.into(),
            manifests: Memo::new(),
            around: Memo::new(),
            locks: Memo::new(),
            vendors: Memo::new(),
            libraries: Memo::new(),
            named: OnceLock::new(),
            stored: Memo::new(),
            all_locks: OnceLock::new(),
            answers: Memo::new(),
        }
    }

    pub(super) fn manifest(&self, folder: &str) -> Option<Arc<Manifest>> {
        self.manifests.get_or(folder, || {
            let inside = contains(&self.root, folder);
            let path = join_plain(folder, "Cargo.toml");
            (inside && self.files.is_file(&path)).then(|| manifest::read(self.files, folder)).flatten().map(Arc::new)
        })
    }

    /// The nearest manifest with a package in a folder or its parents.
    pub(super) fn around(&self, folder: &str) -> Option<Arc<Manifest>> {
        self.around.get_or(folder, || {
            if !contains(&self.root, folder) {
                return None;
            }
            let own = self.manifest(folder).filter(|manifest| manifest.package.is_some());
            own.or_else(|| (*folder != *self.root).then(|| self.around(parent(folder))).flatten())
        })
    }

    /// The folders of all manifests of the repository.
    pub(super) fn folders(&self) -> impl Iterator<Item = String> {
        let manifests = self.project.universe.iter().filter_map(|path| path.strip_suffix("Cargo.toml"));
        let folders = manifests.filter(|folder| folder.is_empty() || folder.ends_with('/'));
        folders.map(|folder| join_plain(&self.root, folder)).take(MAX_MANIFESTS)
    }

    /// Whether a file is the root of one of its package's crates.
    pub(super) fn is_root(&self, file: &str) -> bool {
        match self.around(parent(file)).as_ref().and_then(|manifest| manifest.package.as_ref()) {
            Some(package) => {
                package.library.as_ref().is_some_and(|(_, library)| **library == *file)
                    || package.programs.iter().any(|program| **program == *file)
            }
            None => file.ends_with("/lib.rs") || file.ends_with("/main.rs"),
        }
    }

    fn workspace(&self, manifest: &Manifest) -> Option<Arc<Manifest>> {
        let named = manifest.package.as_ref().and_then(|package| package.workspace.as_deref());
        if let Some(folder) = named {
            return self.manifest(folder);
        }
        let manifests = folders_up(&self.root, &manifest.folder).filter_map(|folder| self.manifest(folder));
        manifests.into_iter().find(|manifest| manifest.workspace.is_some())
    }

    /// Whether imports in a package are relative to the crate root, as in edition 2015.
    pub(super) fn is_2015(&self, manifest: &Manifest) -> bool {
        manifest.package.as_ref().is_some_and(|package| package.is_2015)
    }

    /// The library that a package's code refers to by a name.
    pub(super) fn library(&self, manifest: &Manifest, name: &str) -> Option<Library> {
        self.answers.get_or(&[&manifest.folder, "\0", name].concat(), || self.find_library(manifest, name))
    }

    fn find_library(&self, manifest: &Manifest, name: &str) -> Option<Library> {
        let package = manifest.package.as_ref()?;
        if let Some(dependency) = package.dependencies.get(name) {
            return Some(self.of_dependency(manifest, name, dependency));
        }
        let key = self.renamed_libraries(manifest).get(name)?.clone();
        Some(self.of_dependency(manifest, &key, package.dependencies.get(&key)?))
    }

    fn of_dependency(&self, manifest: &Manifest, key: &str, dependency: &Dependency) -> Library {
        match self.library_of(manifest, key, dependency) {
            Some((_, file)) => Library::File((*file).into()),
            None => Library::Missing(key.into()),
        }
    }

    /// The name and root file of a dependency's library.
    fn library_of(&self, manifest: &Manifest, key: &str, dependency: &Dependency) -> Option<NameAndFile> {
        if let Some(folder) = self.folder_of(manifest, key, dependency) {
            return self.manifest(&folder)?.package.as_ref()?.library.clone();
        }
        let package = self.effective(manifest, key, dependency).package;
        self.stored.get_or(&[&manifest.folder, "\0", &package].concat(), || self.in_store(manifest, &package))
    }

    /// The libraries whose names differ from those of their packages, with the keys of the dependencies.
    fn renamed_libraries(&self, manifest: &Manifest) -> Arc<LibraryKeys> {
        self.libraries.get_or(&*manifest.folder, || {
            let mut found = FxHashMap::default();
            let dependencies = manifest.package.iter().flat_map(|package| &package.dependencies);
            let mut dependencies: Vec<_> = dependencies.filter(|(_, dependency)| !dependency.renamed).collect();
            dependencies.sort_unstable_by_key(|(key, _)| *key);
            for (key, dependency) in dependencies {
                if let Some((name, _)) = self.library_of(manifest, key, dependency).filter(|(name, _)| name != key) {
                    found.entry(name).or_insert_with(|| key.clone());
                }
            }
            Arc::new(found)
        })
    }

    /// The dependency with inherited settings from the workspace.
    fn effective(&self, manifest: &Manifest, key: &str, dependency: &Dependency) -> Dependency {
        let workspace = self.workspace(manifest).filter(|_| dependency.inherited);
        let facts = workspace.as_ref().and_then(|workspace| workspace.workspace.as_ref());
        facts.and_then(|facts| facts.dependencies.get(key)).unwrap_or(dependency).clone()
    }

    /// The library of a package in Cargo's registry folder, in the version that the lock file names.
    fn in_store(&self, user: &Manifest, package: &str) -> Option<NameAndFile> {
        let facts = user.package.as_ref()?;
        let lock = folders_up(&self.root, &user.folder).find_map(|folder| self.lock(folder))?;
        let version = lock.version(&facts.name, facts.version.as_deref(), package)?;
        lock.checksum(package, version)?;
        let wanted = PackageVersion { ecosystem: Ecosystem::Crates, name: package.into(), version: version.into() };
        let folder = self.project.package(&wanted)?;
        let (name, file) =
            folder.is_file("Cargo.toml").then(|| manifest::read_library(folder.files, &folder.path))??;
        let below = AbsPath::new(&folder.path).below(&file)?;
        folder.is_file(below).then_some((name, file))
    }

    /// The checksums of a package's archive in the lock files of the repository.
    pub(super) fn checksums(&self, name: &str, version: &str) -> Vec<Digest> {
        let locks = self.all_locks.get_or_init(|| {
            let folders = self.folders().chain([self.root.to_string()]);
            folders.filter_map(|folder| self.lock(&folder)).collect()
        });
        let mut found: Vec<Digest> = locks.iter().filter_map(|lock| lock.checksum(name, version)).collect();
        found.sort_unstable_by_key(Digest::hex);
        found.dedup();
        found
    }

    /// The folder of a dependency's package, if it is in the repository.
    fn folder_of(&self, manifest: &Manifest, key: &str, dependency: &Dependency) -> Option<String> {
        let dependency = self.effective(manifest, key, dependency);
        let workspace = self.workspace(manifest);
        let facts = workspace.as_ref().and_then(|workspace| workspace.workspace.as_ref());
        let local = dependency.folder.clone().or_else(|| facts?.patches.get(&dependency.package).cloned());
        if let Some(folder) = local.filter(|folder| self.manifest(folder).is_some()) {
            return Some(folder.into());
        }
        let package = &*dependency.package;
        self.vendored(manifest, package).or_else(|| self.all_named().get(package).map(|folder| folder.to_string()))
    }

    /// The folder of a vendored package, in a vendor folder of another package's folder or its parents.
    fn vendored(&self, user: &Manifest, package: &str) -> Option<String> {
        let facts = user.package.as_ref()?;
        let lock = folders_up(&self.root, &user.folder).find_map(|folder| self.lock(folder));
        let version = lock.as_ref().and_then(|lock| lock.version(&facts.name, facts.version.as_deref(), package));
        for folder in folders_up(&self.root, &user.folder) {
            for vendor in self.vendors(folder).iter() {
                let exact = version.map(|version| join_plain(vendor, &[package, "-", version].concat()));
                let plain = join_plain(vendor, package);
                if let Some(found) = exact.into_iter().chain([plain]).find(|path| self.manifest(path).is_some()) {
                    return Some(found);
                }
                if let Some(found) = self.any_version(vendor, package) {
                    return Some(found);
                }
            }
        }
        None
    }

    /// Without a lock file: the last version that exists.
    fn any_version(&self, vendor: &str, package: &str) -> Option<String> {
        let is_version = |name: &str| {
            let rest = name.strip_prefix(package).and_then(|rest| rest.strip_prefix('-'));
            rest.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
        };
        let names = self.files.list(vendor).into_iter();
        let folders = names.filter(|(name, kind)| *kind == EntryKind::Dir && is_version(name));
        folders.map(|(name, _)| join_plain(vendor, &name)).rfind(|path| self.manifest(path).is_some())
    }

    /// The vendor folders that apply to a folder: `vendor`, and those in cargo's configuration.
    fn vendors(&self, folder: &str) -> Arc<Vec<String>> {
        self.vendors.get_or(folder, || {
            let mut found = Vec::new();
            let plain = join_plain(folder, "vendor");
            for name in [".cargo/config.toml", ".cargo/config"] {
                let path = join_plain(folder, name);
                if !self.files.is_file(&path) {
                    continue;
                }
                let text = self.files.read(&path).and_then(|bytes| String::from_utf8(bytes.to_vec()).ok());
                let table = text.and_then(|text| text.parse::<toml::Table>().ok()).unwrap_or_default();
                let sources =
                    table.get("source").and_then(toml::Value::as_table).into_iter().flat_map(|table| table.values());
                let directories = sources.filter_map(|source| source.get("directory")?.as_str());
                found.extend(directories.map(|path| join_plain(folder, path)));
            }
            found.push(plain);
            found.retain(|path| contains(&self.root, path) && self.files.is_dir(path));
            found.dedup();
            Arc::new(found)
        })
    }

    fn lock(&self, folder: &str) -> Option<Arc<Lock>> {
        self.locks.get_or(folder, || {
            let path = join_plain(folder, "Cargo.lock");
            if !self.files.is_file(&path) {
                return None;
            }
            let bytes = self.files.read(&path).filter(|bytes| bytes.len() <= MAX_LOCK_BYTES)?;
            Some(Arc::new(Lock::parse(std::str::from_utf8(&bytes).ok()?)))
        })
    }

    /// Packages of the repository by name, without vendored ones; the first in path order wins.
    fn all_named(&self) -> &FxHashMap<Box<str>, Box<str>> {
        self.named.get_or_init(|| {
            let mut named = FxHashMap::default();
            for folder in self.folders().filter(|folder| !folder.contains("/vendor/")) {
                if let Some(manifest) = self.manifest(&folder)
                    && let Some(package) = &manifest.package
                {
                    named.entry(package.name.clone()).or_insert_with(|| folder.into());
                }
            }
            named
        })
    }
}
