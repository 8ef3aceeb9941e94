//! Packages outside the root, in folders where the package managers of this user store downloads: Go's module cache, Cargo's
//! registry (spec 10 §4, the fourth kind that needs no consent).
//!
//! The node id of a file in such a folder consists of package, version and path (`go:example.com/m@v1.2.3/x.go`,
//! `crates:serde@1.0.0/src/lib.rs`), never of its location: the location decides only whether a file is found. A language
//! resolves into a store in three steps:
//!
//! 1. It reads the lock file of the repository. Only versions that the lock file names may be accessed.
//! 2. [`crate::Project::package`] gives the folder of such a version, if it exists: an absolute path, and the view of the disk to
//!    read it through ([`crate::Project::view_of`] finds that view again). Targets are absolute paths as everywhere; the engine
//!    turns them into ids. Symlinks in a store are never followed: [`PackageFolder::is_file`] and [`PackageFolder::list`] skip
//!    them.
//! 3. `ProjectResolver::proof_of` returns the lock file's checksums of a package. Files are staged only if they match.

pub mod vendored;

use serde::Serialize;
use stan_model::document::externals_lock::PackageFile;
use stan_model::{Digest, Ecosystem, RepoPath};
use stan_repo::{AbsPath, EntryKind, Files};

/// One version of a package.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackageVersion {
    pub ecosystem: Ecosystem,
    pub name: Box<str>,
    pub version: Box<str>,
}

/// The checksums of a package's contents in a lock file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackageProof {
    /// Go's `h1`: the SHA-256 of a list of the folder's files with their SHA-256. Any of these may match: several lock files of a
    /// repository may name the package.
    Folder(Vec<Digest>),
    /// The SHA-256 of the archive that the folder was unpacked from. Any of these may match.
    Archive(Vec<Digest>),
}

/// A download folder of a package manager.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PackageStore {
    #[serde(serialize_with = "folder_name")]
    pub ecosystem: Ecosystem,
    /// Absolute real path.
    pub folder: String,
}

fn folder_name<S: serde::Serializer>(ecosystem: &Ecosystem, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(ecosystem.folder())
}

/// The stores of this user, at most one per ecosystem.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PackageStores(Vec<PackageStore>);

/// The folder of a package in a store.
#[derive(Clone)]
pub struct PackageFolder<'f> {
    /// Absolute, without symlinks.
    pub path: String,
    /// The view of the disk to read the store through.
    pub files: &'f dyn Files,
}

impl PackageFolder<'_> {
    /// Whether a path below the folder is a file and contains no symlink.
    pub fn is_file(&self, below: &str) -> bool {
        let path = AbsPath::new(&self.path).join(below);
        // `RepoPath` rejects `..`: a specifier must not leave the package.
        RepoPath::new(below).is_some() && self.files.is_file(&path) && is_plain(self.files, &path)
    }

    /// The entries of a subfolder, without symlinks.
    pub fn list(&self, below: &str) -> Vec<(String, EntryKind)> {
        let folder = if below.is_empty() { self.path.clone() } else { AbsPath::new(&self.path).join(below) };
        if !(below.is_empty() || RepoPath::new(below).is_some()) || !is_plain(self.files, &folder) {
            return Vec::new();
        }
        let is_plain = |name: &str| is_plain(self.files, &AbsPath::new(&folder).join(name));
        self.files.list(&folder).into_iter().filter(|(name, _)| is_plain(name)).collect()
    }
}

/// Whether neither a path nor any of its parents is a symlink.
fn is_plain(files: &dyn Files, path: &str) -> bool {
    files.real_path(path).as_deref() == Some(path)
}

impl PackageStores {
    /// No stores.
    pub const NONE: Self = Self(Vec::new());

    pub fn new(stores: Vec<PackageStore>) -> Self {
        Self(stores)
    }

    pub fn iter(&self) -> impl Iterator<Item = &PackageStore> {
        self.0.iter()
    }

    /// Removes the stores that may not be read.
    pub fn retain(&mut self, may_read: impl FnMut(&PackageStore) -> bool) {
        self.0.retain(may_read);
    }

    /// The folder of an ecosystem's store.
    pub fn folder(&self, ecosystem: Ecosystem) -> Option<&str> {
        self.0.iter().find(|store| store.ecosystem == ecosystem).map(|store| store.folder.as_str())
    }

    /// See [`crate::Project::package`].
    pub fn package<'f>(&self, files: &'f dyn Files, package: &PackageVersion) -> Option<PackageFolder<'f>> {
        if !is_safe(package) {
            return None;
        }
        let store = self.folder(package.ecosystem)?;
        let files = files.store(store)?;
        let is_there = |path: &String| files.is_dir(path) && is_plain(files, path);
        let path = match package.ecosystem {
            Ecosystem::Go => Some(format!("{store}/{}@{}", escaped(&package.name), escaped(&package.version))),
            Ecosystem::Crates => {
                // One folder per registry. Its name contains a hash of the registry's address that differs between Cargo
                // versions.
                let registries = files.list(store).into_iter().filter(|(_, kind)| *kind == EntryKind::Dir);
                let mut folders =
                    registries.map(|(name, _)| format!("{store}/{name}/{}-{}", package.name, package.version));
                folders.find(is_there)
            }
            Ecosystem::Npm | Ecosystem::Pypi | Ecosystem::Abs => None,
        };
        path.filter(is_there).map(|path| PackageFolder { path, files })
    }

    /// The package file at an absolute path; `None` outside the stores, and for paths that no package can have.
    pub fn file_at(&self, absolute: &str) -> Option<PackageFile> {
        self.0.iter().find_map(|store| {
            let below = AbsPath::new(&store.folder).below(absolute)?;
            let (name, version, path) = match store.ecosystem {
                Ecosystem::Go => {
                    let (name, rest) = below.split_once('@')?;
                    let (version, path) = rest.split_once('/')?;
                    (unescaped(name)?, unescaped(version)?, path)
                }
                Ecosystem::Crates => {
                    let (folder, path) = below.split_once('/')?.1.split_once('/')?;
                    let (name, version) = split_crate(folder)?;
                    (name.to_owned(), version.to_owned(), path)
                }
                Ecosystem::Npm | Ecosystem::Pypi | Ecosystem::Abs => return None,
            };
            let file = PackageFile { ecosystem: store.ecosystem, name, version, path: path.to_owned() };
            is_safe(&version_of(&file)).then_some(file)
        })
    }

    /// The node id of a file in a store.
    pub fn id_at(&self, absolute: &str) -> Option<String> {
        self.file_at(absolute)
            .map(|file| format!("{}:{}@{}/{}", file.ecosystem.folder(), file.name, file.version, file.path))
    }

    /// The path of the file with a node id; `None` if the id is not of a store. If the package is gone, a path that it may have
    /// had.
    pub fn locate(&self, files: &dyn Files, id: &str) -> Option<String> {
        let file = file_of_id(id)?;
        let store = self.folder(file.ecosystem)?;
        let package = version_of(&file);
        match self.package(files, &package) {
            Some(folder) => Some(AbsPath::new(&folder.path).join(&file.path)),
            None => Some(format!("{store}/{}@{}/{}", escaped(&package.name), escaped(&package.version), file.path)),
        }
    }
}

/// The package of a file.
pub fn version_of(file: &PackageFile) -> PackageVersion {
    PackageVersion { ecosystem: file.ecosystem, name: (*file.name).into(), version: (*file.version).into() }
}

/// The package file that a node id names: `go:<module>@<version>/<path>`. Ids of builtins (`go:fmt`) have no version.
pub fn file_of_id(id: &str) -> Option<PackageFile> {
    let (scheme, rest) = id.split_once(':')?;
    let ecosystem = [Ecosystem::Go, Ecosystem::Crates].into_iter().find(|one| one.folder() == scheme)?;
    let (name, rest) = rest.split_once('@')?;
    let (version, path) = rest.split_once('/')?;
    let file = PackageFile { ecosystem, name: name.to_owned(), version: version.to_owned(), path: path.to_owned() };
    (is_safe(&version_of(&file)) && RepoPath::new(path).is_some()).then_some(file)
}

/// Whether name and version are safe as path components: they come from files of the repository.
fn is_safe(package: &PackageVersion) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'~' | b'+'))
    };
    let is_name = match package.ecosystem {
        // `cache` holds downloads, not modules.
        Ecosystem::Go => package.name.split('/').all(is_part) && package.name.split('/').next() != Some("cache"),
        _ => is_part(&package.name) && !package.name.contains('.'),
    };
    is_name && is_part(&package.version) && package.name.len() + package.version.len() < 1024
}

/// A module path or version as the module cache spells it: a capital becomes `!` and the small letter, because some file systems
/// ignore case.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 4);
    for character in text.chars() {
        if character.is_ascii_uppercase() {
            out.push('!');
        }
        out.push(character.to_ascii_lowercase());
    }
    out
}

/// The inverse of [`escaped`]; `None` for text that `escaped` never returns.
fn unescaped(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '!' => out.push(characters.next().filter(char::is_ascii_lowercase)?.to_ascii_uppercase()),
            character if character.is_ascii_uppercase() => return None,
            character => out.push(character),
        }
    }
    Some(out)
}

/// Splits `name-version`: crate names contain no dots, so the version starts at the first hyphen before `1.2.3`.
fn split_crate(folder: &str) -> Option<(&str, &str)> {
    let is_version = |text: &str| {
        let core = text.split(['-', '+']).next().unwrap_or(text);
        let mut numbers = core.split('.');
        let is_number = |part: Option<&str>| {
            part.is_some_and(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
        };
        is_number(numbers.next()) && is_number(numbers.next()) && is_number(numbers.next()) && numbers.next().is_none()
    };
    let at = folder.match_indices('-').map(|(at, _)| at).find(|at| folder.get(at + 1..).is_some_and(is_version))?;
    Some((folder.get(..at)?, folder.get(at + 1..)?))
}

#[cfg(test)]
mod tests;
