//! Slices of small x07 modules, as JSON values.

use serde_json::{Value, json};
use stan_lang::x07::{X07, read_module};
pub(crate) use stan_model::document::x07::{Closure, Enclosure};
pub(crate) use stan_slice::PointerSpace;
use stan_slice::{Slice, SliceError, SliceRequest};

/// A request, to be refined by the functions below.
pub(crate) fn at(pointer: &str) -> SliceRequest {
    SliceRequest {
        pointer: pointer.to_owned(),
        pointer_space: PointerSpace::File,
        enclosure: Enclosure::Decl,
        closure: Closure::All,
        max_nodes: None,
        max_bytes: None,
    }
}

/// The same, for the whole module.
pub(crate) fn whole(pointer: &str) -> SliceRequest {
    SliceRequest { enclosure: Enclosure::Module, ..at(pointer) }
}

/// The same pointer, as the toolchain interprets it.
pub(crate) fn as_toolchain(request: SliceRequest) -> SliceRequest {
    SliceRequest { pointer_space: PointerSpace::Toolchain, ..request }
}

pub(crate) fn slice(document: &Value, request: &SliceRequest) -> Result<Slice, SliceError> {
    let bytes = serde_json::to_vec(document).unwrap();
    let module = read_module(&bytes).unwrap();
    stan_slice::slice(&module, &X07, request)
}

/// The slice as a JSON value.
pub(crate) fn ast(document: &Value, request: &SliceRequest) -> Value {
    value_of(&slice(document, request).unwrap())
}

pub(crate) fn value_of(slice: &Slice) -> Value {
    serde_json::from_slice(&slice.ast).unwrap()
}

/// The names of the declarations; `export` for an export.
pub(crate) fn names(ast: &Value) -> Vec<&str> {
    let decls = ast["decls"].as_array().unwrap();
    decls.iter().map(|decl| decl["name"].as_str().unwrap_or("export")).collect()
}

/// A module of version 0.8.0.
pub(crate) fn module(imports: &[&str], decls: &[Value]) -> Value {
    json!({"schema_version": "x07.x07ast@0.8.0", "kind": "module", "module_id": "m", "imports": imports, "decls": decls})
}

/// An entry of version 0.8.0.
pub(crate) fn entry(imports: &[&str], decls: &[Value], solve: &Value) -> Value {
    let mut document = module(imports, decls);
    document["kind"] = json!("entry");
    document["solve"] = solve.clone();
    document
}

pub(crate) fn export(names: &[&str]) -> Value {
    json!({"kind": "export", "names": names})
}

pub(crate) fn defn(name: &str, body: Value) -> Value {
    json!({"kind": "defn", "name": name, "params": [], "result": "i32", "body": body})
}

/// A function with an additional field.
pub(crate) fn defn_with(name: &str, body: Value, key: &str, value: Value) -> Value {
    let mut decl = defn(name, body);
    decl[key] = value;
    decl
}

pub(crate) fn clause(expr: Value) -> Value {
    json!([{"expr": expr}])
}
