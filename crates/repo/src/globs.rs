//! The user's `includes` and `excludes`: picomatch globs over root-relative paths; wildcards match dotfiles.
//!
//! An invalid glob is a problem and has no effect here; the configuration has already rejected it.

mod parent;
mod path_globs;
mod tokens;
mod translate;
mod walk_globs;

#[cfg(test)]
mod tests;

use stan_model::Problem;

pub use self::parent::RootedGlob;
pub use self::path_globs::{GlobError, PathGlobs};
pub(crate) use self::walk_globs::FORBIDDEN;
pub use self::walk_globs::WalkGlobs;

#[derive(Debug)]
pub(crate) struct Globs {
    includes: WalkGlobs,
    excludes: PathGlobs,
    /// Directories whose entire contents `excludes` removes.
    pruned: PathGlobs,
}

impl Globs {
    pub(crate) fn new(includes: &[String], excludes: &[String], problems: &mut Vec<Problem>) -> Self {
        let includes = with_contents(&usable("includes", includes, problems));
        let excludes = with_contents(&usable("excludes", excludes, problems));
        let mut pruned: Vec<&str> = excludes.iter().filter_map(|glob| glob.strip_suffix("/**")).collect();
        if excludes.iter().any(|glob| glob == "**") {
            pruned.push("**");
        }
        Self {
            includes: together("includes", WalkGlobs::new(&includes), problems),
            excludes: together("excludes", PathGlobs::new(&excludes), problems),
            pruned: together("excludes", PathGlobs::new(&pruned), problems),
        }
    }

    pub(crate) fn has_includes(&self) -> bool {
        !self.includes.is_empty()
    }

    pub(crate) fn includes(&self, path: &str) -> bool {
        self.includes.is_match(path)
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
        self.includes.could_match_below(directory)
    }
}

/// The globs, and for each glob without wildcards another one that matches everything below it: `docs` means the file or the
/// whole folder with that name.
pub fn with_contents<S: AsRef<str>>(globs: &[S]) -> Vec<String> {
    let mut all = Vec::with_capacity(globs.len());
    for glob in globs.iter().map(AsRef::as_ref) {
        let path = glob.strip_prefix("./").unwrap_or(glob);
        let is_plain = !path.is_empty() && !path.contains(['*', '?', '[', ']', '{', '}', '(', ')', '!', '\\']);
        if !is_plain {
            all.push(glob.to_owned());
            continue;
        }
        let path = path.trim_end_matches('/');
        all.push(path.to_owned());
        all.push([path, "/**"].concat());
    }
    all
}

/// The valid globs; each invalid one becomes a problem.
fn usable<'g>(list: &str, globs: &'g [String], problems: &mut Vec<Problem>) -> Vec<&'g str> {
    let mut usable = Vec::with_capacity(globs.len());
    for glob in globs {
        match PathGlobs::check(glob) {
            Ok(()) => usable.push(glob.strip_prefix("./").unwrap_or(glob)),
            Err(error) => problems.push(without_effect(list, &error)),
        }
    }
    usable
}

/// Each glob is valid by itself, but all of them together may be too large.
fn together<T: Default>(list: &str, set: Result<T, GlobError>, problems: &mut Vec<Problem>) -> T {
    set.unwrap_or_else(|error| {
        problems.push(without_effect(list, &error));
        T::default()
    })
}

fn without_effect(list: &str, error: &GlobError) -> Problem {
    let name = if error.glob.is_empty() { "(empty)" } else { &error.glob };
    Problem::new(name, format!("glob in `{list}` has no effect, because {}", error.reason))
}
