//! No Rust file is too long to be read as a whole. Reviewers judge the length of functions.

use super::{Finding, tree::Tree};

/// The goal is 500 lines, and reviewers ask for a reason beyond that. No reason justifies more than this.
const MAX_LINES: usize = 700;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.texts_ending(".rs")
        .filter_map(|(path, text)| {
            let lines = text.lines().count();
            (lines > MAX_LINES).then(|| Finding::of_file(path, format!("{lines} lines, at most {MAX_LINES}: split it")))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::tidy::check_lines;

    #[test]
    fn a_file_of_exactly_the_limit_is_accepted() {
        let (fits, over) = ("x\n".repeat(700), "x\n".repeat(701));
        let files = [("fits.rs", fits.as_str()), ("over.rs", over.as_str()), ("long.json", over.as_str())];
        assert_eq!(check_lines(super::check, &files), ["over.rs: 701 lines, at most 700: split it"]);
    }
}
