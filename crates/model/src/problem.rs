//! Something wrong in the input that did not stop the run: it is reported beside the result.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One finding about one file. Sorted by file, then line, then message.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Problem {
    /// Repository-relative path, or the absolute one of a file outside; never empty.
    pub file: String,
    /// 1-based line, when the problem has a place inside the file.
    pub line: Option<u32>,
    /// What is wrong and what was done instead, as one sentence without a full stop.
    pub message: String,
}

impl Problem {
    pub fn new(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self { file: file.into(), line: None, message: message.into() }
    }

    pub fn at(file: impl Into<String>, line: u32, message: impl Into<String>) -> Self {
        Self { file: file.into(), line: Some(line), message: message.into() }
    }
}

/// A problem of a file whose path does not matter: extraction returns these, so that its result depends on the file's
/// bytes alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FileProblem {
    /// 1-based line, when the problem has a place inside the file.
    pub line: Option<u32>,
    /// As in [`Problem`].
    pub message: String,
}

impl FileProblem {
    pub fn new(message: impl Into<String>) -> Self {
        Self { line: None, message: message.into() }
    }

    pub fn at(line: u32, message: impl Into<String>) -> Self {
        Self { line: Some(line), message: message.into() }
    }

    /// The problem of the file with this path.
    pub fn in_file(self, file: &str) -> Problem {
        Problem { file: file.to_owned(), line: self.line, message: self.message }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.message),
            None => write!(f, "{}: {}", self.file, self.message),
        }
    }
}

/// The `errors` array of a result: sorted, unique, and cut at `max` lines, the last of which then says so.
pub fn error_lines(problems: &[Problem], max: usize) -> Vec<String> {
    let mut lines: Vec<String> = problems.iter().map(Problem::to_string).collect();
    lines.sort_unstable();
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
