//! What the assistant's side tells with `--json`: proposals (`stan suggest`) and judged replies (`stan check`). Data only;
//! nothing here holds an absolute path.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::run_report::NotAnalysedFiles;

/// `stan suggest --json`: a proposed selection, and how it came about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SuggestReport {
    /// In tokens.
    pub budget: u64,
    pub tokenizer: String,
    /// What `stan select` counts for the proposal with the same tokenizer; at most the budget.
    pub tokens: u64,
    /// The files that everything is ranked by, sorted.
    pub focus: Vec<String>,
    /// What git says changed; absent unless it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<ChangedPaths>,
    /// The selection itself (version 2).
    pub state: StateDocument,
    /// What is selected, closest first.
    pub nodes: Vec<SuggestedNode>,
    /// What was looked at and did not fit, closest first.
    pub too_large: Vec<SuggestedNode>,
    /// Files further away that were not looked at.
    pub not_counted: u64,
    /// The next file that a larger budget would bring.
    pub next: Option<NextStep>,
    /// Root-relative path of the selection file, when it was written.
    pub written: Option<String>,
    /// Files of the map in languages that are not analysed: most files first, then by extension.
    pub not_analysed: Vec<NotAnalysedFiles>,
    /// Sorted and unique.
    pub warnings: Vec<String>,
}

/// What git says is different, below the root. What is a module of the map is in the focus; what is deleted is no module.
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
    /// Lower is closer.
    pub score: i64,
    /// How many focus files are within three steps.
    pub reached_by: u32,
    /// From a focus file to the node, edges walked in both directions; of a longer way the last eight nodes.
    pub path: Vec<String>,
    /// How many nodes of the way come before those of `path`; absent when it is whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_omitted: Option<u64>,
}

/// What a file is to the focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum NodeRelation {
    Focus,
    Dependency,
    Dependent,
}

impl NodeRelation {
    /// As the report spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Focus => "focus",
            Self::Dependency => "dependency",
            Self::Dependent => "dependent",
        }
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
