//! Files requested by pattern: `import.meta.glob` and template imports, matched against the universe.
//!
//! `*` matches within one path segment, as in Vite and Rollup. A pattern without matches is tried again with the extensions that
//! an import may omit or replace (`.js` for a `.ts` file).

use globset::{GlobBuilder, GlobMatcher};

use crate::project::FileList;

/// Further matches are dropped, and the caller reports it.
pub const MAX_MATCHES: usize = 10_000;

const ADDED: &str =
    "{.ts,.tsx,.mts,.cts,.js,.jsx,.mjs,.cjs,.vue,.svelte,.astro,.json,/index.ts,/index.tsx,/index.js,/index.jsx}";

/// The matches of one request, as indices into the universe, and their problems.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Expansion {
    pub matches: Vec<usize>,
    pub problem: Option<String>,
}

/// Matches `patterns` (root-relative or relative to the importer, `!` for exclusions) against the sorted `universe`. A leading
/// `/` means the directory `package`, relative to the repository's root. Wildcards match names that start with a dot only if
/// `with_hidden`.
pub fn expand(
    universe: &dyn FileList,
    importer: &str,
    package: &str,
    patterns: &[String],
    with_hidden: bool,
) -> Expansion {
    let directory = importer.rsplit_once('/').map_or("", |(directory, _)| directory);
    let anchor = |pattern: &str| {
        let base = if pattern.starts_with('/') { package } else { directory };
        anchored(base, pattern)
    };
    let (negative, positive): (Vec<_>, Vec<_>) = patterns.iter().partition(|pattern| pattern.starts_with('!'));
    let mut problem = None;
    let mut compile = |pattern: &str| match matcher(pattern) {
        Ok(matcher) => Some(matcher),
        Err(error) => {
            problem = Some(format!("the pattern `{pattern}` is not a glob ({error}); it matches nothing"));
            None
        }
    };
    let excluded: Vec<GlobMatcher> =
        negative.iter().filter_map(|pattern| anchor(&pattern[1..])).filter_map(|pattern| compile(&pattern)).collect();
    let mut matches = Vec::new();
    for pattern in positive.iter().filter_map(|pattern| anchor(pattern)) {
        let found_before = matches.len();
        for variant in std::iter::once(pattern.clone()).chain(implied(&pattern)) {
            if matches.len() > found_before {
                break;
            }
            if let Some(glob) = compile(&variant) {
                let hidden = if with_hidden { None } else { Some(HiddenNames::of(&variant)) };
                collect(
                    universe,
                    &variant,
                    |path| glob.is_match(path) && hidden.as_ref().is_none_or(|hidden| hidden.admit(path)),
                    &mut matches,
                );
            }
        }
    }
    matches.retain(|&index| {
        let path = universe.path(index);
        path != importer && !excluded.iter().any(|glob| glob.is_match(path))
    });
    matches.sort_unstable();
    matches.dedup();
    if matches.len() > MAX_MATCHES {
        problem = Some(format!("a pattern matches {} files; only the first {MAX_MATCHES} are taken", matches.len()));
        matches.truncate(MAX_MATCHES);
    }
    Expansion { matches, problem }
}

fn matcher(pattern: &str) -> Result<GlobMatcher, String> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).backslash_escape(true).build();
    glob.map(|glob| glob.compile_matcher()).map_err(|error| error.kind().to_string())
}

/// The names with a leading dot that a pattern contains literally.
struct HiddenNames(Vec<GlobMatcher>);

impl HiddenNames {
    fn of(pattern: &str) -> Self {
        Self(pattern.split('/').filter(|part| part.starts_with('.')).filter_map(|part| matcher(part).ok()).collect())
    }

    fn admit(&self, path: &str) -> bool {
        let mut hidden = path.split('/').filter(|name| name.starts_with('.'));
        hidden.all(|name| self.0.iter().any(|glob| glob.is_match(name)))
    }
}

fn collect(universe: &dyn FileList, pattern: &str, is_match: impl Fn(&str) -> bool, matches: &mut Vec<usize>) {
    // Only paths that start with the literal prefix of the pattern can match, and these are contiguous.
    let prefix = &pattern[..pattern.find(['*', '?', '[', '{', '\\']).unwrap_or(pattern.len())];
    for index in universe.first_from(prefix)..universe.len() {
        let path = universe.path(index);
        if !path.starts_with(prefix) {
            break;
        }
        if is_match(path) {
            matches.push(index);
        }
    }
}

/// The patterns that an import may mean by this one.
fn implied(pattern: &str) -> Vec<String> {
    let last = pattern.rsplit('/').next().unwrap_or(pattern);
    let stem = |extension: &str| last.strip_suffix(extension).map(|_| &pattern[..pattern.len() - extension.len()]);
    if let Some(stem) = stem(".js").or_else(|| stem(".jsx")) {
        return vec![format!("{stem}{{.ts,.tsx}}")];
    }
    if last.contains('.') { Vec::new() } else { vec![format!("{pattern}{ADDED}")] }
}

/// The pattern relative to the repository's root; `None` if it leaves the repository.
fn anchored(base: &str, pattern: &str) -> Option<String> {
    let mut segments: Vec<&str> = base.split('/').filter(|segment| !segment.is_empty()).collect();
    for segment in pattern.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop()?;
            }
            other => segments.push(other),
        }
    }
    Some(segments.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(importer: &str, patterns: &[&str], expected: &[&str]) {
        let mut universe: Vec<Box<str>> = [
            "src/a.ts",
            "src/main.ts",
            "src/locales/de.json",
            "src/locales/en.json",
            "src/locales/deep/fr.json",
            "src/pages/home/index.tsx",
            "src/pages/[id]/index.tsx",
            "src/.foo/x.ts",
            "src/.foo/.bar.ts",
            "lib/x.ts",
        ]
        .map(Into::into)
        .to_vec();
        universe.sort();
        let patterns: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
        let expansion = expand(&universe, importer, "", &patterns, false);
        let found: Vec<&str> = expansion.matches.iter().map(|&index| &*universe[index]).collect();
        assert_eq!(found, expected, "{patterns:?}");
    }

    #[test]
    fn globs_match_files_of_the_universe() {
        check("src/main.ts", &["./*.ts"], &["src/a.ts"]);
        check("src/main.ts", &["./locales/*.json"], &["src/locales/de.json", "src/locales/en.json"]);
        check(
            "src/main.ts",
            &["./locales/**/*.json", "!**/de.json"],
            &["src/locales/deep/fr.json", "src/locales/en.json"],
        );
        check("src/main.ts", &["./pages/*/index"], &["src/pages/[id]/index.tsx", "src/pages/home/index.tsx"]);
        check("src/main.ts", &["../lib/*.js"], &["lib/x.ts"]);
        check("src/main.ts", &["/lib/*"], &["lib/x.ts"]);
        check("src/main.ts", &["./pages/[[]id]/*"], &["src/pages/[id]/index.tsx"]);
        check("src/main.ts", &["../../*"], &[]);
        check("src/main.ts", &["./**/*.ts"], &["src/a.ts"]);
        check("src/main.ts", &["./.foo/*.ts"], &["src/.foo/x.ts"]);
        check("src/main.ts", &["./.f*/.*.ts"], &["src/.foo/.bar.ts"]);
    }

    #[test]
    fn a_broken_glob_is_a_problem() {
        assert!(expand(&Vec::new(), "a.ts", "", &["./[".to_owned()], false).problem.is_some());
    }
}
