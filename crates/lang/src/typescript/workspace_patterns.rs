//! The patterns of a workspace list (`packages/*`, `!**/fixtures`), indexed by their leading folders: a list may have as many
//! patterns as there are packages.

use std::ops::ControlFlow;

use globset::{GlobBuilder, GlobMatcher};
use rustc_hash::FxHashMap;

use super::star_patterns::{StarPatterns, split_star};

/// The maximum number of patterns without an index, which are tried for each package.
pub(super) const MAX_UNINDEXED: usize = 256;

const SPECIAL: [char; 7] = ['*', '?', '[', ']', '{', '}', '\\'];

/// Why a pattern is rejected.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    NotAPattern,
    TooMany,
}

/// Patterns for package folders, in file order.
#[derive(Default)]
pub(super) struct WorkspacePatterns {
    patterns: Vec<Pattern>,
    /// By the leading components without wildcards.
    by_folder: FxHashMap<Box<str>, PatternNode>,
    unindexed: usize,
}

#[derive(Default)]
struct PatternNode {
    /// The next components of simple patterns, with one star; indexed by `finish`.
    next: Vec<(Box<str>, u32)>,
    index: StarPatterns,
    /// Patterns that may match this folder or anything below it.
    others: Vec<u32>,
}

struct Pattern {
    matcher: Matcher,
    is_negated: bool,
    /// Wildcards match names that start with a dot only if the pattern contains such a name.
    names_dots: bool,
}

enum Matcher {
    /// Components that are literal or have one star: the text before the star and, if there is a star, the text after it.
    Simple(Vec<(Box<str>, Option<Box<str>>)>),
    Glob(Box<GlobMatcher>),
}

impl WorkspacePatterns {
    /// Adds a pattern as written in a manifest.
    pub(super) fn add(&mut self, pattern: &str) -> Result<(), Refused> {
        let (is_negated, glob) = match pattern.strip_prefix('!') {
            Some(glob) => (true, glob),
            None => (false, pattern),
        };
        let glob = glob.trim_start_matches("./").trim_start_matches('/').trim_end_matches('/');
        if glob.is_empty() || glob == "." {
            return Ok(());
        }
        let components: Vec<&str> = glob.split('/').collect();
        let literal = components.iter().take_while(|name| !name.contains(SPECIAL)).count();
        let number = u32::try_from(self.patterns.len()).map_err(|_| Refused::TooMany)?;
        let matcher = Matcher::new(glob, &components).ok_or(Refused::NotAPattern)?;
        let group = self.by_folder.entry(components[..literal].join("/").into()).or_default();
        match (&matcher, components.get(literal)) {
            (Matcher::Simple(_), Some(next)) => group.next.push(((*next).into(), number)),
            (Matcher::Simple(_), None) => group.others.push(number),
            (Matcher::Glob(_), _) if self.unindexed == MAX_UNINDEXED => return Err(Refused::TooMany),
            (Matcher::Glob(_), _) => {
                self.unindexed += 1;
                group.others.push(number);
            }
        }
        let names_dots = components.iter().any(|name| name.starts_with('.'));
        self.patterns.push(Pattern { matcher, is_negated, names_dots });
        Ok(())
    }

    /// Builds the index; patterns cannot be added afterwards.
    pub(super) fn finish(mut self) -> Self {
        #[expect(clippy::iter_over_hash_type, reason = "each group is indexed by itself")]
        for group in self.by_folder.values_mut() {
            let next = group.next.iter().filter_map(|(name, number)| {
                let (prefix, suffix) = split_star(name)?;
                Some((prefix, suffix, *number))
            });
            group.index = StarPatterns::new(next);
        }
        self
    }

    /// Whether the last matching pattern is a positive one. With `negation_wins`: whether some positive pattern matches and no
    /// negated one does.
    pub(super) fn include(&self, folder: &str, negation_wins: bool) -> bool {
        let has_dots = folder.split('/').any(|name| name.starts_with('.'));
        let mut last: Option<u32> = None;
        let mut is_negated = false;
        self.candidates(folder, |number| {
            let Some(pattern) = self.patterns.get(number as usize) else { return };
            if (has_dots && !pattern.names_dots && !pattern.is_negated) || !pattern.matcher.matches(folder) {
                return;
            }
            is_negated |= pattern.is_negated;
            last = last.max(Some(number));
        });
        let last = last.and_then(|last| self.patterns.get(last as usize));
        last.is_some_and(|last| if negation_wins { !is_negated } else { !last.is_negated })
    }

    /// Calls `act` for each pattern that may match.
    fn candidates(&self, folder: &str, mut act: impl FnMut(u32)) {
        let ends = folder.match_indices('/').map(|(at, _)| at).chain([folder.len()]);
        // Patterns are stored under their literal folders, so only those of this folder and its parents can match.
        let above = std::iter::once("").chain(ends.filter_map(|end| folder.get(..end)));
        for start in above {
            let Some(group) = self.by_folder.get(start) else { continue };
            group.others.iter().copied().for_each(&mut act);
            let rest = folder.get(start.len()..).unwrap_or_default().trim_start_matches('/');
            let next = rest.split('/').next().unwrap_or_default();
            let _: ControlFlow<()> = group.index.matching(next, |number, _| {
                act(number);
                ControlFlow::Continue(())
            });
        }
    }
}

impl Matcher {
    fn new(glob: &str, components: &[&str]) -> Option<Self> {
        let simple = |name: &&str| -> Option<(Box<str>, Option<Box<str>>)> {
            match split_star(name) {
                Some((prefix, suffix)) if !prefix.contains(SPECIAL) && !suffix.contains(SPECIAL) => {
                    Some((prefix.into(), Some(suffix.into())))
                }
                _ => (!name.contains(SPECIAL)).then(|| ((*name).into(), None)),
            }
        };
        // Nearly all patterns are simple. Only these can be indexed by their next component.
        if let Some(simple) = components.iter().map(simple).collect() {
            return Some(Self::Simple(simple));
        }
        let built = GlobBuilder::new(&[glob, "/package.json"].concat()).literal_separator(true).build().ok()?;
        Some(Self::Glob(Box::new(built.compile_matcher())))
    }

    fn matches(&self, folder: &str) -> bool {
        match self {
            Self::Glob(glob) => glob.is_match([folder, "/package.json"].concat()),
            Self::Simple(components) => {
                let mut names = folder.split('/');
                let fits = components.iter().all(|(prefix, suffix)| {
                    names.next().is_some_and(|name| match suffix {
                        None => *name == **prefix,
                        Some(suffix) => {
                            name.len() >= prefix.len() + suffix.len()
                                && name.starts_with(&**prefix)
                                && name.ends_with(&**suffix)
                        }
                    })
                });
                fits && names.next().is_none()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn too_many_patterns_that_no_index_helps_with_are_refused() {
        let mut patterns = WorkspacePatterns::default();
        for number in 0..MAX_UNINDEXED {
            assert_eq!(patterns.add(&format!("**/x{number}")), Ok(()));
        }
        assert_eq!(patterns.add("**/y"), Err(Refused::TooMany));
        assert_eq!((patterns.add("packages/*"), patterns.add("[")), (Ok(()), Err(Refused::NotAPattern)));
        let patterns = patterns.finish();
        assert!(patterns.include("a/x7", false) && patterns.include("packages/a", false));
        assert!(!patterns.include("a/y", false));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// The rule without an index: every pattern is a glob, in file order.
        #[test]
        fn the_index_agrees_with_trying_every_glob(
            specs in prop::collection::vec("!?(([ab]|[*]|[*][*]|a[*]|[*]b|[{]a,b[}]|[?])/){0,2}([ab]|[*]|[*][*]|a[*]b|[.]a)", 0..6),
            folder in "(a|b|ab|aab|[.]a)(/(a|b|ab)){0,3}",
            negation_wins: bool,
        ) {
            let mut patterns = WorkspacePatterns::default();
            let mut expected = false;
            let mut is_negated = false;
            for spec in &specs {
                patterns.add(spec).unwrap();
                let glob = spec.trim_start_matches('!');
                let matcher = GlobBuilder::new(&format!("{glob}/package.json")).literal_separator(true).build().unwrap();
                let negated = spec.starts_with('!');
                let hides_dots = folder.starts_with('.') && !glob.contains('.') && !negated;
                if !hides_dots && matcher.compile_matcher().is_match(format!("{folder}/package.json")) {
                    expected = !negated;
                    is_negated |= negated;
                }
            }
            let any = patterns.finish().include(&folder, negation_wins);
            if negation_wins {
                prop_assert!(!any || !is_negated);
                prop_assert!(is_negated || any == expected);
            } else {
                prop_assert_eq!(any, expected);
            }
        }
    }
}
