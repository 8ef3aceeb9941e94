//! What goes, and in which order, when a slice is larger than allowed: first all other declarations from the end, then
//! what surrounds the focus, from the dispensable to the focus's own body. The focus itself never goes. Every state on
//! this way is measured as it would be written, and the first one that fits is taken.

use stan_model::document::x07::{Truncation, TruncationReason};
use stan_model::jcs::MAX_SAFE_INTEGER;
use stan_model::module::{FieldRole, Piece};

use crate::draft::Draft;
use crate::enclosure::FocusKind;
use crate::{SliceError, SliceRequest, prune};

/// Cuts a draft to its bounds. A bound that does not bite leaves no trace.
pub(crate) fn enforce(draft: &mut Draft<'_, '_>, request: &SliceRequest) -> Result<Option<Truncation>, SliceError> {
    let (decls_before, bytes_before) = (draft.declaration_count() as u64, draft.bytes() as u64);
    let mut cut = Cut::default();
    if let Some(most) = request.max_nodes {
        cut.nodes = draft.declaration_count() as u64 > most;
        while draft.declaration_count() as u64 > most && draft.drop_last() {}
    }
    if let Some(max_bytes) = request.max_bytes.filter(|&most| draft.bytes() as u64 > most) {
        cut.bytes = true;
        cut_to_bytes(draft, max_bytes)?;
    }
    let reason = match (cut.nodes, cut.bytes) {
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

/// Which bounds did cut.
#[derive(Default)]
struct Cut {
    nodes: bool,
    bytes: bool,
}

fn cut_to_bytes(draft: &mut Draft<'_, '_>, max_bytes: u64) -> Result<(), SliceError> {
    let mut fit = Fit { max_bytes, smallest: u64::MAX };
    while !fit.is_met(draft) {
        if !draft.drop_last() {
            return cut_around_focus(draft, &mut fit);
        }
    }
    Ok(())
}

/// The bound, and the smallest state that was seen on the way to it.
struct Fit {
    max_bytes: u64,
    smallest: u64,
}

impl Fit {
    fn is_met(&mut self, draft: &Draft<'_, '_>) -> bool {
        let bytes = draft.bytes() as u64;
        self.smallest = self.smallest.min(bytes);
        bytes <= self.max_bytes
    }
}

/// Cuts what surrounds the focus. Metadata stays when the other cuts suffice; otherwise it is the first to go.
fn cut_around_focus(draft: &mut Draft<'_, '_>, fit: &mut Fit) -> Result<(), SliceError> {
    let steps: [Step; 3] = [prune_off_path, remove_clauses, zero_off_path];
    if cut_until_it_fits(draft, fit, &steps) {
        return Ok(());
    }
    if draft.has_metadata && draft.focus.kind != FocusKind::Metadata {
        draft.restore_cuts();
        draft.remove_metadata();
        if cut_until_it_fits(draft, fit, &steps) {
            return Ok(());
        }
    }
    if cut_until_it_fits(draft, fit, &[zero_focus]) {
        return Ok(());
    }
    // An entry expression that is not in focus stays: it is part of what a whole document is.
    Err(SliceError::CannotTruncate { max_bytes: fit.max_bytes, minimum: fit.smallest })
}

type Step = fn(&mut Draft<'_, '_>);

fn cut_until_it_fits(draft: &mut Draft<'_, '_>, fit: &mut Fit, steps: &[Step]) -> bool {
    for step in steps {
        if fit.is_met(draft) {
            return true;
        }
        step(draft);
    }
    fit.is_met(draft)
}

fn remove_clauses(draft: &mut Draft<'_, '_>) {
    draft.remove_clauses();
}

/// The body of the declaration in focus, unless the pointer is in it.
fn zero_off_path(draft: &mut Draft<'_, '_>) {
    let body = draft.focus_body();
    if let Some(body) = body.filter(|body| Some(*body) != draft.focus.field()) {
        draft.replace_field(body, Piece::Zero);
    }
}

/// The last resort: the body in focus, or the entry expression in focus.
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
