//! Which caches are trusted: those that this user's runs wrote in this checkout.
//!
//! The author of a repository can commit files that look like a cache, with correct checksums. But a commit or an archive cannot
//! carry the inode and the change time that files get on this machine. So each file of a cache has a seal beside it: a MAC, by a
//! key that only this user has, of the file's stat after it was written. Any other file in its place, and any later change, has
//! another stat, and no other user can create a seal. A MAC of the contents is not needed, and would cost more than the rest of
//! an unchanged run.
//!
//! In a folder outside the repository that the user named, files are trusted by their owner instead, so that a restored copy of a
//! cache can be used.

use std::io;
use std::path::Path;

use sha2::{Digest as _, Sha256};
use stan_repo::{
    AbsPath, Access, EntryKind, Owner, Stat, System, SystemExt as _, WritableSystem, real_path, remove_leftovers,
    temporary_name,
};

const KEY_FILE: &str = "cache.key";
const KEY_LENGTH: usize = 32;

/// The suffix of a sealed file's name in the name of its seal.
pub(super) const SUFFIX: &str = ".seal";

/// How the files of a cache folder are verified.
pub(super) enum Trust {
    /// Each file has a seal by this key.
    Sealed(Key),
    /// The folder is outside the repository; files owned by the user or by root are trusted.
    Owned,
}

impl Trust {
    /// `root` and `directory` are absolute. Returns `None` if no cache can be trusted there.
    pub(super) fn of(
        system: &dyn WritableSystem,
        root: &str,
        directory: &str,
        state_directory: Option<&str>,
    ) -> Option<Self> {
        if !is_within(directory, root) {
            system.create_dir_all(Path::new(directory)).ok()?;
            let real = real_path(system, Path::new(directory)).ok()?;
            if !is_within(&real, repository_top(system, root)) {
                return is_own(system, &real).then_some(Self::Owned);
            }
        }
        Key::of_user(system, state_directory?, repository_top(system, root)).map(Self::Sealed)
    }

    /// Whether a run of this user wrote the file that now has this stat.
    pub(super) fn accepts(&self, system: &dyn System, path: &str, stat: &Stat) -> bool {
        match self {
            Self::Owned => is_own(system, path),
            Self::Sealed(key) => {
                let mut seal = Vec::new();
                let length = KEY_LENGTH as u64;
                system.read_at_most(Path::new(&sealed(path)), length, &mut seal).is_ok() && seal == key.mac(path, stat)
            }
        }
    }

    /// Seals a file that was just written.
    pub(super) fn seal(&self, system: &dyn WritableSystem, path: &str) -> Option<()> {
        let Self::Sealed(key) = self else { return Some(()) };
        let stat = system.lstat(Path::new(path)).ok()?;
        system.write_atomic(Path::new(&sealed(path)), &key.mac(path, &stat)).ok()
    }
}

fn sealed(path: &str) -> String {
    [path, SUFFIX].concat()
}

fn is_own(system: &dyn System, path: &str) -> bool {
    matches!(system.owner(Path::new(path)), Ok(Owner::Caller | Owner::Root))
}

fn is_within(path: &str, folder: &str) -> bool {
    AbsPath::new(folder).holds(path)
}

/// The folder that a checkout of the repository writes to: the nearest one with `.git`, or the root itself.
fn repository_top<'r>(system: &dyn System, root: &'r str) -> &'r str {
    let above = std::iter::successors(Some(root.trim_end_matches('/')), |path| path.rsplit_once('/').map(|(up, _)| up));
    let has_git = |folder: &&str| system.lstat(Path::new(&[folder, "/.git"].concat())).is_ok();
    above.into_iter().find(has_git).unwrap_or(root)
}

/// The secret key of this user.
pub(super) struct Key([u8; KEY_LENGTH]);

impl Key {
    /// Reads the key, or creates one. Returns `None` if the user has no folder for it, or only one inside the repository, which
    /// could contain a key of its own.
    fn of_user(system: &dyn WritableSystem, folder: &str, top: &str) -> Option<Self> {
        if is_within(folder, top) {
            return None;
        }
        let path = format!("{folder}/{KEY_FILE}");
        let real = real_path(system, Path::new(folder)).ok();
        let is_outside = |real: &String| !is_within(real, top);
        if let Some(real) = real {
            if !is_outside(&real) {
                return None;
            }
            // A key that cannot be read now may be readable in the next run, so it must not be replaced.
            if let Some(key) = Self::read(system, &path).ok()? {
                return Some(key);
            }
        }
        system.create_private_dir_all(Path::new(folder)).ok()?;
        real_path(system, Path::new(folder)).ok().filter(is_outside)?;
        Self::make(system, folder, &path)
    }

    /// Returns `None` if the file does not exist or cannot be this user's.
    fn read(system: &dyn System, path: &str) -> io::Result<Option<Self>> {
        let stat = match system.lstat(Path::new(path)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            looked => looked?,
        };
        if stat.kind != EntryKind::File || stat.size != KEY_LENGTH as u64 || !is_own(system, path) {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        system.read_at_most(Path::new(path), KEY_LENGTH as u64, &mut bytes)?;
        Ok(bytes.try_into().ok().map(Self))
    }

    fn make(system: &dyn WritableSystem, folder: &str, path: &str) -> Option<Self> {
        remove_leftovers(system, Path::new(folder), &[KEY_FILE]);
        let mut key = [0; KEY_LENGTH];
        let mut number = [0; 4];
        system.random(&mut key).and_then(|()| system.random(&mut number)).ok()?;
        let name = temporary_name(u32::from_le_bytes(number), 0, KEY_FILE);
        let temporary = Path::new(folder).join(name);
        let mut file = system.create_new(&temporary, Access::Private).ok()?;
        let written = file.write_all(&key);
        drop(file);
        if written.and_then(|()| system.rename(&temporary, Path::new(path))).is_err() {
            let _ = system.remove_file(&temporary);
            return None;
        }
        // Another run may have created a key at the same time: use the one on disk.
        Self::read(system, path).ok()?
    }

    /// HMAC-SHA-256 of a file's path and stat.
    fn mac(&self, path: &str, stat: &Stat) -> [u8; KEY_LENGTH] {
        let keyed = |pad: u8| {
            let mut block = [pad; 64];
            block.iter_mut().zip(self.0).for_each(|(byte, key)| *byte ^= key);
            Sha256::new().chain_update(block)
        };
        let inner = keyed(0x36)
            .chain_update(stat.inode.to_le_bytes())
            .chain_update(stat.ctime.to_le_bytes())
            .chain_update(stat.mtime.to_le_bytes())
            .chain_update(stat.size.to_le_bytes())
            .chain_update(path)
            .finalize();
        keyed(0x5c).chain_update(inner).finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use stan_repo::MemorySystem;

    use super::*;

    fn trust(system: &MemorySystem, directory: &str, state: Option<&str>) -> Option<Trust> {
        Trust::of(system, "/w/r", directory, state)
    }

    #[test]
    fn a_seal_is_valid_only_for_the_unchanged_file() {
        let system = MemorySystem::from_fixture("//- /w/r/.git/HEAD\n//- /w/r/.stan/cache/a\nabc\n");
        system.set_now(5);
        let (a, b) = ("/w/r/.stan/cache/a", "/w/r/.stan/cache/b");
        let stat = |path: &str| system.lstat(Path::new(path)).unwrap();
        let ours = trust(&system, "/w/r/.stan/cache", Some("/state")).unwrap();
        assert!(!ours.accepts(&system, a, &stat(a)), "a file without a seal");
        ours.seal(&system, a).unwrap();
        assert!(ours.accepts(&system, a, &stat(a)));
        let again = trust(&system, "/w/r/.stan/cache", Some("/state")).unwrap();
        assert!(again.accepts(&system, a, &stat(a)), "the key stays");
        // Copied with its seal.
        system.set_file(b, "abc\n");
        let mut seal = Vec::new();
        system.read_into(Path::new(&sealed(a)), &mut seal).unwrap();
        system.set_file(sealed(b), seal);
        assert!(!ours.accepts(&system, b, &stat(b)));
        // Written again with the same bytes, at another time.
        system.set_now(6).set_file(a, "abc\n");
        assert!(!ours.accepts(&system, a, &stat(a)));
        let other = trust(&system, "/w/r/.stan/cache", Some("/other-user")).unwrap();
        ours.seal(&system, a).unwrap();
        assert!(!other.accepts(&system, a, &stat(a)));
    }

    #[test]
    fn the_key_is_private_and_outside_the_repository() {
        let system = MemorySystem::from_fixture("//- /w/.git/HEAD\n//- /w/r/a.ts\n//- link /inside -> /w/r/state\n");
        let cache = "/w/r/.stan/cache";
        for state in [None, Some("/w/r/state"), Some("/w/state")] {
            assert!(trust(&system, cache, state).is_none(), "{state:?}");
        }
        system.set_dir("/w/r/state");
        assert!(trust(&system, cache, Some("/inside")).is_none());
        assert!(trust(&system, cache, Some("/state")).is_some());
        assert!(system.open(Path::new("/state/cache.key")).unwrap().private);
        assert_eq!(system.read_dir(Path::new("/state")).unwrap().len(), 1);
        // Corrupt, or of another user.
        system.set_file("/state/cache.key", "short");
        assert!(trust(&system, cache, Some("/state")).is_some(), "it is made again");
        system.set_owner("/state/cache.key", Owner::Other);
        let made = trust(&system, cache, Some("/state"));
        assert!(made.is_some() && system.owner(Path::new("/state/cache.key")).unwrap() == Owner::Caller);
    }

    #[test]
    fn outside_the_repository_files_are_trusted_by_their_owner() {
        let system = MemorySystem::from_fixture("//- /w/.git/HEAD\n//- /w/r/a.ts\n//- link /to-r -> /w/r/c\n");
        system.set_dir("/w/r/c").set_dir("/theirs").set_owner("/theirs", Owner::Other);
        system.set_dir("/roots").set_owner("/roots", Owner::Root);
        let is_owned = |directory: &str| matches!(trust(&system, directory, None), Some(Trust::Owned));
        assert!(is_owned("/own") && is_owned("/roots") && is_owned("/w-own"));
        for directory in ["/theirs", "/w/r/c", "/w/c", "/to-r"] {
            assert!(!is_owned(directory), "{directory}");
        }
        system.set_file("/own/f", "").set_owner("/own/f", Owner::Other);
        let stat = system.lstat(Path::new("/own/f")).unwrap();
        assert!(!Trust::Owned.accepts(&system, "/own/f", &stat), "another user wrote it");
    }
}
