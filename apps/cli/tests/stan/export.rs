//! `stan export`: the layout of a dataset, what is written again and what is not, and what is left out. `fixtures/fleet/check.py`
//! tests that query engines can read it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect;
use serde_json::Value;

use crate::support::Repository;

const TABLES: [&str; 5] = ["nodes", "edges", "declarations", "exports", "packages"];

fn repository() -> Repository {
    Repository::new(&[
        ("package.json", "{\"name\":\"app\",\"version\":\"1.2.0\",\"type\":\"module\"}\n"),
        (".gitignore", "node_modules\n"),
        (
            "src/a.ts",
            "/** Where it starts. @module */\nimport { b } from './lib/index.js';\nimport { z } from 'zed';\nimport { gone } from 'gone/x';\nimport './lost.js';\nexport const a = b(z, gone);\n",
        ),
        ("src/lib/index.ts", "export { b } from './b.js';\r\nexport * from './c.js';\r\n"),
        ("src/lib/b.ts", "export function b() {}\nexport class C { m() {} }\n"),
        ("src/lib/c.ts", "export default 1;\n"),
        ("odd name \u{e9}\u{202e}.ts", "export {};\n"),
        ("py/pyproject.toml", "[project]\nname = \"tool\"\nversion = \"3\"\n"),
        ("py/tool.py", "import yaml.nodes\nfrom . import lost\ndef run(): pass\n"),
        ("node_modules/zed/package.json", "{\"name\":\"zed\",\"version\":\"1.2.3\",\"types\":\"index.d.ts\"}\n"),
        ("node_modules/zed/index.d.ts", "export declare const z: number;\n"),
    ])
}

/// Beside the repository.
fn dataset(repository: &Repository) -> PathBuf {
    repository.root().parent().unwrap().join("data")
}

fn rows(dataset: &Path, table: &str, partition: &str) -> Vec<Value> {
    let path = dataset.join(table).join(partition).join("part-0.ndjson");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn report(repository: &Repository, arguments: &[&str]) -> Value {
    let output = repository.output(arguments, &[]);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Every file of the dataset with its bytes.
fn files(dataset: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![dataset.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(dataset).unwrap().to_str().unwrap().to_owned();
                found.insert(name, fs::read(path).unwrap());
            }
        }
    }
    found
}

#[test]
fn tables_match_the_graph() {
    let repository = repository();
    let printed = repository.stan(&["export", "../data", "--format", "ndjson", "--repo-id", "org/app"]);
    assert!(printed.contains("repo=org%2Fapp/commit=worktree  written: "), "{printed}");
    let (data, partition) = (dataset(&repository), "repo=org%2Fapp/commit=worktree");
    let graph = report(&repository, &["graph", "--json"]);
    let nodes = graph["graph"]["nodes"].as_object().unwrap();
    let exported = rows(&data, "nodes", partition);
    assert_eq!(exported.len(), nodes.len());
    for row in &exported {
        let node = &nodes[row["id"].as_str().unwrap()];
        assert_eq!((&row["kind"], &row["language"]), (&node["kind"], &node["language"]), "{row}");
    }
    let mut edges: Vec<String> = Vec::new();
    for (source, targets) in graph["graph"]["edges"].as_object().unwrap() {
        for edge in targets.as_array().unwrap() {
            edges.push(format!("{source} {} {} {}", edge["target"], edge["kind"], edge["resolution"]));
        }
    }
    let mut found: Vec<String> = rows(&data, "edges", partition)
        .iter()
        .map(|row| {
            format!("{} {} {} {}", row["source"].as_str().unwrap(), row["target"], row["kind"], row["resolution"])
        })
        .collect();
    edges.sort();
    found.sort();
    assert_eq!(found, edges);
}

#[test]
fn names_packages_exports_and_declarations() {
    let repository = repository();
    repository.stan(&["export", "../data", "--format", "ndjson", "--repo-id", "r", "--commit", "1"]);
    let (data, partition) = (dataset(&repository), "repo=r/commit=1");
    let list = |table: &str, columns: &[&str]| -> String {
        let line = |row: &Value| columns.iter().map(|column| row[*column].to_string()).collect::<Vec<_>>().join(" ");
        rows(&data, table, partition).iter().map(|row| line(row) + "\n").collect()
    };
    expect![[r#"
        "app" "1.2.0" "npm" "own" "" 7
        "tool" "3" "pypi" "own" "py" 2
        "gone" null "npm" "used" null 1
        "yaml" null "pypi" "used" null 1
        "zed" "1.2.3" "npm" "used" null 1
    "#]]
    .assert_eq(&list("packages", &["name", "version", "ecosystem", "role", "folder", "files"]));
    expect![[r#"
        "py/tool.py" "yaml.nodes" "explicit" []
        "src/a.ts" "gone/x" "explicit" ["gone"]
        "src/a.ts" "node_modules/zed/index.d.ts" "explicit" ["z"]
        "src/a.ts" "src/lib/b.ts" "implicit" ["b"]
        "src/a.ts" "src/lib/index.ts" "explicit" ["b"]
        "src/a.ts" "src/lost.js" "explicit" []
        "src/lib/index.ts" "src/lib/b.ts" "explicit" ["b"]
        "src/lib/index.ts" "src/lib/c.ts" "explicit" []
    "#]]
    .assert_eq(&list("edges", &["source", "target", "resolution", "names"]));
    expect![[r#"
        "py/tool.py" "lost" "reexport" ".lost"
        "py/tool.py" "run" "local" null
        "py/tool.py" "yaml" "local" null
        "src/a.ts" "a" "local" null
        "src/lib/b.ts" "C" "local" null
        "src/lib/b.ts" "b" "local" null
        "src/lib/c.ts" "default" "local" null
        "src/lib/index.ts" "b" "reexport" "./b.js"
        "src/lib/index.ts" "*" "reexport" "./c.js"
    "#]]
    .assert_eq(&list("exports", &["file", "name", "origin", "request"]));
    expect![[r#"
        "py/tool.py" "run" "function" true 0 3
        "src/a.ts" "a" "variable" true 0 6
        "src/lib/b.ts" "b" "function" true 0 1
        "src/lib/b.ts" "C" "class" true 0 2
        "src/lib/b.ts" "C.m" "method" true 1 2
        "src/lib/c.ts" "default" "export" true 0 1
    "#]]
    .assert_eq(&list("declarations", &["file", "name", "kind", "exported", "depth", "start_line"]));
}

#[test]
fn a_commit_is_written_once_and_other_commits_stay_until_they_are_pruned() {
    let repository = repository();
    if repository.git(&["init", "-q"]).is_none() {
        return println!("skipped: there is no git");
    }
    let commit = |message: &str| {
        repository.git(&["add", "-A"]);
        repository.git(&["-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "-q", "-m", message]);
        repository.git(&["rev-parse", "HEAD"]).unwrap().trim().to_owned()
    };
    let first = commit("one");
    let export = |more: &[&str]| {
        let report = report(&repository, &[&["export", "../data", "--json"], more].concat());
        report["repositories"][0].clone()
    };
    let one = export(&[]);
    assert_eq!((&one["commit"], &one["unchanged"]), (&Value::from(first.as_str()), &Value::from(false)));
    let before = files(&dataset(&repository));
    assert_eq!(before.len(), TABLES.len() + 1);
    assert_eq!(export(&["--no-cache", "--threads", "1"])["unchanged"], true);
    assert_eq!(files(&dataset(&repository)), before);
    // A missing table is detected and written again with the same bytes.
    fs::remove_file(dataset(&repository).join(format!("edges/repo=r/commit={first}/part-0.parquet"))).unwrap();
    assert_eq!(export(&["--no-cache"])["unchanged"], false);
    assert_eq!(files(&dataset(&repository)), before);

    repository.write("src/new.ts", "import './a.js';\n");
    let dirty = export(&[]);
    assert_eq!((&dirty["commit"], dirty["warnings"].as_array().unwrap().len()), (&Value::from("worktree"), 1));
    let second = commit("two");
    assert_eq!(export(&[])["commit"], second.as_str());
    assert_eq!(files(&dataset(&repository)).len(), 3 * (TABLES.len() + 1));
    assert_eq!(export(&["--prune"])["pruned"], 2);
    let left = files(&dataset(&repository));
    assert_eq!(left.len(), TABLES.len() + 1);
    assert!(left.keys().all(|name| name.contains(&second)), "{:?}", left.keys());
}

#[test]
fn a_shallow_clone_has_the_same_commit_and_rows() {
    let repository = repository();
    if repository.git(&["init", "-q"]).is_none() {
        return println!("skipped: there is no git");
    }
    for round in ["one", "two"] {
        repository.write("src/round.ts", &format!("export const round = '{round}';\n"));
        repository.git(&["add", "-A"]);
        repository.git(&["-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "-q", "-m", round]);
    }
    let url = format!("file://{}", repository.root().display());
    repository.git(&["clone", "-q", "--depth", "1", &url, "../clone"]);
    let ids = ["--repo-id", "a", "--repo-id", "b"];
    let report = report(&repository, &[&["export", "../data", ".", "../clone", "--json"][..], &ids].concat());
    let commits: Vec<&Value> = report["repositories"].as_array().unwrap().iter().map(|one| &one["commit"]).collect();
    assert_eq!(commits[0], commits[1]);
    let files = files(&dataset(&repository));
    let table =
        |repo: &str| files.iter().find(|(name, _)| name.starts_with(&format!("declarations/repo={repo}/"))).unwrap().1;
    // A clone has no installed packages, but it has what files declare.
    assert_eq!(table("a"), table("b"));
}

#[test]
fn an_empty_folder_and_a_sub_folder_are_exported() {
    let empty = Repository::new(&[]);
    let one = report(&empty, &["export", "../data", "--format", "ndjson", "--json"]);
    assert_eq!(one["repositories"][0]["commit"], "worktree");
    assert!(one["repositories"][0]["tables"].as_array().unwrap().iter().all(|table| table["rows"] == 0));
    let repository = repository();
    repository.write("stan.config.json", "{}\n");
    let one = report(&repository, &["export", "../../data", "--json", "-C", "src"]);
    // The root is the folder of the configuration, as in all commands; the dataset is relative to the working directory.
    assert_eq!(one["repositories"][0]["id"], "r");
    assert!(dataset(&repository).join("nodes/repo=r/commit=worktree/part-0.parquet").exists());
}

#[test]
fn secrets_and_excluded_files_stay_out() {
    let token = ["ghp_", "q7Rz0bXk2Lm9vTgYw3HdPs5N", "c8JfUe1Wa6Zt"].concat();
    let repository = Repository::new(&[
        ("stan.config.json", "{\"stan-core\":{\"excludes\":[\"private/**\"]}}\n"),
        (
            "src/key.ts",
            &format!("/** Uses {token}. @module */\nexport const key = '{token}';\nexport const NAME = 1;\n"),
        ),
        ("src/use.ts", "import { NAME } from './key.js';\nimport '../private/plan.js';\nexport const use = NAME;\n"),
        ("private/plan.ts", "export const TAKEOVER = 1;\n"),
    ]);
    let printed = repository.stan(&["export", "../data", "--format", "ndjson"]);
    assert!(printed.contains("1 file with a secret"), "{printed}");
    for (name, bytes) in files(&dataset(&repository)) {
        let text = String::from_utf8(bytes).unwrap();
        assert!(!text.contains("ghp_") && !text.contains("TAKEOVER") && !text.contains("private/"), "{name}: {text}");
    }
    let exports = rows(&dataset(&repository), "exports", "repo=r/commit=worktree");
    assert!(exports.iter().all(|row| row["file"] != "src/key.ts"), "{exports:?}");
}

#[test]
fn a_dataset_among_the_files_it_is_about_is_refused_and_links_are_not_followed() {
    let repository = repository();
    expect![[r#"
        exit 1
        --- stdout
        --- stderr
        error: the folder of the dataset lies inside the repository that it is about
          help: name a folder outside of it, or one below .stan
    "#]]
    .assert_eq(&repository.stan(&["export", "data"]));
    assert!(repository.stan(&["export", ".stan/data"]).starts_with("exit 0\n"));
    #[cfg(unix)]
    {
        let outside = Repository::new(&[]);
        fs::create_dir_all(repository.root().join(".stan/linked")).unwrap();
        std::os::unix::fs::symlink(outside.root(), repository.root().join(".stan/linked/nodes")).unwrap();
        let printed = repository.stan(&["export", ".stan/linked"]);
        assert!(printed.starts_with("exit 1\n") && printed.contains("is not a folder"), "{printed}");
        assert!(fs::read_dir(outside.root()).unwrap().next().is_none());
    }
}

#[test]
fn mistakes_are_named() {
    let repository = repository();
    expect![[r#"
        exit 2
        --- stdout
        --- stderr
        error: 2 roots, but 1 --repo-id
          help: name one for each root, in the same order, or none
    "#]]
    .assert_eq(&repository.stan(&["export", "../data", ".", ".", "--repo-id", "a"]));
    expect![[r#"
        exit 1
        --- stdout
        --- stderr
        error: `.` and `.` are both `r` in the dataset
          help: give each a name of its own with --repo-id
    "#]]
    .assert_eq(&repository.stan(&["export", "../data", ".", "."]));
    expect![[r#"
        exit 2
        --- stdout
        --- stderr
        error: invalid value 'parket' for '--format <FORMAT>'
          [possible values: parquet, ndjson]

          tip: a similar value exists: 'parquet'

        For more information, try '--help'.
    "#]]
    .assert_eq(&repository.stan(&["export", "../data", "--format", "parket"]));
    expect![[r#"
        exit 1
        --- stdout
        repo=a/commit=worktree  written: 41 rows in 5 tables, 5,064 bytes
        --- stderr
        error: 1 repository was not exported
          nowhere: cannot enter `./nowhere`: No such file or directory (os error 2)
    "#]]
    .assert_eq(&repository.stan(&["export", "../data", ".", "nowhere", "--repo-id", "a", "--repo-id", "b"]));
    assert!(dataset(&repository).join("nodes/repo=a/commit=worktree/part-0.parquet").exists());
}
