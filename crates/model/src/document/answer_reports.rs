//! The small answers about dependencies: `stan deps --json`, `stan dependents --json` and `stan cycles --json`. Data only.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

/// `stan deps --json` and `stan dependents --json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NeighboursReport {
    /// `dependencies` or `dependents`.
    pub direction: &'static str,
    /// How many steps were followed.
    pub depth: u32,
    /// In the requested order.
    pub files: Vec<FileNeighbours>,
    /// Sorted, without duplicates.
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FileNeighbours {
    /// Node id.
    pub file: String,
    /// The number of modules, including those left out.
    pub count: u64,
    /// Sorted by distance, then by kind (files of the repository, packages, builtins, missing modules), then by id.
    pub modules: Vec<NeighbourModule>,
    /// The number of modules left out because of the budget or the limit.
    pub cut: u64,
    /// The folders of the modules that are left out, with counts; most modules first.
    pub cut_folders: Vec<FolderCount>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NeighbourModule {
    /// Node id.
    pub id: String,
    /// `source`, `external`, `builtin` or `missing`.
    pub kind: &'static str,
    /// 1 for a direct neighbour.
    pub distance: u32,
    /// The module one step nearer; absent for a direct neighbour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The kinds of the edges of that step: `runtime`, `type`, `dynamic`.
    pub edges: Vec<&'static str>,
    /// Whether the step was found only by following names through barrels.
    pub implicit: bool,
    /// The names imported by that step, sorted; empty if the module is imported as a whole.
    pub names: Vec<String>,
    /// The number of names left out.
    pub names_cut: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FolderCount {
    /// Without a trailing slash; `.` for the root. For a module that is not a file, its kind.
    pub folder: String,
    pub count: u64,
}

/// `stan cycles --json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CyclesReport {
    /// The number of cycles, including those left out.
    pub count: u64,
    /// Largest first; with `--shortest`, shortest ring first.
    pub cycles: Vec<FoundCycle>,
    /// The number of cycles left out because of the budget or the limit.
    pub cut: u64,
    /// Sorted, without duplicates.
    pub warnings: Vec<String>,
}

/// Modules that all depend on each other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FoundCycle {
    /// The number of modules.
    pub size: u64,
    /// A shortest ring: each module has an edge to the next, the last one to the first.
    pub ring: Vec<String>,
    /// Modules outside the ring, sorted; empty with `--shortest`.
    pub others: Vec<String>,
    /// The number of other modules left out.
    pub others_cut: u64,
}

/// `stan map --json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OverviewReport {
    /// The overview, as in `dependency.overview.md`.
    pub text: String,
    /// The size of the text.
    pub tokens: u64,
    /// `o200k`, `cl100k` or `bytes4`.
    pub tokenizer: String,
    /// In tokens; 0 if everything is shown.
    pub budget: u64,
    /// The number of code files, folders or packages with a line.
    pub listed: u64,
    /// The number of those that are only counted in the line of a folder.
    pub folded: u64,
    /// Sorted, without duplicates.
    pub warnings: Vec<String>,
}
