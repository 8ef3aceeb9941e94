//! The user's `includes` and `excludes`: picomatch globs over root-relative paths, dotfiles matched.
//!
//! Extended globs (`!(…)` and kin) and negation are not supported; such a glob, like an invalid one, is a
//! problem and has no effect.

use globset::{Candidate, GlobBuilder, GlobMatcher, GlobSet, GlobSetBuilder};
use stan_model::Problem;

/// Path components that are out of the universe unless an include glob names them.
pub(crate) const FORBIDDEN: [&str; 2] = [".git", "node_modules"];

#[derive(Debug)]
pub(crate) struct Globs {
    includes: Vec<Include>,
    excludes: Option<GlobSet>,
    /// Directories whose whole contents `excludes` removes.
    pruned: Option<GlobSet>,
}

#[derive(Debug)]
struct Include {
    matcher: GlobMatcher,
    names: [bool; FORBIDDEN.len()],
    /// What each leading component must match for something below to match.
    components: Vec<GlobMatcher>,
    /// Whether any depth below those components can match.
    open_ended: bool,
}

impl Globs {
    pub(crate) fn new(includes: &[String], excludes: &[String], problems: &mut Vec<Problem>) -> Self {
        let mut report = |list: &str, glob: &str, reason: &str| {
            let name = if glob.is_empty() { "(empty)" } else { glob };
            problems.push(Problem::new(name, format!("glob in `{list}` has no effect, because {reason}")));
        };
        let mut built_includes = Vec::new();
        for glob in includes {
            match Include::new(normalise(glob)) {
                Ok(include) => built_includes.push(include),
                Err(reason) => report("includes", glob, &reason),
            }
        }
        let mut kept = Vec::new();
        for glob in excludes {
            match check(normalise(glob)).and_then(build) {
                Ok(_) => kept.push(normalise(glob)),
                Err(reason) => report("excludes", glob, &reason),
            }
        }
        let pruned: Vec<&str> = kept.iter().filter_map(|glob| glob.strip_suffix("/**")).collect();
        let everything = kept.contains(&"**");
        let set = |globs: &[&str]| if globs.is_empty() { None } else { build_set(globs) };
        Self {
            includes: built_includes,
            excludes: set(&kept),
            pruned: if everything { set(&["**"]) } else { set(&pruned) },
        }
    }

    pub(crate) fn has_includes(&self) -> bool {
        !self.includes.is_empty()
    }

    pub(crate) fn includes(&self, path: &str) -> bool {
        if self.includes.is_empty() {
            return false;
        }
        let candidate = Candidate::new(path);
        self.includes.iter().any(|glob| glob.matcher.is_match_candidate(&candidate) && glob.may_reach(path))
    }

    pub(crate) fn excludes(&self, path: &str) -> bool {
        self.excludes.as_ref().is_some_and(|set| set.is_match(path))
    }

    /// Whether everything below the directory is excluded.
    pub(crate) fn prunes(&self, directory: &str) -> bool {
        self.pruned.as_ref().is_some_and(|set| set.is_match(directory))
    }

    /// Whether an include glob could match something below the directory.
    pub(crate) fn could_include_below(&self, directory: &str) -> bool {
        self.includes.iter().any(|glob| glob.may_reach(directory) && glob.could_match_below(directory))
    }
}

impl Include {
    fn new(glob: &str) -> Result<Self, String> {
        let matcher = build(check(glob)?)?;
        let names = FORBIDDEN.map(|name| glob.split(['/', '{', '}', ',']).any(|component| component == name));
        let mut components = Vec::new();
        let mut open_ended = false;
        let parts: Vec<&str> = glob.split('/').collect();
        for (index, part) in parts.iter().enumerate() {
            // Braces may hide slashes, and then components are not what they seem.
            if part.contains("**") || (part.contains(['{', '}']) && glob_has_slash_in_braces(glob)) {
                open_ended = true;
                break;
            }
            // The last component names a file, not a directory to enter.
            if index + 1 < parts.len() {
                components.push(build(part)?);
            }
        }
        Ok(Self { matcher, names, components, open_ended })
    }

    /// A glob like `**/*.js` does not mean the contents of `node_modules`.
    fn may_reach(&self, path: &str) -> bool {
        path.split('/')
            .all(|part| FORBIDDEN.iter().zip(self.names).all(|(forbidden, named)| named || part != *forbidden))
    }

    fn could_match_below(&self, directory: &str) -> bool {
        if directory.is_empty() {
            return true;
        }
        let mut components = self.components.iter();
        for part in directory.split('/') {
            match components.next() {
                Some(component) if component.is_match(part) => {}
                Some(_) => return false,
                None => return self.open_ended,
            }
        }
        true
    }
}

fn glob_has_slash_in_braces(glob: &str) -> bool {
    let mut depth = 0usize;
    glob.chars().any(|c| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == '/' && depth > 0
    })
}

fn normalise(glob: &str) -> &str {
    let glob = glob.strip_prefix("./").unwrap_or(glob);
    glob.strip_prefix('/').unwrap_or(glob)
}

fn check(glob: &str) -> Result<&str, String> {
    let extended = ["!(", "@(", "+(", "*(", "?("].iter().any(|opening| glob.contains(opening));
    if glob.is_empty() {
        Err("it is empty".to_owned())
    } else if extended {
        Err("extended globs such as `!(…)` are not supported".to_owned())
    } else if glob.starts_with('!') {
        Err("negated globs are not supported".to_owned())
    } else {
        Ok(glob)
    }
}

fn build(glob: &str) -> Result<GlobMatcher, String> {
    let glob = GlobBuilder::new(glob)
        .literal_separator(true)
        .backslash_escape(true)
        .empty_alternates(true)
        .build()
        .map_err(|error| format!("it is not valid: {}", error.kind()))?;
    Ok(glob.compile_matcher())
}

fn build_set(globs: &[&str]) -> Option<GlobSet> {
    let mut builder = GlobSetBuilder::new();
    for glob in globs {
        builder.add(build(glob).ok()?.glob().clone());
    }
    builder.build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(includes: &[&str], excludes: &[&str]) -> (Globs, Vec<String>) {
        let owned = |globs: &[&str]| globs.iter().map(|glob| (*glob).to_owned()).collect::<Vec<_>>();
        let mut problems = Vec::new();
        let globs = Globs::new(&owned(includes), &owned(excludes), &mut problems);
        (globs, problems.iter().map(Problem::to_string).collect())
    }

    #[test]
    fn includes_match_paths() {
        let cases = [
            ("dist/**", "dist/a/b.js", true),
            ("dist/**", "src/dist/b.js", false),
            ("**/*.js", "a/.b/c.js", true),
            ("**/*.js", "c.js", true),
            ("**/*.js", "node_modules/a/c.js", false),
            ("**/node_modules/a/**", "x/node_modules/a/c.js", true),
            ("node_modules/*/index.js", "node_modules/a/index.js", true),
            (".git/config", ".git/config", true),
            ("./a/{b,c}.ts", "a/c.ts", true),
            ("*.ts", "a/b.ts", false),
            ("[ab].ts", "b.ts", true),
        ];
        for (glob, path, expected) in cases {
            let (globs, problems) = globs(&[glob], &[]);
            assert_eq!((globs.includes(path), problems), (expected, vec![]), "{glob} {path}");
        }
    }

    #[test]
    fn directories_that_may_hold_included_files() {
        let cases = [
            ("dist/**", "dist", true),
            ("dist/**", "dist/a/b", true),
            ("dist/**", "src", false),
            ("dist/*.js", "dist", true),
            ("dist/*.js", "dist/a", false),
            ("a/*/c/d.ts", "a/b", true),
            ("a/*/c/d.ts", "a/b/c", true),
            ("a/*/c/d.ts", "a/b/x", false),
            ("**/*.ts", "any/where", true),
            ("**/*.ts", "any/node_modules", false),
            ("{a/b,c}/x.ts", "a/b", true),
            ("a.ts", "a", false),
            ("{node_modules,x}/a/b.js", "node_modules/a", true),
        ];
        for (glob, directory, expected) in cases {
            assert_eq!(globs(&[glob], &[]).0.could_include_below(directory), expected, "{glob} {directory}");
        }
    }

    #[test]
    fn excludes_prune_whole_directories() {
        let (globs, _) = globs(&[], &["dist/**", "*.md"]);
        assert!(globs.excludes("dist/a") && globs.excludes("a.md") && !globs.excludes("a/b.md"));
        assert!(globs.prunes("dist") && !globs.prunes("src"));
    }

    #[test]
    fn unsupported_globs_are_problems() {
        let (globs, problems) = globs(&["!(a)", "[", ""], &["!x"]);
        assert!(!globs.has_includes() && !globs.excludes("x"));
        assert_eq!(problems.len(), 4);
        assert!(problems[0].starts_with("!(a): glob in `includes` has no effect"), "{}", problems[0]);
    }
}
