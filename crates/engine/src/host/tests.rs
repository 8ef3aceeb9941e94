//! Calls of hosts on repositories in memory: results, and errors with their codes.

use serde_json::{Value, json};
use stan_repo::MemorySystem;

use super::dependency_graph::capped;
use super::{HostEnvironment, HostVerb, call};
use crate::engine::Engine;

fn system(files: &[(&str, &str)]) -> MemorySystem {
    let system = MemorySystem::new();
    for (path, text) in files {
        system.set_file(format!("/r/{path}"), *text);
    }
    system
}

fn answer(system: &MemorySystem, verb: &str, options: &Value) -> Value {
    let result =
        call(&Engine::new(system), &HostEnvironment::default(), verb, &options.to_string()).expect("it has a result");
    serde_json::from_str(&result).expect("results are JSON")
}

fn refusal(system: &MemorySystem, verb: &str, options: &Value) -> (String, String) {
    let error =
        call(&Engine::new(system), &HostEnvironment::default(), verb, &options.to_string()).expect_err("it is refused");
    (error.code.to_owned(), error.message)
}

fn ids(result: &Value) -> Vec<&String> {
    result["graph"]["nodes"].as_object().expect("nodes are an object").keys().collect()
}

const FILES: &[(&str, &str)] = &[
    ("a.ts", "/** @module\n * The first. */\nimport { b } from './b';\nimport './gone';\nimport 'bare';\nb();\n"),
    ("b.ts", "export const b = () => 1;\n"),
    ("src/c.ts", "import '../gone';\nimport './gone';\n"),
    ("x.py", "import y\n"),
    ("out/d.ts", "export {};\n"),
];

#[test]
fn every_verb_has_one_name() {
    for verb in HostVerb::ALL {
        assert_eq!(HostVerb::from_name(verb.name()), Some(verb));
    }
    let none = refusal(&system(&[]), "nothing", &json!({}));
    assert_eq!(none.0, "STAN_USAGE");
}

#[test]
fn graphs_have_the_form_that_callers_of_stan_context_know() {
    let system = system(FILES);
    let result =
        answer(&system, "generateDependencyGraph", &json!({ "cwd": "/r", "config": { "excludes": ["out/**"] } }));
    assert_eq!(ids(&result), ["../gone", "./gone", "a.ts", "b.ts", "bare", "src/c.ts", "x.py", "y"]);
    let nodes = &result["graph"]["nodes"];
    assert_eq!((&nodes["x.py"]["language"], &nodes["a.ts"]["language"]), (&json!("other"), &json!("ts")));
    assert_eq!(nodes["a.ts"]["description"], "The first.");
    let targets: Vec<&Value> =
        result["graph"]["edges"]["src/c.ts"].as_array().expect("a list").iter().map(|edge| &edge["target"]).collect();
    assert_eq!(targets, ["../gone", "./gone"]);
    assert_eq!(result["stats"]["dirty"], 0);
}

#[test]
fn the_graph_is_that_of_the_program_on_request() {
    let system = system(FILES);
    let result = answer(&system, "generateDependencyGraph", &json!({ "cwd": "/r", "form": "program" }));
    assert_eq!(result["graph"]["nodes"]["x.py"]["language"], "py");
    assert_eq!(ids(&result), ["a.ts", "b.ts", "bare", "gone", "out/d.ts", "src/c.ts", "src/gone", "x.py", "y"]);
}

#[test]
fn files_of_packages_are_described() {
    let system = system(&[
        ("a.ts", "import 'pkg';\n"),
        ("node_modules/pkg/package.json", "{\"name\":\"pkg\",\"version\":\"1.0.0\",\"types\":\"index.d.ts\"}"),
        ("node_modules/pkg/index.d.ts", "/**\n * @module\n * The package.\n */\nexport {};\n"),
    ]);
    let of = |options: Value| {
        answer(&system, "generateDependencyGraph", &options)["graph"]["nodes"]["node_modules/pkg/index.d.ts"].clone()
    };
    assert_eq!(of(json!({ "cwd": "/r" }))["description"], "The package.");
    assert_eq!(of(json!({ "cwd": "/r", "nodeDescriptionLimit": 3 }))["description"], "The...");
    assert_eq!(of(json!({ "cwd": "/r", "form": "program" }))["description"], Value::Null);
}

#[test]
fn limits_of_zero_omit_descriptions_and_errors() {
    let system = system(&[("a.ts", "/** @module\n * Words. */\nimport './\u{0}';\nexport {\n")]);
    let all = answer(&system, "generateDependencyGraph", &json!({ "cwd": "/r" }));
    assert!(!all["errors"].as_array().expect("a list").is_empty(), "{all}");
    let options = json!({ "cwd": "/r", "nodeDescriptionLimit": 0, "maxErrors": 0 });
    let none = answer(&system, "generateDependencyGraph", &options);
    assert_eq!((&none["errors"], &none["graph"]["nodes"]["a.ts"]["description"]), (&json!([]), &Value::Null));
}

#[test]
fn truncated_errors_end_with_a_count() {
    let lines = || ["a", "b", "c", "d"].map(str::to_owned).to_vec();
    assert_eq!(capped(lines(), 0.0), [""; 0]);
    assert_eq!(capped(lines(), 4.0), lines());
    assert_eq!(capped(lines(), 1.0), ["errors truncated: 4 total"]);
    assert_eq!(capped(lines(), 3.0), ["a", "b", "errors truncated: showing 2 of 4"]);
}

#[test]
fn an_earlier_graph_only_affects_the_count_of_dirty_files() {
    let chain =
        [("a.ts", "import './b';\n"), ("b.ts", "import './c';\n"), ("c.ts", "export {};\n"), ("d.ts", "export {};\n")];
    let before = answer(&system(&chain), "generateDependencyGraph", &json!({ "cwd": "/r" }));
    let edited = system(&chain);
    edited.set_file("/r/c.ts", "export const c = 1;\n");
    let options = json!({ "cwd": "/r", "previousGraph": before["graph"] });
    let after = answer(&edited, "generateDependencyGraph", &options);
    assert_eq!(after["stats"]["dirty"], 3, "c, and b and a, which depend on it");
    let fresh = answer(&edited, "generateDependencyGraph", &json!({ "cwd": "/r" }));
    assert_eq!(after["graph"], fresh["graph"]);
    let same = json!({ "cwd": "/r", "previousGraph": fresh["graph"] });
    assert_eq!(answer(&edited, "generateDependencyGraph", &same)["stats"]["dirty"], 0);
}

#[test]
fn nodes_of_the_earlier_graph_without_a_size_are_reported_or_refused() {
    let system = system(&[("a.ts", "export {};\n")]);
    let now = answer(&system, "generateDependencyGraph", &json!({ "cwd": "/r" }));
    let previous = json!({
        "nodes": { "a.ts": now["graph"]["nodes"]["a.ts"],
                   "e.d.ts": { "id": "e.d.ts", "kind": "external", "language": "ts", "metadata": { "hash": "h" } } },
        "edges": { "a.ts": [{ "target": "e.d.ts", "kind": "runtime", "resolution": "explicit" }] },
    });
    let with = |mode: &str| json!({ "cwd": "/r", "previousGraph": previous, "hashSizeEnforcement": mode });
    let warned = answer(&system, "generateDependencyGraph", &with("warn"));
    assert_eq!(warned["errors"], json!(["warning: metadata.size missing for hashed node e.d.ts"]));
    assert_eq!(answer(&system, "generateDependencyGraph", &with("ignore"))["errors"], json!([]));
    let refused = refusal(&system, "generateDependencyGraph", &with("error"));
    assert_eq!(refused.0, "STAN_INPUT");
    assert_eq!(refused.1, "metadata.size missing for hashed nodes (1): e.d.ts");
    assert_eq!(refusal(&system, "generateDependencyGraph", &with("maybe")).0, "STAN_USAGE");
}

fn graph() -> Value {
    let file = |size: Option<u64>| json!({ "kind": "source", "metadata": { "hash": "h", "size": size } });
    let edge = |target: &str, kind: &str| json!({ "target": target, "kind": kind, "resolution": "explicit" });
    json!({
        "nodes": { "a": file(Some(100)), "b": file(Some(50)), "c": file(Some(10)), "n": file(None),
                   "node:fs": { "kind": "builtin" }, "gone": { "kind": "missing" } },
        "edges": { "a": [edge("b", "runtime"), edge("c", "dynamic"), edge("nowhere", "type")], "b": [edge("c", "runtime")] },
    })
}

fn summary(include: &Value, rest: &[(&str, Value)]) -> Value {
    let mut options = json!({ "graph": graph(), "include": include });
    rest.iter().for_each(|(key, value)| options[*key] = value.clone());
    answer(&system(&[]), "summarizeDependencySelection", &options)
}

#[test]
fn selections_are_followed_and_counted() {
    let one = summary(&json!([["a", 1, ["runtime"]]]), &[]);
    assert_eq!((&one["selectedNodeIds"], &one["totalBytes"]), (&json!(["a", "b"]), &json!(150)));
    assert_eq!(one["largest"][0], json!({ "nodeId": "a", "bytes": 100 }));
    assert_eq!(summary(&json!([["a", 2, 1]]), &[])["selectedNodeIds"], json!(["a", "b", "c"]));
    // An entry of another kind does not affect this one.
    assert_eq!(summary(&json!([["a", 9, 4], ["a", 1, 1]]), &[])["selectedNodeIds"], json!(["a", "b", "c"]));
    let less = summary(&json!([["a", 2, 1]]), &[("exclude", json!(["b"]))]);
    assert_eq!(less["selectedNodeIds"], json!(["a", "c"]));
    let top = summary(&json!(["a", "b"]), &[("options", json!({ "maxTop": 1 }))]);
    assert_eq!(top["largest"].as_array().map(Vec::len), Some(1));
    let kinds = summary(&json!([["a", 1]]), &[("options", json!({ "defaultEdgeKinds": ["dynamic"] }))]);
    assert_eq!(kinds["selectedNodeIds"], json!(["a", "c"]));
}

#[test]
fn unusual_selections_are_warnings() {
    let cases = [
        (json!(["x"]), "Selected nodeId not present in graph.nodes: x"),
        (json!([["a", 1, 2]]), "Selected nodeId not present in graph.nodes: nowhere"),
        (json!(["node:fs"]), "Dropped builtin node from selection: node:fs"),
        (json!(["gone"]), "Dropped missing node from selection: gone"),
        (json!([["a", -1]]), "Invalid depth for entry[0]: expected integer >= 0; using 0."),
        (json!([["a", 1, 9]]), "Invalid edgeKinds bit(s) for entry[0]: 8; ignoring."),
        (json!([["a", 1, ["odd"]]]), "Invalid edgeKind for entry[0]: odd; ignoring."),
        (json!([["a", 1, ["odd"]]]), "No valid edgeKinds for entry[0]; no edges will be traversed."),
        (json!([["a", 1, "odd"]]), "Invalid edgeKinds for entry[0]: expected array; using none."),
        (json!([[" ", 1]]), "Invalid nodeId for entry[0]: expected non-empty string."),
        (json!(["n"]), "metadata.size missing for hashed node: n"),
    ];
    for (include, expected) in cases {
        let summary = summary(&include, &[]);
        let warnings = summary["warnings"].as_array().expect("a list");
        assert!(warnings.contains(&json!(expected)), "{include}: {warnings:?}");
    }
    let all = summary(&json!(["node:fs"]), &[("options", json!({ "dropNodeKinds": [] }))]);
    assert_eq!(all["selectedNodeIds"], json!(["node:fs"]));
    let options = json!({ "graph": graph(), "include": ["n"], "options": { "hashSizeEnforcement": "error" } });
    assert_eq!(refusal(&system(&[]), "summarizeDependencySelection", &options).0, "STAN_INPUT");
}

#[test]
fn maps_have_one_edge_for_each_target_and_no_hashes() {
    let graph = json!({
        "nodes": { "a": { "kind": "source", "description": " Words. ", "metadata": { "hash": "h", "size": 3 } },
                   "b": { "kind": "external" } },
        "edges": { "a": [{ "target": "b", "kind": "runtime", "resolution": "explicit" },
                         { "target": "b", "kind": "type", "resolution": "implicit" },
                         { "target": "a", "kind": "dynamic", "resolution": "explicit" }] },
    });
    let meta = answer(&system(&[]), "encodeDependencyMeta", &json!({ "graph": graph }));
    let expected = json!({ "v": 2, "n": { "a": { "k": 0, "s": 3, "d": "Words.", "e": [["a", 4], ["b", 3, 3]] }, "b": { "k": 1 } } });
    assert_eq!(meta, expected);
}

#[test]
fn modules_without_documentation_are_reported() {
    let check = |options: Value| answer(&system(&[]), "describeModule", &options);
    let none = check(json!({ "text": "export const x = 1;\n" }));
    assert_eq!(
        none["message"],
        "Say what this module is for: add a doc comment with either @module or @packageDocumentation and prose."
    );
    let empty = check(json!({ "text": "/** @module */\nexport {};\n" }));
    assert_eq!(empty["emptyTag"], "@module");
    assert!(empty["message"].as_str().is_some_and(|text| text.ends_with("Found @module, but its prose is empty.")));
    assert_eq!(check(json!({ "text": "/**\n * @module\n * Words.\n */\nexport {};\n" }))["message"], Value::Null);
    let other = check(json!({ "text": "/** Words. @packageDocumentation */\nexport {};\n", "tags": ["@module"] }));
    assert!(other["message"].as_str().is_some_and(|text| text.contains("with @module and")));
    let quoted = check(json!({ "text": "const s = `/** @module\n * Words. */`;\n" }));
    assert_eq!(quoted["emptyTag"], Value::Null);
    let ignored = json!({ "text": "", "filename": "src\\a.test.ts", "ignorePatterns": ["**/*.test.ts"] });
    assert_eq!(check(ignored)["ignored"], true);
}

#[test]
fn verbs_answer_with_the_documents_of_the_program() {
    let system = system(FILES);
    let place = json!({ "cwd": "/r", "cache": false });
    let overview = answer(&system, "overview", &place);
    assert!(overview["text"].as_str().is_some_and(|text| text.contains("a.ts")), "{overview}");
    let mut options = place.clone();
    options["focus"] = json!("a.ts");
    let suggested = answer(&system, "suggest", &options);
    assert!(suggested["nodes"].to_string().contains("a.ts"), "{suggested}");
    options["at"] = json!(["a.ts:6:1"]);
    let pack = answer(&system, "pack", &options);
    assert!(pack["text"].as_str().is_some_and(|text| text.contains("export const b")), "{pack}");
    let mut options = place.clone();
    options["state"] = json!({ "v": 2, "i": [["a.ts", 1]] });
    assert!(answer(&system, "select", &options)["nodes"].to_string().contains("b.ts"));
}

/// A symlink in the repository is never read in place of a file that the caller names, whichever option names it.
#[test]
fn links_out_of_the_repository_are_refused_by_every_option_that_names_a_file() {
    let system = system(&[("a.ts", "export const a = 1;\n")]);
    system.set_file("/outside/secret.ts", "export const canary = 1;\n");
    system.set_link("/r/file.ts", "/outside/secret.ts");
    system.set_link("/r/folder", "/outside");
    for file in ["file.ts", "folder/secret.ts", "./folder/../folder/secret.ts"] {
        for (verb, key, value) in [
            ("pack", "at", format!("{file}:1")),
            ("pack", "at", format!("{file}:1:14")),
            ("pack", "symbol", format!("{file}#canary")),
            ("pack", "focus", file.to_owned()),
            ("overview", "focus", file.to_owned()),
        ] {
            let (code, message) = refusal(&system, verb, &json!({ "cwd": "/r", key: [value] }));
            assert!(code == "STAN_INPUT" && message.contains("out of the repository"), "{verb} {key}: {message}");
        }
        // Only looked up in the graph, which has no such node.
        let (code, message) = refusal(&system, "suggest", &json!({ "cwd": "/r", "focus": [file] }));
        assert!(code == "STAN_INPUT" && !message.contains("canary"), "{message}");
        let options = json!({ "cwd": "/r", "at": [format!("{file}:1")], "allowOutside": ["/outside"] });
        assert!(answer(&system, "pack", &options)["text"].to_string().contains("canary"), "{file}");
    }
}

#[test]
fn every_refusal_has_a_code() {
    let system = system(FILES);
    let code = |verb: &str, options: Value| refusal(&system, verb, &options).0;
    assert_eq!(code("overview", json!({ "cwd": "/nowhere" })), "STAN_INPUT");
    assert_eq!(code("overview", json!({ "cwd": "r" })), "STAN_USAGE");
    assert_eq!(code("overview", json!({ "cwd": "/r", "levle": "file" })), "STAN_USAGE");
    assert_eq!(code("overview", json!({ "cwd": "/r", "level": "files" })), "STAN_USAGE");
    assert_eq!(code("suggest", json!({ "cwd": "/r" })), "STAN_USAGE");
    assert_eq!(code("pack", json!({ "cwd": "/r", "at": ["a.ts"] })), "STAN_USAGE");
    assert_eq!(code("verify", json!({ "cwd": "/r" })), "STAN_INPUT");
    assert_eq!(code("generateDependencyGraph", json!({ "cwd": "/r", "config": { "includes": ["{"] } })), "STAN_USAGE");
}
