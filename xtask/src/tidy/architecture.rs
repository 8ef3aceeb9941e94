//! ARCHITECTURE.md stays true: every crate has its heading there, and every path written there exists.

use super::{Finding, manifests, markdown, tree::Tree};

const PAGE: &str = "ARCHITECTURE.md";

/// Only paths below these folders are claims about the tree; other code spans are names and commands.
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
    for (number, line) in markdown::prose_lines(text) {
        for path in markdown::code_spans(line).filter(|span| is_path(span)).flat_map(expand_braces) {
            if !tree.exists(&path) {
                findings.push(Finding::at(PAGE, number, format!("`{path}` does not exist")));
            }
        }
    }
    findings
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
    fn the_page_itself_is_needed() {
        assert_eq!(check_lines(super::check, &[]), ["ARCHITECTURE.md: is missing"]);
    }
}
