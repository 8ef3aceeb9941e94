//! Where the slicer differs from the x07 toolchain on purpose, and why: one test per point of `docs/x07.md`.

mod common;

use common::{
    Closure, as_toolchain, ast, at, clause, defn, defn_with, entry, export, module, names, slice, value_of, whole,
};
use serde_json::json;
use stan_model::document::x07::TruncationReason;
use stan_slice::{SliceError, SliceRequest};

#[test]
fn n01_pointers_address_the_file_as_written_if_requested() {
    let document = module(&[], &[defn("m.z", json!(["m.a"])), defn("m.a", json!(1)), export(&["m.z", "m.a"])]);
    let slice = slice(&document, &at("/decls/0/body")).unwrap();
    assert_eq!(names(&value_of(&slice)), ["m.z", "export", "m.a"]);
    assert!(slice.meta.ptr_remap.is_empty(), "the focus is first in the file and in the slice");
    // Names are sorted in the slice; the pointer follows its name.
    let by_name = common::slice(&document, &whole("/decls/2/names/0")).unwrap();
    assert_eq!(by_name.meta.ptr, "/decls/2/names/0");
    assert_eq!(by_name.meta.ptr_remap[0].to, "/decls/0/names/1");
    // Imports too.
    let imports = common::slice(&module(&["std.b", "std.a"], &[]), &whole("/imports/0")).unwrap();
    assert_eq!(imports.meta.ptr_remap[0].to, "/imports/1");
    // A complete export that stays in place has not moved, although its names are sorted.
    let unmoved = module(&[], &[export(&["m.z", "m.a"]), defn("m.a", json!(1)), defn("m.z", json!(1))]);
    assert!(common::slice(&unmoved, &whole("/decls/0/names/0")).unwrap().meta.ptr_remap.is_empty());
    let foreign = module(&[], &[export(&["m.a", "m.b.other", "m.z"]), defn("m.a", json!(1)), defn("m.z", json!(1))]);
    assert_eq!(common::slice(&foreign, &whole("/decls/0/names/2")).unwrap().meta.ptr_remap[0].to, "/decls/0/names/1");
}

#[test]
fn n01_the_toolchain_reads_pointers_in_the_canonical_document() {
    let document =
        module(&["std.b", "std.a"], &[defn("m.z", json!(["m.a"])), defn("m.a", json!(1)), export(&["m.z", "m.a"])]);
    let check = |pointer: &str, focus: &str, to: Option<&str>| {
        let slice = slice(&document, &as_toolchain(at(pointer))).unwrap();
        assert_eq!(names(&value_of(&slice))[0], focus, "{pointer}");
        assert_eq!(slice.meta.ptr_remap.first().map(|remap| remap.to.as_str()), to, "{pointer}");
    };
    check("/decls/0", "export", None);
    check("/decls/0/names/1", "export", None);
    check("/decls/1", "m.a", Some("/decls/0"));
    check("/decls/2/body/0", "m.z", Some("/decls/0/body/0"));
    assert!(slice(&document, &as_toolchain(at("/decls/3"))).is_err());
    assert!(slice(&document, &as_toolchain(whole("/imports/1"))).unwrap().meta.ptr_remap.is_empty());
    // A canonical entry has no export, so its functions are counted without it.
    let entry = entry(&[], &[export(&["m.f"]), defn("m.f", json!(1))], &json!(0));
    assert_eq!(names(&ast(&entry, &as_toolchain(at("/decls/0")))), ["m.f"]);
    assert_eq!(names(&ast(&entry, &at("/decls/1"))), ["m.f"]);
}

#[test]
fn n01_only_an_unsorted_file_has_two_readings() {
    let check = |document: &serde_json::Value, pointer: &str, differ: bool| {
        let bytes = serde_json::to_vec(document).unwrap();
        let module = stan_lang::x07::read_module(&bytes).unwrap();
        assert_eq!(stan_slice::readings_differ(&module, &stan_lang::x07::X07, pointer), differ, "{pointer}");
    };
    let sorted = module(&["std.a"], &[defn("m.a", json!(1)), defn("m.z", json!(1))]);
    let unsorted = module(&["std.b", "std.a"], &[defn("m.z", json!(1)), defn("m.a", json!(1))]);
    for pointer in ["", "/decls", "/decls/0", " /decls/1/body ", "/decls/7", "/imports/0", "no pointer"] {
        check(&sorted, pointer, false);
    }
    for (pointer, differ) in
        [("", false), ("/decls/0", true), ("/decls/1/body", true), ("/imports/0", true), ("/decls/7", false)]
    {
        check(&unsorted, pointer, differ);
    }
}

#[test]
fn n02_loop_pointers_follow_their_function() {
    let contracts = json!([{"ptr": "/decls/1/body/2", "invariant": [{"expr": 1}]}, {"ptr": "elsewhere"}]);
    let document = module(
        &[],
        &[defn("m.a", json!(1)), defn_with("m.loop", json!(["begin", 0, ["m.a"]]), "loop_contracts", contracts)],
    );
    let pointers = |request| {
        let ast = ast(&document, &request);
        let decl = ast["decls"].as_array().unwrap().iter().find(|decl| decl["name"] == "m.loop").unwrap().clone();
        (decl["loop_contracts"][0]["ptr"].as_str().unwrap().to_owned(), decl["loop_contracts"][1]["ptr"].clone())
    };
    assert_eq!(pointers(at("/decls/1")), ("/decls/0/body/2".to_owned(), json!("elsewhere")));
    assert_eq!(pointers(whole("")).0, "/decls/1/body/2");
}

#[test]
fn n03_every_contract_refers() {
    let document = module(
        &["std.d", "std.l"],
        &[
            defn_with("m.f", json!(0), "decreases", clause(json!(["m.helper", ["std.d.x"]]))),
            defn("m.helper", json!(1)),
            defn_with(
                "m.g",
                json!(0),
                "loop_contracts",
                json!([{"ptr": "/decls/2/body", "invariant": [{"expr": ["std.l.x"]}]}]),
            ),
        ],
    );
    let with_decreases = ast(&document, &at("/decls/0"));
    assert_eq!(names(&with_decreases), ["m.f", "m.helper"]);
    assert_eq!(with_decreases["imports"], json!(["std.d"]));
    assert_eq!(ast(&document, &at("/decls/2"))["imports"], json!(["std.l"]));
    let protocol = json!({"schema_version": "x07.x07ast@0.8.0", "kind": "module", "module_id": "m", "imports": [], "decls": [
        {"kind": "defasync", "name": "m.task", "params": [], "result": "bytes", "body": 0, "protocol": {"await_invariant": [{"expr": ["m.ok"]}]}},
        defn("m.ok", json!(1)),
    ]});
    assert_eq!(names(&ast(&protocol, &at("/decls/0"))), ["m.task", "m.ok"]);
}

#[test]
fn n04_after_a_cut_no_reference_is_dangling() {
    let document = entry(
        &["std.a", "std.b", "std.s"],
        &[defn("m.f", json!(["m.g", ["std.a.x"]])), defn("m.g", json!(["std.b.x"]))],
        &json!(["std.s.x", ["m.f"]]),
    );
    // If `solve` is not in the slice, its imports are not either.
    assert_eq!(ast(&document, &at("/decls/0"))["imports"], json!(["std.a", "std.b"]));
    let cut = slice(&document, &SliceRequest { max_nodes: Some(1), ..at("/decls/0") }).unwrap();
    assert_eq!(value_of(&cut)["imports"], json!(["std.a"]));
    let data = cut.diagnostics[0].data.as_ref().unwrap();
    assert_eq!(data.dropped_decls, ["m.g"]);
    let exported = module(&[], &[export(&["m.f", "m.g"]), defn("m.f", json!(["m.g"])), defn("m.g", json!(1))]);
    let cut = ast(&exported, &SliceRequest { max_nodes: Some(2), ..at("/decls/1") });
    assert_eq!(cut["decls"][1]["names"], json!(["m.f"]));
    // An export is dropped before the last declaration that it names.
    let cut = ast(&exported, &SliceRequest { max_nodes: Some(1), ..whole("") });
    assert_eq!(names(&cut), ["m.f"]);
}

#[test]
fn n04_the_smallest_document_is_as_small_as_reported() {
    let check = |document: &serde_json::Value, request: &SliceRequest| {
        let Err(SliceError::CannotTruncate { minimum, .. }) = slice(document, request) else { panic!("met") };
        let met = slice(document, &SliceRequest { max_bytes: Some(minimum), ..request.clone() }).unwrap();
        assert_eq!(met.ast.len() as u64, minimum, "the smallest document is as small as reported");
        assert_eq!(met.meta.truncation.as_ref().unwrap().bytes_after, minimum, "reported as written");
        value_of(&met)
    };
    let long = ["m.a", "m.bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"];
    let exported = module(&[], &[export(&long), defn(long[0], json!("x".repeat(99))), defn(long[1], json!(1))]);
    check(&exported, &SliceRequest { max_bytes: Some(120), ..at("/decls/0/names/0") });
    let solved = entry(&["std.one", "std.two"], &[], &json!(["std.one.x", ["std.two.x"]]));
    let met = check(&solved, &SliceRequest { max_bytes: Some(100), ..whole("/solve/1") });
    assert_eq!((&met["imports"], &met["solve"]), (&json!([]), &json!(0)));
    // Without the import of a dropped declaration, there is room for the body in focus.
    let body = json!(["m.g", ["f", "here"]]);
    let import = format!("std.{}", "i".repeat(60));
    let called = module(&[&import], &[defn("m.f", body.clone()), defn("m.g", json!([format!("{import}.x")]))]);
    let alone =
        slice(&called, &SliceRequest { max_nodes: Some(1), ..at("/decls/0/body/1/1") }).unwrap().ast.len() as u64;
    let cut = ast(&called, &SliceRequest { max_bytes: Some(alone), ..at("/decls/0/body/1/1") });
    assert_eq!((names(&cut), &cut["decls"][0]["body"]), (vec!["m.f"], &body));
}

#[test]
fn n05_an_export_in_focus_stays() {
    let document = module(&[], &[export(&["m.f", "other.x"]), defn("m.f", json!(1))]);
    for closure in [Closure::Types, Closure::Imports] {
        let ast = ast(&document, &SliceRequest { closure, ..at("/decls/0") });
        assert_eq!(ast["decls"], json!([export(&["m.f", "other.x"])]));
    }
    let only_foreign = module(&[], &[export(&["other.x"])]);
    assert_eq!(ast(&only_foreign, &at("/decls/0"))["decls"], json!([export(&["other.x"])]));
    let cut = ast(&document, &SliceRequest { max_nodes: Some(1), ..at("/decls/0/names/0") });
    assert_eq!(cut["decls"], json!([export(&["m.f"])]));
    // If a bound drops all declarations that it names, it keeps its names, as if they had not been requested.
    let two = module(&[], &[export(&["m.f", "m.g"]), defn("m.f", json!(1)), defn("m.g", json!(1))]);
    for (max_nodes, left) in [(1, vec!["m.f", "m.g"]), (2, vec!["m.f"])] {
        let cut = ast(&two, &SliceRequest { max_nodes: Some(max_nodes), ..at("/decls/0") });
        assert_eq!(cut["decls"][0], export(&left));
    }
    // The canonical entry has no export; a pointer to it includes it.
    let entry = entry(&[], &[export(&["m.f"]), defn("m.f", json!(1))], &json!(0));
    assert_eq!(names(&ast(&entry, &at("/decls/0"))), ["export", "m.f"]);
    assert_eq!(names(&ast(&entry, &whole(""))), ["m.f"]);
}

#[test]
fn n05_an_entry_expression_in_focus_stays_in_any_document() {
    let mut document = module(&["std.a", "std.b"], &[defn("m.f", json!(["std.b.x"]))]);
    document["solve"] = json!(["m.f", ["std.a.x"]]);
    let focused = ast(&document, &whole("/solve/1/0"));
    assert_eq!((&focused["solve"], &focused["imports"]), (&document["solve"], &document["imports"]));
    assert_eq!(ast(&document, &whole("/decls/0")).get("solve"), None, "a module has none of its own");
}

#[test]
fn n06_no_body_where_there_is_none() {
    let record =
        json!({"kind": "defrecord", "name": "m.r", "doc": "d".repeat(300), "fields": [{"name": "x", "ty": "i32"}]});
    let mut document = module(&[], &[record]);
    document["schema_version"] = json!("x07.x07ast@0.9.0");
    let error = slice(&document, &SliceRequest { max_bytes: Some(200), ..at("/decls/0") }).unwrap_err();
    assert!(matches!(error, SliceError::CannotTruncate { max_bytes: 200, minimum: 201.. }), "{error}");
}

#[test]
fn n07_drops_move_the_pointer_along() {
    let body = json!(["begin", ["m.a"], ["m.b", 12345, ["std.x.y", 1, 2, 3]]]);
    let document = module(&[], &[defn("m.a", json!(1)), defn("m.b", json!(2)), defn("m.z", body)]);
    let cut = slice(&document, &SliceRequest { max_nodes: Some(1), ..whole("/decls/2/body/2/1") }).unwrap();
    assert_eq!(cut.meta.ptr_remap[0].to, "/decls/0/body/2/1");
    let value = value_of(&cut);
    assert_eq!(value.pointer("/decls/0/body/2/1"), Some(&json!(12345)));
    let small = slice(&document, &SliceRequest { max_bytes: Some(190), ..whole("/decls/2/body/2/1") }).unwrap();
    assert_eq!(value_of(&small).pointer(&small.meta.ptr_remap[0].to), Some(&json!(12345)));
}

#[test]
fn n08_two_bounds_one_reason() {
    let document = module(
        &[],
        &[
            defn("m.a", json!(["m.b", ["m.c"], "a-rather-long-word-that-is-cut-away"])),
            defn("m.b", json!(1)),
            defn("m.c", json!(1)),
        ],
    );
    let cut = slice(&document, &SliceRequest { max_nodes: Some(2), max_bytes: Some(180), ..at("/decls/0") }).unwrap();
    assert_eq!(cut.meta.truncation.as_ref().unwrap().reason, TruncationReason::Both);
    assert_eq!(cut.diagnostics.len(), 1);
    assert_eq!(cut.diagnostics[0].message, "x07 ast slice truncated (max_nodes+max_bytes)");
}

#[test]
fn n09_pruned_forms_stay_forms() {
    let check = |body: serde_json::Value, pointer: &str, max_bytes: u64, expected: serde_json::Value| {
        let document = module(&[], &[defn("m.f", body)]);
        let cut =
            ast(&document, &SliceRequest { max_bytes: Some(max_bytes), ..at(&format!("/decls/0/body{pointer}")) });
        assert_eq!(cut["decls"][0]["body"], expected);
    };
    let long = json!(["long", "x".repeat(200)]);
    check(json!(["let", "x", ["+", "here", long]]), "/2/1", 200, json!(["let", "x", ["+", "here"]]));
    check(json!(["for", "i", long, 9, ["f", "here", long]]), "/4/1", 220, json!(["for", "i", 0, 0, ["f", "here"]]));
    check(json!(["if", "here", long, long]), "/1", 200, json!(["if", "here", 0, 0]));
    check(
        json!(["match", "v", ["Some", "x", long], ["None", "here"]]),
        "/3/1",
        220,
        json!(["match", 0, ["Some", "x", 0], ["None", "here"]]),
    );
    check(json!(["begin", long, ["bytes.lit", "a b"], long]), "/2/1", 200, json!(["begin", 0, ["bytes.lit", "a b"]]));
}

#[test]
fn n10_cuts_are_made_in_the_documented_order() {
    let mut document = module(
        &[],
        &[defn_with(
            "m.f",
            json!(["f", "here", "x".repeat(100)]),
            "requires",
            clause(json!(["=", "y".repeat(100), 1])),
        )],
    );
    document["meta"] = json!({"tool": "z".repeat(200)});
    let kept = |max_bytes: u64| {
        let cut = ast(&document, &SliceRequest { max_bytes: Some(max_bytes), ..at("/decls/0/body/1") });
        let decl = &cut["decls"][0];
        (cut.get("meta").is_some(), decl["body"].to_string().len(), decl.get("requires").is_some())
    };
    let full = slice(&document, &at("/decls/0/body/1")).unwrap().ast.len() as u64;
    assert_eq!(kept(full), (true, 115, true));
    assert_eq!(kept(full - 1), (true, 12, true), "what is off the path goes first");
    assert_eq!(kept(full - 150), (true, 12, false), "then contracts");
    assert_eq!(kept(full - 300), (false, 12, true), "metadata stays when that suffices, and else goes before it");
    assert_eq!(kept(full - 400), (false, 12, false));
    // Any declaration may be dropped, including the last one.
    let other = module(&[], &[defn("m.f", json!("x".repeat(100)))]);
    assert_eq!(names(&ast(&other, &SliceRequest { max_bytes: Some(150), ..whole("") })), Vec::<&str>::new());
    // All declarations are dropped before an entry expression in focus is cut.
    let solve = json!(["m.f", ["g", "here"], "y".repeat(200)]);
    let called = entry(&[], &[defn("m.f", json!("x".repeat(100)))], &solve);
    let left = |max_bytes| {
        let cut = ast(&called, &SliceRequest { max_bytes: Some(max_bytes), ..whole("/solve/1/1") });
        (names(&cut).len(), cut["solve"].clone())
    };
    let alone = ast(&called, &SliceRequest { max_nodes: Some(1), ..whole("/solve/1/1") }).to_string().len() as u64 - 1;
    assert_eq!(left(alone), (0, solve.clone()));
    assert_eq!(left(alone - 200), (0, json!(["m.f", ["g", "here"]])));
    assert_eq!(left(110), (0, json!(0)));
    // If a budget cannot be met, the error has the smallest possible one.
    let error = slice(&document, &SliceRequest { max_bytes: Some(10), ..at("/decls/0") }).unwrap_err();
    let SliceError::CannotTruncate { minimum, .. } = error else { panic!("{error}") };
    assert_eq!(
        slice(&document, &SliceRequest { max_bytes: Some(minimum), ..at("/decls/0") }).unwrap().ast.len() as u64,
        minimum
    );
    assert!(slice(&document, &SliceRequest { max_bytes: Some(minimum - 1), ..at("/decls/0") }).is_err());
}

#[test]
fn n10_only_requires_ensures_and_invariant_are_cut_for_bytes() {
    let protocol = json!({"await_invariant": [{"expr": ["=", "p".repeat(200), 1]}]});
    let mut task = defn_with("m.task", json!(["begin", "b".repeat(100)]), "protocol", protocol);
    task["kind"] = json!("defasync");
    task["result"] = json!("bytes");
    task["ensures"] = clause(json!(["=", "e".repeat(100), 1]));
    let document = module(&[], &[task]);
    let cut = ast(&document, &SliceRequest { max_bytes: Some(460), ..at("/decls/0") });
    assert_eq!((cut["decls"][0].get("ensures"), &cut["decls"][0]["body"]), (None, &json!(0)));
    assert!(cut["decls"][0].get("protocol").is_some());
    assert!(slice(&document, &SliceRequest { max_bytes: Some(300), ..at("/decls/0") }).is_err());
}

#[test]
fn n11_the_enclosure_of_a_module_is_the_document() {
    let mut document = module(&["std.a"], &[defn("m.f", json!(["std.a.x"])), defn("m.g", json!(1))]);
    document["meta"] = json!({"k": 1});
    for pointer in
        ["", "/imports", "/imports/0", "/meta", "/meta/k", "/decls", "/kind", "/module_id", "/schema_version"]
    {
        assert_eq!(names(&ast(&document, &whole(pointer))), ["m.f", "m.g"], "{pointer}");
    }
    assert_eq!(names(&ast(&document, &whole("/decls/0"))), ["m.f"], "a focus has its closure");
    // Any bound that the toolchain meets can be met with the toolchain's contents.
    let smallest = slice(&document, &as_toolchain(whole("/kind"))).unwrap().ast.len() as u64;
    let cut = slice(&document, &SliceRequest { max_bytes: Some(smallest), ..whole("/kind") }).unwrap();
    assert_eq!(cut.ast.len() as u64, smallest);
    // For the toolchain, such a pointer selects only the location.
    for pointer in ["/imports", "/meta", "/decls", "/kind"] {
        assert_eq!(names(&ast(&document, &as_toolchain(whole(pointer)))), Vec::<&str>::new(), "{pointer}");
    }
    assert_eq!(names(&ast(&document, &as_toolchain(whole("")))), ["m.f", "m.g"]);
}

#[test]
fn n12_a_thousand_drops_cost_one_look_at_each() {
    let decls: Vec<_> = (0..3000).map(|i| defn(&format!("m.f{i:04}"), json!(["m.f0000", i, "x".repeat(40)]))).collect();
    let document = module(&[], &decls);
    let cut = slice(&document, &SliceRequest { max_bytes: Some(2000), ..whole("") }).unwrap();
    assert!(cut.ast.len() <= 2000 && cut.ast.len() > 1800);
    assert_eq!(cut.diagnostics[0].data.as_ref().unwrap().dropped_decls.len() + names(&value_of(&cut)).len(), 3000);
}

#[test]
fn n13_reserved_keys_are_data() {
    let mut document = module(&[], &[defn("m.f", json!(1))]);
    document["meta"] = json!({"__x07_internal_defn_decreases": {"m.f": [17]}});
    assert_eq!(ast(&document, &whole(""))["meta"], document["meta"]);
}

#[test]
fn n14_numbers_are_exact_or_an_error() {
    let mut document = module(&[], &[]);
    document["meta"] = json!({"b": 1.50, "\u{1f600}": 1e21, "\u{fb33}": -0.0});
    let canonical = String::from_utf8(slice(&document, &whole("")).unwrap().ast).unwrap();
    assert!(canonical.contains("\"meta\":{\"b\":1.5,\"😀\":1e+21,\"\u{fb33}\":0}"), "{canonical}");
    document["meta"] = json!({"a": [0, 9_007_199_254_740_993_u64]});
    let error = slice(&document, &whole("")).unwrap_err();
    assert!(error.to_string().contains("9007199254740993") && error.to_string().contains("/meta/a/1"), "{error}");
}

#[test]
fn n15_without_types_all_contracts_are_omitted_and_reported() {
    let document = json!({"schema_version": "x07.x07ast@0.8.0", "kind": "module", "module_id": "m", "imports": [], "decls": [{
        "kind": "defn", "name": "m.f", "type_params": [{"name": "T"}], "result": "bytes", "result_brand": "b.out", "body": "x",
        "params": [{"name": "x", "ty": "bytes", "brand": "b.in"}], "decreases": [{"expr": 1}],
        "loop_contracts": [{"ptr": "/decls/0/body", "invariant": [{"expr": 1}]}],
    }]});
    let request = SliceRequest { closure: Closure::Locals, ..at("/decls/0") };
    let bare = slice(&document, &request).unwrap();
    assert_eq!(
        value_of(&bare)["decls"][0],
        json!({"kind": "defn", "name": "m.f", "params": [{"name": "x", "ty": "bytes"}], "result": "bytes", "body": "x"})
    );
    assert_eq!(bare.meta.missing.types, ["T", "contracts"]);
    // What is left out with the types is not measured.
    let whole_length = slice(&document, &at("/decls/0")).unwrap().ast.len() as u64;
    let roomy = slice(&document, &SliceRequest { max_bytes: Some(whole_length), ..request.clone() }).unwrap();
    assert_eq!((&roomy.ast, roomy.meta.truncated), (&bare.ast, false));
    let exact = SliceRequest { max_bytes: Some(bare.ast.len() as u64), ..request };
    assert_eq!(slice(&document, &exact).unwrap().ast, bare.ast);
    // A pointer into a contract includes the types: the focus is never left out.
    for pointer in ["/decls/0/decreases/0/expr", "/decls/0/loop_contracts/0", "/decls/0/params/0/brand"] {
        let slice = slice(&document, &SliceRequest { closure: Closure::Locals, ..at(pointer) }).unwrap();
        assert!(!slice.meta.omitted.types, "{pointer}");
    }
}
