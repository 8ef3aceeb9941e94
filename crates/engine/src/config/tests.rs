//! Configurations, their values, and the messages about broken ones.

use expect_test::{Expect, expect};

use super::*;

mod laws;
mod messages;
mod places;
mod schema;

/// Every value that differs from the defaults, with its key.
fn show(config: &Config) -> String {
    let defaults = Config::default();
    let mut shown = String::new();
    let mut line = |name: &str, is_default: bool, value: String| {
        if !is_default {
            shown.push_str(&format!("{name}: {value}\n"));
        }
    };
    let (context, other) = (&config.context, &defaults.context);
    line("stanPath", config.stan_path == defaults.stan_path, config.stan_path.clone());
    line("includes", config.includes.is_empty(), config.includes.join(" "));
    line("excludes", config.excludes.is_empty(), config.excludes.join(" "));
    line("imports", config.imports.is_empty(), format!("{:?}", config.imports));
    line("rootTokens", context.root_tokens == other.root_tokens, context.root_tokens.to_string());
    line("metaHashes", context.meta_hashes == other.meta_hashes, context.meta_hashes.as_str().to_owned());
    line(
        "descriptionLimit",
        context.description_limit == other.description_limit,
        context.description_limit.to_string(),
    );
    line("descriptionTags", context.description_tags == other.description_tags, context.description_tags.join(" "));
    line("externalDepth", context.external_depth == other.external_depth, context.external_depth.to_string());
    line("outsideRoot", context.outside_root == other.outside_root, context.outside_root.to_string());
    line("maxErrors", context.max_errors == other.max_errors, context.max_errors.to_string());
    shown
}

fn check(text: &str, expected: &Expect) {
    check_as("stan.config.yml", text, expected);
}

fn check_as(name: &str, text: &str, expected: &Expect) {
    let shown = match parse(text, name) {
        Ok(config) => show(&config),
        Err(error) => format!("{error}\n"),
    };
    expected.assert_eq(&shown);
}

#[test]
fn every_key_of_a_configuration_is_read() {
    let text = "
stan-core:
  stanPath: ./tools/stan/
  includes: [dist/**/*.d.ts, '[id].ts']
  excludes:
    - '**/*.snap'
  imports:
    docs: ../docs/**/*.md
    '@scope/name': [a.md, /srv/b.md]
  context:
    metaHashes: external
    descriptionLimit: 80
    descriptionTags: ['@file']
    externalDepth: 2
    outsideRoot: false
    maxErrors: 0
stan-cli:
  anything: [&a 1, *a, !!str 2]
";
    check(
        text,
        &expect![[r#"
        stanPath: tools/stan
        includes: dist/**/*.d.ts [id].ts
        excludes: **/*.snap
        imports: {"@scope/name": ["a.md", "/srv/b.md"], "docs": ["../docs/**/*.md"]}
        metaHashes: external
        descriptionLimit: 80
        descriptionTags: @file
        externalDepth: 2
        outsideRoot: false
        maxErrors: 0
    "#]],
    );
}

#[test]
fn json_configurations_are_read_like_yaml() {
    let text = r#"{
  "$schema": "./schema.json",
	"stan-core": { "stanPath": "\u002estan2", "includes": ["a/**"], "context": { "outsideRoot": false, "maxErrors": 7 } }
}"#;
    check_as(
        "stan.config.json",
        text,
        &expect![[r#"
        stanPath: .stan2
        includes: a/**
        outsideRoot: false
        maxErrors: 7
    "#]],
    );
    check(
        "{\"stan-core\": {\"includes\": [\"a/**\"]}}",
        &expect![[r#"
        includes: a/**
    "#]],
    );
}

#[test]
fn an_empty_file_or_block_leaves_the_defaults() {
    for text in [
        "",
        "\n\n",
        "# nothing\n",
        "---\n",
        "null",
        "{}",
        "stan-core:\n",
        "stan-core: {}",
        "stan-cli: {}",
        "\u{feff}",
        "stan-core:\n  includes:\n  # - a\n  context:\n",
        "stan-core: { imports: { }, excludes: [] }",
    ] {
        check(text, &expect![""]);
    }
    for text in ["", " \n", "{}", "null", "{\"stan-core\": null}"] {
        check_as("stan.config.json", text, &expect![""]);
    }
}

#[test]
fn an_override_of_the_folder_is_checked_alike() {
    let mut config = Config::default();
    assert_eq!(config.set_stan_path("./x/"), Ok(()));
    assert_eq!(config.stan_path, "x");
    let error = config.set_stan_path("../x").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`stanPath` cannot be `../x`, because it leaves the root; it must be a folder below the root"
    );
    assert_eq!(config.stan_path, "x");
}

#[test]
fn options_of_the_graph_come_from_the_configuration() {
    let text = "stan-core: { stanPath: s, includes: [i], excludes: [e], context: { descriptionLimit: 9, \
                descriptionTags: ['@t'], externalDepth: 3, outsideRoot: false, maxErrors: 4 } }";
    let options = parse(text, "x.yml").unwrap().graph_options("/r");
    let defaults = GraphOptions::new("/r");
    assert_eq!(format!("{:?}", Config::default().graph_options("/r")), format!("{defaults:?}"));
    assert_eq!((options.root.as_str(), options.scan.stan_path.as_str()), ("/r", "s"));
    assert_eq!((options.scan.includes, options.scan.excludes), (vec!["i".to_owned()], vec!["e".to_owned()]));
    assert_eq!((options.extract.description_limit, options.extract.description_tags), (9, vec!["@t".to_owned()]));
    assert_eq!((options.external_depth, options.resolve.outside_root, options.max_errors), (3, false, 4));
}
