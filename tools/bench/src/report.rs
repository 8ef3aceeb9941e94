//! Formats the results as tables (for the terminal and `docs/benchmarks.md`) and as JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::measure::Measured;
use super::process::ProcessOutcome;
use super::row::{Row, Summary};
use super::verdict::{self, Target, TargetResult};

/// A complete run of the benchmark.
pub(super) struct Report {
    /// Properties of the machine, name and value.
    pub(super) machine: Vec<(&'static str, String)>,
    pub(super) rounds: usize,
    pub(super) corpora: Vec<Measured>,
    pub(super) start_up: Vec<TargetResult>,
}

impl Report {
    /// Whether every target that counts is met.
    pub(super) fn passes(&self) -> bool {
        let judged = self.corpora.iter().filter(|measured| verdict::is_judged(measured)).flat_map(verdict::verdicts);
        judged.chain(self.start_up.iter().map(copy)).all(|verdict| verdict.passes() != Some(false))
    }

    /// The page `docs/benchmarks.md`.
    pub(super) fn page(&self) -> String {
        let mut page = String::from(
            "# Benchmarks\n\nWritten by `cargo xtask bench graph --write`; do not edit by hand.\n\n\
             Every figure of a corpus comes from one run, in which the programs take turns on a warm page cache. The\n\
             limits are the least work a right answer can take, with the same libraries and the same number of threads,\n\
             and each is a process of its own as well. Times are medians, memory is the highest peak. Peers that take\n\
             seconds run once and are stopped after 120 s. Targets count on corpora of at least 20,000 modules.\n\n",
        );
        for (name, value) in &self.machine {
            let _ = writeln!(page, "- {name}: {value}");
        }
        let _ = writeln!(page, "- rounds: {}", self.rounds);
        page.push_str(&self.tables());
        page
    }

    /// Only the tables.
    pub(super) fn tables(&self) -> String {
        let mut text = String::new();
        for measured in &self.corpora {
            let size = &measured.size;
            let _ = writeln!(
                text,
                "\n## {}\n\n{} files in {} folders, {:.1} MB; {} modules, {:.1} MB of source.\n",
                measured.name,
                thousands(size.files),
                thousands(size.folders),
                size.bytes as f64 / 1e6,
                thousands(size.parsed),
                size.parsed_bytes as f64 / 1e6,
            );
            text.push_str(&usage_table(measured));
            text.push('\n');
            text.push_str(&verdict_table(&verdict::verdicts(measured)));
        }
        text.push_str("\n## Start-up\n\n");
        text.push_str(&verdict_table(&self.start_up));
        text
    }

    pub(super) fn json(&self) -> Value {
        let machine: serde_json::Map<String, Value> =
            self.machine.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        json!({
            "machine": machine,
            "rounds": self.rounds,
            "corpora": self.corpora.iter().map(corpus_json).collect::<Vec<_>>(),
            "startUp": self.start_up.iter().map(verdict_json).collect::<Vec<_>>(),
            "passes": self.passes(),
        })
    }
}

fn copy(verdict: &TargetResult) -> TargetResult {
    TargetResult { ..*verdict }
}

fn corpus_json(measured: &Measured) -> Value {
    let size = &measured.size;
    let rows: serde_json::Map<String, Value> =
        measured.rows.iter().map(|(row, runs)| (row.key().to_owned(), row_json(runs))).collect();
    json!({
        "name": measured.name,
        "judged": verdict::is_judged(measured),
        "files": size.files,
        "folders": size.folders,
        "bytes": size.bytes,
        "modules": size.parsed,
        "moduleBytes": size.parsed_bytes,
        "jsonBytes": size.json_bytes,
        "rows": rows,
        "verdicts": verdict::verdicts(measured).iter().map(verdict_json).collect::<Vec<_>>(),
    })
}

fn row_json(runs: &super::row::Runs) -> Value {
    let walls: Vec<f64> = runs
        .outcomes
        .iter()
        .filter_map(|outcome| match outcome {
            ProcessOutcome::Done(usage) | ProcessOutcome::TimedOut(usage) => Some(usage.wall.as_secs_f64()),
            ProcessOutcome::Failed(_) => None,
        })
        .collect();
    match runs.summary() {
        None => Value::Null,
        Some(Summary::Failed(why)) => json!({ "failed": why }),
        Some(Summary::Done(usage) | Summary::TimedOut(usage)) => json!({
            "wallSeconds": usage.wall.as_secs_f64(),
            "cpuSeconds": usage.cpu.as_secs_f64(),
            "peakBytes": usage.peak_bytes,
            "timedOut": matches!(runs.summary(), Some(Summary::TimedOut(_))),
            "allWallSeconds": walls,
        }),
    }
}

fn verdict_json(verdict: &TargetResult) -> Value {
    let target = match verdict.target {
        Target::AtMost(most) => json!({ "atMost": most }),
        Target::AtLeast(least) => json!({ "atLeast": least }),
        Target::None => Value::Null,
    };
    json!({
        "what": verdict.what,
        "value": verdict.value,
        "unit": verdict.unit.trim(),
        "isLowerBound": verdict.is_lower_bound,
        "target": target,
        "passes": verdict.passes(),
    })
}

fn usage_table(measured: &Measured) -> String {
    let mut rows = vec![["command", "wall", "CPU", "peak memory"].map(str::to_owned)];
    for (row, runs) in &measured.rows {
        let cells = match runs.summary() {
            None => continue,
            Some(Summary::Failed(why)) => [String::from("failed"), why.replace('|', "/"), String::new()],
            Some(Summary::Done(usage)) => {
                [seconds(usage.wall.as_secs_f64()), seconds(usage.cpu.as_secs_f64()), megabytes(usage.peak_bytes)]
            }
            Some(Summary::TimedOut(usage)) => [
                format!("> {}", seconds(usage.wall.as_secs_f64())),
                format!("> {}", seconds(usage.cpu.as_secs_f64())),
                megabytes(usage.peak_bytes),
            ],
        };
        let [wall, cpu, memory] = cells;
        rows.push([Row::label(*row).to_owned(), wall, cpu, memory]);
    }
    table(&rows)
}

fn verdict_table(verdicts: &[TargetResult]) -> String {
    let mut rows = vec![["ratio", "measured", "target", ""].map(str::to_owned)];
    for verdict in verdicts {
        let bound = if verdict.is_lower_bound { "> " } else { "" };
        let value = verdict
            .value
            .map_or_else(|| "not measured".to_owned(), |value| format!("{bound}{}{}", digits(value), verdict.unit));
        let target = match verdict.target {
            Target::AtMost(most) => format!("≤ {most}{}", verdict.unit),
            Target::AtLeast(least) => format!("≥ {least}{}", verdict.unit),
            Target::None => String::new(),
        };
        let mark = match verdict.passes() {
            Some(true) => "pass",
            Some(false) => "FAIL",
            None => "",
        };
        rows.push([verdict.what.to_owned(), value, target, mark.to_owned()]);
    }
    table(&rows)
}

/// A Markdown table with columns that also align on a terminal; the first row is the header, the first column is text.
fn table(rows: &[[String; 4]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default().max(3);
    let widths: [usize; 4] = std::array::from_fn(width);
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        for (column, cell) in row.iter().enumerate() {
            let padding = " ".repeat(widths[column] - cell.chars().count());
            let _ = if column == 0 { write!(text, "| {cell}{padding} ") } else { write!(text, "| {padding}{cell} ") };
        }
        text.push_str("|\n");
        if index == 0 {
            for (column, width) in widths.iter().enumerate() {
                let _ = write!(text, "|{}{}", "-".repeat(width + 1), if column == 0 { "-" } else { ":" });
            }
            text.push_str("|\n");
        }
    }
    text
}

fn seconds(value: f64) -> String {
    if value < 1.0 { format!("{:.1} ms", value * 1e3) } else { format!("{value:.2} s") }
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// Three significant digits: the measurement has no more.
fn digits(value: f64) -> String {
    if value < 10.0 { format!("{value:.2}") } else { format!("{value:.1}") }
}

fn thousands(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{seconds, table, thousands};

    #[test]
    fn numbers_and_durations_are_shown_with_units() {
        for (value, expected) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(thousands(value), expected);
        }
        assert_eq!((seconds(0.01234), seconds(12.345)), ("12.3 ms".to_owned(), "12.35 s".to_owned()));
    }

    #[test]
    fn tables_line_up() {
        let rows = [["a", "wall", "", "x"], ["longer", "1 ms", "≥ 2×", ""]].map(|row| row.map(str::to_owned));
        let expected =
            "| a      | wall |      |   x |\n|--------|-----:|-----:|----:|\n| longer | 1 ms | ≥ 2× |     |\n";
        assert_eq!(table(&rows), expected);
    }
}
