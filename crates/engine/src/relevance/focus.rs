//! The files that a query is about: named by the user, changed in git, or named by a log.

use stan_model::document::assistant_reports::ChangedPaths;
use stan_rank::FileClass;
use stan_repo::{PathGlobs, System, git_changes};

use super::log::LogFiles;
use super::{Fixed, Relevance};
use crate::config::FILE_NAMES;
use crate::context::EngineError;
use crate::outline::near_files;

/// The baseline for changed files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Since {
    /// Git's index.
    Index,
    /// A revision, in git's notation.
    Revision(String),
}

/// A file, a folder or a glob that the user named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FocusFile {
    /// As typed.
    pub shown: String,
    /// Root-relative path.
    pub node_id: String,
    /// The number of levels of its dependencies that must be included.
    pub depth: u32,
}

/// The maximum number of files from a log; each has less weight than the one before.
const MAX_FILES_OF_LOG: usize = 64;

impl Relevance {
    /// The named files, with their depths. A folder means the files below it.
    pub(super) fn named(&self, focus: &[FocusFile]) -> Result<Vec<(u32, u32)>, EngineError> {
        let mut found = Vec::new();
        let mut unknown = Vec::new();
        for asked in focus {
            let files = self.files_of(asked)?;
            if files.is_empty() {
                unknown.push(self.unknown(asked));
            }
            found.extend(files.into_iter().map(|file| (file, asked.depth)));
        }
        if unknown.is_empty() {
            return Ok(found);
        }
        Err(EngineError::input("the focus names files that are not there")
            .details(unknown)
            .hint("name a file, a folder or a glob of the repository that git does not ignore"))
    }

    fn files_of(&self, asked: &FocusFile) -> Result<Vec<u32>, EngineError> {
        if let Some(file) = self.find(&asked.node_id) {
            return Ok(vec![file]);
        }
        let folder = asked.node_id.trim_end_matches('/');
        let is_below = |path: &str| {
            folder.is_empty() || folder == "." || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
        };
        let is_written = |file: &u32| self.class(*file) != FileClass::Other;
        let below: Vec<u32> = self.all().filter(|file| is_below(self.path(*file))).filter(is_written).collect();
        if !below.is_empty() || !asked.node_id.contains(['*', '?', '[', '{']) {
            return Ok(below);
        }
        let globs = PathGlobs::new(&[&asked.node_id]).map_err(|error| EngineError::input(error.to_string()))?;
        Ok(self.all().filter(|file| globs.is_match(self.path(*file))).filter(is_written).collect())
    }

    fn unknown(&self, asked: &FocusFile) -> String {
        let files: Vec<Box<str>> = self.paths().map(Box::from).collect();
        let near: Vec<String> = near_files(&files, &asked.node_id).iter().map(|path| format!("`{path}`")).collect();
        let near = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) };
        format!("`{}`{near}", asked.shown)
    }

    /// The changed and the deleted files. Files that stan itself writes are not changes of the user.
    pub(super) fn changed(
        &self,
        system: &dyn System,
        since: &Since,
        warnings: &mut Vec<String>,
    ) -> Result<ChangedPaths, EngineError> {
        let ids: Vec<&str> = self.paths().filter(|path| !self.is_of_stan(path)).collect();
        let (revision, shown) = match since {
            Since::Index => (None, "git's index was written"),
            Since::Revision(revision) => (Some(revision.as_str()), revision.as_str()),
        };
        let mut found = git_changes(system, &self.root, &ids, revision)
            .map_err(|error| EngineError::input(format!("git cannot say what changed: {error}")).hint(error.hint()))?;
        found.deleted.retain(|path| !self.is_of_stan(path));
        let count = found.deleted.len();
        if let Some(first) = found.deleted.first() {
            let and_more = if count > 1 { format!(" and {} more", count - 1) } else { String::new() };
            warnings.push(format!(
                "deleted since {shown}, so not in the focus: {first}{and_more}; --focus what imported it"
            ));
        }
        let owned = |paths: Vec<&str>| paths.into_iter().map(str::to_owned).collect();
        Ok(ChangedPaths {
            since: revision.map(str::to_owned),
            commit: found.commit,
            changed: owned(found.changed),
            added: owned(found.added),
            deleted: found.deleted,
        })
    }

    /// The prefix of root-relative paths in stan's own folder.
    pub(super) fn own_folder(&self) -> &str {
        self.stan_path.trim_start_matches("./").trim_matches('/')
    }

    /// Whether `stan init` or `stan run` writes the file, or `init` adds rules for git to it.
    fn is_of_stan(&self, path: &str) -> bool {
        let is_below = path.strip_prefix(self.own_folder()).is_some_and(|rest| rest.starts_with('/'));
        is_below || FILE_NAMES.contains(&path) || path == ".gitignore"
    }

    /// The files that a log names, with their weights: the location of the first error and the innermost frame of its trace
    /// first, files that are only mentioned last.
    pub(super) fn in_log(&self, log: &[u8]) -> Vec<(u32, Fixed)> {
        let paths: Vec<&str> = self.paths().collect();
        let files = LogFiles::new(&paths, &self.root);
        let weight = |position: usize| Fixed::ratio(1, 1 + i64::try_from(position.min(7)).unwrap_or(7));
        let in_order = files.in_order(log);
        in_order.into_iter().take(MAX_FILES_OF_LOG).enumerate().map(|(at, file)| (file, weight(at))).collect()
    }

    /// The files that a text names by path: in prose, in stack frames, in quoted output. Sorted.
    pub(super) fn in_text(&self, text: &str) -> Vec<u32> {
        let paths: Vec<&str> = self.paths().collect();
        let mut named = LogFiles::new(&paths, &self.root).in_text(text);
        named.retain(|file| self.class(*file) != FileClass::Other);
        named.truncate(MAX_FILES_OF_LOG);
        named.sort_unstable();
        named
    }
}
