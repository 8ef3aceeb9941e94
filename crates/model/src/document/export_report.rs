//! `stan export --json`: which partitions of a dataset were written, and which existed already. Data only.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExportReport {
    /// The folder of the dataset, as it was typed.
    pub directory: String,
    /// `ndjson` or `parquet`.
    pub format: String,
    /// Of the tables and their columns.
    pub schema_version: u32,
    pub tokenizer: String,
    /// In the order of the command line.
    pub repositories: Vec<ExportedRepository>,
}

/// One repository of a dataset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExportedRepository {
    /// The value of `repo`.
    pub id: String,
    /// The root, as it was typed.
    pub root: String,
    /// The value of `commit`: a commit whose files these are, `worktree` for files that are in no commit, or what the command
    /// line says.
    pub commit: String,
    /// The partition below the folder of each table.
    pub partition: String,
    /// The partition was there and holds this already; nothing was written.
    pub unchanged: bool,
    /// Partitions of other commits that were removed.
    pub pruned: u64,
    pub tables: Vec<ExportedTable>,
    /// Sorted and unique.
    pub warnings: Vec<String>,
}

/// One table of one repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExportedTable {
    pub name: String,
    pub rows: u64,
    pub bytes: u64,
    /// Of the file, in hexadecimal.
    pub sha256: String,
}
