//! The reports of the assistant's side with `--json`: proposals (`stan suggest`) and checked replies (`stan check`). Data only,
//! without absolute paths.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::run_report::NotAnalysedFiles;

/// `stan suggest --json`: a proposed selection, and its reasons.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SuggestReport {
    /// In tokens; 0 for no limit.
    pub budget: u64,
    pub tokenizer: String,
    /// The size of the proposal as `stan select` counts it with the same tokenizer; at most the budget.
    pub tokens: u64,
    /// The unused part of the budget, in tokens; 0 without a limit.
    pub unused: u64,
    /// The files that the ranking starts from, sorted.
    pub focus: Vec<String>,
    /// The changes according to git; absent unless requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<ChangedPaths>,
    /// The selection itself (version 2).
    pub state: StateDocument,
    /// The selected files: requested ones first, then by score.
    pub nodes: Vec<SuggestedNode>,
    /// The best files that did not fit as a whole, by score; `stan pack` shows such files as signatures.
    pub too_large: Vec<SuggestedNode>,
    /// The number of files with less value, which are not listed.
    pub not_counted: u64,
    /// The number of files with less than a twentieth of the best score: they are not selected even if they fit.
    pub negligible: u64,
    /// The next file that a larger budget would add.
    pub next: Option<NextStep>,
    /// Root-relative path of the selection file, if it was written.
    pub written: Option<String>,
    /// Inputs that the ranking lacked: no git, a shallow clone, no imports.
    pub unavailable: Vec<String>,
    /// Files of the repository in languages that are not analysed: most files first, then by extension.
    pub not_analysed: Vec<NotAnalysedFiles>,
    /// Sorted, without duplicates.
    pub warnings: Vec<String>,
}

/// The changes below the root according to git. Existing files that users write are in the focus; stan's own files are left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ChangedPaths {
    /// The revision as typed; absent if compared with the index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// The object id of its commit; absent if the revision is only a tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Sorted by UTF-8 bytes, as the other lists.
    pub changed: Vec<String>,
    /// New or untracked files.
    pub added: Vec<String>,
    pub deleted: Vec<String>,
}

/// The selection, as in its file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct StateDocument {
    pub v: u8,
    pub i: Vec<serde_json::Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub x: Vec<serde_json::Value>,
}

/// A file, its size, and the reason for its rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SuggestedNode {
    pub node_id: String,
    pub bytes: u64,
    pub tokens: u64,
    pub relation: NodeRelation,
    /// How likely the file is needed, in thousandths; 0 for requested files.
    pub score: i64,
    /// `imported by src/a.ts`, `changed together (7 of 21 commits)`; `null` if there is no short reason.
    pub reason: Option<String>,
    /// The three largest terms of the score, largest first.
    pub terms: Vec<SuggestedTerm>,
}

/// The contribution of one signal to a score.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SuggestedTerm {
    pub signal: String,
    /// In thousandths.
    pub value: i64,
    /// The evidence, if it is short.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The relation of a file to the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum NodeRelation {
    /// Named, changed, or in the log.
    Focus,
    /// Within the requested depth.
    Dependency,
    /// A test of the focus.
    Test,
    /// Found by the ranking.
    Related,
}

impl NodeRelation {
    /// The name in the report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Focus => "focus",
            Self::Dependency => "dependency",
            Self::Test => "test",
            Self::Related => "related",
        }
    }

    /// Whether the file was requested, rather than selected by its score.
    pub fn is_asked_for(self) -> bool {
        matches!(self, Self::Focus | Self::Dependency)
    }
}

/// The next file that a larger budget would add.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NextStep {
    pub node_id: String,
    pub tokens: u64,
    /// The smallest budget for it and everything else here.
    pub budget: u64,
}

/// `stan check --json`: whether a reply is accepted, and its problems.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ReplyReport {
    /// As typed; `-` for standard input.
    pub reply: String,
    /// The archive that the reply was checked against.
    pub archive: String,
    /// Whether the reply may be applied.
    pub accepted: bool,
    /// Sorted by line, then by code, without duplicates.
    pub findings: Vec<Finding>,
    /// Information for the reader that breaks no rule.
    pub notes: Vec<String>,
}

/// `stan apply --json`: what a reply changed, or why it changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ApplyReport {
    pub action: ApplyAction,
    /// As typed; absent if a reply was undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// The archive that shows what the assistant has seen; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archive: Option<String>,
    /// Whether the changes below were made (or would be, in a dry run). If not, nothing was changed.
    pub accepted: bool,
    /// Sorted by path.
    pub files: Vec<AppliedFile>,
    /// Sorted.
    pub made_folders: Vec<String>,
    /// Sorted.
    pub removed_folders: Vec<String>,
    /// Sorted by line, then by code, without duplicates.
    pub findings: Vec<Finding>,
    /// Information for the reader that breaks no rule.
    pub notes: Vec<String>,
    /// The text to send to the assistant if the reply was rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
}

/// The action of `stan apply`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ApplyAction {
    Apply,
    DryRun,
    Undo,
}

/// A file that a reply changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AppliedFile {
    /// Root-relative.
    pub path: String,
    pub change: FileChange,
    /// Lines of a unified diff, truncated if it is long; only in a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<Vec<String>>,
}

/// The change of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum FileChange {
    Created,
    Changed,
    Removed,
    /// Restored to its state before the reply that is undone.
    Restored,
}

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Error,
    Warning,
}

/// A broken rule, with its position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Finding {
    /// `STAN-REPLY-0001`.
    pub code: &'static str,
    pub severity: Severity,
    /// 1-based line of the reply.
    pub line: u32,
    /// 1-based column in that line, in characters.
    pub column: u32,
    /// What is wrong, as one sentence without a full stop.
    pub message: String,
    /// What to do now, as one sentence without a full stop.
    pub remedy: String,
    pub excerpt: Excerpt,
}

/// The offending line, truncated around the offending part if it is long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Excerpt {
    pub text: String,
    /// The start of the part to underline: a 0-based character index in `text`.
    pub start: u32,
    pub end: u32,
}
