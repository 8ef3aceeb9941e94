//! The small answers about declarations: `stan outline --json` and `stan symbol --json`. Data only, without absolute paths.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

/// `stan outline --json`: the declarations of files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OutlineReport {
    /// In the requested order.
    pub files: Vec<OutlinedFile>,
    /// The number of declarations left out because of the budget or the limit.
    pub cut: u64,
    /// Sorted, without duplicates.
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OutlinedFile {
    /// Root-relative, or absolute for a file outside the root.
    pub file: String,
    pub lines: u32,
    /// Whether the file did not parse cleanly, so that declarations may be missing.
    pub incomplete: bool,
    /// In source order.
    pub declarations: Vec<OutlinedDeclaration>,
    /// The number of declarations of this file that are left out.
    pub cut: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OutlinedDeclaration {
    /// With the names of the enclosing declarations: `Cart.total`.
    pub name: String,
    pub kind: &'static str,
    /// 1-based and inclusive.
    pub start_line: u32,
    pub end_line: u32,
    /// The number of enclosing declarations.
    pub depth: u32,
    /// Visible outside the file or, for a member, outside its class.
    pub exported: bool,
    /// On one line, without bodies.
    pub signature: String,
}

/// `stan symbol --json`: the declarations and uses of names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SymbolReport {
    /// In the requested order.
    pub symbols: Vec<FoundSymbol>,
    /// Sorted, without duplicates.
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FoundSymbol {
    /// As requested: `total` or `Cart.total`.
    pub name: String,
    /// Sorted by file and line.
    pub declarations: Vec<SymbolDeclaration>,
    /// Sorted by file and line; one per line.
    pub uses: Vec<SymbolUse>,
    /// The number of uses, including those left out.
    pub use_count: u64,
    /// The number of files with a use, including those left out.
    pub file_count: u64,
    /// The number of declarations and uses left out because of the budget or the limit.
    pub cut: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SymbolDeclaration {
    pub file: String,
    /// The line of the name.
    pub line: u32,
    pub start_line: u32,
    pub end_line: u32,
    pub name: String,
    pub kind: &'static str,
    pub exported: bool,
    pub signature: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SymbolUse {
    pub file: String,
    pub line: u32,
    /// The enclosing declaration; absent at module level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// `name`: the name is bound to a declaration or import with that name. `member`: a member with that name, of a value whose
    /// type is not resolved.
    pub how: &'static str,
}

/// `stan read --json`: files or declarations as text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReadReport {
    /// In the requested order.
    pub items: Vec<ReadItem>,
    /// The requested files and names that are left out because of the budget.
    pub cut: Vec<String>,
    /// Sorted, without duplicates.
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReadItem {
    pub file: String,
    /// 1-based and inclusive.
    pub start_line: u32,
    pub end_line: u32,
    /// `full`, `signature` or `line`; lower than requested if the budget is small.
    pub level: &'static str,
    /// `file`, or the kind of the declaration.
    pub kind: &'static str,
    /// With the names of the enclosing declarations; empty for a file.
    pub name: String,
    pub text: String,
    /// The hash of the whole file.
    pub sha256: String,
    /// Lines of the range that the text omits, as pairs of first and last line.
    pub elided: Vec<[u32; 2]>,
}

/// `stan find --json`: declarations, paths and lines that contain words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FindReport {
    /// Declarations whose names contain the words, best match first.
    pub symbols: Vec<SymbolDeclaration>,
    /// Files whose paths contain the words.
    pub paths: Vec<String>,
    /// Lines that contain the words.
    pub lines: Vec<FoundLine>,
    /// Whether only some of the words were found together.
    pub partial: bool,
    /// The number of matches left out because of the budget or the limit.
    pub cut: u64,
    /// Sorted, without duplicates.
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FoundLine {
    pub file: String,
    pub line: u32,
    /// Without surrounding white space; truncated if it is long.
    pub text: String,
}
