//! The committed schemas of the context files match the code, and agree with the readers. `UPDATE_EXPECT=1 cargo test -p
//! stan-graph --test schemas` rewrites them.

use expect_test::{ExpectFile, expect_file};
use serde_json::Value;
use stan_graph::{Map, SelectOptions, SelectionEntry, summarize};
use stan_model::document::{context_schema, externals_lock, state};

fn check(schema: &Value, committed: &ExpectFile) {
    // Sort canonically first: another crate may enable maps that preserve order, and the file must not depend on that.
    let canonical = stan_model::jcs::to_vec(schema).unwrap();
    let sorted: Value = serde_json::from_slice(&canonical).unwrap();
    committed.assert_eq(&format!("{}\n", serde_json::to_string_pretty(&sorted).unwrap()));
}

#[test]
fn committed_schemas_are_up_to_date() {
    check(&context_schema::state(), &expect_file!["../../../schemas/dependency.state.schema.json"]);
    check(&context_schema::meta(), &expect_file!["../../../schemas/dependency.meta.schema.json"]);
    check(&context_schema::externals_lock(), &expect_file!["../../../schemas/dependency.map.schema.json"]);
    check(&context_schema::selection_summary(), &expect_file!["../../../schemas/selection.summary.schema.json"]);
}

/// Checks that schema and reader accept the same documents.
fn same_verdict(schema: &Value, reads: impl Fn(&[u8]) -> bool, documents: &[(&str, bool)]) {
    let validator = jsonschema::validator_for(schema).unwrap();
    for (text, is_fine) in documents {
        assert_eq!(reads(text.as_bytes()), *is_fine, "the reader about {text}");
        assert_eq!(validator.is_valid(&serde_json::from_str(text).unwrap()), *is_fine, "the schema about {text}");
    }
}

#[test]
fn schema_and_reader_agree_about_selections() {
    same_verdict(
        &context_schema::state(),
        |bytes| state::decode(bytes, "s").is_ok(),
        &[
            (r#"{"v":2,"i":[]}"#, true),
            (r#"{"v":2,"i":["a",["b"],["c",1],["d",2,3],["./e\\f",0,99]],"x":["g"]}"#, true),
            (r#"{"v":3,"i":[]}"#, false),
            (r#"{"v":2}"#, false),
            (r#"{"v":2,"i":[],"y":[]}"#, false),
            (r#"{"v":2,"i":[["a",-1]]}"#, false),
            (r#"{"v":2,"i":[["a",0.5]]}"#, false),
            (r#"{"v":2,"i":[["a",1,-1]]}"#, false),
            (r#"{"v":2,"i":[["a",1,["type"]]]}"#, false),
            (r#"{"v":2,"i":[["a",1,1,1]]}"#, false),
            (r#"{"v":2,"i":[[]]}"#, false),
            (r#"{"v":2,"i":[""]}"#, false),
            (r#"{"v":2,"i":["/a"]}"#, false),
            (r#"{"v":2,"i":["C:\\a"]}"#, false),
            (r#"{"v":2,"i":["a/../b"]}"#, false),
            (r#"{"v":2,"i":["a..b/..c"]}"#, true),
            (r#"{"v":2,"i":["a\u0000"]}"#, false),
        ],
    );
}

#[test]
fn schema_and_reader_agree_about_maps() {
    same_verdict(
        &context_schema::meta(),
        |bytes| Map::decode(bytes, "m").is_ok(),
        &[
            (r#"{"v":2,"n":{}}"#, true),
            (
                r#"{"v":2,"n":{"a":{"k":0,"s":1,"h":"ABEiM0RVZneImaq7zN3u_w","d":"x","e":[["a",7],["b",1,3]]},"b":{"k":3}}}"#,
                true,
            ),
            (r#"{"v":2,"n":{"a":{}}}"#, false),
            (r#"{"v":2,"n":{"a":{"k":4}}}"#, false),
            (r#"{"v":2,"n":{"a":{"k":0,"s":null}}}"#, false),
            (r#"{"v":2,"n":{"a":{"k":0,"h":"ABEiM0RVZneImaq7zN3u_x"}}}"#, false),
            (r#"{"v":2,"n":{"a":{"k":0,"e":[["a"]]}}}"#, false),
            (r#"{"v":2,"n":{"a":{"k":0,"e":[["a",8]]}}}"#, false),
            (r#"{"v":2,"n":{"a":{"k":0,"e":[["a",1,0]]}}}"#, false),
            (r#"{"v":2,"n":{"a":{"k":0,"q":1}}}"#, false),
        ],
    );
}

#[test]
fn schema_and_reader_agree_about_externals_locks() {
    let node = |fields: &str| {
        let hash = "0".repeat(64);
        format!(
            r#"{{"v":1,"nodes":{{"s/context/npm/p/1/x":{{"id":"s/context/npm/p/1/x","size":1,"sha256":"{hash}"{fields}}}}}}}"#
        )
    };
    let documents = [
        (node(r#","locatorAbs":"/a""#), true),
        (node(r#","locatorAbs":"/a","pkgName":"p","pkgVersion":"1","pathInPackage":"x""#), true),
        (node(r#","locatorAbs":"/a","pkgName":"p","pkgVersion":"1""#), false),
        (node(r#","locatorAbs":"a""#), false),
        (node(""), false),
        (node(r#","locatorAbs":"/a","z":1"#), false),
        (r#"{"v":1,"nodes":{}}"#.to_owned(), true),
        (r#"{"v":2,"nodes":{}}"#.to_owned(), false),
    ];
    let documents: Vec<(&str, bool)> = documents.iter().map(|(text, is_fine)| (text.as_str(), *is_fine)).collect();
    same_verdict(&context_schema::externals_lock(), |bytes| externals_lock::decode(bytes, "i").is_ok(), &documents);
}

#[test]
fn summaries_match_their_schema() {
    let map = Map::decode(br#"{"v":2,"n":{"a":{"k":0,"s":3}}}"#, "m").unwrap();
    let entries = [SelectionEntry::node("a"), SelectionEntry::node("gone")];
    let summary = summarize(&map, &entries, &[], &SelectOptions::default()).unwrap();
    let validator = jsonschema::validator_for(&context_schema::selection_summary()).unwrap();
    assert!(validator.is_valid(&serde_json::to_value(&summary).unwrap()));
    assert_eq!((summary.selected_count, summary.total_bytes, summary.largest.len()), (2, 3, 2));
}
