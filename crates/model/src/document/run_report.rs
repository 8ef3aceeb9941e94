//! The report of a run: the document of `stan run --json`, from which the text output is made too. Contains no absolute paths, so
//! that users can share it.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reports::ExactTokens;

/// The kind of archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ArchiveMode {
    /// The whole repository.
    Plain,
    /// The map and an empty selection: the start of a thread.
    Meta,
    /// The base and the selection.
    Context,
}

/// The outcome of a run, executed or planned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RunReport {
    pub mode: ArchiveMode,
    /// Whether this is a plan, so that nothing was written.
    pub plan: bool,
    pub archive: ArchiveReport,
    /// Absent if the mode has no diff archive.
    pub diff: Option<DiffReport>,
    pub base: Part,
    pub closure: Part,
    /// Files in both the base and the closure.
    pub overlap: Part,
    /// Absent in plain runs.
    pub map: Option<MapReport>,
    pub externals: ExternalsReport,
    /// Most tokens first.
    pub largest: Vec<WeighedPath>,
    /// Left out because of a NUL byte in the first 8 KiB.
    pub binaries: Vec<SizedPath>,
    /// Archived, but larger than 1 MiB or 3,000 lines.
    pub large_texts: Vec<SizedPath>,
    /// Archived unchanged.
    pub not_utf8: Vec<String>,
    /// Left out because they contain a credential, or are credential files by name. Never contains a secret.
    pub secrets: Vec<SecretFile>,
    /// Archived although git ignores them, because the selection names them.
    pub ignored: Vec<String>,
    pub left_out: Vec<LeftOutReport>,
    /// The scripts on the command line, in the order in which they ran; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scripts: Vec<ScriptReport>,
    /// Files of the repository in languages that are not analysed: most files first, then by extension.
    pub not_analysed: Vec<NotAnalysedFiles>,
    /// The archives in the requested format, besides the tar; empty if only the tar was requested.
    pub formats: Vec<FormatReport>,
    /// Root-relative paths of all files that changed on disk, including externals; sorted.
    pub written: Vec<String>,
    pub removed: Vec<String>,
    pub warnings: Vec<String>,
    /// The problems of the graph.
    pub errors: Vec<String>,
    /// Whether an earlier run reported the same errors, and nothing has changed since. Not part of the document.
    #[serde(skip)]
    pub errors_are_known: bool,
}

/// A script whose output is in the archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ScriptReport {
    pub name: String,
    /// Root-relative path of its output.
    pub path: String,
    pub end: ScriptEnd,
    /// Absent if the script did not exit by itself.
    pub exit_code: Option<i32>,
    pub milliseconds: u64,
    /// The size of its output, without escape sequences.
    pub bytes: u64,
}

impl ScriptReport {
    pub fn is_success(&self) -> bool {
        self.end == ScriptEnd::Exited && self.exit_code == Some(0)
    }
}

/// How a script ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ScriptEnd {
    Exited,
    /// By a signal.
    Killed,
    TimedOut,
}

/// One archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ArchiveReport {
    pub path: String,
    pub files: u64,
    /// The size of the files' contents, without the archive's own bytes.
    pub bytes: u64,
    /// Counted by the requested tokenizer.
    pub tokens: u64,
    /// The same with the name of the tokenizer; absent if tokens were not counted, and `tokens` is a quarter of the bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact_tokens: Option<ExactTokens>,
    /// The size of the archive file.
    pub archive_bytes: u64,
}

/// The diff archive, and the changes in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DiffReport {
    #[serde(flatten)]
    pub archive: ArchiveReport,
    /// Whether there was a snapshot to compare with; without one, the diff is the full archive.
    pub has_baseline: bool,
    pub added: Vec<String>,
    pub changed: Vec<String>,
    pub removed: Vec<String>,
}

/// A part of the archive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Part {
    pub files: u64,
    pub bytes: u64,
    /// As in the report of the archive.
    pub tokens: u64,
}

impl Part {
    pub fn add(&mut self, bytes: u64) {
        self.files += 1;
        self.bytes += bytes;
        self.tokens = tokens(self.bytes);
    }
}

/// The map and the selection on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MapReport {
    pub nodes: u64,
    pub edges: u64,
    /// The number of nodes in the selection.
    pub selected: u64,
    /// How many of these are externals, staged and verified.
    pub staged: u64,
}

/// Archived files that do not belong to the repository, by origin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExternalsReport {
    /// All archived externals that belong to no installed package (`context/abs/`), by path.
    pub outside: Vec<OutsideFile>,
    /// All files that `imports` in the configuration adds from outside the root.
    pub imported: Vec<OutsideFile>,
}

/// A file that is archived under another name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OutsideFile {
    /// Relative to the root; starts with `../` outside.
    pub path: String,
    pub archived_as: String,
}

/// An archive, or a part of one, in another format than tar.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FormatReport {
    pub path: String,
    pub bytes: u64,
    /// 0 for a zip, which is not read as text.
    pub tokens: u64,
}

/// A file with its size in bytes and tokens.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct WeighedPath {
    pub path: String,
    pub bytes: u64,
    pub tokens: u64,
}

/// A file and its size.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SizedPath {
    pub path: String,
    pub bytes: u64,
}

/// How many files of a language are listed but not analysed: their dependencies are unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct NotAnalysedFiles {
    /// In lower case, without the dot.
    pub extension: String,
    pub files: u64,
}

/// `142 .py and 3 .go files are listed but not analysed`; `None` if every language is analysed.
pub fn not_analysed_line(files: &[NotAnalysedFiles]) -> Option<String> {
    const MAX_NAMED: usize = 5;
    let total: u64 = files.iter().map(|one| one.files).sum();
    let mut parts: Vec<String> =
        files.iter().take(MAX_NAMED).map(|one| format!("{} .{}", one.files, one.extension)).collect();
    let others: u64 = files.iter().skip(MAX_NAMED).map(|one| one.files).sum();
    if others > 0 {
        parts.push(format!("{others} other"));
    }
    let last = parts.pop()?;
    let list = if parts.is_empty() { last } else { format!("{} and {last}", parts.join(", ")) };
    Some(format!("{list} {} listed but not analysed", if total == 1 { "file is" } else { "files are" }))
}

/// A requested file that is not in the archive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LeftOutReport {
    pub path: String,
    pub reason: String,
}

/// A file that was left out, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SecretFile {
    pub path: String,
    /// At least one.
    pub hits: Vec<SecretHit>,
}

/// A rule that a file breaks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SecretHit {
    /// 1-based; absent if the file's name is the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The id of the rule.
    pub rule: String,
}

impl SecretFile {
    /// The reason as text, for lists of files left out.
    pub fn reason(&self) -> String {
        match self.hits.first() {
            Some(SecretHit { line: Some(line), rule }) => format!("line {line} holds a secret ({rule})"),
            Some(SecretHit { line: None, rule }) => format!("it is a credential file ({rule})"),
            None => "it holds a secret".to_owned(),
        }
    }
}

/// The estimated number of tokens.
pub fn tokens(bytes: u64) -> u64 {
    bytes.div_ceil(4)
}
