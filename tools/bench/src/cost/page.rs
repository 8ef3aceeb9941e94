//! The section of docs/benchmarks.md about the cost of commands.

use std::fmt::Write as _;

use super::CostTable;

/// The ratios of one corpus, as text and as Markdown.
pub(super) fn table(measured: &CostTable) -> String {
    let mut text = format!("\n### {}\n\n{} files.\n\n", measured.name, measured.files);
    text += "| ratio | ms | to ms | measured | bar | |\n|---|--:|--:|--:|--:|---|\n";
    for (ratio, value) in measured.ratios() {
        let [of, to] = [ratio.of, ratio.to].map(|row| measured.get(row).unwrap_or(f64::NAN));
        let bar = measured.bar(ratio);
        let (bar, verdict) = match bar.is_finite() {
            true => (format!("≤ {bar:.2}"), if value <= bar { "pass" } else { "MISSED" }),
            false => (String::new(), ""),
        };
        let _ = writeln!(text, "| {} | {of:.1} | {to:.1} | {value:.2} | {bar} | {verdict} |", ratio.name);
    }
    text
}

/// The whole section.
pub(super) fn section(tables: &[CostTable], rounds: usize) -> String {
    let mut text = format!(
        "## What commands cost\n\nWritten by `cargo xtask bench cost --write`. Processor time (user and system) of whole processes in \
         milliseconds, the least of {rounds}\nrounds. The limit is walk + read + SHA-256 + parse. `pack --at` includes the parse of the \
         files that it shows. Without the search for secrets: the cache\nsays that all contents hold none.\n"
    );
    tables.iter().for_each(|measured| text += &table(measured));
    text
}

#[cfg(test)]
mod tests {
    use super::{CostTable, table};

    #[test]
    fn a_ratio_needs_both_rows() {
        let measured = CostTable { name: "x".into(), files: 3, least: vec![("context", 13.1), ("warm", 10.0)] };
        let text = table(&measured);
        assert!(text.contains("| 1.31 | ≤ 1.30 | MISSED |"), "{text}");
        assert!(!text.contains("limit"), "{text}");
    }
}
