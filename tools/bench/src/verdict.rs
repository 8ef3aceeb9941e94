//! The ratios that matter, with the project's targets.

use super::measure::Measured;
use super::process::Usage;
use super::row::{Row, Runs, Summary};

/// Targets count on corpora with at least this many modules; for smaller ones they are only shown.
const LARGE: u64 = 20_000;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Target {
    AtMost(f64),
    AtLeast(f64),
    /// Shown for orientation.
    None,
}

#[derive(Debug, PartialEq)]
pub(super) struct TargetResult {
    pub(super) what: &'static str,
    pub(super) unit: &'static str,
    /// `None` if a part of it was not measured.
    pub(super) value: Option<f64>,
    /// The true value is at least `value`, because a program was stopped.
    pub(super) is_lower_bound: bool,
    pub(super) target: Target,
}

impl TargetResult {
    /// `None` without a target, or if it was not measured on purpose.
    pub(super) fn passes(&self) -> Option<bool> {
        let met = match (self.value, self.target) {
            (_, Target::None) => return None,
            (None, _) => false,
            (Some(value), Target::AtMost(most)) => value <= most,
            (Some(value), Target::AtLeast(least)) => value >= least,
        };
        Some(met)
    }
}

/// Whether a missed target on this corpus fails `--check`.
pub(super) fn is_judged(measured: &Measured) -> bool {
    measured.size.parsed >= LARGE
}

pub(super) fn verdicts(measured: &Measured) -> Vec<TargetResult> {
    let ratio = |what, above: Row, below: Row, target| ratio(measured, what, above, below, target);
    let mut verdicts = vec![
        ratio("cold / limit", Row::Cold, Row::LimitCold, Target::AtMost(1.35)),
        ratio("cold with `--json` / limit", Row::ColdJson, Row::LimitCold, Target::None),
        ratio("cold that writes its cache / limit", Row::ColdWritesCache, Row::LimitCold, Target::None),
        ratio("warm / stat-only", Row::Warm, Row::LimitWarm, Target::AtMost(2.0)),
        json_verdict(measured),
        ratio("edit (import) / warm", Row::EditImport, Row::Warm, Target::AtMost(1.2)),
        ratio("edit (comment) / warm", Row::EditComment, Row::Warm, Target::AtMost(1.2)),
        ratio("rev-dep / cold", Row::RevDep, Row::Cold, Target::AtLeast(1.4)),
        ratio("rev-dep / cold, both as JSON", Row::RevDepJson, Row::ColdJson, Target::None),
        ratio("dependency-cruiser / cold, both as JSON", Row::DependencyCruiser, Row::ColdJson, Target::AtLeast(50.0)),
        ratio("madge / cold, both as JSON", Row::Madge, Row::ColdJson, Target::AtLeast(50.0)),
        memory_verdict(measured),
    ];
    // A peer that was skipped on purpose is not a failure.
    let was_run = |row: Row| measured.rows.contains_key(&row);
    let peers = [("rev-dep", Row::RevDep), ("dependency-cruiser", Row::DependencyCruiser), ("madge", Row::Madge)];
    verdicts.retain(|verdict| peers.iter().all(|(name, row)| was_run(*row) || !verdict.what.starts_with(name)));
    verdicts
}

/// The two verdicts about start-up, in milliseconds.
pub(super) fn start_up_verdicts([version, tiny]: &[Runs; 2]) -> Vec<TargetResult> {
    [("`stan --version`", version), ("`stan graph --stats` on ten files", tiny)]
        .into_iter()
        .map(|(what, runs)| TargetResult {
            what,
            unit: " ms",
            value: usage(runs).map(|(usage, _)| usage.wall.as_secs_f64() * 1e3),
            is_lower_bound: false,
            target: Target::AtMost(15.0),
        })
        .collect()
}

fn ratio(measured: &Measured, what: &'static str, above: Row, below: Row, target: Target) -> TargetResult {
    let (above, below) = (row_usage(measured, above), row_usage(measured, below));
    let value = above.zip(below).map(|((above, _), (below, _))| above.wall.as_secs_f64() / below.wall.as_secs_f64());
    TargetResult { what, unit: "×", value, is_lower_bound: above.is_some_and(|(_, stopped)| stopped), target }
}

/// Printing JSON may only add the time of writing that many bytes.
fn json_verdict(measured: &Measured) -> TargetResult {
    let wall = |row| row_usage(measured, row).map(|(usage, _)| usage.wall.as_secs_f64());
    let value = wall(Row::WarmJson)
        .zip(wall(Row::LimitWarm))
        .zip(wall(Row::LimitWrite))
        .map(|((warm, stat), write)| warm / (2.0 * stat + write));
    TargetResult {
        what: "warm with `--json` / (2 stat-only + write)",
        unit: "×",
        value,
        is_lower_bound: false,
        target: Target::AtMost(1.0),
    }
}

fn memory_verdict(measured: &Measured) -> TargetResult {
    let value = row_usage(measured, Row::ColdJson).map(|(usage, _)| usage.peak_bytes as f64 / 1e6);
    TargetResult {
        what: "peak memory, cold with `--json`",
        unit: " MB",
        value,
        is_lower_bound: false,
        target: Target::AtMost(250.0),
    }
}

fn row_usage(measured: &Measured, row: Row) -> Option<(Usage, bool)> {
    measured.rows.get(&row).and_then(usage)
}

/// The usage of the runs, and whether they were stopped.
fn usage(runs: &Runs) -> Option<(Usage, bool)> {
    match runs.summary()? {
        Summary::Done(usage) => Some((usage, false)),
        Summary::TimedOut(usage) => Some((usage, true)),
        Summary::Failed(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use super::{Target, TargetResult, verdicts};
    use crate::measure::{Measured, Size};
    use crate::process::{ProcessOutcome, Usage};
    use crate::row::{Row, Runs};

    fn usage(millis: u64) -> Usage {
        Usage { wall: Duration::from_millis(millis), cpu: Duration::ZERO, peak_bytes: 300_000_000 }
    }

    fn find(rows: &[(Row, ProcessOutcome)], what: &str) -> Option<TargetResult> {
        let rows: BTreeMap<Row, Runs> =
            rows.iter().map(|(row, outcome)| (*row, Runs { outcomes: vec![outcome.clone()] })).collect();
        let measured = Measured { name: "x", size: Size::default(), rows };
        verdicts(&measured).into_iter().find(|verdict| verdict.what.starts_with(what))
    }

    fn check(rows: &[(Row, ProcessOutcome)], what: &str, value: Option<f64>, passes: Option<bool>) {
        let verdict = find(rows, what).expect("the verdict is there");
        // Rounded to two digits, as in the report.
        let rounded = verdict.value.map(|value| (value * 100.0).round() / 100.0);
        assert_eq!((rounded, verdict.passes()), (value, passes), "{what}");
    }

    #[test]
    fn ratios_are_held_against_their_targets() {
        let done = |millis| ProcessOutcome::Done(usage(millis));
        check(&[(Row::Cold, done(130)), (Row::LimitCold, done(100))], "cold / limit", Some(1.3), Some(true));
        check(&[(Row::Cold, done(140)), (Row::LimitCold, done(100))], "cold / limit", Some(1.4), Some(false));
        check(&[(Row::ColdJson, done(200)), (Row::LimitCold, done(100))], "cold with", Some(2.0), None);
        check(&[(Row::RevDep, done(300)), (Row::Cold, done(100))], "rev-dep / cold", Some(3.0), Some(true));
        check(&[(Row::ColdJson, done(1))], "peak memory", Some(300.0), Some(false));
        let json = [(Row::WarmJson, done(25)), (Row::LimitWarm, done(10)), (Row::LimitWrite, done(5))];
        check(&json, "warm with `--json`", Some(1.0), Some(true));
    }

    #[test]
    fn ratios_that_were_not_measured_do_not_pass() {
        let failed = ProcessOutcome::Failed("why".to_owned());
        check(&[(Row::Cold, failed)], "cold / limit", None, Some(false));
    }

    #[test]
    fn a_tool_that_timed_out_gives_a_lower_bound_and_a_missing_one_no_verdict() {
        let rows =
            [(Row::Madge, ProcessOutcome::TimedOut(usage(9000))), (Row::ColdJson, ProcessOutcome::Done(usage(100)))];
        let verdict = find(&rows, "madge").expect("the verdict is there");
        assert_eq!(verdict.target, Target::AtLeast(50.0));
        assert!(verdict.is_lower_bound && verdict.passes() == Some(true));
        assert_eq!(find(&rows, "dependency-cruiser"), None);
    }
}
