//! Open files, renames and locks of the in-memory file system. An open file stays readable and writable after its name is
//! removed, as on Unix.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use super::{Content, MemorySystem, MemoryTree, Node};
use crate::system::{Access, HeldLock, InputFile, OpenFile, OutputFile, Stat};

impl MemorySystem {
    pub(super) fn open_handle(&self, path: &Path) -> io::Result<OpenFile> {
        let state = self.read();
        let index = state.find(path, true)?;
        let node = state.node(index)?;
        if !matches!(node.content, Content::File(_)) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        if node.unreadable {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let reader = Handle { state: Arc::clone(&self.state), index, position: 0 };
        let Node { executable, private, .. } = *node;
        Ok(OpenFile { stat: state.stat(index)?, executable, private, reader: Box::new(reader) })
    }

    pub(super) fn create_file(&self, path: &Path, access: Access) -> io::Result<Box<dyn OutputFile>> {
        let mut state = self.write();
        let index = state.create(path)?;
        if let Some(node) = state.nodes.get_mut(index) {
            node.executable = access == Access::Executable;
            node.private = matches!(access, Access::Private | Access::Undecided);
        }
        Ok(Box::new(Handle { state: Arc::clone(&self.state), index, position: 0 }))
    }

    /// Only whether it is executable, and who may read it.
    pub(super) fn mode_of(&self, path: &Path) -> io::Result<u32> {
        let state = self.read();
        let node = state.node(state.find(path, false)?)?;
        Ok(match (node.executable, node.private) {
            (false, false) => 0o644,
            (true, false) => 0o755,
            (false, true) => 0o600,
            (true, true) => 0o700,
        })
    }

    pub(super) fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()> {
        let mut state = self.write();
        let index = state.find(path, true)?;
        if let Some(node) = state.nodes.get_mut(index) {
            (node.executable, node.private) = (mode & 0o100 != 0, mode & 0o004 == 0);
        }
        Ok(())
    }

    pub(super) fn lock_file(&self, path: &Path) -> io::Result<Option<Box<dyn HeldLock>>> {
        let mut state = self.write();
        let index = match state.find(path, false) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => state.create(path)?,
            found => found?,
        };
        if !matches!(state.node(index)?.content, Content::File(_)) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        if !state.locked.insert(index) {
            return Ok(None);
        }
        Ok(Some(Box::new(Handle { state: Arc::clone(&self.state), index, position: 0 }.into_lock())))
    }
}

impl MemoryTree {
    /// Creates an empty file; its directory exists and its name is free.
    fn create(&mut self, path: &Path) -> io::Result<usize> {
        let (parent, name) = path.parent().zip(path.file_name()).ok_or(io::ErrorKind::InvalidInput)?;
        let parent = self.find(parent, true)?;
        let Content::Dir(children) = &self.node(parent)?.content else {
            return Err(io::ErrorKind::NotADirectory.into());
        };
        if children.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.insert(parent, name, Content::File(Vec::new()))
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let moved = self.find(from, false)?;
        let (parent, name) = to.parent().zip(to.file_name()).ok_or(io::ErrorKind::InvalidInput)?;
        let parent = self.find(parent, true)?;
        if let Ok(replaced) = self.find(to, false) {
            if matches!(self.node(replaced)?.content, Content::Dir(_)) {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            if replaced == moved {
                return Ok(());
            }
        }
        self.unlink(from, true)?;
        let now = self.now;
        let directory = self.nodes.get_mut(parent).ok_or(io::ErrorKind::NotFound)?;
        let Content::Dir(children) = &mut directory.content else { return Err(io::ErrorKind::NotADirectory.into()) };
        children.insert(name.to_owned(), moved);
        (directory.mtime, directory.ctime) = (now, now);
        Ok(())
    }

    pub(super) fn remove_empty_dir(&mut self, path: &Path) -> io::Result<()> {
        match &self.node(self.find(path, false)?)?.content {
            Content::Dir(children) if children.is_empty() => self.unlink(path, true),
            Content::Dir(_) => Err(io::ErrorKind::DirectoryNotEmpty.into()),
            _ => Err(io::ErrorKind::NotADirectory.into()),
        }
    }
}

/// An open file: its node, whatever its current name.
struct Handle {
    state: Arc<RwLock<MemoryTree>>,
    index: usize,
    position: usize,
}

impl Handle {
    fn into_lock(self) -> Lock {
        Lock(self)
    }

    fn change(&self, change: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let now = state.now;
        let node = state.nodes.get_mut(self.index).ok_or(io::ErrorKind::NotFound)?;
        let Content::File(contents) = &mut node.content else { return Err(io::ErrorKind::InvalidInput.into()) };
        change(contents);
        (node.mtime, node.ctime) = (now, now);
        Ok(())
    }
}

impl Read for Handle {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let Content::File(contents) = &state.node(self.index)?.content else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let count = contents.get(self.position..).unwrap_or_default().read(buffer)?;
        self.position += count;
        Ok(count)
    }
}

impl Seek for Handle {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let base = match to {
            SeekFrom::Start(_) => 0,
            SeekFrom::Current(_) => self.position as u64,
            SeekFrom::End(_) => InputFile::stat(self)?.size,
        };
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::Current(by) | SeekFrom::End(by) => base.checked_add_signed(by),
        };
        let position = position.ok_or(io::ErrorKind::InvalidInput)?;
        self.position = usize::try_from(position).map_err(|_| io::ErrorKind::InvalidInput)?;
        Ok(position)
    }
}

impl InputFile for Handle {
    fn stat(&self) -> io::Result<Stat> {
        self.state.read().unwrap_or_else(PoisonError::into_inner).stat(self.index)
    }
}

impl Write for Handle {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.change(|contents| contents.extend_from_slice(bytes))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl OutputFile for Handle {
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn share(&mut self) -> io::Result<()> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.nodes.get_mut(self.index).ok_or(io::ErrorKind::NotFound)?.private = false;
        Ok(())
    }
}

struct Lock(Handle);

impl HeldLock for Lock {
    fn describe(&mut self, holder: &str) -> io::Result<()> {
        self.0.change(|contents| *contents = holder.as_bytes().to_vec())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.0.state.write().unwrap_or_else(PoisonError::into_inner).locked.remove(&self.0.index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::{System, WritableSystem};
    use crate::system_ext::SystemExt as _;

    fn text(system: &MemorySystem, path: &str) -> String {
        let mut text = String::new();
        system.open(Path::new(path)).unwrap().reader.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn new_files_and_renaming() {
        let system = MemorySystem::from_fixture("//- /d/old\nold\n//- link /d/link -> nowhere\n");
        let [new, old, link] = ["/d/new", "/d/old", "/d/link"].map(Path::new);
        let mut file = system.create_new(new, Access::Executable).unwrap();
        file.write_all(b"new").unwrap();
        for taken in [new, old, link] {
            assert_eq!(system.create_new(taken, Access::Shared).err().unwrap().kind(), io::ErrorKind::AlreadyExists);
        }
        assert!(system.create_new(Path::new("/gone/x"), Access::Shared).is_err());
        system.rename(new, old).unwrap();
        file.write_all(b"er").unwrap();
        assert_eq!(text(&system, "/d/old"), "newer", "an open file is written whatever its name");
        assert!(system.open(old).unwrap().executable);
        assert!(system.lstat(new).is_err());
        system.rename(old, link).unwrap();
        assert_eq!(text(&system, "/d/link"), "newer");
        assert!(system.rename(link, Path::new("/d")).is_err());
    }

    #[test]
    fn open_files_seek_and_see_changes() {
        let system = MemorySystem::new();
        system.set_file("/f", "0123456789");
        let mut open = system.open(Path::new("/f")).unwrap();
        open.reader.seek(SeekFrom::Start(4)).unwrap();
        let mut two = [0; 2];
        open.reader.read_exact(&mut two).unwrap();
        assert_eq!((&two, open.stat.size), (b"45", 10));
        assert_eq!(open.reader.seek(SeekFrom::End(-1)).unwrap(), 9);
        assert!(open.reader.seek(SeekFrom::Current(-10)).is_err());
        system.set_now(3).set_file("/f", "");
        assert_eq!(open.reader.stat().unwrap().size, 0);
        assert!(system.open(Path::new("/")).is_err());
    }

    #[test]
    fn empty_directories_are_removed_and_locks_are_released_when_dropped() {
        let system = MemorySystem::from_fixture("//- /d/e/f\n//- link /l -> d\n");
        assert!(system.remove_dir(Path::new("/d/e")).is_err() && system.remove_dir(Path::new("/l")).is_err());
        system.remove("/d/e/f");
        system.remove_dir(Path::new("/d/e")).unwrap();
        let path = Path::new("/d/lock");
        let mut held = system.try_lock(path).unwrap().unwrap();
        held.describe("long words").unwrap();
        held.describe("me").unwrap();
        assert!(system.try_lock(path).unwrap().is_none());
        assert_eq!(text(&system, "/d/lock"), "me");
        drop(held);
        assert!(system.try_lock(path).unwrap().is_some());
        assert!(system.try_lock(Path::new("/l")).is_err());
    }
}
