//! Broken snapshots, maps and private maps, and files that do not match the maps: exit code and full stderr, and nothing changed.

use std::fs;

use expect_test::{Expect, expect};

use crate::errors::check;
use crate::project::{EXTERNAL, MAP, META, NODE, SNAPSHOT, thread};
use crate::support::Repository;

const RUN: &[&str] = &["run", "--context"];
const FROZEN: &[&str] = &["run", "--context", "--frozen"];

fn snapshot(text: &str, expected: Expect) {
    check(|repository| repository.write(SNAPSHOT, text), RUN, &expected);
}

#[test]
fn a_damaged_snapshot_is_reported() {
    snapshot(
        "{\n\"README.md\":\"12",
        expect![[r#"
        exit 1
        error: the snapshot `.stan/diff/.archive.snapshot.context.json` cannot be used: it is not JSON: EOF while parsing a string at line 2 column 16; make a new one with `stan snap`
    "#]],
    );
    snapshot(
        "{\"version\":1,\"files\":{}}",
        expect![[r#"
        exit 1
        error: the snapshot `.stan/diff/.archive.snapshot.context.json` cannot be used: the value of "version" is not a SHA-256 in lower-case hex; make a new one with `stan snap`
    "#]],
    );
    snapshot(
        "{\"../x\":\"0000000000000000000000000000000000000000000000000000000000000000\"}",
        expect![[r#"
        exit 1
        error: the snapshot `.stan/diff/.archive.snapshot.context.json` cannot be used: "../x" is not a path of an archive; make a new one with `stan snap`
    "#]],
    );
    check(
        |repository| {
            fs::remove_file(repository.root().join(SNAPSHOT)).unwrap();
            fs::create_dir(repository.root().join(SNAPSHOT)).unwrap();
        },
        RUN,
        &expect![[r#"
            exit 1
            error: `.stan/diff/.archive.snapshot.context.json` is a folder; stan needs a file there
              help: move or remove it, and run again
        "#]],
    );
}

/// Edits a document of the workspace.
fn edit(repository: &Repository, file: &str, from: &str, to: &str) {
    let text = fs::read_to_string(repository.root().join(file)).unwrap();
    assert!(text.contains(from), "{from} is in {text}");
    repository.write(file, &text.replacen(from, to, 1));
}

fn meta(from: &str, to: &str, expected: Expect) {
    check(|repository| edit(repository, META, from, to), FROZEN, &expected);
}

#[test]
fn a_missing_or_damaged_map_fails_a_frozen_run() {
    check(
        |repository| fs::remove_file(repository.root().join(META)).unwrap(),
        FROZEN,
        &expect![[r#"
        exit 1
        error: `.stan/context/dependency.meta.json` is missing, and --frozen does not build it
          help: rebuild the map: stan run --context
    "#]],
    );
    meta(
        "}}",
        "}",
        expect![[r#"
        exit 1
        error: the map cannot be read
          `.stan/context/dependency.meta.json` at line 2 column 1: not JSON: EOF while parsing a list or an object
          help: rebuild the map: stan run --context
    "#]],
    );
    meta(
        "\"v\":2",
        "\"v\":1",
        expect![[r#"
        exit 1
        error: the map cannot be read
          `.stan/context/dependency.meta.json` at /v: expected the version 2, found 1
          help: rebuild the map: stan run --context
    "#]],
    );
    meta(
        "[\"src/helper.ts\",1]",
        "[\"src/helped.ts\",1]",
        expect![[r#"
        exit 1
        error: the map cannot be read
          `.stan/context/dependency.meta.json` at /n/src~1index.ts/e/1/0: expected the id of a node of this map, found "src/helped.ts" in ["src/helped.ts",1]
          help: rebuild the map: stan run --context
    "#]],
    );
    meta(
        "\"h\":\"",
        "\"h\":\"!",
        expect![[r#"
        exit 1
        error: the map cannot be read
          `.stan/context/dependency.meta.json` at /n/.gitignore/h: expected a hash of 22 base64url characters, found "!Ur5rKDkh3gMu4uD_lRh9hA"
          help: rebuild the map: stan run --context
    "#]],
    );
    meta(
        "\"k\":1",
        "\"k\":7",
        expect![[r#"
        exit 1
        error: the map cannot be read
          `.stan/context/dependency.meta.json` at /n/.stan~1context~1npm~1zed~11.2.3~1index.d.ts/k: expected 0 (source), 1 (external), 2 (builtin) or 3 (missing), found 7
          help: rebuild the map: stan run --context
    "#]],
    );
    meta(
        "{\"k\":1,\"s\":32",
        "{\"k\":1,\"s\":31",
        expect![[r#"
        exit 3
        error: installed files (externals) are not what the map says; nothing was changed
          .stan/context/npm/zed/1.2.3/index.d.ts (from <root>/node_modules/zed/index.d.ts): its size (s) in dependency.meta.json: expected 31 bytes, found 32 bytes
          help: rebuild the map: stan run --context
    "#]],
    );
    meta(
        "{\"k\":0,\"s\":41",
        "{\"k\":0,\"s\":40",
        expect![[r#"
        exit 3
        error: files of the repository are not what the map says; nothing was changed
          src/helper.ts: expected 40 bytes, h ZDogDjK9vE_JV6eSAPjYRQ, found 41 bytes, h ZDogDjK9vE_JV6eSAPjYRQ
          help: rebuild the map: stan run --context
    "#]],
    );
    check(
        |_| {},
        &["select", "--meta", "package.json"],
        &expect![[r#"
        exit 1
        error: the map cannot be read
          `package.json` at /name: unknown key "name"; the known ones are "v", "n"
          `package.json` at /version: unknown key "version"; the known ones are "v", "n"
          `package.json`: the version is missing: `stan run --context --meta` writes a new map
          `package.json`: `n` is missing: `stan run --context --meta` writes a new map
          help: name a dependency.meta.json, or leave --meta out to use the workspace's own
    "#]],
    );
}

fn map(from: &str, to: &str, expected: Expect) {
    check(|repository| edit(repository, MAP, from, to), FROZEN, &expected);
}

#[test]
fn a_missing_or_damaged_private_map_fails_a_frozen_run() {
    check(
        |repository| fs::remove_file(repository.root().join(MAP)).unwrap(),
        FROZEN,
        &expect![[r#"
        exit 1
        error: `.stan/context/dependency.map.json` is missing, and --frozen does not build it
          help: rebuild the map: stan run --context
    "#]],
    );
    map(
        "}}}",
        "}}",
        expect![[r#"
        exit 1
        error: the private map cannot be read
          `.stan/context/dependency.map.json` at line 2 column 1: not JSON: EOF while parsing a list or an object
          help: rebuild the map: stan run --context
    "#]],
    );
    map(
        "\"size\":32",
        "\"size\":-32",
        expect![[r#"
        exit 1
        error: the private map cannot be read
          `.stan/context/dependency.map.json` at /nodes/.stan~1context~1npm~1zed~11.2.3~1index.d.ts/size: expected a number of bytes, found -32 in {"id":".stan/context/npm/zed/1.2.3/index.d.ts","locatorAbs":"<root>/node_modules/zed/index.d.ts","pathInPackage":"index.d.ts","pkgName":"zed","pkgVer…
          help: rebuild the map: stan run --context
    "#]],
    );
    map(
        "\"size\":32",
        "\"size\":33",
        expect![[r#"
        exit 3
        error: installed files (externals) are not what the map says; nothing was changed
          .stan/context/npm/zed/1.2.3/index.d.ts (from <root>/node_modules/zed/index.d.ts): its size in dependency.map.json: expected 33 bytes, found 32 bytes
          help: rebuild the map: stan run --context
    "#]],
    );
    map(
        "\"sha256\":\"",
        "\"sha256\":\"zz",
        expect![[r#"
        exit 1
        error: the private map cannot be read
          `.stan/context/dependency.map.json` at /nodes/.stan~1context~1npm~1zed~11.2.3~1index.d.ts/sha256: expected a SHA-256 of 64 lower-case hex digits, found "zzb55f978ccebe6becb59615e442adb14dfb1856dbac654c87319ac3b91ac45407" in {"id":".stan/context/npm/zed/1.2.3/index.d.ts","locatorAbs":"<root>/node_modules/zed/index.d.ts","pathInPackage":"index.d.ts","pkgName":"zed","pkgVer…
          help: rebuild the map: stan run --context
    "#]],
    );
    map(
        "\"locatorAbs\":\"",
        "\"locatorAbs\":\"./",
        expect![[r#"
        exit 1
        error: the private map cannot be read
          `.stan/context/dependency.map.json` at /nodes/.stan~1context~1npm~1zed~11.2.3~1index.d.ts/locatorAbs: expected an absolute path, found "./<root>/node_modules/zed/index.d.ts" in {"id":".stan/context/npm/zed/1.2.3/index.d.ts","locatorAbs":"./<root>/node_modules/zed/index.d.ts","pathInPackage":"index.d.ts","pkgName":"zed","pkgV…
          help: rebuild the map: stan run --context
    "#]],
    );
    map(
        "index.d.ts\",\"size\"",
        "gone.d.ts\",\"size\"",
        expect![[r#"
            exit 3
            error: the private map points to files that the map does not name
              .stan/context/npm/zed/1.2.3/index.d.ts: expected the file that is archived under this id, found <root>/node_modules/zed/gone.d.ts
              help: rebuild the map: stan run --context
        "#]],
    );
    map(
        "\"v\":1,\"nodes\":{",
        "\"v\":1,\"nodes\":{},\"more\":{",
        expect![[r#"
        exit 1
        error: the private map cannot be read
          `.stan/context/dependency.map.json` at /more: unknown key "more"; the known ones are "v", "nodes"
          help: rebuild the map: stan run --context
    "#]],
    );
    check(
        |repository| repository.write(MAP, "{\"v\":1,\"nodes\":{}}\n"),
        FROZEN,
        &expect![[r#"
        exit 3
        error: installed files (externals) are not what the map says; nothing was changed
          .stan/context/npm/zed/1.2.3/index.d.ts: its entry in dependency.map.json: expected size and SHA-256, found nothing
          help: rebuild the map: stan run --context
    "#]],
    );
}

#[test]
fn a_changed_installed_file_fails_a_frozen_run() {
    check(
        |repository| repository.write(EXTERNAL, "export declare const z: string;\n"),
        FROZEN,
        &expect![[r#"
        exit 3
        error: installed files (externals) are not what the map says; nothing was changed
          .stan/context/npm/zed/1.2.3/index.d.ts (from <root>/node_modules/zed/index.d.ts): its SHA-256 in dependency.map.json: expected b55f978ccebe6becb59615e442adb14dfb1856dbac654c87319ac3b91ac45407, found 807da2041fabe4f56a41e9ab0320665cda8cc4497b9a23d9181bbf136e7a0882
          .stan/context/npm/zed/1.2.3/index.d.ts (from <root>/node_modules/zed/index.d.ts): its hash (h) in dependency.meta.json: expected tV-XjM6-a-y1lhXkQq2xTQ, found gH2iBB-r5PVqQemrAyBmXA
          help: rebuild the map: stan run --context
    "#]],
    );
    check(
        |repository| repository.write(EXTERNAL, ""),
        FROZEN,
        &expect![[r#"
        exit 3
        error: installed files (externals) are not what the map says; nothing was changed
          .stan/context/npm/zed/1.2.3/index.d.ts (from <root>/node_modules/zed/index.d.ts): its size in dependency.map.json: expected 32 bytes, found 0 bytes
          .stan/context/npm/zed/1.2.3/index.d.ts (from <root>/node_modules/zed/index.d.ts): its size (s) in dependency.meta.json: expected 32 bytes, found 0 bytes
          help: rebuild the map: stan run --context
    "#]],
    );
    check(
        |repository| fs::remove_file(repository.root().join(EXTERNAL)).unwrap(),
        FROZEN,
        &expect![[r#"
        exit 3
        error: installed files (externals) are not what the map says; nothing was changed
          .stan/context/npm/zed/1.2.3/index.d.ts (from <root>/node_modules/zed/index.d.ts): its source: expected a file of 32 bytes, found nothing there
          help: rebuild the map: stan run --context
    "#]],
    );
    check(
        |repository| {
            fs::remove_file(repository.root().join(EXTERNAL)).unwrap();
            fs::create_dir(repository.root().join(EXTERNAL)).unwrap();
        },
        FROZEN,
        &expect![[r#"
            exit 3
            error: installed files (externals) are not what the map says; nothing was changed
              .stan/context/npm/zed/1.2.3/index.d.ts (from <root>/node_modules/zed/index.d.ts): its source: expected a file of 32 bytes, found not a regular file
              help: rebuild the map: stan run --context
        "#]],
    );
    check(
        |repository| fs::remove_file(repository.root().join("src/helper.ts")).unwrap(),
        FROZEN,
        &expect![[r#"
        exit 3
        error: files of the repository are not what the map says; nothing was changed
          src/helper.ts: expected 41 bytes, h ZDogDjK9vE_JV6eSAPjYRQ, found nothing there
          help: rebuild the map: stan run --context
    "#]],
    );
    // An edited staged file is not trusted; the run restores it.
    let repository = thread();
    repository.write(NODE, "export declare const z: any;\n");
    assert!(repository.output(FROZEN, &[]).status.success());
    assert_eq!(fs::read(repository.root().join(NODE)).unwrap(), fs::read(repository.root().join(EXTERNAL)).unwrap());
}
