//! The committed schemas of what the commands print and of the files that only `stan` itself reads back are those of
//! the code. `UPDATE_EXPECT=1 cargo test -p stan-engine --test report_schemas` rewrites them.
//!
//! That the program prints what they say is tested where the program is: `apps/cli/tests/stan/schemas.rs`.

use expect_test::{ExpectFile, expect_file};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};
use stan_engine::answers::{CyclesReport, NeighboursReport};
use stan_engine::context::reports::{RunReport, SelectReport, SnapReport, StateReport, VerifyReport};
use stan_engine::export::ExportReport;
use stan_engine::outline::{FindReport, OutlineReport, ReadReport, SymbolReport};
use stan_engine::overview::OverviewReport;
use stan_engine::pack::{DiagnosticsReport, Pack};
use stan_engine::reply::{ApplyReport, ReplyReport};
use stan_engine::suggest::SuggestReport;
use stan_engine::view::ViewReport;

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

fn check(mut schema: Value, id: &str, committed: &ExpectFile) {
    schema.as_object_mut().unwrap().insert("$id".to_owned(), id.into());
    jsonschema::validator_for(&schema).unwrap();
    // Canonical order first: another crate may make maps keep their order, and the file must not depend on that.
    let canonical = stan_model::jcs::to_vec(&schema).unwrap();
    let sorted: Value = serde_json::from_slice(&canonical).unwrap();
    committed.assert_eq(&format!("{}\n", serde_json::to_string_pretty(&sorted).unwrap()));
}

/// As it is written: a field that may be `null` is there all the same.
fn written<T: JsonSchema>() -> Value {
    let schema = SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>();
    serde_json::to_value(&schema).unwrap()
}

#[test]
fn written_schemas_of_reports_are_those_of_the_types() {
    check(written::<RunReport>(), "stan-run.report", &expect_file!["../../../schemas/stan-run.report.schema.json"]);
    check(
        written::<SelectReport>(),
        "stan-select.report",
        &expect_file!["../../../schemas/stan-select.report.schema.json"],
    );
    check(written::<SnapReport>(), "stan-snap.report", &expect_file!["../../../schemas/stan-snap.report.schema.json"]);
    check(
        written::<StateReport>(),
        "stan-state.report",
        &expect_file!["../../../schemas/stan-state.report.schema.json"],
    );
    check(
        written::<VerifyReport>(),
        "stan-verify.report",
        &expect_file!["../../../schemas/stan-verify.report.schema.json"],
    );
}

#[test]
fn schemas_of_small_answers() {
    check(
        written::<OutlineReport>(),
        "stan-outline.report",
        &expect_file!["../../../schemas/stan-outline.report.schema.json"],
    );
    check(
        written::<NeighboursReport>(),
        "stan-neighbours.report",
        &expect_file!["../../../schemas/stan-neighbours.report.schema.json"],
    );
    check(
        written::<CyclesReport>(),
        "stan-cycles.report",
        &expect_file!["../../../schemas/stan-cycles.report.schema.json"],
    );
    check(
        written::<SymbolReport>(),
        "stan-symbol.report",
        &expect_file!["../../../schemas/stan-symbol.report.schema.json"],
    );
    check(
        written::<ExportReport>(),
        "stan-export.report",
        &expect_file!["../../../schemas/stan-export.report.schema.json"],
    );
    check(written::<ViewReport>(), "stan-view.report", &expect_file!["../../../schemas/stan-view.report.schema.json"]);
    check(
        written::<OverviewReport>(),
        "stan-map.report",
        &expect_file!["../../../schemas/stan-map.report.schema.json"],
    );
    check(written::<ReadReport>(), "stan-read.report", &expect_file!["../../../schemas/stan-read.report.schema.json"]);
    check(written::<FindReport>(), "stan-find.report", &expect_file!["../../../schemas/stan-find.report.schema.json"]);
}

#[test]
fn written_schemas_of_packs_are_those_of_the_types() {
    check(written::<Pack>(), "stan-pack", &expect_file!["../../../schemas/stan-pack.schema.json"]);
    check(
        written::<DiagnosticsReport>(),
        "stan-pack.list",
        &expect_file!["../../../schemas/stan-pack.list.schema.json"],
    );
}

#[test]
fn schemas_of_the_assistants_side() {
    check(
        written::<SuggestReport>(),
        "stan-suggest.report",
        &expect_file!["../../../schemas/stan-suggest.report.schema.json"],
    );
    check(
        written::<ReplyReport>(),
        "stan-check.report",
        &expect_file!["../../../schemas/stan-check.report.schema.json"],
    );
    check(
        written::<ApplyReport>(),
        "stan-apply.report",
        &expect_file!["../../../schemas/stan-apply.report.schema.json"],
    );
}

#[test]
fn schemas_of_streamed_documents_match_the_output() {
    check(graph(), "stan-graph.result", &expect_file!["../../../schemas/stan-graph.result.schema.json"]);
    check(cycles(), "stan-graph.cycles", &expect_file!["../../../schemas/stan-graph.cycles.schema.json"]);
    check(snapshot(), "archive.snapshot", &expect_file!["../../../schemas/archive.snapshot.schema.json"]);
    check(changes(), "archive.diff", &expect_file!["../../../schemas/archive.diff.schema.json"]);
}

/// `stan graph --json`. Written by hand, because the graph is streamed and there is no type to derive it from.
fn graph() -> Value {
    let count = json!({"type": "integer", "minimum": 0});
    json!({
        "$schema": DIALECT,
        "title": "The dependency graph of a repository",
        "type": "object",
        "additionalProperties": false,
        "required": ["graph", "stats", "errors"],
        "properties": {
            "graph": {
                "type": "object",
                "additionalProperties": false,
                "required": ["nodes", "edges"],
                "properties": {
                    "nodes": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Node"}},
                    "edges": {
                        "description": "A list for every node, sorted",
                        "type": "object",
                        "additionalProperties": {"type": "array", "items": {"$ref": "#/$defs/Edge"}},
                    },
                },
            },
            "stats": {
                "type": "object",
                "additionalProperties": false,
                "required": ["modules", "edges", "dirty"],
                "properties": {
                    "modules": count,
                    "edges": count,
                    "dirty": {
                        "description": "Files of the repository that could not be read or parsed cleanly",
                        "type": "integer",
                        "minimum": 0,
                    },
                },
            },
            "errors": {
                "description": "Sorted; each names file, line where it has one, and cause",
                "type": "array",
                "items": {"type": "string"},
            },
            "notAnalysed": {
                "description": "Files of the repository in languages that are not analysed: most files first, then by \
                                extension; absent where there are none",
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["extension", "files"],
                    "properties": {
                        "extension": {"description": "In lower case, without the dot", "type": "string"},
                        "files": {"type": "integer", "minimum": 1},
                    },
                },
            },
        },
        "$defs": {"Node": graph_node(), "Edge": graph_edge()},
    })
}

fn graph_node() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["id", "kind", "language"],
        "properties": {
            "id": {"description": "The same as the key", "type": "string"},
            "kind": {"enum": ["source", "external", "builtin", "missing"]},
            "language": {"enum": ["ts", "js", "json", "md", "py", "go", "rs", "other"]},
            "description": {"description": "One line about the module", "type": "string"},
            "metadata": {
                "description": "Of files",
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "hash": {"description": "SHA-256 of the bytes", "type": "string", "pattern": "^[0-9a-f]{64}$"},
                    "size": {"type": "integer", "minimum": 0},
                    "isOutsideRoot": {"const": true},
                },
                "dependentRequired": {"hash": ["size"], "size": ["hash"]},
            },
        },
    })
}

fn graph_edge() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["target", "kind", "resolution"],
        "properties": {
            "target": {"description": "The id of a node", "type": "string"},
            "kind": {"enum": ["runtime", "type", "dynamic"]},
            "resolution": {
                "description": "Written in the file, or found by seeing through barrels",
                "enum": ["explicit", "implicit"],
            },
        },
    })
}

/// `stan graph --cycles --json`.
fn cycles() -> Value {
    let ids = json!({"type": "array", "minItems": 1, "items": {"type": "string"}});
    json!({
        "$schema": DIALECT,
        "title": "Import cycles",
        "type": "array",
        "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["members", "example"],
            "properties": {"members": ids, "example": ids},
        },
    })
}

/// `diff/.archive.snapshot.json` and `diff/.archive.snapshot.context.json`.
fn snapshot() -> Value {
    json!({
        "$schema": DIALECT,
        "title": "What an archive held: path to SHA-256",
        "type": "object",
        "propertyNames": {"minLength": 1},
        "additionalProperties": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
    })
}

/// `output/archive.diff.json`, which the diff archive carries.
fn changes() -> Value {
    let paths = json!({"type": "array", "uniqueItems": true, "items": {"type": "string", "minLength": 1}});
    json!({
        "$schema": DIALECT,
        "title": "What is different since the snapshot",
        "type": "object",
        "additionalProperties": false,
        "required": ["added", "changed", "removed"],
        "properties": {"added": paths, "changed": paths, "removed": paths},
    })
}
