//! The name of a test is a sentence about behaviour, so that a list of test names says what holds. A program cannot judge
//! sentences, but it can see that one or two words are none.

use super::{Finding, tree::Tree};

const MIN_WORDS: usize = 3;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts_ending(".rs") {
        for (name, number) in tests_of(text) {
            if name.split('_').count() < MIN_WORDS {
                let message = format!("the test `{name}` does not say what holds: name the behaviour");
                findings.push(Finding::at(path, number, message));
            }
        }
    }
    findings
}

/// The names of functions after `#[test]` and further attributes, with their lines.
fn tests_of(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let mut is_test = false;
    text.lines().zip(1..).filter_map(move |(line, number)| {
        let line = line.trim_start();
        if line.starts_with("#[") {
            is_test |= line == "#[test]";
            return None;
        }
        let name = line.strip_prefix("fn ").filter(|_| is_test).and_then(|rest| rest.split('(').next());
        is_test = false;
        Some((name?, number))
    })
}

#[cfg(test)]
mod tests {
    use crate::tidy::check_lines;

    #[test]
    fn a_test_name_of_two_words_is_reported() {
        let text = "#[test]\n#[ignore = \"long\"]\nfn two_words() {}\nfn helper() {}\n#[test]\nfn it_has_three() {}\n";
        assert_eq!(
            check_lines(super::check, &[("crates/a/src/lib.rs", text)]),
            ["crates/a/src/lib.rs:3: the test `two_words` does not say what holds: name the behaviour"]
        );
    }
}
