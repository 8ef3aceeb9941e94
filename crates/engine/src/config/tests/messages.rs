//! The messages about broken configurations.

use expect_test::expect;

use super::{check, check_as};

#[test]
fn a_value_of_the_wrong_type_is_reported_with_the_expected_type() {
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
            stan.config.yml:4:20: `stan-core.context.externalDepth` must be a whole number of at most 4294967295, found 4294967296
        "#]],
    );
    check(
        "stan-core:\n  context:\n    outsideRoot: yes\n    metaHashes: nope\n",
        &expect![[r#"
        stan.config.yml:3:18: `stan-core.context.outsideRoot` must be `true` or `false`, found "yes"
        stan.config.yml:4:17: `stan-core.context.metaHashes` must be `all`, `external` or `none`, found "nope"
    "#]],
    );
    check(
        "stan-core:\n  context:\n    maxErrors: '50'\n    metaHashes: true\n",
        &expect![[r#"
        stan.config.yml:3:16: `stan-core.context.maxErrors` must be a whole number of 0 or more, found "50"
        stan.config.yml:4:17: `stan-core.context.metaHashes` must be `all`, `external` or `none`, found true
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
            stan.config.yml:2:29: `stan-core.includes[3]` must be a glob, found a list; put quotes around a glob that starts so
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
fn an_unknown_key_is_reported_with_the_nearest_one() {
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
            stan.config.yml:5:5: unknown key `stan-core.context.includes`; known here are `metaHashes`, `overviewTokens`, `metaTokens`, `rootTokens`, `descriptionLimit`, `descriptionTags`, `externalDepth`, `outsideRoot`, `maxErrors`
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
fn a_repeated_key_is_reported_with_both_lines() {
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
            stan.config.yml:5:7: the glob `!b` in `stan-core.includes[2]` cannot be used, because negated globs are not supported; `includes` adds files, and `excludes` takes files out
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
            stan.config.yml:2:22: the glob `a\b` in `stan-core.includes[1]` cannot be used, because `\b` escapes nothing; folders are separated by `/`, and a backslash takes the meaning from the character after it
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
            stan.config.yml:6:5: the import label `a\b` cannot be used, because it contains a backslash; nested folders are separated by `/`
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
            stan.config.yml:1:16: this is not valid YAML: while scanning a quoted scalar, found unexpected end of stream; a text that starts with `{` or `[` needs quotes
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
            stan.config.yml:2:12: `stan-core` is an alias, which `stan-core` does not take; write the value out, with quotes if it is a text
        "#]],
    );
    check(
        "stan-core:\n  stanPath: !!str 5\n  includes: !list []\n",
        &expect![[r#"
            stan.config.yml:2:13: `stan-core.stanPath` is a value with a tag, which `stan-core` does not take; write the value out, with quotes if it is a text
            stan.config.yml:3:13: `stan-core.includes` is a value with a tag, which `stan-core` does not take; write the value out, with quotes if it is a text
        "#]],
    );
    check(
        "stan-core: *missing\n",
        &expect![[r#"
            stan.config.yml:1:12: this is not valid YAML: while parsing node, found unknown anchor; a text that starts with `*` needs quotes
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
        "{\"äöü\": 1,}",
        &expect![[r#"
        stan.config.json:1:11: this is not valid JSON: key must be a string
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
fn globs_that_need_quotes() {
    check(
        "stan-core:\n  excludes:\n    - **/*.snap\n",
        &expect![[r#"
        stan.config.yml:3:7: this is not valid YAML: while parsing node, found unknown anchor; a text that starts with `*` needs quotes
    "#]],
    );
    check(
        "stan-core:\n  excludes: [*.md]\n",
        &expect![[r#"
        stan.config.yml:2:14: this is not valid YAML: while parsing node, found unknown anchor; a text that starts with `*` needs quotes
    "#]],
    );
    check(
        "stan-core:\n  excludes:\n    - {a,b}/**\n",
        &expect![[r#"
        stan.config.yml:3:12: this is not valid YAML: while parsing a block collection, did not find expected '-' indicator; a text that starts with `{` or `[` needs quotes
    "#]],
    );
    check(
        "stan-core:\n  excludes:\n    - {a,b}\n    - [id]\n",
        &expect![[r#"
        stan.config.yml:3:7: `stan-core.excludes[0]` must be a glob, found a map; put quotes around a glob that starts so
        stan.config.yml:4:7: `stan-core.excludes[1]` must be a glob, found a list; put quotes around a glob that starts so
    "#]],
    );
    check(
        "stan-core:\n  excludes:\n    - [id].ts\n",
        &expect![[r#"
        stan.config.yml:3:11: this is not valid YAML: while parsing a block collection, did not find expected '-' indicator; a text that starts with `{` or `[` needs quotes
    "#]],
    );
    check(
        "stan-core:\n  excludes:\n    - !a\n",
        &expect![[r#"
        stan.config.yml:3:7: `stan-core.excludes[0]` is a value with a tag, which `stan-core` does not take; write the value out, with quotes if it is a text
    "#]],
    );
    check(
        "stan-core:\n  context:\n    descriptionTags: [@module]\n",
        &expect![[r#"
        stan.config.yml:3:23: this is not valid YAML: unexpected character: `@'; a text that starts with `@` needs quotes
    "#]],
    );
    check(
        "stan-core:\n  context:\n    descriptionTags:\n      - @module\n",
        &expect![[r#"
        stan.config.yml:4:9: this is not valid YAML: unexpected character: `@'; a text that starts with `@` needs quotes
    "#]],
    );
}
