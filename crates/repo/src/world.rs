//! [`Files`] over a [`System`]: answers from cached directory listings, and records what it reads.
//!
//! One listing answers queries for all candidate names in a directory, which is cheaper than an `lstat` for each. Only
//! directories below the root and in a `node_modules` are listed; elsewhere single paths are stat'ed. Nothing is read twice, so
//! answers do not change during a run.
//!
//! This is where consent is enforced: paths that the [`Reach`] does not cover are refused before the system is called, for the
//! path itself and for each symlink in it. The only exception is a symlink in a `node_modules` to a package of that name.

mod directory;
mod linked;
mod sharded;

use std::borrow::Cow;
use std::cell::Cell;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use stan_model::{Digest, PACKAGE_FOLDER, is_installed};

use self::directory::{Access, Directory, Listing};
use self::sharded::Sharded;
use crate::files::Files;
use crate::hash::{listing_hash, sha256};
use crate::observations::{
    DigestScope, Observations, ObservedDirectory, ObservedFile, ObservedLink, ObservedProbe, Unread, read_real_limited,
    sorted_entries,
};
use crate::paths::{MAX_LINKS, Root, ancestors, join, split_last};
use crate::reach::Reach;
use crate::system::{EntryKind, Stat, System};
use crate::universe::Universe;

/// Larger files are not read: real sources are smaller, and a hostile file must not exhaust memory.
const MAX_FILE: u64 = 16 << 20;
/// Longer than any path that an operating system opens. Without a limit, hostile paths would cost quadratic time.
const MAX_PATH: usize = 16 << 10;

thread_local! {
    /// Per thread, for all worlds: only differences matter.
    static REFUSALS: Cell<u64> = const { Cell::new(0) };
}

/// The file system around a root, as it was when it was first read.
pub struct World<'a> {
    system: &'a dyn System,
    reach: Reach,
    universe: Option<&'a Universe>,
    /// Whether single entries are stat'ed before whole directories are listed.
    probes_first: bool,
    /// By the queried path.
    directories: Sharded<Lookup<Arc<Directory<'a>>>>,
    /// Directories of linked packages, by [`linked::key`].
    packaged: Sharded<Lookup<Arc<Directory<'a>>>>,
    /// By the real path of the directory, and the symlink's name.
    links: Sharded<Option<Arc<str>>>,
    /// Entries of directories that are not listed, by exact path.
    probes: Sharded<Option<EntryKind>>,
    /// The names in the manifests of folders that symlinks in a `node_modules` point to.
    package_names: Sharded<Option<Arc<str>>>,
    /// Real folders of linked packages, with the symlinks that point to them.
    aliases: Sharded<Arc<str>>,
    reads: Mutex<Vec<ObservedFile>>,
    /// See [`Files::store`]: a separate world for each root folder.
    stores: Vec<World<'a>>,
}

/// The bytes of a file, with its digest and stat.
#[derive(Clone, Debug)]
pub struct FileContents {
    pub bytes: Arc<[u8]>,
    pub digest: Digest,
    /// Taken before reading.
    pub stat: Stat,
}

/// Why a lookup failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unfound {
    Absent,
    /// It may exist, but must not be read.
    Refused,
}

type Lookup<T> = Result<T, Unfound>;

/// The target of a path.
#[derive(Clone, Debug)]
struct Reached {
    real: String,
    kind: EntryKind,
    /// As [`Directory::package`].
    package: Option<Arc<str>>,
}

impl<'a> World<'a> {
    /// `root` is a real path (see `real_path`). Listings are taken from `universe` if it has them.
    pub fn new(system: &'a dyn System, root: &str, universe: Option<&'a Universe>) -> Self {
        Self {
            system,
            reach: Reach::new(root),
            universe,
            probes_first: false,
            directories: Sharded::default(),
            packaged: Sharded::default(),
            links: Sharded::default(),
            probes: Sharded::default(),
            package_names: Sharded::default(),
            aliases: Sharded::default(),
            reads: Mutex::default(),
            stores: Vec::new(),
        }
    }

    /// Adds the folders of package managers, as real paths. They are not part of the reach. Their entries are stat'ed one by one,
    /// because their listings change whenever another project downloads a package.
    pub fn with_stores<'f>(mut self, folders: impl Iterator<Item = &'f str>) -> Self {
        let system = self.system;
        let open = |folder| World::new(system, folder, None).prefer_probe().within(Reach::by_consent(folder, &[]));
        self.stores = folders.map(open).collect();
        self
    }

    /// For a run with few lookups, which cost less than listing a large directory.
    pub fn prefer_probe(mut self) -> Self {
        self.probes_first = true;
        self
    }

    /// Restricts reads to `reach`, which must be of the same root.
    pub fn within(mut self, reach: Reach) -> Self {
        self.reach = reach;
        self
    }

    /// The path with the user's spelling of an allowed folder replaced by its real path.
    pub fn real_spelling<'p>(&self, path: &'p str) -> Cow<'p, str> {
        self.reach.real_spelling(path)
    }

    /// Reads a regular file, with its digest. The error is the reason, as the end of a sentence.
    pub fn read_file(&self, path: &str) -> Result<FileContents, &'static str> {
        let path = &*self.reach.real_spelling(path);
        let real = match self.resolve(path) {
            Ok(Reached { real, kind: EntryKind::File, .. }) => real,
            Ok(_) => return Err("it is not a regular file"),
            Err(Unfound::Absent) => return Err(Unread::Absent.reason()),
            Err(Unfound::Refused) => {
                count_refusal();
                return Err("it lies outside of the root, where only what is needed is read");
            }
        };
        if !self.may_read(path, &real) {
            return Err("it lies outside of the root, where only what is needed is read");
        }
        let (stat, result) = read_real_limited(self.system, &real, MAX_FILE);
        let digest = result.as_ref().ok().map(|bytes| sha256(bytes));
        let observed = ObservedFile { path: real, stat, digest, scope: DigestScope::Bytes };
        self.reads.lock().unwrap_or_else(PoisonError::into_inner).push(observed);
        match (result, digest, stat) {
            (Ok(bytes), Some(digest), Some(stat)) => Ok(FileContents { bytes: bytes.into(), digest, stat }),
            (Err(unread), ..) => Err(unread.reason()),
            _ => Err(Unread::Failed.reason()),
        }
    }

    /// Everything that was read so far, except by the scan itself (see `Universe::observations`).
    pub fn observations(&self) -> Observations {
        let mut observations = Observations {
            files: self.reads.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            ..Observations::default()
        };
        let mut take = |_: &str, directory: &Lookup<Arc<Directory<'a>>>| {
            if let Ok(directory) = directory
                && let Some(Listing::Own { stat, hash, .. }) = directory.listing.get()
            {
                let path = directory.real.to_string();
                observations.directories.push(ObservedDirectory { path, stat: *stat, listing: *hash });
            }
        };
        self.directories.for_each(&mut take);
        self.packaged.for_each(&mut take);
        self.links.for_each(|path, target| {
            observations.links.push(ObservedLink { path: path.into(), target: target.as_deref().map(str::to_owned) });
        });
        self.probes.for_each(|path, kind| {
            observations.probes.push(ObservedProbe { path: path.into(), kind: *kind });
        });
        self.stores.iter().for_each(|store| observations.extend(store.observations()));
        observations.sort();
        observations
    }

    fn root(&self) -> &Root {
        self.reach.root()
    }

    /// Manifests and configurations outside the root are read only if they belong to an installed package, or are JSON at the
    /// queried path. A symlink to another place could expose any file.
    fn may_read(&self, path: &str, real: &str) -> bool {
        if self.root().relative(real).is_some() || is_installed(real) {
            return true;
        }
        let is_itself = || {
            let (parent, name) = split_last(path)?;
            Some(join(&self.directory(parent).ok()?.real, name) == real)
        };
        real.ends_with(".json") && is_itself() == Some(true)
    }

    fn resolve(&self, path: &str) -> Lookup<Reached> {
        if self.reach.is_known_folder(path) {
            return Ok(Reached { real: path.to_owned(), kind: EntryKind::Dir, package: None });
        }
        let (parent, name) = split_last(path).ok_or(Unfound::Absent)?;
        self.reach_entry(&*self.directory(parent)?, name, &mut 0)
    }

    /// Resolves an entry. `links` is the number of symlinks followed so far.
    fn reach_entry(&self, directory: &Directory<'a>, name: &str, links: &mut usize) -> Lookup<Reached> {
        match self.entry(directory, name)? {
            EntryKind::Link => self.follow(directory, name, links),
            kind => Ok(Reached { real: join(&directory.real, name), kind, package: directory.package.clone() }),
        }
    }

    /// The final target of a symlink.
    fn follow(&self, directory: &Directory<'a>, name: &str, links: &mut usize) -> Lookup<Reached> {
        *links += 1;
        if *links > MAX_LINKS {
            return Err(Unfound::Absent);
        }
        let target = self.read_link(&join(&directory.real, name)).ok_or(Unfound::Absent)?;
        match self.walk(directory, &target, links) {
            Err(Unfound::Refused) => self.linked_package(directory, name),
            reached => reached,
        }
    }

    fn read_link(&self, link: &str) -> Option<Arc<str>> {
        self.links.get_or_insert(link, || {
            let target = self.system.read_link(Path::new(link)).ok()?;
            target.into_os_string().into_string().ok().map(Arc::from)
        })
    }

    /// Follows the target of a symlink in a directory, name by name, and never out of the reach or the directory's package.
    fn walk(&self, directory: &Directory<'a>, target: &str, links: &mut usize) -> Lookup<Reached> {
        let (real, target) = match target.strip_prefix('/') {
            Some(rest) => ("/".to_owned(), rest),
            None => (directory.real.to_string(), target),
        };
        let mut reached = Reached { real, kind: EntryKind::Dir, package: directory.package.clone() };
        for component in target.split('/').filter(|component| !matches!(*component, "" | ".")) {
            if reached.kind != EntryKind::Dir {
                return Err(Unfound::Absent);
            }
            if component == ".." {
                reached.real = split_last(&reached.real).map_or("/", |(parent, _)| parent).to_owned();
            } else {
                let package = reached.package.or_else(|| directory.package.clone());
                reached = self.step(&join(&reached.real, component), package, links)?;
            }
        }
        // A target that ends with `..` may be above everything that may be read.
        let is_in_package =
            reached.package.as_deref().is_some_and(|package| Root::new(package).relative(&reached.real).is_some());
        if is_in_package || self.reach.covers(&reached.real) || self.reach.is_known_folder(&reached.real) {
            let package = reached.package.filter(|_| is_in_package);
            return Ok(Reached { package, ..reached });
        }
        Err(Unfound::Refused)
    }

    /// Resolves one more component of a symlink's target: `path` contains no symlink before its last name.
    fn step(&self, path: &str, package: Option<Arc<str>>, links: &mut usize) -> Lookup<Reached> {
        let is_above_package = package.as_deref().is_some_and(|package| Root::new(package).is_at_or_below(path));
        if is_above_package || self.reach.is_known_folder(path) {
            return Ok(Reached { real: path.to_owned(), kind: EntryKind::Dir, package });
        }
        let (parent, name) = split_last(path).ok_or(Unfound::Absent)?;
        let directory = match package {
            Some(package) if Root::new(&package).relative(parent).is_some() => {
                self.packaged_directory(&package, parent)?
            }
            _ => self.directory(parent)?,
        };
        self.reach_entry(&directory, name, links)
    }

    /// The directory that a path resolves to. Starts at the nearest known parent; recursion depth does not depend on the length
    /// of paths without symlinks.
    fn directory(&self, path: &str) -> Lookup<Arc<Directory<'a>>> {
        if let Some(known) = self.directories.get(path) {
            return known;
        }
        if path.len() > MAX_PATH {
            return Err(Unfound::Absent);
        }
        let is_known =
            |ancestor: &str| self.reach.is_known_folder(ancestor) || self.directories.get(ancestor).is_some();
        let unknown: Vec<&str> = ancestors(path).take_while(|ancestor| !is_known(ancestor)).collect();
        let nearest = match unknown.last() {
            Some(last) => split_last(last).ok_or(Unfound::Absent)?.0,
            None => path,
        };
        let mut current = self.known_directory(nearest);
        for ancestor in unknown.into_iter().rev() {
            // A missing directory is cached once, not again for each path below it.
            let parent = current?;
            let found = self.subdirectory(&parent, ancestor);
            current = self.directories.get_or_insert(ancestor, || found);
        }
        current
    }

    /// A directory that is cached, or that needs no stat because it is the root or one of its parents.
    fn known_directory(&self, path: &str) -> Lookup<Arc<Directory<'a>>> {
        if self.reach.is_known_folder(path) {
            return self.directories.get_or_insert(path, || Ok(Arc::new(self.new_directory(path, None))));
        }
        self.directories.get(path).unwrap_or(Err(Unfound::Absent))
    }

    fn subdirectory(&self, parent: &Directory<'a>, path: &str) -> Lookup<Arc<Directory<'a>>> {
        let (_, name) = split_last(path).ok_or(Unfound::Absent)?;
        // Symlinks are counted from zero for each directory, so that the answer does not depend on the cache.
        let Reached { real, package, .. } = match self.reach_entry(parent, name, &mut 0)? {
            reached if reached.kind == EntryKind::Dir => reached,
            _ => return Err(Unfound::Absent),
        };
        if let Some(package) = package {
            return self.packaged_directory(&package, &real);
        }
        if real == path {
            return Ok(Arc::new(self.new_directory(&real, None)));
        }
        // One listing per real directory, no matter how it is reached.
        self.directories.get_or_insert(&real, || Ok(Arc::new(self.new_directory(&real, None))))
    }

    fn new_directory(&self, real: &str, package: Option<Arc<str>>) -> Directory<'a> {
        let below_root = self.root().relative(real).is_some();
        let access = if below_root {
            Access::Inside
        } else if package.is_some() || self.reach.covers(real) {
            Access::Outside
        } else {
            Access::Above
        };
        let listable = below_root || is_installed(real);
        Directory { real: real.into(), package, access, listable, listing: OnceLock::new(), names: OnceLock::new() }
    }

    /// The kind of an entry, without following symlinks.
    fn entry(&self, directory: &Directory<'a>, name: &str) -> Lookup<EntryKind> {
        match directory.access {
            Access::Inside => {}
            Access::Outside if name == ".git" => return Err(Unfound::Absent),
            Access::Outside => {}
            Access::Above => {
                let path = join(&directory.real, name);
                if self.reach.is_known_folder(&path) {
                    return Ok(EntryKind::Dir);
                }
                if !self.reach.covers(&path) {
                    // Every bare specifier queries these, so a refusal is not reported.
                    return Err(if name == PACKAGE_FOLDER { Unfound::Absent } else { Unfound::Refused });
                }
            }
        }
        if !directory.listable {
            return self.probe(&join(&directory.real, name)).ok_or(Unfound::Absent);
        }
        if self.probes_first && directory.listing.get().is_none() {
            let found = self.probe(&join(&directory.real, name));
            // Other systems may find a name in a different case; only the listing has the real spelling.
            if found.is_none() || cfg!(target_os = "linux") {
                return found.ok_or(Unfound::Absent);
            }
        }
        directory.entry(self.listing(directory).entries(), name).ok_or(Unfound::Absent)
    }

    fn probe(&self, path: &str) -> Option<EntryKind> {
        self.probes.get_or_insert(path, || self.system.lstat(Path::new(path)).ok().map(|stat| stat.kind))
    }

    fn listing<'d>(&self, directory: &'d Directory<'a>) -> &'d Listing<'a> {
        directory.listing.get_or_init(|| {
            if let Some(entries) = self.scanned(&directory.real) {
                return Listing::Scanned(entries);
            }
            let path = Path::new(directory.real.as_ref());
            let stat = self.system.lstat(path).ok();
            let entries = sorted_entries(self.system, path).unwrap_or_default();
            let hash = listing_hash(&entries);
            let named = entries
                .into_iter()
                .filter_map(|entry| Some((entry.name.into_string().ok()?.into_boxed_str(), entry.kind)))
                .collect();
            Listing::Own { stat, hash, entries: named }
        })
    }

    fn scanned(&self, real: &str) -> Option<&'a [(Box<str>, EntryKind)]> {
        let directories = &self.universe?.directories;
        let relative = self.root().relative(real)?;
        let index = directories.binary_search_by(|directory| directory.path.as_ref().cmp(relative)).ok()?;
        directories.get(index).map(|directory| directory.entries.as_slice())
    }

    fn found_kind(&self, path: &str) -> Lookup<EntryKind> {
        if self.reach.is_known_folder(path) {
            return Ok(EntryKind::Dir);
        }
        let (parent, name) = split_last(path).ok_or(Unfound::Absent)?;
        let directory = self.directory(parent)?;
        let kind = match self.entry(&directory, name)? {
            EntryKind::Link => self.follow(&directory, name, &mut 0)?.kind,
            kind => kind,
        };
        if kind == EntryKind::Other { Err(Unfound::Absent) } else { Ok(kind) }
    }

    fn found_first_file(&self, stem: &str, endings: &[&str]) -> Lookup<usize> {
        let (parent, name) = split_last(stem).ok_or(Unfound::Absent)?;
        let directory = self.directory(parent)?;
        let mut candidate = String::with_capacity(name.len() + 12);
        candidate.push_str(name);
        let mut missing = Unfound::Absent;
        for (ending, index) in endings.iter().zip(0..) {
            candidate.truncate(name.len());
            candidate.push_str(ending);
            let kind = self.entry(&directory, &candidate).and_then(|kind| match kind {
                EntryKind::Link => self.follow(&directory, &candidate, &mut 0).map(|reached| reached.kind),
                kind => Ok(kind),
            });
            match kind {
                Ok(EntryKind::File) => return Ok(index),
                Err(Unfound::Refused) => missing = Unfound::Refused,
                _ => {}
            }
        }
        Err(missing)
    }
}

impl Files for World<'_> {
    fn kind(&self, path: &str) -> Option<EntryKind> {
        answer(self.found_kind(&self.reach.real_spelling(path)))
    }

    fn first_file(&self, stem: &str, endings: &[&str]) -> Option<usize> {
        answer(self.found_first_file(&self.reach.real_spelling(stem), endings))
    }

    fn read(&self, path: &str) -> Option<Arc<[u8]>> {
        self.read_file(path).ok().map(|contents| contents.bytes)
    }

    fn real_path(&self, path: &str) -> Option<String> {
        answer(self.resolve(&self.reach.real_spelling(path))).map(|reached| reached.real)
    }

    fn list(&self, path: &str) -> Vec<(String, EntryKind)> {
        let directory = answer(self.directory(&self.reach.real_spelling(path)));
        let Some(directory) = directory.filter(|directory| directory.listable) else {
            return Vec::new();
        };
        let led_to = |(name, kind): &(Box<str>, EntryKind)| {
            let kind = match kind {
                EntryKind::Link => self.follow(&directory, name, &mut 0).ok()?.kind,
                kind => *kind,
            };
            (kind != EntryKind::Other).then(|| (name.to_string(), kind))
        };
        self.listing(&directory).entries().iter().filter_map(led_to).collect()
    }

    fn refusals(&self) -> u64 {
        REFUSALS.get()
    }

    fn alias<'p>(&self, path: &'p str) -> Cow<'p, str> {
        self.alias_of(path)
    }

    fn store(&self, folder: &str) -> Option<&dyn Files> {
        self.stores.iter().find(|store| store.root().path() == folder).map(|store| store as &dyn Files)
    }

    fn is_in_linked_package(&self, path: &str) -> bool {
        self.directory(&self.reach.real_spelling(path)).is_ok_and(|directory| directory.package.is_some())
    }
}

/// Maps a refusal to absent, after counting it.
fn answer<T>(found: Lookup<T>) -> Option<T> {
    if matches!(found, Err(Unfound::Refused)) {
        count_refusal();
    }
    found.ok()
}

fn count_refusal() {
    REFUSALS.set(REFUSALS.get().wrapping_add(1));
}
