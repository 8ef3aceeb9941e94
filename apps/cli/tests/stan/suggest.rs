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
    expect![[r#"
        exit 0
        --- stdout
        src/a.ts     25  focus
        src/user.ts  12  dependent
        src/b.ts     18  dependency
        3 files, 55 of 60 o200k tokens
        did not fit: src/types.ts (6), src/deep/c.ts (7)
        next: src/types.ts with --budget 61
        {"v":2,"i":[["src/user.ts",2,1]]}
        --- stderr
    "#]]
    .assert_eq(&repository.stan(&["suggest", "--focus", "src/a.ts", "--budget", "60"]));
    expect![[r#"
        exit 0
        --- stdout
        src/deep/c.ts   7  focus, score 0, near 1 of the focus, by src/a.ts > src/b.ts > src/deep/c.ts
        src/types.ts    6  focus, score 0, near 1 of the focus, by src/a.ts > src/types.ts
        src/b.ts       18  focus, score 0, near 1 of the focus, by src/a.ts > src/b.ts
        src/a.ts       25  focus, score 0, near 1 of the focus
        src/user.ts    12  dependent, score 3, near 1 of the focus, by src/a.ts > src/user.ts
        5 files, 68 of 1,000 o200k tokens
        {"v":2,"i":[["src/user.ts",3]]}
        --- stderr
    "#]]
    .assert_eq(&repository.stan(&["suggest", "--focus", "src/a.ts:2", "--budget", "1000", "--explain"]));
}

#[test]
fn a_focus_that_does_not_fit_is_refused() {
    let repository = repository();
    expect![[r#"
        exit 1
        --- stdout
        --- stderr
        error: the focus alone needs 43 o200k tokens, and the budget is 10
          src/a.ts: 25 tokens
          src/b.ts: 18 tokens
          help: give --budget 43 or more, or fewer files
    "#]]
    .assert_eq(&repository.stan(&["suggest", "--focus", "src/a.ts", "src/b.ts", "--budget", "10"]));
    expect![[r#"
        exit 1
        --- stdout
        --- stderr
        error: the focus names files that the map does not know
          `lib/c.ts`; there is `src/deep/c.ts`
          help: name a module of the map; `stan run --context --meta` writes a new map
    "#]]
    .assert_eq(&repository.stan(&["suggest", "--focus", "lib/c.ts", "--budget", "10"]));
    expect![[r#"
        exit 1
        --- stdout
        --- stderr
        error: git cannot say what changed: there is no git repository around the root
          help: name the files with --focus instead
    "#]]
    .assert_eq(&repository.stan(&["suggest", "--changed", "HEAD~1", "--budget", "10"]));
    expect![[r#"
        exit 2
        --- stdout
        --- stderr
        error: the following required arguments were not provided:
          <--focus <FILE[:DEPTH]>...|--changed [<REV>]|--log <FILE>>

        Usage: stan suggest --budget <N> <--focus <FILE[:DEPTH]>...|--changed [<REV>]|--log <FILE>>

        For more information, try '--help'.
    "#]]
    .assert_eq(&repository.stan(&["suggest", "--budget", "10"]));
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
fn what_changed_since_a_revision_is_a_focus() {
    let repository = repository();
    if repository.git(&["init", "--quiet"]).is_none() {
        return;
    }
    let commit = |message: &str| {
        repository.git(&["add", "--all"]);
        repository.git(&["-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "--quiet", "-m", message])
    };
    commit("one");
    repository.git(&["tag", "v1"]);
    repository.write("src/types.ts", "export type T = string;\n");
    std::fs::remove_file(repository.root().join("src/alone.ts")).unwrap();
    commit("two");
    repository.git(&["gc", "--quiet"]);
    repository.write("src/deep/c.ts", "export const c = 2;\n");
    let focus = |since: &str| {
        let report = json(&repository, &["suggest", "--changed", since, "--budget", "1000", "--json"]);
        (report["focus"].clone(), report["changes"]["deleted"].clone())
    };
    let both = (serde_json::json!(["src/deep/c.ts", "src/types.ts"]), serde_json::json!(["src/alone.ts"]));
    for since in ["v1", "HEAD~1", "HEAD^", "v1^{commit}"] {
        assert_eq!(focus(since), both, "{since}");
    }
    assert_eq!(focus("HEAD"), (serde_json::json!(["src/deep/c.ts"]), serde_json::json!([])));
    expect![[r#"
        exit 0
        --- stdout
        src/deep/c.ts   7  focus
        src/types.ts    6  focus
        src/b.ts       18  dependent
        src/a.ts       25  dependent
        src/user.ts    12  dependent
        5 files, 68 of 1,000 o200k tokens
        {"v":2,"i":[["src/user.ts",3]]}
        --- stderr
        warning: deleted since v1, so not in the map and not in the focus: src/alone.ts; --focus what imported it
    "#]]
    .assert_eq(&repository.stan(&["suggest", "--changed", "v1", "--budget", "1000"]));
    expect![[r#"
        exit 1
        --- stdout
        --- stderr
        error: git cannot say what changed: no branch, tag, reference or commit is called `v2`
          help: name a commit: a branch, a tag, HEAD, an object id, or one of them with ~N or ^N behind it
    "#]]
    .assert_eq(&repository.stan(&["suggest", "--changed", "v2", "--budget", "1000"]));
    expect![[r#"
        exit 1
        --- stdout
        --- stderr
        error: git cannot say what changed: `v1..HEAD` cannot be used as a revision: it is a range; name the one revision that the files are compared with
          help: name a commit: a branch, a tag, HEAD, an object id, or one of them with ~N or ^N behind it
    "#]]
    .assert_eq(&repository.stan(&["suggest", "--changed", "v1..HEAD", "--budget", "1000"]));
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
