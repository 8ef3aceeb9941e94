//! Broken documents, and the messages about them: exit code and full stderr, for users who see them for the first time. The
//! workspace never changes. Maps and snapshots are in `errors_maps.rs`, broken workspaces in `errors_workspace.rs`.

use std::fs;

use expect_test::{Expect, expect};

use crate::project::{STATE, everything, thread};
use crate::support::Repository;

/// Breaks a thread, runs the program, and compares all of its output. Nothing may have changed afterwards.
pub(crate) fn check(disturb: impl FnOnce(&Repository), arguments: &[&str], expected: &Expect) {
    let repository = thread();
    disturb(&repository);
    check_in(&repository, arguments, &[], expected);
}

pub(crate) fn check_in(repository: &Repository, arguments: &[&str], environment: &[(&str, &str)], expected: &Expect) {
    let before = everything(repository.root());
    let output = repository.output(arguments, environment);
    let said = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat();
    let said = said.replace(&repository.root().display().to_string(), "<root>");
    expected.assert_eq(&format!("exit {}\n{said}", output.status.code().unwrap_or(-1)));
    let after = everything(repository.root());
    let differ: Vec<_> =
        before.keys().chain(after.keys()).filter(|path| before.get(*path) != after.get(*path)).collect();
    assert!(differ.is_empty(), "a refused run changed {differ:?}");
}

const RUN: &[&str] = &["run", "--context"];

fn state(text: &str, expected: Expect) {
    check(|repository| repository.write(STATE, text), RUN, &expected);
}

#[test]
fn selections_that_are_not_json() {
    state(
        "",
        expect![[r#"
        exit 1
        error: the selection cannot be read
          `.stan/context/dependency.state.json` at line 1 column 1: not JSON: EOF while parsing a value
          help: fix the file; `stan state validate` checks it, {"v":2,"i":[]} selects nothing
    "#]],
    );
    state(
        "{\"v\":2,\"i\":[\"src/index.ts\",]}",
        expect![[r#"
        exit 1
        error: the selection cannot be read
          `.stan/context/dependency.state.json` at line 1 column 28: not JSON: expected value
          help: fix the file; `stan state validate` checks it, {"v":2,"i":[]} selects nothing
    "#]],
    );
    state(
        "{\"v\":2,\n \"i\":[\"src/index.ts\"]\n",
        expect![[r#"
        exit 1
        error: the selection cannot be read
          `.stan/context/dependency.state.json` at line 3 column 1: not JSON: EOF while parsing a list or an object
          help: fix the file; `stan state validate` checks it, {"v":2,"i":[]} selects nothing
    "#]],
    );
    state(
        "```json\n{\"v\":2,\"i\":[]}\n```\n",
        expect![[r#"
        exit 1
        error: the selection cannot be read
          `.stan/context/dependency.state.json` at line 1 column 1: not JSON: expected value
          help: fix the file; `stan state validate` checks it, {"v":2,"i":[]} selects nothing
    "#]],
    );
    check(
        |repository| fs::write(repository.root().join(STATE), b"{\"v\":2,\"i\":[\"\xff\"]}").unwrap(),
        RUN,
        &expect![[r#"
        exit 1
        error: the selection cannot be read
          `.stan/context/dependency.state.json` at line 1 column 14: not JSON: invalid UTF-8
          help: fix the file; `stan state validate` checks it, {"v":2,"i":[]} selects nothing
    "#]],
    );
}

#[test]
fn selections_of_another_shape() {
    state(
        "[]",
        expect![[r#"
        exit 1
        error: the selection cannot be read
          `.stan/context/dependency.state.json`: expected an object, found []
          help: fix the file; `stan state validate` checks it, {"v":2,"i":[]} selects nothing
    "#]],
    );
    state(
        "{\"v\":2}",
        expect![[r#"
        exit 1
        error: the selection cannot be read
          `.stan/context/dependency.state.json`: the list `i` is missing: {"v":2,"i":[]} selects nothing
          help: fix the file; `stan state validate` checks it, {"v":2,"i":[]} selects nothing
    "#]],
    );
    state(
        "{\"v\":3,\"i\":[]}",
        expect![[r#"
        exit 1
        error: the selection cannot be read
          `.stan/context/dependency.state.json` at /v: expected the version 2, found 3
          help: fix the file; `stan state validate` checks it, {"v":2,"i":[]} selects nothing
    "#]],
    );
    state(
        "{\"i\":[]}",
        expect![[r#"
        exit 1
        error: the selection cannot be read
          `.stan/context/dependency.state.json`: the version is missing: write "v":2
          help: fix the file; `stan state validate` checks it, {"v":2,"i":[]} selects nothing
    "#]],
    );
    state(
        "{\"v\":2,\"includes\":[\"src/index.ts\"]}",
        expect![[r#"
        exit 1
        error: the selection cannot be read
          `.stan/context/dependency.state.json` at /includes: unknown key "includes"; the known ones are "v", "i", "x", "include", "exclude"
          `.stan/context/dependency.state.json`: the list `i` is missing: {"v":2,"i":[]} selects nothing
          help: fix the file; `stan state validate` checks it, {"v":2,"i":[]} selects nothing
    "#]],
    );
    state(
        "{\"v\":2,\"i\":[],\"include\":[]}",
        expect![[r#"
        exit 1
        error: the selection cannot be read
          `.stan/context/dependency.state.json` at /include: `i` and `include` mean the same: keep one of them
          help: fix the file; `stan state validate` checks it, {"v":2,"i":[]} selects nothing
    "#]],
    );
    state(
        "{\"v\":1,\"i\":[]}",
        expect![[r#"
        exit 1
        error: the selection cannot be read
          `.stan/context/dependency.state.json` at /i: `i` is a key of version 2: write "v":2, or `include` for version 1
          help: fix the file; `stan state validate` checks it, {"v":2,"i":[]} selects nothing
    "#]],
    );
    state(
        "{\"v\":2,\"i\":\"src/index.ts\"}",
        expect![[r#"
        exit 1
        error: the selection cannot be read
          `.stan/context/dependency.state.json` at /i: expected a list of entries, found "src/index.ts"
          help: fix the file; `stan state validate` checks it, {"v":2,"i":[]} selects nothing
    "#]],
    );
}

#[test]
fn selections_with_broken_entries() {
    state(
        "{\"v\":2,\"i\":[[\"src/index.ts\",-1],[\"src/index.ts\",1.5],[\"src/index.ts\",\"1\"]]}",
        expect![[r#"
        exit 1
        error: the selection cannot be read
          `.stan/context/dependency.state.json` at /i/0/1: expected a depth of 0 or more, found -1 in ["src/index.ts",-1]
          `.stan/context/dependency.state.json` at /i/1/1: expected a whole number as depth, found 1.5 in ["src/index.ts",1.5]
          `.stan/context/dependency.state.json` at /i/2/1: expected a depth of 0 or more, found "1" in ["src/index.ts","1"]
          help: fix the file; `stan state validate` checks it, {"v":2,"i":[]} selects nothing
    "#]],
    );
    state(
        "{\"v\":2,\"i\":[[\"src/index.ts\",1,-1]]}",
        expect![[r#"
        exit 1
        error: the selection cannot be read
          `.stan/context/dependency.state.json` at /i/0/2: expected a mask of runtime 1, type 2, dynamic 4, found -1 in ["src/index.ts",1,-1]
          help: fix the file; `stan state validate` checks it, {"v":2,"i":[]} selects nothing
    "#]],
    );
    state(
        "{\"v\":2,\"i\":[[\"src/index.ts\",1,[\"type\"]]]}",
        expect![[r#"
        exit 1
        error: the selection cannot be read
          `.stan/context/dependency.state.json` at /i/0/2: expected a mask (runtime 1, type 2, dynamic 4; kind names belong to version 1), found ["type"] in ["src/index.ts",1,["type"]]
          help: fix the file; `stan state validate` checks it, {"v":2,"i":[]} selects nothing
    "#]],
    );
    state(
        "{\"include\":[[\"src/index.ts\",1,[]]]}",
        expect![[r#"
        exit 1
        error: the selection cannot be read
          `.stan/context/dependency.state.json` at /include/0/2: expected a list of "runtime", "type" or "dynamic" (a mask needs "v":2), found [] in ["src/index.ts",1,[]]
          help: fix the file; `stan state validate` checks it, {"v":2,"i":[]} selects nothing
    "#]],
    );
    state(
        "{\"include\":[[\"src/index.ts\",1,[\"types\"]]]}",
        expect![[r#"
        exit 1
        error: the selection cannot be read
          `.stan/context/dependency.state.json` at /include/0/2/0: expected "runtime", "type" or "dynamic", found "types" in ["src/index.ts",1,["types"]]
          help: fix the file; `stan state validate` checks it, {"v":2,"i":[]} selects nothing
    "#]],
    );
    state(
        "{\"v\":2,\"i\":[\"/etc/passwd\"]}",
        expect![[r#"
        exit 1
        error: the selection cannot be read
          `.stan/context/dependency.state.json` at /i/0: expected a path relative to the repository instead of an absolute one, found "/etc/passwd"
          help: fix the file; `stan state validate` checks it, {"v":2,"i":[]} selects nothing
    "#]],
    );
    state(
        "{\"v\":2,\"i\":[\"src/../../secret\"]}",
        expect![[r#"
        exit 1
        error: the selection cannot be read
          `.stan/context/dependency.state.json` at /i/0: expected a path without `..`, found "src/../../secret"
          help: fix the file; `stan state validate` checks it, {"v":2,"i":[]} selects nothing
    "#]],
    );
    state(
        "{\"v\":2,\"i\":[\"a\\u0000b\"]}",
        expect![[r#"
        exit 1
        error: the selection cannot be read
          `.stan/context/dependency.state.json` at /i/0: expected a node id without a NUL character, found "a\u0000b"
          help: fix the file; `stan state validate` checks it, {"v":2,"i":[]} selects nothing
    "#]],
    );
    state(
        "{\"v\":2,\"i\":[7,[],[\"a\",1,7,9]],\"x\":[null]}",
        expect![[r#"
        exit 1
        error: the selection cannot be read
          `.stan/context/dependency.state.json` at /i/0: expected a node id or [nodeId, depth, kindMask], found 7
          `.stan/context/dependency.state.json` at /i/1: expected a node id or [nodeId, depth, kindMask], found []
          `.stan/context/dependency.state.json` at /i/2: expected a node id or [nodeId, depth, kindMask], found ["a",1,7,9]
          `.stan/context/dependency.state.json` at /x/0: expected a node id or [nodeId, depth, kindMask], found null
          help: fix the file; `stan state validate` checks it, {"v":2,"i":[]} selects nothing
    "#]],
    );
}

#[test]
fn selections_that_are_not_files() {
    check(
        |repository| {
            fs::remove_file(repository.root().join(STATE)).unwrap();
            fs::create_dir(repository.root().join(STATE)).unwrap();
        },
        RUN,
        &expect![[r#"
            exit 1
            error: `.stan/context/dependency.state.json` is a folder; stan needs a file there
              help: move or remove it, and run again
        "#]],
    );
    check(
        |_| {},
        &["select", "--state", "gone.json"],
        &expect![[r#"
        exit 1
        error: cannot read `gone.json`: No such file or directory (os error 2)
    "#]],
    );
    check(
        |_| {},
        &["select", "--state", "src"],
        &expect![[r#"
        exit 1
        error: cannot read `src`: not a regular file
    "#]],
    );
    check(
        |repository| fs::remove_file(repository.root().join(STATE)).unwrap(),
        &["state", "validate"],
        &expect![[r#"
        exit 1
        error: there is no selection at `.stan/context/dependency.state.json`
          help: `stan run --context --meta` writes an empty one
    "#]],
    );
    check(
        |repository| repository.write(STATE, "{\"v\":2,\"j\":[]}"),
        &["state", "validate"],
        &expect![[r#"
        exit 1
        error: `.stan/context/dependency.state.json` at /j: unknown key "j"; the known ones are "v", "i", "x", "include", "exclude"
        error: `.stan/context/dependency.state.json`: the list `i` is missing: {"v":2,"i":[]} selects nothing
    "#]],
    );
    check(
        |repository| repository.write(STATE, "{\"v\":2,\"j\":[]}"),
        &["state", "migrate"],
        &expect![[r#"
        exit 1
        error: the selection cannot be read
          `.stan/context/dependency.state.json` at /j: unknown key "j"; the known ones are "v", "i", "x", "include", "exclude"
          `.stan/context/dependency.state.json`: the list `i` is missing: {"v":2,"i":[]} selects nothing
          help: fix the file; `stan state validate` checks it, {"v":2,"i":[]} selects nothing
    "#]],
    );
}

fn config(text: &str, expected: Expect) {
    check(|repository| repository.write("stan.config.yml", text), RUN, &expected);
}

#[test]
fn a_wrong_configuration_is_reported_with_its_line() {
    config(
        "stan-core:\n\tstanPath: .stan\n",
        expect![[r#"
        exit 1
        error: stan.config.yml:2:2: this is not valid YAML: tabs disallowed within this context (block indentation)
    "#]],
    );
    config(
        "stan-core: [\n",
        expect![[r#"
        exit 1
        error: stan.config.yml:2:1: this is not valid YAML: while parsing a node, did not find expected node content
    "#]],
    );
    config(
        "stan-core:\n  exclude: [dist]\n",
        expect![[r#"
        exit 1
        error: stan.config.yml:2:3: unknown key `stan-core.exclude`; did you mean `excludes`?
    "#]],
    );
    config(
        "stan-core:\n  includes: 3\n",
        expect![[r#"
        exit 1
        error: stan.config.yml:2:13: `stan-core.includes` must be a list of globs, found 3
    "#]],
    );
    config(
        "stan-core:\n  excludes: ['!(a|b).ts']\n",
        expect![[r#"
        exit 1
        error: stan.config.yml:2:14: the glob `!(a|b).ts` in `stan-core.excludes[0]` cannot be used, because extended globs such as `!(…)` are not supported; write alternatives as `{a,b}`
    "#]],
    );
    config(
        "stan-core:\n  context:\n    metaHashes: some\n    descriptionLimit: -1\n",
        expect![[r#"
        exit 1
        error: stan.config.yml:3:17: `stan-core.context.metaHashes` must be `all`, `external` or `none`, found "some"
        stan.config.yml:4:23: `stan-core.context.descriptionLimit` must be a whole number of 1 or more, found -1
    "#]],
    );
    config(
        "stan-core:\n  imports:\n    ../up: docs/**\n",
        expect![[r#"
        exit 1
        error: stan.config.yml:3:5: the import label `../up` cannot be used, because it contains `..`, which would leave `<stanPath>/imports`
    "#]],
    );
    for path in ["/tmp/stan", "../stan", ".", ".git", "''"] {
        let repository = thread();
        repository.write("stan.config.yml", &format!("stan-core:\n  stanPath: {path}\n"));
        let output = repository.output(RUN, &[]);
        assert_eq!(output.status.code(), Some(1), "{path}");
    }
    config(
        "stan-core:\n  stanPath: ../stan\n",
        expect![[r#"
        exit 1
        error: stan.config.yml:2:13: `stanPath` cannot be `../stan`, because it leaves the root; it must be a folder below the root
    "#]],
    );
    check(
        |_| {},
        &["run", "--stan-path", "/elsewhere"],
        &expect![[r#"
        exit 1
        error: `stanPath` cannot be `/elsewhere`, because it is absolute; it must be a folder below the root
    "#]],
    );
    check(
        |_| {},
        &["run", "--config", "gone.yml"],
        &expect![[r#"
        exit 1
        error: gone.yml: the configuration cannot be read, because it does not exist
    "#]],
    );
    check(
        |repository| repository.write("stan.config.json", "{\"stan-core\":{}}"),
        RUN,
        &expect![[r#"
            exit 1
            error: there is more than one configuration in this folder: stan.config.yml and stan.config.json; keep one of them, or name one with `--config`
        "#]],
    );
}
