//! `stan suggest`, and that `stan select` counts what it proposes as it promised.

use expect_test::expect;

use crate::support::Repository;

fn repository() -> Repository {
    Repository::new(&[
        ("package.json", "{ \"name\": \"r\" }\n"),
        ("src/a.ts", "import { b } from './b';\nimport type { T } from './types';\nexport const a: T = b;\n"),
        ("src/b.ts", "import { c } from './deep/c';\nexport const b = c + 1;\n"),
        ("src/types.ts", "export type T = number;\n"),
        ("src/deep/c.ts", "export const c = 1;\n"),
        ("src/user.ts", "import { a } from './a';\nconsole.log(a);\n"),
        ("src/alone.ts", "export const alone = 'nobody imports this';\n"),
    ])
}

#[test]
fn what_fits_is_proposed() {
    let repository = repository();
    expect![[]].assert_eq(&repository.stan(&["suggest", "--focus", "src/a.ts", "--budget", "60"]));
    expect![[]].assert_eq(&repository.stan(&["suggest", "--focus", "src/a.ts:2", "--budget", "1000", "--explain"]));
}

#[test]
fn a_focus_that_does_not_fit_is_refused() {
    let repository = repository();
    expect![[]].assert_eq(&repository.stan(&["suggest", "--focus", "src/a.ts", "src/b.ts", "--budget", "10"]));
    expect![[]].assert_eq(&repository.stan(&["suggest", "--focus", "lib/c.ts", "--budget", "10"]));
    expect![[]].assert_eq(&repository.stan(&["suggest", "--changed", "HEAD~1", "--budget", "10"]));
    expect![[]].assert_eq(&repository.stan(&["suggest", "--budget", "10"]));
}

fn json(repository: &Repository, arguments: &[&str]) -> serde_json::Value {
    let output = repository.output(arguments, &[]);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("it is JSON")
}

#[test]
fn select_counts_the_same() {
    let repository = repository();
    for tokenizer in ["o200k", "cl100k", "bytes4"] {
        for budget in ["25", "40", "55", "80", "1000"] {
            let arguments =
                ["suggest", "--focus", "src/a.ts", "--budget", budget, "--tokens", tokenizer, "--json", "--write"];
            let proposed = json(&repository, &arguments);
            let again = json(&repository, &arguments);
            assert_eq!(proposed, again);
            let selected = json(&repository, &["select", "--tokens", tokenizer, "--json"]);
            assert_eq!(proposed["tokens"], selected["exactTokens"]["tokens"], "{tokenizer} {budget}");
            assert_eq!(selected["exactTokens"]["tokenizer"], tokenizer);
            assert!(proposed["tokens"].as_u64() <= budget.parse().ok());
            let mut nodes: Vec<_> = proposed["nodes"].as_array().unwrap().iter().map(|node| &node["nodeId"]).collect();
            nodes.sort_by_key(|node| node.as_str());
            let ids: Vec<_> = selected["selectedNodeIds"].as_array().unwrap().iter().collect();
            assert_eq!(nodes, ids);
        }
    }
}

#[test]
fn a_log_is_a_focus() {
    let repository = repository();
    repository.write("log.txt", "src/deep/c.ts(1,5): error TS1: no\n    at x (<root>/src/user.ts:2:1)\n");
    let report = json(&repository, &["suggest", "--log", "log.txt", "--budget", "1000", "--json"]);
    assert_eq!(report["focus"], serde_json::json!(["src/deep/c.ts", "src/user.ts"]));
    repository.write("empty.txt", "all is well\n");
    let text = repository.stan(&["suggest", "--log", "empty.txt", "--budget", "1000"]);
    assert!(text.starts_with("exit 1") && text.contains("there is nothing to suggest files for"), "{text}");
}

#[test]
fn what_git_says_changed_is_a_focus() {
    let repository = repository();
    if repository.git(&["init", "--quiet"]).is_none() {
        return;
    }
    repository.git(&["add", "--all"]);
    repository.write("src/b.ts", "import { c } from './deep/c';\nexport const b = c + 2;\n");
    repository.write("src/new.ts", "export const fresh = 1;\n");
    let report = json(&repository, &["suggest", "--changed", "--budget", "1000", "--json"]);
    assert_eq!(report["focus"], serde_json::json!(["src/b.ts", "src/new.ts"]));
}

#[test]
fn runs_count_on_request() {
    let repository = repository();
    let plain = json(&repository, &["run", "--json"]);
    assert!(plain["archive"].get("exactTokens").is_none());
    let counted = json(&repository, &["run", "--json", "--tokens", "o200k"]);
    assert_eq!(counted["archive"]["exactTokens"]["tokenizer"], "o200k");
    assert!(counted["archive"]["exactTokens"]["tokens"].as_u64() > Some(0));
}
