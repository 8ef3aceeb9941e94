//! No Rust file grows past the point where it can be read whole. Functions are judged by reviewers.

use super::{Finding, tree::Tree};

/// The house aims at 500 lines and asks for a reason beyond that; here is where reasons end.
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
    fn the_limit_is_inclusive() {
        let (fits, over) = ("x\n".repeat(700), "x\n".repeat(701));
        let files = [("fits.rs", fits.as_str()), ("over.rs", over.as_str()), ("long.json", over.as_str())];
        assert_eq!(check_lines(super::check, &files), ["over.rs: 701 lines, at most 700: split it"]);
    }
}
