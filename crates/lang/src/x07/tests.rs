//! Parsing of small files: what is accepted, what is rejected with which pointer, and the canonical order.

use serde_json::{Value, json};
use stan_model::module::SourceModule;

use super::{read_module, read_project};

fn module(version: &str, decls: Value) -> Value {
    json!({"schema_version": format!("x07.x07ast@{version}"), "kind": "module", "module_id": "m", "imports": [], "decls": decls})
}

fn defn(fields: Value) -> Value {
    let mut decl = json!({"kind": "defn", "name": "m.f", "params": [], "result": "i32", "body": 0});
    for (key, value) in fields.as_object().unwrap() {
        decl[key] = value.clone();
    }
    decl
}

fn error(document: &Value) -> String {
    match read_module(document.to_string().as_bytes()) {
        Ok(_) => "fine".to_owned(),
        Err(error) => error.to_string(),
    }
}

fn check(document: &Value, expected: &str) {
    let found = error(document);
    assert!(found.contains(expected), "{found:?} lacks {expected:?}");
}

fn names(module: &SourceModule<'_>) -> Vec<String> {
    let name = |decl: &stan_model::module::Declaration<'_>| decl.name.as_deref().unwrap_or(decl.kind).to_owned();
    module.declarations.iter().map(name).collect()
}

#[test]
fn canonical_order_and_the_way_back() {
    let document = module(
        "0.9.0",
        json!([
            {"kind": "defenum", "name": "m.e", "variants": [{"name": "A"}]},
            {"kind": "defasync", "name": "m.t", "params": [], "result": "bytes", "body": 0},
            {"kind": "defn", "name": "m.z", "params": [], "result": "i32", "body": 0},
            {"kind": " defn ", "name": "m.a", "params": [], "result": "i32", "body": 0},
            {"kind": "extern", "abi": " C ", "name": "m.x", "params": [], "result": " void "},
            {"kind": "export", "names": []},
            {"kind": "export", "names": ["m.z", "m.a", "m.z"]},
            {"kind": "defrecord", "name": "zz!weird name", "fields": [{"name": "x", "ty": "u32"}]},
        ]),
    );
    let bytes = document.to_string().into_bytes();
    let module = read_module(&bytes).unwrap();
    assert_eq!(names(&module), ["export", "m.x", "m.a", "m.z", "m.t", "zz!weird name", "m.e"]);
    let expected = [6, 4, 3, 2, 1, 0, 0, 5].map(Some);
    assert_eq!(module.declaration_positions, expected);
    assert_eq!(module.declarations[0].exports.as_ref().unwrap().positions, [1, 0, 1]);
}

#[test]
fn fields_of_the_document() {
    let fine = module("0.8.0", json!([]));
    check(&fine, "fine");
    check(&json!([]), "root must be an object");
    check(&json!({}), "missing required field: schema_version");
    for (version, hint) in
        [("0.10.0", "upgrade the program"), ("0.2.0", "dependency package"), ("0.9", "dependency package")]
    {
        check(&module(version, json!([])), hint);
    }
    let with = |key: &str, value: Value| {
        let mut document = fine.clone();
        document[key] = value;
        document
    };
    check(&with("kind", json!(" entry ")), "fine");
    check(&with("kind", json!("Entry")), "at /kind");
    check(&with("module_id", json!("a..b")), "empty segment): \"a..b\" at /module_id");
    check(&with("imports", json!(["a", 1])), "imports[1] must be a string at /imports/1");
    check(&with("imports", json!(["-c"])), "at /imports");
    check(&with("decls", json!({})), "decls must be an array at /decls");
    check(&with("solve", json!(["+", 1.5])), "number is not an i64: 1.5 at /solve/1");
    check(&with("meta", json!(7)), "fine");
}

#[test]
fn mistakes_in_functions_are_reported_with_a_pointer() {
    let one = |fields: Value| module("0.8.0", json!([defn(fields)]));
    check(&one(json!({"name": "other.f"})), "must start with \"m.\"");
    check(&one(json!({"params": [{"name": "input", "ty": "i32"}]})), "'input' (reserved)");
    check(&one(json!({"params": [{"name": "x", "ty": "i32", "brand": "b"}]})), "E_BRAND_BAD_TY");
    check(&one(json!({"params": [{"name": "x", "ty": ["option", "bytes"], "brand": "b"}]})), "fine");
    check(&one(json!({"result": ["t", "a-b"]})), "at /decls/0/result/1");
    check(&one(json!({"result": ["option"]})), "at least 1 argument");
    check(&one(json!({"result": "void"})), "unknown type");
    check(&one(json!({"doc": null})), "doc must be a string at /decls/0/doc");
    check(&one(json!({"type_params": [{"name": "A"}, {"name": "A"}]})), "duplicate type param name");
    check(&one(json!({"ensures": [{}]})), "missing required field: expr at /decls/0/ensures/0");
    check(&one(json!({"protocol": {}})), "only supported on defasync");
    let twice = module("0.8.0", json!([defn(json!({})), defn(json!({}))]));
    check(&twice, "duplicate function name: \"m.f\" at /decls/1/name");
}

#[test]
fn fields_are_refused_before_their_schema_version() {
    let cases = [
        ("0.4.0", "requires", "since x07.x07ast@0.5.0"),
        ("0.5.0", "loop_contracts", "since x07.x07ast@0.6.0"),
        ("0.7.0", "decreases", "since x07.x07ast@0.8.0"),
        ("0.8.0", "decreases", "fine"),
        ("0.5.0", "requires", "fine"),
    ];
    for (version, key, expected) in cases {
        let mut fields = json!({});
        fields[key] = json!([]);
        check(&module(version, json!([defn(fields)])), expected);
    }
    check(&module("0.8.0", json!([{"kind": "defrecord"}])), "only supported in x07.x07ast@0.9.0 at /decls/0/kind");
}

#[test]
fn mistakes_in_expressions_are_reported_with_a_pointer() {
    let body = |body: Value| module("0.8.0", json!([defn(json!({"body": body}))]));
    check(&body(json!(["bytes.lit", "any text"])), "fine");
    check(&body(json!(["", ""])), "fine");
    check(&body(json!([])), "must not be empty at /decls/0/body");
    check(&body(json!(["f", [1]])), "list head must be an atom string at /decls/0/body/1/0");
    check(&body(json!(["f", "a\u{a0}b"])), "atom must not contain whitespace at /decls/0/body/1");
    check(&body(json!(["f", 2_147_483_648_i64])), "number out of i32 range");
    check(&body(json!(["f", true])), "unsupported JSON value in expr: true");
    check(&body(json!(["bytes.lit", 1, "a b"])), "at /decls/0/body/2");
}

#[test]
fn foreign_functions_and_nominal_types() {
    let external = |fields: Value| {
        let mut decl = json!({"kind": "extern", "abi": "C", "name": "m.f", "params": [], "result": "i32"});
        for (key, value) in fields.as_object().unwrap() {
            decl[key] = value.clone();
        }
        module("0.9.0", json!([decl]))
    };
    check(&external(json!({})), "fine");
    check(&external(json!({"name": "m.f-x"})), "invalid local name char");
    check(&external(json!({"name": "m.f-x", "link_name": "f"})), "fine");
    check(&external(json!({"params": [{"name": "x", "ty": "bytes"}]})), "at /decls/0/params/0/ty");
    check(&external(json!({"result": "f64"})), "extern result has unsupported type");
    let record = |fields: Value| module("0.9.0", json!([{"kind": "defrecord", "name": "m.r", "fields": fields}]));
    check(&record(json!([])), "at least one field");
    check(&record(json!([{"name": "x", "ty": "i32"}, {"name": "x", "ty": "i32"}])), "duplicate record field");
    check(&record(json!([{"name": "x", "ty": "bytes"}])), "at /decls/0/fields/0/ty");
}

#[test]
fn bodies_nested_too_deeply_are_refused_with_the_depth() {
    let nested = |depth: usize| {
        let body = format!("{}0{}", "[\"f\",".repeat(depth), "]".repeat(depth));
        module("0.8.0", json!([defn(json!({"body": "BODY"}))])).to_string().replace("\"BODY\"", &body)
    };
    assert!(read_module(nested(124).as_bytes()).is_ok());
    let error = read_module(nested(125).as_bytes()).err().unwrap();
    assert!(error.message.contains("containers may nest 127 deep"), "{error}");
}

#[test]
fn mistakes_in_manifests_are_reported_by_key() {
    let fine = json!({"schema_version": "x07.project@0.5.0", "world": " solve-fs ", "entry": "src/m.x07.json", "module_roots": ["src"]});
    let with = |key: &str, value: Value| {
        let mut manifest = fine.clone();
        manifest[key] = value;
        read_project(manifest.to_string().as_bytes()).map_err(|error| error.to_string())
    };
    let manifest = with("unknown", json!(1)).unwrap();
    assert_eq!((manifest.world.as_str(), manifest.entry.as_str()), ("solve-fs", "src/m.x07.json"));
    for (key, value) in [
        ("schema_version", json!("x07.project@0.6.0")),
        ("world", json!("solve-none")),
        ("entry", json!("../m.x07.json")),
        ("entry", json!("/m.x07.json")),
        ("entry", json!("m.json")),
        ("module_roots", json!([])),
        ("lockfile", json!("/abs")),
        ("dependencies", json!([{"name": "a", "version": "1", "path": "../x"}])),
        ("patch", json!({"A": {"version": "1"}})),
        ("link", json!({"libs": ["-lm"]})),
    ] {
        assert!(with(key, value.clone()).is_err(), "{key} {value}");
    }
    assert!(read_project(br#"{"world":"solve-pure","world":"solve-pure"}"#).unwrap_err().message.contains("duplicate"));
}
