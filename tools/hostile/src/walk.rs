//! Lists everything in a folder and compares two listings, to check that nothing is written elsewhere.
//!
//! Folders are opened relative to each other, because paths of deep ones exceed the system's limit. Symlinks are never followed,
//! and only regular files are opened.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::io::Read as _;
use std::path::Path;
use std::rc::Rc;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, openat, readlinkat, statat};
use sha2::{Digest as _, Sha256};

use crate::Result;

/// Longer paths are walked from a folder that is kept open.
const MAX_PATH_BYTES: usize = 200;
/// Larger files are compared only by stat: every change of a file changes its ctime.
const MAX_HASHED_BYTES: u64 = 1 << 20;
/// With more files, only stats are compared.
const MAX_HASHED: usize = 20_000;

/// Everything below a folder by relative path, with `/` between names.
pub(super) type Listing = BTreeMap<Vec<u8>, Entry>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) kind: char,
    mode: u32,
    owner: (u32, u32),
    pub(super) size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    inode: u64,
    target: Option<Vec<u8>>,
    digest: Option<[u8; 32]>,
}

/// Lists a folder. Does not read files again that are unchanged since `before`.
pub(super) fn list(folder: &Path, before: &Listing) -> Result<Listing> {
    let base = Rc::new(openat(CWD, folder, DIRECTORY, Mode::empty())?);
    let mut listing = Listing::new();
    let mut pending = vec![PendingFolder { base, way: b".".to_vec(), path: Vec::new() }];
    while let Some(place) = pending.pop() {
        // We cannot compare a folder that we cannot enter.
        let Ok(opened) = openat(&*place.base, place.way.as_slice(), DIRECTORY, Mode::empty()) else { continue };
        let opened = Rc::new(opened);
        for entry in Dir::read_from(&*opened)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let path = joined(&place.path, name);
            // A file may have been deleted since it was listed; the comparison will report that.
            let Ok(stat) = statat(&*opened, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let hashed = listing.len() < MAX_HASHED;
            let found = describe(&opened, name, &stat, before.get(&path).filter(|_| hashed), hashed);
            if found.kind == 'd' {
                pending.push(place.below(&opened, name, path.clone()));
            }
            listing.insert(path, found);
        }
    }
    Ok(listing)
}

/// The new, deleted and changed paths, each with what happened.
pub(super) fn changes(before: &Listing, after: &Listing) -> Vec<(Vec<u8>, &'static str)> {
    let mut changes = Vec::new();
    for (path, entry) in before {
        match after.get(path) {
            None => changes.push((path.clone(), "gone")),
            Some(now) if !now.is_same(entry) => changes.push((path.clone(), "changed")),
            Some(_) => {}
        }
    }
    changes.extend(after.keys().filter(|path| !before.contains_key(*path)).map(|path| (path.clone(), "new")));
    changes
}

impl Entry {
    /// Only the first files are hashed, and a new file among them moves where hashing stops.
    fn is_same(&self, other: &Self) -> bool {
        let are_hashed = self.digest.is_some() && other.digest.is_some();
        let compared = |entry: &Self| Self { digest: entry.digest.filter(|_| are_hashed), ..entry.clone() };
        compared(self) == compared(other)
    }

    /// Whether only the times differ, as for a folder in which something was created.
    pub(super) fn differs_in_times_alone(&self, other: &Self) -> bool {
        let timeless = |entry: &Self| Self { modified: (0, 0), changed: (0, 0), size: 0, ..entry.clone() };
        timeless(self) == timeless(other)
    }
}

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

struct PendingFolder {
    /// A folder that is kept open, and the path relative to it.
    base: Rc<OwnedFd>,
    way: Vec<u8>,
    /// The path from the listed folder.
    path: Vec<u8>,
}

impl PendingFolder {
    fn below(&self, opened: &Rc<OwnedFd>, name: &CStr, path: Vec<u8>) -> Self {
        if self.way.len() < MAX_PATH_BYTES {
            return Self { base: Rc::clone(&self.base), way: joined(&self.way, name), path };
        }
        Self { base: Rc::clone(opened), way: name.to_bytes().to_vec(), path }
    }
}

fn joined(path: &[u8], name: &CStr) -> Vec<u8> {
    if path.is_empty() { name.to_bytes().to_vec() } else { [path, b"/", name.to_bytes()].concat() }
}

fn describe(folder: &OwnedFd, name: &CStr, stat: &Stat, before: Option<&Entry>, hashed: bool) -> Entry {
    let kind = FileType::from_raw_mode(stat.st_mode);
    let mut entry = Entry {
        kind: letter(kind),
        mode: stat.st_mode & 0o7777,
        owner: (stat.st_uid, stat.st_gid),
        size: u64::try_from(stat.st_size).unwrap_or(0),
        modified: (stat.st_mtime, i64::try_from(stat.st_mtime_nsec).unwrap_or(0)),
        changed: (stat.st_ctime, i64::try_from(stat.st_ctime_nsec).unwrap_or(0)),
        inode: stat.st_ino,
        target: None,
        digest: None,
    };
    if kind == FileType::Symlink {
        entry.target = readlinkat(folder, name, Vec::new()).ok().map(|target| target.into_bytes());
    } else if kind == FileType::RegularFile && hashed && entry.size <= MAX_HASHED_BYTES {
        let known = before.filter(|before| Entry { digest: None, ..(*before).clone() } == entry);
        entry.digest = known.and_then(|known| known.digest).or_else(|| digest(folder, name));
    }
    entry
}

fn digest(folder: &OwnedFd, name: &CStr) -> Option<[u8; 32]> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    hash(std::fs::File::from(openat(folder, name, flags, Mode::empty()).ok()?))
}

/// The digest of an open file of any size.
pub(super) fn hash(mut file: std::fs::File) -> Option<[u8; 32]> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(hasher.finalize().into()),
            count => hasher.update(&buffer[..count]),
        }
    }
}

fn letter(kind: FileType) -> char {
    match kind {
        FileType::RegularFile => 'f',
        FileType::Directory => 'd',
        FileType::Symlink => 'l',
        FileType::Fifo => 'p',
        FileType::Socket => 's',
        _ => 'o',
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Listing, changes, list};

    #[test]
    fn every_difference_of_a_tree_is_reported() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("a/b")).expect("folders");
        for name in ["same", "a/written", "a/b/gone", "mode"] {
            fs::write(at(name), "1").expect("a file");
        }
        std::os::unix::fs::symlink("same", at("link")).expect("a link");
        let before = list(folder.path(), &Listing::new()).expect("a listing");
        assert_eq!(changes(&before, &list(folder.path(), &before).expect("a listing")), []);
        fs::write(at("a/written"), "2").expect("a file");
        fs::remove_file(at("a/b/gone")).expect("a file");
        fs::write(at("made"), "").expect("a file");
        fs::remove_file(at("link")).expect("a link");
        std::os::unix::fs::symlink("made", at("link")).expect("a link");
        let mut permissions = fs::metadata(at("mode")).expect("a file").permissions();
        permissions.set_readonly(true);
        fs::set_permissions(at("mode"), permissions).expect("permissions");
        let found = changes(&before, &list(folder.path(), &before).expect("a listing"));
        let found: Vec<String> =
            found.iter().map(|(path, what)| format!("{} {what}", String::from_utf8_lossy(path))).collect();
        assert_eq!(
            found,
            ["a/b changed", "a/b/gone gone", "a/written changed", "link changed", "mode changed", "made new"]
        );
    }

    /// Found with 100,000 files: after a command created a file, another one was reported as changed because it was no longer
    /// hashed.
    #[test]
    fn a_file_without_a_hash_does_not_count_as_changed() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), "a").unwrap();
        let before = list(folder.path(), &Listing::new()).unwrap();
        let mut after = before.clone();
        after.values_mut().for_each(|entry| entry.digest = None);
        assert_eq!(changes(&before, &after), []);
        assert_eq!(changes(&after, &before), []);
        after.values_mut().for_each(|entry| entry.digest = Some([0; 32]));
        assert_eq!(changes(&before, &after), [(b"a".to_vec(), "changed")]);
    }
}
