//! A context pack for an agent: diagnostics, the slice at the one in focus, and the digests of all inputs.
//!
//! The caller reads the files and locates the project; the pack has the same bytes wherever it is made.

use stan_model::document::x07::{Digests, FileDigest};
use stan_model::jcs::{JcsError, ObjectBuilder};
use stan_model::json::{JsonKind, JsonTree, NodeId};

use super::{PackError, Slice};

const DIAGNOSTICS_SCHEMA: &str = "x07.x07diag@0.1.0";

/// The diagnostic in focus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiagnosticFocus {
    pub code: String,
    /// JSON Pointer into the entry module as written in the file.
    pub pointer: String,
}

/// A parsed diagnostics file with at least one diagnostic.
pub struct Diagnostics<'a> {
    tree: JsonTree<'a>,
    /// Whether it is a tool's report, of which only the diagnostics are used.
    is_tool_report: bool,
    pub focus: DiagnosticFocus,
}

impl<'a> Diagnostics<'a> {
    /// Parses x07diag, or the report of an x07 tool.
    pub fn read(bytes: &'a [u8]) -> Result<Self, PackError> {
        let tree = JsonTree::parse(bytes).map_err(|error| PackError::NotJson { message: error.to_string() })?;
        let root = tree.root();
        let schema = tree.field(root, "schema_version").and_then(|id| tree.string(id)).unwrap_or_default();
        let is_tool_report = schema.starts_with("x07.tool.") && schema.ends_with("@0.1.0");
        if schema != DIAGNOSTICS_SCHEMA && !is_tool_report {
            return Err(PackError::UnknownSchema { found: schema.into_owned() });
        }
        tree.check_integers(root, "")?;
        let focus = select_focus(&tree)?;
        Ok(Self { tree, is_tool_report, focus })
    }

    /// All diagnostics of the file, in the form for a pack.
    fn canonical(&self) -> Result<Vec<u8>, JcsError> {
        let root = self.tree.root();
        let mut items = Vec::new();
        if let Some(list) = self.list() {
            items.extend(self.tree.items(list).map(|item| self.canonical_node(item)));
        }
        let list = [b"[".as_slice(), &items.join(b",".as_slice()), b"]"].concat();
        if self.is_tool_report {
            let ok = self.tree.field(root, "ok").is_some_and(|ok| self.tree.kind(ok) == JsonKind::True);
            let object = ObjectBuilder::new().field("schema_version", DIAGNOSTICS_SCHEMA)?.field("ok", &ok)?;
            return Ok(object.raw("diagnostics", list).raw("meta", b"{}".to_vec()).finish());
        }
        let keys: Vec<(String, NodeId)> = self.fields();
        let mut object = ObjectBuilder::new();
        for (key, value) in &keys {
            let value = if key == "diagnostics" { list.clone() } else { self.canonical_node(*value) };
            object = object.raw(key, value);
        }
        Ok(object.finish())
    }

    fn list(&self) -> Option<NodeId> {
        self.tree.field(self.tree.root(), "diagnostics")
    }

    /// The fields of the document, without duplicate keys.
    fn fields(&self) -> Vec<(String, NodeId)> {
        let root = self.tree.root();
        let mut fields: Vec<(String, NodeId)> = self
            .tree
            .fields(root)
            .map(|(key, value)| (self.tree.string(key).unwrap_or_default().into_owned(), value))
            .collect();
        // The last of equal keys wins: reverse the list, so that it becomes the first.
        fields.reverse();
        fields.sort_by(|left, right| left.0.cmp(&right.0));
        fields.dedup_by(|later, earlier| later.0 == earlier.0);
        fields
    }

    fn canonical_node(&self, id: NodeId) -> Vec<u8> {
        let mut out = Vec::new();
        self.tree.write_canonical(id, &mut out);
        out
    }
}

/// The first error, or else the first diagnostic.
fn select_focus(tree: &JsonTree<'_>) -> Result<DiagnosticFocus, PackError> {
    let list = tree.field(tree.root(), "diagnostics").ok_or(PackError::NoDiagnostics)?;
    let is_error = |item: NodeId| {
        tree.field(item, "severity").and_then(|id| tree.string(id)).is_some_and(|severity| severity == "error")
    };
    let (index, item) = tree
        .items(list)
        .enumerate()
        .find(|&(_, item)| is_error(item))
        .or_else(|| tree.items(list).enumerate().next())
        .ok_or(PackError::NoDiagnostics)?;
    let pointer = format!("/diagnostics/{index}");
    let missing = |what: &'static str| PackError::IncompleteFocus { what, pointer: pointer.clone() };
    let code = tree.field(item, "code").and_then(|id| tree.string(id)).ok_or_else(|| missing("code"))?;
    let loc = tree.field(item, "loc").filter(|&loc| tree.kind(loc) == JsonKind::Object);
    let loc = loc.ok_or_else(|| missing("loc"))?;
    let kind = tree.field(loc, "kind").and_then(|id| tree.string(id)).unwrap_or_default();
    if kind != "x07ast" {
        return Err(PackError::OtherLocation { found: kind.into_owned(), pointer });
    }
    let target = tree.field(loc, "ptr").and_then(|id| tree.string(id)).ok_or_else(|| missing("loc.ptr"))?;
    Ok(DiagnosticFocus { code: code.into_owned(), pointer: target.into_owned() })
}

/// The project, as described in a pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectFacts {
    /// The path to show: relative to the working directory if it is below that.
    pub root: String,
    pub world: String,
    /// Path of the entry module inside the project.
    pub entry: String,
}

/// The contents of a pack.
pub struct ContextPack<'p, 'a> {
    pub toolchain_version: &'p str,
    pub project: ProjectFacts,
    pub diagnostics: &'p Diagnostics<'a>,
    pub source_schema_version: &'p str,
    pub slice: Slice,
    pub inputs: Vec<FileDigest>,
}

impl ContextPack<'_, '_> {
    /// The pack as one line of canonical JSON with a newline.
    pub fn into_line(self) -> Result<Vec<u8>, JcsError> {
        let focus = &self.diagnostics.focus;
        let toolchain = ObjectBuilder::new().field("name", "x07")?.field("version", self.toolchain_version)?;
        let project = ObjectBuilder::new()
            .field("root", &self.project.root)?
            .field("world", &self.project.world)?
            .field("entry", &self.project.entry)?;
        let focus = ObjectBuilder::new().field("diag_code", &focus.code)?.field("loc_ptr", &focus.pointer)?;
        let ast = ObjectBuilder::new()
            .field("source_path", &self.project.entry)?
            .field("source_schema_version", self.source_schema_version)?
            .field("slice_meta", &self.slice.meta)?
            .raw("slice_ast", self.slice.ast);
        let mut line = ObjectBuilder::new()
            .field("schema_version", "x07.agent.context@0.1.0")?
            .raw("toolchain", toolchain.finish())
            .raw("project", project.finish())
            .raw("focus", focus.finish())
            .raw("diagnostics", self.diagnostics.canonical()?)
            .raw("ast", ast.finish())
            .raw("env", b"{}".to_vec())
            .field("digests", &Digests { inputs: self.inputs, outputs: Vec::new() })?
            .finish();
        line.push(b'\n');
        Ok(line)
    }
}
