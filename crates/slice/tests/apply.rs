//! Applying edited slices: an edit reaches its location in the module, and nothing else changes.

#[expect(dead_code, reason = "only a part of it is used here")]
mod common;

use common::{PointerSpace, clause, defn, defn_with, entry, export, module};
use serde_json::{Value, json};
use stan_lang::x07::{X07, read_module};
use stan_slice::{ApplyError, SliceRequest};

/// A pointer into the canonical document, the default.
fn at(pointer: &str) -> SliceRequest {
    SliceRequest { pointer_space: PointerSpace::Canonical, ..common::at(pointer) }
}

/// The same, for the whole module.
fn whole(pointer: &str) -> SliceRequest {
    SliceRequest { pointer_space: PointerSpace::Canonical, ..common::whole(pointer) }
}

/// Slices, edits and applies; returns the canonical module, and what was changed.
fn apply(
    document: &Value,
    request: &SliceRequest,
    edit: impl FnOnce(&mut Value),
) -> Result<(Value, Vec<String>), ApplyError> {
    let bytes = serde_json::to_vec(document).unwrap();
    let module = read_module(&bytes).unwrap();
    let slice = stan_slice::slice(&module, &X07, request).unwrap();
    let mut edited: Value = serde_json::from_slice(&slice.ast).unwrap();
    edit(&mut edited);
    let edited = serde_json::to_vec(&edited).unwrap();
    let applied = stan_slice::apply(&module, &read_module(&slice.ast).unwrap(), &read_module(&edited).unwrap(), &X07)?;
    let merged = stan_slice::canonical_document(&read_module(&applied.document).unwrap(), &X07).unwrap();
    Ok((serde_json::from_slice(&merged).unwrap(), applied.changed))
}

fn sample() -> Value {
    let mut document = module(
        &["std.a", "std.b", "std.unused"],
        &[
            defn_with(
                "m.f",
                json!(["m.g", ["std.a.x", "here"], ["long", 1, 2]]),
                "requires",
                clause(json!(["=", 1, 1])),
            ),
            defn("m.g", json!(["std.b.x", 2])),
            defn("m.z", json!(["std.a.y"])),
            export(&["m.f", "m.z", "other.n"]),
        ],
    );
    document["meta"] = json!({"k": [1, 2.5, 51.248_178_375_505_404]});
    document
}

/// The canonical form of `sample`.
fn canonical() -> Value {
    let mut document = sample();
    document["decls"].as_array_mut().unwrap().rotate_right(1);
    document
}

#[test]
fn an_edited_body_goes_to_its_declaration_and_nothing_else_changes() {
    let (merged, changed) = apply(&sample(), &at("/decls/1"), |slice| {
        slice["decls"][0]["body"][1][1] = json!("there");
    })
    .unwrap();
    let mut expected = canonical();
    expected["decls"][1]["body"][1][1] = json!("there");
    assert_eq!((merged, changed), (expected, vec!["m.f".to_owned()]));
}

#[test]
fn declarations_outside_the_slice_stay() {
    // Pruned, without its contracts and without the functions it calls.
    let cut = SliceRequest { max_bytes: Some(210), ..at("/decls/1/body/1/1") };
    let (merged, _) = apply(&sample(), &cut, |slice| {
        assert_eq!(slice["decls"][0]["body"], json!(["m.g", ["std.a.x", "here"]]));
        slice["decls"][0]["body"][1][1] = json!("there");
    })
    .unwrap();
    let mut expected = canonical();
    expected["decls"][1]["body"][1][1] = json!("there");
    assert_eq!(merged, expected);
    // An edit of a pruned part would lose it.
    let error = apply(&sample(), &cut, |slice| slice["decls"][0]["body"] = json!(["m.g", 1, 2, 3])).unwrap_err();
    assert_eq!(error, ApplyError::CutAway { pointer: "/decls/1/body".to_owned() });
    let untyped = SliceRequest { closure: common::Closure::Locals, ..at("/decls/1") };
    let error = apply(&sample(), &untyped, |slice| slice["decls"][0]["requires"] = clause(json!(2))).unwrap_err();
    assert_eq!(error, ApplyError::CutAway { pointer: "/decls/1/requires".to_owned() });
}

#[test]
fn declarations_are_added_and_renamed_but_never_lost() {
    let (merged, changed) = apply(&sample(), &at("/decls/1"), |slice| {
        slice["decls"].as_array_mut().unwrap().push(defn("m.new", json!(1)));
        slice["imports"].as_array_mut().unwrap().push(json!("std.new"));
        slice["decls"][0]["name"] = json!("m.first");
        slice["decls"][1]["names"] = json!(["m.first", "m.new"]);
    })
    .unwrap();
    let names: Vec<&str> = common::names(&merged);
    assert_eq!(names, ["export", "m.first", "m.g", "m.new", "m.z"]);
    assert_eq!(merged["decls"][0]["names"], json!(["m.first", "m.new", "m.z", "other.n"]));
    assert_eq!(merged["imports"], json!(["std.a", "std.b", "std.new", "std.unused"]));
    assert_eq!(changed, ["export", "m.first", "m.new"]);
    let lost = |slice: &mut Value| drop(slice["decls"].as_array_mut().unwrap().pop());
    assert_eq!(apply(&sample(), &at("/decls/1"), lost), Err(ApplyError::Removed { name: "m.g".to_owned() }));
    let twice = |slice: &mut Value| slice["decls"].as_array_mut().unwrap().push(defn("m.z", json!(1)));
    assert_eq!(apply(&sample(), &at("/decls/1"), twice), Err(ApplyError::Exists { name: "m.z".to_owned() }));
    let moved = |slice: &mut Value| slice["schema_version"] = json!("x07.x07ast@0.9.0");
    let error = apply(&sample(), &at("/decls/1"), moved).unwrap_err();
    assert_eq!(error, ApplyError::Fixed { pointer: "/schema_version".to_owned() });
}

#[test]
fn an_import_goes_when_nothing_uses_it_any_more() {
    let drop_call = |slice: &mut Value| {
        slice["decls"][2]["body"] = json!(0);
        slice["imports"] = json!(["std.a"]);
    };
    let (merged, _) = apply(&sample(), &at("/decls/1"), drop_call).unwrap();
    assert_eq!(merged["imports"], json!(["std.a", "std.unused"]));
    // Another declaration outside of the slice still uses this import.
    let drop_shared = |slice: &mut Value| {
        slice["decls"][0]["body"][1] = json!(0);
        slice["imports"] = json!(["std.b"]);
    };
    let (merged, _) = apply(&sample(), &at("/decls/1"), drop_shared).unwrap();
    assert_eq!(merged["imports"], json!(["std.a", "std.b", "std.unused"]));
}

#[test]
fn the_entry_expression_and_loop_pointers_find_their_place() {
    let looped = defn_with(
        "m.z",
        json!(["for", "i", 0, 9, 1]),
        "loop_contracts",
        json!([{"ptr": "/decls/1/body", "invariant": [{"expr": 1}], "decreases": []}]),
    );
    let document = entry(&[], &[defn("m.a", json!(["m.z"])), looped], &json!(["m.a", ["m.z"]]));
    let (merged, _) = apply(&document, &whole("/solve/1"), |slice| slice["solve"][1] = json!(7)).unwrap();
    let mut expected = document.clone();
    expected["solve"][1] = json!(7);
    assert_eq!(merged, expected);
    let (merged, _) = apply(&document, &at("/decls/1"), |slice| slice["decls"][0]["body"][3] = json!(10)).unwrap();
    let mut expected = document.clone();
    expected["decls"][1]["body"][3] = json!(10);
    assert_eq!(merged, expected, "the loop pointer has its place in the module again");
}
