//! `stan snap list`, `undo`, `redo`, `set`: moving through the last ten baselines loses none.

use std::fs;

use stan_testkit::Random;

use crate::support::Repository;

const PLAIN: &str = ".stan/diff/.archive.snapshot.json";

fn baseline(repository: &Repository) -> String {
    fs::read_to_string(repository.root().join(PLAIN)).unwrap()
}

#[test]
fn baselines_can_be_undone_and_redone() {
    let repository = Repository::new(&[("a.ts", "0\n")]);
    assert!(repository.stan(&["snap", "list"]).contains("there is no baseline yet"));
    assert!(repository.stan(&["snap", "undo"]).starts_with("exit 1"));
    // A run creates the first one, `snap` the others.
    assert!(repository.stan(&["run"]).starts_with("exit 0"));
    let mut made = vec![baseline(&repository)];
    for version in 1..4 {
        repository.write("a.ts", &format!("{version}\n"));
        assert!(repository.stan(&["snap", "--plain"]).starts_with("exit 0"));
        made.push(baseline(&repository));
    }
    let listed = repository.stan(&["snap", "list", "--plain"]);
    assert!(listed.contains("* plain 0") && listed.contains("  plain 3") && !listed.contains("plain 4"), "{listed}");
    for expected in [2, 1, 0] {
        assert!(repository.stan(&["snap", "undo"]).starts_with("exit 0"));
        assert_eq!(baseline(&repository), made[expected]);
    }
    let said = repository.stan(&["snap", "undo"]);
    assert!(said.starts_with("exit 1") && said.contains("there is no older baseline"), "{said}");
    assert!(repository.stan(&["run"]).contains("changed: a.ts"));
    for expected in [1, 2, 3] {
        assert!(repository.stan(&["snap", "redo", "--plain"]).starts_with("exit 0"));
        assert_eq!(baseline(&repository), made[expected]);
    }
    assert!(repository.stan(&["snap", "redo"]).starts_with("exit 1"));
    assert!(repository.stan(&["snap", "set", "3"]).starts_with("exit 0"));
    assert_eq!(baseline(&repository), made[0]);
    assert!(repository.stan(&["snap", "set", "4"]).starts_with("exit 1"));
    for arguments in [&["snap", "set"][..], &["snap", "list", "1"], &["snap", "back"], &["snap", "set", "x"]] {
        assert!(repository.stan(arguments).starts_with("exit 2"), "{arguments:?}");
    }
    // A new baseline is appended, and no other is lost.
    repository.write("a.ts", "new\n");
    assert!(repository.stan(&["snap", "--plain"]).starts_with("exit 0"));
    for (number, expected) in [(1, 3), (2, 2), (3, 1), (4, 0)] {
        assert!(repository.stan(&["snap", "set", &number.to_string()]).starts_with("exit 0"));
        assert_eq!(baseline(&repository), made[expected]);
    }
}

#[test]
fn ten_of_each_kind_are_kept() {
    let repository = Repository::new(&[("a.ts", "0\n")]);
    for version in 0..13 {
        repository.write("a.ts", &format!("{version}\n"));
        assert!(repository.stan(&["snap"]).starts_with("exit 0"));
    }
    let listed = repository.stan(&["snap", "list"]);
    for kind in ["plain", "context"] {
        assert!(listed.contains(&format!("* {kind} 0")) && listed.contains(&format!("  {kind} 9")), "{listed}");
        assert!(!listed.contains(&format!("{kind} 10")), "{listed}");
    }
    let output = repository.output(&["snap", "set", "9", "--context", "--json"], &[]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["baselines"][9]["current"], serde_json::json!(true));
    assert_eq!(report["snapshots"].as_array().unwrap().len(), 1);
}

/// A random walk compared with a model in memory: the current baseline is always the model's, and none of the last ten is lost.
#[test]
fn random_snaps_undos_and_redos_restore_every_version() {
    for seed in 1..4 {
        let repository = Repository::new(&[("a.ts", "0\n")]);
        let mut random = Random::new(seed);
        let (mut made, mut current): (Vec<String>, usize) = (Vec::new(), 0);
        for version in 0..40 {
            let steps = ["snap", "undo", "redo", "set"];
            let step = if made.is_empty() { "snap" } else { steps[random.below(steps.len())] };
            let listed = random.below(12);
            let (arguments, expected): (Vec<String>, Option<usize>) = match step {
                "snap" => (Vec::new(), Some(made.len())),
                "undo" => (vec!["undo".to_owned()], current.checked_sub(1)),
                "redo" => (vec!["redo".to_owned()], Some(current + 1).filter(|next| *next < made.len())),
                _ => (vec!["set".to_owned(), listed.to_string()], made.len().checked_sub(listed + 1)),
            };
            if step == "snap" {
                repository.write("a.ts", &format!("{seed} {version}\n"));
            }
            let arguments =
                [&["snap", "--plain"][..], &arguments.iter().map(String::as_str).collect::<Vec<_>>()].concat();
            let said = repository.stan(&arguments);
            let is_right = said.starts_with(if expected.is_some() { "exit 0" } else { "exit 1" });
            assert!(is_right, "seed {seed}, {version}: {arguments:?}: {said}");
            current = expected.unwrap_or(current);
            if step == "snap" {
                made.push(baseline(&repository));
                if made.len() > 10 {
                    made.remove(0);
                    current -= 1;
                }
            }
            assert_eq!(baseline(&repository), made[current], "seed {seed}, {version}: {arguments:?}");
        }
        for (listed, expected) in made.iter().rev().enumerate() {
            assert!(repository.stan(&["snap", "--plain", "set", &listed.to_string()]).starts_with("exit 0"));
            assert_eq!(baseline(&repository), *expected, "seed {seed}, {listed}");
        }
    }
}
