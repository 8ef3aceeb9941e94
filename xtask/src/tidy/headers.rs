//! Every Rust file starts with a `//!` header. Reviewers check what it says.

use super::{Finding, tree::Tree};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.texts_ending(".rs")
        .filter(|(_, text)| {
            !text.lines().find(|line| !line.trim().is_empty()).is_some_and(|line| line.starts_with("//!"))
        })
        .map(|(path, _)| Finding::of_file(path, "open the file with `//!`: what it is, and what it is not"))
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::tidy::check_lines;

    #[test]
    fn a_file_must_start_with_its_header() {
        let files = [
            ("good.rs", "//! Words.\nfn main() {}\n"),
            ("blank-first.rs", "\n//! Words.\n"),
            ("late.rs", "use std::fs;\n//! Words.\n"),
            ("outer.rs", "/// Words.\nfn f() {}\n"),
            ("empty.rs", ""),
            ("other.md", "# no header needed\n"),
        ];
        let message = "open the file with `//!`: what it is, and what it is not";
        let expected: Vec<String> =
            ["empty.rs", "late.rs", "outer.rs"].iter().map(|path| format!("{path}: {message}")).collect();
        assert_eq!(check_lines(super::check, &files), expected);
    }
}
