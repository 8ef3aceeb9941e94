//! Finds the git checkout that a root belongs to, and distinguishes nested repositories from plain folders.
//!
//! Follows git's own discovery (`setup.c`), without environment variables, configuration files or bare
//! repositories. Reads `HEAD`, `.git` files, `commondir` and the index; never an object.

use crate::git::index::tracked::{IndexFile, TrackedPaths};
use crate::observations::{DigestScope, ObservedFile, Recorder, Unread, index_digest, read_limited};
use crate::paths::{Root, ancestors, join, relative_path, split_last};
use crate::system::EntryKind;

/// Git's own limit for `.git` files.
pub(crate) const MAX_GIT_FILE_BYTES: u64 = 1 << 20;
/// Fits an index of ten million files; anything larger is not an index.
pub(crate) const MAX_INDEX_BYTES: u64 = 2 << 30;

/// The checkout that contains a root. Without a repository, the root is its own top.
#[derive(Debug)]
pub(crate) struct Checkout {
    pub(crate) top: Root,
    repository: Option<Repository>,
}

#[derive(Debug)]
struct Repository {
    /// The folder with `HEAD` and the index; a worktree has its own.
    directory: String,
    /// The folder with `objects`, `refs` and `info`; shared by all worktrees.
    common: String,
}

impl Checkout {
    pub(crate) fn find(recorder: &mut Recorder<'_>, root: &Root) -> Self {
        let mut garbage = false;
        for directory in ancestors(root.path()) {
            let git = join(directory, ".git");
            let top = Root::new(directory);
            match recorder.probe(&git) {
                None => continue,
                Some(EntryKind::Other) => garbage = true,
                Some(kind) => {
                    if let Some(repository) = repository_at(recorder, &git, kind) {
                        return Self { top, repository: Some(repository) };
                    }
                    garbage |= directory == root.path();
                    // Git gives up at a broken `.git` file, but continues further up after a directory that is not a repository.
                    if kind == EntryKind::File {
                        let message = "not a valid git file, so tracked files that a rule ignores are left out";
                        let name = relative_path(root.path(), &git);
                        recorder.problem(&name, message);
                        return Self { top, repository: None };
                    }
                }
            }
        }
        if garbage {
            recorder.problem(".git", "not a git directory, so tracked files that a rule ignores are left out");
        }
        Self { top: root.clone(), repository: None }
    }

    /// The folder with `HEAD` and the index, and the one with objects and references.
    pub(crate) fn directories(&self) -> Option<(&str, &str)> {
        self.repository.as_ref().map(|repository| (repository.directory.as_str(), repository.common.as_str()))
    }

    /// The path of `info/exclude`, if there is a repository.
    pub(crate) fn info_exclude(&self) -> Option<String> {
        Some(join(&self.repository.as_ref()?.common, "info/exclude"))
    }

    /// A damaged index is reported as one problem and counts as empty.
    pub(crate) fn tracked_paths(&self, recorder: &mut Recorder<'_>, root: &Root) -> TrackedPaths {
        let Some(repository) = &self.repository else { return TrackedPaths::default() };
        let path = join(&repository.directory, "index");
        match read_tracked(recorder, &repository.directory, &path) {
            Ok(tracked) => tracked,
            Err(reason) => {
                let name = relative_path(root.path(), &path);
                let message = format!(
                    "the git index was not used, because {reason}; tracked files that a rule ignores are left out"
                );
                recorder.problem(&name, message);
                TrackedPaths::default()
            }
        }
    }
}

/// Whether git would treat the directory as another repository and not descend into it.
pub(crate) fn is_repository(recorder: &mut Recorder<'_>, directory: &str) -> bool {
    let git = join(directory, ".git");
    match recorder.probe(&git) {
        None | Some(EntryKind::Other) => false,
        Some(kind) => {
            repository_at(recorder, &git, kind).is_some()
                // Git assumes a repository when it cannot read the file.
                || (kind == EntryKind::File
                    && matches!(
                        recorder.read(&git, DigestScope::Bytes, MAX_GIT_FILE_BYTES),
                        Err(Unread::Denied | Unread::Failed)
                    ))
        }
    }
}

/// Whether these are valid contents of a `HEAD`: a symbolic reference, or an object id.
pub(crate) fn is_head(bytes: &[u8]) -> bool {
    if let Some(reference) = bytes.strip_prefix(b"ref:") {
        return reference.trim_ascii_start().starts_with(b"refs/");
    }
    bytes.get(..40).is_some_and(|id| id.iter().all(u8::is_ascii_hexdigit))
}

fn read_tracked(recorder: &mut Recorder<'_>, directory: &str, path: &str) -> Result<TrackedPaths, &'static str> {
    let Some(index) = read_index(recorder, path)? else { return Ok(TrackedPaths::default()) };
    let base = match index.link.as_ref().and_then(|link| link.base.as_deref()) {
        None => None,
        Some(id) => {
            let base = read_index(recorder, &join(directory, &format!("sharedindex.{id}")))?;
            Some(base.ok_or("its shared part is missing")?)
        }
    };
    TrackedPaths::new(index, base).ok_or("its two parts do not fit together")
}

fn read_index(recorder: &mut Recorder<'_>, path: &str) -> Result<Option<IndexFile>, &'static str> {
    // Parsed here and not by `Recorder::read`, so that the digest does not parse it again.
    let (stat, contents) = read_limited(recorder.system, path, MAX_INDEX_BYTES);
    let parsed = contents.map(|bytes| IndexFile::parse(&bytes));
    let digest = parsed.as_ref().ok().map(|parsed| index_digest(parsed.as_ref().ok()));
    recorder.observations.files.push(ObservedFile {
        path: path.to_owned(),
        stat,
        digest,
        scope: DigestScope::GitIndex,
    });
    match parsed {
        Ok(parsed) => parsed.map(Some),
        Err(Unread::Absent) => Ok(None),
        Err(unread) => Err(unread.reason()),
    }
}

fn repository_at(recorder: &mut Recorder<'_>, git: &str, kind: EntryKind) -> Option<Repository> {
    let directory = match kind {
        EntryKind::Dir => git.to_owned(),
        // A symlink may point to a file or to a directory; follow it in both cases.
        _ => git_file_target(recorder, git).unwrap_or_else(|| git.to_owned()),
    };
    let common = common_directory(recorder, &directory)?;
    Some(Repository { directory, common })
}

fn git_file_target(recorder: &mut Recorder<'_>, path: &str) -> Option<String> {
    let bytes = recorder.read(path, DigestScope::Bytes, MAX_GIT_FILE_BYTES).ok()?;
    let target = std::str::from_utf8(bytes.strip_prefix(b"gitdir: ")?).ok()?.trim_end_matches(['\n', '\r']);
    let (parent, _) = split_last(path)?;
    (!target.is_empty()).then(|| resolve(parent, target))
}

/// The folder with objects and references, if the directory is a git directory.
fn common_directory(recorder: &mut Recorder<'_>, directory: &str) -> Option<String> {
    let head = join(directory, "HEAD");
    let is_head = match recorder.probe(&head)? {
        EntryKind::Link => recorder.read_link(&head)?.starts_with("refs/"),
        EntryKind::File => is_head(&recorder.read(&head, DigestScope::GitHead, MAX_GIT_FILE_BYTES).ok()?),
        _ => false,
    };
    if !is_head {
        return None;
    }
    let common = match recorder.read(&join(directory, "commondir"), DigestScope::Bytes, MAX_GIT_FILE_BYTES) {
        Ok(bytes) => resolve(directory, std::str::from_utf8(&bytes).ok()?.trim_end_matches(['\n', '\r'])),
        Err(_) => directory.to_owned(),
    };
    ["objects", "refs"].iter().all(|name| recorder.probe(&join(&common, name)).is_some()).then_some(common)
}

/// Keeps `..` for the system to resolve after symlinks, as git does.
fn resolve(directory: &str, path: &str) -> String {
    if path.starts_with('/') { path.to_owned() } else { join(directory, path) }
}

#[cfg(test)]
mod tests {
    use super::is_head;

    #[test]
    fn only_a_reference_or_an_id_is_a_valid_head() {
        let id = "0123456789abcdef0123456789ABCDEF01234567";
        for head in ["ref: refs/heads/main\n", "ref:refs/x", "ref: \t refs/", id] {
            assert!(is_head(head.as_bytes()), "{head}");
        }
        for other in ["", "ref: heads/main", "main", &id[1..], "ref: ref:refs/"] {
            assert!(!is_head(other.as_bytes()), "{other}");
        }
    }
}
