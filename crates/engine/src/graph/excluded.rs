//! Files that the user excluded. An import of one adds neither a node nor an edge; the imports are counted.
//!
//! Installed packages are exempt: a glob such as `**/dist/**` is meant for the repository's own output.

use stan_model::is_external;
use stan_repo::{AbsPath, PathGlobs, with_contents};

use super::GraphOptions;

pub(crate) struct ExcludedFiles {
    /// Absolute path of the repository.
    root: String,
    globs: PathGlobs,
}

impl ExcludedFiles {
    pub(crate) fn new(options: &GraphOptions) -> Self {
        let usable = options.scan.excludes.iter().filter(|glob| PathGlobs::check(glob).is_ok());
        let globs: Vec<&str> = usable.map(|glob| glob.strip_prefix("./").unwrap_or(glob)).collect();
        // The scan reports invalid globs.
        let globs = PathGlobs::new(&with_contents(&globs)).unwrap_or_default();
        Self { root: options.root.clone(), globs }
    }

    /// Whether a file, by its absolute real path, is one of them.
    pub(crate) fn cover(&self, path: &str) -> bool {
        if self.globs.is_empty() {
            return false;
        }
        let inside = AbsPath::new(&self.root).below(path);
        inside.is_some_and(|inside| !is_external(Some(inside)) && self.globs.is_match(inside))
    }
}
