//! An in-memory file system behind [`System`], for tests and dry runs: symlinks, unreadable entries, unusual names, and a clock
//! that only moves when it is set. No model of permissions or hard links.

mod output;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::paths::MAX_LINKS;
use crate::paths::real_path;
use crate::system::{
    Access, DirEntry, DirectoryFiles, EntryKind, HeldLock, Links, OpenFile, OutputFile, Owner, Stat, System,
    WritableSystem,
};

/// An in-memory file system. All paths are absolute; missing parent directories are created.
#[derive(Debug)]
pub struct MemorySystem {
    /// Shared with open files.
    state: Arc<RwLock<MemoryTree>>,
}

#[derive(Clone, Debug)]
struct MemoryTree {
    /// The first node is `/`. Removed nodes stay, unreachable.
    nodes: Vec<Node>,
    now: i64,
    /// Changes the order of entries in directory listings.
    order: u64,
    /// The nodes whose lock is held.
    locked: BTreeSet<usize>,
    /// Processes by token, and whether they run.
    running: BTreeMap<String, bool>,
    /// The last random number returned.
    random: u64,
}

#[derive(Clone, Debug)]
struct Node {
    content: Content,
    unreadable: bool,
    executable: bool,
    owner: Owner,
    private: bool,
    mtime: i64,
    ctime: i64,
}

#[derive(Clone, Debug)]
enum Content {
    File(Vec<u8>),
    Dir(BTreeMap<OsString, usize>),
    Link(PathBuf),
    Other,
}

impl Default for MemorySystem {
    fn default() -> Self {
        let mut state = MemoryTree {
            nodes: Vec::new(),
            now: 0,
            order: 0,
            locked: BTreeSet::new(),
            running: BTreeMap::new(),
            random: 0,
        };
        state.add(Content::Dir(BTreeMap::new()));
        Self { state: Arc::new(RwLock::new(state)) }
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

impl MemorySystem {
    /// Rejects a path that contains a symlink or is one, if links are refused.
    fn check_links(&self, path: &Path, links: Links) -> io::Result<()> {
        if links == Links::Follow || Path::new(&real_path(self, path)?) == path {
            return Ok(());
        }
        Err(io::Error::other("there is a link on the way to it, which is not followed"))
    }

    pub fn new() -> Self {
        Self::default()
    }

    /// An independent copy of the current state, without held locks.
    pub fn duplicate(&self) -> Self {
        let state = MemoryTree { locked: BTreeSet::new(), ..self.read().clone() };
        Self { state: Arc::new(RwLock::new(state)) }
    }

    /// Makes the file, or replaces its contents; the clock's time becomes its `mtime` and `ctime`.
    ///
    /// # Panics
    /// This and the other setters panic on paths that cannot be made, because they are for tests.
    pub fn set_file(&self, path: impl AsRef<Path>, contents: impl Into<Vec<u8>>) -> &Self {
        self.set(path.as_ref(), Content::File(contents.into()))
    }

    pub fn set_dir(&self, path: impl AsRef<Path>) -> &Self {
        self.write().make_dirs(path.as_ref()).expect("no directory can be made here");
        self
    }

    /// `target` is stored as written, and may not exist.
    pub fn set_link(&self, path: impl AsRef<Path>, target: impl Into<PathBuf>) -> &Self {
        self.set(path.as_ref(), Content::Link(target.into()))
    }

    /// A pipe, socket or device.
    pub fn set_other(&self, path: impl AsRef<Path>) -> &Self {
        self.set(path.as_ref(), Content::Other)
    }

    /// Makes reading or listing the path fail, or work again.
    pub fn set_unreadable(&self, path: impl AsRef<Path>, unreadable: bool) -> &Self {
        let mut state = self.write();
        let index = state.find(path.as_ref(), false).expect("there is no such path");
        let now = state.now;
        let node = &mut state.nodes[index];
        node.unreadable = unreadable;
        node.ctime = now;
        drop(state);
        self
    }

    /// Sets whether the owner of a file may execute it.
    pub fn set_executable(&self, path: impl AsRef<Path>, executable: bool) -> &Self {
        let mut state = self.write();
        let index = state.find(path.as_ref(), true).expect("there is no such path");
        state.nodes[index].executable = executable;
        drop(state);
        self
    }

    /// Sets whether a file is unreadable for other users.
    pub fn set_private(&self, path: impl AsRef<Path>, private: bool) -> &Self {
        let mut state = self.write();
        let index = state.find(path.as_ref(), true).expect("there is no such path");
        state.nodes[index].private = private;
        drop(state);
        self
    }

    /// Sets the owner of a path; by default the caller owns everything.
    pub fn set_owner(&self, path: impl AsRef<Path>, owner: Owner) -> &Self {
        let mut state = self.write();
        let index = state.find(path.as_ref(), false).expect("there is no such path");
        state.nodes[index].owner = owner;
        drop(state);
        self
    }

    /// Sets whether the process with a token runs. By default, only the own process is known to run.
    pub fn set_running(&self, token: &str, running: bool) -> &Self {
        self.write().running.insert(token.to_owned(), running);
        self
    }

    /// Sets `mtime` and `ctime` of a path.
    pub fn set_times(&self, path: impl AsRef<Path>, mtime: i64, ctime: i64) -> &Self {
        let mut state = self.write();
        let index = state.find(path.as_ref(), false).expect("there is no such path");
        let node = &mut state.nodes[index];
        (node.mtime, node.ctime) = (mtime, ctime);
        drop(state);
        self
    }

    /// Removes a file, a symlink, or a directory with everything in it.
    pub fn remove(&self, path: impl AsRef<Path>) -> &Self {
        self.write().unlink(path.as_ref(), true).expect("there is no such path");
        self
    }

    /// Sets the clock, in nanoseconds since the epoch.
    pub fn set_now(&self, now: i64) -> &Self {
        self.write().now = now;
        self
    }

    /// A number other than 0 makes directories list their entries in another order.
    pub fn set_order(&self, seed: u64) -> &Self {
        self.write().order = seed;
        self
    }

    fn set(&self, path: &Path, content: Content) -> &Self {
        self.write().put(path, content).expect("nothing can be put here");
        self
    }

    fn read(&self) -> RwLockReadGuard<'_, MemoryTree> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, MemoryTree> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl System for MemorySystem {
    fn list_dir(&self, path: &Path, links: Links) -> io::Result<Vec<DirEntry>> {
        self.check_links(path, links)?;
        let state = self.read();
        let node = state.node(state.find(path, true)?)?;
        let Content::Dir(children) = &node.content else { return Err(io::ErrorKind::NotADirectory.into()) };
        if node.unreadable {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let mut entries = Vec::with_capacity(children.len());
        for (name, &child) in children {
            entries.push(DirEntry { name: name.clone(), kind: state.node(child)?.kind() });
        }
        // Real directories are unordered: tests with a seed detect code that depends on an order.
        if state.order != 0 {
            entries.sort_by_cached_key(|entry| shuffle(&entry.name, state.order));
        }
        Ok(entries)
    }

    fn lstat(&self, path: &Path) -> io::Result<Stat> {
        let state = self.read();
        state.stat(state.find(path, false)?)
    }

    fn owner(&self, path: &Path) -> io::Result<Owner> {
        let state = self.read();
        let index = state.find(path, false)?;
        Ok(state.node(index)?.owner)
    }

    fn open_file(&self, path: &Path, links: Links) -> io::Result<OpenFile> {
        self.check_links(path, links)?;
        self.open_handle(path)
    }

    fn read_file(&self, path: &Path, links: Links, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Stat> {
        self.check_links(path, links)?;
        let state = self.read();
        let index = state.find(path, true)?;
        let node = state.node(index)?;
        let Content::File(contents) = &node.content else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        };
        if node.unreadable {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        if contents.len() as u64 > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        buffer.extend_from_slice(contents);
        state.stat(index)
    }

    fn directory_files(&self, _path: &Path) -> Option<Box<dyn DirectoryFiles>> {
        None
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        let state = self.read();
        match &state.node(state.find(path, false)?)?.content {
            Content::Link(target) => Ok(target.clone()),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    fn now(&self) -> i64 {
        self.read().now
    }
}

impl WritableSystem for MemorySystem {
    fn write_atomic(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.write();
        let parent = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        state.find(parent, true)?;
        state.put(path, Content::File(bytes.to_vec()))
    }

    fn write_atomic_pieces(&self, path: &Path, pieces: &[&[u8]]) -> io::Result<()> {
        self.write_atomic(path, &pieces.concat())
    }

    fn write_atomic_durable(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.write_atomic(path, bytes)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.write().make_dirs(path).map(drop)
    }

    fn create_private_dir_all(&self, path: &Path) -> io::Result<()> {
        self.create_dir_all(path)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.write().unlink(path, false)
    }

    fn remove_real(&self, path: &Path) -> io::Result<()> {
        self.check_links(folder_of(path), Links::Refuse)?;
        self.remove_file(path)
    }

    /// Different numbers in each call, but the same ones in every test run.
    fn random(&self, bytes: &mut [u8]) -> io::Result<()> {
        let mut state = self.write();
        for byte in bytes {
            state.random = state.random.wrapping_add(1);
            *byte = shuffle(OsStr::new("random"), state.random) as u8;
        }
        Ok(())
    }

    fn process_token(&self) -> io::Result<String> {
        Ok("1 0 boot memory".to_owned())
    }

    fn is_running(&self, token: &str) -> Option<bool> {
        let own = self.process_token().is_ok_and(|own| own == token);
        if own { Some(true) } else { self.read().running.get(token).copied() }
    }

    fn create_new(&self, path: &Path, access: Access) -> io::Result<Box<dyn OutputFile>> {
        self.create_file(path, access)
    }

    fn permissions(&self, path: &Path) -> io::Result<u32> {
        self.mode_of(path)
    }

    fn set_permissions(&self, path: &Path, mode: u32) -> io::Result<()> {
        self.set_mode(path, mode)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.write().rename(from, to)
    }

    fn rename_real(&self, from: &Path, to: &Path) -> io::Result<()> {
        [from, to].iter().try_for_each(|path| self.check_links(folder_of(path), Links::Refuse))?;
        self.rename(from, to)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.write().remove_empty_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let state = self.read();
        state.find(path, true).map(drop)
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn HeldLock>>> {
        self.lock_file(path)
    }
}

impl MemoryTree {
    fn node(&self, index: usize) -> io::Result<&Node> {
        self.nodes.get(index).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn stat(&self, index: usize) -> io::Result<Stat> {
        let node = self.node(index)?;
        let size = match &node.content {
            Content::File(contents) => contents.len() as u64,
            Content::Link(target) => target.as_os_str().len() as u64,
            Content::Dir(_) | Content::Other => 0,
        };
        Ok(Stat { kind: node.kind(), size, mtime: node.mtime, ctime: node.ctime, inode: index as u64 + 1 })
    }

    /// Resolves a path like a kernel: follows symlinks in the middle, and a final one only if requested.
    fn find(&self, path: &Path, follow_last: bool) -> io::Result<usize> {
        let mut trail = vec![0];
        let mut links = 0;
        let mut pending: Vec<OsString> = Vec::new();
        push(&mut pending, &mut trail, path);
        while let Some(name) = pending.pop() {
            let here = *trail.last().unwrap_or(&0);
            let Content::Dir(children) = &self.node(here)?.content else {
                return Err(io::ErrorKind::NotADirectory.into());
            };
            if name == ".." {
                trail.truncate(trail.len().max(2) - 1);
                continue;
            }
            let &child = children.get(&name).ok_or(io::ErrorKind::NotFound)?;
            match &self.node(child)?.content {
                Content::Link(target) if follow_last || !pending.is_empty() => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(io::Error::other("too many links"));
                    }
                    push(&mut pending, &mut trail, target);
                }
                _ => trail.push(child),
            }
        }
        Ok(*trail.last().unwrap_or(&0))
    }

    fn make_dirs(&mut self, path: &Path) -> io::Result<usize> {
        let mut here = PathBuf::from("/");
        let mut index = 0;
        for component in path.components() {
            let Component::Normal(name) = component else { continue };
            here.push(name);
            index = match self.find(&here, true) {
                Ok(found) => found,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    self.insert(index, name, Content::Dir(BTreeMap::new()))?
                }
                Err(error) => return Err(error),
            };
        }
        match self.node(index)?.content {
            Content::Dir(_) => Ok(index),
            _ => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    fn put(&mut self, path: &Path, content: Content) -> io::Result<()> {
        let (parent, name) = path.parent().zip(path.file_name()).ok_or(io::ErrorKind::InvalidInput)?;
        let parent = self.make_dirs(parent)?;
        self.insert(parent, name, content).map(drop)
    }

    /// A file keeps its inode when its contents are replaced, but not when another kind of entry replaces it.
    fn insert(&mut self, parent: usize, name: &OsStr, content: Content) -> io::Result<usize> {
        let now = self.now;
        let next = self.nodes.len();
        let directory = self.nodes.get_mut(parent).ok_or(io::ErrorKind::NotFound)?;
        let Content::Dir(children) = &mut directory.content else { return Err(io::ErrorKind::NotADirectory.into()) };
        let existing = children.get(name).copied();
        if let Some(node) = existing.and_then(|index| self.nodes.get_mut(index))
            && let (Content::File(old), Content::File(new)) = (&mut node.content, &content)
        {
            old.clone_from(new);
            (node.mtime, node.ctime) = (now, now);
            return Ok(existing.unwrap_or(next));
        }
        let directory = self.nodes.get_mut(parent).ok_or(io::ErrorKind::NotFound)?;
        if let Content::Dir(children) = &mut directory.content {
            children.insert(name.to_owned(), next);
        }
        (directory.mtime, directory.ctime) = (now, now);
        Ok(self.add(content))
    }

    fn add(&mut self, content: Content) -> usize {
        let now = self.now;
        let (executable, private, owner) = (false, false, Owner::Caller);
        self.nodes.push(Node { content, unreadable: false, executable, owner, private, mtime: now, ctime: now });
        self.nodes.len() - 1
    }

    fn unlink(&mut self, path: &Path, directories_too: bool) -> io::Result<()> {
        let (parent, name) = path.parent().zip(path.file_name()).ok_or(io::ErrorKind::InvalidInput)?;
        let index = self.find(path, false)?;
        if !directories_too && matches!(self.node(index)?.content, Content::Dir(_)) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let parent = self.find(parent, true)?;
        let now = self.now;
        if let Some(node) = self.nodes.get_mut(parent) {
            (node.mtime, node.ctime) = (now, now);
            if let Content::Dir(children) = &mut node.content {
                children.remove(name);
            }
        }
        Ok(())
    }
}

impl Node {
    fn kind(&self) -> EntryKind {
        match self.content {
            Content::File(_) => EntryKind::File,
            Content::Dir(_) => EntryKind::Dir,
            Content::Link(_) => EntryKind::Link,
            Content::Other => EntryKind::Other,
        }
    }
}

/// Pushes the components of `path` onto a stack, the first one on top. An absolute path restarts at `/`.
fn push(pending: &mut Vec<OsString>, trail: &mut Vec<usize>, path: &Path) {
    for component in path.components().rev() {
        match component {
            Component::Normal(name) => pending.push(name.to_owned()),
            Component::ParentDir => pending.push("..".into()),
            Component::RootDir => trail.truncate(1),
            Component::CurDir | Component::Prefix(_) => {}
        }
    }
}

/// A pseudo-random key for a name: FNV-1a, seeded.
fn shuffle(name: &OsStr, seed: u64) -> u64 {
    name.as_encoded_bytes()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325 ^ seed, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
        .rotate_left(29)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system_ext::SystemExt as _;

    fn names(system: &MemorySystem, path: &str) -> Vec<String> {
        let entries = system.read_dir(Path::new(path)).unwrap();
        entries.into_iter().map(|entry| entry.name.into_string().unwrap()).collect()
    }

    #[test]
    fn links_are_followed_like_a_kernel_does() {
        let system = MemorySystem::new();
        system.set_file("/a/b/c", "x").set_link("/l", "a/b").set_link("/a/up", "../l/c").set_link("/o", "o");
        let mut buffer = Vec::new();
        system.read_into(Path::new("/l/../up"), &mut buffer).unwrap();
        assert_eq!(buffer, b"x");
        assert_eq!(system.lstat(Path::new("/l")).unwrap().kind, EntryKind::Link);
        assert_eq!(system.lstat(Path::new("/l/c")).unwrap().kind, EntryKind::File);
        assert_eq!(names(&system, "/l"), ["c"]);
        assert!(system.read_into(Path::new("/o"), &mut buffer).is_err());
        assert!(system.lstat(Path::new("/a/b/c/d")).is_err());
    }

    #[test]
    fn times_follow_the_clock() {
        let system = MemorySystem::new();
        system.set_file("/d/a", "1").set_now(5).set_file("/d/a", "2");
        assert_eq!(system.lstat(Path::new("/d/a")).unwrap().mtime, 5);
        assert_eq!(system.lstat(Path::new("/d")).unwrap().mtime, 0, "an edit leaves the directory alone");
        system.set_file("/d/b", "");
        assert_eq!(system.lstat(Path::new("/d")).unwrap().mtime, 5);
        system.set_now(7).remove("/d/b").set_times("/d/a", 1, 2);
        assert_eq!(system.lstat(Path::new("/d")).unwrap().mtime, 7);
        assert_eq!(system.lstat(Path::new("/d/a")).unwrap().ctime, 2);
    }

    #[test]
    fn the_order_of_listings_can_be_shuffled() {
        let system = MemorySystem::new();
        for i in 0..20 {
            system.set_file(format!("/{i:02}"), "");
        }
        let orders: Vec<_> = (0..3).map(|seed| names(system.set_order(seed), "/")).collect();
        assert!(orders[0].is_sorted() && orders[1] != orders[0] && orders[2] != orders[1]);
    }

    #[test]
    fn writing_replaces_links_and_makes_no_parents() {
        let system = MemorySystem::new();
        assert!(system.write_atomic(Path::new("/c/x"), b"1").is_err(), "parents are not made by writing");
        system.create_dir_all(Path::new("/c/d")).unwrap();
        system.set_link("/c/x", "/c/target");
        system.write_atomic(Path::new("/c/x"), b"1").unwrap();
        assert_eq!(system.lstat(Path::new("/c/x")).unwrap().kind, EntryKind::File, "the link is replaced");
        assert!(system.lstat(Path::new("/c/target")).is_err());
        assert!(system.remove_file(Path::new("/c/d")).is_err());
        system.remove_file(Path::new("/c/x")).unwrap();
        assert!(system.lstat(Path::new("/c/x")).is_err());
    }
}
