//! Names, specifiers, descriptions and keys with terminal escapes, line breaks, bidirectional and invisible characters: none
//! reaches stdout or stderr of any command unescaped, in text or in JSON, and no line can be forged.

use std::fs;

use serde_json::Value;

use crate::support::Repository;

/// Every kind of character that must not be printed, and a line that a newline would forge.
const EVIL: &str =
    "\u{1b}]0;t\u{7}\u{1b}[2J\r\u{8}\nFORGED: line\n\u{9b}31m\u{85}\u{202e}\u{2066}\u{200b}\u{2028}\u{e0041}\u{feff}x";

fn evil(before: &str, after: &str) -> String {
    format!("{before}{EVIL}{after}")
}

/// The text as in a JSON or TypeScript string.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

fn repository() -> Repository {
    let repository = Repository::new(&[
        ("package.json", "{\"name\":\"app\",\"version\":\"1.0.0\"}\n"),
        ("tsconfig.json", "{\"compilerOptions\":{\"module\":\"nodenext\"}}\n"),
        ("node_modules/zed/package.json", "{\"name\":\"zed\",\"version\":\"1.2.3\",\"types\":\"index.d.ts\"}\n"),
        ("node_modules/zed/index.d.ts", "export declare const z: number;\n"),
    ]);
    let [a, b, gone] = [evil("src/a", ".ts"), evil("src/b", ".ts"), evil("./gone", "")];
    let imports: String = [format!("./b{EVIL}.js"), gone, evil("pkg", ""), "zed".to_owned()]
        .iter()
        .map(|specifier| format!("import {};\n", quoted(specifier)))
        .collect();
    let class = format!("export class C {{ {}(a = `{EVIL}`) {{}} }}\n", quoted(EVIL));
    repository.write(&a, &format!("/** Where {} starts. @module */\n{imports}{class}", EVIL.replace('\n', " ")));
    repository.write(&b, &format!("import {};\n", quoted(&format!("./a{EVIL}.js"))));
    repository.write(&evil("broken", ".ts"), "import {\n");
    repository.write(&evil("logo", ".png"), "\0png");
    repository.write(&evil("main", ".py"), "import os\n");
    repository.write("..\\..\\escape.ts", "export {};\n");
    fs::write(repository.root().join(evil("latin", ".txt")), b"\xe4\n").unwrap();
    repository
}

/// Checks the output: it must be printable text, and no line may start like the forged one.
#[track_caller]
fn output(repository: &Repository, arguments: &[&str]) -> (i32, String, String) {
    let output = repository.output(arguments, &[]);
    let [stdout, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    for text in [&stdout, &stderr] {
        let hidden = |character: char| character != '\n' && stan_model::untrusted::is_hidden(character);
        assert!(!text.contains(hidden), "{arguments:?}: {text:?}");
        assert!(!text.lines().any(|line| line.starts_with("FORGED")), "{arguments:?}: {text}");
    }
    (output.status.code().unwrap_or(-1), stdout, stderr)
}

fn state() -> String {
    format!(
        "{{\"v\":2,\"i\":[[{},3],{},{}]}}\n",
        quoted(&evil("src/a", ".ts")),
        quoted(&evil("unknown", ".ts")),
        quoted(&evil("logo", ".png"))
    )
}

const STATE: &str = ".stan/context/dependency.state.json";

#[test]
fn no_hidden_character_is_printed_by_any_command() {
    let repository = repository();
    let a = evil("src/a", ".ts");
    let said = |arguments: &[&str]| {
        let (_, stdout, stderr) = output(&repository, arguments);
        if arguments.contains(&"--json") && !stdout.is_empty() {
            serde_json::from_str::<Value>(&stdout).unwrap();
        }
        stdout + &stderr
    };
    let shown = |text: &str| text.contains("202e");
    for arguments in [
        &["graph"][..],
        &["graph", "--json"],
        &["graph", "--meta"],
        &["graph", "--meta", "--pretty"],
        &["graph", "--cycles"],
        &["graph", "--cycles", "--json"],
        &["graph", "--format", "dot"],
        &["graph", "--format", "mermaid"],
        &["graph", &a, "--json"],
        &["run", "--context", "--meta"],
    ] {
        let text = said(arguments);
        assert!(shown(&text) || arguments == ["run", "--context", "--meta"], "{arguments:?}: {text}");
    }
    repository.write(STATE, &state());
    for arguments in [
        &["select"][..],
        &["select", "--json"],
        &["run", "--context"],
        &["run", "--context", "--json"],
        &["run"],
        &["run", "--json"],
        &["run", "--plan", "--json"],
        &["suggest", "--focus", &a, "--budget", "9999", "--explain"],
        &["suggest", "--focus", &a, "--budget", "9999", "--json"],
        &["suggest", "--focus", &a, "--budget", "1"],
        &["deps", &a, "--depth", "2"],
        &["dependents", &a, "--json"],
        &["cycles"],
        &["map"],
        &["map", "--json"],
        &["map", "--budget", "0"],
        &["outline", &a],
        &["outline", &a, "--json"],
        &["symbol", EVIL],
        // Without --json the file is printed as it is, including its line breaks.
        &["read", &a, "--json"],
        &["find", "import"],
        &["pack", "--at", &format!("{a}:1"), "--json"],
        &["graph", &evil("nothing", "")],
        &[&evil("--no-such", "")],
        &["verify", &evil("no", ".tar")],
        &["check", &evil("no", ".md")],
        &["state", "validate", &evil("no", ".json")],
        &["-C", &evil("no", ""), "graph"],
        &["--stan-path", &evil("/no", ""), "graph"],
    ] {
        let text = said(arguments);
        assert!(shown(&text), "{arguments:?}: {text}");
    }
    for arguments in [&["snap"][..], &["snap", "--json"], &["init"], &["init", "--json"], &["state", "migrate"]] {
        said(arguments);
    }
}

#[test]
fn no_hidden_character_is_printed_in_reports_of_changes_and_damage() {
    let repository = repository();
    repository.write(STATE, &state());
    output(&repository, &["run", "--context"]);
    repository.write(&evil("src/a", ".ts"), "export const changed = 1;\n");
    fs::remove_file(repository.root().join(evil("src/b", ".ts"))).unwrap();
    repository.write(&evil("new", ".md"), "# new\n");
    for arguments in [&["verify"][..], &["verify", "--json"], &["run", "--context"], &["run", "--context", "--frozen"]]
    {
        let (_, stdout, stderr) = output(&repository, arguments);
        assert!((stdout.clone() + &stderr).contains("202e"), "{arguments:?}: {stdout}{stderr}");
    }
    repository.write(STATE, &format!("{{\"v\":2,\"i\":[],{}:1}}\n", quoted(EVIL)));
    for arguments in
        [&["state", "validate"][..], &["state", "validate", "--json"], &["state", "migrate"], &["run", "--context"]]
    {
        let (code, stdout, stderr) = output(&repository, arguments);
        assert!(code == 1 && (stdout.clone() + &stderr).contains("202e"), "{arguments:?}: {stdout}{stderr}");
    }
    let patch = format!(
        "### Patch: x{EVIL}\n\n```diff\ndiff --git a/{EVIL} b/{EVIL}\n--- a/../{EVIL}\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n```\n"
    );
    repository.write("reply.md", &patch);
    fs::remove_file(repository.root().join(STATE)).unwrap();
    for arguments in [&["check", "reply.md"][..], &["check", "reply.md", "--json"]] {
        output(&repository, arguments);
    }
    repository.write("stan.config.yml", &format!("stan-core:\n  {}: 1\n", quoted(EVIL)));
    for arguments in [&["graph"][..], &["run"], &["init"]] {
        let (code, _, stderr) = output(&repository, arguments);
        assert!(code == 1 && stderr.contains("202e"), "{arguments:?}: {stderr}");
    }
}

#[test]
fn answers_for_assistants_escape_hidden_characters_and_keep_ids() {
    let repository = repository();
    repository.write(STATE, &state());
    output(&repository, &["run", "--context"]);
    repository.write(&evil("new", ".md"), "# new\n");
    output(&repository, &["run", "--context"]);
    let hidden = |character: char| character != '\n' && stan_model::untrusted::is_hidden(character);
    for file in [
        ".stan/context/dependency.meta.json",
        ".stan/output/archive.diff.json",
        ".stan/diff/.archive.snapshot.context.json",
    ] {
        let text = fs::read_to_string(repository.root().join(file)).unwrap();
        assert!(!text.contains(hidden) && text.contains("\\u202e"), "{file}: {text:?}");
    }
    let map = fs::read(repository.root().join(".stan/context/dependency.meta.json")).unwrap();
    let map: Value = serde_json::from_slice(&map).unwrap();
    let node = &map["n"][&evil("src/a", ".ts")];
    let description = node["d"].as_str().unwrap();
    assert!(!description.contains(hidden) && description.starts_with("Where "), "{description}");
    assert!(node["e"].as_array().unwrap().iter().any(|edge| edge[0] == evil("src/b", ".ts").as_str()));
}

#[test]
fn names_that_windows_reads_as_paths_are_left_out_and_named() {
    let repository = Repository::new(&[
        ("a.ts", "import './..\\\\b.ts';\n"),
        ("..\\b.ts", "export {};\n"),
        ("C:c.ts", "export {};\n"),
    ]);
    for arguments in [&["run", "--json"][..], &["run", "--plan", "--json"], &["run", "--context", "--json"]] {
        let (code, stdout, _) = output(&repository, arguments);
        let report: Value = serde_json::from_str(&stdout).unwrap();
        let left_out: Vec<&str> =
            report["leftOut"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
        assert_eq!((code, &left_out[..]), (0, &["..\\b.ts", "C:c.ts"][..]), "{report:#}");
        assert_eq!(report["warnings"].as_array().unwrap().len(), 2, "{report:#}");
    }
    let archive = fs::read(repository.root().join(".stan/output/archive.tar")).unwrap();
    let holds = |name: &str| archive.windows(name.len()).any(|window| window == name.as_bytes());
    assert!(holds("a.ts") && !archive.chunks(512).any(|block| block.starts_with(b"..\\") || block.starts_with(b"C:")));
    let (_, stdout, stderr) = output(&repository, &["run"]);
    assert!(
        stdout.contains("..\\b.ts: its name has a backslash") && stderr.contains("`C:c.ts` is left out"),
        "{stdout}{stderr}"
    );
    let (_, graph, _) = output(&repository, &["graph", "--json"]);
    let graph: Value = serde_json::from_str(&graph).unwrap();
    assert!(graph["graph"]["nodes"]["..\\b.ts"].is_object() && graph["graph"]["nodes"]["C:c.ts"].is_object());
}

#[test]
fn files_of_other_languages_are_named_in_every_report() {
    let repository = Repository::new(&[
        ("a.ts", "export {};\n"),
        ("main.kt", ""),
        ("lib/one.swift", ""),
        ("lib/two.swift", ""),
        (STATE, "{\"v\":2,\"i\":[\"a.ts\"]}\n"),
    ]);
    const LINE: &str = "2 .swift and 1 .kt files are listed but not analysed";
    for arguments in [
        &["graph"][..],
        &["graph"],
        &["graph", "--cycles"],
        &["graph", "--format", "dot"],
        &["graph", "--meta"],
        &["run"],
        &["run", "--context"],
        &["select"],
        &["suggest", "--focus", "a.ts", "--budget", "9999"],
    ] {
        let (code, stdout, stderr) = output(&repository, arguments);
        assert!(code == 0 && (stdout.clone() + &stderr).contains(LINE), "{arguments:?}: {stdout}{stderr}");
        let is_document = arguments.contains(&"--format") || arguments.contains(&"--meta");
        assert!(!is_document || !stdout.contains(LINE), "{arguments:?}: {stdout}");
    }
    for arguments in [
        &["graph", "--json"][..],
        &["run", "--json"],
        &["run", "--context", "--json"],
        &["select", "--json"],
        &["suggest", "--focus", "a.ts", "--budget", "9999", "--json"],
    ] {
        let (_, stdout, _) = output(&repository, arguments);
        let report: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(
            report["notAnalysed"].to_string(),
            "[{\"extension\":\"swift\",\"files\":2},{\"extension\":\"kt\",\"files\":1}]"
        );
    }
    // Warm counts follow files that are added and removed.
    repository.write("lib/three.swift", "");
    fs::remove_file(repository.root().join("main.kt")).unwrap();
    assert!(output(&repository, &["graph"]).1.contains("3 .swift files are listed but not analysed"));
    fs::remove_dir_all(repository.root().join("lib")).unwrap();
    assert!(!output(&repository, &["graph"]).1.contains("not analysed"));
}
