//! `stan export --json`: which partitions of a dataset were written, and which already existed. Data only.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExportReport {
    /// The folder of the dataset, as typed.
    pub directory: String,
    /// `ndjson` or `parquet`.
    pub format: String,
    /// The version of the tables and their columns.
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
    /// The root, as typed.
    pub root: String,
    /// The value of `commit`: the commit of these files, `worktree` for uncommitted files, or the value from the command line.
    pub commit: String,
    /// The path of the partition in each table's folder.
    pub partition: String,
    /// Whether the partition already existed with these contents, so that nothing was written.
    pub unchanged: bool,
    /// The number of partitions of other commits that were removed.
    pub pruned: u64,
    pub tables: Vec<ExportedTable>,
    /// Sorted, without duplicates.
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
    /// The hash of the file, in hexadecimal.
    pub sha256: String,
}
