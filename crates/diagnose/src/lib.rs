//! Parses the output of compilers, linters and test runners into diagnostics.
//!
//! `parse` is a pure function of the log's bytes. It opens no file and knows no repository: paths are as in the log, without
//! escapes, schemes and backslashes. Each tool has one grammar (`text`) or one document reader (`json`). Linear in the log: a
//! grammar looks ahead by a bounded number of lines.

mod clean;
mod json;
mod place;
mod text;

pub use place::is_foreign;

use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The build or the test failed.
    Error,
    /// Reported, but not fatal.
    Warning,
    /// Advice.
    Info,
}

/// The unit of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnUnit {
    /// UTF-16 code units: JavaScript tools and LSP.
    #[default]
    Utf16,
    /// Unicode scalar values: rustc.
    Char,
    /// Bytes: gcc, go.
    Byte,
}

/// A position in a file. Lines and columns are 1-based; an unknown column is absent, never 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct LogPosition {
    /// The path in the log, cleaned.
    pub file: String,
    /// 1-based.
    pub line: u32,
    /// 1-based, in the diagnostic's `unit`.
    pub col: Option<u32>,
}

/// A position that a diagnostic refers to besides its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Related {
    #[serde(flatten)]
    pub place: LogPosition,
    /// The tool's message; may be empty.
    pub message: String,
}

/// A frame of a stack trace in the project's own code.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Frame {
    #[serde(flatten)]
    pub place: LogPosition,
    /// The function, if the trace names it.
    pub name: Option<String>,
}

/// One finding of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Diagnostic {
    /// The grammar that matched: `tsc`, `eslint`, `rustc`, …
    pub tool: &'static str,
    /// The position; absent for a finding about the whole project.
    #[serde(flatten, with = "flat_place")]
    pub place: Option<LogPosition>,
    /// The end of the finding, if the tool reports it.
    pub end: Option<(u32, Option<u32>)>,
    pub severity: Severity,
    /// The tool's code or rule.
    pub code: Option<String>,
    /// The message. Further lines are separated by `\n`.
    pub message: String,
    /// The unit of columns.
    pub unit: ColumnUnit,
    /// Positions that the tool refers to: notes, declarations, previous definitions.
    pub related: Vec<Related>,
    /// Frames of the project's own code, innermost first.
    pub frames: Vec<Frame>,
    /// The source line as the log shows it, to detect that the file on disk has changed.
    pub excerpt: Option<String>,
}

impl Diagnostic {
    fn new(tool: &'static str, place: LogPosition, severity: Severity, message: impl Into<String>) -> Self {
        Self {
            tool,
            place: Some(place),
            end: None,
            severity,
            code: None,
            message: message.into(),
            unit: ColumnUnit::default(),
            related: Vec::new(),
            frames: Vec::new(),
            excerpt: None,
        }
    }

    /// Some tools report line or column 0 for a finding about a whole file or line.
    fn count_from_one(&mut self) {
        let related = self.related.iter_mut().map(|related| &mut related.place);
        let frames = self.frames.iter_mut().map(|frame| &mut frame.place);
        for place in self.place.iter_mut().chain(related).chain(frames) {
            place.line = place.line.max(1);
            place.col = place.col.filter(|&col| col > 0);
        }
    }

    fn with_code(mut self, code: Option<&str>) -> Self {
        self.code = code.filter(|code| !code.is_empty()).map(str::to_owned);
        self
    }

    fn in_unit(mut self, unit: ColumnUnit) -> Self {
        self.unit = unit;
        self
    }
}

/// Serialises `file`, `line` and `col` as fields of the diagnostic itself; `null` without a position.
mod flat_place {
    use super::LogPosition;
    use serde::{Serialize, Serializer};

    #[derive(Serialize)]
    struct Flat<'a> {
        file: Option<&'a str>,
        line: Option<u32>,
        col: Option<u32>,
    }

    #[expect(clippy::ref_option, reason = "the signature that serde asks for")]
    pub(super) fn serialize<S: Serializer>(place: &Option<LogPosition>, serializer: S) -> Result<S::Ok, S::Error> {
        let place = place.as_ref();
        Flat {
            file: place.map(|place| place.file.as_str()),
            line: place.map(|place| place.line),
            col: place.and_then(|place| place.col),
        }
        .serialize(serializer)
    }
}

/// The names that `--from` accepts, in the order in which grammars are tried.
pub fn tools() -> Vec<&'static str> {
    let mut names: Vec<&'static str> = json::TOOLS.iter().copied().chain(text::names()).collect();
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    names
}

/// Parses a log. `from` restricts parsing to one tool. By default tools are detected, and one log may contain the output of
/// several.
pub fn parse(log: &[u8], from: Option<&str>) -> Vec<Diagnostic> {
    let text = clean::clean(log);
    let mut found = match json::parse(&text, from) {
        Some(found) => found,
        None => text::parse(&text, from),
    };
    found.iter_mut().for_each(Diagnostic::count_from_one);
    // Runners repeat failures in a summary, bundlers repeat them for each target.
    let mut seen = std::collections::HashSet::new();
    found.retain(|diagnostic| {
        seen.insert((diagnostic.place.clone(), diagnostic.code.clone(), text::folded(&diagnostic.message)))
    });
    found
}

#[cfg(test)]
mod tests;
