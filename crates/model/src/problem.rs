//! Something wrong in the input that did not stop the run: reported beside the result.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The severity of a finding; findings are reported in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Weight {
    /// Edges may be missing or wrong.
    #[default]
    CostsEdges,
    /// Nothing is lost.
    Note,
    /// It concerns an independent part of the repository, such as a workspace inside a fixture.
    Nested,
}

/// One finding about one file. Sorted by file, line, message.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Problem {
    /// Repository-relative path, or the absolute path of a file outside; empty only for a count.
    pub file: String,
    /// 1-based line, if the problem has a position in the file.
    pub line: Option<u32>,
    /// What is wrong and what was done instead, as one sentence without a final full stop.
    pub message: String,
    pub weight: Weight,
    /// For findings that are summed up instead of listed: how many imports resolve to excluded files.
    pub excluded_imports: u32,
}

impl Problem {
    pub fn new(file: impl Into<String>, message: impl Into<String>) -> Self {
        FileProblem::new(message).in_file(&file.into())
    }

    pub fn at(file: impl Into<String>, line: u32, message: impl Into<String>) -> Self {
        FileProblem::at(line, message).in_file(&file.into())
    }

    /// The same finding with another weight.
    pub fn weighing(self, weight: Weight) -> Self {
        Self { weight, ..self }
    }

    /// Imports that resolve to files which the user excluded.
    pub fn excluded_imports(count: u32) -> Self {
        Self { excluded_imports: count, ..Self::new("", "").weighing(Weight::Note) }
    }

    fn final_weight(&self) -> Weight {
        if is_fixture(&self.file) { Weight::Nested } else { self.weight }
    }
}

/// Names of folders whose contents are examples for tests, often broken on purpose.
const FIXTURES: [&str; 6] = ["fixture", "fixtures", "__fixtures__", "__testfixtures__", "testdata", "test-data"];

fn is_fixture(path: &str) -> bool {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    folders.split('/').any(|folder| FIXTURES.contains(&folder))
}

/// A problem without its file's path: extraction returns these, so that its result depends on the file's bytes alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FileProblem {
    /// 1-based line, if the problem has a position in the file.
    pub line: Option<u32>,
    /// As in [`Problem`].
    pub message: String,
    /// Another file to report the problem for, such as a configuration.
    pub about: Option<String>,
    pub weight: Weight,
}

impl FileProblem {
    pub fn new(message: impl Into<String>) -> Self {
        Self { line: None, message: message.into(), about: None, weight: Weight::default() }
    }

    pub fn at(line: u32, message: impl Into<String>) -> Self {
        Self { line: Some(line), ..Self::new(message) }
    }

    /// The same problem with another weight.
    pub fn weighing(self, weight: Weight) -> Self {
        Self { weight, ..self }
    }

    /// The same problem, reported for another file.
    pub fn about(self, file: impl Into<String>) -> Self {
        Self { about: Some(file.into()), ..self }
    }

    /// The problem of the file with this path.
    pub fn in_file(self, file: &str) -> Problem {
        let file = self.about.unwrap_or_else(|| file.to_owned());
        Problem { file, line: self.line, message: self.message, weight: self.weight, excluded_imports: 0 }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.excluded_imports, self.line) {
            (1, _) => f.write_str("1 import resolves to an excluded file; it has no edge"),
            (2.., _) => write!(f, "{} imports resolve to excluded files; they have no edge", self.excluded_imports),
            (0, Some(line)) => write!(f, "{}:{line}: {}", self.file, self.message),
            (0, None) => write!(f, "{}: {}", self.file, self.message),
        }
    }
}

/// The `errors` array of a result: sorted by weight and position, deduplicated, with counts summed up. At most `max` lines; if
/// lines were cut, the last one says how many.
pub fn error_lines(problems: &[Problem], max: usize) -> Vec<String> {
    let excluded: u32 = problems.iter().map(|problem| problem.excluded_imports).fold(0, u32::saturating_add);
    let counted = (excluded > 0).then(|| Problem::excluded_imports(excluded));
    let listed = problems.iter().filter(|problem| problem.excluded_imports == 0);
    let mut ordered: Vec<(Weight, &Problem)> =
        listed.chain(&counted).map(|problem| (problem.final_weight(), problem)).collect();
    ordered.sort_unstable();
    let mut lines: Vec<String> = ordered.into_iter().map(|(_, problem)| problem.to_string()).collect();
    lines.dedup();
    if lines.len() > max && max > 0 {
        let total = lines.len();
        lines.truncate(max - 1);
        lines.push(format!("errors truncated: showing {} of {total}", max - 1));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_that_cost_edges_are_reported_first_and_fixtures_last() {
        let problems = [
            Problem::new("a/fixtures/broken.ts", "x"),
            Problem::excluded_imports(2),
            Problem::new("fixtures.ts", "x"),
            Problem::new("b.json", "note").weighing(Weight::Note),
            Problem::at("z.ts", 10, "x"),
            Problem::at("z.ts", 9, "x"),
            Problem::new("a.json", "nested").weighing(Weight::Nested),
            Problem::excluded_imports(1),
        ];
        let expected = [
            "fixtures.ts: x",
            "z.ts:9: x",
            "z.ts:10: x",
            "3 imports resolve to excluded files; they have no edge",
            "b.json: note",
            "a.json: nested",
            "a/fixtures/broken.ts: x",
        ];
        assert_eq!(error_lines(&problems, 0), expected);
        assert_eq!(Problem::excluded_imports(1).to_string(), "1 import resolves to an excluded file; it has no edge");
    }

    #[test]
    fn error_lines_are_sorted_unique_and_capped() {
        let problems: Vec<Problem> = (0..60).rev().map(|i| Problem::new(format!("f{i:02}"), "x")).collect();
        let doubled = [problems.clone(), problems].concat();
        let lines = error_lines(&doubled, 50);
        assert_eq!(lines.len(), 50);
        assert_eq!(lines[0], "f00: x");
        assert_eq!(lines[49], "errors truncated: showing 49 of 60");
        assert_eq!(error_lines(&doubled, 60).len(), 60);
    }
}
