//! The slice while it is being cut: how each declaration is written, what the document around them costs, and what uses which
//! import. Which declarations are in, and what they cost together, is `plan::Parts`. Imports and exported names that a cut made
//! idle still count: they go afterwards, in `narrow`. Deciding what to drop is the planner's job.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use stan_model::document::x07::{Enclosure, Missing};
use stan_model::jcs::{self, JcsError, escape_pointer_token};
use stan_model::module::{Declaration, Dialect, FieldRole, Piece, SourceModule};

use super::SliceRequest;
use super::closure::{Selection, references_in};
use super::emit::{self, Changes, Counter, Strip};
use super::enclosure::{Focus, FocusKind};
use crate::plan::{Cost, Parts};

/// A slice in the making.
pub(crate) struct Draft<'m, 'a> {
    pub(crate) module: &'m SourceModule<'a>,
    pub(crate) dialect: &'m dyn Dialect,
    pub(crate) focus: &'m Focus,
    /// The declarations of the slice in their order, whether in or dropped.
    pub(crate) parts: Vec<Part>,
    /// The same as the planner sees them.
    pub(crate) plan: Parts,
    /// How the declaration in focus is written; all others only lose their types.
    pub(crate) changes: Changes<'a>,
    /// How the others are written.
    pub(crate) plain: Changes<'a>,
    /// What the slice will lack in the end, whatever is measured before.
    pub(crate) final_strip: Strip,
    pub(crate) entry: Option<Piece<'a>>,
    pub(crate) has_metadata: bool,
    pub(crate) writes_imports: bool,
    pub(crate) all_imports: bool,
    pub(crate) kind: &'static str,
    /// For each import, whether something in the slice uses it.
    pub(crate) is_used: Vec<bool>,
    /// For each import, the last part that was seen to use it: makes each part count once.
    import_stamps: Vec<u32>,
    stamp: u32,
    import_index: FxHashMap<&'m str, usize>,
    pub(crate) costs: Costs,
}

/// What the parts of the document cost now, without commas.
#[derive(Default)]
pub(crate) struct Costs {
    skeleton: usize,
    pub(crate) imports: usize,
    pub(crate) import_count: usize,
    entry: usize,
    metadata: usize,
}

/// One declaration of the slice.
pub(crate) struct Part {
    pub(crate) index: usize,
    /// Bytes, without the digits of own pointers and without exported names.
    bytes: usize,
    own_pointers: usize,
    pub(crate) imports: Vec<usize>,
    pub(crate) exports: Option<Exports>,
}

/// The exported names that are still in.
pub(crate) struct Exports {
    pub(crate) is_in: Vec<bool>,
    /// For each name, the selected declaration of that name.
    pub(crate) owners: Vec<Option<usize>>,
    pub(crate) count: usize,
    pub(crate) bytes: usize,
    /// A name that the pointer leads to; it stays.
    pub(crate) pinned: Option<usize>,
}

impl<'m, 'a> Draft<'m, 'a> {
    pub(crate) fn new(
        module: &'m SourceModule<'a>,
        dialect: &'m dyn Dialect,
        request: &SliceRequest,
        focus: &'m Focus,
        selection: &Selection<'m>,
    ) -> Self {
        let is_whole = request.enclosure == Enclosure::Module;
        let kind = if is_whole { module.kind } else { module.fragment_kind };
        // A pointer into an entry expression keeps it, even in a document whose kind should have none.
        let has_entry =
            is_whole && (module.kind_has_entry || (focus.kind == FocusKind::Entry && module.entry.is_some()));
        let final_strip = if selection.omitted.types { Strip::TypesAndContracts } else { Strip::Nothing };
        // A bound is measured with the contracts that the toolchain keeps: leaving them out meets no bound.
        let has_bounds = request.max_nodes.is_some() || request.max_bytes.is_some();
        let strip = if has_bounds && selection.omitted.types { Strip::Types } else { final_strip };
        let mut draft = Self {
            module,
            dialect,
            focus,
            parts: Vec::with_capacity(selection.order.len()),
            plan: Parts::default(),
            changes: Changes { strip, ..Changes::default() },
            plain: Changes { strip, ..Changes::default() },
            final_strip,
            entry: has_entry.then(|| module.entry.map_or(Piece::Zero, Piece::Node)),
            has_metadata: module.metadata.is_some(),
            writes_imports: !selection.omitted.imports,
            all_imports: selection.all_imports,
            kind,
            is_used: vec![false; module.imports.len()],
            import_stamps: vec![0; module.imports.len()],
            stamp: 0,
            import_index: module.imports.iter().enumerate().map(|(index, name)| (&**name, index)).collect(),
            costs: Costs::default(),
        };
        draft.count_skeleton();
        for &index in &selection.order {
            draft.push_part(index, selection);
        }
        draft.count_entry();
        draft
    }

    /// The length of the slice as it stands.
    pub(crate) fn bytes(&self) -> usize {
        let costs = &self.costs;
        let imports = if self.writes_imports { costs.imports + costs.import_count.saturating_sub(1) } else { 0 };
        costs.skeleton
            + self.plan.bytes()
            + self.plan.count().saturating_sub(1)
            + imports
            + costs.entry
            + if self.has_metadata { costs.metadata } else { 0 }
    }

    pub(crate) fn declaration_count(&self) -> usize {
        self.plan.count()
    }

    /// Drops the last declaration that is not in focus. Tells whether there was one.
    pub(crate) fn drop_last(&mut self) -> bool {
        self.plan.drop_last()
    }

    pub(crate) fn remove_metadata(&mut self) {
        self.has_metadata = false;
    }

    /// Takes back every cut but the dropped declarations.
    pub(crate) fn restore_cuts(&mut self) {
        self.has_metadata = self.module.metadata.is_some();
        if self.entry.is_some() {
            self.replace_entry(self.module.entry.map_or(Piece::Zero, Piece::Node));
        }
        self.changes.removed.clear();
        self.changes.replaced.clear();
        self.recount_focus();
    }

    /// Takes back every cut and every drop, and leaves out some parts from the start.
    pub(crate) fn start_over_without(&mut self, numbers: &[usize]) {
        self.restore_cuts();
        let parts = &self.parts;
        let is_export = |number: usize| parts.get(number).is_some_and(|part| part.exports.is_some());
        // What was left out in an earlier start stays out: an export never comes back.
        self.plan.start_over(|number, was_in| !numbers.contains(&number) && (was_in || !is_export(number)));
    }

    /// The declaration in focus.
    pub(crate) fn focus_declaration(&self) -> Option<&'m Declaration<'a>> {
        self.module.declarations.get(self.focus.declaration()?)
    }

    /// The key of its body, when it has one.
    pub(crate) fn focus_body(&self) -> Option<&'static str> {
        let fields = &self.focus_declaration()?.fields;
        fields.iter().find(|field| field.role == FieldRole::Body).map(|field| field.key)
    }

    /// Writes a field of the declaration in focus with another value.
    pub(crate) fn replace_field(&mut self, key: &'static str, value: Piece<'a>) {
        self.changes.replaced.push((key, value));
        self.recount_focus();
    }

    /// Cuts the clauses of the declaration in focus, but not those that the pointer is in.
    pub(crate) fn remove_clauses(&mut self) {
        let Some(declaration) = self.focus_declaration() else { return };
        let inside = self.focus.field();
        let clauses = declaration.fields.iter().filter(|field| field.role == FieldRole::Clause);
        self.changes.removed.extend(clauses.map(|field| field.key).filter(|&key| Some(key) != inside));
        self.recount_focus();
    }

    pub(crate) fn entry(&self) -> Option<&Piece<'a>> {
        self.entry.as_ref()
    }

    pub(crate) fn replace_entry(&mut self, value: Piece<'a>) {
        self.entry = Some(value);
        self.count_entry();
    }

    /// The names of dropped declarations, in the order of the slice; the kind where there is no name.
    pub(crate) fn dropped_names(&self) -> Vec<String> {
        let dropped = self.parts.iter().enumerate().filter(|(number, _)| !self.plan.is_in(*number));
        let declarations = dropped.filter_map(|(_, part)| self.module.declarations.get(part.index));
        declarations.map(|declaration| declaration.name.as_deref().unwrap_or(declaration.kind).to_owned()).collect()
    }

    /// Where the pointer leads in the slice, when that is another place than the one that was given.
    pub(crate) fn focus_pointer(&self) -> Option<String> {
        let mut tokens = self.focus.tokens.clone();
        if let Some(part) = self.plan.focus() {
            let token = tokens.get_mut(1)?;
            *token = self.plan.position(part).to_string();
            let exports = self.parts.get(part).and_then(|part| part.exports.as_ref());
            // All names, only sorted, in an export that keeps its place are no move.
            let is_whole = exports.is_none_or(|exports| exports.count == exports.is_in.len());
            if is_whole && self.focus.given.get(1) == Some(token) {
                return None;
            }
            if let Some((exports, pinned)) = exports.and_then(|exports| Some((exports, exports.pinned?)))
                && let Some(token) = tokens.get_mut(3)
            {
                *token = exports.is_in.iter().take(pinned).filter(|is_in| **is_in).count().to_string();
            }
        }
        let pointer = || tokens.iter().flat_map(|token| ["/".to_owned(), escape_pointer_token(token)]).collect();
        (tokens != self.focus.given).then(pointer)
    }

    /// What the categories left out would have brought, before any bound.
    pub(crate) fn missing(&mut self, selection: &Selection<'_>) -> Missing {
        let mut missing = Missing { locals: selection.missing_locals.clone(), ..Missing::default() };
        if selection.omitted.imports {
            missing.imports = self.imports_of_selection(selection);
        }
        if selection.omitted.types {
            let declarations = selection.order.iter().filter_map(|&index| self.module.declarations.get(index));
            missing.types = declarations.flat_map(|declaration| &declaration.type_labels).map(Cow::to_string).collect();
            missing.types.sort_unstable();
            missing.types.dedup();
        }
        missing
    }

    /// The imports that the entry expression and all that is selected would use, whole.
    fn imports_of_selection(&mut self, selection: &Selection<'_>) -> Vec<String> {
        let entry = self.module.entry.map(Piece::Node);
        let declarations = selection.order.iter().filter_map(|&index| self.module.declarations.get(index));
        let fields = declarations.flat_map(|declaration| &declaration.fields);
        let expressions = fields.filter(|field| field.role.has_expressions());
        let mut uses = self.imports_of(entry.iter().chain(expressions.map(|field| &field.value)));
        uses.sort_unstable();
        uses.iter().filter_map(|&import| self.module.imports.get(import)).map(Cow::to_string).collect()
    }

    /// Looks for a number in the slice that canonical JSON cannot hold.
    pub(crate) fn check_numbers(&self) -> Result<(), JcsError> {
        let metadata = self.module.metadata.filter(|_| self.has_metadata);
        let pointer = format!("/{}", self.dialect.keys().metadata);
        metadata.map_or(Ok(()), |metadata| self.module.tree.check_integers(metadata, &pointer))
    }

    pub(crate) fn changes_of(&self, part: usize) -> &Changes<'a> {
        if Some(part) == self.plan.focus() { &self.changes } else { &self.plain }
    }

    fn count_skeleton(&mut self) {
        let keys = self.dialect.keys();
        let mut bytes = "{}".len() + "[]".len() * 2 + jcs::string_len(self.kind);
        let texts = self.module.fixed.iter().map(|(key, text)| (*key, jcs::string_len(text)));
        bytes += texts.map(|(key, length)| key.len() + "\"\":,".len() + length).sum::<usize>();
        for key in [keys.kind, keys.declarations, keys.imports] {
            bytes += key.len() + "\"\":,".len();
        }
        // One comma too many was counted: the last field has none.
        self.costs.skeleton = bytes - 1;
        if let Some(metadata) = self.module.metadata {
            self.costs.metadata = keys.metadata.len() + "\"\":,".len() + self.module.tree.canonical_len(metadata);
        }
        if self.all_imports {
            self.costs.import_count = self.module.imports.len();
            self.costs.imports = self.module.imports.iter().map(|name| jcs::string_len(name)).sum();
        }
    }

    fn count_entry(&mut self) {
        self.costs.entry = 0;
        let Some(entry) = self.entry.take() else { return };
        let key = self.dialect.keys().entry;
        self.costs.entry = key.len()
            + "\"\":,".len()
            + self
                .count(|counter, tree| {
                    emit::piece(counter, tree, &entry, Strip::Nothing);
                })
                .bytes;
        let uses = self.imports_of([&entry]);
        self.use_imports(&uses);
        self.entry = Some(entry);
    }

    fn count(&self, write: impl FnOnce(&mut Counter, &stan_model::json::JsonTree<'a>)) -> Counter {
        let mut counter = Counter { declarations_key: self.dialect.keys().declarations, bytes: 0, own_pointers: 0 };
        write(&mut counter, &self.module.tree);
        counter
    }

    fn push_part(&mut self, index: usize, selection: &Selection<'_>) {
        let Some(declaration) = self.module.declarations.get(index) else { return };
        let is_focus = self.focus.declaration() == Some(index);
        let exports = self.exports_of(is_focus, declaration, selection);
        let mut part = Part { index, bytes: 0, own_pointers: 0, imports: Vec::new(), exports };
        self.count_part(is_focus, &mut part, declaration);
        self.use_imports(&part.imports);
        self.plan.push(part.cost(), is_focus);
        self.parts.push(part);
    }

    /// Bytes and imports of a part, as it is written now.
    fn count_part(&mut self, is_focus: bool, part: &mut Part, declaration: &Declaration<'a>) {
        let names_key = self.dialect.keys().exported_names;
        let counter = self.count(|counter, tree| {
            let names = part.exports.is_some().then_some((names_key, [].as_slice()));
            let changes = if is_focus { &self.changes } else { &self.plain };
            emit::declaration(counter, tree, declaration, changes, names);
        });
        part.bytes = counter.bytes;
        part.own_pointers = counter.own_pointers;
        // Borrowing the changes and marking imports exclude each other, so the changes step aside.
        let final_strip = self.final_strip;
        let changes = std::mem::take(if is_focus { &mut self.changes } else { &mut self.plain });
        let expressions = declaration
            .fields
            .iter()
            .filter(|field| field.role.has_expressions() && !final_strip.strips(field))
            .filter_map(|field| changes.apply(field));
        part.imports = self.imports_of(expressions);
        *(if is_focus { &mut self.changes } else { &mut self.plain }) = changes;
    }

    fn recount_focus(&mut self) {
        if let Some(number) = self.plan.focus() {
            self.recount_part(number);
        }
    }

    /// Counts a part again that is written otherwise now.
    pub(crate) fn recount_part(&mut self, number: usize) {
        let Some(slot) = self.parts.get_mut(number) else { return };
        let placeholder = Part { index: 0, bytes: 0, own_pointers: 0, imports: Vec::new(), exports: None };
        let mut part = std::mem::replace(slot, placeholder);
        if let Some(declaration) = self.module.declarations.get(part.index) {
            self.count_part(Some(number) == self.plan.focus(), &mut part, declaration);
        }
        self.plan.set_cost(number, part.cost());
        if let Some(slot) = self.parts.get_mut(number) {
            *slot = part;
        }
    }

    fn exports_of(&self, is_focus: bool, declaration: &Declaration<'a>, selection: &Selection<'_>) -> Option<Exports> {
        let list = declaration.exports.as_ref()?;
        let owner =
            |name: &str| selection.callables.get(name).filter(|&index| selection.is_selected.get(index) == Some(&true));
        let owners: Vec<Option<usize>> = list.names.iter().map(|name| owner(name)).collect();
        let pinned = is_focus.then(|| self.focus.inside().first().and_then(|token| token.parse().ok())).flatten();
        // An export in focus keeps its names when what they name was not asked for.
        let keeps_all = is_focus && owners.iter().all(Option::is_none);
        let is_in: Vec<bool> = owners
            .iter()
            .enumerate()
            .map(|(name, owner)| keeps_all || owner.is_some() || Some(name) == pinned)
            .collect();
        let lengths = list.names.iter().zip(&is_in).filter(|(_, is_in)| **is_in);
        let bytes = lengths.map(|(name, _)| jcs::string_len(name)).sum();
        Some(Exports { count: is_in.iter().filter(|is_in| **is_in).count(), is_in, owners, bytes, pinned })
    }

    /// Sums up the parts that are in, as they are now.
    pub(crate) fn recount_declarations(&mut self) {
        let parts = &self.parts;
        self.plan.recount(|number| parts.get(number).map(Part::cost).unwrap_or_default());
    }

    pub(crate) fn imports_of<'p>(&mut self, expressions: impl IntoIterator<Item = &'p Piece<'a>>) -> Vec<usize>
    where
        'a: 'p,
    {
        self.stamp += 1;
        let (module, dialect, stamp) = (self.module, self.dialect, self.stamp);
        let (index, stamps) = (&self.import_index, &mut self.import_stamps);
        let mut uses = Vec::new();
        for expression in expressions {
            references_in(module, dialect, expression, &mut |symbol| {
                let import = dialect.module_of(symbol).and_then(|module| index.get(module).copied());
                let Some(import) = import else { return };
                if stamps.get_mut(import).is_some_and(|last| std::mem::replace(last, stamp) != stamp) {
                    uses.push(import);
                }
            });
        }
        uses
    }

    pub(crate) fn use_imports(&mut self, imports: &[usize]) {
        for &import in imports {
            let Some(is_used) = self.is_used.get_mut(import) else { continue };
            if !std::mem::replace(is_used, true) && !self.all_imports {
                self.costs.import_count += 1;
                self.costs.imports += self.module.imports.get(import).map_or(0, |name| jcs::string_len(name));
            }
        }
    }
}

impl Part {
    fn cost(&self) -> Cost {
        let names = self.exports.as_ref().map_or(0, |exports| exports.bytes + exports.count.saturating_sub(1));
        Cost { bytes: self.bytes + names, positions: self.own_pointers }
    }
}
