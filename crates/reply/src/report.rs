//! The result of the gate: findings with position and remedy, and notes. Data only; the program prints it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
pub use stan_model::document::assistant_reports::{Excerpt, Finding, Severity};

use crate::{CheckOptions, Purpose, excerpt};

/// The answer about one reply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Sorted by line, code, column and message, without duplicates.
    pub findings: Vec<Finding>,
    /// Notes for the reader that break no rule.
    pub notes: Vec<String>,
    /// Passages of patches that were not found, to report to their author. In the order of the reply.
    #[serde(skip)]
    pub missed: Vec<MissedPassage>,
}

/// A passage of a patch that the file does not contain, or contains several times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissedPassage {
    /// The line of the reply.
    pub line: u32,
    pub path: String,
    /// Why it has no unambiguous position in the file.
    pub message: String,
    /// The lines that were searched for, truncated if long.
    pub wanted: Vec<String>,
    /// The line of the file that `found` starts at.
    pub first: usize,
    /// The most similar passage of the file.
    pub found: Vec<String>,
}

impl Report {
    /// Whether the reply is accepted. Warnings do not prevent that.
    pub fn is_accepted(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity != Severity::Error)
    }
}

/// Collects the findings about one reply.
pub(crate) struct Findings<'a> {
    lines: &'a [&'a str],
    /// Each with the path that it is about.
    list: Vec<(Finding, String)>,
    /// Refused paths: nothing else is reported about them.
    reserved: BTreeSet<String>,
    notes: Vec<String>,
    missed: Vec<MissedPassage>,
    options: CheckOptions,
    /// The number of findings by code, including those left out.
    counts: BTreeMap<&'static str, usize>,
}

/// Further findings of one code are only counted: a hostile reply can have hundreds of thousands.
const MAX_OF_ONE_CODE: usize = 1000;

/// Further passages that were not found are only counted: these are enough to start with.
const MAX_MISSED: usize = 20;

/// The code for paths that may not be used.
pub(crate) const RESERVED: &str = "STAN-REPLY-0012";

impl<'a> Findings<'a> {
    pub(crate) fn new(lines: &'a [&'a str], options: CheckOptions) -> Self {
        Self {
            lines,
            list: Vec::new(),
            reserved: BTreeSet::new(),
            notes: Vec::new(),
            missed: Vec::new(),
            options,
            counts: BTreeMap::new(),
        }
    }

    /// Codes from 0101 are warnings. Lower ones are errors, except for ceremony when only the effects of the reply matter.
    fn severity(&self, code: &str) -> Severity {
        let is_advice = code >= "STAN-REPLY-0100";
        let is_courtesy = matches!(code, "STAN-REPLY-0015" | "STAN-REPLY-0016") && !self.options.strict;
        let is_ceremony = matches!(
            code,
            "STAN-REPLY-0001" | "STAN-REPLY-0004" | "STAN-REPLY-0005" | "STAN-REPLY-0006" | "STAN-REPLY-0010"
        );
        let is_waived = is_ceremony && self.options.purpose == Purpose::Apply && !self.options.strict;
        if is_advice || is_courtesy || is_waived { Severity::Warning } else { Severity::Error }
    }

    /// Adds a finding that underlines `part` of the line, or the whole line if it does not contain `part`.
    pub(crate) fn add(
        &mut self,
        code: &'static str,
        line: u32,
        part: &str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.add_about(part, code, line, part, message, remedy);
    }

    /// As [`Findings::add`], about a path that is not the underlined part.
    pub(crate) fn add_about(
        &mut self,
        path: &str,
        code: &'static str,
        line: u32,
        part: &str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        let count = self.counts.entry(code).or_default();
        *count += 1;
        if *count > MAX_OF_ONE_CODE {
            return;
        }
        let severity = self.severity(code);
        // A block that the end of the reply cuts off starts after the last line.
        let line = line.clamp(1, u32::try_from(self.lines.len()).unwrap_or(u32::MAX).max(1));
        let (column, excerpt) = excerpt::cut(self.line_text(line), part);
        let (message, remedy) = (message.into(), remedy.into());
        let finding = Finding { code, severity, line, column, message, remedy, excerpt };
        self.list.push((finding, crate::paths::normalise(path)));
    }

    /// Marks a path as refused: from now on, that is its only finding.
    pub(crate) fn reserve(&mut self, path: &str) {
        self.reserved.insert(crate::paths::normalise(path));
    }

    /// A line of the reply as written.
    pub(crate) fn line_text(&self, line: u32) -> &'a str {
        let index = usize::try_from(line).unwrap_or(usize::MAX).wrapping_sub(1);
        self.lines.get(index).copied().unwrap_or_default()
    }

    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Whether there is a finding with this code.
    pub(crate) fn has(&self, code: &str) -> bool {
        self.counts.contains_key(code)
    }

    pub(crate) fn missed(&mut self, passage: MissedPassage) {
        if self.missed.len() < MAX_MISSED {
            self.missed.push(passage);
        }
    }

    pub(crate) fn into_report(mut self) -> Report {
        for (code, count) in &self.counts {
            if *count > MAX_OF_ONE_CODE {
                self.notes.push(format!("{code} was found {count} times; the first {MAX_OF_ONE_CODE} are shown"));
            }
        }
        let key = |finding: &Finding| (finding.line, finding.code, finding.column);
        self.list.sort_by(|(a, _), (b, _)| key(a).cmp(&key(b)).then_with(|| a.message.cmp(&b.message)));
        let mut reported = BTreeSet::new();
        self.list.retain(|(finding, path)| {
            !self.reserved.contains(path) || (finding.code == RESERVED && reported.insert(path.clone()))
        });
        let mut findings: Vec<Finding> = self.list.into_iter().map(|(finding, _)| finding).collect();
        findings.dedup();
        self.notes.sort_unstable();
        self.notes.dedup();
        Report { findings, notes: self.notes, missed: self.missed }
    }
}
