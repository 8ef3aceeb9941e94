//! The reports of the assistant's side with `--json`: proposals (`stan suggest`) and checked replies (`stan check`). Data only,
//! without absolute paths.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::run_report::NotAnalysedFiles;

/// `stan suggest --json`: a proposed selection, and how it came about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SuggestReport {
    /// In tokens; 0 for no bound.
    pub budget: u64,
    pub tokenizer: String,
    /// What `stan select` counts for the proposal with the same tokenizer; at most the budget.
    pub tokens: u64,
    /// What is left of the budget, in tokens; 0 without a bound.
    pub unused: u64,
    /// The files that everything is ranked by, sorted.
    pub focus: Vec<String>,
    /// What git says changed; absent unless it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<ChangedPaths>,
    /// The selection itself (version 2).
    pub state: StateDocument,
    /// What is selected: what was asked for, then by score.
    pub nodes: Vec<SuggestedNode>,
    /// The best that did not fit as whole files, by score; `stan pack` shows such files as signatures.
    pub too_large: Vec<SuggestedNode>,
    /// Files of less worth, which are not named here.
    pub not_counted: u64,
    /// Files that score less than a twentieth of the best one: they are not taken even if they fit.
    pub negligible: u64,
    /// The next file that a larger budget would bring.
    pub next: Option<NextStep>,
    /// Root-relative path of the selection file, when it was written.
    pub written: Option<String>,
    /// What the ranking had to do without: no git, a shallow clone, no imports.
    pub unavailable: Vec<String>,
    /// Files of the repository in languages that are not analysed: most files first, then by extension.
    pub not_analysed: Vec<NotAnalysedFiles>,
    /// Sorted and unique.
    pub warnings: Vec<String>,
}

/// What git says is different, below the root. What is there and written by people is in the focus; stan's own files are
/// left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ChangedPaths {
    /// The revision as it was typed; absent when the index was compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// The object id of its commit; absent when the revision names a folder alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Sorted by UTF-8 bytes, as the others.
    pub changed: Vec<String>,
    /// Not there before, or not tracked.
    pub added: Vec<String>,
    pub deleted: Vec<String>,
}

/// The selection as its file holds it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct StateDocument {
    pub v: u8,
    pub i: Vec<serde_json::Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub x: Vec<serde_json::Value>,
}

/// A file, its weight, and why it is where it is in the ranking.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SuggestedNode {
    pub node_id: String,
    pub bytes: u64,
    pub tokens: u64,
    pub relation: NodeRelation,
    /// How much it may be needed, in thousandths; 0 for what was asked for.
    pub score: i64,
    /// `imported by src/a.ts`, `changed together (7 of 21 commits)`; `null` when nothing short and true can be said.
    pub reason: Option<String>,
    /// The three largest terms of the score, the largest first.
    pub terms: Vec<SuggestedTerm>,
}

/// What one signal adds to a score.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SuggestedTerm {
    pub signal: String,
    /// In thousandths.
    pub value: i64,
    /// What shows it, when something short does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What a file is to the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum NodeRelation {
    /// Named, changed, or in the log.
    Focus,
    /// Within the depth that was asked for.
    Dependency,
    /// A test of the focus.
    Test,
    /// Found by the ranking.
    Related,
}

impl NodeRelation {
    /// As the report spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Focus => "focus",
            Self::Dependency => "dependency",
            Self::Test => "test",
            Self::Related => "related",
        }
    }

    /// Whether it is in because it was asked for, and not by its score.
    pub fn is_asked_for(self) -> bool {
        matches!(self, Self::Focus | Self::Dependency)
    }
}

/// What it would take to go one file further.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NextStep {
    pub node_id: String,
    pub tokens: u64,
    /// The smallest budget with which it would be in beside everything else here.
    pub budget: u64,
}

/// `stan check --json`: whether a reply may be acted upon, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ReplyReport {
    /// As it was named; `-` for standard input.
    pub reply: String,
    /// The archive that it was checked against.
    pub archive: String,
    /// Whether the reply may be acted upon.
    pub accepted: bool,
    /// Sorted by line, then code; none is there twice.
    pub findings: Vec<Finding>,
    /// What the reader should know although no rule is broken.
    pub notes: Vec<String>,
}

/// `stan apply --json`: what a reply changed, or why it changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ApplyReport {
    pub action: ApplyAction,
    /// As it was named; absent when a reply was taken back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// The archive that tells what the assistant has seen; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archive: Option<String>,
    /// Whether the changes below were made (or would be, for a dry run). If not, nothing was changed.
    pub accepted: bool,
    /// Sorted by path.
    pub files: Vec<AppliedFile>,
    /// Sorted.
    pub made_folders: Vec<String>,
    /// Sorted.
    pub removed_folders: Vec<String>,
    /// Sorted by line, then code; none is there twice.
    pub findings: Vec<Finding>,
    /// What the reader should know although no rule is broken.
    pub notes: Vec<String>,
    /// What to send to the assistant when the reply was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
}

/// What `stan apply` did.
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
    /// Lines of a unified diff; of a dry run only, and cut when it is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<Vec<String>>,
}

/// What becomes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum FileChange {
    Created,
    Changed,
    Removed,
    /// As it was before the reply that is taken back.
    Restored,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Error,
    Warning,
}

/// One broken rule at one place.
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

/// The offending line, cut around the offending part when it is long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Excerpt {
    pub text: String,
    /// What to underline: characters of `text`, from 0, without the last.
    pub start: u32,
    pub end: u32,
}
