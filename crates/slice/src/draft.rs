//! The slice while it is being cut: which declarations are in, what each costs, and what uses which import.
//!
//! Every cost is counted when it comes in and subtracted when it goes, so that a thousand drops cost as much as one
//! look at each declaration. Deciding what to drop is `bounds`' job.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use stan_model::document::x07::{Enclosure, Missing};
use stan_model::jcs::{self, JcsError, escape_pointer_token};
use stan_model::module::{Declaration, Dialect, FieldRole, Piece, SourceModule};

use crate::SliceRequest;
use crate::closure::{Selection, references_in};
use crate::emit::{self, Changes, Counter, Separator, Sink, Writer};
use crate::enclosure::{Focus, FocusKind};

/// A slice in the making.
pub(crate) struct Draft<'m, 'a> {
    pub(crate) module: &'m SourceModule<'a>,
    pub(crate) dialect: &'m dyn Dialect,
    pub(crate) focus: &'m Focus,
    parts: Vec<Part>,
    focus_part: Option<usize>,
    /// How the declaration in focus is written; all others only lose their types.
    changes: Changes<'a>,
    /// How the others are written.
    plain: Changes<'a>,
    entry: Option<Piece<'a>>,
    has_metadata: bool,
    writes_imports: bool,
    all_imports: bool,
    kind: &'static str,
    /// For each import, how many parts use it.
    import_uses: Vec<u32>,
    /// For each import, the last part that was seen to use it: makes each part count once.
    import_stamps: Vec<u32>,
    stamp: u32,
    import_index: FxHashMap<&'m str, usize>,
    /// Exports by the declarations they name.
    named_by: FxHashMap<usize, Vec<(usize, usize)>>,
    /// Parts before this one may still be in.
    end: usize,
    costs: Costs,
}

/// What the parts of the document cost now, without commas.
#[derive(Default)]
struct Costs {
    skeleton: usize,
    declarations: usize,
    declaration_count: usize,
    imports: usize,
    import_count: usize,
    entry: usize,
    metadata: usize,
}

/// One declaration of the slice.
struct Part {
    index: usize,
    is_in: bool,
    /// Bytes, without the digits of own pointers and without exported names.
    bytes: usize,
    own_pointers: usize,
    imports: Vec<usize>,
    exports: Option<Exports>,
}

/// The exported names that are still in.
struct Exports {
    is_in: Vec<bool>,
    count: usize,
    bytes: usize,
    /// A name that the pointer leads to; it stays.
    pinned: Option<usize>,
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
        let entry = match (is_whole, module.entry) {
            (true, Some(id)) if module.kind_has_entry || focus.kind == FocusKind::Entry => Some(Piece::Node(id)),
            (true, None) if module.kind_has_entry => Some(Piece::Zero),
            _ => None,
        };
        let strips_types = selection.omitted.types;
        let mut draft = Self {
            module,
            dialect,
            focus,
            parts: Vec::with_capacity(selection.order.len()),
            focus_part: None,
            changes: Changes { strips_types, ..Changes::default() },
            plain: Changes { strips_types, ..Changes::default() },
            entry,
            has_metadata: module.metadata.is_some(),
            writes_imports: !selection.omitted.imports,
            all_imports: selection.all_imports,
            kind,
            import_uses: vec![0; module.imports.len()],
            import_stamps: vec![0; module.imports.len()],
            stamp: 0,
            import_index: module.imports.iter().enumerate().map(|(index, name)| (&**name, index)).collect(),
            named_by: FxHashMap::default(),
            end: selection.order.len(),
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
            + costs.declarations
            + costs.declaration_count.saturating_sub(1)
            + imports
            + costs.entry
            + costs.metadata
    }

    pub(crate) fn declaration_count(&self) -> usize {
        self.costs.declaration_count
    }

    /// Drops the last declaration that is not in focus. Tells whether there was one.
    pub(crate) fn drop_last(&mut self) -> bool {
        while let Some(last) = self.end.checked_sub(1) {
            let is_free = self.parts.get(last).is_some_and(|part| part.is_in) && Some(last) != self.focus_part;
            if !is_free {
                self.end = last;
                continue;
            }
            let export = self.export_that_only_names(last);
            self.remove_part(export.unwrap_or(last));
            return true;
        }
        false
    }

    pub(crate) fn remove_metadata(&mut self) {
        self.has_metadata = false;
        self.costs.metadata = 0;
    }

    /// The declaration in focus.
    pub(crate) fn focus_declaration(&self) -> Option<&'m Declaration<'a>> {
        self.module.declarations.get(self.focus.declaration()?)
    }

    /// Writes a field of the declaration in focus with another value.
    pub(crate) fn replace_field(&mut self, key: &'static str, value: Piece<'a>) {
        self.changes.replaced.push((key, value));
        self.recount_focus();
    }

    /// Cuts the contracts of the declaration in focus, but not the one that the pointer is in.
    pub(crate) fn remove_contracts(&mut self) {
        let Some(declaration) = self.focus_declaration() else { return };
        let inside = self.focus.field();
        let contracts = declaration.fields.iter().filter(|field| field.role == FieldRole::Contract);
        self.changes.removed.extend(contracts.map(|field| field.key).filter(|&key| Some(key) != inside));
        self.recount_focus();
    }

    pub(crate) fn entry(&self) -> Option<&Piece<'a>> {
        self.entry.as_ref()
    }

    pub(crate) fn replace_entry(&mut self, value: Piece<'a>) {
        let uses = self.entry.take().map(|entry| self.imports_of([&entry]));
        self.release_imports(&uses.unwrap_or_default());
        self.entry = Some(value);
        self.count_entry();
    }

    /// The names of dropped declarations, in the order of the slice; the kind where there is no name.
    pub(crate) fn dropped_names(&self) -> Vec<String> {
        let dropped = self.parts.iter().filter(|part| !part.is_in);
        let declarations = dropped.filter_map(|part| self.module.declarations.get(part.index));
        declarations.map(|declaration| declaration.name.as_deref().unwrap_or(declaration.kind).to_owned()).collect()
    }

    /// Where the pointer leads in the slice, when its tokens are not those that were given.
    pub(crate) fn focus_pointer(&self) -> Option<String> {
        let mut tokens = self.focus.tokens.clone();
        if let Some(part) = self.focus_part {
            if let Some(token) = tokens.get_mut(1) {
                *token = self.position(part).to_string();
            }
            let exports = self.parts.get(part).and_then(|part| part.exports.as_ref());
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
        let expressions = fields.filter(|field| matches!(field.role, FieldRole::Contract | FieldRole::Body));
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

    /// The slice as canonical JSON.
    pub(crate) fn write(&self) -> Vec<u8> {
        let keys = self.dialect.keys();
        let mut writer =
            Writer { declarations_key: keys.declarations, out: Vec::with_capacity(self.bytes()), position: 0 };
        let mut fields: Vec<&'static str> = vec![keys.declarations, keys.imports, keys.kind];
        fields.extend(self.module.fixed.iter().map(|(key, _)| *key));
        fields.extend(self.has_metadata.then_some(keys.metadata));
        fields.extend(self.entry.is_some().then_some(keys.entry));
        fields.sort_unstable();
        writer.raw(b"{");
        let mut separator = Separator::default();
        for key in fields {
            separator.write(&mut writer);
            emit::key(&mut writer, key);
            self.write_value(&mut writer, key);
        }
        writer.raw(b"}");
        debug_assert_eq!(writer.out.len(), self.bytes(), "what was counted is what is written");
        writer.out
    }

    fn write_value(&self, writer: &mut Writer, key: &'static str) {
        let keys = self.dialect.keys();
        if key == keys.declarations {
            self.write_declarations(writer);
        } else if key == keys.imports {
            writer.raw(b"[");
            let mut separator = Separator::default();
            for name in self.used_imports().filter(|_| self.writes_imports) {
                separator.write(writer);
                writer.string(name);
            }
            writer.raw(b"]");
        } else if key == keys.kind {
            writer.string(self.kind);
        } else if key == keys.metadata {
            if let Some(metadata) = self.module.metadata {
                writer.node(&self.module.tree, metadata);
            }
        } else if key == keys.entry {
            if let Some(entry) = &self.entry {
                emit::piece(writer, &self.module.tree, entry, false);
            }
        } else if let Some((_, text)) = self.module.fixed.iter().find(|(name, _)| *name == key) {
            writer.string(text);
        }
    }

    fn write_declarations(&self, writer: &mut Writer) {
        writer.raw(b"[");
        let mut separator = Separator::default();
        let mut position = 0;
        for (number, part) in self.parts.iter().enumerate().filter(|(_, part)| part.is_in) {
            let Some(declaration) = self.module.declarations.get(part.index) else { continue };
            separator.write(writer);
            writer.position = position;
            position += 1;
            let names: Option<Vec<&Cow<'a, str>>> =
                part.exports.as_ref().zip(declaration.exports.as_ref()).map(|(exports, list)| {
                    list.names.iter().zip(&exports.is_in).filter(|(_, is_in)| **is_in).map(|(name, _)| name).collect()
                });
            let names = names.as_deref().map(|names| (self.dialect.keys().exported_names, names));
            emit::declaration(writer, &self.module.tree, declaration, self.changes_of(number), names);
        }
        writer.raw(b"]");
    }

    fn used_imports(&self) -> impl Iterator<Item = &Cow<'a, str>> {
        let uses = self.import_uses.iter();
        self.module.imports.iter().zip(uses).filter(|(_, uses)| self.all_imports || **uses > 0).map(|(name, _)| name)
    }

    fn changes_of(&self, part: usize) -> &Changes<'a> {
        if Some(part) == self.focus_part { &self.changes } else { &self.plain }
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
                    emit::piece(counter, tree, &entry, false);
                })
                .bytes;
        let uses = self.imports_of([&entry]);
        self.acquire_imports(&uses);
        self.entry = Some(entry);
    }

    fn count(&self, write: impl FnOnce(&mut Counter, &stan_model::json::JsonTree<'a>)) -> Counter {
        let mut counter = Counter { declarations_key: self.dialect.keys().declarations, bytes: 0, own_pointers: 0 };
        write(&mut counter, &self.module.tree);
        counter
    }

    fn push_part(&mut self, index: usize, selection: &Selection<'_>) {
        let Some(declaration) = self.module.declarations.get(index) else { return };
        let number = self.parts.len();
        if self.focus.declaration() == Some(index) {
            self.focus_part = Some(number);
        }
        let exports = self.exports_of(number, declaration, selection);
        let mut part = Part { index, is_in: true, bytes: 0, own_pointers: 0, imports: Vec::new(), exports };
        self.count_part(number, &mut part, declaration);
        self.costs.declaration_count += 1;
        self.costs.declarations += part_cost(&part, number);
        self.parts.push(part);
    }

    /// Bytes and imports of a part, as it is written now.
    fn count_part(&mut self, number: usize, part: &mut Part, declaration: &Declaration<'a>) {
        let names_key = self.dialect.keys().exported_names;
        let counter = self.count(|counter, tree| {
            let names = part.exports.is_some().then_some((names_key, [].as_slice()));
            emit::declaration(counter, tree, declaration, self.changes_of(number), names);
        });
        part.bytes = counter.bytes;
        part.own_pointers = counter.own_pointers;
        // Borrowing the changes and marking imports exclude each other, so the changes step aside.
        let is_focus = Some(number) == self.focus_part;
        let changes = std::mem::take(if is_focus { &mut self.changes } else { &mut self.plain });
        let expressions = declaration
            .fields
            .iter()
            .filter(|field| matches!(field.role, FieldRole::Contract | FieldRole::Body))
            .filter_map(|field| changes.apply(field));
        part.imports = self.imports_of(expressions);
        *(if is_focus { &mut self.changes } else { &mut self.plain }) = changes;
        self.acquire_imports(&part.imports);
    }

    fn recount_focus(&mut self) {
        let Some((number, declaration)) = self.focus_part.zip(self.focus_declaration()) else { return };
        let position = self.position(number);
        let Some(slot) = self.parts.get_mut(number) else { return };
        let placeholder =
            Part { index: 0, is_in: false, bytes: 0, own_pointers: 0, imports: Vec::new(), exports: None };
        let mut part = std::mem::replace(slot, placeholder);
        self.costs.declarations -= part_cost(&part, position);
        let uses = std::mem::take(&mut part.imports);
        self.release_imports(&uses);
        self.count_part(number, &mut part, declaration);
        self.costs.declarations += part_cost(&part, position);
        if let Some(slot) = self.parts.get_mut(number) {
            *slot = part;
        }
    }

    fn exports_of(
        &mut self,
        number: usize,
        declaration: &Declaration<'a>,
        selection: &Selection<'_>,
    ) -> Option<Exports> {
        let list = declaration.exports.as_ref()?;
        let is_focus = Some(number) == self.focus_part;
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
        for (name, owner) in owners.iter().enumerate() {
            if let Some(owner) = owner {
                self.named_by.entry(*owner).or_default().push((number, name));
            }
        }
        let lengths = list.names.iter().zip(&is_in).filter(|(_, is_in)| **is_in);
        let bytes = lengths.map(|(name, _)| jcs::string_len(name)).sum();
        Some(Exports { count: is_in.iter().filter(|is_in| **is_in).count(), is_in, bytes, pinned })
    }

    /// An export that would name nothing any more, and so goes before what it names.
    fn export_that_only_names(&self, number: usize) -> Option<usize> {
        let index = self.parts.get(number)?.index;
        let named_by = self.named_by.get(&index)?;
        named_by.iter().map(|(export, _)| *export).find(|&export| {
            let part = self.parts.get(export);
            let count = part.filter(|part| part.is_in).and_then(|part| part.exports.as_ref()).map(|names| names.count);
            Some(export) != self.focus_part && count == Some(1)
        })
    }

    fn remove_part(&mut self, number: usize) {
        let position = self.position(number);
        let Some(part) = self.parts.get_mut(number) else { return };
        part.is_in = false;
        let index = part.index;
        let cost = part_cost(part, position);
        let imports = std::mem::take(&mut part.imports);
        let is_last = self.end == number + 1;
        self.costs.declarations -= cost;
        self.costs.declaration_count -= 1;
        self.release_imports(&imports);
        self.unexport(index);
        if is_last {
            self.end = number;
            self.move_focus_forward();
        } else {
            self.recount_positions();
        }
    }

    /// The focus stands after what was dropped: it moves up by one place.
    fn move_focus_forward(&mut self) {
        let Some(number) = self.focus_part.filter(|&focus| focus >= self.end) else { return };
        let Some(part) = self.parts.get(number) else { return };
        let position = self.position(number);
        self.costs.declarations -= part.own_pointers * (digits(position + 1) - digits(position));
    }

    /// After a removal from the middle, which happens at most once for every export.
    fn recount_positions(&mut self) {
        let in_slice = self.parts.iter().filter(|part| part.is_in);
        self.costs.declarations = in_slice.enumerate().map(|(position, part)| part_cost(part, position)).sum();
    }

    fn unexport(&mut self, index: usize) {
        let Some(named_by) = self.named_by.get(&index) else { return };
        for &(export, name) in named_by {
            let focus = self.focus_part;
            let Some(part) = self.parts.get_mut(export) else { continue };
            let list = self.module.declarations.get(part.index).and_then(|declaration| declaration.exports.as_ref());
            let Some((exports, list)) = part.exports.as_mut().zip(list) else { continue };
            // The export in focus stays, so its last name stays too.
            let stays = exports.pinned == Some(name) || (focus == Some(export) && exports.count == 1);
            let Some(is_in) = exports.is_in.get_mut(name).filter(|is_in| **is_in && !stays) else { continue };
            *is_in = false;
            let cost = jcs::string_len(list.names.get(name).map_or("", |name| name));
            let comma = usize::from(exports.count > 1);
            exports.count -= 1;
            exports.bytes -= cost;
            if part.is_in {
                self.costs.declarations -= cost + comma;
            }
        }
    }

    /// The place of a part that is in. The ones at the end are asked for at every drop, and must not be searched for.
    fn position(&self, number: usize) -> usize {
        let is_focus_behind = self.focus_part.is_some_and(|focus| focus >= self.end);
        if number >= self.end {
            return self.costs.declaration_count - 1;
        }
        if number + 1 == self.end {
            return self.costs.declaration_count - 1 - usize::from(is_focus_behind);
        }
        self.parts.iter().take(number).filter(|part| part.is_in).count()
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

    fn acquire_imports(&mut self, imports: &[usize]) {
        for &import in imports {
            let Some(uses) = self.import_uses.get_mut(import) else { continue };
            *uses += 1;
            if *uses == 1 && !self.all_imports {
                self.costs.import_count += 1;
                self.costs.imports += jcs::string_len(&self.module.imports[import]);
            }
        }
    }

    fn release_imports(&mut self, imports: &[usize]) {
        for &import in imports {
            let Some(uses) = self.import_uses.get_mut(import) else { continue };
            *uses -= 1;
            if *uses == 0 && !self.all_imports {
                self.costs.import_count -= 1;
                self.costs.imports -= jcs::string_len(&self.module.imports[import]);
            }
        }
    }
}

/// What a part costs at a place.
fn part_cost(part: &Part, position: usize) -> usize {
    let names = part.exports.as_ref().map_or(0, |exports| exports.bytes + exports.count.saturating_sub(1));
    part.bytes + names + part.own_pointers * digits(position)
}

fn digits(number: usize) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}
