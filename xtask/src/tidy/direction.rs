//! Dependencies point in one direction: the list of crates, read from top to bottom, is the pipeline.
//!
//! This table enforces what ARCHITECTURE.md describes. It also keeps parsers in one crate, and argument parsing out of libraries.

use super::{Finding, manifests, manifests::Use, tree::Tree};

/// A crate of the workspace, and those of the workspace that it may use.
const ALLOWED: &[(&str, &[&str])] = &[
    ("stan-model", &[]),
    ("stan-repo", &["stan-model"]),
    ("stan-lang", &["stan-repo", "stan-model"]),
    ("stan-graph", &["stan-model"]),
    ("stan-slice", &["stan-lang", "stan-model"]),
    ("stan-secrets", &[]),
    ("stan-archive", &["stan-repo", "stan-secrets", "stan-model"]),
    ("stan-dataset", &["stan-model"]),
    ("stan-remote", &["stan-repo"]),
    ("stan-reply", &["stan-model"]),
    ("stan-diagnose", &["stan-model"]),
    ("stan-pack", &["stan-model"]),
    ("stan-rank", &[]),
    ("stan-testkit", &[]),
    (
        "stan-engine",
        &[
            "stan-model",
            "stan-repo",
            "stan-lang",
            "stan-graph",
            "stan-slice",
            "stan-archive",
            "stan-dataset",
            "stan-secrets",
            "stan-reply",
            "stan-diagnose",
            "stan-pack",
            "stan-rank",
        ],
    ),
    ("stan-cli", &["stan-engine", "stan-model", "stan-remote"]),
    ("stan-node", &["stan-engine"]),
];

/// Shared by tests alone: every crate may use it there, none in its product code.
const TESTKIT: &str = "stan-testkit";

/// Developer tools may use any crate; nothing else may depend on them.
const TOOLS: &[&str] = &["fuzz/", "tools/", "xtask/"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    // Errors of parsing are reported by the check of the manifests.
    let (manifests, _) = manifests::read(tree);
    let members: Vec<&str> = manifests.iter().map(|manifest| manifest.package.as_str()).collect();
    let mut findings = Vec::new();
    for manifest in &manifests {
        let package = manifest.package.as_str();
        if TOOLS.iter().any(|folder| manifest.path.starts_with(folder)) {
            continue;
        }
        if allowed(package).is_none() {
            findings.push(Finding::of_file(
                manifest.path,
                format!("`{package}` has no place in the table of xtask/src/tidy/direction.rs"),
            ));
        }
        for (name, used_by) in manifest.dependencies() {
            let complaint = if members.contains(&name.as_str()) {
                (!may_use(package, &name, used_by)).then(|| format!("`{package}` must not depend on `{name}`"))
            } else {
                misplaced(manifest.path, package, &name)
            };
            findings.extend(complaint.map(|message| Finding::of_file(manifest.path, message)));
        }
    }
    findings
}

fn allowed(package: &str) -> Option<&'static [&'static str]> {
    ALLOWED.iter().find(|(name, _)| *name == package).map(|(_, uses)| *uses)
}

/// Product code uses what the table says; tests also what is below that, to build their inputs.
fn may_use(package: &str, name: &str, used_by: Use) -> bool {
    if name == TESTKIT {
        return used_by == Use::Tests;
    }
    let Some(uses) = allowed(package) else { return true };
    uses.contains(&name) || (used_by == Use::Tests && uses.iter().any(|below| may_use(below, name, used_by)))
}

/// Third-party crates that belong to one place.
fn misplaced(path: &str, package: &str, name: &str) -> Option<String> {
    if (name.starts_with("oxc_") || name.starts_with("oxc-")) && package != "stan-lang" {
        return Some(format!("`{name}` belongs to stan-lang alone: its types move weekly"));
    }
    if name.starts_with("ruff_") && package != "stan-lang" {
        return Some(format!("`{name}` belongs to stan-lang alone: each release may change its types"));
    }
    if (name == "ureq" || name == "object_store") && package != "stan-remote" {
        return Some(format!("`{name}` belongs to stan-remote alone: no other code reaches the network"));
    }
    if (name == "clap" || name.starts_with("clap_")) && !path.starts_with("apps/") {
        return Some(format!("`{name}` belongs to programs under apps/"));
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::tidy::check_lines;

    fn manifest(package: &str, rest: &str) -> String {
        format!("[package]\nname = \"{package}\"\n{rest}")
    }

    fn check(path: &str, package: &str, rest: &str, expected: &[&str]) {
        let files = [
            (path.to_owned(), manifest(package, rest)),
            ("crates/model/Cargo.toml".to_owned(), manifest("stan-model", "")),
            ("crates/repo/Cargo.toml".to_owned(), manifest("stan-repo", "")),
            ("crates/engine/Cargo.toml".to_owned(), manifest("stan-engine", "")),
            ("crates/testkit/Cargo.toml".to_owned(), manifest("stan-testkit", "")),
        ];
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        assert_eq!(check_lines(super::check, &files), expected, "{package} with {rest}");
    }

    #[test]
    fn a_dependency_against_the_direction_is_reported() {
        check("crates/lang/Cargo.toml", "stan-lang", "[dependencies]\nstan-repo = {}\nserde = \"1\"\n", &[]);
        check(
            "crates/graph/Cargo.toml",
            "stan-graph",
            "[dependencies]\nstan-repo = {}\n",
            &["crates/graph/Cargo.toml: `stan-graph` must not depend on `stan-repo`"],
        );
        check(
            "crates/lang/Cargo.toml",
            "stan-lang",
            "[build-dependencies]\nstan-engine = {}\n",
            &["crates/lang/Cargo.toml: `stan-lang` must not depend on `stan-engine`"],
        );
    }

    #[test]
    fn tests_reach_further_down_but_never_up() {
        check("crates/slice/Cargo.toml", "stan-slice", "[dev-dependencies]\nstan-repo = {}\n", &[]);
        check(
            "crates/graph/Cargo.toml",
            "stan-graph",
            "[dev-dependencies]\nstan-repo = {}\n",
            &["crates/graph/Cargo.toml: `stan-graph` must not depend on `stan-repo`"],
        );
    }

    #[test]
    fn only_tests_use_the_testkit() {
        check("crates/lang/Cargo.toml", "stan-lang", "[dev-dependencies]\nstan-testkit = {}\n", &[]);
        check("tools/load/Cargo.toml", "stan-load", "[dependencies]\nstan-testkit = {}\n", &[]);
        check(
            "crates/lang/Cargo.toml",
            "stan-lang",
            "[dependencies]\nstan-testkit = {}\n",
            &["crates/lang/Cargo.toml: `stan-lang` must not depend on `stan-testkit`"],
        );
    }

    #[test]
    fn third_party_crates_keep_their_place() {
        check("crates/lang/Cargo.toml", "stan-lang", "[dependencies]\noxc_parser = \"1\"\n", &[]);
        check("apps/cli/Cargo.toml", "stan-cli", "[dependencies]\nclap = \"4\"\n", &[]);
        check("xtask/Cargo.toml", "xtask", "[dependencies]\nclap = \"4\"\nstan-engine = {}\n", &[]);
        check("tools/bench/Cargo.toml", "stan-bench", "[dependencies]\nclap = \"4\"\noxc_parser = {}\n", &[]);
        check(
            "crates/graph/Cargo.toml",
            "stan-graph",
            "[dependencies]\nclap = \"4\"\n[dev-dependencies]\noxc_span = \"1\"\n",
            &[
                "crates/graph/Cargo.toml: `clap` belongs to programs under apps/",
                "crates/graph/Cargo.toml: `oxc_span` belongs to stan-lang alone: its types move weekly",
            ],
        );
    }

    #[test]
    fn a_crate_missing_from_the_table_is_reported() {
        check(
            "crates/extra/Cargo.toml",
            "stan-extra",
            "",
            &["crates/extra/Cargo.toml: `stan-extra` has no place in the table of xtask/src/tidy/direction.rs"],
        );
    }
}
