//! The law of warm runs: after any sequence of edits, the answers with and without a cache are equal to the byte: the graph, its
//! statistics, and the map built from it.
//!
//! The same random sequences run in memory (with a clock that is sometimes too coarse) and on the real disk.

mod support;

use std::ops::Range;

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use stan_engine::Engine;
use stan_engine::context::{JsonStyle, Repository, build_map};
use stan_engine::graph::{GraphOptions, GraphOutcome, GraphRequest};
use stan_model::document::externals_lock::ExternalsLock;

use support::disk::{Disk, MemoryDisk, RealDisk};
use support::edits::{TimedEdit, sequence, start};
use support::{json, run};

#[test]
fn warm_is_cold_in_memory() {
    check_sequences(200, 1..25, 0, || Box::new(MemoryDisk::new()));
}

#[test]
fn warm_is_cold_with_the_imports_of_packages() {
    check_sequences(40, 1..25, 2, || Box::new(MemoryDisk::new()));
}

/// Every edit is too recent for its stat to be trusted: contents must be compared.
#[test]
fn warm_is_cold_on_disk_within_a_second() {
    check_sequences(15, 10..25, 0, || Box::new(RealDisk::new(false)));
}

/// Every stat is old enough to be trusted.
#[test]
fn warm_is_cold_on_disk_after_a_while() {
    check_sequences(15, 10..25, 0, || Box::new(RealDisk::new(true)));
}

fn check_sequences(cases: u32, length: Range<usize>, external_depth: u32, disk: impl Fn() -> Box<dyn Disk>) {
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 3_000, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let result = TestRunner::new_with_rng(config, rng).run(&sequence(length), |steps| {
        let disk = disk();
        start(&*disk);
        let mut options = GraphOptions::new(disk.root());
        options.external_depth = external_depth;
        // Few errors are shown, so that truncation is compared, too.
        options.max_errors = 8;
        steps.iter().enumerate().try_for_each(|(number, step)| check_step(&*disk, &options, number, step))
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
}

fn check_step(disk: &dyn Disk, options: &GraphOptions, number: usize, step: &TimedEdit) -> Result<(), TestCaseError> {
    step.apply(disk);
    let inside = format!("{}/.stan/cache", disk.root());
    let outside = format!("{}/../cache", disk.root());
    let cold = answer(disk, options, None, false);
    for (what, cache, stats_only) in [
        ("warm", Some(&inside), false),
        ("warm again", Some(&inside), false),
        ("figures", Some(&inside), true),
        ("cache outside", Some(&outside), false),
        ("cold again", None, false),
    ] {
        let warm = answer(disk, options, cache, stats_only);
        let same = (&warm.summary, warm.dirty, &warm.errors) == (&cold.summary, cold.dirty, &cold.errors);
        if !same || (!stats_only && json(&warm) != json(&cold)) {
            let difference = difference(&cold, &warm);
            return Err(TestCaseError::fail(format!("step {number}, {what} ({:?}):\n{difference}", warm.work)));
        }
    }
    let cold = map(disk, options, None);
    for (what, cache) in [("warm", &inside), ("warm again", &inside), ("cache outside", &outside)] {
        let warm = map(disk, options, Some(cache));
        if warm != cold {
            return Err(TestCaseError::fail(format!("step {number}, the map {what}:\n{cold:#?}\n{warm:#?}")));
        }
    }
    Ok(())
}

/// The document of the map, the private map and the errors.
fn map(disk: &dyn Disk, options: &GraphOptions, cache: Option<&String>) -> (String, ExternalsLock, Vec<String>) {
    let mut config = stan_engine::config::Config::default();
    config.context.external_depth = options.external_depth;
    config.context.max_errors = 8;
    let repository = Repository { root: disk.root(), config: &config };
    let request = GraphRequest {
        cache_directory: cache.cloned(),
        state_directory: Some(disk.state_directory()),
        ..GraphRequest::default()
    };
    let built = build_map(&Engine::new(disk.system()), &repository, &request).expect("a map can be made");
    let mut document = Vec::new();
    built.map.write(&mut document, JsonStyle::Indented).expect("memory takes everything");
    (String::from_utf8(document).expect("maps are text"), built.externals_lock, built.errors)
}

fn answer(disk: &dyn Disk, options: &GraphOptions, cache: Option<&String>, stats_only: bool) -> GraphOutcome {
    let request = GraphRequest {
        cache_directory: cache.cloned(),
        state_directory: Some(disk.state_directory()),
        stats_only,
        ..GraphRequest::default()
    };
    run(disk.system(), options, &request)
}

/// The lines that occur in only one of two answers.
fn difference(cold: &GraphOutcome, warm: &GraphOutcome) -> String {
    let lines = |outcome: &GraphOutcome| -> Vec<String> {
        let graph = outcome.graph.as_ref().map(|_| json(outcome)).unwrap_or_default();
        let figures = format!("{:?} dirty {}", outcome.summary, outcome.dirty);
        graph.split_inclusive("},").map(str::to_owned).chain(outcome.errors.clone()).chain([figures]).collect()
    };
    let (cold, warm) = (lines(cold), lines(warm));
    let only = |left: &[String], right: &[String], mark: &str| -> String {
        left.iter().filter(|line| !right.contains(line)).map(|line| format!("{mark} {line}\n")).collect()
    };
    only(&cold, &warm, "cold:") + &only(&warm, &cold, "warm:")
}
