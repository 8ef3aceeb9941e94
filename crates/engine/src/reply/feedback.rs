//! The message to the assistant if its reply could not be applied: each error, what the patch expects, and what the file contains
//! there. Written for a model, so it is short and says what was cut.

use std::fmt::Write as _;

use stan_reply::{MissedPassage, Report, Severity};

/// Further errors are only counted: these are enough to continue with.
const MAX_ERRORS: usize = 20;

/// In bytes; about three thousand tokens.
const MAX_BYTES: usize = 12_000;

pub(super) fn feedback(report: &Report) -> String {
    let errors: Vec<_> = report.findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
    let mut text =
        "The reply was not applied, and nothing was changed. Send the whole reply again with these errors fixed:\n"
            .to_owned();
    let mut shown = 0;
    for finding in errors.iter().take(MAX_ERRORS) {
        let mut part = format!("\n- {} (line {} of the reply): {}\n", finding.code, finding.line, finding.message);
        let _ = writeln!(part, "  Do: {}", finding.remedy);
        let is_unplaced = finding.code == "STAN-REPLY-0011";
        for missed in report.missed.iter().filter(|missed| is_unplaced && missed.line == finding.line) {
            show(missed, &mut part);
        }
        if text.len() + part.len() > MAX_BYTES && shown > 0 {
            break;
        }
        text.push_str(&part);
        shown += 1;
    }
    if shown < errors.len() {
        let _ = writeln!(text, "\n{} more errors are left out here.", errors.len() - shown);
    }
    text
}

fn show(missed: &MissedPassage, out: &mut String) {
    let list = |lines: &[String], out: &mut String| {
        for line in lines {
            let _ = writeln!(out, "  | {line}");
        }
    };
    let _ = writeln!(out, "  The patch expects in `{}`:", missed.path);
    list(&missed.wanted, out);
    if missed.found.is_empty() {
        let _ = writeln!(out, "  `{}` is empty.", missed.path);
        return;
    }
    let _ = writeln!(out, "  `{}` has from line {}:", missed.path, missed.first);
    list(&missed.found, out);
}
