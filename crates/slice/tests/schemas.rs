//! The committed schemas match the types. `UPDATE_EXPECT=1 cargo test -p stan-slice --test schemas` rewrites them.

use expect_test::{ExpectFile, expect_file};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use stan_model::document::{x07, x07_schema};

fn check<T: JsonSchema>(id: &str, committed: &ExpectFile) {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
    let mut value = serde_json::to_value(&schema).unwrap();
    value.as_object_mut().unwrap().insert("$id".to_owned(), id.into());
    // Sort canonically first: another crate may enable maps that preserve order, and the file must not depend on that.
    let canonical = stan_model::jcs::to_vec(&value).unwrap();
    let sorted: serde_json::Value = serde_json::from_slice(&canonical).unwrap();
    committed.assert_eq(&format!("{}\n", serde_json::to_string_pretty(&sorted).unwrap()));
}

#[test]
fn committed_schemas_are_up_to_date() {
    check::<x07::SliceReport>("x07-slice.report", &expect_file!["../../../schemas/x07-slice.report.schema.json"]);
    check::<x07_schema::ContextPackDocument>(
        "x07-agent.context",
        &expect_file!["../../../schemas/x07-agent.context.schema.json"],
    );
    check::<x07_schema::ToolReport>("x07-tool.report", &expect_file!["../../../schemas/x07-tool.report.schema.json"]);
}
