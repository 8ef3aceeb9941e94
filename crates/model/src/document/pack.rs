//! The context pack for a position, a log or files: `stan pack --format json`, schema `stan.pack@1`. The other formats are
//! rendered from it. Data only, without absolute paths.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

/// The value of `schema_version`.
pub const SCHEMA: &str = "stan.pack@1";

/// A pack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Pack {
    pub schema_version: &'static str,
    pub toolchain: Toolchain,
    pub project: PackProject,
    /// Absent if only files were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focus: Option<PackFocus>,
    /// Everything that the logs report, in order.
    pub diagnostics: Vec<PackDiagnostic>,
    /// Most important first.
    pub items: Vec<PackItem>,
    /// Wanted files and declarations that are not in the items; at most 1,000.
    pub omitted: Vec<PackOmitted>,
    /// Names without a declaration; at most 1,000.
    pub missing: Vec<PackMissing>,
    /// The numbers of omitted and missing names.
    pub totals: PackTotals,
    /// Absent if nothing was truncated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncation: Option<PackTruncation>,
    pub digests: PackDigests,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Toolchain {
    pub name: &'static str,
    pub version: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PackProject {
    /// The root that paths are relative to.
    pub root: &'static str,
}

/// The declaration around the requested place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PackFocus {
    pub file: String,
    pub line: u32,
    pub col: Option<u32>,
    pub start_line: u32,
    pub end_line: u32,
    pub name: String,
    /// Index into `diagnostics`; absent for a place from the command line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diagnostic: Option<u64>,
}

/// A finding of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PackDiagnostic {
    pub tool: String,
    /// Relative to the root if the file was found, otherwise as in the log.
    pub file: Option<String>,
    pub line: Option<u32>,
    pub col: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_col: Option<u32>,
    /// `error`, `warning` or `info`.
    pub severity: &'static str,
    pub code: Option<String>,
    pub message: String,
    /// The unit of columns: `utf16`, `char` or `byte`.
    pub unit: &'static str,
    pub related: Vec<PackPlace>,
    pub frames: Vec<PackPlace>,
    /// Whether the file exists.
    pub found: bool,
    /// Whether the log quotes another text for the line than the file has now.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
}

/// A place that a diagnostic refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PackPlace {
    pub file: String,
    pub line: u32,
    pub col: Option<u32>,
    /// The message of the tool, or the name of the function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// `stan pack --list --json`: the diagnostics alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct DiagnosticsReport {
    pub diagnostics: Vec<PackDiagnostic>,
}

/// A declaration, or lines of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PackItem {
    pub file: String,
    /// 1-based and inclusive, of the file on disk.
    pub start_line: u32,
    pub end_line: u32,
    /// `full`, `signature` or `line`.
    pub level: &'static str,
    pub kind: String,
    pub name: String,
    pub text: String,
    /// The hash of the whole file.
    pub sha256: String,
    /// Lines of the range that the text omits, as pairs of first and last line.
    pub elided: Vec<[u32; 2]>,
    /// 0 for the focus; higher numbers are less important.
    pub rank: u8,
    /// The path from the focus.
    pub via: Vec<PackVia>,
    /// The installed package that the file belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<PackPackage>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PackVia {
    pub file: String,
    pub line: u32,
    pub name: String,
    pub how: &'static str,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PackPackage {
    pub name: String,
    pub version: String,
}

/// A wanted declaration or file that was left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PackOmitted {
    pub file: String,
    pub start_line: u32,
    pub name: String,
    /// `budget`, `hops`, `closure`, `externals`, `size` or `secret`.
    pub reason: &'static str,
}

/// A name without a declaration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PackMissing {
    pub name: String,
    pub file: String,
    pub line: u32,
    /// `unresolved-module`, `no-such-export`, `needs-types`, `global` or `ambiguous-path`.
    pub reason: &'static str,
    /// The module that the name was imported from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Possible meanings: names that the module exports, files with similar names, or all files that the path may mean.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PackTotals {
    pub omitted: u64,
    pub missing: u64,
    /// The size of the items, as the budget counts them.
    pub tokens: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PackTruncation {
    pub budget: u64,
    pub tokens_before: u64,
    pub tokens_after: u64,
    pub dropped: u64,
    pub demoted: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PackDigests {
    /// Logs, files that were read, and the configuration that affected the resolution of imports.
    pub inputs: Vec<PackInput>,
    pub outputs: Vec<PackInput>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PackInput {
    pub path: String,
    pub sha256: String,
    pub bytes_len: u64,
}
