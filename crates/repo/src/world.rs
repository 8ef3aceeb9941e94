//! [`Files`] over a [`System`]: answers from cached directory listings, and remembers what it looked at.
//!
//! One listing answers for every candidate name in a directory, which is cheaper than one `lstat` each. Foreign
//! directories are not listed: only those below the root, and those in a `node_modules` somewhere; elsewhere
//! single paths are looked at. Nothing is ever looked at twice, so answers do not change during a run.

use std::hash::BuildHasher;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use rustc_hash::{FxBuildHasher, FxHashMap};
use stan_model::{Digest, is_installed};

use crate::files::Files;
use crate::hash::{listing_hash, sha256};
use crate::observations::{
    Observations, ObservedDirectory, ObservedFile, ObservedLink, ObservedProbe, Reading, Unread, read_real_limited,
    sorted_entries,
};
use crate::paths::{MAX_LINKS, Root, ancestors, join, split_last};
use crate::system::{EntryKind, Stat, System};
use crate::universe::Universe;

/// Larger files are not read: nobody writes them, and a hostile one must not fill the memory.
const MAX_FILE: u64 = 16 << 20;
/// Longer than any path that an operating system opens. Without a limit, hostile ones would cost quadratic time.
const MAX_PATH: usize = 16 << 10;
const SHARDS: usize = 64;

/// The file system around a root, as it was when first looked at.
pub struct World<'a> {
    system: &'a dyn System,
    root: Root,
    universe: Option<&'a Universe>,
    /// Whether single entries are looked at before whole directories are listed.
    probes_first: bool,
    stays_inside: bool,
    /// By the path that was asked for; `None` when it is no directory.
    directories: Sharded<Option<Arc<Directory<'a>>>>,
    /// By real path of the directory, and the link's name.
    links: Sharded<Option<Arc<str>>>,
    /// By the exact path: entries of directories that are not listed.
    probes: Sharded<Option<EntryKind>>,
    reads: Mutex<Vec<ObservedFile>>,
}

/// A file's bytes, with what identifies them.
#[derive(Clone, Debug)]
pub struct FileContents {
    pub bytes: Arc<[u8]>,
    pub digest: Digest,
    /// Taken before reading.
    pub stat: Stat,
}

impl<'a> World<'a> {
    /// `root` is a real path (see `real_path`). Listings are taken from `universe` where it has them.
    pub fn new(system: &'a dyn System, root: &str, universe: Option<&'a Universe>) -> Self {
        Self {
            system,
            root: Root::new(root),
            universe,
            probes_first: false,
            stays_inside: false,
            directories: Sharded::default(),
            links: Sharded::default(),
            probes: Sharded::default(),
            reads: Mutex::default(),
        }
    }

    /// For a run with a handful of questions: listing a large directory would cost more than they do.
    pub fn probing_first(mut self) -> Self {
        self.probes_first = true;
        self
    }

    /// Reads nothing outside of the root but what installed packages have.
    pub fn staying_inside(mut self, stays_inside: bool) -> Self {
        self.stays_inside = stays_inside;
        self
    }

    /// Reads a regular file with its digest. The error says why not, as the end of a sentence.
    pub fn read_file(&self, path: &str) -> Result<FileContents, &'static str> {
        let real = match self.resolve(path) {
            Some((real, EntryKind::File)) => real,
            Some(_) => return Err("it is not a regular file"),
            None => return Err(Unread::Absent.reason()),
        };
        if !self.may_read(path, &real) {
            return Err("it lies outside of the root, where only what is needed is read");
        }
        let (stat, result) = read_real_limited(self.system, &real, MAX_FILE);
        let digest = result.as_ref().ok().map(|bytes| sha256(bytes));
        let observed = ObservedFile { path: real, stat, digest, reading: Reading::Bytes };
        self.reads.lock().unwrap_or_else(PoisonError::into_inner).push(observed);
        match (result, digest, stat) {
            (Ok(bytes), Some(digest), Some(stat)) => Ok(FileContents { bytes: bytes.into(), digest, stat }),
            (Err(unread), ..) => Err(unread.reason()),
            _ => Err(Unread::Failed.reason()),
        }
    }

    /// What was looked at so far, without what the scan itself looked at (see `Universe::observations`).
    pub fn observations(&self) -> Observations {
        let mut observations = Observations {
            files: self.reads.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            ..Observations::default()
        };
        self.directories.for_each(|_, directory| {
            if let Some(Listing::Own { stat, hash, .. }) = directory.as_ref().and_then(|found| found.listing.get()) {
                let path = directory.as_ref().map(|found| found.real.to_string()).unwrap_or_default();
                observations.directories.push(ObservedDirectory { path, stat: *stat, listing: *hash });
            }
        });
        self.links.for_each(|path, target| {
            observations.links.push(ObservedLink { path: path.into(), target: target.as_deref().map(str::to_owned) });
        });
        self.probes.for_each(|path, kind| {
            observations.probes.push(ObservedProbe { path: path.into(), kind: *kind });
        });
        observations.sort();
        observations
    }

    /// Manifests and configurations outside of the root are read when they belong to an installed package, or are JSON
    /// that lies where it was looked for. One that is itself a link to somewhere else is a way to have any file read.
    fn may_read(&self, path: &str, real: &str) -> bool {
        if self.root.relative(real).is_some() || is_installed(real) {
            return true;
        }
        let is_itself = || {
            let (parent, name) = split_last(path)?;
            Some(join(&self.directory(parent)?.real, name) == real)
        };
        !self.stays_inside && real.ends_with(".json") && is_itself() == Some(true)
    }

    /// Real path and kind of what a path leads to.
    fn resolve(&self, path: &str) -> Option<(String, EntryKind)> {
        self.resolve_within(path, &mut 0)
    }

    /// `links` counts those already followed to get here.
    fn resolve_within(&self, path: &str, links: &mut usize) -> Option<(String, EntryKind)> {
        if self.root.is_at_or_below(path) {
            return Some((path.to_owned(), EntryKind::Dir));
        }
        let (parent, name) = split_last(path)?;
        let directory = self.directory(parent)?;
        match self.entry(&directory, name)? {
            EntryKind::Link => self.follow(&directory, name, links),
            kind => Some((join(&directory.real, name), kind)),
        }
    }

    /// Where the link leads in the end.
    fn follow(&self, directory: &Directory<'_>, name: &str, links: &mut usize) -> Option<(String, EntryKind)> {
        *links += 1;
        if *links > MAX_LINKS {
            return None;
        }
        let link = join(&directory.real, name);
        let target = self.links.get_or_insert(&link, || {
            let target = self.system.read_link(Path::new(&link)).ok()?;
            target.into_os_string().into_string().ok().map(Arc::from)
        })?;
        let (mut real, target) = match target.strip_prefix('/') {
            Some(rest) => ("/".to_owned(), rest),
            None => (directory.real.to_string(), target.as_ref()),
        };
        let mut kind = EntryKind::Dir;
        for component in target.split('/').filter(|component| !matches!(*component, "" | ".")) {
            if kind != EntryKind::Dir {
                return None;
            }
            if component == ".." {
                real = split_last(&real).map_or("/", |(parent, _)| parent).to_owned();
            } else {
                (real, kind) = self.resolve_within(&join(&real, component), links)?;
            }
        }
        Some((real, kind))
    }

    /// The directory that a path leads to. Works its way down from the nearest one that is known, and does not
    /// recurse into itself for paths without links, however deep they are.
    fn directory(&self, path: &str) -> Option<Arc<Directory<'a>>> {
        if let Some(known) = self.directories.get(path) {
            return known;
        }
        if path.len() > MAX_PATH {
            return None;
        }
        let is_known = |ancestor: &str| self.root.is_at_or_below(ancestor) || self.directories.get(ancestor).is_some();
        let unknown: Vec<&str> = ancestors(path).take_while(|ancestor| !is_known(ancestor)).collect();
        let nearest = match unknown.last() {
            Some(last) => split_last(last)?.0,
            None => path,
        };
        let mut current = self.known_directory(nearest);
        for ancestor in unknown.into_iter().rev() {
            // What is missing is remembered once, and not again for everything that would lie below it.
            let parent = current?;
            let found = self.subdirectory(&parent, ancestor);
            current = self.directories.get_or_insert(ancestor, || found);
        }
        current
    }

    /// A directory that is cached, or is the root or above it and so needs no look.
    fn known_directory(&self, path: &str) -> Option<Arc<Directory<'a>>> {
        if self.root.is_at_or_below(path) {
            return self.directories.get_or_insert(path, || Some(Arc::new(self.new_directory(path))));
        }
        self.directories.get(path).flatten()
    }

    fn subdirectory(&self, parent: &Directory<'a>, path: &str) -> Option<Arc<Directory<'a>>> {
        let (_, name) = split_last(path)?;
        let real = match self.entry(parent, name)? {
            EntryKind::Dir => join(&parent.real, name),
            // Counted anew for each directory, so that the answer does not depend on what is cached already.
            EntryKind::Link => match self.follow(parent, name, &mut 0)? {
                (real, EntryKind::Dir) => real,
                _ => return None,
            },
            EntryKind::File | EntryKind::Other => return None,
        };
        if real == path {
            return Some(Arc::new(self.new_directory(&real)));
        }
        // One listing per real directory, however it is reached.
        self.directories.get_or_insert(&real, || Some(Arc::new(self.new_directory(&real))))
    }

    fn new_directory(&self, real: &str) -> Directory<'a> {
        let below_root = self.root.relative(real).is_some();
        let listable = below_root || is_installed(real);
        Directory { real: real.into(), listable, listing: OnceLock::new(), names: OnceLock::new() }
    }

    /// The kind of an entry, links not followed.
    fn entry(&self, directory: &Directory<'a>, name: &str) -> Option<EntryKind> {
        if !directory.listable {
            return self.probe(directory, name);
        }
        if self.probes_first && directory.listing.get().is_none() {
            let found = self.probe(directory, name);
            // Other systems may find a name that is spelled in another case, and only the listing tells.
            if found.is_none() || cfg!(target_os = "linux") {
                return found;
            }
        }
        directory.entry(self.listing(directory).entries(), name)
    }

    fn probe(&self, directory: &Directory<'a>, name: &str) -> Option<EntryKind> {
        let path = join(&directory.real, name);
        self.probes.get_or_insert(&path, || self.system.lstat(Path::new(&path)).ok().map(|stat| stat.kind))
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
        let relative = self.root.relative(real)?;
        let index = directories.binary_search_by(|directory| directory.path.as_ref().cmp(relative)).ok()?;
        directories.get(index).map(|directory| directory.entries.as_slice())
    }
}

impl Files for World<'_> {
    fn kind(&self, path: &str) -> Option<EntryKind> {
        if self.root.is_at_or_below(path) {
            return Some(EntryKind::Dir);
        }
        let (parent, name) = split_last(path)?;
        let directory = self.directory(parent)?;
        let kind = match self.entry(&directory, name)? {
            EntryKind::Link => self.follow(&directory, name, &mut 0)?.1,
            kind => kind,
        };
        (kind != EntryKind::Other).then_some(kind)
    }

    fn first_file(&self, stem: &str, endings: &[&str]) -> Option<usize> {
        let (parent, name) = split_last(stem)?;
        let directory = self.directory(parent)?;
        let mut candidate = String::with_capacity(name.len() + 12);
        candidate.push_str(name);
        endings.iter().position(|ending| {
            candidate.truncate(name.len());
            candidate.push_str(ending);
            match self.entry(&directory, &candidate) {
                Some(EntryKind::Link) => {
                    self.follow(&directory, &candidate, &mut 0).is_some_and(|(_, kind)| kind == EntryKind::File)
                }
                kind => kind == Some(EntryKind::File),
            }
        })
    }

    fn read(&self, path: &str) -> Option<Arc<[u8]>> {
        self.read_file(path).ok().map(|contents| contents.bytes)
    }

    fn real_path(&self, path: &str) -> Option<String> {
        self.resolve(path).map(|(real, _)| real)
    }

    fn list(&self, path: &str) -> Vec<(String, EntryKind)> {
        let Some(directory) = self.directory(path).filter(|directory| directory.listable) else {
            return Vec::new();
        };
        let led_to = |(name, kind): &(Box<str>, EntryKind)| {
            let kind = match kind {
                EntryKind::Link => self.follow(&directory, name, &mut 0)?.1,
                kind => *kind,
            };
            (kind != EntryKind::Other).then(|| (name.to_string(), kind))
        };
        self.listing(&directory).entries().iter().filter_map(led_to).collect()
    }
}

struct Directory<'a> {
    real: Box<str>,
    listable: bool,
    listing: OnceLock<Listing<'a>>,
    /// Where each name stands in the listing, by its hash; `AMBIGUOUS` where two names share one.
    names: OnceLock<FxHashMap<u64, u32>>,
}

const AMBIGUOUS: u32 = u32::MAX;
/// Shorter listings are searched as they are.
const FEW_ENTRIES: usize = 8;

impl Directory<'_> {
    fn entry(&self, entries: &[(Box<str>, EntryKind)], name: &str) -> Option<EntryKind> {
        let search = || entries.binary_search_by(|(entry, _)| entry.as_ref().cmp(name)).ok();
        let index = if entries.len() <= FEW_ENTRIES {
            search()?
        } else {
            match *self.names.get_or_init(|| hashed_names(entries)).get(&FxBuildHasher.hash_one(name))? {
                AMBIGUOUS => search()?,
                index => index as usize,
            }
        };
        entries.get(index).filter(|(entry, _)| **entry == *name).map(|(_, kind)| *kind)
    }
}

fn hashed_names(entries: &[(Box<str>, EntryKind)]) -> FxHashMap<u64, u32> {
    let mut names = FxHashMap::with_capacity_and_hasher(entries.len(), FxBuildHasher);
    for ((name, _), index) in entries.iter().zip(0..) {
        names.entry(FxBuildHasher.hash_one(&**name)).and_modify(|other| *other = AMBIGUOUS).or_insert(index);
    }
    names
}

enum Listing<'a> {
    Scanned(&'a [(Box<str>, EntryKind)]),
    Own { stat: Option<Stat>, hash: u64, entries: Vec<(Box<str>, EntryKind)> },
}

impl Listing<'_> {
    fn entries(&self) -> &[(Box<str>, EntryKind)] {
        match self {
            Self::Scanned(entries) => entries,
            Self::Own { entries, .. } => entries,
        }
    }
}

/// A map from paths that many threads fill: the first value for a path stays.
struct Sharded<V> {
    shards: [RwLock<FxHashMap<Box<str>, V>>; SHARDS],
}

impl<V> Default for Sharded<V> {
    fn default() -> Self {
        Self { shards: std::array::from_fn(|_| RwLock::default()) }
    }
}

impl<V: Clone> Sharded<V> {
    fn get(&self, path: &str) -> Option<V> {
        self.shard(path).read().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }

    /// `make` runs without a lock, and perhaps on two threads at once; both get the value that was first.
    fn get_or_insert(&self, path: &str, make: impl FnOnce() -> V) -> V {
        if let Some(found) = self.get(path) {
            return found;
        }
        let made = make();
        let mut shard = self.shard(path).write().unwrap_or_else(PoisonError::into_inner);
        shard.entry(path.into()).or_insert(made).clone()
    }

    /// In no particular order.
    fn for_each(&self, mut visit: impl FnMut(&str, &V)) {
        for shard in &self.shards {
            let shard = shard.read().unwrap_or_else(PoisonError::into_inner);
            shard.iter().for_each(|(path, value)| visit(path, value));
        }
    }

    fn shard(&self, path: &str) -> &RwLock<FxHashMap<Box<str>, V>> {
        // The map uses the low bits of the same hash, so the shard is chosen by others.
        let index = (FxBuildHasher.hash_one(path) >> 40) as usize % SHARDS;
        &self.shards[index]
    }
}
