//! Type names are clear without their module: "go to definition of `Run`" must not offer five types. The words listed here were
//! found four times or more, and are only allowed as parts of longer names.

use super::{Finding, tree::Tree};

const TOO_GENERAL: [&str; 17] = [
    "Bound", "Found", "Group", "Known", "Mode", "Outcome", "Place", "Reader", "Run", "Slot", "State", "Step",
    "Verdict", "Walk", "Work", "Worker", "Writer",
];

/// Types that may have such a name, because a document or the language interface uses it.
const ALLOWED: [(&str, &str); 3] = [
    ("crates/model/src/document/state.rs", "State"),
    ("crates/model/src/facts.rs", "Bound"),
    ("crates/lang/src/project.rs", "Worker"),
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts_ending(".rs").filter(|(path, _)| path.contains("/src/")) {
        for (line, number) in text.lines().zip(1..) {
            let Some(name) = defined(line) else { continue };
            if TOO_GENERAL.contains(&name) && !ALLOWED.contains(&(path, name)) {
                findings.push(Finding::at(path, number, format!("`{name}` is too general for the name of a type")));
            }
        }
    }
    findings
}

/// The type that a line defines at the top level of a file.
fn defined(line: &str) -> Option<&str> {
    let words = line.trim_start_matches("pub(super) ").trim_start_matches("pub(crate) ").trim_start_matches("pub ");
    let after = ["struct ", "enum ", "trait ", "type "].iter().find_map(|keyword| words.strip_prefix(keyword))?;
    after.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()
}

#[cfg(test)]
mod tests {
    use crate::tidy::check_lines;

    #[test]
    fn a_general_word_is_allowed_only_as_a_part_of_a_name() {
        let files = [
            (
                "crates/a/src/lib.rs",
                "pub(crate) struct Reader<'a> {\n    step: Step,\n}\nenum ReaderKind {}\ntype Step = u32;\n",
            ),
            ("crates/a/tests/b.rs", "struct Reader;\n"),
            ("crates/model/src/facts.rs", "pub enum Bound {}\n"),
        ];
        assert_eq!(
            check_lines(super::check, &files),
            [
                "crates/a/src/lib.rs:1: `Reader` is too general for the name of a type",
                "crates/a/src/lib.rs:5: `Step` is too general for the name of a type",
            ]
        );
    }
}
