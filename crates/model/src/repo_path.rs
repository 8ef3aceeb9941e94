//! A validated path below a root.

/// A path relative to a root that cannot leave it: names joined by `/`, none of them empty, `.` or `..`. Symlinks on disk are a
/// separate check (`stan_repo::escapes_root`).
///
/// Borrowed, because documents and caches keep ids and paths as strings. Untrusted paths are validated here before any file
/// system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoPath<'p>(&'p str);

impl<'p> RepoPath<'p> {
    /// `None` if the path is not valid.
    pub fn new(path: &'p str) -> Option<Self> {
        let is_name = |part: &str| !matches!(part, "" | "." | "..");
        (path.split('/').all(is_name) && !path.contains('\0')).then_some(Self(path))
    }

    pub fn as_str(self) -> &'p str {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::RepoPath;

    #[test]
    fn only_normalised_relative_paths_are_accepted() {
        for path in ["a", "a/b.ts", "..a/b..", "...", "C:x", "a\\..\\b", "é/ü", " "] {
            assert_eq!(RepoPath::new(path).map(RepoPath::as_str), Some(path));
        }
        for path in ["", ".", "..", "/", "/a", "a/", "a//b", "./a", "a/.", "a/../b", "../a", "a\0b"] {
            assert_eq!(RepoPath::new(path), None, "{path:?}");
        }
    }
}
