//! `stan suggest`, and that `stan select` counts the same for its proposal.

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
fn files_that_fit_the_budget_are_proposed() {
    let repository = repository();
    expect![[r#"
        exit 0
        --- stdout
        src/a.ts     25  focus
        src/b.ts     18  imported by src/a.ts
        src/user.ts  12  imports src/a.ts
        3 files, 55 of 60 o200k tokens, 5 unused
        did not fit, but `stan pack` can show their signatures: src/types.ts (6), src/deep/c.ts (7), src/alone.ts (10)
        next: src/types.ts with --budget 61
        not available: history: there is no git repository
        {"v":2,"i":["src/a.ts","src/b.ts","src/user.ts"]}
        --- stderr
    "#]]
    .assert_eq(&repository.stan(&["suggest", "--focus", "src/a.ts", "--budget", "60"]));
    expect![[r#"
        exit 0
        --- stdout
        src/a.ts       25  focus
        src/b.ts       18  dependency
        src/deep/c.ts   7  dependency
        src/types.ts    6  dependency
        src/user.ts    12  imports src/a.ts, score 3.16 (path 1.50, words 0.75, near hits 0.48)
        src/alone.ts   10  related, score 1.92 (path 1.50, near hits 0.33, vocabulary 0.09)
        6 files, 78 of 1,000 o200k tokens, 922 unused
        not available: history: there is no git repository
        {"v":2,"i":[["src/a.ts",2],"src/alone.ts","src/user.ts"]}
        --- stderr
    "#]]
    .assert_eq(&repository.stan(&["suggest", "--focus", "src/a.ts:2", "--budget", "1k", "--explain"]));
    expect![[r#"
        exit 0
        --- stdout
        0 files, 0 of 32,000 o200k tokens, 32,000 unused
        not available: history: there is no git repository
        {"v":2,"i":[]}
        --- stderr
        warning: no word of the text occurs in the repository
    "#]]
    .assert_eq(&repository.stan(&["suggest", "--about", "Rename c to count"]));
}

#[test]
fn a_file_of_negligible_score_is_left_out_although_it_fits() {
    let long = format!("path {}", "other words of a long text that is about something else\n".repeat(400));
    let route = "export function parseRoute(path: string) { return path; }\n";
    let repository = Repository::new(&[("src/route.ts", route), ("notes/long.md", long.as_str())]);
    expect![[r#"
        exit 0
        --- stdout
        src/route.ts  13  mentions parseRoute, path
        1 file, 13 of 32,000 o200k tokens, 31,987 unused
        left out: 1 file with less than a twentieth of the best score
        not available: history: there is no git repository
        not available: imports: no file of the repository imports another, as far as stan reads them
        {"v":2,"i":["src/route.ts"]}
        --- stderr
    "#]]
    .assert_eq(&repository.stan(&["suggest", "--about", "fix parseRoute of a path"]));
    let report = json(&repository, &["suggest", "--about", "fix parseRoute of a path", "--json"]);
    assert_eq!((report["unused"].as_u64(), report["negligible"].as_u64()), (Some(31_987), Some(1)));
}

#[test]
fn an_empty_file_is_not_proposed_although_its_path_has_the_words() {
    let route = "def parse_route(path):\n    return path\n";
    let repository =
        Repository::new(&[("routes/parse.py", route), ("routes/__init__.py", ""), ("parse/__init__.py", "")]);
    let report = json(&repository, &["suggest", "--about", "fix parse_route of routes", "--json"]);
    assert_eq!(report["state"]["i"], serde_json::json!(["routes/parse.py"]));
}

#[test]
fn a_focus_that_does_not_fit_is_reported_and_not_an_error() {
    let repository = repository();
    expect![[r#"
        exit 0
        --- stdout
        src/b.ts  18  focus
        1 file, 18 of 20 o200k tokens, 2 unused
        did not fit, but `stan pack` can show their signatures: src/a.ts (25), src/user.ts (12), src/types.ts (6), src/deep/c.ts (7), src/alone.ts (10)
        next: src/a.ts with --budget 43
        not available: history: there is no git repository
        {"v":2,"i":["src/b.ts"]}
        --- stderr
    "#]].assert_eq(&repository.stan(&["suggest", "--focus", "src/a.ts", "src/b.ts", "--budget", "20"]));
    expect![[r#"
        exit 0
        --- stdout
        src/a.ts  25  focus
        1 file, 25 of 30 o200k tokens, 5 unused
        did not fit, but `stan pack` can show their signatures: src/b.ts (18), src/user.ts (12), src/types.ts (6), src/deep/c.ts (7), src/alone.ts (10)
        next: src/b.ts with --budget 43
        not available: history: there is no git repository
        {"v":2,"i":["src/a.ts"]}
        --- stderr
        warning: `src/a.ts` is proposed alone: 9 steps of its dependencies need 26 more tokens than are left
    "#]].assert_eq(&repository.stan(&["suggest", "--focus", "src/a.ts:9", "--budget", "30"]));
}

#[test]
fn wrong_arguments_are_explained() {
    let repository = repository();
    expect![[r#"
        exit 1
        --- stdout
        --- stderr
        error: the focus names files that are not there
          `lib/c.ts`; did you mean `src/deep/c.ts`?
          `src/usr.ts`; did you mean `src/user.ts`?
          help: name a file, a folder or a glob of the repository that git does not ignore
    "#]]
    .assert_eq(&repository.stan(&["suggest", "--focus", "lib/c.ts", "src/usr.ts", "--budget", "10"]));
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
          <--focus <FILE[:DEPTH]>...|--changed [<REV>]|--log <FILE>|--about <TEXT|@FILE>>

        Usage: stan suggest --budget <N> <--focus <FILE[:DEPTH]>...|--changed [<REV>]|--log <FILE>|--about <TEXT|@FILE>>

        For more information, try '--help'.
    "#]]
    .assert_eq(&repository.stan(&["suggest", "--budget", "10"]));
    expect![[r#"
        exit 2
        --- stdout
        --- stderr
        error: invalid value '20x' for '--budget <N>': `20x` is not a number of tokens: write 20000, 20k or 1m

        For more information, try '--help'.
    "#]]
    .assert_eq(&repository.stan(&["suggest", "--focus", "src/a.ts", "--budget", "20x"]));
    expect![[r#"
        exit 1
        --- stdout
        --- stderr
        error: the text of --about is empty
          help: say in words what the task is
    "#]]
    .assert_eq(&repository.stan(&["suggest", "--about", " "]));
    expect![[r#"
        exit 1
        --- stdout
        --- stderr
        error: cannot read `no-such-file`: No such file or directory (os error 2)
    "#]]
    .assert_eq(&repository.stan(&["suggest", "--about", "@no-such-file"]));
    let empty = Repository::new(&[]);
    expect![[r#"
        exit 0
        --- stdout
        0 files, 0 of 32,000 o200k tokens, 32,000 unused
        not available: history: there is no git repository
        {"v":2,"i":[]}
        --- stderr
        warning: no word of the text occurs in the repository
    "#]]
    .assert_eq(&empty.stan(&["suggest", "--about", "anything"]));
}

#[test]
fn folders_and_globs_are_a_focus() {
    let repository = repository();
    let focus = |typed: &str| json(&repository, &["suggest", "--focus", typed, "--json"])["focus"].clone();
    assert_eq!(focus("src/deep"), serde_json::json!(["src/deep/c.ts"]));
    assert_eq!(focus("src/{a,b}.ts"), serde_json::json!(["src/a.ts", "src/b.ts"]));
    assert_eq!(focus("src/**/c.*"), serde_json::json!(["src/deep/c.ts"]));
    let text = repository.stan(&["suggest", "--focus", "src/**/none.*"]);
    assert!(text.starts_with("exit 1"), "{text}");
}

#[test]
fn a_text_may_come_from_a_file_and_beside_a_focus() {
    let repository = repository();
    repository.write("task.md", "Rename `alone`\n\nIt is not imported.\n");
    for arguments in [&["--about", "@task.md"][..], &["--task", "Rename `alone`"]] {
        let report = json(&repository, &[&["suggest", "--json"], arguments].concat());
        assert_eq!(report["nodes"][0]["nodeId"], "src/alone.ts", "{report:#}");
        let reason = report["nodes"][0]["reason"].as_str().unwrap_or_default();
        assert!(reason.starts_with("mentions alone"), "{reason}");
        assert_eq!(report["focus"], serde_json::json!([]));
        assert_eq!(report["unavailable"], serde_json::json!(["history: there is no git repository"]));
    }
    let both = json(&repository, &["suggest", "--json", "--about", "@task.md", "--focus", "src/b.ts"]);
    let ids: Vec<_> = both["nodes"].as_array().unwrap().iter().map(|node| node["nodeId"].as_str().unwrap()).collect();
    assert_eq!(ids[0], "src/b.ts");
    assert!(ids.contains(&"src/alone.ts") && ids.contains(&"src/deep/c.ts"), "{ids:?}");
}

#[test]
fn a_compact_selection_selects_the_same() {
    let repository = repository();
    let listed = json(&repository, &["suggest", "--json", "--focus", "src/a.ts", "--write"]);
    let ids = |selected: &serde_json::Value| selected["selectedNodeIds"].clone();
    let expected = ids(&json(&repository, &["select", "--json"]));
    let compact = json(&repository, &["suggest", "--json", "--focus", "src/a.ts", "--write", "--compact"]);
    assert_eq!(ids(&json(&repository, &["select", "--json"])), expected);
    assert_eq!(listed["nodes"], compact["nodes"]);
    assert_ne!(listed["state"], compact["state"]);
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
        for budget in ["1", "25", "40", "55", "80", "1000", "0"] {
            let arguments =
                ["suggest", "--focus", "src/a.ts", "--budget", budget, "--tokens", tokenizer, "--json", "--write"];
            let proposed = json(&repository, &arguments);
            let again = json(&repository, &arguments);
            assert_eq!(proposed, again);
            let selected = json(&repository, &["select", "--tokens", tokenizer, "--json"]);
            assert_eq!(proposed["tokens"], selected["exactTokens"]["tokens"], "{tokenizer} {budget}");
            assert_eq!(selected["exactTokens"]["tokenizer"], tokenizer);
            assert!(budget == "0" || proposed["tokens"].as_u64() <= budget.parse().ok());
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
    assert!(text.starts_with("exit 1") && text.contains("there is nothing to rank files by"), "{text}");
}

#[test]
fn text_focus_changes_and_log_can_be_combined() {
    let repository = repository();
    if repository.git(&["init", "--quiet"]).is_none() {
        return;
    }
    repository.write("log.txt", "src/deep/c.ts(1,5): error TS1: no\n");
    repository.git(&["add", "--all"]);
    repository.write("src/user.ts", "import { a } from './a';\nconsole.log(a, a);\n");
    let given = ["suggest", "--focus", "src/b.ts", "src/types.ts", "--changed", "--log", "log.txt", "--budget", "1000"];
    let report = json(&repository, &[&given[..], &["--json"]].concat());
    assert_eq!(report["focus"], serde_json::json!(["src/b.ts", "src/deep/c.ts", "src/types.ts", "src/user.ts"]));
    let others: Vec<&serde_json::Value> =
        report["nodes"].as_array().unwrap().iter().filter(|node| node["relation"] != "focus").collect();
    assert_eq!(
        (others[0]["nodeId"].as_str(), others[0]["reason"].as_str()),
        (Some("src/a.ts"), Some("imports src/b.ts"))
    );
    assert!(others[0]["terms"].as_array().is_some_and(|terms| (1..=3).contains(&terms.len())), "{}", others[0]);
    let text = repository.stan(&[&given[..], &["--explain"]].concat());
    assert!(text.contains("imports src/b.ts, score "), "{text}");
}

#[test]
fn instructions_for_assistants_are_never_proposed() {
    let repository = repository();
    repository.write(".stan/system/stan.system.md", "Rename c to count\n");
    repository.write("docs/notes.md", "Rename c to count\n");
    let report = json(&repository, &["suggest", "--about", "Rename c to count", "--json"]);
    let ids: Vec<&str> =
        report["nodes"].as_array().unwrap().iter().map(|node| node["nodeId"].as_str().unwrap()).collect();
    assert!(ids.contains(&"docs/notes.md"), "{ids:?}");
    assert!(!ids.iter().any(|id| id.starts_with(".stan/")), "{ids:?}");
}

#[test]
fn a_path_in_the_text_comes_first() {
    let repository = repository();
    let first = |text: &str| {
        let report = json(&repository, &["suggest", "--about", text, "--budget", "1000", "--json"]);
        (report["nodes"][0]["nodeId"].clone(), report["nodes"][0]["reason"].clone())
    };
    let named = |path: &str| (serde_json::json!(path), serde_json::json!("named in the text"));
    assert_eq!(first("a is wrong in `src/deep/c.ts`"), named("src/deep/c.ts"));
    assert_eq!(first("a is wrong\n    at f (/ci/work/src/deep/c.ts:1:2)"), named("src/deep/c.ts"));
    assert_eq!(first("a is wrong, see alone.ts"), named("src/alone.ts"));
}

#[test]
fn changes_according_to_git_are_a_focus() {
    let repository = repository();
    if repository.git(&["init", "--quiet"]).is_none() {
        return;
    }
    repository.git(&["add", "--all"]);
    repository.write("src/b.ts", "import { c } from './deep/c';\nexport const b = c + 2;\n");
    repository.write("src/new.ts", "export const fresh = 1;\n");
    // Files written by stan do not count as the user's changes.
    repository.stan(&["init"]);
    let report = json(&repository, &["suggest", "--changed", "--budget", "1000", "--json"]);
    assert_eq!(report["focus"], serde_json::json!(["src/b.ts", "src/new.ts"]));
    assert_eq!(report["unavailable"], serde_json::json!(["history: there is no commit yet"]));
}

#[test]
fn common_changes_are_reported() {
    let repository = repository();
    if repository.git(&["init", "--quiet"]).is_none() {
        return;
    }
    let commit = |message: &str| {
        repository.git(&["add", "--all"]);
        repository.git(&["-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "--quiet", "-m", message])
    };
    for round in 0..3 {
        repository.write("src/alone.ts", &format!("export const alone = {round};\n"));
        repository.write("src/types.ts", &format!("export type T = {round};\n"));
        commit("Widen the numbers");
    }
    let reason = |report: &serde_json::Value, path: &str| {
        let nodes = report["nodes"].as_array().unwrap();
        nodes.iter().find(|node| node["nodeId"] == path).map(|node| node["reason"].clone())
    };
    let report = json(&repository, &["suggest", "--focus", "src/types.ts", "--json"]);
    assert_eq!(reason(&report, "src/alone.ts"), Some("changed together (3 of 3 commits)".into()));
    assert_eq!(report["unavailable"], serde_json::json!([]));
    let report = json(&repository, &["suggest", "--about", "widen numbers", "--json"]);
    let message = reason(&report, "src/alone.ts").unwrap();
    assert!(message.as_str().unwrap().starts_with("message of "), "{message}");
    let unknown = repository.stan(&["suggest", "--about", "zzqqx"]);
    let warning = "warning: no file contains a word of the text; files are ranked by the history and the focus alone";
    assert!(unknown.contains(warning), "{unknown}");
    // A folder of the work tree has the same history, with paths relative to the folder.
    let report = json(&repository, &["-C", "src", "suggest", "--focus", "types.ts", "--json"]);
    assert_eq!(reason(&report, "alone.ts"), Some("changed together (3 of 3 commits)".into()));
    // A shallow clone is reported.
    let clone = format!("file://{}", repository.root().display());
    if repository.git(&["clone", "--quiet", "--depth", "1", &clone, "shallow"]).is_some() {
        let report = json(&repository, &["-C", "shallow", "suggest", "--focus", "src/types.ts", "--json"]);
        assert_eq!(report["unavailable"].as_array().map(Vec::len), Some(2), "{report:#}");
    }
}

#[test]
fn changes_since_a_revision_are_a_focus() {
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
        src/a.ts       25  imports src/types.ts
        src/b.ts       18  imports src/deep/c.ts
        src/user.ts    12  changed together (1 of 2 commits)
        package.json    8  changed together (1 of 2 commits)
        6 files, 76 of 1,000 o200k tokens, 924 unused
        {"v":2,"i":["package.json","src/a.ts","src/b.ts","src/deep/c.ts","src/types.ts","src/user.ts"]}
        --- stderr
        warning: deleted since v1, so not in the focus: src/alone.ts; --focus what imported it
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
fn a_run_counts_tokens_or_estimates_them() {
    let repository = repository();
    let estimated = json(&repository, &["run", "--json", "--tokens", "bytes4"]);
    let bytes = estimated["archive"]["bytes"].as_u64().unwrap();
    assert_eq!(estimated["archive"]["tokens"].as_u64(), Some(bytes.div_ceil(4)));
    let counted = json(&repository, &["run", "--json"]);
    assert_eq!(counted["archive"]["exactTokens"]["tokenizer"], "o200k");
    assert!(counted["archive"]["exactTokens"]["tokens"].as_u64() > Some(0));
}

#[test]
fn threads_and_the_cache_do_not_change_a_byte() {
    let names = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"];
    let text = |at: usize, folder: &str| {
        let (next, far) = (names[(at + 1) % names.len()], names[(at * 3 + 2) % names.len()]);
        format!(
            "import {{ {next}Value }} from './{next}';\nexport const {}Value = {next}Value + {far}Count; // {folder}\n",
            names[at]
        )
    };
    let mut files: Vec<(String, String)> = Vec::new();
    for folder in ["one", "two", "three"] {
        files.extend((0..names.len()).map(|at| (format!("src/{folder}/{}.ts", names[at]), text(at, folder))));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let repository = Repository::new(&files);
    repository.git(&["init", "-q"]);
    for folder in ["src/one", "src/two", "src/three"] {
        repository.git(&["add", folder]);
        let message = format!("Count values of {folder}");
        repository.git(&["-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "--quiet", "-m", &message]);
    }
    let question =
        ["suggest", "--focus", "src/two/beta.ts", "--about", "Count alpha values", "--budget", "400", "--json"];
    let answer = |more: &[&str]| repository.stan(&[&question[..], more].concat());
    let expected = answer(&["--no-cache", "--threads", "1"]);
    assert!(expected.contains("src/two/alpha.ts"), "{expected}");
    // Without a cache, with a cache that is being written, and with one that is read.
    for more in [&["--no-cache", "--threads", "2"][..], &["--threads", "2"], &["--threads", "1"], &["--threads", "7"]] {
        assert_eq!(answer(more), expected, "{more:?}");
    }
}
