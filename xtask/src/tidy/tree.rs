//! The files that tidy checks: those that git tracks or would track, with their text.
//!
//! Completely in memory, because a source repository is small, and the checks then need no I/O.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::Result;

/// Root-relative path to text; `None` for files that are not UTF-8.
pub(super) struct Tree {
    files: BTreeMap<String, Option<String>>,
}

impl Tree {
    /// Reads the files of `git ls-files`, including untracked ones: a new file is checked before it is added.
    pub(super) fn load(root: &Path) -> Result<Self> {
        let output = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(root)
            .output()?;
        if !output.status.success() {
            return Err(format!("git ls-files: {}", String::from_utf8_lossy(&output.stderr).trim()).into());
        }
        let mut files = BTreeMap::new();
        for path in String::from_utf8(output.stdout)?.split_terminator('\0') {
            let on_disk = root.join(path);
            // Skip tracked files that are deleted but not staged, and symlinks, whose targets are checked themselves.
            if !std::fs::symlink_metadata(&on_disk).is_ok_and(|metadata| metadata.is_file()) {
                continue;
            }
            files.insert(path.to_owned(), String::from_utf8(std::fs::read(&on_disk)?).ok());
        }
        Ok(Tree { files })
    }

    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), Some((*text).to_owned()))).collect();
        Tree { files }
    }

    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    /// Every text file, by path.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }

    /// The text files whose path ends in `suffix`.
    pub(super) fn texts_ending(&self, suffix: &str) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter(move |(path, _)| path.ends_with(suffix))
    }

    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.as_deref()
    }

    /// Whether `path` is a file of the tree, or a folder that contains one.
    pub(super) fn exists(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        if path.is_empty() || self.files.contains_key(path) {
            return true;
        }
        let below = format!("{path}/");
        self.files.range(below.clone()..).next().is_some_and(|(file, _)| file.starts_with(&below))
    }
}

#[cfg(test)]
mod tests {
    use super::Tree;

    #[test]
    fn files_and_folders_exist() {
        let tree = Tree::of(&[("a/b/c.rs", ""), ("a-b", "")]);
        for (path, expected) in
            [("a/b/c.rs", true), ("a/b", true), ("a/b/", true), ("a", true), ("", true), ("a/c", false), ("b", false)]
        {
            assert_eq!(tree.exists(path), expected, "{path}");
        }
    }
}
