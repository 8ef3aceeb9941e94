//! The program's `--json` output and its files match the committed schemas. The libraries test that the schemas match the types.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::Repository;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas")
}

/// The schema, made strict: a report must not have fields that the schema does not contain.
fn schema(name: &str) -> Value {
    let text = fs::read_to_string(folder().join(format!("{name}.schema.json"))).unwrap();
    let mut schema = serde_json::from_str(&text).unwrap();
    close(&mut schema);
    schema
}

fn close(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.contains_key("properties") && !object.contains_key("additionalProperties") {
                object.insert("additionalProperties".to_owned(), json!(false));
            }
            object.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

#[track_caller]
fn check(name: &str, document: &[u8]) -> Value {
    let document: Value = serde_json::from_slice(document).unwrap();
    let validator = jsonschema::validator_for(&schema(name)).unwrap();
    let complaints: Vec<String> =
        validator.iter_errors(&document).map(|error| format!("{}: {error}", error.instance_path)).collect();
    assert!(complaints.is_empty(), "{name}: {complaints:#?}\n{document:#}");
    document
}

/// Runs the program and validates its one document.
#[track_caller]
fn printed(repository: &Repository, name: &str, arguments: &[&str], code: i32) -> Value {
    let output = repository.output(arguments, &[]);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    check(name, &output.stdout)
}

#[track_caller]
fn file(repository: &Repository, name: &str, path: &str) -> Value {
    check(name, &fs::read(repository.root().join(path)).unwrap())
}

fn repository() -> Repository {
    Repository::new(&[
        ("package.json", "{\"name\":\"app\",\"dependencies\":{\"zed\":\"1.2.3\"}}\n"),
        ("tsconfig.json", "{\"compilerOptions\":{\"module\":\"nodenext\"}}\n"),
        (".gitignore", "node_modules\n"),
        ("logo.png", "\0png"),
        ("broken.ts", "import {\n"),
        (
            "src/a.ts",
            "/** @module Where it starts. */\nimport './b.js';\nimport 'zed';\nimport 'node:fs';\nimport 'gone';\n",
        ),
        ("src/b.ts", "import type {} from './a.js';\nexport const lazy = () => import('./a.js');\n"),
        ("node_modules/zed/package.json", "{\"name\":\"zed\",\"version\":\"1.2.3\",\"types\":\"index.d.ts\"}\n"),
        ("node_modules/zed/index.d.ts", "export {};\n"),
    ])
}

const STATE: &str = ".stan/context/dependency.state.json";

#[test]
fn graph_documents_match_their_schemas() {
    let repository = repository();
    let graph = printed(&repository, "stan-graph.result", &["graph", "--json"], 0);
    let nodes = graph["graph"]["nodes"].as_object().unwrap();
    for kind in ["source", "external", "builtin", "missing"] {
        assert!(nodes.values().any(|node| node["kind"] == kind), "the example has a node of kind {kind}");
    }
    assert!(graph["stats"]["dirty"] == 1 && !graph["errors"].as_array().unwrap().is_empty());
    printed(&repository, "stan-graph.result", &["graph", "src/b.ts", "--dependents", "--json"], 0);
    let cycles = printed(&repository, "stan-graph.cycles", &["graph", "--cycles", "--json"], 0);
    assert_eq!(cycles[0]["members"], json!(["src/a.ts", "src/b.ts"]));
    printed(&repository, "dependency.meta", &["graph", "--meta"], 0);
}

#[test]
fn documents_of_a_thread_match_their_schemas() {
    let repository = repository();
    printed(&repository, "stan-run.report", &["run", "--context", "--meta", "--json"], 0);
    file(&repository, "dependency.state", STATE);
    file(&repository, "dependency.meta", ".stan/context/dependency.meta.json");
    repository.write(STATE, "{\"v\":2,\"i\":[[\"src/a.ts\",1],\"logo.png\",\"not-there.ts\"],\"x\":[\"broken.ts\"]}\n");
    let select = printed(&repository, "stan-select.report", &["select", "--json"], 0);
    assert!(!select["warnings"].as_array().unwrap().is_empty());
    let state = printed(&repository, "stan-state.report", &["state", "validate", "--json"], 0);
    assert_eq!((&state["valid"], &state["version"]), (&json!(true), &json!(2)));
    let run = printed(&repository, "stan-run.report", &["run", "--context", "--json"], 0);
    assert_eq!((&run["map"]["staged"], &run["diff"]["hasBaseline"]), (&json!(1), &json!(false)));
    file(&repository, "dependency.map", ".stan/context/dependency.map.json");
    let snapshot = ".stan/diff/.archive.snapshot.context.json";
    assert!(file(&repository, "archive.snapshot", snapshot).as_object().unwrap().contains_key("src/a.ts"));
    assert_eq!(printed(&repository, "stan-verify.report", &["verify", "--json"], 0)["matches"], true);

    repository.write("src/b.ts", "export {};\n");
    repository.write("README.md", "# new\n");
    fs::remove_file(repository.root().join("tsconfig.json")).unwrap();
    let verify = printed(&repository, "stan-verify.report", &["verify", "--json"], 3);
    for key in ["differ", "gone", "new"] {
        assert!(!verify[key].as_array().unwrap().is_empty(), "the example has something under `{key}`: {verify}");
    }
    let run = printed(&repository, "stan-run.report", &["run", "--context", "--json"], 0);
    let list = file(&repository, "archive.diff", ".stan/output/archive.diff.json");
    assert_eq!((&list["added"], &list["removed"]), (&json!(["README.md"]), &json!(["tsconfig.json"])));
    for key in ["added", "changed", "removed"] {
        assert_eq!(run["diff"][key], list[key]);
    }
    printed(&repository, "stan-run.report", &["run", "--context", "--plan", "--json"], 0);
    printed(&repository, "stan-snap.report", &["snap", "--json"], 0);
}

#[test]
fn small_answers_match_their_schemas() {
    let repository = repository();
    let outline = printed(&repository, "stan-outline.report", &["outline", "src/b.ts", "broken.ts", "--json"], 0);
    assert_eq!(outline["files"][0]["declarations"][0]["name"], "lazy");
    assert_eq!(outline["files"][1]["incomplete"], true);
    let deps = printed(&repository, "stan-neighbours.report", &["deps", "src/a.ts", "--json", "--depth", "2"], 0);
    assert_eq!(deps["files"][0]["modules"][0]["id"], "src/b.ts");
    printed(&repository, "stan-neighbours.report", &["dependents", "src/a.ts", "--json", "--limit", "0"], 0);
    let cycles = printed(&repository, "stan-cycles.report", &["cycles", "--json"], 0);
    assert_eq!(cycles["cycles"][0]["size"], 2);
    assert_eq!(printed(&repository, "stan-view.report", &["view", "--json"], 0)["file"], ".stan/output/view.html");
    let export = printed(&repository, "stan-export.report", &["export", "../data", "--json"], 0);
    assert_eq!(export["repositories"][0]["partition"], "repo=r/commit=worktree");
    let map = printed(&repository, "stan-map.report", &["map", "--json", "--budget", "2k"], 0);
    assert!(map["text"].as_str().unwrap().contains(" b.ts "));
    let symbol = printed(&repository, "stan-symbol.report", &["symbol", "lazy", "--json"], 0);
    assert_eq!(symbol["symbols"][0]["declarations"][0]["file"], "src/b.ts");
    let read = printed(&repository, "stan-read.report", &["read", "src/b.ts#lazy", "--json"], 0);
    assert_eq!(read["items"][0]["name"], "lazy");
    let found = printed(&repository, "stan-find.report", &["find", "lazy", "--json"], 0);
    assert_eq!(found["symbols"][0]["file"], "src/b.ts");
}

#[test]
fn packs_match_their_schema() {
    let repository = repository();
    repository.write(
        "build.log",
        "src/b.ts(2,14): error TS2304: Cannot find name 'lazy'.\nsrc/gone.ts(1,1): error TS1: no\n",
    );
    let pack = printed(&repository, "stan-pack", &["pack", "build.log", "--json"], 0);
    assert_eq!(pack["focus"]["name"], "lazy");
    assert_eq!(pack["diagnostics"][1]["found"], false);
    let small = printed(&repository, "stan-pack", &["pack", "--at", "src/b.ts:2", "--budget", "1", "--json"], 0);
    assert_eq!(small["items"][0]["file"], "src/b.ts");
    let list = printed(&repository, "stan-pack.list", &["pack", "--list", "build.log", "--json"], 0);
    assert_eq!(list["diagnostics"].as_array().unwrap().len(), 2);
}

#[test]
fn plain_runs_and_broken_selections() {
    let repository = repository();
    let run = printed(&repository, "stan-run.report", &["run", "--json"], 0);
    assert_eq!((&run["map"], run["binaries"].as_array().unwrap().len()), (&json!(null), 1));
    file(&repository, "archive.snapshot", ".stan/diff/.archive.snapshot.json");
    repository.write(STATE, "{\"include\":[[\"src/a.ts\",1,[\"runtime\"]]]}\n");
    let migrated = printed(&repository, "stan-state.report", &["state", "migrate", "--json"], 0);
    assert_eq!((&migrated["version"], &migrated["rewritten"]), (&json!(1), &json!(true)));
    repository.write(STATE, "{\"v\":2,\"i\":[[\"src/a.ts\",-1]]}\n");
    let broken = printed(&repository, "stan-state.report", &["state", "validate", "--json"], 1);
    assert_eq!((&broken["valid"], &broken["version"]), (&json!(false), &json!(null)));
}

#[test]
fn proposals_match_their_schema() {
    let repository = repository();
    let suggest = |arguments: &[&str]| {
        let report = printed(&repository, "stan-suggest.report", &[&["suggest", "--json"], arguments].concat(), 0);
        check("dependency.state", report["state"].to_string().as_bytes());
        report
    };
    let tight = suggest(&["--focus", "src/b.ts", "--budget", "35", "--write"]);
    assert!(tight["next"].is_object() && tight["written"] == STATE && tight.get("changes").is_none(), "{tight}");
    assert!(suggest(&["--focus", "src/a.ts:1", "--budget", "9999"])["next"].is_null());
    if repository.git(&["init", "--quiet"]).is_none() {
        return;
    }
    repository.git(&["add", "--all"]);
    repository.git(&["-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "--quiet", "-m", "one"]);
    repository.write("src/b.ts", "export {};\n");
    repository.write("src/new.ts", "export {};\n");
    fs::remove_file(repository.root().join("tsconfig.json")).unwrap();
    let changed = suggest(&["--changed", "HEAD", "--budget", "9999"]);
    for (key, path) in [("changed", "src/b.ts"), ("added", "src/new.ts"), ("deleted", "tsconfig.json")] {
        let paths = changed["changes"][key].as_array().unwrap();
        assert!(paths.contains(&json!(path)), "{key}: {changed:#}");
    }
    assert_eq!(changed["changes"]["commit"].as_str().map(str::len), Some(40));
    assert!(suggest(&["--changed", "--budget", "9999"])["changes"].get("since").is_none());
}

#[test]
fn reports_of_replies_match_their_schemas() {
    let repository = repository();
    repository.stan(&["run", "--context", "--meta"]);
    repository.write(STATE, "{\"v\":2,\"i\":[\"src/a.ts\"]}\n");
    repository.stan(&["run", "--context"]);
    repository.write("fine.md", "Nothing to do.\n");
    repository.write("empty.md", "");
    repository.write(
        "broken.md",
        "### Patch: x\n\n```diff\ndiff --git a/../x b/../x\n--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n```\n",
    );
    assert_eq!(printed(&repository, "stan-check.report", &["check", "fine.md", "--json"], 0)["accepted"], true);
    let empty = printed(&repository, "stan-check.report", &["check", "empty.md", "--json"], 0);
    assert!(!empty["notes"].as_array().unwrap().is_empty());
    let broken = printed(&repository, "stan-check.report", &["check", "broken.md", "--json"], 1);
    assert!(!broken["findings"].as_array().unwrap().is_empty() && broken["accepted"] == false, "{broken:#}");
    let budget = printed(&repository, "stan-check.report", &["check", "fine.md", "--budget", "1", "--json"], 0);
    assert_eq!(budget["findings"][0]["severity"], "warning", "{budget:#}");
}

#[test]
fn committed_schemas_carry_their_names() {
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let schema: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        assert_eq!(Some(name), schema["$id"].as_str().map(|id| format!("{id}.schema.json")).as_deref());
        jsonschema::validator_for(&schema).unwrap();
    }
}
