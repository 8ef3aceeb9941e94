//! The committed schema matches the types, and agrees with the parser.
//!
//! `UPDATE_EXPECT=1 cargo test -p stan-engine --lib schema` rewrites it.

use expect_test::expect_file;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};
use stan_model::document::config::ConfigFile;

use crate::config::{parse, read};

fn schema() -> Value {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<ConfigFile>();
    let mut value = serde_json::to_value(&schema).unwrap();
    value.as_object_mut().unwrap().insert("$id".to_owned(), "stan.config".into());
    // In canonical order: another crate may enable order-preserving maps, which must not change the file.
    serde_json::from_slice(&stan_model::jcs::to_vec(&value).unwrap()).unwrap()
}

#[test]
fn the_committed_schema_is_up_to_date() {
    let text = format!("{}\n", serde_json::to_string_pretty(&schema()).unwrap());
    expect_file!["../../../../../schemas/stan.config.schema.json"].assert_eq(&text);
}

#[test]
fn the_schema_has_the_keys_of_the_reader() {
    for (definition, keys) in [("StanCore", read::KEYS.as_slice()), ("ContextSection", read::CONTEXT_KEYS.as_slice())] {
        let schema = schema();
        let properties = schema["$defs"][definition]["properties"].as_object().unwrap();
        let mut keys = keys.to_vec();
        let mut found: Vec<&str> = properties.keys().map(String::as_str).collect();
        keys.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, keys);
    }
}

#[test]
fn the_schema_has_the_defaults_of_the_reader() {
    fn defaults(properties: &Value) -> Value {
        let properties = properties.as_object().unwrap().iter();
        properties.filter_map(|(key, schema)| Some((key.clone(), schema.get("default")?.clone()))).collect()
    }
    let schema = schema();
    let mut block = defaults(&schema["$defs"]["StanCore"]["properties"]);
    block["context"] = defaults(&schema["$defs"]["ContextSection"]["properties"]);
    let text = json!({ "stan-core": block }).to_string();
    assert_eq!(block["context"].as_object().unwrap().len(), read::CONTEXT_KEYS.len());
    assert_eq!(parse(&text, "x.json"), Ok(crate::config::Config::default()));
}

#[test]
fn schema_and_reader_agree() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let block = |block: Value| json!({ "stan-core": block, "other": 1 });
    let context = |key: &str, value: Value| block(json!({ "context": { key: value } }));
    let documents = [
        json!({}),
        json!([]),
        json!("x"),
        block(json!(null)),
        block(json!([])),
        block(
            json!({ "stanPath": "x", "includes": ["a"], "excludes": [], "imports": { "l": "a", "m": ["b"], "n": null } }),
        ),
        block(json!({ "stanPath": 1 })),
        block(json!({ "stanPath": "" })),
        block(json!({ "includes": "a" })),
        block(json!({ "includes": [1] })),
        block(json!({ "includes": [""] })),
        block(json!({ "imports": { "l": 1 } })),
        block(json!({ "imports": [] })),
        block(json!({ "include": [] })),
        context("metaHashes", json!("external")),
        context("metaHashes", json!("External")),
        context("descriptionLimit", json!(1)),
        context("descriptionLimit", json!(0)),
        context("descriptionLimit", json!("1")),
        context("descriptionTags", json!(["@a"])),
        context("descriptionTags", json!(["a"])),
        context("externalDepth", json!(-1)),
        context("externalDepth", json!(1.5)),
        context("externalDepth", json!(7)),
        context("outsideRoot", json!("yes")),
        context("outsideRoot", json!(null)),
        context("maxErrors", json!(0)),
        context("maxError", json!(0)),
    ];
    for document in documents {
        let is_read = parse(&document.to_string(), "x.json").is_ok();
        assert_eq!(validator.is_valid(&document), is_read, "{document}");
    }
}
