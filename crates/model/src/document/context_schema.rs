//! JSON Schemas of the context files (spec 20), for other tools that write or read them.
//!
//! Written by hand, because strict readers parse the files without serde types. Compiled only for the tests that check
//! `schemas/`. What a schema cannot express is missing: an edge's target is a node, entries are unique.

use serde_json::{Value, json};

/// `dependency.state.json`, version 2 as it is written; readers also take `include`, `exclude` and version 1.
pub fn state() -> Value {
    json!({
        "$schema": DIALECT,
        "$id": "dependency.state",
        "title": "The selection that an assistant writes",
        "type": "object",
        "additionalProperties": false,
        "required": ["v", "i"],
        "properties": {
            "v": {"const": 2},
            "i": {"description": "What is selected", "type": "array", "items": {"$ref": "#/$defs/Entry"}},
            "x": {"description": "What is taken out again; excludes win", "type": "array", "items": {"$ref": "#/$defs/Entry"}},
        },
        "$defs": {
            "Entry": {
                "description": "A node alone, or [nodeId, depth = 0, kindMask = 7]",
                "anyOf": [
                    {"$ref": "#/$defs/NodeId"},
                    {
                        "type": "array",
                        "prefixItems": [
                            {"$ref": "#/$defs/NodeId"},
                            {"description": "How many edges are followed", "type": "integer", "minimum": 0},
                            {"description": "runtime 1, type 2, dynamic 4; other bits are ignored", "type": "integer", "minimum": 0},
                        ],
                        "items": false,
                        "minItems": 1,
                    },
                ],
            },
            "NodeId": node_id(),
        },
    })
}

/// `dependency.meta.json`.
pub fn meta() -> Value {
    json!({
        "$schema": DIALECT,
        "$id": "dependency.meta",
        "title": "The map that the assistant reads",
        "type": "object",
        "additionalProperties": false,
        "required": ["v", "n"],
        "properties": {
            "v": {"const": 2},
            "n": {"description": "Nodes by id", "type": "object", "additionalProperties": {"$ref": "#/$defs/Node"}},
        },
        "$defs": {
            "Node": {
                "type": "object",
                "additionalProperties": false,
                "required": ["k"],
                "properties": {
                    "k": {"description": "0 source, 1 external, 2 builtin, 3 missing", "enum": [0, 1, 2, 3]},
                    "s": {"description": "Size in bytes", "type": "integer", "minimum": 0},
                    "h": {
                        "description": "The first 16 bytes of the SHA-256, base64url without padding",
                        "type": "string",
                        "pattern": "^[A-Za-z0-9_-]{21}[AQgw]$",
                    },
                    "d": {"description": "One line about the module", "type": "string"},
                    "e": {"description": "Outgoing edges, one for each target", "type": "array", "items": {"$ref": "#/$defs/Edge"}},
                },
            },
            "Edge": {
                "description": "[target, kindMask, resMask = 1]",
                "type": "array",
                "prefixItems": [
                    {"type": "string"},
                    {"description": "runtime 1, type 2, dynamic 4", "type": "integer", "minimum": 1, "maximum": 7},
                    {"description": "explicit 1, implicit 2", "type": "integer", "minimum": 1, "maximum": 3},
                ],
                "items": false,
                "minItems": 2,
            },
        },
    })
}

/// `dependency.map.json`.
pub fn externals_lock() -> Value {
    json!({
        "$schema": DIALECT,
        "$id": "dependency.map",
        "title": "Where external files are on this machine; never archived",
        "type": "object",
        "additionalProperties": false,
        "required": ["v", "nodes"],
        "properties": {
            "v": {"const": 1},
            "nodes": {
                "type": "object",
                "propertyNames": {"$ref": "#/$defs/NodeId"},
                "additionalProperties": {"$ref": "#/$defs/Node"},
            },
        },
        "$defs": {
            "Node": {
                "type": "object",
                "additionalProperties": false,
                "required": ["id", "locatorAbs", "size", "sha256"],
                "dependentRequired": {
                    "pkgName": ["pkgVersion", "pathInPackage"],
                    "pkgVersion": ["pkgName", "pathInPackage"],
                    "pathInPackage": ["pkgName", "pkgVersion"],
                },
                "properties": {
                    "id": {"description": "The same as the key", "$ref": "#/$defs/NodeId"},
                    "locatorAbs": {"description": "The absolute real path", "type": "string", "pattern": ABSOLUTE},
                    "size": {"type": "integer", "minimum": 0},
                    "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
                    "pkgName": {"type": "string"},
                    "pkgVersion": {"type": "string"},
                    "pathInPackage": {"type": "string"},
                },
            },
            "NodeId": node_id(),
        },
    })
}

/// The output of `stan select --json` and of the library's selections.
pub fn selection_summary() -> Value {
    let bytes = json!({"type": "integer", "minimum": 0});
    let texts = json!({"type": "array", "items": {"type": "string"}});
    json!({
        "$schema": DIALECT,
        "$id": "selection.summary",
        "title": "What a selection contains",
        "type": "object",
        "additionalProperties": false,
        "required": ["selectedNodeIds", "selectedCount", "totalBytes", "largest", "warnings"],
        "properties": {
            "selectedNodeIds": texts,
            "selectedCount": bytes,
            "totalBytes": bytes,
            "largest": {
                "type": "array",
                "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["nodeId", "bytes"],
                    "properties": {"nodeId": {"type": "string"}, "bytes": bytes},
                },
            },
            "warnings": texts,
        },
    })
}

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";
const ABSOLUTE: &str = r"^([/\\]|[A-Za-z]:([/\\]|$))";

fn node_id() -> Value {
    json!({
        "description": "A path relative to the repository, without `..` segments and NUL",
        "type": "string",
        "minLength": 1,
        "not": {"pattern": format!(r"{ABSOLUTE}|(^|[/\\])\.\.([/\\]|$)|\u0000")},
    })
}
