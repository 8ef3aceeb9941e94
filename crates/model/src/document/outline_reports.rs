//! The small answers about declarations: `stan outline --json` and `stan symbol --json`. Data only, without absolute paths.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

/// `stan outline --json`: the declarations of files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OutlineReport {
    /// In the order in which they were asked for.
    pub files: Vec<OutlinedFile>,
    /// Declarations that are left out because of the budget or the limit.
    pub cut: u64,
    /// Sorted and unique.
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OutlinedFile {
    /// Root-relative, or absolute when the file is outside the root.
    pub file: String,
    pub lines: u32,
    /// The file did not parse cleanly: there may be more declarations.
    pub incomplete: bool,
    /// In source order.
    pub declarations: Vec<OutlinedDeclaration>,
    /// Declarations of this file that are left out.
    pub cut: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OutlinedDeclaration {
    /// With the names of the declarations around it: `Cart.total`.
    pub name: String,
    pub kind: &'static str,
    /// 1-based and inclusive.
    pub start_line: u32,
    pub end_line: u32,
    /// How many declarations are around it.
    pub depth: u32,
    /// Visible outside the file, or for a member, outside its class.
    pub exported: bool,
    /// On one line, without bodies.
    pub signature: String,
}

/// `stan symbol --json`: where names are declared, and who uses them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SymbolReport {
    /// In the order in which they were asked for.
    pub symbols: Vec<FoundSymbol>,
    /// Sorted and unique.
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FoundSymbol {
    /// As it was asked for: `total` or `Cart.total`.
    pub name: String,
    /// Sorted by file and line.
    pub declarations: Vec<SymbolDeclaration>,
    /// Sorted by file and line; one for each line.
    pub uses: Vec<SymbolUse>,
    /// Of all uses, the ones left out included.
    pub use_count: u64,
    /// Files with a use, the ones left out included.
    pub file_count: u64,
    /// Declarations and uses that are left out because of the budget or the limit.
    pub cut: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SymbolDeclaration {
    pub file: String,
    /// Of the name.
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
    /// The declaration around the use; absent at module level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// `name`: the name itself is bound to a declaration or import of that name. `member`: a member of that name of
    /// something whose type is not followed.
    pub how: &'static str,
}

/// `stan read --json`: files or declarations as text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReadReport {
    /// In the order in which they were asked for.
    pub items: Vec<ReadItem>,
    /// What is left out because of the budget, as it was asked for.
    pub cut: Vec<String>,
    /// Sorted and unique.
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
    /// `full`, `signature` or `line`: lower than asked for where the budget is small.
    pub level: &'static str,
    /// `file`, or the kind of the declaration.
    pub kind: &'static str,
    /// With the names of the declarations around it; empty for a file.
    pub name: String,
    pub text: String,
    /// Of the whole file.
    pub sha256: String,
    /// Lines of the range that the text leaves out, each from and to.
    pub elided: Vec<[u32; 2]>,
}

/// `stan find --json`: where words are declared, named and written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FindReport {
    /// Declarations whose name has the words; the nearest first.
    pub symbols: Vec<SymbolDeclaration>,
    /// Files whose path has the words.
    pub paths: Vec<String>,
    /// Lines that have the words.
    pub lines: Vec<FoundLine>,
    /// Whether only some of the words were found together.
    pub partial: bool,
    /// What is left out because of the budget or the limit.
    pub cut: u64,
    /// Sorted and unique.
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FoundLine {
    pub file: String,
    pub line: u32,
    /// Without white space around it; cut when it is long.
    pub text: String,
}
