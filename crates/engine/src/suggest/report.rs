//! What `stan suggest` tells: the document of `--json`, and what its text is made from. Holds no absolute path.

use serde::{Deserialize, Serialize};

/// A proposed selection, and how it came about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SuggestReport {
    /// In tokens.
    pub budget: u64,
    pub tokenizer: String,
    /// What `stan select` counts for the proposal with the same tokenizer; at most the budget.
    pub tokens: u64,
    /// The files that everything is ranked by, sorted.
    pub focus: Vec<String>,
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
    /// Sorted and unique.
    pub warnings: Vec<String>,
}

/// The selection as its file holds it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateDocument {
    pub v: u8,
    pub i: Vec<serde_json::Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub x: Vec<serde_json::Value>,
}

/// A file, its weight, and why it is where it is in the ranking.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SuggestedNode {
    pub node_id: String,
    pub bytes: u64,
    pub tokens: u64,
    /// `focus`, `dependency` or `dependent`.
    pub relation: &'static str,
    /// Lower is closer.
    pub score: i64,
    /// How many focus files are within three steps.
    pub reached_by: u32,
    /// From a focus file to the node; edges are walked in both directions.
    pub path: Vec<String>,
}

/// What it would take to go one file further.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NextStep {
    pub node_id: String,
    pub tokens: u64,
    /// The smallest budget with which it would be in beside everything else here.
    pub budget: u64,
}
