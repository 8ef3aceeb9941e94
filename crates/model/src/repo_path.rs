//! A path below a root that has been checked.

/// A path relative to a root that cannot leave it: names joined by `/`, none of them empty, `.` or `..`. What a link on the disk does
/// to it is another question (`stan_repo::escapes_root`).
///
/// Borrowed, because ids and paths are kept as strings in documents and caches. Untrusted paths are validated here before
/// any file system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoPath<'p>(&'p str);

impl<'p> RepoPath<'p> {
    /// `None` for anything that is not such a path.
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
    fn names_joined_by_slashes() {
        for path in ["a", "a/b.ts", "..a/b..", "...", "C:x", "a\\..\\b", "é/ü", " "] {
            assert_eq!(RepoPath::new(path).map(RepoPath::as_str), Some(path));
        }
        for path in ["", ".", "..", "/", "/a", "a/", "a//b", "./a", "a/.", "a/../b", "../a", "a\0b"] {
            assert_eq!(RepoPath::new(path), None, "{path:?}");
        }
    }
}
