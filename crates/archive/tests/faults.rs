//! Fails every single effect of a run in turn, once or from there on: outputs are old or new and complete, and the next run
//! succeeds.
#![expect(clippy::print_stdout, reason = "the tests print the result of each fault")]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use stan_archive::Error;
use stan_repo::{Fault, FaultySystem, MemorySystem};

use support::{Selection, external, outputs, run};

/// A workspace after one run and some edits, with the selection of the second run.
fn workspace() -> (MemorySystem, Selection) {
    let system = MemorySystem::new();
    system.set_now(1_000_000_000_000);
    for name in ["a.ts", "b.ts", "gone.ts"] {
        system.set_file(format!("/r/{name}"), name.repeat(100));
    }
    system.set_file("/n/z/index.js", "old z").set_file("/n/kept/k.js", "kept").set_file("/n/away/x.js", "away");
    let first = Selection {
        files: ["a.ts", "b.ts", "gone.ts"].map(String::from).to_vec(),
        externals: vec![
            external(&system, ".stan/context/npm/away/1.0.0/x.js", "/n/away/x.js"),
            external(&system, ".stan/context/npm/kept/1.0.0/k.js", "/n/kept/k.js"),
            external(&system, ".stan/context/npm/z/1.0.0/index.js", "/n/z/index.js"),
        ],
    };
    run(&system, Path::new("/r"), &first).unwrap();
    system.set_file("/r/.stan/output/stale", "to be removed");
    system.set_file("/r/b.ts", "edited").remove("/r/gone.ts").set_file("/r/large.ts", "x".repeat((1 << 20) + 1));
    system.set_file("/n/z/index.js", "new z, and longer").set_file("/n/big.js", "y".repeat((1 << 20) + 3));
    let second = Selection {
        files: ["a.ts", "b.ts", "large.ts"].map(String::from).to_vec(),
        externals: vec![
            external(&system, ".stan/context/abs/0123/big.js", "/n/big.js"),
            external(&system, ".stan/context/npm/kept/1.0.0/k.js", "/n/kept/k.js"),
            external(&system, ".stan/context/npm/z/1.0.0/index.js", "/n/z/index.js"),
        ],
    };
    (system, second)
}

/// The results of a fault at every position.
#[derive(Debug, Default)]
struct Tally {
    positions: usize,
    refused: usize,
    half_done: usize,
}

/// The paths at which two states of a workspace differ.
fn difference<'o>(left: &'o BTreeMap<String, String>, right: &'o BTreeMap<String, String>) -> Vec<&'o str> {
    let paths: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    paths.into_iter().filter(|path| left.get(*path) != right.get(*path)).map(String::as_str).collect()
}

fn fail_everywhere(fault: Fault, lasting: bool) -> Tally {
    let root = Path::new("/r");
    let (before, selection) = workspace();
    let old = outputs(&before, root);
    let after = before.duplicate();
    run(&after, root, &selection).unwrap();
    let new = outputs(&after, root);
    let mut tally = Tally::default();
    for at in 0.. {
        let system = before.duplicate();
        let faulty = FaultySystem::new(&system, fault, at, lasting);
        let result = run(&faulty, root, &selection);
        let what = format!("{fault:?} at {at}, {:?}", faulty.injected().first());
        let after = outputs(&system, root);
        match &result {
            Ok(_) => assert_eq!(difference(&after, &new), [""; 0], "{what}: a run that says it succeeded has"),
            Err(Error::HalfCommitted { done, .. }) => {
                tally.half_done += 1;
                // Exactly the outputs in the error are new.
                for path in new.keys().filter(|path| old.get(*path) != new.get(*path) && new[*path] != "folder") {
                    assert_eq!(after.get(path) == new.get(path), done.contains(path), "{what}: {path} of {done:?}");
                }
            }
            Err(error) => {
                tally.refused += 1;
                assert!(error.to_string().len() > 20, "{what}: {error}");
                if !lasting {
                    assert_eq!(difference(&after, &old), [""; 0], "{what}: a failed run changes nothing ({error})");
                }
            }
        }
        let is_named = |path: &str| !path.contains("/.stan-tmp-");
        for (path, text) in after.iter().filter(|(path, _)| is_named(path)) {
            let is_whole = Some(text) == old.get(path) || Some(text) == new.get(path) || text == "folder";
            assert!(is_whole, "{what}: {path} is {text}");
        }
        for (path, text) in &old {
            assert!(new.get(path) != Some(text) || after.get(path) == Some(text), "{what}: {path} is gone");
        }
        run(&system, root, &selection).unwrap_or_else(|error| panic!("after {what}: {error}"));
        assert_eq!(difference(&outputs(&system, root), &new), [""; 0], "the run after {what}");
        if faulty.positions() <= at {
            return tally;
        }
        tally.positions += 1;
    }
    tally
}

#[test]
fn one_fault_at_any_effect_breaks_no_law() {
    for fault in Fault::ALL {
        let tally = fail_everywhere(fault, false);
        println!("{fault:?} once: {tally:?}");
        assert!(tally.positions > 0, "{fault:?} applies to no call");
        if fault.is_harmless() {
            assert_eq!(tally.refused + tally.half_done, 0, "{fault:?}");
        }
        // These numbers cover every write path; lower ones would mean that a part of the run is not tested.
        assert!(fault != Fault::Denied || (tally.refused > 50 && tally.half_done > 5), "{tally:?}");
    }
}

#[test]
fn lasting_faults_from_any_effect_break_no_law() {
    for fault in Fault::ALL {
        // A write that is always interrupted would be retried endlessly.
        if fault != Fault::Interrupted {
            let tally = fail_everywhere(fault, true);
            println!("{fault:?} for good: {tally:?}");
        }
    }
}
