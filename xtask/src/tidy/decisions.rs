//! Decision records: one heading style, and an index that lists all of them with their status. `cargo xtask decisions` writes the
//! index; tidy checks that it is up to date.

use std::path::Path;

use super::{Finding, tree::Tree};
use crate::Result;

const FOLDER: &str = "docs/decisions/";
const INDEX: &str = "docs/decisions/README.md";

/// The start of the line below the heading of a record that later records change.
const STATUS: &str = "**Status.** ";

const INTRODUCTION: &str = "# Decisions

One record for each decision that code and specification do not explain by themselves. A record describes the state when it was
written. If later records change it, a line `**Status.**` below the heading says so. Numbers have gaps, and none is used twice.

Most records have the parts *Context*, *Decision* and *Measured* or *Consequences*. Terms that they use:

- *cold*, *warm*: a run without a cache, a run with one. The *limit* of a cold run is a program that only walks, reads, hashes and
  parses (in some records: tokenizes) the same files ([benchmarks](../benchmarks.md)). The *target* or *bar* is the required value.
- *public cases*: the test data that was visible during tuning: 198 commits for the ranking of files, 300 errors and locations for
  packs. *Stand-ins* are repositories with the same paths, sizes, words, definitions, imports and history as those of the commits;
  *real checkouts* are the repositories themselves.
- *focus*, *text*: the files that a question starts from, the task in words. *Hits* are the files that match best.
- *universe*: the files of the repository that git does not ignore. *Facts*: what a language extracts from the bytes of one file.
- *tunnelling*: following a name through re-exports to the files that define it.

Written by `cargo xtask decisions`.

| record | decision | status |
|---|---|---|
";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings: Vec<Finding> = records(tree)
        .filter(|(name, text)| Record::read(name, text).is_none())
        .map(|(name, _)| {
            let number = name.get(..4).unwrap_or(name);
            Finding::at(&format!("{FOLDER}{name}"), 1, format!("the heading is not `# {number}: Title`"))
        })
        .collect();
    if tree.text(INDEX).is_none_or(|text| text != index(tree)) {
        findings.push(Finding::of_file(INDEX, "does not list the records as they are; run `cargo xtask decisions`"));
    }
    findings
}

/// Writes the index.
pub(crate) fn write(root: &Path) -> Result<bool> {
    std::fs::write(root.join(INDEX), index(&Tree::load(root)?))?;
    Ok(true)
}

fn index(tree: &Tree) -> String {
    let rows = records(tree).filter_map(|(name, text)| {
        let Record { number, title, status } = Record::read(name, text)?;
        Some(format!("| [{number}]({name}) | {title} | {status} |\n"))
    });
    INTRODUCTION.to_owned() + &rows.collect::<String>()
}

/// File name and text, in the order of their numbers.
fn records(tree: &Tree) -> impl Iterator<Item = (&str, &str)> {
    let below = tree.texts_ending(".md").filter_map(|(path, text)| Some((path.strip_prefix(FOLDER)?, text)));
    below.filter(|(name, _)| *name != "README.md")
}

struct Record<'t> {
    number: &'t str,
    title: &'t str,
    status: &'t str,
}

impl<'t> Record<'t> {
    /// `None` if the heading does not have the number of the file name.
    fn read(name: &'t str, text: &'t str) -> Option<Self> {
        let (number, _) = name.split_once('-')?;
        let mut lines = text.lines();
        let title = lines.next()?.strip_prefix("# ")?.strip_prefix(number)?.strip_prefix(": ")?;
        let first = lines.find(|line| !line.trim().is_empty()).unwrap_or_default();
        Some(Self { number, title, status: first.strip_prefix(STATUS).unwrap_or("in force") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::check_lines;

    const RECORDS: [(&str, &str); 2] = [
        ("docs/decisions/0001-a.md", "# 0001: The first\n\n**Status.** Replaced by [0002](0002-b.md).\n\nText.\n"),
        ("docs/decisions/0002-b.md", "# 0002: The second\n\nText.\n"),
    ];

    #[test]
    fn the_index_has_a_row_for_each_record_with_its_status() {
        let expected = format!(
            "{INTRODUCTION}| [0001](0001-a.md) | The first | Replaced by [0002](0002-b.md). |\n\
             | [0002](0002-b.md) | The second | in force |\n"
        );
        assert_eq!(index(&Tree::of(&RECORDS)), expected);
        let [first, second] = RECORDS;
        assert!(check_lines(check, &[first, second, (INDEX, &expected)]).is_empty());
        let stale = "docs/decisions/README.md: does not list the records as they are; run `cargo xtask decisions`";
        assert_eq!(check_lines(check, &[first, (INDEX, &expected)]), [stale]);
    }

    #[test]
    fn headings_have_the_number_of_the_file() {
        for heading in ["# 3. The third", "# 0003 The third", "# 0004: The third", "The third"] {
            let found = check_lines(check, &[("docs/decisions/0003-c.md", heading), (INDEX, INTRODUCTION)]);
            assert_eq!(found, ["docs/decisions/0003-c.md:1: the heading is not `# 0003: Title`"], "{heading}");
        }
    }
}
