//! Whether a configuration includes a file: TypeScript's list of input files, decided for one path at a time.
//!
//! The list itself is never built. Only siblings of the file are looked up on disk, because TypeScript takes only the one with
//! the preferred extension of several files with the same stem.

use rustc_hash::FxHashSet;
use stan_repo::Files;

use super::pattern_set::PatternSet;
use super::patterns::Usage;

/// Extensions by group, best first. `allowJs` is always on: the graph includes JavaScript.
const GROUPS: [&[&str]; 3] =
    [&[".ts", ".tsx", ".d.ts", ".js", ".jsx"], &[".cts", ".d.cts", ".cjs"], &[".mts", ".d.mts", ".mjs"]];

/// Files whose script blocks are analysed. TypeScript ignores them; their own compilers add them.
const COMPONENT_EXTENSIONS: [&str; 3] = [".vue", ".svelte", ".astro"];

/// The extensions that TypeScript removes before it appends another, in its order.
const REMOVABLE: [&str; 12] =
    [".d.ts", ".d.mts", ".d.cts", ".mjs", ".mts", ".cjs", ".cts", ".ts", ".js", ".tsx", ".jsx", ".json"];

/// The compiled `files`, `include` and `exclude` of one configuration.
#[derive(Debug)]
pub(super) struct FileSet {
    /// `files`: absolute paths that are members regardless of the patterns.
    pub(super) literal: FxHashSet<String>,
    pub(super) include: PatternSet,
    /// The patterns of `include` that end with `.json`: only these include JSON files.
    pub(super) include_json: PatternSet,
    pub(super) exclude: PatternSet,
    /// The patterns of `include` as written, and the directory that they are relative to.
    pub(super) specs: Vec<String>,
    pub(super) directory: String,
}

impl FileSet {
    pub(super) fn patterns<'s>(specs: impl IntoIterator<Item = &'s String>, base: &str, usage: Usage) -> PatternSet {
        PatternSet::new((0u32..).zip(specs).map(|(number, spec)| (spec.as_str(), base, number)), usage)
    }

    /// Whether TypeScript would take this file as an input.
    pub(super) fn includes(&self, files: &dyn Files, path: &str) -> bool {
        if self.literal.contains(path) {
            return true;
        }
        if has_extension(path, ".json") {
            return !self.is_excluded(path) && self.include_json.first(path).is_some();
        }
        if COMPONENT_EXTENSIONS.iter().any(|extension| has_extension(path, extension)) {
            return self.place(path).is_some();
        }
        let Some(group) = group_of(path) else { return false };
        if self.place(path).is_none() {
            return false;
        }
        // The extensions of declarations end with those of sources, but sources have the highest precedence.
        let is_declaration = [".d.ts", ".d.mts", ".d.cts"].iter().any(|extension| has_extension(path, extension));
        let is_best = group.first().is_some_and(|best| has_extension(path, best)) && !is_declaration;
        is_best || self.survives(files, path)
    }

    fn is_excluded(&self, path: &str) -> bool {
        self.exclude.first(path).is_some()
    }

    /// The first `include` pattern that matches; TypeScript lists files in this order.
    fn place(&self, path: &str) -> Option<u32> {
        let place = self.include.first(path)?;
        (!self.is_excluded(path)).then_some(place)
    }

    /// Replays how TypeScript builds its list for this file and the siblings that may replace it.
    fn survives(&self, files: &dyn Files, path: &str) -> bool {
        let mut family: Vec<(u32, String)> = Vec::new();
        let mut queue = vec![path.to_owned()];
        while let Some(member) = queue.pop() {
            if family.iter().any(|(_, known)| *known == member) {
                continue;
            }
            let Some(place) = self.place(&member) else { continue };
            if member != path && !files.is_file(&member) {
                continue;
            }
            for extension in group_of(&member).unwrap_or_default() {
                queue.push(change_extension(&member, extension));
            }
            family.push((place, member));
        }
        family.sort_unstable();
        let mut listed: Vec<&str> = Vec::new();
        for (_, member) in &family {
            if self.has_better(member, &listed) {
                continue;
            }
            remove_worse(member, &mut listed);
            if !self.literal.contains(member) {
                listed.push(member);
            }
        }
        listed.contains(&path)
    }

    fn has_better(&self, path: &str, listed: &[&str]) -> bool {
        for extension in group_of(path).unwrap_or_default() {
            if has_extension(path, extension) && !(*extension == ".ts" && has_extension(path, ".d.ts")) {
                return false;
            }
            let better = change_extension(path, extension);
            if self.literal.contains(&better) || listed.contains(&better.as_str()) {
                let script = has_extension(path, ".js") || has_extension(path, ".jsx");
                if !(*extension == ".d.ts" && script) {
                    return true;
                }
            }
        }
        false
    }
}

fn remove_worse(path: &str, listed: &mut Vec<&str>) {
    for extension in group_of(path).unwrap_or_default().iter().rev() {
        if has_extension(path, extension) {
            return;
        }
        let worse = change_extension(path, extension);
        listed.retain(|known| *known != worse);
    }
}

fn group_of(path: &str) -> Option<&'static [&'static str]> {
    GROUPS.into_iter().find(|group| group.iter().any(|extension| has_extension(path, extension)))
}

fn has_extension(path: &str, extension: &str) -> bool {
    path.len() > extension.len() && path.ends_with(extension)
}

fn change_extension(path: &str, extension: &str) -> String {
    let stem = REMOVABLE.iter().find_map(|known| path.strip_suffix(known)).unwrap_or(path);
    [stem, extension].concat()
}
