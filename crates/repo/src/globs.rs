//! The user's `includes` and `excludes`: picomatch globs over root-relative paths, dotfiles matched.
//!
//! A glob that cannot be used is a problem and has no effect here; the configuration refuses it before.

mod path_globs;
mod tokens;
mod translate;

#[cfg(test)]
mod tests;

use stan_model::Problem;

pub use self::path_globs::{GlobError, PathGlobs};

/// Path components that are out of the universe unless an include glob names them.
pub(crate) const FORBIDDEN: [&str; 2] = [".git", "node_modules"];

#[derive(Debug)]
pub(crate) struct Globs {
    includes: Vec<Includes>,
    excludes: PathGlobs,
    /// Directories whose whole contents `excludes` removes.
    pruned: PathGlobs,
}

/// The include globs that name the same forbidden components.
#[derive(Debug)]
struct Includes {
    names: [bool; FORBIDDEN.len()],
    files: PathGlobs,
    directories: PathGlobs,
}

impl Globs {
    pub(crate) fn new(includes: &[String], excludes: &[String], problems: &mut Vec<Problem>) -> Self {
        let includes = usable("includes", includes, problems);
        let excludes = usable("excludes", excludes, problems);
        let mut pruned: Vec<&str> = excludes.iter().filter_map(|glob| glob.strip_suffix("/**")).collect();
        if excludes.contains(&"**") {
            pruned.push("**");
        }
        let mut set = |list: &str, globs: &[&str]| {
            PathGlobs::new(globs).unwrap_or_else(|error| {
                problems.push(without_effect(list, &error));
                PathGlobs::default()
            })
        };
        Self { excludes: set("excludes", &excludes), pruned: set("excludes", &pruned), includes: grouped(&includes) }
    }

    pub(crate) fn has_includes(&self) -> bool {
        !self.includes.is_empty()
    }

    pub(crate) fn includes(&self, path: &str) -> bool {
        self.includes.iter().any(|group| group.may_reach(path) && group.files.is_match(path))
    }

    pub(crate) fn excludes(&self, path: &str) -> bool {
        self.excludes.is_match(path)
    }

    /// Whether everything below the directory is excluded.
    pub(crate) fn prunes(&self, directory: &str) -> bool {
        self.pruned.is_match(directory)
    }

    /// Whether an include glob could match something below the directory.
    pub(crate) fn could_include_below(&self, directory: &str) -> bool {
        self.includes.iter().any(|group| group.may_reach(directory) && group.directories.is_match(directory))
    }
}

impl Includes {
    /// A glob like `**/*.js` does not mean the contents of `node_modules`.
    fn may_reach(&self, path: &str) -> bool {
        self.names.iter().all(|named| *named)
            || path
                .split('/')
                .all(|part| FORBIDDEN.iter().zip(self.names).all(|(forbidden, named)| named || part != *forbidden))
    }
}

/// Which forbidden components a glob names.
pub(crate) fn named_components(glob: &str) -> [bool; FORBIDDEN.len()] {
    FORBIDDEN.map(|name| glob.split(['/', '{', '}', ',']).any(|component| component == name))
}

fn grouped(globs: &[&str]) -> Vec<Includes> {
    let mut groups = std::collections::BTreeMap::<_, Vec<&str>>::new();
    for glob in globs {
        groups.entry(named_components(glob)).or_default().push(glob);
    }
    let group = |(names, globs): (_, Vec<&str>)| {
        let (files, directories) = (PathGlobs::new(&globs).ok()?, PathGlobs::directories(&globs).ok()?);
        Some(Includes { names, files, directories })
    };
    groups.into_iter().filter_map(group).collect()
}

/// The globs that can be used; of the others each is a problem.
fn usable<'g>(list: &str, globs: &'g [String], problems: &mut Vec<Problem>) -> Vec<&'g str> {
    let mut usable = Vec::with_capacity(globs.len());
    for glob in globs {
        match PathGlobs::new(&[glob]) {
            Ok(_) => usable.push(glob.strip_prefix("./").unwrap_or(glob)),
            Err(error) => problems.push(without_effect(list, &error)),
        }
    }
    usable
}

fn without_effect(list: &str, error: &GlobError) -> Problem {
    let name = if error.glob.is_empty() { "(empty)" } else { &error.glob };
    Problem::new(name, format!("glob in `{list}` has no effect, because {}", error.reason))
}
