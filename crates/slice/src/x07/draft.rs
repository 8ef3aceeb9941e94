//! A slice that is being cut: how each declaration is written, the cost of the document around them, and which part uses which
//! import. `plan::Parts` tracks which declarations are kept and their total cost. Unused imports, and exported names of dropped
//! declarations (`exports`), are removed together with the declarations, so that the counted bytes are always those that would be
//! written. The planner decides what to drop.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use stan_model::document::x07::{Enclosure, Missing};
use stan_model::jcs::{self, JcsError, escape_pointer_token};
use stan_model::module::{Declaration, Dialect, FieldRole, Piece, SourceModule};

use super::SliceRequest;
use super::closure::{Selection, references_in};
use super::emit::{self, Changes, Counter, KeptNames, Strip};
use super::enclosure::{Focus, FocusKind};
use super::exports::Exports;
use crate::plan::{Cost, Parts};

/// A slice that is being cut.
pub(crate) struct Draft<'m, 'a> {
    pub(crate) module: &'m SourceModule<'a>,
    pub(crate) dialect: &'m dyn Dialect,
    pub(crate) focus: &'m Focus,
    /// The declarations of the slice in order, kept or dropped.
    pub(crate) parts: Vec<DraftPart>,
    /// The same in the planner's form.
    pub(crate) plan: Parts,
    /// The changes to the declaration in focus; all others only lose their types.
    pub(crate) changes: Changes<'a>,
    /// The changes to all others.
    pub(crate) plain: Changes<'a>,
    pub(crate) entry: Option<Piece<'a>>,
    pub(crate) has_metadata: bool,
    pub(crate) writes_imports: bool,
    pub(crate) all_imports: bool,
    pub(crate) kind: &'static str,
    /// The number of cuts around the focus so far.
    pub(crate) cuts_made: usize,
    /// For each import, the number of declarations in the slice that use it; the entry expression counts too.
    pub(crate) import_uses: Vec<u32>,
    entry_imports: Vec<usize>,
    /// For each declaration, the exports of the slice that name it: the part, and the index of the name.
    pub(crate) exported_in: FxHashMap<usize, Vec<(usize, usize)>>,
    /// For each import, the last part found to use it, so that each part counts once.
    import_stamps: Vec<u32>,
    stamp: u32,
    import_index: FxHashMap<&'m str, usize>,
    costs: Costs,
}

/// The current cost of the parts of the document, without commas.
#[derive(Default)]
struct Costs {
    skeleton: usize,
    imports: usize,
    import_count: usize,
    entry: usize,
    metadata: usize,
}

/// One declaration of the slice.
pub(crate) struct DraftPart {
    pub(crate) index: usize,
    /// Without the digits of own pointers and without exported names.
    bytes: usize,
    own_pointers: usize,
    imports: Vec<usize>,
    pub(crate) exports: Option<Exports>,
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
        // A pointer into an entry expression keeps it, even if the document's kind should have none.
        let has_entry =
            is_whole && (module.kind_has_entry || (focus.kind == FocusKind::Entry && module.entry.is_some()));
        let strip = if selection.omitted.types { Strip::TypesAndContracts } else { Strip::Nothing };
        let mut draft = Self {
            module,
            dialect,
            focus,
            parts: Vec::with_capacity(selection.order.len()),
            plan: Parts::default(),
            changes: Changes { strip, ..Changes::default() },
            plain: Changes { strip, ..Changes::default() },
            entry: has_entry.then(|| module.entry.map_or(Piece::Zero, Piece::Node)),
            has_metadata: module.metadata.is_some(),
            writes_imports: !selection.omitted.imports,
            all_imports: selection.all_imports,
            kind,
            cuts_made: 0,
            import_uses: vec![0; module.imports.len()],
            entry_imports: Vec::new(),
            exported_in: FxHashMap::default(),
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

    /// The current length of the slice.
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

    /// Drops the last declaration that is not in focus, or the export that would lose its last name by that. Returns false if
    /// there is nothing to drop.
    pub(crate) fn drop_next(&mut self) -> bool {
        let Some(last) = self.plan.last() else { return false };
        let number = self.export_left_without_names_by(last).unwrap_or(last);
        self.plan.remove(number);
        if let Some(part) = self.parts.get_mut(number) {
            let (index, imports) = (part.index, std::mem::take(&mut part.imports));
            self.release_imports(&imports);
            self.drop_exported_name(index);
        }
        true
    }

    pub(crate) fn remove_metadata(&mut self) {
        self.has_metadata = false;
    }

    /// Undoes every cut; dropped declarations stay dropped.
    pub(crate) fn restore_cuts(&mut self) {
        self.has_metadata = self.module.metadata.is_some();
        if self.entry.is_some() {
            self.replace_entry(self.module.entry.map_or(Piece::Zero, Piece::Node));
        }
        self.changes.removed.clear();
        self.changes.replaced.clear();
        self.recount_focus();
    }

    /// The declaration in focus.
    pub(crate) fn focus_declaration(&self) -> Option<&'m Declaration<'a>> {
        self.module.declarations.get(self.focus.declaration()?)
    }

    /// The key of its body, if it has one.
    pub(crate) fn focus_body(&self) -> Option<&'static str> {
        let fields = &self.focus_declaration()?.fields;
        fields.iter().find(|field| field.role == FieldRole::Body).map(|field| field.key)
    }

    /// Replaces the value of a field of the declaration in focus.
    pub(crate) fn replace_field(&mut self, key: &'static str, value: Piece<'a>) {
        self.changes.replaced.push((key, value));
        self.recount_focus();
    }

    /// Cuts the clauses of the declaration in focus, except the one that contains the pointer.
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
        self.set_entry(Some(value));
    }

    /// Replaces or removes the entry expression.
    pub(crate) fn set_entry(&mut self, entry: Option<Piece<'a>>) {
        self.entry = entry;
        self.count_entry();
    }

    /// The names of dropped declarations, in the order of the slice; the kind for a declaration without a name.
    pub(crate) fn dropped_names(&self) -> Vec<String> {
        let dropped = self.parts.iter().enumerate().filter(|(number, _)| !self.plan.is_in(*number));
        let declarations = dropped.filter_map(|(_, part)| self.module.declarations.get(part.index));
        declarations.map(|declaration| declaration.name.as_deref().unwrap_or(declaration.kind).to_owned()).collect()
    }

    /// The pointer to the focus in the slice, if it differs from the given one.
    pub(crate) fn focus_pointer(&self) -> Option<String> {
        let mut tokens = self.focus.tokens.clone();
        if let Some(part) = self.plan.focus() {
            let token = tokens.get_mut(1)?;
            *token = self.plan.position(part).to_string();
            let exports = self.parts.get(part).and_then(|part| part.exports.as_ref());
            // Sorting the names of a complete export does not count as a move.
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

    /// What the categories left out would have added, ignoring bounds.
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

    /// The imports that the entry expression and the whole selection would use.
    fn imports_of_selection(&mut self, selection: &Selection<'_>) -> Vec<String> {
        let entry = self.module.entry.map(Piece::Node);
        let declarations = selection.order.iter().filter_map(|&index| self.module.declarations.get(index));
        let fields = declarations.flat_map(|declaration| &declaration.fields);
        let expressions = fields.filter(|field| field.role.has_expressions());
        let mut uses = self.imports_of(entry.iter().chain(expressions.map(|field| &field.value)));
        uses.sort_unstable();
        uses.iter().filter_map(|&import| self.module.imports.get(import)).map(Cow::to_string).collect()
    }

    /// Finds numbers in the slice that canonical JSON cannot represent.
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
        // The last field has no comma.
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
        let entry = self.entry.take();
        self.costs.entry = entry.as_ref().map_or(0, |entry| {
            let counter = self.count(|counter, tree| emit::piece(counter, tree, entry, Strip::Nothing));
            self.dialect.keys().entry.len() + "\"\":,".len() + counter.bytes
        });
        let uses = self.imports_of(&entry);
        self.use_imports(&uses);
        let before = std::mem::replace(&mut self.entry_imports, uses);
        self.release_imports(&before);
        self.entry = entry;
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
        self.remember_owners(self.parts.len(), exports.as_ref());
        let mut part = DraftPart { index, bytes: 0, own_pointers: 0, imports: Vec::new(), exports };
        self.count_part(is_focus, &mut part, declaration);
        self.use_imports(&part.imports);
        self.plan.push(part.cost(), is_focus);
        self.parts.push(part);
    }

    /// Counts the bytes and imports of a part as currently written.
    fn count_part(&mut self, is_focus: bool, part: &mut DraftPart, declaration: &Declaration<'a>) {
        let key = self.dialect.keys().exported_names;
        let counter = self.count(|counter, tree| {
            // The costs of the names are counted separately, because they change when declarations are dropped.
            let kept = part.exports.is_some().then_some(KeptNames { key, names: &[] });
            let changes = if is_focus { &self.changes } else { &self.plain };
            emit::declaration(counter, tree, declaration, changes, kept);
        });
        part.bytes = counter.bytes;
        part.own_pointers = counter.own_pointers;
        // `imports_of` needs `&mut self`, so take the changes out for the duration.
        let changes = std::mem::take(if is_focus { &mut self.changes } else { &mut self.plain });
        let expressions = declaration
            .fields
            .iter()
            .filter(|field| field.role.has_expressions())
            .filter_map(|field| changes.apply(field));
        part.imports = self.imports_of(expressions);
        *(if is_focus { &mut self.changes } else { &mut self.plain }) = changes;
    }

    fn recount_focus(&mut self) {
        if let Some(number) = self.plan.focus() {
            self.recount_part(number);
        }
    }

    /// Recounts a part whose changes are different now.
    fn recount_part(&mut self, number: usize) {
        let Some(slot) = self.parts.get_mut(number) else { return };
        let placeholder = DraftPart { index: 0, bytes: 0, own_pointers: 0, imports: Vec::new(), exports: None };
        let mut part = std::mem::replace(slot, placeholder);
        if let Some(declaration) = self.module.declarations.get(part.index) {
            let before = std::mem::take(&mut part.imports);
            self.count_part(Some(number) == self.plan.focus(), &mut part, declaration);
            self.use_imports(&part.imports);
            self.release_imports(&before);
        }
        self.plan.set_cost(number, part.cost());
        if let Some(slot) = self.parts.get_mut(number) {
            *slot = part;
        }
    }

    fn imports_of<'p>(&mut self, expressions: impl IntoIterator<Item = &'p Piece<'a>>) -> Vec<usize>
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

    fn use_imports(&mut self, imports: &[usize]) {
        for &import in imports {
            let Some(uses) = self.import_uses.get_mut(import) else { continue };
            *uses += 1;
            if *uses == 1 && !self.all_imports {
                self.costs.import_count += 1;
                self.costs.imports += self.module.imports.get(import).map_or(0, |name| jcs::string_len(name));
            }
        }
    }

    fn release_imports(&mut self, imports: &[usize]) {
        for &import in imports {
            let Some(uses) = self.import_uses.get_mut(import) else { continue };
            *uses -= 1;
            if *uses == 0 && !self.all_imports {
                self.costs.import_count -= 1;
                self.costs.imports -= self.module.imports.get(import).map_or(0, |name| jcs::string_len(name));
            }
        }
    }
}

impl DraftPart {
    /// The cost, with the exported names that are kept.
    pub(crate) fn cost(&self) -> Cost {
        let names = self.exports.as_ref().map_or(0, Exports::cost);
        Cost { bytes: self.bytes + names, positions: self.own_pointers }
    }
}
