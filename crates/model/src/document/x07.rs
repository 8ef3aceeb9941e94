//! The reports and packs of the program `x07`. Field order is irrelevant: they are written as canonical JSON.

use serde::Serialize;

/// Metadata of a slice: the request, and what was left out and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct SliceMeta {
    /// JSON Pointer as given, without surrounding white space.
    pub ptr: String,
    pub enclosure: Enclosure,
    pub closure: Closure,
    /// The pointer in the slice, if it differs.
    pub ptr_remap: Vec<PtrRemap>,
    pub omitted: Omitted,
    pub missing: Missing,
    pub truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncation: Option<Truncation>,
}

/// How much of the document encloses the focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Enclosure {
    Decl,
    Defn,
    Module,
}

impl Enclosure {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Decl => "decl",
            Self::Defn => "defn",
            Self::Module => "module",
        }
    }
}

/// Which context is included beyond the enclosure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Closure {
    All,
    Locals,
    Types,
    Imports,
}

impl Closure {
    pub fn includes_locals(self) -> bool {
        matches!(self, Self::All | Self::Locals)
    }

    pub fn includes_types(self) -> bool {
        matches!(self, Self::All | Self::Types)
    }

    pub fn includes_imports(self) -> bool {
        matches!(self, Self::All | Self::Imports)
    }
}

/// A pointer and its place in the slice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct PtrRemap {
    pub from: String,
    pub to: String,
}

/// Categories that were left out on request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Omitted {
    pub locals: bool,
    pub types: bool,
    pub imports: bool,
}

/// What the omitted categories would have added.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Missing {
    pub locals: Vec<String>,
    pub types: Vec<String>,
    pub imports: Vec<String>,
}

/// The effect of a bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Truncation {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_nodes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u64>,
    pub decls_before: u64,
    pub decls_after: u64,
    pub bytes_before: u64,
    pub bytes_after: u64,
    pub reason: TruncationReason,
}

/// The bound that had an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TruncationReason {
    #[serde(rename = "max_nodes")]
    MaxNodes,
    #[serde(rename = "max_bytes")]
    MaxBytes,
    #[serde(rename = "max_nodes+max_bytes")]
    Both,
}

impl TruncationReason {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MaxNodes => "max_nodes",
            Self::MaxBytes => "max_bytes",
            Self::Both => "max_nodes+max_bytes",
        }
    }
}

/// One finding, in the form of x07diag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Diagnostic {
    pub code: &'static str,
    pub severity: Severity,
    pub stage: Stage,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loc: Option<Location>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<TruncationData>,
}

impl Diagnostic {
    /// The only finding of a failed run.
    pub fn failure(message: impl Into<String>) -> Self {
        Self {
            code: "X07-TOOL-EXEC-0001",
            severity: Severity::Error,
            stage: Stage::Run,
            message: message.into(),
            loc: None,
            data: None,
        }
    }

    /// The finding of a run with invalid machine flags.
    pub fn bad_arguments(message: impl Into<String>) -> Self {
        Self { code: "X07-TOOL-ARGS-0001", stage: Stage::Parse, ..Self::failure(message) }
    }
}

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Error,
    Info,
}

/// The step that reported it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    Parse,
    Run,
}

/// A position in a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Location {
    /// Always `x07ast`.
    pub kind: &'static str,
    pub ptr: String,
}

/// The truncation record, and the names of the dropped declarations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TruncationData {
    #[serde(flatten)]
    pub record: Truncation,
    /// In the order of the slice; a declaration without a name is given by its kind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dropped_decls: Vec<String>,
}

/// The identity of a file's bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct FileDigest {
    pub path: String,
    /// Lower-case hex.
    pub sha256: String,
    pub bytes_len: u64,
}

/// The files that were read and written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Digests {
    pub inputs: Vec<FileDigest>,
    pub outputs: Vec<FileDigest>,
}

/// The report of `x07 ast slice`. The slice itself is canonical JSON already and is embedded when writing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct SliceReport {
    pub ok: bool,
    #[serde(rename = "in")]
    pub input: String,
    /// Set if the slice is written to a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out: Option<String>,
    /// Set by a failed `x07 agent context`, whose `in` is the diagnostics file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    pub slice_meta: SliceMeta,
    pub diagnostics: Vec<Diagnostic>,
    pub digests: Digests,
    /// x07AST; null if there is no slice or it was written to a file.
    pub slice_ast: EmbeddedJson,
}

/// Canonical JSON bytes inside a document; null if there are none.
///
/// Serialises as null: [`crate::jcs::ObjectBuilder`] inserts the bytes, so that a large slice is written only once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmbeddedJson(pub Option<Vec<u8>>);

#[cfg(feature = "schema")]
impl schemars::JsonSchema for EmbeddedJson {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "EmbeddedSlice".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        <Option<super::x07_schema::SliceDocument>>::json_schema(generator)
    }
}

impl Serialize for EmbeddedJson {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

impl EmbeddedJson {
    pub fn into_canonical(self) -> Vec<u8> {
        self.0.unwrap_or_else(|| b"null".to_vec())
    }
}

impl SliceReport {
    /// The report as one line of canonical JSON, newline included.
    pub fn into_line(self) -> Result<Vec<u8>, crate::jcs::JcsError> {
        let mut object = crate::jcs::ObjectBuilder::new()
            .field("ok", &self.ok)?
            .field("in", &self.input)?
            .field("slice_meta", &self.slice_meta)?
            .field("diagnostics", &self.diagnostics)?
            .field("digests", &self.digests)?
            .raw("slice_ast", self.slice_ast.into_canonical());
        if let Some(out) = &self.out {
            object = object.field("out", out)?;
        }
        if let Some(project) = &self.project {
            object = object.field("project", project)?;
        }
        let mut line = object.finish();
        line.push(b'\n');
        Ok(line)
    }
}
