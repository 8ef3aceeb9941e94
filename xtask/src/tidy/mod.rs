//! `cargo xtask tidy`: house rules that no compiler checks.
//!
//! Each check is a module with one function from the [`Tree`] to its findings, so that its tests need no disk. The checks read
//! only text and manifests; rustfmt and clippy check formatting and lints.

mod architecture;
pub(crate) mod decisions;
mod direction;
mod glossary;
mod headers;
mod language_names;
mod length;
mod links;
mod lock;
mod machine_paths;
mod manifests;
mod markdown;
mod names;
mod promises;
mod test_names;
mod tree;
mod unsafe_code;

use std::path::Path;

use crate::Result;
use tree::Tree;

/// One violation: where, and what to do about it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    /// 1-based; 0 if the finding is about the whole file.
    line: usize,
    message: String,
}

impl Finding {
    fn of_file(path: &str, message: impl Into<String>) -> Self {
        Finding { path: path.to_owned(), line: 0, message: message.into() }
    }

    fn at(path: &str, line: usize, message: impl Into<String>) -> Self {
        Finding { path: path.to_owned(), line, message: message.into() }
    }

    fn render(&self) -> String {
        match self.line {
            0 => format!("{}: {}", self.path, self.message),
            line => format!("{}:{line}: {}", self.path, self.message),
        }
    }
}

type Check = fn(&Tree) -> Vec<Finding>;

const CHECKS: &[Check] = &[
    headers::check,
    length::check,
    manifests::check,
    direction::check,
    language_names::check,
    lock::check,
    architecture::check,
    decisions::check,
    glossary::check,
    names::check,
    links::check,
    machine_paths::check,
    promises::check,
    test_names::check,
    unsafe_code::check,
];

/// Runs every check; returns true if all passed.
pub(crate) fn run(root: &Path) -> Result<bool> {
    let tree = Tree::load(root)?;
    let mut findings: Vec<Finding> = CHECKS.iter().flat_map(|check| check(&tree)).collect();
    findings.sort();
    for finding in &findings {
        eprintln!("{}", finding.render());
    }
    if findings.is_empty() {
        println!("tidy: {} files in order", tree.len());
    } else {
        eprintln!("tidy: {} findings", findings.len());
    }
    Ok(findings.is_empty())
}

/// Test helpers: a tree from a few files, and the findings as the lines that a user sees.
#[cfg(test)]
fn check_lines(check: Check, files: &[(&str, &str)]) -> Vec<String> {
    let mut findings = check(&Tree::of(files));
    findings.sort();
    findings.iter().map(Finding::render).collect()
}
