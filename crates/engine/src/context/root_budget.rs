//! The token budget of the files directly in the root (spec 30 §2). They go into every context archive, and a large workspace has
//! dozens of settings and documents there. Counts by size, because nothing is read to plan an archive.

use std::path::Path;

use stan_model::document::run_report::tokens;

use super::allow::{Allowlist, LeftOut, Origin, Rules};
use super::defaults::{Defaults, is_binary};

/// These say what the repository is and how to work in it, so they get their share of the budget before others.
const FIRST: &[&str] = &[
    "agents.md",
    "cargo.toml",
    "claude.md",
    "go.mod",
    "package.json",
    "pyproject.toml",
    "readme",
    "readme.adoc",
    "readme.md",
    "readme.mdx",
    "readme.rst",
    "readme.txt",
];

/// Leaves out texts of the root until the rest fits: what [`FIRST`] names enters first, then the smallest files.
pub(super) fn apply(rules: &Rules<'_>, defaults: &Defaults, list: &mut Allowlist) {
    let limit = rules.root_tokens;
    if limit == 0 {
        return;
    }
    let mut texts = Vec::new();
    for (path, allowed) in &list.files {
        let Origin::File(real) = &allowed.origin else { continue };
        if path.contains('/') || defaults.includes(path) {
            continue;
        }
        let absolute = rules.layout.absolute(real);
        // Files that vanished are reported when the archive is written.
        let Ok(stat) = rules.system.lstat(Path::new(&absolute)) else { continue };
        let is_late = FIRST.binary_search(&path.to_ascii_lowercase().as_str()).is_err();
        texts.push((is_late, tokens(stat.size), path.clone(), absolute));
    }
    texts.sort_unstable();
    let mut used = 0u64;
    for (_, tokens, path, absolute) in texts {
        if used.saturating_add(tokens) <= limit {
            used += tokens;
        } else if !is_binary(rules.system, &absolute) {
            list.files.remove(&path);
            let reason = format!("the files in the root exceed `rootTokens` ({limit})");
            list.left_out.push(LeftOut { path, reason, is_default: true });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FIRST;

    #[test]
    fn names_that_enter_first_can_be_searched() {
        assert!(FIRST.is_sorted());
    }
}
