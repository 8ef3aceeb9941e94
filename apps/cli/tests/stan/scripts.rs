//! `stan run -s`: named scripts run and their output is archived, and nothing else ever runs.

use std::fs;
use std::time::{Duration, Instant};

use crate::archives::contents;
use crate::support::Repository;

fn repository() -> Repository {
    let config = "stan-core:\n  stanPath: .stan\nstan-cli:\n  scripts:\n    good: 'echo out; echo err >&2; pwd >/dev/null'\n    bad: 'printf \"\\033[31mred\\033[0m\\n\"; exit 3'\n    never: 'touch ran'\n    hang: '(sleep 5; touch late) & echo started; sleep 60'\n    long:\n      script: 'touch built; cat built'\n";
    Repository::new(&[("stan.config.yml", config), ("a.ts", "export {};\n")])
}

fn output(repository: &Repository, name: &str) -> Option<String> {
    fs::read_to_string(repository.root().join(format!(".stan/output/{name}.txt"))).ok()
}

#[test]
fn named_scripts_run_and_are_archived() {
    let repository = repository();
    let path = std::env::var("PATH").unwrap_or_default();
    let run = |arguments: &[&str]| repository.output(arguments, &[("PATH", &path)]);
    let first = run(&["run", "-s", "good", "bad", "--json"]);
    assert_eq!(first.status.code(), Some(0), "{}", String::from_utf8_lossy(&first.stderr));
    let report: serde_json::Value = serde_json::from_slice(&first.stdout).unwrap();
    let scripts = report["scripts"].as_array().unwrap();
    let ended: Vec<_> = scripts.iter().map(|one| (one["name"].as_str().unwrap(), one["exitCode"].as_i64())).collect();
    assert_eq!(ended, [("good", Some(0)), ("bad", Some(3))]);
    assert_eq!(output(&repository, "good").as_deref(), Some("out\nerr\n"));
    assert_eq!(output(&repository, "bad").as_deref(), Some("red\n"));
    assert!(!repository.root().join("ran").exists(), "it was not named");
    let archived = contents(&repository.root().join(".stan/output/archive.tar"));
    assert_eq!(archived[".stan/output/good.txt"], b"out\nerr\n");
    // Outputs of the previous run are removed; a script may create files, which are archived.
    let second = run(&["run", "--context", "--scripts", "long"]);
    assert_eq!(second.status.code(), Some(0), "{}", String::from_utf8_lossy(&second.stderr));
    assert_eq!((output(&repository, "good"), output(&repository, "long").as_deref()), (None, Some("")));
    let archived = contents(&repository.root().join(".stan/output/archive.tar"));
    assert!(archived.contains_key(".stan/output/long.txt") && !archived.contains_key(".stan/output/good.txt"));
    let third = run(&["run"]);
    assert!(String::from_utf8_lossy(&third.stderr).contains("none runs without -s NAME"));
    assert_eq!(output(&repository, "long"), None);
    assert!(!repository.root().join("ran").exists());
}

#[test]
fn wrong_script_arguments_run_nothing() {
    let repository = repository();
    let path = std::env::var("PATH").unwrap_or_default();
    let run = |arguments: &[&str]| {
        let output = repository.output(arguments, &[("PATH", &path)]);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = run(&["run", "-s", "never", "goood"]);
    assert!(code == Some(2) && said.contains("did you mean `good`?"), "{code:?} {said}");
    assert!(!repository.root().join("ran").exists());
    for arguments in [&["run", "-s"][..], &["run", "-s", "good", "--plan"], &["run", "--timeout", "5"]] {
        assert_eq!(run(arguments).0, Some(2), "{arguments:?}");
    }
    let (code, said) = run(&["run", "--strict-scripts", "-s", "bad"]);
    assert!(code == Some(1) && said.contains("script bad: exit code 3"), "{said}");
    assert!(!repository.root().join(".stan/output/archive.tar").exists(), "a failed run writes nothing");
}

#[test]
fn a_hanging_script_is_killed_with_its_child_processes() {
    let repository = repository();
    let path = std::env::var("PATH").unwrap_or_default();
    let started = Instant::now();
    let output = repository.output(&["run", "-s", "hang", "--timeout", "1", "--json"], &[("PATH", &path)]);
    assert!(started.elapsed() < Duration::from_secs(50));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&report["scripts"][0]["end"], &report["scripts"][0]["exitCode"]),
        (&serde_json::json!("timedOut"), &serde_json::Value::Null)
    );
    std::thread::sleep(Duration::from_secs(6));
    assert!(!repository.root().join("late").exists(), "its child lived on");
}

#[test]
fn ctrl_c_ends_the_scripts_and_writes_nothing() {
    let repository = repository();
    let path = std::env::var("PATH").unwrap_or_default();
    let child = repository
        .command(&["run", "-s", "hang"])
        .env("PATH", path)
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(2));
    let status = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(status.success());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && said.contains("interrupted"), "{:?} {said}", output.status);
    std::thread::sleep(Duration::from_secs(6));
    assert!(!repository.root().join("late").exists() && !repository.root().join(".stan/output").exists());
}

/// `script` of util-linux gives the program a terminal.
#[test]
fn on_a_terminal_the_scripts_are_a_table_that_is_drawn_again() {
    let repository = repository();
    let stan = env!("CARGO_BIN_EXE_stan");
    let output = std::process::Command::new("script")
        .args(["-qec", &format!("{stan} run -s good bad"), "/dev/null"])
        .current_dir(repository.root())
        .env("XDG_STATE_HOME", repository.state_home())
        .env("TERM", "xterm")
        .stdin(std::process::Stdio::null())
        .output();
    let Ok(output) = output else {
        println!("there is no program `script` here: skipped");
        return;
    };
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    for words in ["script good", "script bad ", "exit code 0, ", "exit code 3, ", "\u{1b}[2A"] {
        assert!(shown.contains(words), "{words:?}: {shown:?}");
    }
    assert!(!shown.contains("note: script"), "{shown:?}");
}

#[test]
fn no_script_runs_unless_it_is_named() {
    let repository = repository();
    let path = std::env::var("PATH").unwrap_or_default();
    for arguments in [
        &["run"][..],
        &["run", "--context", "--meta"],
        &["run", "--context", "--plan"],
        &["snap"],
        &["graph"],
        &["map"],
        &["verify"],
        &["init"],
        &["pack", "--focus", "a.ts"],
    ] {
        let output = repository.output(arguments, &[("PATH", &path)]);
        assert!(output.status.code().is_some(), "{arguments:?}");
        for made in ["ran", "built", "late"] {
            assert!(!repository.root().join(made).exists(), "{arguments:?} made {made}");
        }
    }
    let said = String::from_utf8_lossy(&repository.output(&["run"], &[("PATH", &path)]).stderr).into_owned();
    assert_eq!(said.matches("none runs without -s").count(), 1, "{said}");
}
