//! Properties of all modules, pointers and bounds, on generated modules and random requests, validated with our own schema.

#[expect(dead_code, reason = "only a part of it is used here")]
mod common;

use common::{Closure, Enclosure, PointerSpace};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use stan_lang::x07::{X07, read_module};
use stan_slice::{SliceError, SliceRequest};

const SYMBOLS: [&str; 9] = ["+", "let", "if", "begin", "m.a", "m.b", "m.c", "std.x.go", "std.y.run"];

fn expression() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<i32>().prop_map(Value::from),
        "[a-z]{1,6}".prop_map(Value::from),
        "\\PC{0,4}".prop_map(|text| json!(["bytes.lit", text])),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        (prop::sample::select(SYMBOLS.to_vec()), prop::collection::vec(inner, 0..5)).prop_map(|(head, mut items)| {
            items.insert(0, json!(head));
            Value::Array(items)
        })
    })
}

fn clauses() -> impl Strategy<Value = Option<Value>> {
    let clause = (expression(), prop::option::of("[a-z]{0,5}"), prop::collection::vec(expression(), 0..2));
    let clause = clause.prop_map(|(expr, id, witness)| {
        let mut clause = json!({"expr": expr, "witness": witness});
        if let Some(id) = id {
            clause["id"] = json!(id);
        }
        clause
    });
    prop::option::weighted(0.3, prop::collection::vec(clause, 0..3).prop_map(Value::Array))
}

fn function(name: &'static str) -> impl Strategy<Value = Value> {
    let contracts = (clauses(), clauses(), clauses(), clauses());
    (expression(), contracts, any::<bool>(), "[ a-z]{0,12}", any::<bool>(), 0..4_usize).prop_map(
        move |(body, (requires, ensures, decreases, invariants), is_async, doc, branded, loops)| {
            let mut decl = json!({
                "kind": if is_async { "defasync" } else { "defn" }, "name": name, "result": "bytes", "body": body, "doc": doc,
                "params": [{"name": "p", "ty": "bytes"}], "unknown": 1,
            });
            if branded {
                decl["params"][0]["brand"] = json!("b.rand");
                decl["type_params"] = json!([{"name": "T", "bound": "any"}]);
            }
            let decreases = decreases.filter(|_| !is_async);
            for (key, value) in [("requires", requires), ("ensures", ensures), ("decreases", decreases)] {
                if let Some(value) = value {
                    decl[key] = value;
                }
            }
            if let Some(invariants) = invariants.filter(|_| loops > 0) {
                let contract = json!({"ptr": "/decls/0/body/1", "invariant": invariants});
                decl["loop_contracts"] = Value::Array(vec![contract; loops]);
            }
            decl
        },
    )
}

fn document() -> impl Strategy<Value = Value> {
    let externs =
        json!({"kind": "extern", "abi": "C", "name": "m.c", "params": [{"name": "x", "ty": "i32"}], "result": "void"});
    let decls = (function("m.a"), function("m.b"), prop::bool::ANY).prop_map(move |(a, b, exports)| {
        let mut decls = vec![b, a, externs.clone()];
        if exports {
            decls.push(json!({"kind": "export", "names": ["m.b", "m.a", "x.other"]}));
        }
        decls
    });
    (decls, prop::option::of(expression()), prop::option::of("[a-z]{1,30}")).prop_map(|(decls, solve, meta)| {
        let mut document = json!({
            "schema_version": "x07.x07ast@0.8.0", "kind": if solve.is_some() { "entry" } else { "module" },
            "module_id": "m", "imports": ["std.y", "std.x", "std.unused"], "decls": decls,
        });
        if let Some(solve) = solve {
            document["solve"] = solve;
        }
        if let Some(meta) = meta {
            document["meta"] = json!({"k": {"deep": meta}});
        }
        document
    })
}

/// All pointers of a document.
fn pointers(value: &Value, prefix: &str, out: &mut Vec<String>) {
    out.push(prefix.to_owned());
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| pointers(item, &format!("{prefix}/{index}"), out));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(key, field)| pointers(field, &format!("{prefix}/{key}"), out));
        }
        _ => {}
    }
}

fn bound() -> impl Strategy<Value = Option<u64>> {
    prop::option::of(prop_oneof![0..8_u64, 90..700_u64, Just(u64::MAX)])
}

fn request() -> impl Strategy<Value = (prop::sample::Index, SliceRequest)> {
    let enclosures = vec![Enclosure::Decl, Enclosure::Defn, Enclosure::Module];
    let closures = vec![Closure::All, Closure::Locals, Closure::Types, Closure::Imports];
    let readings = vec![PointerSpace::File, PointerSpace::Canonical, PointerSpace::Toolchain];
    let words = (prop::sample::select(readings), prop::sample::select(enclosures), prop::sample::select(closures));
    (any::<prop::sample::Index>(), words, bound(), bound()).prop_map(
        |(index, (pointer_space, enclosure, closure), max_nodes, max_bytes)| {
            (index, SliceRequest { pointer: String::new(), pointer_space, enclosure, closure, max_nodes, max_bytes })
        },
    )
}

fn validator() -> &'static jsonschema::Validator {
    static VALIDATOR: std::sync::OnceLock<jsonschema::Validator> = std::sync::OnceLock::new();
    VALIDATOR.get_or_init(|| {
        let schema = schemars::schema_for!(stan_model::document::x07_schema::SliceDocument);
        jsonschema::validator_for(schema.as_value()).unwrap()
    })
}

fn heads(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            out.extend(items.first().and_then(Value::as_str).map(str::to_owned));
            items.iter().for_each(|item| heads(item, out));
        }
        Value::Object(fields) => fields.values().for_each(|field| heads(field, out)),
        _ => {}
    }
}

/// Everything that a slice refers to is in it.
fn check_references(ast: &Map<String, Value>, request: &SliceRequest) {
    let decls = ast["decls"].as_array().unwrap();
    let mut used = Vec::new();
    decls.iter().filter(|decl| decl["kind"] != "export").for_each(|decl| heads(decl, &mut used));
    ast.get("solve").into_iter().for_each(|solve| heads(solve, &mut used));
    let is_pointer_into_imports = request.pointer.starts_with("/imports");
    for import in ast["imports"].as_array().unwrap() {
        let prefix = format!("{}.", import.as_str().unwrap());
        assert!(is_pointer_into_imports || used.iter().any(|head| head.starts_with(&prefix)), "unused import {import}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_request_gives_a_valid_slice_in_bounds_or_a_reason(document in document(), (index, request) in request()) {
        let mut all = Vec::new();
        pointers(&document, "", &mut all);
        let request = SliceRequest { pointer: index.get(&all).clone(), ..request };
        let bytes = serde_json::to_vec(&document).unwrap();
        let module = read_module(&bytes).unwrap();
        match stan_slice::slice(&module, &X07, &request) {
            Ok(slice) => {
                let ast: Value = serde_json::from_slice(&slice.ast).unwrap();
                prop_assert_eq!(&slice.ast, &stan_model::jcs::to_vec(&ast).unwrap());
                prop_assert!(slice.ast.len() as u64 <= request.max_bytes.unwrap_or(u64::MAX));
                let decls = ast["decls"].as_array().unwrap().len() as u64;
                prop_assert!(decls <= request.max_nodes.unwrap_or(u64::MAX));
                let errors: Vec<String> = validator().iter_errors(&ast).map(|error| error.to_string()).collect();
                prop_assert!(errors.is_empty(), "{errors:?}");
                prop_assert!(read_module(&slice.ast).is_ok(), "a slice is a module");
                check_references(ast.as_object().unwrap(), &request);
                prop_assert_eq!(slice.meta.truncated, !slice.diagnostics.is_empty());
                if !slice.meta.truncated {
                    let target = slice.meta.ptr_remap.first().map_or(&request.pointer, |remap| &remap.to);
                    prop_assert!(ast.pointer(target).is_some(), "{target} is lost");
                }
                // A slice that fits is not cut further.
                let exact = SliceRequest { max_bytes: Some(slice.ast.len() as u64), ..request.clone() };
                prop_assert_eq!(&stan_slice::slice(&module, &X07, &exact).unwrap().ast, &slice.ast);
                // Without an edit, nothing changes.
                let cut = read_module(&slice.ast).unwrap();
                let applied = stan_slice::apply(&module, &cut, &cut, &X07).unwrap();
                let again = read_module(&applied.document).unwrap();
                let [back, canonical] = [&again, &module].map(|module| stan_slice::canonical_document(module, &X07).unwrap());
                prop_assert_eq!(String::from_utf8(back), String::from_utf8(canonical));
                prop_assert!(applied.changed.is_empty());
            }
            Err(SliceError::CannotTruncate { max_bytes, minimum }) => {
                prop_assert!(minimum > max_bytes);
                let smallest = SliceRequest { max_bytes: Some(minimum), ..request };
                let slice = stan_slice::slice(&module, &X07, &smallest).unwrap();
                prop_assert_eq!(slice.ast.len() as u64, minimum);
            }
            Err(_) => {}
        }
    }

    /// Any text as a pointer: no panic.
    #[test]
    fn any_pointer_is_answered(document in document(), pointer in "[/~0-9a-z ]{0,24}|/decls/[0-9]{1,3}(/[a-z0-9]{1,6}){0,4}") {
        let bytes = serde_json::to_vec(&document).unwrap();
        let module = read_module(&bytes).unwrap();
        let _ = stan_slice::slice(&module, &X07, &common::whole(&pointer));
        let _ = stan_slice::slice(&module, &X07, &common::at(&pointer));
    }

    /// Any bytes as a file, and valid files with one byte changed: no panic.
    #[test]
    fn any_file_is_answered(document in document(), place in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = serde_json::to_vec(&document).unwrap();
        let place = place.index(bytes.len());
        bytes[place] = byte;
        if let Ok(module) = read_module(&bytes) {
            let _ = stan_slice::slice(&module, &X07, &common::whole(""));
        }
    }
}
