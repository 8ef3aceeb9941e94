//! `stan graph` as its users run it: arguments in; stdout, stderr and exit code out.
#![expect(clippy::disallowed_methods, reason = "these tests build real directories")]

mod support;

use std::io::Read;
use std::process::Stdio;

use expect_test::{Expect, expect};
use support::Repository;

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
fn json() {
    check(&["graph", "--json"], expect![[""]]);
}

#[test]
fn figures_are_the_default() {
    check(&["graph"], expect![[""]]);
    check(&["graph", "--stats"], expect![[""]]);
}

#[test]
fn diagrams() {
    check(&["graph", "--format", "dot"], expect![[""]]);
    check(&["graph", "--format", "mermaid"], expect![[""]]);
}

#[test]
fn the_closure_of_files() {
    check(&["graph", "src/barrel.ts", "--format", "mermaid"], expect![[""]]);
    check(&["graph", "./src/../src/x.ts", "--dependents", "--format", "mermaid"], expect![[""]]);
    check(&["graph", "-C", "src", "x.ts", "--stats"], expect![[""]]);
}

#[test]
fn cycles() {
    check(&["graph", "--cycles"], expect![[""]]);
    check(&["graph", "--cycles", "--json"], expect![[""]]);
    let repository = Repository::new(&[("a.ts", "import './b'"), ("b.ts", "")]);
    expect![[""]].assert_eq(&repository.stan(&["graph", "--cycles"]));
}

#[test]
fn files_that_are_not_there() {
    check(&["graph", "src/barel.ts"], expect![[""]]);
    check(&["graph", "lib/x.ts"], expect![[""]]);
    check(&["graph", "-C", "nowhere"], expect![[""]]);
    check(&["graph", "-C", "README.md"], expect![[""]]);
}

#[test]
fn bad_usage() {
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
    check(&["graph", "--stan-path", "../x"], expect![[""]]);
}

#[test]
fn version() {
    for arguments in [&["--version"], &["-V"]] {
        let output = Repository::new(&[]).output(arguments, &[]);
        assert_eq!(String::from_utf8_lossy(&output.stdout), concat!("stan ", env!("CARGO_PKG_VERSION"), "\n"));
        assert!(output.status.success());
    }
}

#[test]
fn warnings_are_on_stderr_and_can_be_silenced() {
    let repository = Repository::new(&[("a.ts", "import './b'; ((("), ("b.ts", "")]);
    expect![[""]].assert_eq(&repository.stan(&["graph", "--no-cache"]));
    expect![[""]].assert_eq(&repository.stan(&["graph", "--no-cache", "--quiet"]));
}

#[test]
fn how_the_answer_was_found() {
    let repository = Repository::new(FILES);
    let stderr = |arguments: &[&str]| String::from_utf8_lossy(&repository.output(arguments, &[]).stderr).into_owned();
    assert_eq!(stderr(&["graph", "--verbose"]), "analysed 4 files\n");
    assert_eq!(stderr(&["graph", "--verbose"]), "cache: nothing changed\n");
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
    // A folder of the user's is left as it is.
    repository.stan(&["graph", "--cache-dir", ".stan-elsewhere"]);
    assert!(repository.root().join(".stan-elsewhere/graph.index").is_file());
    assert!(!repository.root().join(".stan-elsewhere/.gitignore").exists());
}

#[test]
fn a_cache_that_cannot_be_written_is_no_error() {
    let repository = Repository::new(FILES);
    let first = repository.output(&["graph", "--json", "--no-cache"], &[]);
    repository.write(".stan", "a file");
    let second = repository.output(&["graph", "src/a.ts", "--json"], &[]);
    assert!(second.status.success(), "{}", String::from_utf8_lossy(&second.stderr));
    assert!(first.status.success());
}

#[test]
fn whoever_stops_reading_has_seen_enough() {
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
fn the_environment_changes_nothing() {
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
