//! SECURITY.md promises only what tests verify: every row of its table names tests or a suite, every named test exists, and only
//! the files that it names start programs. The same for the findings in `docs/trust-findings.md`.

use super::{Finding, tree::Tree};

const PAGES: [&str; 2] = ["SECURITY.md", "docs/trust-findings.md"];

/// The files of the product that start programs: scripts of the configuration, a browser for `view --open`, a tool for `--copy`.
const STARTS: [&str; 3] = ["crates/repo/src/os/shell.rs", "apps/cli/src/commands/view.rs", "apps/cli/src/clipboard.rs"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings: Vec<Finding> = PAGES.into_iter().flat_map(|page| check_page(tree, page)).collect();
    findings.extend(starters(tree));
    findings
}

fn check_page(tree: &Tree, page: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, number) in tree.text(page).unwrap_or_default().lines().zip(1..) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
        let is_row = line.starts_with("| ")
            && cells.len() == 3
            && !line.starts_with("| promise")
            && !line.starts_with("| finding");
        if !is_row {
            continue;
        }
        let proofs = cells.last().copied().unwrap_or_default();
        let named = tests_of(proofs);
        if named.is_empty() && !proofs.contains("cargo xtask ") {
            findings.push(Finding::at(page, number, "the promise names no test and no suite"));
        }
        for (path, test) in named {
            match tree.text(path) {
                None => findings.push(Finding::at(
                    page,
                    number,
                    format!("{path} does not exist: correct the path or add the test"),
                )),
                Some(text) if !has_test(text, test) => {
                    findings.push(Finding::at(page, number, format!("{path} has no test {test}")));
                }
                Some(_) => {}
            }
        }
    }
    findings
}

/// The tests on the page: a file in backticks, followed by its tests in parentheses.
fn tests_of(proofs: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    for part in proofs.split("; ") {
        let Some((path, tests)) = part.trim().strip_prefix('`').and_then(|part| part.split_once("` (`")) else {
            continue;
        };
        let Some((tests, _)) = tests.split_once("`)") else { continue };
        found.extend(tests.split("`, `").map(|test| (path, test)));
    }
    found
}

/// Whether the file has a function with this name and a test attribute, not ignored.
fn has_test(text: &str, name: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let head = format!("fn {name}(");
    let at = lines.iter().position(|line| line.trim_start_matches("pub(crate) ").starts_with(&head));
    let above = at.map(|at| lines[..at].iter().rev().take_while(|line| line.starts_with('#')).collect::<Vec<_>>());
    above.is_some_and(|above| above.contains(&&"#[test]") && !above.iter().any(|line| line.starts_with("#[ignore")))
}

/// Other product code that starts programs.
fn starters(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts_ending(".rs") {
        let is_product = (path.starts_with("crates/") || path.starts_with("apps/")) && path.contains("/src/");
        // Test kits are not product code, and a file's tests follow its product code.
        if !is_product || STARTS.contains(&path) || path.starts_with("crates/testkit/") || path.contains("/tests") {
            continue;
        }
        let product = text.split("#[cfg(test)]").next().unwrap_or_default();
        let mut number = 1;
        // A list of imports may have several lines.
        for statement in product.split_inclusive(';') {
            if let Some((before, after)) = statement.split_once("process::")
                && after.split(|character: char| !character.is_alphanumeric()).any(|word| word == "Command")
            {
                let line = number + before.matches('\n').count();
                findings.push(Finding::at(path, line, format!("only {} start programs", STARTS.join(", "))));
            }
            number += statement.matches('\n').count();
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use crate::tidy::check_lines;

    const TEST: &str =
        "#[test]\nfn it_holds() {}\n\n#[test]\n#[ignore = \"long\"]\nfn it_is_long() {}\n\nfn helper() {}\n";

    fn check(proofs: &str, expected: &[&str]) {
        let page = format!("| promise | how | where |\n|---|---|---|\n| It holds. | By care. | {proofs} |\n");
        let files = [("SECURITY.md", page.as_str()), ("crates/a/tests/t.rs", TEST)];
        assert_eq!(check_lines(super::check, &files), expected, "{proofs}");
    }

    #[test]
    fn every_promise_names_tests_that_are_there() {
        check("`crates/a/tests/t.rs` (`it_holds`)", &[]);
        check("`cargo xtask hostile --run`", &[]);
        check("`crates/a/tests/t.rs`", &["SECURITY.md:3: the promise names no test and no suite"]);
        check(
            "`crates/a/tests/t.rs` (`it_holds`, `it_held`); by eye",
            &["SECURITY.md:3: crates/a/tests/t.rs has no test it_held"],
        );
        check("`crates/a/tests/t.rs` (`helper`)", &["SECURITY.md:3: crates/a/tests/t.rs has no test helper"]);
        check("`crates/a/tests/t.rs` (`it_is_long`)", &["SECURITY.md:3: crates/a/tests/t.rs has no test it_is_long"]);
        check(
            "`crates/b.rs` (`it_holds`)",
            &["SECURITY.md:3: crates/b.rs does not exist: correct the path or add the test"],
        );
    }

    #[test]
    fn programs_are_started_in_files_that_are_named() {
        let text = "//! A.\nuse std::process::Command;\n";
        let behind = "//! A.\n#[cfg(test)]\nmod tests {\n    use std::process::Command;\n}\n";
        let files = [
            ("SECURITY.md", ""),
            ("crates/a/src/lib.rs", text),
            ("crates/repo/src/os/shell.rs", text),
            ("crates/b/src/lib.rs", behind),
            ("crates/c/src/lib.rs", "//! A.\nuse std::process::{\n    Command, Stdio,\n};\n"),
            ("crates/d/src/lib.rs", "//! A.\nuse std::process::{ExitCode};\nuse clap::Command;\n"),
            ("tools/x/src/main.rs", text),
        ];
        let expected = ["a", "c"]
            .map(|name| format!("crates/{name}/src/lib.rs:2: only {} start programs", super::STARTS.join(", ")));
        assert_eq!(check_lines(super::check, &files), expected);
    }
}
