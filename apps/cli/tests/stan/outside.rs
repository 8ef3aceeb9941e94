//! Files outside of the root: without `--allow-outside` none is read, with it each one is reported, and outputs that may be
//! shared contain no path of this machine.
#![cfg(unix)]

use std::fs;

use serde_json::Value;

use crate::archives::contents;
use crate::support::Repository;

/// A repository that imports a credential file and has a committed selection of it.
fn hostile() -> Repository {
    let repository = Repository::new(&[
        ("src/a.ts", "import config from '../../home/.docker/config.json';\nimport '../../home/rc.js';\n"),
        (".stan/context/dependency.state.json", "{\"v\":2,\"i\":[[\"src/a.ts\",1]]}\n"),
        ("../home/.docker/config.json", "{\"auths\": \"secret\"}\n"),
        ("../home/rc.js", "module.exports = 'secret';\n"),
        ("../home/.ssh/id_rsa", "secret\n"),
    ]);
    let root = repository.root().display().to_string();
    repository.write("src/absolute.ts", &format!("import '{root}/../home/rc.js';\nimport '/etc/hostname.json';\n"));
    repository
}

fn json(repository: &Repository, arguments: &[&str]) -> Value {
    let output = repository.output(arguments, &[]);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn nothing_from_outside_is_archived_without_consent() {
    let repository = hostile();
    let report = json(&repository, &["run", "--context", "--json"]);
    let errors: Vec<&str> = report["errors"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let expected = "src/a.ts:1: `../../home/.docker/config.json` leads outside the root, where nothing is read without \
                    consent; `--allow-outside DIR` allows a folder (as does another specifier of this file)";
    assert!(errors.contains(&expected), "{errors:?}");
    assert_eq!(report["externals"]["outside"], Value::Array(Vec::new()));
    for (name, bytes) in contents(&repository.root().join(".stan/output/archive.tar")) {
        assert!(!String::from_utf8_lossy(&bytes).contains("secret"), "{name}");
    }
}

#[test]
fn allowed_outside_files_are_announced() {
    let repository = hostile();
    // A committed symlink to the parent folder is not consent, and neither is the map of an earlier run.
    repository.write("node_modules/.keep", "");
    std::os::unix::fs::symlink("../..", repository.root().join("node_modules/up")).unwrap();
    let shown = repository.stan(&["run", "--context", "--allow-outside", "../home"]);
    let note = "note: archived as `context/abs/` 2 files that no installed package has: ../home/.docker/config.json, \
                ../home/rc.js\n";
    assert!(shown.starts_with("exit 0\n") && shown.contains(note), "{shown}");
    let report = json(&repository, &["run", "--context", "--json", "--allow-outside", "../home"]);
    let outside: Vec<&str> =
        report["externals"]["outside"].as_array().unwrap().iter().filter_map(|file| file["path"].as_str()).collect();
    assert_eq!(outside, ["../home/.docker/config.json", "../home/rc.js"]);
    // The permission of an earlier run does not apply to a later one.
    let selected = repository.stan(&["select"]);
    assert!(selected.starts_with("exit 0\n") && selected.contains("estimated"), "{selected}");
    for command in [&["verify"][..], &["run", "--context", "--frozen"]] {
        let shown = repository.stan(command);
        assert!(shown.starts_with("exit 3\n") && shown.contains("--allow-outside DIR"), "{command:?} {shown}");
        let allowed = repository.stan(&[command, &["--allow-outside", "../home"]].concat());
        assert!(allowed.starts_with("exit 0\n"), "{command:?} {allowed}");
    }
}

#[test]
fn imports_from_outside_need_consent_and_are_named() {
    let repository = hostile();
    repository.write("stan.config.yml", "stan-core:\n  imports:\n    keys: ['../home/.ssh/*']\n");
    let shown = repository.stan(&["run"]);
    assert!(
        shown.starts_with("exit 1\n")
            && shown.contains("import `keys`: the glob `../home/.ssh/*` leads outside the root")
            && shown.contains("`--allow-outside DIR`"),
        "{shown}"
    );
    assert!(!repository.root().join(".stan/output/archive.tar").exists());
    assert!(!repository.root().join(".stan/imports").exists());
    let shown = repository.stan(&["run", "--allow-outside", "../home"]);
    assert!(shown.contains("note: imported 1 file from outside the root: ../home/.ssh/id_rsa\n"), "{shown}");
    let report = json(&repository, &["run", "--plan", "--json", "--allow-outside", "../home"]);
    assert_eq!(report["externals"]["imported"][0]["path"], "../home/.ssh/id_rsa");
    assert_eq!(report["externals"]["imported"][0]["archivedAs"], ".stan/imports/keys/id_rsa");
}

#[test]
fn shareable_documents_contain_no_absolute_path() {
    let repository = hostile();
    repository.write("src/b.ts", "import '../../home/rc.js';\n");
    repository.write("stan.config.yml", "stan-core:\n  imports:\n    keys: ['../home/none/*', '../home/*.none']\n");
    fs::remove_file(repository.root().join("src/absolute.ts")).unwrap();
    let above = repository.root().parent().unwrap().display().to_string();
    for arguments in [
        &["graph", "--json"][..],
        &["graph", "--format", "dot"],
        &["graph", "--format", "mermaid"],
        &["graph", "src/b.ts", "--json"],
        &["graph", "../home/rc.js", "--dependents", "--json"],
        &["run", "--json"],
        &["run", "--context", "--json"],
        &["select", "--json"],
    ] {
        let output = repository.output(&[arguments, &["--allow-outside", "../home"]].concat(), &[]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(!text.contains(&above), "{arguments:?}: {text}");
        if arguments[0] == "graph" {
            assert!(text.contains("../home/rc.js"), "{arguments:?}: {text}");
        }
    }
}

#[test]
fn the_configuration_that_is_used_is_named_when_it_is_not_here() {
    let repository = Repository::new(&[("stan.config.yml", "stan-core: {}\n"), ("src/a.ts", "")]);
    let output = repository.command(&["graph", "--json"]).current_dir(repository.root().join("src")).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(stderr, "hint: the configuration ../stan.config.yml is used, so the root is ..\n");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("hint"));
    // The folder is a repository of its own, so no parent folder is searched.
    repository.write("src/.git/HEAD", "ref: refs/heads/main\n");
    let output = repository.command(&["graph", "--json"]).current_dir(repository.root().join("src")).output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stderr).contains("stan.config.yml is used"));
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"a.ts\""));
}

/// Only root can change the owner of a file.
#[test]
fn a_configuration_of_another_user_is_refused() {
    let repository = Repository::new(&[("stan.config.yml", "stan-core: {}\n"), ("src/a.ts", "")]);
    let planted = repository.root().join("stan.config.yml");
    if std::os::unix::fs::chown(&planted, Some(65534), None).is_err() {
        println!("skipped: no file can be given to another user");
        return;
    }
    let refused = repository.stan(&["graph"]);
    assert!(refused.starts_with("exit 1\n") && refused.contains("belongs to another user"), "{refused}");
    assert!(repository.stan(&["graph", "--config", "stan.config.yml"]).starts_with("exit 0\n"));
}

/// A symlink of the repository is not a path on the command line, and a log or a pack gives no permission at all.
#[cfg(unix)]
#[test]
fn links_out_of_the_repository_are_not_read_by_name() {
    let repository =
        Repository::new(&[("r/a.ts", "export const a = 1;\n"), ("outside.ts", "export const canary = 1;\n")]);
    let root = repository.root().join("r");
    for (target, link) in [("../outside.ts", "file.ts"), ("..", "folder"), ("folder/outside.ts", "twice.ts")] {
        std::os::unix::fs::symlink(target, root.join(link)).unwrap();
    }
    let digest = "c".repeat(64);
    let pack = format!(
        "{{\"schema_version\":\"stan.pack@1\",\"digests\":{{\"inputs\":[{{\"path\":\"folder/outside.ts\",\"sha256\":\"{digest}\"}}]}}}}"
    );
    repository.write("pack.json", &pack);
    repository.write("log.txt", "folder/outside.ts(1,14): error TS2304: Cannot find name.\n");
    for path in ["file.ts", "folder/outside.ts", "twice.ts"] {
        let place = format!("{path}:1");
        let commands: [&[&str]; 4] =
            [&["read", path], &["outline", path], &["pack", "--at", &place], &["map", "--focus", path]];
        for command in commands {
            let shown = repository.stan(&[&["-C", "r"], command].concat());
            assert!(shown.starts_with("exit 1") && !shown.contains("canary"), "{command:?}: {shown}");
            assert!(shown.contains("out of the repository"), "{command:?}: {shown}");
        }
        let allowed = repository.stan(&["-C", "r", "--allow-outside", "..", "read", path]);
        assert!(allowed.contains("canary"), "{allowed}");
    }
    let shown = repository.stan(&["-C", "r", "pack", "../log.txt"]);
    assert!(shown.starts_with("exit 1") && !shown.contains("canary"), "{shown}");
    let shown = repository.stan(&["-C", "r", "verify", "../pack.json"]);
    assert!(shown.contains("folder/outside.ts: is outside the root and was not checked"), "{shown}");
    // A path on the command line itself is allowed.
    assert!(repository.stan(&["-C", "r", "read", "../outside.ts"]).contains("canary"));
}

#[test]
fn no_answer_for_a_model_contains_excluded_files() {
    let repository = Repository::new(&[
        ("stan.config.yml", "stan-core:\n  excludes: [docs, src/held.ts]\n"),
        (
            "src/a.ts",
            "import { canary } from './held';\nimport { other } from '../docs/d';\nexport const a = canary + other;\n",
        ),
        ("src/held.ts", "export const canary = 1;\n"),
        ("docs/d.ts", "export const other = 'canary';\n"),
    ]);
    let pack = repository.stan(&["pack", "--at", "src/a.ts:3"]);
    assert!(pack.starts_with("exit 0") && !pack.contains("export const canary"), "{pack}");
    assert!(!pack.contains("export const other"), "{pack}");
    assert!(pack.contains("2 imports resolve to excluded files"), "{pack}");
    let held = repository.stan(&["pack", "--at", "src/held.ts:1"]);
    assert!(held.starts_with("exit 1") && held.contains("`src/held.ts` is excluded by the configuration"), "{held}");
    for command in [&["read", "src/held.ts"][..], &["outline", "docs/d.ts"]] {
        let shown = repository.stan(command);
        assert!(!shown.contains("export const") && shown.contains("is excluded by the configuration"), "{shown}");
    }
    for command in [
        &["map"][..],
        &["deps", "src/a.ts"],
        &["suggest", "--focus", "src/a.ts"],
        &["graph", "--json"],
        &["find", "canary"],
    ] {
        let shown = repository.stan(command);
        assert!(
            !shown.contains("held.ts\"") && !shown.contains("docs/d.ts") && !shown.contains("export const canary"),
            "{shown}"
        );
        assert!(!shown.contains("is a folder; write"), "{shown}");
    }
}
