//! Selects which declarations accompany the focus, and reports those that do not. Ignores bounds.

use rustc_hash::FxHashMap;
use stan_model::document::x07::{Enclosure, Omitted};
use stan_model::module::{Declaration, Dialect, FieldRole, Piece, SourceModule};

use super::enclosure::{Focus, FocusKind};
use super::{PointerSpace, SliceRequest};
use crate::plan::{Choice, References};

/// The contents of the slice before bounds are applied.
pub(crate) struct Selection<'m> {
    pub(crate) callables: Callables<'m>,
    /// Indices in the canonical module, in the order of the slice.
    pub(crate) order: Vec<usize>,
    /// For each declaration, whether it is selected. Exports that are only included for a selected name do not count.
    pub(crate) is_selected: Vec<bool>,
    pub(crate) omitted: Omitted,
    /// Whether the slice has all imports, even unused ones.
    pub(crate) all_imports: bool,
    pub(crate) missing_locals: Vec<String>,
}

impl<'m> Selection<'m> {
    /// Selects the whole canonical document.
    pub(crate) fn everything(module: &'m SourceModule<'_>) -> Self {
        let in_document = module.declarations.iter().enumerate().filter(|(_, declaration)| !declaration.only_in_focus);
        Self {
            callables: Callables::new(module),
            order: in_document.map(|(index, _)| index).collect(),
            is_selected: Choice::all_of(module.declarations.len()).into_flags(),
            omitted: Omitted::default(),
            all_imports: true,
            missing_locals: Vec::new(),
        }
    }
}

/// Follows the references of the focus as far as requested.
pub(crate) fn select<'m>(
    module: &'m SourceModule<'_>,
    dialect: &dyn Dialect,
    request: &SliceRequest,
    focus: &Focus,
) -> Selection<'m> {
    let callables = Callables::new(module);
    let with_locals = request.closure.includes_locals();
    let count = module.declarations.len();
    // The enclosure is the whole document, wherever the pointer is in it; for the toolchain, it is only the location.
    let is_whole = match focus.kind {
        FocusKind::Root => true,
        FocusKind::Imports | FocusKind::Metadata | FocusKind::Other => request.pointer_space != PointerSpace::Toolchain,
        FocusKind::Declaration(_) | FocusKind::Entry => false,
    };
    let mut choice = if is_whole { Choice::all_of(count) } else { Choice::none_of(count) };
    let graph = ReferenceGraph { module, dialect, callables: &callables };
    match focus.kind {
        FocusKind::Declaration(index) => choice.add(index),
        FocusKind::Entry if with_locals => graph.of_entry(&mut |index| choice.add(index)),
        _ => {}
    }
    if with_locals {
        choice.close(&graph);
    }
    let is_selected = choice.into_flags();
    let omitted = Omitted {
        locals: !with_locals,
        types: !(request.closure.includes_types() || forces_types(module, focus)),
        imports: !(request.closure.includes_imports() || focus.kind == FocusKind::Imports),
    };
    let missing_locals =
        if with_locals { Vec::new() } else { missing_locals(module, dialect, focus, &callables, &is_selected) };
    let order = order(module, request, focus, &callables, &is_selected);
    Selection { callables, order, is_selected, omitted, all_imports: focus.kind == FocusKind::Imports, missing_locals }
}

/// Callable declarations by name.
pub(crate) struct Callables<'m>(FxHashMap<&'m str, usize>);

impl<'m> Callables<'m> {
    pub(crate) fn new(module: &'m SourceModule<'_>) -> Self {
        let named = module.declarations.iter().enumerate().filter(|(_, declaration)| declaration.is_callable);
        Self(named.filter_map(|(index, declaration)| Some((declaration.name.as_deref()?, index))).collect())
    }

    pub(crate) fn get(&self, name: &str) -> Option<usize> {
        self.0.get(name).copied()
    }
}

/// Calls `found` with every symbol that the expressions of a declaration refer to.
pub(crate) fn references_of(
    module: &SourceModule<'_>,
    dialect: &dyn Dialect,
    declaration: &Declaration<'_>,
    found: &mut dyn FnMut(&str),
) {
    for field in &declaration.fields {
        if field.role.has_expressions() {
            references_in(module, dialect, &field.value, found);
        }
    }
}

/// As `references_of`, for one piece of a contract or a body.
pub(crate) fn references_in(
    module: &SourceModule<'_>,
    dialect: &dyn Dialect,
    piece: &Piece<'_>,
    found: &mut dyn FnMut(&str),
) {
    match piece {
        Piece::Node(id) => dialect.references(&module.tree, *id, found),
        Piece::List(items) => items.iter().for_each(|item| references_in(module, dialect, item, found)),
        Piece::Call(items) => {
            if let Some(Piece::Node(head)) = items.first()
                && let Some(head) = module.tree.string(*head)
                && let Some(symbol) = dialect.head_reference(&head)
            {
                found(symbol);
            }
            items.iter().for_each(|item| references_in(module, dialect, item, found));
        }
        Piece::Record(fields) => {
            fields.iter().for_each(|field| references_in(module, dialect, &field.value, found));
        }
        Piece::Text(_) | Piece::Zero | Piece::OwnPointer(_) => {}
    }
}

/// The declarations in the form that the planner needs.
struct ReferenceGraph<'g, 'm, 'a> {
    module: &'g SourceModule<'a>,
    dialect: &'g dyn Dialect,
    callables: &'g Callables<'m>,
}

impl ReferenceGraph<'_, '_, '_> {
    fn of_entry(&self, found: &mut dyn FnMut(usize)) {
        if let Some(entry) = self.module.entry {
            self.dialect.references(&self.module.tree, entry, &mut self.named(found));
        }
    }

    /// Calls `found` with the declaration of each symbol, if it has one.
    fn named<'f>(&'f self, found: &'f mut dyn FnMut(usize)) -> impl FnMut(&str) + 'f {
        move |symbol| {
            if let Some(index) = self.callables.get(symbol) {
                found(index);
            }
        }
    }
}

impl References for ReferenceGraph<'_, '_, '_> {
    fn references(&self, declaration: usize, found: &mut dyn FnMut(usize)) {
        let Some(declaration) = self.module.declarations.get(declaration) else { return };
        let mut named = self.named(found);
        if let Some(exports) = &declaration.exports {
            exports.names.iter().for_each(|name| named(name));
        }
        references_of(self.module, self.dialect, declaration, &mut named);
    }
}

/// A pointer into type fields includes all of them: the focus is never left out.
fn forces_types(module: &SourceModule<'_>, focus: &Focus) -> bool {
    let Some(declaration) = focus.declaration().and_then(|index| module.declarations.get(index)) else { return false };
    let Some(field) = declaration.fields.iter().find(|field| Some(field.key) == focus.field()) else { return false };
    field.role == FieldRole::Type || field.role.is_contract() || leads_to_type(&field.value, focus.inside())
}

fn leads_to_type(piece: &Piece<'_>, tokens: &[String]) -> bool {
    let Some((token, rest)) = tokens.split_first() else { return false };
    match piece {
        Piece::List(items) => stan_model::json::array_index(token)
            .and_then(|index| items.get(index))
            .is_some_and(|item| leads_to_type(item, rest)),
        Piece::Record(fields) => fields
            .iter()
            .find(|field| field.key == token)
            .is_some_and(|field| field.role == FieldRole::Type || leads_to_type(&field.value, rest)),
        _ => false,
    }
}

fn missing_locals(
    module: &SourceModule<'_>,
    dialect: &dyn Dialect,
    focus: &Focus,
    callables: &Callables<'_>,
    is_selected: &[bool],
) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut seen = vec![false; is_selected.len()];
    let mut found = |symbol: &str| {
        let Some(index) = callables.get(symbol) else { return };
        let is_new = !is_selected.get(index).copied().unwrap_or(true)
            && seen.get_mut(index).is_some_and(|seen| !std::mem::replace(seen, true));
        if is_new {
            names.push(symbol.to_owned());
        }
    };
    match focus.kind {
        FocusKind::Declaration(index) => {
            if let Some(declaration) = module.declarations.get(index) {
                references_of(module, dialect, declaration, &mut found);
            }
        }
        FocusKind::Entry => {
            if let Some(entry) = module.entry {
                dialect.references(&module.tree, entry, &mut found);
            }
        }
        _ => {}
    }
    names.sort_unstable();
    names
}

/// The order of the slice, with the exports that name a selected declaration.
fn order(
    module: &SourceModule<'_>,
    request: &SliceRequest,
    focus: &Focus,
    callables: &Callables<'_>,
    is_selected: &[bool],
) -> Vec<usize> {
    let is_in = |name: &str| callables.get(name).is_some_and(|index| is_selected.get(index) == Some(&true));
    let first = focus.declaration().filter(|_| request.enclosure != Enclosure::Module);
    let joins = |index: usize, declaration: &Declaration<'_>| match &declaration.exports {
        // Leave out an export without names in the slice, unless it is the focus.
        Some(exports) => {
            let is_focus = focus.declaration() == Some(index);
            is_focus || (!declaration.only_in_focus && exports.names.iter().any(|name| is_in(name)))
        }
        None => is_selected.get(index) == Some(&true),
    };
    let rest = module
        .declarations
        .iter()
        .enumerate()
        .filter(|&(index, declaration)| Some(index) != first && joins(index, declaration))
        .map(|(index, _)| index);
    first.into_iter().chain(rest).collect()
}
