//! Commands killed at random moments: every output is either old or new and complete, and the next run succeeds and leaves no
//! temporary files behind.
//!
//! The ordinary tests kill a dozen runs, and each other command twice. Two hundred runs, and each other command fifty times:
//! `cargo test -p stan-cli --test stan -- --ignored killed:: --nocapture`

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use stan_testkit::Random;

use crate::archives::contents;
use crate::project::{ARCHIVE, DIFF, everything, succeeds};
use crate::support::Repository;
use crate::writers::{RUN, WRITERS, Writer, check_whole, left_behind, plain_graph, repository};

/// Everything that a run may write, and the user's files.
fn workspace(repository: &Repository) -> BTreeMap<String, Vec<u8>> {
    everything(&repository.root().join(".stan"))
}

/// Starts a command and kills it after a random part of its usual duration.
fn start_and_kill(writer: &Writer, root: &Path, longest: Duration, random: &mut Random) {
    let mut child = writer.command(root).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let longest = usize::try_from(longest.as_micros()).unwrap_or(usize::MAX);
    std::thread::sleep(Duration::from_micros(random.below(longest) as u64));
    child.kill().unwrap();
    child.wait().unwrap();
}

/// How long a command takes, with a minimum.
fn time_of(writer: &Writer, root: &Path) -> Duration {
    let started = Instant::now();
    writer.succeeds(root);
    started.elapsed().max(Duration::from_millis(20))
}

/// Kills runs, and returns how many were killed before, during and after the outputs were replaced.
fn kill_runs(count: usize, seed: u64) -> [usize; 3] {
    let repository = repository();
    let root = repository.root();
    let longest = time_of(&RUN, root);
    let mut random = Random::new(seed);
    let mut fell = [0; 3];
    for version in 1..=count {
        (RUN.edit)(root, version);
        if version % 5 == 0 {
            // As in a first run: there are no outputs yet.
            for folder in ["output", "diff", "context/npm", "cache"] {
                let _ = fs::remove_dir_all(root.join(".stan").join(folder));
            }
        }
        let old = workspace(&repository);
        start_and_kill(&RUN, root, longest, &mut random);
        let torn = workspace(&repository);
        for archive in [ARCHIVE, DIFF].map(|archive| root.join(archive)) {
            if archive.exists() {
                contents(&archive);
            }
        }
        RUN.succeeds(root);
        assert_eq!(left_behind(root), [""; 0], "run {version} left something behind");
        succeeds(&repository, &["verify"]);
        succeeds(&repository, &["run", "--context", "--frozen"]);
        if version % 5 == 0 {
            // With the killed run's snapshot, this would be the next run and not the same one.
            let _ = fs::remove_dir_all(root.join(".stan/diff"));
        }
        RUN.succeeds(root);
        let new = workspace(&repository);
        check_whole(&format!("run {version}"), &old, &torn, &new);
        fell[if torn == new { 2 } else { usize::from(torn != old) }] += 1;
    }
    fell
}

/// The same for another command; compares all files below the root.
fn kill_writer(writer: &Writer, count: usize, seed: u64) -> [usize; 3] {
    let repository = repository();
    let root = repository.root();
    RUN.succeeds(root);
    (writer.edit)(root, 0);
    writer.succeeds(root);
    (writer.edit)(root, 1);
    let longest = time_of(writer, root);
    let mut random = Random::new(seed);
    let mut fell = [0; 3];
    for version in 2..count + 2 {
        let what = format!("{}, {version}", writer.name);
        (writer.edit)(root, version);
        let old = everything(root);
        start_and_kill(writer, root, longest, &mut random);
        let torn = everything(root);
        let printed = writer.succeeds(root);
        assert_eq!(left_behind(root), [""; 0], "{what} left something behind");
        let new = everything(root);
        check_whole(&what, &old, &torn, &new);
        if writer.is_graph() {
            assert!(printed == plain_graph(root), "{what}: the cache changed the answer");
        }
        fell[if torn == new { 2 } else { usize::from(torn != old) }] += 1;
    }
    fell
}

#[test]
fn artefacts_are_whole_after_a_dozen_killed_runs() {
    kill_runs(12, 1);
}

#[test]
fn other_commands_that_are_killed_leave_artefacts_whole() {
    for writer in WRITERS {
        kill_writer(writer, 2, 3);
    }
}

#[test]
#[ignore = "takes minutes"]
fn two_hundred_killed_runs_leave_artefacts_whole() {
    let [before, within, after] = kill_runs(200, 2);
    println!("run --context: {before} killed before anything was written, {within} within, {after} after");
}

#[test]
#[ignore = "takes minutes"]
fn every_other_command_fifty_times() {
    for (number, writer) in WRITERS.iter().enumerate() {
        let [before, within, after] = kill_writer(writer, 50, 4 + number as u64);
        println!("{}: {before} killed before anything was written, {within} within, {after} after", writer.name);
    }
}
