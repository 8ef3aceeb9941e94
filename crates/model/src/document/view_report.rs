//! `stan view --json`: what the page shows, in counts. Data only.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ViewReport {
    /// Where the page is: relative to the root, or as `--out` named it.
    pub file: String,
    /// The size of the page.
    pub bytes: u64,
    /// Files of the repository.
    pub files: u64,
    /// Of code, as the tokenizer counts.
    pub tokens: u64,
    pub tokenizer: String,
    /// Pairs of files of which one depends on the other.
    pub edges: u64,
    pub cycles: u64,
    /// Imports without a target.
    pub missing: u64,
    /// Files that the selection holds.
    pub selected: u64,
    /// Sorted and unique.
    pub warnings: Vec<String>,
}
