//! Checks that ARCHITECTURE.md and its linked pages are up to date: every crate has a heading, and every path exists.

use super::{Finding, manifests, markdown, tree::Tree};

const PAGE: &str = "ARCHITECTURE.md";

/// Pages on which every path must exist.
const PAGES: [&str; 3] = [PAGE, "docs/walks.md", "docs/languages/adding.md"];

/// Only paths below these folders are checked; other code spans are names and commands.
const FOLDERS: &[&str] = &["crates", "apps", "tools", "xtask", "docs"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(PAGE) else {
        return vec![Finding::of_file(PAGE, "is missing")];
    };
    let mut findings = Vec::new();
    for manifest in manifests::read(tree).0 {
        let has_heading = markdown::prose_lines(text)
            .filter_map(|(_, line)| line.strip_prefix("### "))
            .any(|heading| heading.split_whitespace().next() == Some(manifest.package.as_str()));
        if !has_heading {
            findings
                .push(Finding::of_file(PAGE, format!("describe the crate under a heading `### {}`", manifest.package)));
        }
    }
    for (page, text) in PAGES.into_iter().filter_map(|page| Some((page, tree.text(page)?))) {
        let mut folder = None;
        for (number, line) in markdown::prose_lines(text) {
            folder = folder_of_table(folder, line);
            let named = markdown::code_spans(line).filter(|span| is_path(span)).flat_map(expand_braces);
            let below = folder.into_iter().flat_map(|folder| paths_of_row(folder, line));
            for path in named.chain(below).filter(|path| !tree.exists(path)) {
                findings.push(Finding::at(page, number, format!("`{path}` does not exist")));
            }
        }
    }
    findings
}

/// The folder that paths in the first column of a table are relative to. A header such as ``| in `crates/a/src` | what |`` names
/// it.
fn folder_of_table<'t>(folder: Option<&'t str>, line: &'t str) -> Option<&'t str> {
    let first = line.strip_prefix("| in `").and_then(|rest| rest.split_once("` |"));
    match first {
        Some((named, _)) => Some(named),
        None => folder.filter(|_| line.starts_with('|')),
    }
}

/// The paths in the first cell of a row, below the folder of its table.
fn paths_of_row<'t>(folder: &'t str, row: &'t str) -> impl Iterator<Item = String> + 't {
    let cell = row.trim_start_matches('|').split(" | ").next().unwrap_or_default();
    let is_header = row.starts_with("| in `");
    markdown::code_spans(cell).filter(move |_| !is_header).map(move |name| format!("{folder}/{name}"))
}

fn is_path(span: &str) -> bool {
    let first = span.split('/').next().unwrap_or_default();
    FOLDERS.contains(&first)
        && span.contains('/')
        && span.chars().all(|c| c.is_ascii_alphanumeric() || "/._-{},".contains(c))
}

/// `a/{b,c}.rs` expands to `a/b.rs` and `a/c.rs`.
fn expand_braces(path: &str) -> Vec<String> {
    let parts = path.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    match parts {
        None => vec![path.to_owned()],
        Some((before, (choices, after))) => {
            choices.split(',').flat_map(|choice| expand_braces(&format!("{before}{choice}{after}"))).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tidy::check_lines;

    fn check(page: &str, expected: &[&str]) {
        let files = [
            ("ARCHITECTURE.md", page),
            ("crates/model/Cargo.toml", "[package]\nname = \"stan-model\"\n"),
            ("crates/model/src/lib.rs", ""),
            ("crates/model/src/digest.rs", ""),
        ];
        assert_eq!(check_lines(super::check, &files), expected, "{page}");
    }

    #[test]
    fn every_crate_has_a_heading() {
        check("### stan-model (`crates/model`)\n", &[]);
        check("### stan-model\n", &[]);
        for page in ["", "## stan-model\n", "### stan-models\n", "```\n### stan-model\n```\n"] {
            check(page, &["ARCHITECTURE.md: describe the crate under a heading `### stan-model`"]);
        }
    }

    #[test]
    fn every_path_exists() {
        let with = |words: &str| format!("### stan-model\n{words}\n");
        check(&with("`crates/model/src/lib.rs`, `crates/model/`, `crates/model/src/{lib,digest}.rs`"), &[]);
        check(&with("`crates/gone` in a sentence"), &["ARCHITECTURE.md:2: `crates/gone` does not exist"]);
        check(
            &with("`crates/model/src/{lib,gone}.rs`"),
            &["ARCHITECTURE.md:2: `crates/model/src/gone.rs` does not exist"],
        );
        check(&with("`cargo xtask tidy`, `docs`, `src/gone.rs`, `crates/*/Cargo.toml`, crates/gone"), &[]);
        check(&with("```\n`crates/gone`\n```"), &[]);
    }

    #[test]
    fn paths_of_the_walks_are_checked_too() {
        let files = [("ARCHITECTURE.md", ""), ("docs/walks.md", "# Walks\n`crates/gone/src/lib.rs`\n")];
        assert_eq!(check_lines(super::check, &files), ["docs/walks.md:2: `crates/gone/src/lib.rs` does not exist"]);
    }

    #[test]
    fn names_in_the_first_cells_of_a_table_exist_below_its_folder() {
        let page = "### stan-model\n| in `crates/model/src` | what |\n|---|---|\n| `lib.rs`, `gone.rs` | a `word` |\n\n| `other` | b |\n";
        check(page, &["ARCHITECTURE.md:4: `crates/model/src/gone.rs` does not exist"]);
    }

    #[test]
    fn a_missing_architecture_page_is_reported() {
        assert_eq!(check_lines(super::check, &[]), ["ARCHITECTURE.md: is missing"]);
    }
}
