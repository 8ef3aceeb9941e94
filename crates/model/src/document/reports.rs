//! The `--json` reports of the smaller commands of context mode: select, snap, state, verify.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::run_report::{LeftOutReport, NotAnalysedFiles};

/// `stan select --json`: the summary of a selection, and each node with the reason why it is selected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SelectReport {
    /// Sorted by UTF-8 bytes.
    pub selected_node_ids: Vec<String>,
    pub selected_count: u64,
    pub total_bytes: u64,
    /// An estimate: bytes / 4.
    pub tokens: u64,
    /// The exact count; absent unless requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact_tokens: Option<ExactTokens>,
    /// Largest first, then by id.
    pub largest: Vec<SizedNode>,
    /// Files that a run would leave out, and why. They are neither in the nodes nor counted. Sorted by path.
    pub left_out: Vec<LeftOutReport>,
    /// Sorted, without duplicates.
    pub warnings: Vec<String>,
    /// Files of the map in languages that are not analysed: most files first, then by extension.
    pub not_analysed: Vec<NotAnalysedFiles>,
    pub nodes: Vec<SelectedNode>,
}

impl SelectReport {
    /// Whether there is at least one entry, and none of the named files exist.
    pub fn names_only_absent_files(&self) -> bool {
        self.nodes.is_empty()
            && !self.left_out.is_empty()
            && self.left_out.iter().all(|left_out| left_out.reason == ABSENT_FILE)
    }
}

/// Why a path that does not exist is left out.
pub const ABSENT_FILE: &str = "there is no such file";

/// Tokens counted by a tokenizer, in addition to the estimates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ExactTokens {
    /// `o200k`, `cl100k` or `bytes4`.
    pub tokenizer: String,
    pub tokens: u64,
}

/// A node and the size of its file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SizedNode {
    pub node_id: String,
    pub bytes: u64,
}

/// A selected node and its shortest path from a seed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SelectedNode {
    pub node_id: String,
    pub bytes: u64,
    /// From the seed to the node itself, one element for a seed; the last [`SHOWN_STEPS`] nodes of a longer path.
    pub path: Vec<String>,
    /// How many nodes of the path precede those in `path`; absent if it is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_omitted: Option<u64>,
}

/// How many nodes of a path are shown: the complete paths of all nodes in a chain would take quadratic space.
pub const SHOWN_STEPS: usize = 8;

/// `stan snap --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SnapReport {
    pub snapshots: Vec<SnapshotReport>,
    /// The stored baselines, newest first within each kind; only for `list`, `undo`, `redo` and `set`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub baselines: Vec<BaselineReport>,
    pub warnings: Vec<String>,
}

/// A stored baseline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct BaselineReport {
    /// `plain` or `context`.
    pub kind: String,
    /// 0 for the newest.
    pub number: u64,
    /// Whether diffs are made against this one.
    pub current: bool,
    pub files: u64,
    /// The number of files that the next older baseline does not have.
    pub added: u64,
    pub changed: u64,
    pub removed: u64,
}

/// A snapshot that was replaced or created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SnapshotReport {
    pub path: String,
    pub files: u64,
    /// Whether it differs from the previous one.
    pub changed: bool,
}

/// `stan state validate --json` and `stan state migrate --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct StateReport {
    pub file: String,
    pub valid: bool,
    /// The schema version of the file; absent if the file is invalid.
    pub version: Option<u8>,
    pub includes: u64,
    pub excludes: u64,
    /// Whether the file was rewritten, or needs to be.
    pub rewritten: bool,
    pub warnings: Vec<String>,
    pub errors: Vec<String>,
}

/// `stan verify --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct VerifyReport {
    pub archive: String,
    /// Whether nothing differs.
    pub matches: bool,
    /// The number of compared entries.
    pub entries: u64,
    pub differ: Vec<Difference>,
    /// Entries of the archive that a run would not archive now.
    pub gone: Vec<String>,
    /// Files that a run would archive now and that are not in the archive.
    pub new: Vec<String>,
    pub warnings: Vec<String>,
}

/// An entry whose bytes differ from those in another place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Difference {
    pub path: String,
    /// The other place.
    pub with: String,
    pub expected: String,
    pub actual: String,
}
