//! STAN-REPLY-0005, 0006 and 0007: the checklist of targets.
//!
//! | case | decision |
//! |---|---|
//! | an edited or deleted file outside `<stanPath>/system/`, by patch, `rm` or `mv` | 0005 without a line for it |
//! | the state; a file below `system/`; a new file | no line needed |
//! | a "new" file on a path that exists | not new: a line is needed |
//! | an invalid path (0012: absolute, `..`) | no line can be right, so none is required |
//! | `yes` for what is not archived, `no` for what is, whether patched or not | 0006 |
//! | any line for a file that this reply creates and that did not exist | right |
//! | some line says `no`, true or not, patched or not, and is not of a new file | 0007 for every patch, `mv`, `cp` and `rm` but of the state, `stan.scratch.md`, `stan.todo.md` |
//! | a folder, removed or moved as one | present when the archive has a file below it |

use std::collections::BTreeSet;

use super::Facts;
use super::target::{Deed, Target};
use crate::paths::outside;
use crate::report::Findings;

/// Returns the line that makes the reply a hard-gate reply, if there is one.
pub(super) fn check(facts: &Facts<'_>, findings: &mut Findings<'_>) -> Option<u32> {
    let listed: BTreeSet<&str> = facts.checklist.presences.iter().map(|line| line.path.as_str()).collect();
    let new_files: BTreeSet<&str> =
        facts.targets.iter().filter(|target| is_new(facts, target)).map(|target| target.path.as_str()).collect();
    let mut reported = BTreeSet::new();
    for target in &facts.targets {
        let path = target.path.as_str();
        let needs_line = path != facts.layout.state
            && !facts.layout.is_system(path)
            && !new_files.contains(path)
            && outside(path).is_none();
        if needs_line && !listed.contains(path) && reported.insert(path) {
            missing_line(facts, findings, target);
        }
    }
    check_truth(facts, &new_files, findings);
    check_gate(facts, &new_files, findings)
}

/// Created by this reply, and did not exist anywhere.
fn is_new(facts: &Facts<'_>, target: &Target) -> bool {
    target.deed == Deed::Create && !facts.is_known(&target.path)
}

fn missing_line(facts: &Facts<'_>, findings: &mut Findings<'_>, target: &Target) {
    let path = &target.path;
    let message = match facts.checklist.broken.first() {
        Some(line) => {
            format!("the checklist has no line for `{path}` (line {line} looks like one but does not have the form)")
        }
        None => format!("the checklist has no line for `{path}`"),
    };
    let answer = if is_present(facts, path) { "yes" } else { "no" };
    let remedy = format!("add `{path} — present: {answer}` under `## Input Data Changes`");
    findings.add("STAN-REPLY-0005", target.line, path, message, remedy);
}

fn is_present(facts: &Facts<'_>, path: &str) -> bool {
    facts.is_present(path) || facts.context.has_archived_below(path)
}

fn check_truth(facts: &Facts<'_>, new_files: &BTreeSet<&str>, findings: &mut Findings<'_>) {
    for line in facts.checklist.presences.iter().filter(|line| !new_files.contains(line.path.as_str())) {
        let is_archived = is_present(facts, &line.path);
        if is_archived == line.is_present {
            continue;
        }
        let (message, remedy) = if is_archived {
            ("is in the archive, but the checklist says `no`", "write `present: yes`")
        } else {
            (
                "is not in the archive, but the checklist says `yes`",
                "write `present: no`, and select the file instead of patching it",
            )
        };
        findings.add("STAN-REPLY-0006", line.line, &line.path, format!("`{}` {message}", line.path), remedy);
    }
}

fn check_gate(facts: &Facts<'_>, new_files: &BTreeSet<&str>, findings: &mut Findings<'_>) -> Option<u32> {
    let is_missing = |path: &str| !new_files.contains(path);
    let missing = facts.checklist.presences.iter().find(|line| !line.is_present && is_missing(&line.path))?;
    let allowed = [&facts.layout.state, &facts.layout.scratch, &facts.layout.todo];
    let mut reported = BTreeSet::new();
    for target in facts.targets.iter().filter(|target| !allowed.contains(&&target.path)) {
        if reported.insert(target.path.as_str()) {
            let message = format!(
                "`{}` is changed although the checklist says that `{}` is not present (line {})",
                target.path, missing.path, missing.line
            );
            let remedy = "patch only the state, `stan.scratch.md` and `stan.todo.md` now, and ask for a new archive";
            findings.add("STAN-REPLY-0007", target.line, &target.path, message, remedy);
        }
    }
    Some(missing.line)
}
