//! Findings as SARIF: all fields that the schema of SARIF 2.1.0 requires are present, for any findings. The schema below has its
//! required fields and allowed values, for the parts that are used. Logs of three public packages (Python, Go, TypeScript), of
//! unusual names and of a rejected reply were validated once against the official schema (oasis-tcs/sarif-spec,
//! `sarif-schema-2.1.0.json`): no errors.

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::support::Repository;

fn schema() -> Value {
    let location = json!({
        "type": "object",
        "properties": { "physicalLocation": {
            "type": "object",
            "required": ["artifactLocation"],
            "properties": {
                "artifactLocation": { "type": "object", "required": ["uri"],
                                      "properties": { "uri": { "type": "string", "pattern": "^[A-Za-z0-9._~/%-]+$" } } },
                "region": { "type": "object", "required": ["startLine"],
                            "properties": { "startLine": { "type": "integer", "minimum": 1 },
                                            "startColumn": { "type": "integer", "minimum": 1 } } },
            },
        } },
        "required": ["physicalLocation"],
    });
    json!({
        "type": "object",
        "required": ["version", "runs"],
        "properties": {
            "version": { "const": "2.1.0" },
            "runs": { "type": "array", "minItems": 1, "items": {
                "type": "object",
                "required": ["tool", "results"],
                "properties": {
                    "tool": { "type": "object", "required": ["driver"], "properties": { "driver": {
                        "type": "object", "required": ["name"],
                        "properties": { "name": { "type": "string" }, "rules": {
                            "type": "array", "uniqueItems": true,
                            "items": { "type": "object", "required": ["id"] } } },
                    } } },
                    "columnKind": { "enum": ["utf16CodeUnits", "unicodeCodePoints"] },
                    "results": { "type": "array", "items": {
                        "type": "object",
                        "required": ["message", "ruleId", "level", "locations"],
                        "properties": {
                            "message": { "type": "object", "required": ["text"] },
                            "level": { "enum": ["none", "note", "warning", "error"] },
                            "locations": { "type": "array", "minItems": 1, "items": location },
                            "relatedLocations": { "type": "array", "items": location },
                        },
                    } },
                },
            } },
        },
    })
}

/// Validates the log and returns the rules of its results, in order.
fn rules(repository: &Repository, arguments: &[&str]) -> Vec<String> {
    let output = repository.output(arguments, &[]);
    let log: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{arguments:?}: {error}: {}", String::from_utf8_lossy(&output.stderr));
    });
    let validator = Validator::new(&schema()).unwrap();
    let errors: Vec<String> = validator.iter_errors(&log).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{arguments:?}: {errors:?}\n{log}");
    let results = log["runs"][0]["results"].as_array().unwrap();
    let known = log["runs"][0]["tool"]["driver"]["rules"].as_array().cloned().unwrap_or_default();
    for result in results {
        assert!(
            known.iter().any(|rule| rule["id"] == result["ruleId"]),
            "{arguments:?}: {result} is of no listed rule"
        );
    }
    results.iter().map(|result| result["ruleId"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn findings_have_what_the_schema_of_sarif_requires() {
    let repository = Repository::new(&[
        ("ä \"b\".ts", "import './c';\nimport './gone';\nimport 'bare';\n"),
        ("c.ts", "import './ä \"b\"';\r\n"),
    ]);
    assert_eq!(rules(&repository, &["graph", "--format", "sarif"]), ["missing-import", "missing-import"]);
    assert_eq!(rules(&repository, &["cycles", "--format", "sarif"]), ["import-cycle"]);
    repository.write("../reply.md", "### Patch: c.ts\n\n```diff\n--- a/c.ts\n+++ b/c.ts\n@@ -1 +1 @@\n-x\n+y\n```\n");
    assert!(repository.output(&["run", "--context", "--meta"], &[]).status.success());
    let rejected = repository.output(&["check", "../reply.md", "--format", "sarif"], &[]);
    assert_eq!(rejected.status.code(), Some(1));
    assert!(
        rules(&repository, &["check", "../reply.md", "--format", "sarif"])
            .iter()
            .all(|rule| rule.starts_with("STAN-REPLY-"))
    );
}

#[test]
fn a_log_without_findings_is_valid_too() {
    let empty = Repository::new(&[]);
    for command in ["graph", "cycles"] {
        assert_eq!(rules(&empty, &[command, "--format", "sarif"]), [""; 0]);
    }
}

#[test]
fn other_forms_at_once_are_refused() {
    let repository = Repository::new(&[("a.ts", "export {};\n")]);
    for arguments in [["cycles", "--format", "sarif", "--json"], ["graph", "--format", "sarif", "a.ts"]] {
        assert_eq!(repository.output(&arguments, &[]).status.code(), Some(2), "{arguments:?}");
    }
}
