//! What goes, and in which order, when a slice is larger than allowed: first other declarations from the end, then
//! what surrounds the focus, from the dispensable to the focus's own body. The focus itself never goes.

use stan_model::document::x07::{Truncation, TruncationReason};
use stan_model::jcs::MAX_SAFE_INTEGER;
use stan_model::module::{FieldRole, Piece};

use crate::draft::Draft;
use crate::enclosure::FocusKind;
use crate::{SliceError, SliceRequest, prune};

/// Cuts a draft to its bounds. A bound that does not bite leaves no trace.
pub(crate) fn enforce(draft: &mut Draft<'_, '_>, request: &SliceRequest) -> Result<Option<Truncation>, SliceError> {
    let (decls_before, bytes_before) = (draft.declaration_count() as u64, draft.bytes() as u64);
    let cut_nodes = request.max_nodes.is_some_and(|most| decls_before > most);
    if let Some(most) = request.max_nodes {
        while draft.declaration_count() as u64 > most && draft.drop_last() {}
    }
    let cut_bytes = request.max_bytes.is_some_and(|most| draft.bytes() as u64 > most);
    if let Some(max_bytes) = request.max_bytes.filter(|_| cut_bytes) {
        cut_to_bytes(draft, max_bytes)?;
    }
    let reason = match (cut_nodes, cut_bytes) {
        (false, false) => return Ok(None),
        (true, false) => TruncationReason::MaxNodes,
        (false, true) => TruncationReason::MaxBytes,
        (true, true) => TruncationReason::Both,
    };
    // A bound too large for a canonical number is as good as none: it can never have cut.
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

fn cut_to_bytes(draft: &mut Draft<'_, '_>, max_bytes: u64) -> Result<(), SliceError> {
    let fits = |draft: &Draft<'_, '_>| draft.bytes() as u64 <= max_bytes;
    while !fits(draft) && draft.drop_last() {}
    let steps: [fn(&mut Draft<'_, '_>); 4] = [remove_metadata, prune_off_path, remove_contracts, zero_focus];
    for step in steps {
        if fits(draft) {
            return Ok(());
        }
        step(draft);
    }
    if fits(draft) {
        return Ok(());
    }
    // An entry expression that is not in focus stays: it is part of what a whole document is.
    Err(SliceError::CannotTruncate { max_bytes, minimum: draft.bytes() as u64 })
}

fn remove_metadata(draft: &mut Draft<'_, '_>) {
    if draft.focus.kind != FocusKind::Metadata {
        draft.remove_metadata();
    }
}

fn remove_contracts(draft: &mut Draft<'_, '_>) {
    draft.remove_contracts();
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
        (FieldRole::Contract, value) => draft.replace_field(field.key, prune::contract(tree, dialect, value, path)),
        _ => {}
    }
}

/// The last resort: the body in focus, or the entry expression in focus.
fn zero_focus(draft: &mut Draft<'_, '_>) {
    if draft.focus.kind == FocusKind::Entry {
        draft.replace_entry(Piece::Zero);
    }
    let fields = draft.focus_declaration().map(|declaration| &declaration.fields);
    let body = fields.and_then(|fields| fields.iter().find(|field| field.role == FieldRole::Body));
    if let Some(body) = body {
        draft.replace_field(body.key, Piece::Zero);
    }
}
