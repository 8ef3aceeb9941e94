//! Every type in the glossary of ARCHITECTURE.md exists. Its paths are checked together with the other paths of that page.

use super::{Finding, tree::Tree};

const PAGE: &str = "ARCHITECTURE.md";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(page) = tree.text(PAGE) else { return Vec::new() };
    let rows = page.lines().zip(1..).skip_while(|(line, _)| *line != "## Glossary").skip(1);
    let rows = rows.take_while(|(line, _)| !line.starts_with("## ")).filter(|(line, _)| line.starts_with("| "));
    let names = rows.flat_map(|(line, number)| names_of(line).map(move |name| (name, number)));
    names
        .filter(|(name, _)| !is_defined(tree, name))
        .map(|(name, number)| Finding::at(PAGE, number, format!("the glossary names `{name}`, which is not defined")))
        .collect()
}

/// The type names in the last cell of a row.
fn names_of(row: &str) -> impl Iterator<Item = &str> {
    let cell = row.trim_end_matches([' ', '|']).rsplit(" | ").next().unwrap_or_default();
    cell.split('`').skip(1).step_by(2).filter(|name| name.starts_with(|first: char| first.is_ascii_uppercase()))
}

fn is_defined(tree: &Tree, name: &str) -> bool {
    let defines = |line: &str| {
        let words = line.trim_start().trim_start_matches("pub(crate) ").trim_start_matches("pub ");
        let after = ["struct ", "enum ", "trait ", "type "].iter().find_map(|keyword| words.strip_prefix(keyword));
        after.and_then(|after| after.strip_prefix(name)).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    tree.texts_ending(".rs").any(|(path, text)| path.starts_with("crates/") && text.lines().any(defines))
}

#[cfg(test)]
mod tests {
    use crate::tidy::check_lines;

    #[test]
    fn a_term_whose_type_is_gone_is_reported() {
        let page = "# Page\n| a | b | `Gone` |\n## Glossary\n\n| word | meaning | in code |\n|---|---|---|\n\
                    | engine | threads | `Engine` |\n| world | files | `World`, `crates/a.rs` |\n| level | how much | |\n## Next\n";
        let files = [
            ("ARCHITECTURE.md", page),
            ("crates/a.rs", "pub struct Engine;\npub struct WorldView;\n"),
            ("tools/b.rs", "struct World;"),
        ];
        assert_eq!(
            check_lines(super::check, &files),
            ["ARCHITECTURE.md:8: the glossary names `World`, which is not defined"]
        );
    }
}
