//! STAN-REPLY-0001 to 0004: the selection.
//!
//! | case | decision |
//! |---|---|
//! | patches, no state patch, the statement | fine |
//! | patches, no state patch, no statement | 0001 at the first patch |
//! | a state patch and the statement | 0001 at the statement |
//! | a state patch that changes nothing, with the statement or without | 0002 alone (no 0001, 0010, 01xx) |
//! | a state patch that does not apply | 0011; it counts as a state patch for 0001 |
//! | no patches at all, or file operations only | nothing is asked for |
//! | other order, duplicates, `["a",0]` for `"a"`, `./a` for `a`, an empty `x` | no change |
//! | the state behind the patch cannot be read | 0003 for each problem, at the line that wrote it |
//! | v1, or `include`/`exclude` | 0003 |
//! | the state is deleted, renamed away, removed or moved by an operation | 0003 |
//! | an operation that puts a file in its place | as a patch that does so |
//! | mask bits above 7 | a note: they are ignored |
//! | the selection differs as a set, and no patch or operation rewrites `stan.scratch.md` | 0004 |
//! | `stan.scratch.md` deleted, or only its mode changed | it did not change: 0004 |

use std::collections::BTreeSet;

use stan_model::document::state::{self, DecodedState, Entry, State, StateVersion};
use stan_model::document::{DocumentError, DocumentPlace};
use stan_model::json::{JsonTree, pointer_tokens};

use super::Facts;
use super::bytes::{PatchResult, PatchedState};
use super::target::{Deed, Target};
use crate::checklist::{STATEMENT, misplaced_statement};
use crate::report::Findings;

const INVALID: &str = "STAN-REPLY-0003";

/// The changes of a reply to the selection.
#[derive(Debug, Default)]
pub(super) struct Selection<'a> {
    /// The state after the patch, if the patch changed something and the result is valid.
    pub(super) after: Option<State>,
    /// The patch it comes from.
    pub(super) patched: Option<&'a PatchedState>,
    /// The line of the diff.
    pub(super) line: u32,
}

pub(super) fn check<'a>(facts: &Facts<'_>, outcome: &'a PatchResult, findings: &mut Findings<'_>) -> Selection<'a> {
    let state_targets = || facts.targets.iter().filter(|target| target.path == facts.layout.state);
    let writes = |target: &&Target| target.is_patch || target.deed != Deed::Delete;
    let line = state_targets().find(writes).map(|target| target.line);
    for target in state_targets().filter(|target| target.deed == Deed::Delete) {
        let remedy = format!("patch it to `{{\"v\":2,\"i\":[]}}` to select nothing, or say `{STATEMENT}`");
        findings.add(INVALID, target.line, &target.path, "the state file must not be removed", remedy);
    }
    let mut selection = Selection { line: line.unwrap_or(1), ..Selection::default() };
    let mut is_idle = false;
    if let Some(patched) = &outcome.state {
        match state::decode(&patched.bytes, &facts.layout.state) {
            Err(errors) => errors.iter().for_each(|error| invalid(patched, error, selection.line, findings)),
            Ok(after) => {
                let is_current = check_schema(&after, patched, selection.line, findings);
                after.warnings.iter().for_each(|warning| findings.note(warning.clone()));
                let before = before(facts);
                is_idle = is_current && before.as_ref().is_some_and(|before| is_same(before, &after.state));
                if is_idle {
                    idle(facts, selection.line, findings);
                } else {
                    check_scratch(facts, outcome, before.as_ref(), &after.state, selection.line, findings);
                    selection.after = Some(after.state);
                    selection.patched = Some(patched);
                }
            }
        }
    }
    if !is_idle {
        check_statement(facts, line.is_some(), findings);
    }
    selection
}

/// The state before the reply; `None` if there is none or it is invalid.
fn before(facts: &Facts<'_>) -> Option<State> {
    let bytes = facts.context.base(&facts.layout.state).or_else(|| facts.context.state())?;
    state::decode(&bytes, &facts.layout.state).ok().map(|decoded| decoded.state)
}

fn is_same(before: &State, after: &State) -> bool {
    fn set(entries: &[Entry]) -> BTreeSet<&Entry> {
        entries.iter().collect()
    }
    set(&before.include) == set(&after.include) && set(&before.exclude) == set(&after.exclude)
}

fn idle(facts: &Facts<'_>, line: u32, findings: &mut Findings<'_>) {
    let message = "the patch of the state changes nothing: it selects the same as before";
    let remedy = format!("remove the patch and write `{STATEMENT}` under `## Input Data Changes`");
    findings.add("STAN-REPLY-0002", line, &facts.layout.state, message, remedy);
}

fn check_statement(facts: &Facts<'_>, patches_state: bool, findings: &mut Findings<'_>) {
    const CODE: &str = "STAN-REPLY-0001";
    let Some(first) = facts.structure.blocks.first() else { return };
    match (patches_state, facts.checklist.statement) {
        (true, None) | (false, Some(_)) => {}
        (true, Some(line)) => {
            let message = format!("`{STATEMENT}` is said, and the state is patched all the same");
            findings.add(CODE, line, STATEMENT, message, "remove the line or the patch of the state");
        }
        (false, None) => {
            let mut message = format!("the reply has patches, but neither one of the state nor the line `{STATEMENT}`");
            if let Some((line, why)) = misplaced_statement(facts.structure) {
                message = format!("{message} (line {line} does not count: it {why})");
            }
            let remedy =
                format!("write `{STATEMENT}` as a line of its own under `## Input Data Changes`, or patch the state");
            findings.add(CODE, first.line, "", message, remedy);
        }
    }
}

/// Whether a valid state uses the current schema.
fn check_schema(after: &DecodedState, patched: &PatchedState, line: u32, findings: &mut Findings<'_>) -> bool {
    let remedy = "write `{\"v\":2,\"i\":[…],\"x\":[…]}`";
    let place = patched.lines.iter().flatten().next().copied().unwrap_or(line);
    if after.version == StateVersion::V1 {
        findings.add(INVALID, place, "", "the state is written in the old schema (v1)", remedy);
        return false;
    }
    if after.uses_aliases {
        let message = "the state says `include` or `exclude` where v2 has `i` and `x`";
        findings.add(INVALID, place, "", message, remedy);
        return false;
    }
    true
}

fn invalid(patched: &PatchedState, error: &DocumentError, line: u32, findings: &mut Findings<'_>) {
    let place = line_of(patched, &error.place).unwrap_or(line);
    let part = error.shown.clone().unwrap_or_default();
    let remedy = "write the state as `{\"v\":2,\"i\":[…],\"x\":[…]}` with entries `\"path\"`, `[\"path\",depth]` or `[\"path\",depth,mask]`";
    findings.add(INVALID, place, &part, format!("after the patch {error}"), remedy);
}

/// The line of the reply that wrote a position of the state, or the nearest such line above.
fn line_of(patched: &PatchedState, place: &DocumentPlace) -> Option<u32> {
    let index = match place {
        DocumentPlace::Line { line, .. } => line.saturating_sub(1),
        DocumentPlace::Pointer(pointer) => pointed_line(&patched.bytes, pointer).unwrap_or(0),
        DocumentPlace::Rest => 0,
    };
    let exact = patched.lines.get(index).copied().flatten();
    exact.or_else(|| patched.lines.iter().take(index + 1).rev().flatten().next().copied())
}

fn pointed_line(bytes: &[u8], pointer: &str) -> Option<usize> {
    let tree = JsonTree::parse(bytes).ok()?;
    let mut id = tree.root();
    for token in pointer_tokens(pointer)? {
        // A missing key is reported at the object that should have it.
        let Some(next) = tree.step(id, &token) else { break };
        id = next;
    }
    let start = (tree.text(id).as_ptr() as usize).checked_sub(bytes.as_ptr() as usize)?;
    Some(memchr::memchr_iter(b'\n', bytes.get(..start)?).count())
}

fn check_scratch(
    facts: &Facts<'_>,
    outcome: &PatchResult,
    before: Option<&State>,
    after: &State,
    line: u32,
    findings: &mut Findings<'_>,
) {
    let nothing = State::default();
    let scratch = &facts.layout.scratch;
    if is_same(before.unwrap_or(&nothing), after) {
        return;
    }
    // A patch that does not apply is reported separately; here the attempt counts.
    let is_written = facts.targets.iter().any(|target| target.path == *scratch && target.deed != Deed::Delete);
    let changes = match outcome.changed.get(scratch) {
        Some(Some(bytes)) => facts.context.base(scratch).is_none_or(|old| *old != **bytes),
        Some(None) => false,
        None => true,
    };
    if is_written && changes {
        return;
    }
    let message = format!("the selection changed, but `{scratch}` did not");
    let remedy = format!("say in `{scratch}` why the selection changed");
    findings.add("STAN-REPLY-0004", line, &facts.layout.state, message, remedy);
}
