//! The rules, one file per group. Each file has a decision table with every case.
//!
//! | file | codes |
//! |---|---|
//! | `shape.rs` | 0013 |
//! | `places.rs` | 0009, 0012, 0105 |
//! | `bytes.rs`, `operations.rs` | 0008, 0011 |
//! | `manners.rs` | 0015, 0016 |
//! | `targets.rs` | 0005, 0006, 0007 |
//! | `state.rs` | 0001, 0002, 0003, 0004 |
//! | `listing.rs` | 0010 |
//! | `advice.rs` | 0014, 0101, 0102, 0103, 0104, 0106 |
//!
//! While the mode is off, only 0009, 0011, 0012, 0013 and 0105 are checked.

mod advice;
mod bytes;
mod listing;
mod manners;
mod operations;
mod places;
mod shape;
mod state;
mod target;
mod targets;

use crate::checklist::{self, Checklist};
use crate::paths::Layout;
use crate::report::Findings;
use crate::structure::Structure;
use crate::{CheckOptions, Plan, Purpose, ReplyFacts, Report};

use target::Target;

/// Everything that the rules need to know.
struct Facts<'a> {
    structure: &'a Structure<'a>,
    context: &'a dyn ReplyFacts,
    layout: Layout,
    /// The map is in the archive, or was seen earlier in the thread.
    is_active: bool,
    checklist: Checklist,
    targets: Vec<Target>,
    options: CheckOptions,
}

impl Facts<'_> {
    /// Whether the reply is to be applied to the working tree.
    fn is_tree(&self) -> bool {
        self.options.purpose == Purpose::Apply
    }

    /// Whether a file exists anywhere: in the archive, the repository or the map.
    fn is_known(&self, path: &str) -> bool {
        self.is_present(path) || self.context.exists(path) || self.context.is_mapped(path)
    }

    /// Whether the archive has a file. The state counts wherever it is: a diff archive need not contain it.
    fn is_present(&self, path: &str) -> bool {
        self.context.is_archived(path) || (path == self.layout.state && self.context.state().is_some())
    }
}

/// Checks all rules.
pub(crate) fn check(
    structure: &Structure<'_>,
    lines: &[&str],
    context: &dyn ReplyFacts,
    options: &CheckOptions,
) -> (Report, Plan) {
    let layout = Layout::new(context.stan_path());
    let facts = Facts {
        is_active: options.seen || context.is_archived(&layout.map) || context.is_archived(&layout.overview),
        checklist: checklist::read(&structure.input),
        targets: target::collect(structure),
        structure,
        context,
        layout,
        options: *options,
    };
    let mut findings = Findings::new(lines, *options);
    shape::check(&facts, &mut findings);
    places::check(&facts, &mut findings);
    let outcome = bytes::check(&facts, &mut findings);
    if facts.is_active {
        let mut missing = None;
        // Without an archive, it is unknown what the assistant has seen.
        if context.has_archive() {
            missing = targets::check(&facts, &mut findings);
        }
        let selection = state::check(&facts, &outcome, &mut findings);
        if context.has_archive() {
            listing::check(&facts, &selection, &mut findings);
        }
        advice::check(&facts, &selection, &outcome, options, &mut findings);
        manners::check(&facts, missing, &mut findings);
    }
    if let Some(line) = structure.bare_patch.filter(|_| !facts.is_tree()) {
        findings.note(format!("line {line} looks like a patch outside of a fence: it was not read"));
    }
    if let Some(line) = structure.unread_patch.filter(|_| !facts.is_tree()) {
        findings.note(format!("line {line} looks like a patch inside of another fence: it was not read"));
    }
    if let Some(line) = structure.odd_heading {
        findings.note(format!("line {line}: patches and files stand under `### Patch: <path>` and `### File: <path>`, with three `#`; this heading was not read as one"));
    }
    // A reply without changes is accepted, but the user probably expected changes.
    let is_prose = structure.blocks.is_empty() && structure.operations.is_empty();
    if is_prose && !facts.is_tree() {
        findings.note("the reply has no patch: there is nothing to apply; diffs, SEARCH/REPLACE blocks and `### File: PATH` sections are read");
    }
    (findings.into_report(), outcome.into_plan())
}
