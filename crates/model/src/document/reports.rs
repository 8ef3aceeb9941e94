//! The `--json` reports of the smaller commands of context mode: select, snap, state, verify.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::run_report::{LeftOutReport, NotAnalysedFiles};

/// `stan select --json`: the summary of a selection, and each node with the reason why it is in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SelectReport {
    /// Sorted by UTF-8 bytes.
    pub selected_node_ids: Vec<String>,
    pub selected_count: u64,
    pub total_bytes: u64,
    /// Estimated: bytes / 4.
    pub tokens: u64,
    /// Counted; absent unless requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact_tokens: Option<ExactTokens>,
    /// Largest first, then by id.
    pub largest: Vec<SizedNode>,
    /// What a run would leave out, and why: it is neither among the nodes nor counted. Sorted by path.
    pub left_out: Vec<LeftOutReport>,
    /// Sorted and unique.
    pub warnings: Vec<String>,
    /// Files of the map in languages that are not analysed: most files first, then by extension.
    pub not_analysed: Vec<NotAnalysedFiles>,
    pub nodes: Vec<SelectedNode>,
}

impl SelectReport {
    /// Whether there is at least one entry, and no entry names a file that exists.
    pub fn names_only_absent_files(&self) -> bool {
        self.nodes.is_empty()
            && !self.left_out.is_empty()
            && self.left_out.iter().all(|left_out| left_out.reason == ABSENT_FILE)
    }
}

/// Why a path that names nothing is left out.
pub const ABSENT_FILE: &str = "there is no such file";

/// Tokens as a tokenizer counts them, beside the estimates of the formats.
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

/// A selected node and its shortest way from a seed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SelectedNode {
    pub node_id: String,
    pub bytes: u64,
    /// From the seed to the node itself, one element for a seed; of a longer way the last [`SHOWN_STEPS`] nodes.
    pub path: Vec<String>,
    /// How many nodes of the way come before those of `path`; absent when it is whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_omitted: Option<u64>,
}

/// How many steps of a path are shown: the paths to all nodes of a chain together would be its length squared.
pub const SHOWN_STEPS: usize = 8;

/// `stan snap --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SnapReport {
    pub snapshots: Vec<SnapshotReport>,
    /// The baselines that are kept, newest first in each kind; only of `list`, `undo`, `redo` and `set`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub baselines: Vec<BaselineReport>,
    pub warnings: Vec<String>,
}

/// A baseline that is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct BaselineReport {
    /// `plain` or `context`.
    pub kind: String,
    /// 0 is the newest.
    pub number: u64,
    /// Diffs are made against this one.
    pub current: bool,
    pub files: u64,
    /// Files that the next older one does not have.
    pub added: u64,
    pub changed: u64,
    pub removed: u64,
}

/// One snapshot that was replaced or made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SnapshotReport {
    pub path: String,
    pub files: u64,
    /// Whether it differs from the one before.
    pub changed: bool,
}

/// `stan state validate --json` and `stan state migrate --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct StateReport {
    pub file: String,
    pub valid: bool,
    /// The schema that the file was written in; absent when it is not valid.
    pub version: Option<u8>,
    pub includes: u64,
    pub excludes: u64,
    /// The file was rewritten, or would have to be.
    pub rewritten: bool,
    pub warnings: Vec<String>,
    pub errors: Vec<String>,
}

/// `stan verify --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct VerifyReport {
    pub archive: String,
    /// Nothing differs.
    pub matches: bool,
    /// How many entries were compared.
    pub entries: u64,
    pub differ: Vec<Difference>,
    /// In the archive and nowhere else.
    pub gone: Vec<String>,
    /// A run would archive them now, and the archive does not hold them.
    pub new: Vec<String>,
    pub warnings: Vec<String>,
}

/// An entry whose bytes are not what something else says they are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Difference {
    pub path: String,
    /// What the archive was compared with.
    pub with: String,
    pub expected: String,
    pub actual: String,
}
