//! Globs for walking a tree: where they can match, excluding folders that wildcards are not meant for.

use std::collections::BTreeMap;

use super::path_globs::{GlobError, PathGlobs};

/// Path components that a glob matches only if it names them.
pub(crate) const FORBIDDEN: [&str; 2] = [".git", stan_model::PACKAGE_FOLDER];

/// Globs that match nothing below `.git` and `node_modules`, unless they name these folders.
#[derive(Clone, Debug, Default)]
pub struct WalkGlobs {
    groups: Vec<ForbiddenGroup>,
}

/// The globs that name the same forbidden components.
#[derive(Clone, Debug)]
struct ForbiddenGroup {
    names: [bool; FORBIDDEN.len()],
    files: PathGlobs,
    directories: PathGlobs,
}

impl WalkGlobs {
    /// Compiles globs; a path must match any one of them. Fails at the first invalid one.
    pub fn new<S: AsRef<str>>(globs: &[S]) -> Result<Self, GlobError> {
        let mut by_names = BTreeMap::<_, Vec<&str>>::new();
        for glob in globs {
            let glob = glob.as_ref();
            by_names.entry(named_components(glob)).or_default().push(glob);
        }
        let mut groups = Vec::with_capacity(by_names.len());
        for (names, globs) in by_names {
            groups.push(ForbiddenGroup {
                names,
                files: PathGlobs::new(&globs)?,
                directories: PathGlobs::directories(&globs)?,
            });
        }
        Ok(Self { groups })
    }

    /// Whether there are no globs, so nothing matches.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    pub fn is_match(&self, path: &str) -> bool {
        self.groups.iter().any(|group| group.may_reach(path) && group.files.is_match(path))
    }

    /// Whether something below the directory could match. The empty path is the directory that the globs are relative to.
    pub fn could_match_below(&self, directory: &str) -> bool {
        self.groups.iter().any(|group| group.may_reach(directory) && group.directories.is_match(directory))
    }
}

impl ForbiddenGroup {
    /// A glob like `**/*.js` is not meant to include `node_modules`.
    fn may_reach(&self, path: &str) -> bool {
        path.split('/')
            .all(|part| FORBIDDEN.iter().zip(self.names).all(|(forbidden, named)| named || part != *forbidden))
    }
}

fn named_components(glob: &str) -> [bool; FORBIDDEN.len()] {
    FORBIDDEN.map(|name| glob.split(['/', '{', '}', ',']).any(|component| component == name))
}
