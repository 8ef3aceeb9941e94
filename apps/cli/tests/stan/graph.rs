//! `stan graph` as its users run it: arguments in; stdout, stderr and exit code out.

use std::io::Read;
use std::process::Stdio;

use crate::support::Repository;
use expect_test::{Expect, expect};

const FILES: &[(&str, &str)] = &[
    ("src/a.ts", "/** Where it starts. @module */\nimport {x} from './barrel';\nimport 'fs';\nimport './gone';\n"),
    ("src/barrel.ts", "export * from './x';\n"),
    ("src/x.ts", "import type {A} from './a';\nexport const x = 1;\n"),
    ("README.md", "# hello\n"),
];

fn check(arguments: &[&str], expected: Expect) {
    expected.assert_eq(&Repository::new(FILES).stan(arguments));
}

#[test]
fn the_graph_is_written_as_json() {
    check(
        &["graph", "--json"],
        expect![[r#"
            exit 0
            --- stdout
            {"graph":{"nodes":{"README.md":{"id":"README.md","kind":"source","language":"md","description":"hello","metadata":{"hash":"9e8b62f81ea5c66fa06ee53da032751386b37702153070c0e14dd1d316282fa7","size":8}},"node:fs":{"id":"node:fs","kind":"builtin","language":"other"},"src/a.ts":{"id":"src/a.ts","kind":"source","language":"ts","description":"Where it starts.","metadata":{"hash":"144c5c8bfa106a997414759a0242a66dd33526267682b49939b176f07d7534e4","size":90}},"src/barrel.ts":{"id":"src/barrel.ts","kind":"source","language":"ts","metadata":{"hash":"036e8e68f26b11d1164c303618a7d357ca09f8d5b5b74ca630cd1462c59e6c77","size":21}},"src/gone":{"id":"src/gone","kind":"missing","language":"other"},"src/x.ts":{"id":"src/x.ts","kind":"source","language":"ts","metadata":{"hash":"fee3253ac0617f89ea8f533e0c8eefa1df00af87f2c2cf17fe6df52c784d4e92","size":48}}},"edges":{"README.md":[],"node:fs":[],"src/a.ts":[{"target":"node:fs","kind":"runtime","resolution":"explicit"},{"target":"src/barrel.ts","kind":"runtime","resolution":"explicit"},{"target":"src/gone","kind":"runtime","resolution":"explicit"},{"target":"src/x.ts","kind":"runtime","resolution":"implicit"}],"src/barrel.ts":[{"target":"src/x.ts","kind":"runtime","resolution":"explicit"}],"src/gone":[],"src/x.ts":[{"target":"src/a.ts","kind":"type","resolution":"explicit"}]}},"stats":{"modules":6,"edges":6,"dirty":0},"errors":[]}
            --- stderr
        "#]],
    );
}

#[test]
fn counts_are_the_default_output() {
    check(
        &["graph"],
        expect![[r#"
        exit 0
        --- stdout
        modules                     6
          source                    4
          external                  0
          builtin                   1
          missing                   1
        edges                       6
          runtime explicit          4
          runtime implicit          1
          type explicit             1
          type implicit             0
          dynamic explicit          0
          dynamic implicit          0
        not read or parsed cleanly  0
        --- stderr
    "#]],
    );
    check(
        &["graph", "--stats"],
        expect![[r#"
        exit 0
        --- stdout
        modules                     6
          source                    4
          external                  0
          builtin                   1
          missing                   1
        edges                       6
          runtime explicit          4
          runtime implicit          1
          type explicit             1
          type implicit             0
          dynamic explicit          0
          dynamic implicit          0
        not read or parsed cleanly  0
        --- stderr
    "#]],
    );
}

#[test]
fn the_graph_is_written_as_dot_and_mermaid() {
    check(
        &["graph", "--format", "dot"],
        expect![[r#"
        exit 0
        --- stdout
        digraph stan {
          rankdir=LR;
          node [shape=box];
          "README.md";
          "node:fs" [shape=hexagon,color=gray50];
          "src/a.ts";
          "src/barrel.ts";
          "src/gone" [style=dashed,color=red];
          "src/x.ts";
          "src/a.ts" -> "node:fs";
          "src/a.ts" -> "src/barrel.ts";
          "src/a.ts" -> "src/gone";
          "src/a.ts" -> "src/x.ts" [color=gray60];
          "src/barrel.ts" -> "src/x.ts";
          "src/x.ts" -> "src/a.ts" [style=dashed];
        }
        --- stderr
    "#]],
    );
    check(
        &["graph", "--format", "mermaid"],
        expect![[r#"
        exit 0
        --- stdout
        flowchart LR
          n0["README.md"]:::source
          n1["node:fs"]:::builtin
          n2["src/a.ts"]:::source
          n3["src/barrel.ts"]:::source
          n4["src/gone"]:::missing
          n5["src/x.ts"]:::source
          n2 --> n1
          n2 --> n3
          n2 --> n4
          n2 --> n5
          n3 --> n5
          n5 --> n2
          classDef source fill:#fff,stroke:#333
          classDef external fill:#eee,stroke:#888
          classDef builtin fill:#eef,stroke:#88a
          classDef missing fill:#fee,stroke:#c00,stroke-dasharray:4 4
          linkStyle 5 stroke-dasharray:6 4
          linkStyle 3 stroke:#aaa
        --- stderr
    "#]],
    );
}

#[test]
fn the_closure_of_files() {
    check(
        &["graph", "src/barrel.ts", "--format", "mermaid"],
        expect![[r#"
        exit 0
        --- stdout
        flowchart LR
          n0["node:fs"]:::builtin
          n1["src/a.ts"]:::source
          n2["src/barrel.ts"]:::source
          n3["src/gone"]:::missing
          n4["src/x.ts"]:::source
          n1 --> n0
          n1 --> n2
          n1 --> n3
          n1 --> n4
          n2 --> n4
          n4 --> n1
          classDef source fill:#fff,stroke:#333
          classDef external fill:#eee,stroke:#888
          classDef builtin fill:#eef,stroke:#88a
          classDef missing fill:#fee,stroke:#c00,stroke-dasharray:4 4
          linkStyle 5 stroke-dasharray:6 4
          linkStyle 3 stroke:#aaa
        --- stderr
    "#]],
    );
    check(
        &["graph", "./src/../src/x.ts", "--dependents", "--format", "mermaid"],
        expect![[r#"
        exit 0
        --- stdout
        flowchart LR
          n0["src/a.ts"]:::source
          n1["src/barrel.ts"]:::source
          n2["src/x.ts"]:::source
          n0 --> n1
          n0 --> n2
          n1 --> n2
          n2 --> n0
          classDef source fill:#fff,stroke:#333
          classDef external fill:#eee,stroke:#888
          classDef builtin fill:#eef,stroke:#88a
          classDef missing fill:#fee,stroke:#c00,stroke-dasharray:4 4
          linkStyle 3 stroke-dasharray:6 4
          linkStyle 1 stroke:#aaa
        --- stderr
    "#]],
    );
    check(
        &["graph", "-C", "src", "x.ts", "--stats"],
        expect![[r#"
        exit 0
        --- stdout
        modules                     5
          source                    3
          external                  0
          builtin                   1
          missing                   1
        edges                       6
          runtime explicit          4
          runtime implicit          1
          type explicit             1
          type implicit             0
          dynamic explicit          0
          dynamic implicit          0
        not read or parsed cleanly  0
        --- stderr
    "#]],
    );
}

#[test]
fn cycles_are_listed_with_an_example() {
    check(
        &["graph", "--cycles"],
        expect![[r#"
        exit 0
        --- stdout
        3 files: src/a.ts -> src/x.ts -> src/a.ts
        --- stderr
    "#]],
    );
    check(
        &["graph", "--cycles", "--json"],
        expect![[r#"
        exit 0
        --- stdout
        [{"members":["src/a.ts","src/barrel.ts","src/x.ts"],"example":["src/a.ts","src/x.ts"]}]
        --- stderr
    "#]],
    );
    let repository = Repository::new(&[("a.ts", "import './b'"), ("b.ts", "")]);
    expect![[r#"
        exit 0
        --- stdout
        no cycles
        --- stderr
    "#]]
    .assert_eq(&repository.stan(&["graph", "--cycles"]));
}

#[test]
fn files_that_are_not_there() {
    check(
        &["graph", "src/barel.ts"],
        expect![[r#"
        exit 1
        --- stdout
        --- stderr
        error: `src/barel.ts` is not in the graph
          help: `stan graph --json` lists every file; ignored files are in it only when something imports them
    "#]],
    );
    check(
        &["graph", "lib/x.ts"],
        expect![[r#"
        exit 1
        --- stdout
        --- stderr
        error: `lib/x.ts` is not in the graph
          help: did you mean src/x.ts?
    "#]],
    );
    check(
        &["graph", "-C", "nowhere"],
        expect![[r#"
        exit 1
        --- stdout
        --- stderr
        error: cannot enter `nowhere`: No such file or directory (os error 2)
          help: name an existing folder after -C
    "#]],
    );
    check(
        &["graph", "-C", "README.md"],
        expect![[r#"
        exit 1
        --- stdout
        --- stderr
        error: `README.md` is not a folder
          help: name an existing folder after -C
    "#]],
    );
}

#[test]
fn wrong_arguments_of_graph_exit_with_2() {
    for arguments in [
        &["graph", "--format", "svg"] as &[&str],
        &["graph", "--json", "--stats"],
        &["graph", "--dependents"],
        &["graph", "--threads", "0"],
        &["graph", "--no-cache", "--cache-dir", "x"],
        &["graph", "--unknown"],
        &["grph"],
    ] {
        let output = Repository::new(FILES).output(arguments, &[]);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{arguments:?}");
    }
    check(
        &["graph", "--stan-path", "../x"],
        expect![[r#"
        exit 1
        --- stdout
        --- stderr
        error: `stanPath` cannot be `../x`, because it leaves the root; it must be a folder below the root
    "#]],
    );
}

#[test]
fn the_version_is_printed_on_stdout() {
    for arguments in [&["--version"], &["-V"]] {
        let output = Repository::new(&[]).output(arguments, &[]);
        assert_eq!(String::from_utf8_lossy(&output.stdout), concat!("stan ", env!("CARGO_PKG_VERSION"), "\n"));
        assert!(output.status.success());
    }
}

#[test]
fn warnings_are_on_stderr_and_can_be_silenced() {
    let repository = Repository::new(&[("a.ts", "import './b'; ((("), ("b.ts", "")]);
    expect![[r#"
        exit 0
        --- stdout
        modules                     2
          source                    2
          external                  0
          builtin                   0
          missing                   0
        edges                       1
          runtime explicit          1
          runtime implicit          0
          type explicit             0
          type implicit             0
          dynamic explicit          0
          dynamic implicit          0
        not read or parsed cleanly  1
        --- stderr
        warning: a.ts:1: does not parse: Expected `)` but found `EOF`; it was searched for import forms instead
    "#]]
    .assert_eq(&repository.stan(&["graph", "--no-cache"]));
    expect![[r#"
        exit 0
        --- stdout
        modules                     2
          source                    2
          external                  0
          builtin                   0
          missing                   0
        edges                       1
          runtime explicit          1
          runtime implicit          0
          type explicit             0
          type implicit             0
          dynamic explicit          0
          dynamic implicit          0
        not read or parsed cleanly  1
        --- stderr
    "#]]
    .assert_eq(&repository.stan(&["graph", "--no-cache", "--quiet"]));
}

#[test]
fn verbose_output_says_how_the_cache_was_used() {
    let repository = Repository::new(FILES);
    let stderr = |arguments: &[&str]| String::from_utf8_lossy(&repository.output(arguments, &[]).stderr).into_owned();
    assert_eq!(stderr(&["graph", "--verbose"]), "analysed 4 files\n");
    // Files this recent are read again, because their times prove nothing yet.
    let second = stderr(&["graph", "--verbose"]);
    let possible = ["cache: nothing changed\n", "cache: 4 files read again, the rest kept\n"];
    assert!(possible.contains(&second.as_str()), "{second}");
    assert_eq!(stderr(&["graph", "--verbose", "--no-cache"]), "analysed 4 files\n");
}

#[test]
fn no_cache_writes_nothing() {
    let repository = Repository::new(FILES);
    repository.stan(&["graph", "--json", "--no-cache"]);
    let names = |path| {
        let entries = std::fs::read_dir(path).expect("it is a folder");
        let mut names: Vec<_> = entries.map(|entry| entry.expect("it can be listed").file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(repository.root()), ["README.md", "src"]);
    assert_eq!(names(&repository.root().join("src")), ["a.ts", "barrel.ts", "x.ts"]);
}

#[test]
fn the_cache_hides_itself_from_git() {
    let repository = Repository::new(FILES);
    if repository.git(&["init", "-q"]).is_none() {
        return;
    }
    repository.git(&["add", "-A"]);
    repository.git(&["-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "-m", "x"]);
    repository.stan(&["graph"]);
    assert_eq!(repository.git(&["status", "--porcelain"]).as_deref(), Some(""));
    assert!(repository.root().join(".stan/cache/.gitignore").is_file());
    repository.stan(&["graph", "--stan-path", "tools/stan"]);
    assert_eq!(repository.git(&["status", "--porcelain"]).as_deref(), Some(""));
    // A folder that the user made is not changed.
    repository.stan(&["graph", "--cache-dir", ".stan-elsewhere"]);
    assert!(repository.root().join(".stan-elsewhere/graph.index").is_file());
    assert!(!repository.root().join(".stan-elsewhere/.gitignore").exists());
}

#[test]
fn a_cache_that_cannot_be_written_is_not_an_error() {
    let repository = Repository::new(FILES);
    let first = repository.output(&["graph", "--json", "--no-cache"], &[]);
    repository.write(".stan", "a file");
    let second = repository.output(&["graph", "src/a.ts", "--json"], &[]);
    assert!(second.status.success(), "{}", String::from_utf8_lossy(&second.stderr));
    assert!(first.status.success());
}

#[test]
fn a_closed_pipe_exits_with_success() {
    let many: String = (0..20_000).map(|i| format!("import './missing/{i}';\n")).collect();
    let repository = Repository::new(&[("a.ts", &many)]);
    let mut child = repository
        .command(&["graph", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("stan can be started");
    let mut first = [0; 16];
    child.stdout.take().expect("it is piped").read_exact(&mut first).expect("there is output");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn environment_variables_do_not_change_the_answer() {
    let repository = Repository::new(FILES);
    let answer = |environment: &[(&str, &str)]| {
        let output = repository.output(&["graph", "--json", "--no-cache"], environment);
        assert!(output.status.success());
        output.stdout
    };
    let plain = answer(&[]);
    let root = repository.root().display().to_string();
    repository.write("modules/gone-too/index.js", "");
    repository.write("src/b.ts", "import 'gone-too';");
    let plain_too = answer(&[]);
    assert_ne!(plain, plain_too);
    for environment in [
        &[("LANG", "tr_TR.UTF-8"), ("LC_ALL", "tr_TR.UTF-8")] as &[_],
        &[("LANG", "C"), ("TZ", "Pacific/Kiritimati")],
        &[("NODE_PATH", &*format!("{root}/modules")), ("NODE_ENV", "production"), ("HOME", &*root)],
        &[("RAYON_NUM_THREADS", "1"), ("GIT_DIR", "/nowhere"), ("GIT_WORK_TREE", "/"), ("XDG_CONFIG_HOME", &*root)],
        &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1"), ("TERM", "xterm")],
    ] {
        assert_eq!(answer(environment), plain_too, "{environment:?}");
    }
}
