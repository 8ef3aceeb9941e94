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
    /// In the order in which they were asked for.
    pub files: Vec<FileNeighbours>,
    /// Sorted and unique.
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FileNeighbours {
    /// Node id.
    pub file: String,
    /// How many modules there are, the ones left out included.
    pub count: u64,
    /// By distance, then files of the repository, packages, builtins and what is missing, then by id.
    pub modules: Vec<NeighbourModule>,
    /// Modules that are left out because of the budget or the limit.
    pub cut: u64,
    /// Where the modules lie that are left out: folders with counts, the most first.
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
    /// Of the edges of that step: `runtime`, `type`, `dynamic`.
    pub edges: Vec<&'static str>,
    /// The step was found by seeing through barrels only.
    pub implicit: bool,
    /// The names that are taken by that step, sorted; empty when the module is taken as a whole.
    pub names: Vec<String>,
    /// Names that are left out.
    pub names_cut: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FolderCount {
    /// Without the last slash; `.` for the root, or what it is for a module that is not a file.
    pub folder: String,
    pub count: u64,
}

/// `stan cycles --json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CyclesReport {
    /// How many there are, the ones left out included.
    pub count: u64,
    /// The largest first; with `--shortest` the shortest ring first.
    pub cycles: Vec<FoundCycle>,
    /// Cycles that are left out because of the budget or the limit.
    pub cut: u64,
    /// Sorted and unique.
    pub warnings: Vec<String>,
}

/// Modules that all reach one another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FoundCycle {
    /// How many modules.
    pub size: u64,
    /// A shortest way round: each module has an edge to the next, the last one to the first.
    pub ring: Vec<String>,
    /// Modules that are not in the ring, sorted; empty with `--shortest`.
    pub others: Vec<String>,
    /// Other modules that are left out.
    pub others_cut: u64,
}

/// `stan map --json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OverviewReport {
    /// The overview, as `dependency.overview.md` has it.
    pub text: String,
    /// Of the text.
    pub tokens: u64,
    /// `o200k`, `cl100k` or `bytes4`.
    pub tokenizer: String,
    /// 0: everything is shown.
    pub budget: u64,
    /// Code files, folders or packages that have a line.
    pub listed: u64,
    /// Those that are only counted in the line of a folder.
    pub folded: u64,
    /// Sorted and unique.
    pub warnings: Vec<String>,
}
