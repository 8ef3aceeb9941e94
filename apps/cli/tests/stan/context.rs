//! A thread from its start to the next turn, as users run it: map, selection, archives, diffs.

use std::fs;
use std::path::Path;

use crate::archives::{contents, names};
use crate::support::Repository;

const ARCHIVE: &str = ".stan/output/archive.tar";
const DIFF: &str = ".stan/output/archive.diff.tar";
const META: &str = ".stan/context/dependency.meta.json";
const OVERVIEW: &str = ".stan/context/dependency.overview.md";
const STATE: &str = ".stan/context/dependency.state.json";
const MAP: &str = ".stan/context/dependency.map.json";

const SOURCES: &[(&str, &str)] = &[
    ("package.json", "{\"name\":\"app\",\"version\":\"1.0.0\",\"dependencies\":{\"zed\":\"1.2.3\"}}\n"),
    ("tsconfig.json", "{\"compilerOptions\":{\"module\":\"nodenext\",\"strict\":true}}\n"),
    (".gitignore", "node_modules\n/dist\n/.stan/*\n!/.stan/system\n"),
    ("README.md", "# app\n"),
    (".stan/system/stan.system.md", "Follow the protocol.\n"),
    (".stan/system/.docs.meta.json", "{}\n"),
    ("src/index.ts", "import {helper} from './helper.js';\nimport {z} from 'zed';\nhelper(z);\n"),
    ("src/helper.ts", "import type {Deep} from './deep.js';\nexport const helper = (x: unknown): Deep => x;\n"),
    ("src/deep.ts", "export type Deep = unknown;\n"),
    ("dist/made.js", "made();\n"),
];

const PACKAGE: &[(&str, &str)] = &[
    ("package.json", "{\"name\":\"zed\",\"version\":\"1.2.3\",\"types\":\"index.d.ts\",\"main\":\"index.js\"}\n"),
    ("index.d.ts", "export declare const z: number;\n"),
    ("index.js", "exports.z = 1;\n"),
];

/// A package installed as npm does.
fn hoisted() -> Repository {
    let repository = Repository::new(SOURCES);
    PACKAGE.iter().for_each(|(path, text)| repository.write(&format!("node_modules/zed/{path}"), text));
    repository
}

/// A package installed as pnpm does, behind a symlink.
#[cfg(unix)]
fn stored() -> Repository {
    let repository = Repository::new(SOURCES);
    let store = "node_modules/.pnpm/zed@1.2.3/node_modules/zed";
    PACKAGE.iter().for_each(|(path, text)| repository.write(&format!("{store}/{path}"), text));
    std::os::unix::fs::symlink(".pnpm/zed@1.2.3/node_modules/zed", repository.root().join("node_modules/zed")).unwrap();
    repository
}

fn ok(repository: &Repository, arguments: &[&str]) -> String {
    let output = repository.output(arguments, &[]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

fn fails(repository: &Repository, arguments: &[&str], code: i32) -> String {
    let output = repository.output(arguments, &[]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
    stderr
}

fn archived(repository: &Repository, archive: &str) -> Vec<String> {
    names(&repository.root().join(archive))
}

fn walk(repository: &Repository) {
    ok(repository, &["run", "--context", "--meta"]);
    let base = [
        ".gitignore",
        META,
        OVERVIEW,
        STATE,
        ".stan/system/stan.system.md",
        "README.md",
        "package.json",
        "tsconfig.json",
    ];
    assert_eq!(archived(repository, ARCHIVE), base);
    assert!(!repository.root().join(DIFF).exists());
    assert_eq!(fs::read_to_string(repository.root().join(STATE)).unwrap(), "{\"v\":2,\"i\":[]}\n");
    let meta = fs::read_to_string(repository.root().join(META)).unwrap();
    assert!(meta.contains("\".stan/context/npm/zed/1.2.3/index.d.ts\":{\"k\":1,\"s\":32,"), "{meta}");
    assert!(!meta.contains("node_modules/"), "{meta}");

    repository.write(STATE, "{\"v\":2,\"i\":[[\"src/index.ts\",1,1],\"dist/made.js\"],\"x\":[\"README.md\"]}\n");
    ok(repository, &["run", "--context"]);
    let staged = ".stan/context/npm/zed/1.2.3/index.d.ts";
    let mut expected: Vec<String> = base.iter().map(|name| (*name).to_owned()).collect();
    expected.extend([staged, "src/index.ts", "src/helper.ts", "dist/made.js"].map(str::to_owned));
    expected.sort_unstable();
    assert_eq!(archived(repository, ARCHIVE), expected, "base and closure, nothing else");
    assert_eq!(archived(repository, DIFF), expected, "without a snapshot the diff is the archive");
    let archive = contents(&repository.root().join(ARCHIVE));
    assert_eq!(archive[staged], PACKAGE[1].1.as_bytes());
    assert_eq!(fs::read(repository.root().join(staged)).unwrap(), PACKAGE[1].1.as_bytes());
    assert!(archive.values().all(|bytes| {
        let text = String::from_utf8_lossy(bytes);
        !text.contains(&repository.root().display().to_string())
    }));

    ok(repository, &["run", "--context"]);
    assert_eq!(archived(repository, DIFF), [".stan/diff/.stan_no_changes"]);
    ok(repository, &["verify"]);

    repository.write("src/helper.ts", "export const helper = (x: unknown) => x;\n");
    ok(repository, &["run", "--context"]);
    let list = ".stan/output/archive.diff.json";
    assert_eq!(archived(repository, DIFF), [META, OVERVIEW, list, "src/helper.ts"]);

    fs::remove_file(repository.root().join("src/helper.ts")).unwrap();
    fails(repository, &["verify"], 3);
    ok(repository, &["run", "--context"]);
    let diff = contents(&repository.root().join(DIFF));
    assert_eq!(diff.keys().collect::<Vec<_>>(), [META, OVERVIEW, list]);
    let list: serde_json::Value = serde_json::from_slice(&diff[list]).unwrap();
    assert_eq!(list["removed"], serde_json::json!(["src/helper.ts"]));
}

#[test]
fn a_thread_with_hoisted_packages() {
    walk(&hoisted());
}

#[cfg(unix)]
#[test]
fn a_thread_with_packages_in_a_store() {
    walk(&stored());
}

#[cfg(unix)]
#[test]
fn both_layouts_give_the_same_archives() {
    let [first, second] = [hoisted(), stored()];
    for repository in [&first, &second] {
        ok(repository, &["run", "--context", "--meta"]);
        repository.write(STATE, "{\"v\":2,\"i\":[[\"src/index.ts\",9]]}\n");
        ok(repository, &["run", "--context"]);
    }
    for file in [ARCHIVE, DIFF, META] {
        let [first, second] = [&first, &second].map(|repository| fs::read(repository.root().join(file)).unwrap());
        assert_eq!(first, second, "{file}");
    }
}

#[test]
fn plain_runs_hold_the_whole_repository() {
    let repository = hoisted();
    repository.write("logo.png", "\0png");
    ok(&repository, &["run"]);
    let expected = [
        ".gitignore",
        ".stan/system/.docs.meta.json",
        ".stan/system/stan.system.md",
        "README.md",
        "package.json",
        "src/deep.ts",
        "src/helper.ts",
        "src/index.ts",
        "tsconfig.json",
    ];
    assert_eq!(archived(&repository, ARCHIVE), expected);
    assert_eq!(archived(&repository, DIFF), expected);
    repository.write("src/deep.ts", "export type Deep = string;\n");
    ok(&repository, &["run"]);
    assert_eq!(archived(&repository, DIFF), [".stan/output/archive.diff.json", "src/deep.ts"]);
    ok(&repository, &["snap", "--plain"]);
    ok(&repository, &["run"]);
    assert_eq!(archived(&repository, DIFF), [".stan/diff/.stan_no_changes"]);
    assert!(
        !repository.root().join(".stan/diff/.archive.snapshot.context.json").exists(),
        "the other one is untouched"
    );
}

/// Everything below stan's folder except the cache, with contents.
fn workspace(root: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut pending = vec![root.join(".stan")];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                if name != ".stan/cache" {
                    pending.push(path);
                }
            } else if name != ".stan/.lock" {
                files.push((name, fs::read(path).unwrap()));
            }
        }
    }
    files.sort_unstable();
    files
}

#[test]
fn frozen_runs_fail_on_mismatches_and_change_nothing() {
    let repository = hoisted();
    let external = "node_modules/zed/index.d.ts";
    ok(&repository, &["run", "--context", "--meta"]);
    repository.write(STATE, "{\"v\":2,\"i\":[[\"src/index.ts\",1]]}\n");
    ok(&repository, &["run", "--context"]);
    ok(&repository, &["run", "--context", "--frozen"]);
    let meta = fs::read_to_string(repository.root().join(META)).unwrap();
    let map = fs::read_to_string(repository.root().join(MAP)).unwrap();
    let spoil: [(&str, &str, String); 6] = [
        ("a flipped byte", external, "export declare const y: number;\n".to_owned()),
        ("a shorter file", external, "export declare const z: number;".to_owned()),
        ("another size in the meta", META, meta.replace("\"s\":32,", "\"s\":33,")),
        ("another size in the map", MAP, map.replace("\"size\":32", "\"size\":31")),
        ("another hash in the map", MAP, map.replace("\"sha256\":\"", "\"sha256\":\"0").replacen("0", "", 0)),
        ("a source file of the repository", "src/index.ts", "import {z} from 'zed';\n".to_owned()),
    ];
    for (what, file, text) in spoil {
        let path = repository.root().join(file);
        let before = fs::read(&path).unwrap();
        let text = if what == "another hash in the map" { other_hash(&map) } else { text };
        fs::write(&path, text).unwrap();
        let spoilt = workspace(repository.root());
        let message = fails(&repository, &["run", "--context", "--frozen"], 3);
        assert!(message.contains("expected") && message.contains("found"), "{what}: {message}");
        assert!(message.contains("zed/1.2.3/index.d.ts") || message.contains("src/index.ts"), "{what}: {message}");
        assert!(workspace(repository.root()) == spoilt, "{what}: nothing was changed");
        fs::write(&path, before).unwrap();
    }
    fs::remove_file(repository.root().join(external)).unwrap();
    fails(&repository, &["run", "--context", "--frozen"], 3);
    ok(&repository, &["graph", "--meta"]);
}

/// The private map with the first digit of its first hash changed.
fn other_hash(map: &str) -> String {
    let at = map.find("\"sha256\":\"").unwrap() + "\"sha256\":\"".len();
    let digit = if map[at..].starts_with('0') { "1" } else { "0" };
    [&map[..at], digit, &map[at + 1..]].concat()
}

#[test]
fn a_plan_changes_nothing() {
    let repository = hoisted();
    repository.write(STATE, "{\"v\":2,\"i\":[[\"src/index.ts\",1]]}\n");
    let before = workspace(repository.root());
    let plan = ok(&repository, &["run", "--context", "--plan", "--json"]);
    assert!(workspace(repository.root()) == before);
    assert!(!repository.root().join(".stan/cache").exists() && !repository.root().join(".stan/.lock").exists());
    let run = ok(&repository, &["run", "--context", "--json"]);
    let [plan, run] = [plan, run].map(|text| serde_json::from_str::<serde_json::Value>(&text).unwrap());
    for key in ["archive", "diff", "base", "closure", "overlap", "map", "largest", "warnings"] {
        assert_eq!(plan[key], run[key], "{key}");
    }
}

#[test]
fn the_selection_is_explained() {
    let repository = hoisted();
    repository.write(STATE, "{\"include\":[[\"src/index.ts\",2,[\"runtime\",\"type\"]]]}\n");
    let report: serde_json::Value = serde_json::from_str(&ok(&repository, &["select", "--json"])).unwrap();
    assert_eq!(report["selectedCount"], 4);
    let deep = report["nodes"].as_array().unwrap().iter().find(|node| node["nodeId"] == "src/deep.ts").unwrap();
    assert_eq!(deep["path"], serde_json::json!(["src/index.ts", "src/helper.ts", "src/deep.ts"]));
    ok(&repository, &["state", "migrate"]);
    let state = fs::read_to_string(repository.root().join(STATE)).unwrap();
    assert_eq!(state, "{\"v\":2,\"i\":[[\"src/index.ts\",2,3]]}\n");
    ok(&repository, &["state", "validate"]);
    repository.write(STATE, "{\"v\":2,\"i\":[[\"src/index.ts\",-1]]}\n");
    assert_eq!(repository.output(&["state", "validate"], &[]).status.code(), Some(1));
    fails(&repository, &["run", "--context"], 1);
}

/// Full paths to all nodes of a chain take quadratic space: this one made a report of three gigabytes.
#[test]
fn of_a_long_path_the_last_eight_nodes_are_shown() {
    const LENGTH: usize = 20_000;
    let repository = hoisted();
    let node = |i: usize| format!(r#""f{i:05}.ts":{{"k":0,"s":1,"e":[["f{:05}.ts",1]]}}"#, (i + 1) % LENGTH);
    let nodes: Vec<String> = (0..LENGTH).map(node).collect();
    repository.write("map.json", &format!(r#"{{"v":2,"n":{{{}}}}}"#, nodes.join(",")));
    repository.write("state.json", r#"{"v":2,"i":[["f00000.ts",99999]]}"#);
    let arguments = ["select", "--meta", "map.json", "--state", "state.json", "--tokens", "bytes4"];
    let report: serde_json::Value =
        serde_json::from_str(&ok(&repository, &[&arguments[..], &["--json"]].concat())).unwrap();
    let last = report["nodes"].as_array().unwrap().last().unwrap();
    let path: Vec<String> = (LENGTH - 8..LENGTH).map(|i| format!("f{i:05}.ts")).collect();
    assert_eq!((&last["path"], &last["pathOmitted"]), (&serde_json::json!(path), &serde_json::json!(LENGTH - 8)));
    assert!(report["nodes"][7].get("pathOmitted").is_none());
    let text = ok(&repository, &arguments);
    assert!(text.lines().any(|line| line == "f00009.ts  1 bytes  from … 2 steps > f00002.ts > f00003.ts > f00004.ts > f00005.ts > f00006.ts > f00007.ts > f00008.ts"), "{}", &text[..2000]);
}

#[cfg(unix)]
#[test]
fn links_out_of_the_repository_are_never_followed() {
    use std::os::unix::fs::symlink;
    let repository = hoisted();
    let outside = repository.root().parent().unwrap().join("secret");
    fs::write(&outside, "secret\n").unwrap();
    symlink(&outside, repository.root().join("leak.txt")).unwrap();
    symlink("README.md", repository.root().join("alias.md")).unwrap();
    symlink("../.git/config", repository.root().join("src/config.txt")).unwrap();
    fs::create_dir_all(repository.root().join(".stan/context")).unwrap();
    symlink(".stan/context/dependency.map.json", repository.root().join("map.json")).unwrap();
    repository.write(
        STATE,
        "{\"v\":2,\"i\":[\"leak.txt\",\"map.json\",\"src/config.txt\",\".stan/context/dependency.map.json\"]}\n",
    );
    for arguments in [&["run", "--context"][..], &["run", "--context"], &["run"]] {
        ok(&repository, arguments);
        let archive = contents(&repository.root().join(ARCHIVE));
        assert_eq!(archive["README.md"], b"# app\n");
        assert!(!archive.contains_key("alias.md"), "a link to an archived file is an alias");
        for name in ["leak.txt", "map.json", "src/config.txt", MAP] {
            assert!(!archive.contains_key(name), "{arguments:?}: {name}");
        }
        assert!(archive.values().all(|bytes| bytes != b"secret\n"));
    }
    let private = fs::metadata(repository.root().join(MAP)).unwrap();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&private.permissions()) & 0o777, 0o600);
}
