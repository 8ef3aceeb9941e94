//! Configurations, what they come to, and what is said about broken ones.

use expect_test::{Expect, expect};
use stan_repo::MemorySystem;

use super::*;

/// Everything that differs from the defaults, in the words of the file.
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
fn whole_configuration() {
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
fn json_is_read_alike() {
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
fn what_says_nothing_leaves_the_defaults() {
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
fn wrong_types() {
    check(
        "stan-core:\n  context:\n    externalDepth: two\n",
        &expect![[r#"
        stan.config.yml:3:20: `stan-core.context.externalDepth` must be a whole number of 0 or more, found "two"
    "#]],
    );
    check(
        "stan-core:\n  context:\n    externalDepth: -1\n    maxErrors: 1.5\n",
        &expect![[r#"
        stan.config.yml:3:20: `stan-core.context.externalDepth` must be a whole number of 0 or more, found -1
        stan.config.yml:4:16: `stan-core.context.maxErrors` must be a whole number of 0 or more, found 1.5
    "#]],
    );
    check(
        "stan-core:\n  context:\n    descriptionLimit: 0\n    externalDepth: 4294967296\n",
        &expect![[r#"
        stan.config.yml:3:23: `stan-core.context.descriptionLimit` must be a whole number of 1 or more, found 0
        stan.config.yml:4:20: `stan-core.context.externalDepth` must be a whole number of 0 or more, found 4294967296
    "#]],
    );
    check(
        "stan-core:\n  context:\n    outsideRoot: yes\n    metaHashes: none\n",
        &expect![[r#"
        stan.config.yml:3:18: `stan-core.context.outsideRoot` must be `true` or `false`, found "yes"
        stan.config.yml:4:17: `stan-core.context.metaHashes` must be `all` or `external`, found "none"
    "#]],
    );
    check(
        "stan-core:\n  context:\n    maxErrors: '50'\n    metaHashes: true\n",
        &expect![[r#"
        stan.config.yml:3:16: `stan-core.context.maxErrors` must be a whole number of 0 or more, found "50"
        stan.config.yml:4:17: `stan-core.context.metaHashes` must be `all` or `external`, found true
    "#]],
    );
    check(
        "stan-core:\n  context:\n    descriptionTags: '@module'\n",
        &expect![[r#"
        stan.config.yml:3:22: `stan-core.context.descriptionTags` must be a list of tags such as `@module`, found "@module"
    "#]],
    );
    check(
        "stan-core:\n  context:\n    descriptionTags: [module, '@', '@a b', 3]\n",
        &expect![[r#"
        stan.config.yml:3:23: `stan-core.context.descriptionTags[0]` must be a tag such as `@module`, found "module"
        stan.config.yml:3:31: `stan-core.context.descriptionTags[1]` must be a tag such as `@module`, found "@"
        stan.config.yml:3:36: `stan-core.context.descriptionTags[2]` must be a tag such as `@module`, found "@a b"
        stan.config.yml:3:44: `stan-core.context.descriptionTags[3]` must be a tag such as `@module`, found 3
    "#]],
    );
    check(
        "stan-core:\n  includes: src/**\n  excludes: { a: b }\n",
        &expect![[r#"
        stan.config.yml:2:13: `stan-core.includes` must be a list of globs, found "src/**"
        stan.config.yml:3:13: `stan-core.excludes` must be a list of globs, found a map
    "#]],
    );
    check(
        "stan-core:\n  includes: [1, true, null, [a]]\n",
        &expect![[r#"
        stan.config.yml:2:14: `stan-core.includes[0]` must be a glob, found 1
        stan.config.yml:2:17: `stan-core.includes[1]` must be a glob, found true
        stan.config.yml:2:23: `stan-core.includes[2]` must be a glob, found nothing
        stan.config.yml:2:29: `stan-core.includes[3]` must be a glob, found a list
    "#]],
    );
    check(
        "stan-core:\n  stanPath: 5\n",
        &expect![[r#"
        stan.config.yml:2:13: `stan-core.stanPath` must be a text, found 5
    "#]],
    );
    check(
        "stan-core: yes\n",
        &expect![[r#"
        stan.config.yml:1:12: `stan-core` must be a map of keys and values, found "yes"
    "#]],
    );
    check(
        "stan-core:\n  - stanPath\n",
        &expect![[r#"
        stan.config.yml:2:3: `stan-core` must be a map of keys and values, found a list
    "#]],
    );
    check(
        "- stan-core\n",
        &expect![[r#"
        stan.config.yml:1:1: the file must be a map of blocks, found a list
    "#]],
    );
    check(
        "stan-core",
        &expect![[r#"
        stan.config.yml:1:1: the file must be a map of blocks, found "stan-core"
    "#]],
    );
    check_as(
        "stan.config.json",
        "{\n  \"stan-core\": {\n    \"context\": 5 } }",
        &expect![[r#"
        stan.config.json:3:16: `stan-core.context` must be a map of keys and values, found 5
    "#]],
    );
}

#[test]
fn unknown_keys() {
    check(
        "stan-core:\n  include: []\n",
        &expect![[r#"
        stan.config.yml:2:3: unknown key `stan-core.include`; did you mean `includes`?
    "#]],
    );
    check(
        "stan-core:\n  stan-path: .stan\n  exclude: [a]\n  zzz: 1\n",
        &expect![[r#"
        stan.config.yml:2:3: unknown key `stan-core.stan-path`; did you mean `stanPath`?
        stan.config.yml:3:3: unknown key `stan-core.exclude`; did you mean `excludes`?
        stan.config.yml:4:3: unknown key `stan-core.zzz`; known here are `stanPath`, `includes`, `excludes`, `imports`, `context`
    "#]],
    );
    check(
        "stan-core:\n  context:\n    metaHash: all\n    maxerrors: 3\n    includes: []\n",
        &expect![[r#"
        stan.config.yml:3:5: unknown key `stan-core.context.metaHash`; did you mean `metaHashes`?
        stan.config.yml:4:5: unknown key `stan-core.context.maxerrors`; did you mean `maxErrors`?
        stan.config.yml:5:5: unknown key `stan-core.context.includes`; known here are `metaHashes`, `descriptionLimit`, `descriptionTags`, `externalDepth`, `outsideRoot`, `maxErrors`
    "#]],
    );
    check(
        "stan_core:\n  includes: []\n",
        &expect![[r#"
        stan.config.yml:1:1: unknown block `stan_core`; did you mean `stan-core`?
    "#]],
    );
    check(
        "stan-core:\n  <<: {}\n  ? [a]\n  : b\n",
        &expect![[r#"
        stan.config.yml:3:5: a list or a map cannot be a key
    "#]],
    );
}

#[test]
fn repeated_keys() {
    check(
        "stan-core:\n  includes: []\nstan-core:\n  excludes: []\n",
        &expect![[r#"
        stan.config.yml:3:1: `stan-core` is given twice, first in line 1; remove one
    "#]],
    );
    check(
        "stan-core:\n  context:\n    maxErrors: 1\n    maxErrors: 2\n",
        &expect![[r#"
        stan.config.yml:4:5: `stan-core.context.maxErrors` is given twice, first in line 3; remove one
    "#]],
    );
    check(
        "stan-core:\n  imports:\n    a: b\n    a: c\n",
        &expect![[r#"
        stan.config.yml:4:5: `stan-core.imports.a` is given twice, first in line 3; remove one
    "#]],
    );
    check_as(
        "stan.config.json",
        r#"{"stan-core": {"stanPath": "a", "stanPath": "b"}}"#,
        &expect![[r#"
        stan.config.json:1:33: `stan-core.stanPath` is given twice, first in line 1; remove one
    "#]],
    );
}

#[test]
fn folders_that_stan_cannot_have() {
    check(
        "stan-core:\n  stanPath: ''\n",
        &expect![[r#"
        stan.config.yml:2:13: `stanPath` cannot be ``, because it is empty; leave it out for `.stan`
    "#]],
    );
    check(
        "stan-core:\n  stanPath: .\n",
        &expect![[r#"
        stan.config.yml:2:13: `stanPath` cannot be `.`, because it is the root itself; it must be a folder below the root
    "#]],
    );
    check(
        "stan-core:\n  stanPath: /tmp\n",
        &expect![[r#"
        stan.config.yml:2:13: `stanPath` cannot be `/tmp`, because it is absolute; it must be a folder below the root
    "#]],
    );
    check(
        "stan-core:\n  stanPath: .git\n",
        &expect![[r#"
        stan.config.yml:2:13: `stanPath` cannot be `.git`, because it is in git's own folder
    "#]],
    );
    check(
        "stan-core:\n  stanPath: ../x\n",
        &expect![[r#"
        stan.config.yml:2:13: `stanPath` cannot be `../x`, because it leaves the root; it must be a folder below the root
    "#]],
    );
}

#[test]
fn globs_that_cannot_be_used() {
    check(
        "stan-core:\n  includes:\n    - '!(a)'\n    - ok/**\n    - '!b'\n",
        &expect![[r#"
        stan.config.yml:3:7: the glob `!(a)` in `stan-core.includes[0]` cannot be used, because extended globs such as `!(…)` are not supported; write alternatives as `{a,b}`
        stan.config.yml:5:7: the glob `!b` in `stan-core.includes[2]` cannot be used, because negated globs are not supported; put what should be left out under `excludes`
    "#]],
    );
    check(
        "stan-core:\n  excludes: ['a/@(b|c)', '[a', '{a', dist/, /dist]\n",
        &expect![[r#"
        stan.config.yml:2:14: the glob `a/@(b|c)` in `stan-core.excludes[0]` cannot be used, because extended globs such as `!(…)` are not supported; write alternatives as `{a,b}`
        stan.config.yml:2:26: the glob `[a` in `stan-core.excludes[1]` cannot be used, because a `[` in it is never closed; write `\[` for the character
        stan.config.yml:2:32: the glob `{a` in `stan-core.excludes[2]` cannot be used, because a `{` in it is never closed; write `\{` for the character
        stan.config.yml:2:38: the glob `dist/` in `stan-core.excludes[3]` cannot be used, because it ends with `/`, and only files are matched; write `dist/**` for all that is below the folder
        stan.config.yml:2:45: the glob `/dist` in `stan-core.excludes[4]` cannot be used, because globs are relative to the root; write `dist`
    "#]],
    );
    check(
        "stan-core:\n  includes: ['../a', 'a\\b', '']\n",
        &expect![[r#"
        stan.config.yml:2:14: the glob `../a` in `stan-core.includes[0]` cannot be used, because `..` in it would leave the root or match nothing
        stan.config.yml:2:22: the glob `a\\b` in `stan-core.includes[1]` cannot be used, because `\b` escapes nothing; folders are separated by `/`, and a backslash takes the meaning from the character after it
        stan.config.yml:2:29: the glob `` in `stan-core.includes[2]` cannot be used, because it is empty
    "#]],
    );
    check(
        "stan-core:\n  imports:\n    docs: '!(a)'\n    more: [ok, '~/x', ../..]\n",
        &expect![[r#"
        stan.config.yml:3:11: the glob `!(a)` in `stan-core.imports.docs` cannot be used, because extended globs such as `!(…)` are not supported; write alternatives as `{a,b}`
        stan.config.yml:4:16: the glob `~/x` in `stan-core.imports.more[1]` cannot be used, because `~` is not expanded; write the whole path
        stan.config.yml:4:23: the glob `../..` in `stan-core.imports.more[2]` cannot be used, because it names a folder; write what is wanted in it, such as `**/*.md`
    "#]],
    );
}

#[test]
fn labels_that_cannot_be_used() {
    check(
        "stan-core:\n  imports:\n    ../up: a\n    '': b\n    /abs: c\n    a\\b: d\n",
        &expect![[r#"
        stan.config.yml:3:5: the import label `../up` cannot be used, because it contains `..`, which would leave `<stanPath>/imports`
        stan.config.yml:4:5: the import label `` cannot be used, because it is empty
        stan.config.yml:5:5: the import label `/abs` cannot be used, because it is absolute; it names a folder below `<stanPath>/imports`
        stan.config.yml:6:5: the import label `a\\b` cannot be used, because it contains a backslash; nested folders are separated by `/`
    "#]],
    );
    check(
        "stan-core:\n  imports:\n    a: x\n    a/b: y\n",
        &expect![[r#"
        stan.config.yml:4:5: the import label `a/b` is a folder inside that of `a`; give them separate folders
    "#]],
    );
    check(
        "stan-core:\n  imports: [a]\n",
        &expect![[r#"
        stan.config.yml:2:12: `stan-core.imports` must be a map of keys and values, found a list
    "#]],
    );
    check(
        "stan-core:\n  imports:\n    a: { b: c }\n    d: 5\n    e: [6]\n",
        &expect![[r#"
        stan.config.yml:3:8: `stan-core.imports.a` must be a glob or a list of globs, found a map
        stan.config.yml:4:8: `stan-core.imports.d` must be a glob or a list of globs, found 5
        stan.config.yml:5:9: `stan-core.imports.e` must be a glob, found 6
    "#]],
    );
}

#[test]
fn texts_that_are_not_yaml_or_json() {
    check(
        "stan-core:\n\tincludes: []\n",
        &expect![[r#"
        stan.config.yml:2:2: this is not valid YAML: tabs disallowed within this context (block indentation)
    "#]],
    );
    check(
        "stan-core: [\n",
        &expect![[r#"
        stan.config.yml:2:1: this is not valid YAML: while parsing a node, did not find expected node content
    "#]],
    );
    check(
        "stan-core: {a: 'b\n",
        &expect![[r#"
        stan.config.yml:1:16: this is not valid YAML: while scanning a quoted scalar, found unexpected end of stream
    "#]],
    );
    check(
        "a: b: c\n",
        &expect![[r#"
        stan.config.yml:1:5: this is not valid YAML: mapping values are not allowed in this context
    "#]],
    );
    check(
        "stan-core: {}\n---\nstan-core: {}\n",
        &expect![[r#"
        stan.config.yml:2:1: a second YAML document starts here; only one is allowed
    "#]],
    );
    check(
        &"[".repeat(100),
        &expect![[r#"
        stan.config.yml:1:65: lists and maps nest deeper than 64 here
    "#]],
    );
    check(
        "a: &x {}\nstan-core: *x\n",
        &expect![[r#"
        stan.config.yml:2:12: `stan-core` is an alias; inside `stan-core` values are written out, so write the value here
    "#]],
    );
    check(
        "stan-core:\n  stanPath: !!str 5\n  includes: !list []\n",
        &expect![[r#"
        stan.config.yml:2:13: `stan-core.stanPath` is a value with a tag; inside `stan-core` values are written out, so write the value here
        stan.config.yml:3:13: `stan-core.includes` is a value with a tag; inside `stan-core` values are written out, so write the value here
    "#]],
    );
    check(
        "stan-core: *missing\n",
        &expect![[r#"
        stan.config.yml:1:12: this is not valid YAML: while parsing node, found unknown anchor
    "#]],
    );
    check_as(
        "stan.config.json",
        "{\n  // comment\n}",
        &expect![[r#"
        stan.config.json:2:3: this is not valid JSON: key must be a string
    "#]],
    );
    check_as(
        "stan.config.json",
        "{\"stan-core\": {},}",
        &expect![[r#"
        stan.config.json:1:18: this is not valid JSON: key must be a string
    "#]],
    );
    check_as(
        "stan.config.json",
        &"[".repeat(200),
        &expect![[r#"
        stan.config.json:1:128: this is not valid JSON: recursion limit exceeded: containers may nest 127 deep
    "#]],
    );
}

#[test]
fn mistakes_are_told_up_to_a_limit() {
    let keys: String = (0..500).map(|index| format!("  zzzzzzzzzz{index}: 1\n")).collect();
    let error = parse(&format!("stan-core:\n{keys}"), "x.yml").unwrap_err();
    assert_eq!(error.findings.len(), 50);
}
