//! Every write path × every fault × every position: a single failing call leaves either the complete old or the complete new
//! state, no failure is reported as success, and the next run succeeds with the same result as without the fault.
//!
//! The ordinary tests inject each fault at a sample of the positions. To test all positions, run
//! `cargo test -p stan-engine --test faults -- --ignored --nocapture`
#![expect(clippy::print_stdout, reason = "the tests print the result of each write path")]

mod found;
mod laws;
mod paths;

use stan_repo::Fault;

use laws::{Tally, drive};
use paths::{PATHS, WritePath};

/// Injects every fault at every `stride`-th position, and counts the outcomes.
fn drive_all(path: &WritePath, stride: usize) -> Tally {
    let mut sum = Tally::default();
    for (number, fault) in Fault::ALL.into_iter().enumerate() {
        for lasting in [false, true] {
            // Skipped, because every program retries EINTR without limit.
            if lasting && fault == Fault::Interrupted {
                continue;
            }
            // A different offset for each fault, so that together they cover nearly all positions.
            sum.add(&drive(path, fault, lasting, stride, (number + usize::from(lasting)) % stride));
        }
    }
    println!("{}: {sum}", path.name);
    // The first violations of each law are enough; thousands of lines do not help.
    let broken: Vec<&String> = sum.broken.iter().take(40).collect();
    assert!(broken.is_empty(), "{} times a law did not hold:\n{broken:#?}", sum.broken.len());
    sum
}

fn drive_named(names: &[&str]) {
    for name in names {
        let path = PATHS.iter().find(|path| path.name == *name).expect("it is in the table");
        let tally = drive_all(path, 7);
        assert!(tally.refused > 0 && tally.succeeded > 0, "{name}: {tally}");
    }
}

#[test]
fn a_fault_in_run_leaves_the_old_or_the_new() {
    drive_named(&["run"]);
}

#[test]
fn a_fault_in_run_context_leaves_the_old_or_the_new() {
    drive_named(&["run --context, the first", "run --context, a later one"]);
}

#[test]
fn run_meta_and_frozen() {
    drive_named(&["run --context --meta", "run --context --frozen"]);
}

#[test]
fn run_with_a_cache() {
    drive_named(&["run --context, a cache to make", "run --context, a damaged cache"]);
}

#[test]
fn a_fault_in_snap_or_state_leaves_the_old_or_the_new() {
    drive_named(&["snap", "state migrate", "state migrate FILE"]);
}

#[test]
fn a_fault_in_init_leaves_the_old_or_the_new() {
    drive_named(&["init", "init --force --agents", "init --agents=remove"]);
}

#[test]
fn a_fault_in_suggest_leaves_the_old_or_the_new() {
    drive_named(&["suggest --write"]);
}

#[test]
fn a_fault_in_apply_leaves_the_old_or_the_new() {
    // A killed `apply` is completed or rolled back; this is tested in `crates/archive/src/patch/tests.rs`.
    drive_named(&["apply", "apply, after another", "apply --undo"]);
}

#[test]
fn a_fault_in_snap_undo_or_scripts_leaves_the_old_or_the_new() {
    drive_named(&["snap undo", "run -s"]);
}

#[test]
fn a_fault_in_graph_leaves_the_old_or_the_new_cache() {
    drive_named(&["graph, no cache yet", "graph, an old cache", "graph, a damaged cache"]);
}

#[test]
fn a_fault_in_x07_leaves_the_old_or_the_new() {
    drive_named(&["x07 ast slice --out", "x07 ast slice --out, a new folder"]);
}

#[test]
#[ignore = "takes minutes"]
fn a_fault_at_every_position_leaves_the_old_or_the_new() {
    let mut sum = Tally::default();
    for path in PATHS {
        sum.add(&drive_all(path, 1));
    }
    println!("{} write paths × {} faults: {sum}", PATHS.len(), Fault::ALL.len());
}
