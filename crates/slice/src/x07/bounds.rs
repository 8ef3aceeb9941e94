//! The bounds of a slice. The planner decides the order; here are the cuts around a focus, from the most dispensable part to the
//! focus's own body.

use stan_model::document::x07::{Truncation, TruncationReason};
use stan_model::jcs::MAX_SAFE_INTEGER;
use stan_model::module::{FieldRole, Piece};

use super::draft::Draft;
use super::enclosure::FocusKind;
use super::{SliceError, SliceRequest, prune};
use crate::plan::{Bounds, Exceeded, Shrink, TooLarge, fit};

/// Cuts a draft to its bounds. A bound that is not exceeded leaves no trace.
pub(crate) fn enforce(draft: &mut Draft<'_, '_>, request: &SliceRequest) -> Result<Option<Truncation>, SliceError> {
    let (decls_before, bytes_before) = (draft.declaration_count() as u64, draft.bytes() as u64);
    let bounds = Bounds { count: request.max_nodes, bytes: request.max_bytes };
    let Exceeded { count, bytes } = fit(draft, bounds).map_err(|TooLarge { minimum }| {
        // An entry expression outside of the focus stays: a whole document must have one.
        SliceError::CannotTruncate { max_bytes: request.max_bytes.unwrap_or(u64::MAX), minimum }
    })?;
    let reason = match (count, bytes) {
        (false, false) => return Ok(None),
        (true, false) => TruncationReason::MaxNodes,
        (false, true) => TruncationReason::MaxBytes,
        (true, true) => TruncationReason::Both,
    };
    // Leave out a bound that is too large for a canonical number: it cannot have cut anything.
    let shown = |bound: Option<u64>| bound.filter(|&bound| bound <= MAX_SAFE_INTEGER);
    Ok(Some(Truncation {
        max_nodes: shown(request.max_nodes),
        max_bytes: shown(request.max_bytes),
        decls_before,
        decls_after: draft.declaration_count() as u64,
        bytes_before,
        bytes_after: draft.bytes() as u64,
        reason,
    }))
}

impl Shrink for Draft<'_, '_> {
    fn count(&self) -> u64 {
        self.declaration_count() as u64
    }

    fn bytes(&self) -> u64 {
        Draft::bytes(self) as u64
    }

    fn drop_next(&mut self) -> bool {
        Draft::drop_next(self)
    }

    fn cut_next(&mut self) -> bool {
        let Some(cut) = CUTS.get(self.cuts_made) else { return false };
        self.cuts_made += 1;
        cut(self);
        true
    }
}

type Cut = fn(&mut Draft<'_, '_>);

/// The cuts around the focus, in order. Metadata stays if the other cuts suffice; otherwise it is removed first. If the module
/// has none, the second round changes nothing.
const CUTS: [Cut; 8] = [
    prune_off_path,
    remove_clauses,
    zero_off_path,
    start_over_without_metadata,
    prune_off_path,
    remove_clauses,
    zero_off_path,
    zero_focus,
];

fn start_over_without_metadata(draft: &mut Draft<'_, '_>) {
    if draft.has_metadata && draft.focus.kind != FocusKind::Metadata {
        draft.restore_cuts();
        draft.remove_metadata();
    }
}

fn remove_clauses(draft: &mut Draft<'_, '_>) {
    draft.remove_clauses();
}

/// Replaces the body of the declaration in focus, unless the pointer is in it.
fn zero_off_path(draft: &mut Draft<'_, '_>) {
    let body = draft.focus_body();
    if let Some(body) = body.filter(|body| Some(*body) != draft.focus.field()) {
        draft.replace_field(body, Piece::Zero);
    }
}

/// The last resort: replaces the body or entry expression in focus.
fn zero_focus(draft: &mut Draft<'_, '_>) {
    if draft.focus.kind == FocusKind::Entry {
        draft.replace_entry(Piece::Zero);
    }
    if let Some(body) = draft.focus_body() {
        draft.replace_field(body, Piece::Zero);
    }
}

fn prune_off_path(draft: &mut Draft<'_, '_>) {
    let (tree, dialect, path) = (&draft.module.tree, draft.dialect, draft.focus.inside());
    if draft.focus.kind == FocusKind::Entry {
        if let Some(Piece::Node(id)) = draft.entry()
            && let Some(pruned) = prune::expression(tree, dialect, *id, path)
        {
            draft.replace_entry(pruned);
        }
        return;
    }
    let fields = draft.focus_declaration().map(|declaration| &declaration.fields);
    let Some(field) = fields.and_then(|fields| fields.iter().find(|field| Some(field.key) == draft.focus.field()))
    else {
        return;
    };
    match (field.role, &field.value) {
        (FieldRole::Body, Piece::Node(id)) => {
            if let Some(pruned) = prune::expression(tree, dialect, *id, path) {
                draft.replace_field(field.key, pruned);
            }
        }
        (FieldRole::Clause | FieldRole::Contract, value) => {
            draft.replace_field(field.key, prune::contract(tree, dialect, value, path))
        }
        _ => {}
    }
}
