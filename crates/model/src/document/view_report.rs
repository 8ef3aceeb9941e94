//! `stan view --json`: the contents of the page, in counts. Data only.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ViewReport {
    /// The path of the page: relative to the root, or as in `--out`.
    pub file: String,
    /// The size of the page.
    pub bytes: u64,
    /// Files of the repository.
    pub files: u64,
    /// The size of the code, as counted by the tokenizer.
    pub tokens: u64,
    pub tokenizer: String,
    /// The number of pairs of files with a dependency between them.
    pub edges: u64,
    pub cycles: u64,
    /// The number of imports without a target.
    pub missing: u64,
    /// The number of files in the selection.
    pub selected: u64,
    /// Sorted, without duplicates.
    pub warnings: Vec<String>,
}
