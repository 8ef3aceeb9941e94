//! Secrets are not archived: how `run`, its plan, `select`, `verify`, `snap` and `check` handle them.

use std::fs;

use serde_json::{Value, json};

use crate::archives::{archived, json, names};
use crate::support::Repository;

const STATE: &str = ".stan/context/dependency.state.json";
const ARCHIVE: &str = ".stan/output/archive.tar";

/// A token, assembled here so that no scanner reports this file.
fn token() -> String {
    ["ghp_", "q7Rz0bXk2Lm9vTgYw3HdPs5N", "c8JfUe1Wa6Zt"].concat()
}

fn repository() -> Repository {
    Repository::new(&[
        (".gitignore", ".env\nlocal/\n.stan/context/\n.stan/output/\n.stan/diff/\n.stan/cache/\n"),
        ("src/a.ts", "export const a = 1;\n"),
        ("src/key.ts", &format!("// The key.\nexport const key = '{}';\n", token())),
        ("notes.md", &format!("# Notes\n\nuse {}\n", token())),
        (".env.production", "A=1\n"),
        (".env.example", "A=\n"),
        (".env", "SECRET=1\n"),
        ("local/plain.txt", "nothing special\n"),
        ("local/keys.txt", &format!("{}\n", token())),
    ])
}

#[test]
fn a_plain_run_leaves_secrets_out_and_says_where_they_are() {
    let repository = repository();
    let plan = json(&repository, &["run", "--plan", "--json"]);
    let report = json(&repository, &["run", "--json"]);
    assert_eq!(archived(&repository), [".env.example", ".gitignore", "src/a.ts"]);
    assert_eq!(
        report["secrets"],
        json!([
            {"path": ".env.production", "hits": [{"rule": "dotenv-file"}]},
            {"path": "notes.md", "hits": [{"line": 3, "rule": "github-token"}]},
            {"path": "src/key.ts", "hits": [{"line": 2, "rule": "github-token"}]},
        ])
    );
    assert_eq!((&plan["secrets"], &plan["archive"]), (&report["secrets"], &report["archive"]));
    assert!(json(&repository, &["verify", "--json"])["matches"].as_bool().unwrap());
    // No output contains the secret.
    let shown = repository.stan(&["run"]);
    assert!(shown.contains("  notes.md:3: github-token\n") && shown.contains("--allow-secret PATH"), "{shown}");
    assert!(!shown.contains(&token()), "{shown}");
    assert!(!String::from_utf8_lossy(&fs::read(repository.root().join(ARCHIVE)).unwrap()).contains(&token()));
}

#[test]
fn only_the_command_line_can_include_a_secret() {
    let repository = repository();
    repository.write("stan.config.yml", "stan-core:\n  includes: ['.env.production', 'notes.md']\n");
    json(&repository, &["run", "--json"]);
    assert_eq!(archived(&repository), [".env.example", ".gitignore", "src/a.ts", "stan.config.yml"]);
    let allowed = ["--allow-secret", "notes.md", "--allow-secret", "./src/../.env.production"];
    let report = json(&repository, &[&["run", "--json"], &allowed[..]].concat());
    assert_eq!(
        archived(&repository),
        [".env.example", ".env.production", ".gitignore", "notes.md", "src/a.ts", "stan.config.yml"]
    );
    assert_eq!(report["secrets"].as_array().unwrap().len(), 1);
    assert!(json(&repository, &[&["verify", "--json"], &allowed[..]].concat())["matches"].as_bool().unwrap());
}

#[test]
fn a_selection_includes_ignored_files_but_no_secrets() {
    let repository = repository();
    let state = r#"{"v":2,"i":["src/a.ts","src/key.ts",".env","local/plain.txt","local/keys.txt"]}"#;
    repository.write(STATE, state);
    let report = json(&repository, &["run", "--context", "--json"]);
    assert_eq!(archived(&repository), [".env.example", ".gitignore", "local/plain.txt", "src/a.ts"]);
    assert_eq!(report["ignored"], json!(["local/plain.txt"]));
    let paths: Vec<&str> =
        report["secrets"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(paths, [".env", ".env.production", "local/keys.txt", "notes.md", "src/key.ts"]);
    assert!(!report["warnings"].to_string().contains("0 bytes"), "{report}");
    assert!(json(&repository, &["verify", "--json"])["matches"].as_bool().unwrap());

    let selected = json(&repository, &["select", "--json"]);
    assert_eq!(selected["selectedNodeIds"], json!(["local/plain.txt", "src/a.ts"]));
    assert_eq!(
        selected["leftOut"],
        json!([
            {"path": ".env", "reason": "it is a credential file (dotenv-file)"},
            {"path": "local/keys.txt", "reason": "line 1 holds a secret (github-token)"},
            {"path": "src/key.ts", "reason": "line 2 holds a secret (github-token)"},
        ])
    );
    let bytes = "nothing special\n".len() + "export const a = 1;\n".len();
    assert_eq!(selected["totalBytes"], json!(bytes));

    // A later run finds no changes.
    json(&repository, &["snap", "--json"]);
    let again = json(&repository, &["run", "--context", "--json"]);
    assert_eq!((&again["diff"]["added"], &again["diff"]["removed"]), (&json!([]), &json!([])));
}

#[test]
fn the_gate_refuses_the_selection_of_an_ignored_secret() {
    let repository = repository();
    repository.write(STATE, "{\"v\":2,\"i\":[]}\n");
    repository.write(".stan/system/stan.scratch.md", "why\n");
    json(&repository, &["run", "--context", "--json"]);
    let check = |node: &str| {
        let reply = format!(
            "## Input Data Changes\n\n- i: \"{node}\"\n\n### Patch: {STATE}\n\n```diff\ndiff --git a/{STATE} b/{STATE}\n--- a/{STATE}\n+++ b/{STATE}\n@@ -1 +1 @@\n-{{\"v\":2,\"i\":[]}}\n+{{\"v\":2,\"i\":[\"{node}\"]}}\n```\n"
        );
        repository.write("../reply.md", &reply);
        let output = repository.output(&["check", "../reply.md", "--json"], &[]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let codes: Vec<String> = report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|finding| finding["code"].as_str().unwrap().replace("STAN-REPLY-", ""))
            .collect();
        codes.into_iter().filter(|code| ["0014", "0106"].contains(&code.as_str())).collect::<Vec<_>>()
    };
    assert_eq!(check(".env"), ["0014"]);
    assert_eq!(check("local/keys.txt"), ["0014"]);
    assert_eq!(check("local/plain.txt"), ["0106"]);
    assert!(check("src/a.ts").is_empty());
}

#[test]
fn altered_instructions_are_reported_once() {
    let repository = repository();
    assert!(repository.output(&["init"], &[]).status.success());
    let about = |report: &Value| {
        let warnings = report["warnings"].as_array().unwrap().clone();
        warnings.iter().filter(|warning| warning.as_str().unwrap().contains("stan.system.md")).count()
    };
    assert_eq!(about(&json(&repository, &["run", "--json"])), 0);
    repository.write(".stan/system/stan.system.md", "Do as the repository says.\n");
    assert_eq!(about(&json(&repository, &["run", "--json"])), 1);
    assert_eq!(about(&json(&repository, &["run", "--context", "--json"])), 1);
}

#[test]
fn a_path_in_excludes_means_the_whole_folder() {
    let repository = Repository::new(&[
        ("stan.config.yml", "stan-core:\n  excludes: [docs, src/b.ts]\n"),
        ("docs/a/b.md", "b\n"),
        ("docsx/c.md", "c\n"),
        ("src/b.ts", "b\n"),
        ("src/docs/d.md", "d\n"),
    ]);
    json(&repository, &["run", "--json"]);
    assert_eq!(archived(&repository), ["docsx/c.md", "src/docs/d.md", "stan.config.yml"]);
}

#[test]
fn a_label_that_is_no_longer_configured_is_removed() {
    let repository = Repository::new(&[
        ("stan.config.yml", "stan-core:\n  imports:\n    a: docs/a.md\n    b: docs/b.md\n"),
        ("docs/a.md", "a\n"),
        ("docs/b.md", "b\n"),
        (".stan/imports/other/x.md", "x\n"),
    ]);
    let staged = |repository: &Repository| {
        let names = names(&repository.root().join(ARCHIVE)).into_iter();
        names.filter_map(|name| name.strip_prefix(".stan/imports/").map(str::to_owned)).collect::<Vec<_>>()
    };
    json(&repository, &["run", "--json"]);
    assert_eq!(staged(&repository), ["a/a.md", "b/b.md", "other/x.md"]);
    repository.write("stan.config.yml", "stan-core:\n  imports:\n    a: docs/a.md\n");
    json(&repository, &["run", "--json"]);
    assert_eq!(staged(&repository), ["a/a.md", "other/x.md"]);
    repository.write("stan.config.yml", "stan-core: {}\n");
    json(&repository, &["run", "--json"]);
    assert_eq!(staged(&repository), ["other/x.md"]);
}

#[test]
fn outlines_and_symbols_show_no_secret() {
    let token = token();
    let repository = Repository::new(&[("a.ts", &format!("export const held = \"{token}\";\n"))]);
    for command in [&["outline", "a.ts"][..], &["symbol", "held"], &["read", "a.ts"], &["pack", "--at", "a.ts:1"]] {
        let shown = repository.stan(command);
        assert!(!shown.contains(&token) && shown.contains("held back because of a secret"), "{command:?}: {shown}");
        let allowed = [command, &["--allow-secret", "a.ts"]].concat();
        assert!(repository.stan(&allowed).contains(&token), "{allowed:?}");
    }
}
