//! Output of compilers, linters and test runners, read into diagnostics.
//!
//! `parse` is a pure function of the log's bytes. It opens no file and knows no repository: paths are kept as the log
//! has them, with escapes, schemes and backslashes cleaned. Each tool has one grammar (`text`) or one document reader
//! (`json`). Work is linear in the log: a grammar looks ahead at most a fixed number of lines.

mod clean;
mod json;
mod place;
mod text;

pub use place::is_foreign;

use serde::Serialize;

/// How bad a finding is.
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

/// What a column counts.
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
    /// The path as the log has it, cleaned.
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
    /// What the tool says about it; may be empty.
    pub message: String,
}

/// One call of a stack trace that is in the project's own code.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Frame {
    #[serde(flatten)]
    pub place: LogPosition,
    /// The function, where the trace names it.
    pub name: Option<String>,
}

/// One finding of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Diagnostic {
    /// The grammar that read it: `tsc`, `eslint`, `rustc`, …
    pub tool: &'static str,
    /// Where; a finding about the whole project has no place.
    #[serde(flatten, with = "flat_place")]
    pub place: Option<LogPosition>,
    /// Last position of the finding, where the tool gives one.
    pub end: Option<(u32, Option<u32>)>,
    /// How bad.
    pub severity: Severity,
    /// The tool's code or rule.
    pub code: Option<String>,
    /// The message; further lines follow after `\n`.
    pub message: String,
    /// What columns count.
    pub unit: ColumnUnit,
    /// Places that the tool points to: notes, declarations, previous definitions.
    pub related: Vec<Related>,
    /// Own frames of a stack trace, innermost first.
    pub frames: Vec<Frame>,
    /// The source line at the place as the log shows it, for comparison with the file on disk.
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

    /// Some tools write line or column 0 for a finding about a whole file or line.
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

/// `file`, `line` and `col` are members of the diagnostic itself, `null` without a place.
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

/// The names that `--from` takes, in the order in which grammars are tried.
pub fn tools() -> Vec<&'static str> {
    let mut names: Vec<&'static str> = json::TOOLS.iter().copied().chain(text::names()).collect();
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    names
}

/// Reads a log. `from` restricts the reading to one tool; otherwise the tool is detected, and one log may hold the
/// output of several.
pub fn parse(log: &[u8], from: Option<&str>) -> Vec<Diagnostic> {
    let text = clean::clean(log);
    let mut found = match json::parse(&text, from) {
        Some(found) => found,
        None => text::parse(&text, from),
    };
    found.iter_mut().for_each(Diagnostic::count_from_one);
    // Runners repeat failures in a summary, bundlers once for each target.
    let mut seen = std::collections::HashSet::new();
    found.retain(|diagnostic| {
        seen.insert((diagnostic.place.clone(), diagnostic.code.clone(), text::folded(&diagnostic.message)))
    });
    found
}

#[cfg(test)]
mod tests;
