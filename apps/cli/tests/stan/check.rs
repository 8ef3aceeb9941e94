//! `stan check` on a real workspace: the gate gets the right archive, map, tree and selection. The rules themselves are tested in
//! `stan-reply`.

use expect_test::{Expect, expect};

use crate::support::Repository;

const STATE: &str = ".stan/context/dependency.state.json";

/// A thread whose archive contains `src/a.ts`, but not `src/b.ts`, which it imports.
fn thread() -> Repository {
    let repository = Repository::new(&[
        ("package.json", "{\"name\":\"app\"}\n"),
        ("src/a.ts", "import {b} from './b';\nexport const a = b;\n"),
        ("src/b.ts", "import {c} from './c';\nexport const b = c;\n"),
        ("src/c.ts", "import {d} from './d';\nexport const c = d;\n"),
        ("src/d.ts", "export const d = 1;\n"),
        (".stan/system/stan.scratch.md", "why\n"),
        (STATE, "{\"v\":2,\"i\":[\"src/a.ts\"]}\n"),
    ]);
    let output = repository.output(&["run", "--context"], &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    repository
}

fn check(reply: &str, arguments: &[&str], expected: Expect) {
    let repository = thread();
    repository.write("../reply.md", reply);
    let shown = repository.stan(&[&["check", "../reply.md"], arguments].concat());
    expected.assert_eq(&shown);
}

const GOOD: &str = "\
## Input Data Changes

- `src/a.ts` — present: yes
- dependency.state.json: no change

### Patch: src/a.ts

```diff
diff --git a/src/a.ts b/src/a.ts
--- a/src/a.ts
+++ b/src/a.ts
@@ -1,2 +1,2 @@
 import {b} from './b';
-export const a = b;
+export const a = b + 1;
```
";

#[test]
fn a_reply_that_keeps_the_protocol() {
    check(
        GOOD,
        &[],
        expect![[r#"
            exit 0
            --- stdout
            ../reply.md accepted: 0 errors, 0 warnings
            --- stderr
        "#]],
    );
}

/// A folder with many lookups is listed instead of stat'ed: the answers must be the same.
#[test]
fn files_are_distinguished_from_made_up_names_however_many_there_are() {
    let repository = thread();
    let names =
        (0..1_000).map(|number| format!("rm src/made-up-{number}.ts\nrm {number}.ts\nrm nowhere/{number}/x.ts\n"));
    repository.write("unseen.ts", "made after the archive\n");
    let names: String = names.chain(["rm src/b.ts\nrm src/a.ts\nrm unseen.ts\n".to_owned()]).collect();
    repository.write("../reply.md", &format!("## Input Data Changes\n\n### File Ops\n\n```\n{names}```\n"));
    let shown = repository.stan(&["check", "../reply.md"]);
    let unseen: Vec<&str> = shown.lines().filter(|line| line.contains("exists but is not in the archive")).collect();
    let expected = ["src/b.ts", "unseen.ts"].map(|file| {
        format!("error[STAN-REPLY-0008]: `{file}` exists but is not in the archive, so this thread has never seen it")
    });
    assert_eq!(unseen, expected, "{shown}");
}

#[test]
fn an_edit_of_a_file_that_the_assistant_never_saw() {
    check(
        &GOOD.replace("src/a.ts", "src/b.ts").replace("import {b} from './b'", "import {c} from './c'"),
        &[],
        expect![[r#"
            exit 1
            --- stdout
            error[STAN-REPLY-0006]: `src/b.ts` is not in the archive, but the checklist says `yes`
             --> ../reply.md:3:4
            3 | - `src/b.ts` — present: yes
              |    ^^^^^^^^
              = help: write `present: no`, and select the file instead of patching it

            error[STAN-REPLY-0008]: `src/b.ts` exists but is not in the archive, so this thread has never seen it
             --> ../reply.md:9:14
            9 | diff --git a/src/b.ts b/src/b.ts
              |              ^^^^^^^^
              = help: add `src/b.ts` to the state and ask for a new archive before touching it

            ../reply.md rejected: 2 errors, 0 warnings
            --- stderr
        "#]],
    );
}

#[test]
fn a_patch_that_does_not_apply() {
    check(
        &GOOD.replace("-export const a = b;", "-export const a = c;"),
        &[],
        expect![[r#"
            exit 1
            --- stdout
            error[STAN-REPLY-0011]: the patch of `src/a.ts` does not apply: these lines are not in the file
              --> ../reply.md:12:1
            12 | @@ -1,2 +1,2 @@
               | ^^^^^^^^^^^^^^^
               = help: write the diff against the archived file, with lines kept above and below, and count the lines of each hunk

            ../reply.md rejected: 1 error, 0 warnings
            --- stderr
        "#]],
    );
}

const SELECTS: &str = "\
## Input Data Changes

- dependency.state.json (include): [\"src/a.ts\",3], \"src/gone.ts\"

### Patch: .stan/context/dependency.state.json

```diff
diff --git a/.stan/context/dependency.state.json b/.stan/context/dependency.state.json
--- a/.stan/context/dependency.state.json
+++ b/.stan/context/dependency.state.json
@@ -1 +1 @@
-{\"v\":2,\"i\":[\"src/a.ts\"]}
+{\"v\":2,\"i\":[[\"src/a.ts\",3],\"src/gone.ts\"]}
```

### Patch: .stan/system/stan.scratch.md

```diff
diff --git a/.stan/system/stan.scratch.md b/.stan/system/stan.scratch.md
--- a/.stan/system/stan.scratch.md
+++ b/.stan/system/stan.scratch.md
@@ -1 +1 @@
-why
+all of it
```
";

#[test]
fn warnings_about_a_selection() {
    check(
        SELECTS,
        &["--budget", "50", "--tokens", "bytes4"],
        expect![[r#"
            exit 0
            --- stdout
            warning[STAN-REPLY-0104]: the archive would have 3007 tokens, 2957 more than the budget of 50
             --> ../reply.md:8:14
            8 | diff --git a/.stan/context/dependency.state.json b/.stan/context/dependency.state.json
              |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
              = help: select less: smaller depths, fewer kinds, or excludes

            warning[STAN-REPLY-0101]: the map does not know `src/gone.ts`
              --> ../reply.md:13:30
            13 | +{"v":2,"i":[["src/a.ts",3],"src/gone.ts"]}
               |                              ^^^^^^^^^^^
               = help: take node ids from the map; a file that git ignores is archived only if it exists

            warning[STAN-REPLY-0103]: `src/a.ts` with depth 3 and every kind of edge is 149 bytes, 38 tokens
              --> ../reply.md:13:16
            13 | +{"v":2,"i":[["src/a.ts",3],"src/gone.ts"]}
               |                ^^^^^^^^
               = help: take depth 2 (129 bytes, 33 tokens) or only some kinds of edges

            ../reply.md accepted: 0 errors, 3 warnings
            --- stderr
        "#]],
    );
}

#[test]
fn without_an_archive_nothing_can_be_checked() {
    let repository = Repository::new(&[("a.ts", ""), ("reply.md", GOOD)]);
    expect![[r#"
        exit 1
        --- stdout
        --- stderr
        error: the archive `.stan/output/archive.tar` cannot be read: there is none
          help: make one with `stan run --context`, or name the one that the assistant has with --archive
    "#]]
    .assert_eq(&repository.stan(&["check", "reply.md"]));
}

#[test]
fn the_json_report_has_a_finding_for_each_broken_rule() {
    let repository = thread();
    repository.write("../reply.md", &GOOD.replace("present: yes", "present: no"));
    let output = repository.output(&["check", "../reply.md", "--json"], &[]);
    assert_eq!(output.status.code(), Some(1));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let codes: Vec<&str> =
        report["findings"].as_array().unwrap().iter().map(|finding| finding["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["STAN-REPLY-0006", "STAN-REPLY-0007"]);
}
