//! The folder in which a shape is built.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::Result;

pub(super) struct Tree {
    root: PathBuf,
}

impl Tree {
    /// An empty folder; removes existing contents.
    pub(super) fn new(root: &Path) -> Result<Self> {
        // It may not exist; any other error shows when the folder is created.
        let _ = std::fs::remove_dir_all(root);
        std::fs::create_dir_all(root)?;
        Ok(Self { root: root.to_path_buf() })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn file(&self, path: &str, contents: impl AsRef<[u8]>) -> Result<()> {
        let path = self.root.join(path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&path, contents).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(())
    }

    pub(super) fn link(&self, path: &str, target: &str) -> Result<()> {
        #[cfg(unix)]
        std::os::unix::fs::symlink(target, self.root.join(path))?;
        Ok(())
    }

    pub(super) fn remove(self) -> Result<()> {
        Ok(std::fs::remove_dir_all(self.root)?)
    }
}

/// Concatenates the texts for all numbers below `count`.
pub(super) fn lines(count: usize, mut line: impl FnMut(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, number| {
        let _ = write!(text, "{}", line(number));
        text
    })
}

/// The same, separated by commas.
pub(super) fn list(count: usize, line: impl FnMut(usize) -> String) -> String {
    (0..count).map(line).collect::<Vec<_>>().join(",")
}
