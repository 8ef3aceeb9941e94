//! The context pack for a position, a log or files: `stan pack --format json`, schema `stan.pack@1`. The other formats are
//! rendered from it. Data only, without absolute paths.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

/// The value of `schema_version`.
pub const SCHEMA: &str = "stan.pack@1";

/// One pack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Pack {
    pub schema_version: &'static str,
    pub toolchain: Toolchain,
    pub project: PackProject,
    /// Absent when only files were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focus: Option<PackFocus>,
    /// Everything that the logs report, in their order.
    pub diagnostics: Vec<PackDiagnostic>,
    /// The most important first.
    pub items: Vec<PackItem>,
    /// What was wanted and is not in the items; at most 1,000.
    pub omitted: Vec<PackOmitted>,
    /// Names without a declaration; at most 1,000.
    pub missing: Vec<PackMissing>,
    /// How many were omitted, and how many are missing.
    pub totals: PackTotals,
    /// Absent when nothing was cut.
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
    /// Paths are relative to it.
    pub root: &'static str,
}

/// The declaration around the place that was asked about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PackFocus {
    pub file: String,
    pub line: u32,
    pub col: Option<u32>,
    pub start_line: u32,
    pub end_line: u32,
    pub name: String,
    /// Index into `diagnostics`; absent for a place that was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diagnostic: Option<u64>,
}

/// A finding of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PackDiagnostic {
    pub tool: String,
    /// Relative to the root when the file was found, else as the log has it.
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
    /// What columns count: `utf16`, `char` or `byte`.
    pub unit: &'static str,
    pub related: Vec<PackPlace>,
    pub frames: Vec<PackPlace>,
    /// Whether there is such a file.
    pub found: bool,
    /// The log shows another text for the line than the file has now.
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
    /// What the tool says, or the name of the function.
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
    /// Of the whole file.
    pub sha256: String,
    /// Lines of the range that the text leaves out, each from and to.
    pub elided: Vec<[u32; 2]>,
    /// 0 for the focus; a higher number explains less.
    pub rank: u8,
    /// The way from the focus.
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

/// What was wanted and left out.
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
    /// The module that the name was wanted from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What may have been meant: names that the module exports, files of a near name, or all that a path may name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PackTotals {
    pub omitted: u64,
    pub missing: u64,
    /// Of the items, as the budget counts them.
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
    /// Logs, files that were read, and the configuration that decided where imports lead.
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
