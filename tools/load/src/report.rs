//! The result of a load test: measurements, which cannot fail, and properties, which can.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::program::Usage;

#[derive(Default)]
pub(super) struct Report {
    rows: Vec<Row>,
    laws: Vec<Law>,
}

/// One measured command.
struct Row {
    name: String,
    usage: Usage,
    /// Its processor time relative to reading the same bytes: wall times of a busy machine are not comparable.
    ratio: Option<f64>,
}

/// A property that must hold on any machine.
struct Law {
    name: String,
    holds: bool,
    /// The observation.
    detail: String,
}

impl Report {
    pub(super) fn row(&mut self, name: impl Into<String>, usage: Usage, reading: Option<Usage>) {
        let ratio = reading.map(|reading| usage.cpu.as_secs_f64() / reading.cpu.as_secs_f64().max(1e-9));
        let row = Row { name: name.into(), usage, ratio };
        println!("{}", row.line());
        self.rows.push(row);
    }

    pub(super) fn law(&mut self, name: impl Into<String>, holds: bool, detail: impl Into<String>) {
        let law = Law { name: name.into(), holds, detail: detail.into() };
        println!("{}", law.line());
        self.laws.push(law);
    }

    pub(super) fn holds(&self) -> bool {
        self.laws.iter().all(|law| law.holds)
    }

    /// Everything once more, as tables for the page.
    pub(super) fn table(&self) -> String {
        let mut text =
            String::from("\n| run | wall s | CPU s | peak MB | CPU / reading |\n|---|---:|---:|---:|---:|\n");
        for row in &self.rows {
            let ratio = row.ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}"));
            let Usage { wall, cpu, peak_bytes } = row.usage;
            let (wall, cpu, peak) = (wall.as_secs_f64(), cpu.as_secs_f64(), peak_bytes as f64 / 1e6);
            let _ = writeln!(text, "| {} | {wall:.2} | {cpu:.2} | {peak:.0} | {ratio} |", row.name);
        }
        text.push('\n');
        for law in &self.laws {
            let _ = writeln!(text, "{}", law.line());
        }
        let broken = self.laws.iter().filter(|law| !law.holds).count();
        let _ = writeln!(text, "load: {} laws, {broken} broken", self.laws.len());
        text
    }

    pub(super) fn json(&self) -> Value {
        let rows: Vec<Value> = self
            .rows
            .iter()
            .map(|row| {
                json!({
                    "name": row.name,
                    "wallSeconds": row.usage.wall.as_secs_f64(),
                    "cpuSeconds": row.usage.cpu.as_secs_f64(),
                    "peakBytes": row.usage.peak_bytes,
                    "cpuOverReading": row.ratio,
                })
            })
            .collect();
        let laws: Vec<Value> =
            self.laws.iter().map(|law| json!({ "name": law.name, "holds": law.holds, "detail": law.detail })).collect();
        json!({ "holds": self.holds(), "runs": rows, "laws": laws })
    }
}

impl Row {
    fn line(&self) -> String {
        let ratio = self.ratio.map_or_else(String::new, |ratio| format!("  {ratio:6.2} x reading"));
        let Usage { wall, cpu, peak_bytes } = self.usage;
        let (wall, cpu, peak) = (wall.as_secs_f64(), cpu.as_secs_f64(), peak_bytes as f64 / 1e6);
        format!("{:44} {wall:8.2} s  {cpu:8.2} s CPU  {peak:7.0} MB{ratio}", self.name)
    }
}

impl Law {
    fn line(&self) -> String {
        let mark = if self.holds { "holds " } else { "BROKEN" };
        format!("{mark}  {}: {}", self.name, self.detail)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Report, Usage};

    #[test]
    fn one_broken_law_breaks_the_report_and_no_time_does() {
        let usage = |seconds| Usage { cpu: Duration::from_secs(seconds), ..Usage::default() };
        let mut report = Report::default();
        report.row("slow", usage(3600), Some(usage(1)));
        report.law("a", true, "fine");
        assert!(report.holds());
        report.law("b", false, "two differ");
        assert!(!report.holds());
        let table = report.table();
        assert!(table.contains("| slow | 0.00 | 3600.00 | 0 | 3600.00 |"), "{table}");
        assert!(table.contains("BROKEN  b: two differ\nload: 2 laws, 1 broken\n"), "{table}");
        assert_eq!(report.json()["laws"][1]["holds"], false);
    }
}
