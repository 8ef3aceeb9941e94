//! Which files of a checkout are not what git's index says, found without running git: its index is read, and files
//! whose size or time differ are hashed as git hashes them. No object is read, so what is staged counts as unchanged.

use std::collections::BTreeMap;
use std::path::Path;

use rayon::prelude::*;
use sha1::{Digest as _, Sha1};
use sha2::Sha256;
use stan_repo::{EntryKind, System};

/// A `.git` file and an index; larger ones are none.
const MAX_POINTER: u64 = 1 << 20;
const MAX_INDEX: u64 = 2 << 30;
const MAX_FILE: u64 = 2 << 30;

/// Why git cannot say what changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ChangedError {
    #[error("there is no git repository around the root")]
    NoRepository,
    #[error("the git index has not been made yet")]
    NoIndex,
    #[error("the git index cannot be read: {reason}")]
    BadIndex { reason: &'static str },
}

/// Of the given root-relative files, those that differ from the index or are not in it. The order is kept.
pub(crate) fn changed_files<'f>(
    system: &dyn System,
    root: &str,
    files: &[&'f str],
) -> Result<Vec<&'f str>, ChangedError> {
    let (top, directory) = find_repository(system, root).ok_or(ChangedError::NoRepository)?;
    let mut bytes = Vec::new();
    system
        .read_at_most(Path::new(&format!("{directory}/index")), MAX_INDEX, &mut bytes)
        .map_err(|_| ChangedError::NoIndex)?;
    let index = Index::parse(&bytes).map_err(|reason| ChangedError::BadIndex { reason })?;
    // The root may be a folder of the checkout: names in the index start at its top.
    let prefix = root.trim_end_matches('/').strip_prefix(&top).unwrap_or("").trim_start_matches('/');
    let differs = |file: &&&'f str| {
        let name = if prefix.is_empty() { (**file).to_owned() } else { format!("{prefix}/{file}") };
        match index.entries.get(name.as_bytes()) {
            None => true,
            Some(entry) => entry.differs(system, &format!("{}/{file}", root.trim_end_matches('/'))),
        }
    };
    Ok(files.par_iter().filter(differs).copied().collect())
}

/// The top of the checkout and the folder of its index.
fn find_repository(system: &dyn System, root: &str) -> Option<(String, String)> {
    let mut top = root.trim_end_matches('/');
    loop {
        let git = format!("{top}/.git");
        match system.lstat(Path::new(&git)).map(|stat| stat.kind) {
            Ok(EntryKind::Dir) => return Some((top.to_owned(), git)),
            Ok(EntryKind::File) => return Some((top.to_owned(), pointed_to(system, top, &git)?)),
            _ => top = top.rsplit_once('/')?.0,
        }
    }
}

/// A worktree or submodule has a file that says where its folder is.
fn pointed_to(system: &dyn System, top: &str, git: &str) -> Option<String> {
    let mut bytes = Vec::new();
    system.read_at_most(Path::new(git), MAX_POINTER, &mut bytes).ok()?;
    let target = std::str::from_utf8(bytes.strip_prefix(b"gitdir: ")?).ok()?.trim_end_matches(['\n', '\r']);
    Some(if target.starts_with('/') { target.to_owned() } else { format!("{top}/{target}") })
}

/// What the index knows of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct IndexEntry {
    /// Nanoseconds since the epoch.
    mtime: i64,
    /// The last 32 bits of it.
    size: u32,
    id: Vec<u8>,
}

impl IndexEntry {
    fn differs(&self, system: &dyn System, path: &str) -> bool {
        let Ok(stat) = system.lstat(Path::new(path)) else { return true };
        // Git writes a size of 0 for entries that it must look at again.
        if self.size != 0 && self.size != stat.size as u32 {
            return true;
        }
        if self.size != 0 && self.mtime != 0 && self.mtime == stat.mtime && !is_young(system, stat.mtime) {
            return false;
        }
        let mut bytes = Vec::new();
        if system.read_at_most(Path::new(path), MAX_FILE, &mut bytes).is_err() {
            return true;
        }
        let header = format!("blob {}\0", bytes.len());
        let id = if self.id.len() == 20 {
            Sha1::new().chain_update(header).chain_update(&bytes).finalize().to_vec()
        } else {
            Sha256::new().chain_update(header).chain_update(&bytes).finalize().to_vec()
        };
        id != self.id
    }
}

/// A file that was written in the last two seconds may have been written twice with one time.
fn is_young(system: &dyn System, mtime: i64) -> bool {
    system.now().saturating_sub(mtime) < 2_000_000_000
}

#[derive(Debug, Default)]
struct Index {
    entries: BTreeMap<Vec<u8>, IndexEntry>,
}

impl Index {
    fn parse(bytes: &[u8]) -> Result<Self, &'static str> {
        let header = bytes.first_chunk::<12>().ok_or("it is too short")?;
        let [_, _, _, _, v0, v1, v2, v3, c0, c1, c2, c3] = *header;
        if !header.starts_with(b"DIRC") {
            return Err("it has no DIRC signature");
        }
        let version = u32::from_be_bytes([v0, v1, v2, v3]);
        if !(2..=4).contains(&version) {
            return Err("its version is not 2, 3 or 4");
        }
        let count = u32::from_be_bytes([c0, c1, c2, c3]);
        // The file does not say how long its ids are; the wrong length does not lead to an exact end.
        let parse = |id| Reader { bytes, position: 12, id }.index(version, count);
        let (index, is_split) = parse(20).or_else(|| parse(32)).ok_or("its entries are damaged")?;
        if is_split { Err("it is split; `git update-index --no-split-index` joins it") } else { Ok(index) }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
    id: usize,
}

impl<'a> Reader<'a> {
    fn index(mut self, version: u32, count: u32) -> Option<(Index, bool)> {
        let mut index = Index::default();
        let mut name = Vec::new();
        for _ in 0..count {
            let entry = self.entry(version, &mut name)?;
            index.entries.insert(name.clone(), entry);
        }
        let end = self.bytes.len().checked_sub(self.id)?;
        let mut is_split = false;
        while self.position < end {
            is_split |= self.take(4)? == b"link";
            let size = self.number()?;
            self.take(usize::try_from(size).ok()?)?;
        }
        (self.position == end).then_some((index, is_split))
    }

    fn entry(&mut self, version: u32, name: &mut Vec<u8>) -> Option<IndexEntry> {
        let start = self.position;
        self.take(8)?;
        let (seconds, nanoseconds) = (self.number()?, self.number()?);
        self.take(20)?;
        let size = self.number()?;
        let id = self.take(self.id)?.to_vec();
        let flags = u16::from_be_bytes(self.take(2)?.try_into().ok()?);
        if flags & 0x4000 != 0 {
            (version >= 3).then_some(())?;
            self.take(2)?;
        }
        let rest = self.bytes.get(self.position..)?;
        if version == 4 {
            let strip = self.offset()?;
            name.truncate(name.len().checked_sub(strip)?);
            let rest = self.bytes.get(self.position..)?;
            let length = rest.iter().position(|&byte| byte == 0)?;
            name.extend_from_slice(self.take(length)?);
            self.take(1)?;
        } else {
            let length = match usize::from(flags & 0xfff) {
                0xfff => rest.iter().position(|&byte| byte == 0)?,
                length => length,
            };
            name.clear();
            name.extend_from_slice(self.take(length)?);
            // One to eight zero bytes fill the entry up to a multiple of eight.
            let padding = 8 - (self.position - start) % 8;
            self.take(padding)?.iter().all(|&byte| byte == 0).then_some(())?;
        }
        Some(IndexEntry { mtime: i64::from(seconds) * 1_000_000_000 + i64::from(nanoseconds), size, id })
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.position..self.position.checked_add(length)?)?;
        self.position += length;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    /// Git's offset encoding: seven bits per byte, most significant first, each continuation adding one.
    fn offset(&mut self) -> Option<usize> {
        let mut byte = *self.take(1)?.first()?;
        let mut value = usize::from(byte & 127);
        while byte & 128 != 0 {
            byte = *self.take(1)?.first()?;
            value = value.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 127))?;
        }
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use stan_repo::MemorySystem;

    use super::*;

    fn index(version: u32, entries: &[(&str, &str)]) -> Vec<u8> {
        let mut bytes = b"DIRC".to_vec();
        bytes.extend(version.to_be_bytes());
        bytes.extend((entries.len() as u32).to_be_bytes());
        let mut before = "";
        for (name, contents) in entries {
            let start = bytes.len();
            bytes.extend([0; 36]);
            bytes.extend((contents.len() as u32).to_be_bytes());
            let header = format!("blob {}\0", contents.len());
            bytes.extend(Sha1::new().chain_update(header).chain_update(contents).finalize());
            bytes.extend((name.len() as u16).to_be_bytes());
            if version == 4 {
                let common = before.bytes().zip(name.bytes()).take_while(|(left, right)| left == right).count();
                bytes.push((before.len() - common) as u8);
                bytes.extend(&name.as_bytes()[common..]);
                bytes.push(0);
                before = name;
            } else {
                bytes.extend(name.as_bytes());
                bytes.resize(bytes.len() + 8 - (bytes.len() - start) % 8, 0);
            }
        }
        bytes.extend([9; 20]);
        bytes
    }

    fn check(root: &str, files: &[&str], expected: &[&str]) {
        for version in 2..=4 {
            let system = MemorySystem::new();
            let entries = [("src/a.ts", "old"), ("src/b.ts", "same"), ("src/c.ts", "abc"), ("src/gone.ts", "x")];
            system.set_file("/r/.git/index", index(version, &entries));
            system.set_file("/r/src/a.ts", "newer").set_file("/r/src/b.ts", "same").set_file("/r/src/c.ts", "abd");
            system.set_file("/r/src/new.ts", "");
            assert_eq!(changed_files(&system, root, files).unwrap(), expected, "v{version} {root}");
        }
    }

    #[test]
    fn other_sizes_other_bytes_and_new_files_are_changes() {
        let files = ["src/a.ts", "src/b.ts", "src/c.ts", "src/gone.ts", "src/new.ts"];
        check("/r", &files, &["src/a.ts", "src/c.ts", "src/gone.ts", "src/new.ts"]);
        check("/r/src", &["a.ts", "b.ts"], &["a.ts"]);
    }

    #[test]
    fn what_is_no_repository_is_said() {
        let system = MemorySystem::new();
        system.set_file("/r/a.ts", "");
        assert_eq!(changed_files(&system, "/r", &["a.ts"]), Err(ChangedError::NoRepository));
        system.set_file("/r/.git/HEAD", "ref: refs/heads/main");
        assert_eq!(changed_files(&system, "/r", &["a.ts"]), Err(ChangedError::NoIndex));
        let good = index(2, &[("a.ts", "1")]);
        for bytes in [&good[..10], &good[..40], b"DIRC\0\0\0\x07\0\0\0\0", b"nonsense that is long enough"] {
            system.set_file("/r/.git/index", bytes.to_vec());
            let error = changed_files(&system, "/r", &["a.ts"]).unwrap_err();
            assert!(matches!(error, ChangedError::BadIndex { .. }), "{error}");
        }
    }

    #[test]
    fn worktrees_have_their_index_elsewhere() {
        let system = MemorySystem::new();
        system.set_file("/w/.git", "gitdir: /r/.git/worktrees/w\n").set_file("/w/a.ts", "2");
        system.set_file("/r/.git/worktrees/w/index", index(2, &[("a.ts", "1")]));
        assert_eq!(changed_files(&system, "/w", &["a.ts"]).unwrap(), ["a.ts"]);
    }
}
