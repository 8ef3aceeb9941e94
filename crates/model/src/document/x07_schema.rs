//! The structure of x07's documents, as far as a JSON Schema needs it: the slice, the pack, the wrapper.
//!
//! Compiled only for the tests that generate and check `schemas/`. Nothing is deserialised into these types.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde_json::Value;

use super::x07::{Diagnostic, Digests, FileDigest, SliceMeta};

/// x07AST of any version, as slices are.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct SliceDocument {
    #[schemars(regex(pattern = r"^x07\.x07ast@0\.[3-9]\.0$"))]
    pub schema_version: String,
    pub kind: DocumentKind,
    pub module_id: String,
    pub imports: Vec<String>,
    pub decls: Vec<Declaration>,
    /// Only in documents of kind `entry`.
    #[schemars(default)]
    pub solve: Option<Expression>,
    #[schemars(default)]
    pub meta: Option<BTreeMap<String, Value>>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
pub enum DocumentKind {
    Entry,
    Module,
}

#[derive(JsonSchema)]
#[schemars(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Declaration {
    Export {
        #[schemars(length(min = 1))]
        names: Vec<String>,
    },
    Extern {
        abi: String,
        name: String,
        link_name: String,
        params: Vec<Parameter>,
        result: TypeReference,
    },
    Defn {
        name: String,
        #[schemars(default)]
        doc: Option<String>,
        #[schemars(default)]
        type_params: Option<Vec<TypeParameter>>,
        #[schemars(default)]
        requires: Option<Vec<Clause>>,
        #[schemars(default)]
        ensures: Option<Vec<Clause>>,
        #[schemars(default)]
        invariant: Option<Vec<Clause>>,
        #[schemars(default)]
        decreases: Option<Vec<Clause>>,
        #[schemars(default)]
        loop_contracts: Option<Vec<LoopContract>>,
        params: Vec<Parameter>,
        result: TypeReference,
        #[schemars(default)]
        result_brand: Option<String>,
        body: Expression,
    },
    Defasync {
        name: String,
        #[schemars(default)]
        doc: Option<String>,
        #[schemars(default)]
        type_params: Option<Vec<TypeParameter>>,
        #[schemars(default)]
        requires: Option<Vec<Clause>>,
        #[schemars(default)]
        ensures: Option<Vec<Clause>>,
        #[schemars(default)]
        invariant: Option<Vec<Clause>>,
        #[schemars(default)]
        protocol: Option<Protocol>,
        #[schemars(default)]
        loop_contracts: Option<Vec<LoopContract>>,
        params: Vec<Parameter>,
        result: TypeReference,
        #[schemars(default)]
        result_brand: Option<String>,
        body: Expression,
    },
    Defrecord {
        name: String,
        #[schemars(default)]
        doc: Option<String>,
        #[schemars(length(min = 1))]
        fields: Vec<RecordField>,
    },
    Defenum {
        name: String,
        #[schemars(default)]
        doc: Option<String>,
        #[schemars(length(min = 1))]
        variants: Vec<Variant>,
    },
}

/// An integer, a word, or a list that starts with a word.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub enum Expression {
    Integer(i32),
    Word(String),
    List(#[schemars(length(min = 1))] Vec<Expression>),
}

#[derive(JsonSchema)]
#[schemars(untagged)]
pub enum TypeReference {
    Named(String),
    Applied(#[schemars(length(min = 2))] Vec<TypeReference>),
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Parameter {
    pub name: String,
    pub ty: TypeReference,
    #[schemars(default)]
    pub brand: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct TypeParameter {
    pub name: String,
    #[schemars(default)]
    pub bound: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Clause {
    #[schemars(default)]
    pub id: Option<String>,
    pub expr: Expression,
    #[schemars(default)]
    pub witness: Option<Vec<Expression>>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct LoopContract {
    pub ptr: String,
    pub invariant: Vec<Clause>,
    pub decreases: Vec<Clause>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Protocol {
    #[schemars(default)]
    pub await_invariant: Option<Vec<Clause>>,
    #[schemars(default)]
    pub scope_invariant: Option<Vec<Clause>>,
    #[schemars(default)]
    pub cancellation_ensures: Option<Vec<Clause>>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct RecordField {
    pub name: String,
    pub ty: String,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Variant {
    pub name: String,
    #[schemars(default)]
    pub payload: Option<String>,
}

/// `x07.agent.context@0.1.0`.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ContextPackDocument {
    #[schemars(regex(pattern = r"^x07\.agent\.context@0\.1\.0$"))]
    pub schema_version: String,
    pub toolchain: Toolchain,
    pub project: Project,
    pub focus: Focus,
    /// x07diag as given; with one more entry if a bound had an effect on the slice.
    pub diagnostics: DiagnosticsDocument,
    pub ast: PackedSlice,
    pub env: BTreeMap<String, Value>,
    pub digests: Digests,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Toolchain {
    pub name: String,
    pub version: String,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Project {
    pub root: String,
    pub world: String,
    pub entry: String,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Focus {
    pub diag_code: String,
    pub loc_ptr: String,
}

#[derive(JsonSchema)]
pub struct DiagnosticsDocument {
    #[schemars(regex(pattern = r"^x07\.x07diag@0\.1\.0$"))]
    pub schema_version: String,
    #[schemars(length(min = 1))]
    pub diagnostics: Vec<Value>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct PackedSlice {
    pub source_path: String,
    pub source_schema_version: String,
    pub slice_ast: SliceDocument,
    pub slice_meta: SliceMeta,
}

/// `x07.tool.<command>.report@0.1.0`: the report about a run with `--json`.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ToolReport {
    pub schema_version: String,
    pub command: String,
    pub ok: bool,
    pub exit_code: u8,
    pub diagnostics: Vec<Diagnostic>,
    pub meta: ToolMeta,
    pub result: ToolResult,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ToolMeta {
    pub tool: Toolchain,
    pub elapsed_ms: u64,
    pub cwd: String,
    pub argv: Vec<String>,
    pub inputs: Vec<FileDigest>,
    pub outputs: Vec<FileDigest>,
    pub nondeterminism: Nondeterminism,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Nondeterminism {
    pub uses_os_time: bool,
    pub uses_network: bool,
    pub uses_process: bool,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ToolResult {
    pub stdout: Stream,
    pub stderr: Stream,
    #[schemars(default)]
    pub stdout_json: Option<Value>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Stream {
    pub bytes_len: u64,
    #[schemars(default)]
    pub text: Option<String>,
}
