//! Finds the declarations that explain a focus: those that it uses, and the types in their signatures. Ranks are those of the
//! specification (60 §5): 1 for places that the tool points to, 2 for uses in the failing lines, 3 for other uses in the focus, 4
//! and 5 for types in the signatures of those.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use stan_model::names::{
    DeclarationId, FileNames, FileUnits, Import, Meaning, ShapeId, ShapeKind, Space, SymbolId, Use, Used,
};
use stan_model::outline::{Lines, Outline, Span, Unit, UnitId, UnitKind};

use crate::definitions::Definition;
use crate::focus::Focus;
use crate::follow::{Follower, merged};
use crate::imports::{Searched, UseSite};
use crate::modules::{FileId, Modules};
use crate::near::is_near;

/// The search stops at this many candidates: no budget could show more.
const MAX_CANDIDATES: usize = 600;

/// A member whose owner is unknown is searched by name. It is shown only if at most this many declarations have that name.
const MAX_POSSIBLE: usize = 3;

/// The place that a pack explains.
#[derive(Clone, Debug)]
pub struct Question {
    pub file: FileId,
    pub focus: Focus,
    /// The lines of the diagnostic.
    pub failing: Lines,
    /// Places that the tool points to besides the focus.
    pub places: Vec<PointedPlace>,
    /// Names that the message quotes.
    pub quoted: Vec<String>,
}

/// A place that the tool points to: a related location, or a frame of a stack trace.
#[derive(Clone, Copy, Debug)]
pub struct PointedPlace {
    pub file: FileId,
    pub position: u32,
    pub how: &'static str,
}

/// Limits of the closure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// 1 for the declarations that the focus uses, 2 for the types in their signatures too, and so on.
    pub hops: u32,
}

/// One step from the focus to a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Via {
    pub file: FileId,
    pub line: u32,
    pub name: Box<str>,
    pub how: &'static str,
}

/// A unit that helps to explain the focus. Members of a class or interface are shown inside it.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub file: FileId,
    pub unit: UnitId,
    pub rank: u8,
    /// The members that are used.
    pub used: BTreeSet<UnitId>,
    /// Lines inside bodies that declare a used name.
    pub keep: BTreeSet<u32>,
    /// Any member may matter: a failing line names the type, or uses a member that the type does not have.
    pub open: bool,
    pub via: Vec<Via>,
}

/// Why a name has no candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MissingReason {
    UnresolvedModule,
    NoSuchExport,
    NeedsTypes,
    Global,
}

impl MissingReason {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UnresolvedModule => "unresolved-module",
            Self::NoSuchExport => "no-such-export",
            Self::NeedsTypes => "needs-types",
            Self::Global => "global",
        }
    }
}

/// A name that is used and has no candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    pub name: Box<str>,
    pub line: u32,
    pub reason: MissingReason,
    /// For an unresolved import: its specifier.
    pub specifier: Option<Box<str>>,
    /// Similar names that may have been meant, nearest first.
    pub near: Vec<Box<str>>,
}

/// The candidates, by rank and first use, and the names that were not found.
#[derive(Clone, Debug, Default)]
pub struct Closure {
    pub candidates: Vec<Candidate>,
    pub missing: Vec<Missing>,
    /// Import statements of the focus file that bind names which the focus uses, and the lines of those names.
    pub imports: BTreeMap<Span, BTreeSet<u32>>,
    /// For each module that a failing line imports a missing name from: the names that it does export, sorted.
    pub exports: BTreeMap<FileId, Vec<Box<str>>>,
}

/// Finds the declarations that explain a focus.
pub fn closure(modules: &dyn Modules, question: &Question, limits: Limits) -> Closure {
    let follower = Follower::new(modules);
    let mut collector = Collector {
        follower: &follower,
        question,
        found: Closure::default(),
        by_unit: FxHashMap::default(),
        unowned: Vec::new(),
        searched: Searched::default(),
        missing_at: FxHashMap::default(),
    };
    let Some(units) = modules.units(question.file) else { return collector.found };
    collector.add_own_class(&units);
    question.places.iter().for_each(|place| collector.add_place(*place));
    let uses = units.names.uses_in(question.focus.span);
    uses.iter()
        .filter(|one| question.failing.contains(one.line))
        .for_each(|one| collector.add_focus_use(&units, one, 2));
    uses.iter()
        .filter(|one| !question.failing.contains(one.line))
        .for_each(|one| collector.add_focus_use(&units, one, 3));
    collector.add_import_focus(&units);
    collector.add_quoted(&units);
    collector.add_possible_members();
    collector.add_signature_hops(limits.hops);
    collector.finish()
}

pub(crate) struct Collector<'c> {
    pub(crate) follower: &'c Follower<'c>,
    pub(crate) question: &'c Question,
    pub(crate) found: Closure,
    by_unit: FxHashMap<(FileId, UnitId), usize>,
    /// Used members whose owner could not be found.
    unowned: Vec<UnownedMember>,
    pub(crate) searched: Searched,
    /// The indices of each name in `found.missing`, ascending.
    missing_at: FxHashMap<Box<str>, Vec<usize>>,
}

/// A use of a member whose owner only a type checker knows.
struct UnownedMember {
    name: Box<str>,
    line: u32,
    rank: u8,
}

/// A declaration that an unowned member may refer to, by its name.
struct PossibleMember {
    file: FileId,
    declaration: DeclarationId,
    is_in_candidate: bool,
}

impl Collector<'_> {
    /// Adds the class around the focus, so that its head is shown.
    fn add_own_class(&mut self, units: &FileUnits) {
        let Some(unit) = self.question.focus.unit else { return };
        let outer = container(&units.outline, unit);
        if outer == unit {
            return;
        }
        let via = self.via(self.question.focus.lines.from, "", "around");
        self.add_unit(self.question.file, outer, None, 1, vec![via.clone()]);
        // Overloads of the focus, and the other accessor of a pair.
        let name = units.outline.get(unit).map_or("", Unit::name);
        for (id, member) in units.outline.members(outer) {
            if id != unit && member.is_named(name) {
                self.add_unit(self.question.file, outer, Some(id), 1, vec![via.clone()]);
            }
        }
    }

    pub(crate) fn via(&self, line: u32, name: &str, how: &'static str) -> Via {
        Via { file: self.question.file, line, name: name.into(), how }
    }

    fn is_in_focus(&self, file: FileId, span: Span) -> bool {
        file == self.question.file && self.question.focus.span.encloses(span)
    }

    /// Adds a unit, or raises the rank of one that was added before. Returns its index.
    pub(crate) fn add_unit(
        &mut self,
        file: FileId,
        unit: UnitId,
        member: Option<UnitId>,
        rank: u8,
        via: Vec<Via>,
    ) -> Option<usize> {
        let at = match self.by_unit.get(&(file, unit)) {
            Some(at) => *at,
            None if self.found.candidates.len() >= MAX_CANDIDATES => return None,
            None => {
                let units = self.follower.modules.units(file)?;
                // The focus does not explain itself.
                if self.is_in_focus(file, units.outline.get(unit)?.span) {
                    return None;
                }
                let at = self.found.candidates.len();
                self.by_unit.insert((file, unit), at);
                let (used, keep) = (BTreeSet::new(), BTreeSet::new());
                self.found.candidates.push(Candidate { file, unit, rank, used, keep, open: false, via });
                at
            }
        };
        let candidate = self.found.candidates.get_mut(at)?;
        candidate.rank = candidate.rank.min(rank);
        candidate.used.extend(member);
        Some(at)
    }

    /// Adds the unit that contains a declaration.
    pub(crate) fn add_declaration(&mut self, file: FileId, id: DeclarationId, rank: u8, via: Vec<Via>) {
        let Some(units) = self.follower.modules.units(file) else { return };
        let Some(declaration) = units.names.declaration(id) else { return };
        if self.is_in_focus(file, declaration.span) {
            return;
        }
        let Some(unit) = declaration.unit else { return };
        let outer = container(&units.outline, unit);
        if self.is_in_focus(file, units.outline.get(outer).map_or(declaration.span, |unit| unit.span)) {
            return;
        }
        let member = (unit != outer).then_some(unit);
        let is_inside =
            units.outline.get(unit).is_some_and(|unit| !unit.names.iter().any(|name| name.line == declaration.line));
        if let Some(at) = self.add_unit(file, outer, member, rank, via)
            && is_inside
            && let Some(candidate) = self.found.candidates.get_mut(at)
        {
            candidate.keep.insert(declaration.line);
        }
    }

    /// Adds the unit at a place that the tool points to.
    fn add_place(&mut self, place: PointedPlace) {
        let PointedPlace { file, position, how } = place;
        let Some(units) = self.follower.modules.units(file) else { return };
        let Some(unit) = units.outline.innermost(position) else { return };
        let outer = container(&units.outline, unit);
        if self.is_in_focus(file, Span::new(position, position + 1)) {
            return;
        }
        let via = vec![self.via(self.question.failing.from, "", how)];
        self.add_unit(file, outer, (unit != outer).then_some(unit), 1, via);
    }

    /// Adds the declarations behind a use in the focus.
    fn add_focus_use(&mut self, units: &FileUnits, one: &Use, rank: u8) {
        let file = self.question.file;
        match &one.what {
            Used::Name(symbol) => {
                self.record_import(units, *symbol);
                let name = units.names.symbol(*symbol).map_or("", |symbol| &symbol.name);
                let via = self.via(one.line, name, "use");
                self.follower.restart();
                match self.follower.definitions(file, *symbol) {
                    Ok(found) => {
                        self.add_definitions(&found, one.space, rank, &[via]);
                        if rank == 2 {
                            self.open_named_types(*symbol, &found, one.line);
                        }
                    }
                    Err(reason) => self.add_not_found(units, *symbol, UseSite { line: one.line, rank }, reason),
                }
            }
            Used::Member(base, name) => {
                let found = self.follower.members(file, *base, name);
                if found.is_empty() && self.follower.is_module(file, *base, name) {
                    return;
                }
                if found.is_empty() {
                    self.unowned.push(UnownedMember { name: name.clone(), line: one.line, rank });
                    for (file, shape) in self.follower.owners(file, *base) {
                        let via = self.via(one.line, name, "no-such-member");
                        self.add_owner(file, shape, Some(name), rank, &via);
                    }
                    return self.add_missing(name, one.line, MissingReason::NeedsTypes);
                }
                let via = self.via(one.line, name, "member");
                found.into_iter().for_each(|(file, id)| self.add_declaration(file, id, rank, vec![via.clone()]));
            }
            Used::Global(name) => self.add_missing(name, one.line, MissingReason::Global),
        }
    }

    /// A class that a failing line names is shown with all members, and so are the types of the variables that it names.
    fn open_named_types(&mut self, symbol: SymbolId, found: &[Definition], line: u32) {
        for definition in found {
            let Definition::Declaration(file, id) = *definition else { continue };
            let Some(units) = self.follower.modules.units(file) else { continue };
            let Some(declaration) = units.names.declaration(id) else { continue };
            if let Meaning::Shape(_) = declaration.meaning
                && let Some(unit) = declaration.unit
            {
                self.open(file, container(&units.outline, unit));
            }
            if self.is_in_focus(file, declaration.span) {
                for (file, shape) in self.follower.owners_of_symbol(self.question.file, symbol) {
                    let via = self.via(line, &declaration.name, "type-of");
                    self.add_owner(file, shape, None, 2, &via);
                }
            }
        }
    }

    fn open(&mut self, file: FileId, unit: UnitId) {
        if let Some(at) = self.by_unit.get(&(file, unit))
            && let Some(candidate) = self.found.candidates.get_mut(*at)
        {
            candidate.open = true;
        }
    }

    /// Adds the shape that a member was expected in. With `wanted`, also adds members with similar names, of the shape and its
    /// ancestors.
    fn add_owner(&mut self, file: FileId, shape: ShapeId, wanted: Option<&str>, rank: u8, via: &Via) {
        if let Some(unit) = self.unit_of_shape(file, shape) {
            self.add_unit(file, unit, None, rank, vec![via.clone()]);
            if rank <= 2 {
                self.open(file, unit);
            }
        }
        let Some(wanted) = wanted else { return };
        for (file, shape) in self.follower.lineage(file, shape) {
            let Some(units) = self.follower.modules.units(file) else { continue };
            for part in merged(&units, shape) {
                let members = units.names.shape(part).map(|shape| shape.members.as_slice()).unwrap_or_default();
                let near = members.iter().filter(|member| is_near(&member.name, wanted)).take(MAX_POSSIBLE);
                near.for_each(|member| self.add_declaration(file, member.declaration, rank, vec![via.clone()]));
            }
        }
    }

    /// The unit that shows a shape; `None` if the focus shows it.
    fn unit_of_shape(&self, file: FileId, shape: ShapeId) -> Option<UnitId> {
        let units = self.follower.modules.units(file)?;
        let shape = units.names.shape(shape)?;
        let inner = || units.names.declaration(shape.members.first()?.declaration)?.unit;
        let unit = container(&units.outline, shape.unit.or_else(inner)?);
        let span = units.outline.get(unit)?.span;
        (!self.is_in_focus(file, span)).then_some(unit).filter(|_| {
            // A class around the focus is already added, by `add_own_class`.
            file != self.question.file || !span.encloses(self.question.focus.span) || shape.unit.is_some()
        })
    }

    pub(crate) fn add_missing(&mut self, name: &str, line: u32, reason: MissingReason) {
        let is_known = |at| self.found.missing.get(at).is_some_and(|one: &Missing| one.reason == reason);
        if !self.missing_named(name).any(is_known) {
            let (specifier, near) = (None, Vec::new());
            self.missing_at.entry(name.into()).or_default().push(self.found.missing.len());
            self.found.missing.push(Missing { name: name.into(), line, reason, specifier, near });
        }
    }

    /// The indices of a name in `found.missing`.
    pub(crate) fn missing_named(&self, name: &str) -> impl Iterator<Item = usize> + use<'_> {
        self.missing_at.get(name).into_iter().flatten().copied()
    }

    fn add_definitions(&mut self, found: &[Definition], space: Space, rank: u8, via: &[Via]) {
        let fits = |definition: &&Definition| match definition {
            Definition::Module(_) => false,
            Definition::Declaration(file, id) => {
                let units = self.follower.modules.units(*file);
                units.is_some_and(|units| is_of_space(&units.names, *id, space))
            }
        };
        let mut wanted: Vec<Definition> = found.iter().filter(fits).copied().collect();
        if wanted.is_empty() {
            wanted = found.to_vec();
        }
        for definition in wanted {
            if let Definition::Declaration(file, id) = definition {
                self.add_declaration(file, id, rank, via.to_vec());
            }
        }
    }

    fn record_import(&mut self, units: &FileUnits, symbol: SymbolId) {
        for (declaration, import) in imports_of(&units.names, symbol) {
            let line = units.names.declaration(declaration).map_or(0, |declaration| declaration.line);
            if !self.question.focus.span.encloses(import.statement) {
                self.found.imports.entry(import.statement).or_default().insert(line);
            }
        }
    }

    /// Adds declarations with names that the message quotes: in scope in the focus file, among the candidates, or members of
    /// candidates.
    fn add_quoted(&mut self, units: &FileUnits) {
        for name in self.question.quoted.clone() {
            let via = self.via(self.question.failing.from, &name, "quoted");
            let scope = units.names.symbols.iter().zip(0..).filter(|(symbol, _)| *symbol.name == *name);
            let ids: Vec<SymbolId> = scope.map(|(_, index)| SymbolId(index)).collect();
            for symbol in ids {
                self.follower.restart();
                let found = self.follower.definitions(self.question.file, symbol).unwrap_or_default();
                for definition in found {
                    if let Definition::Declaration(file, id) = definition {
                        self.add_declaration(file, id, 1, vec![via.clone()]);
                    }
                }
            }
            self.add_quoted_members(&name, &via);
        }
    }

    fn add_quoted_members(&mut self, name: &str, via: &Via) {
        let known: Vec<(FileId, UnitId)> = self.found.candidates.iter().map(|one| (one.file, one.unit)).collect();
        for (file, unit) in known {
            let Some(units) = self.follower.modules.units(file) else { continue };
            if units.outline.get(unit).is_some_and(|unit| unit.is_named(name)) {
                self.add_unit(file, unit, None, 1, vec![via.clone()]);
            }
            let members = members_of_unit(&units, unit, name);
            members.into_iter().for_each(|id| self.add_declaration(file, id, 1, vec![via.clone()]));
        }
    }

    /// Only a type checker knows the owners of some members. Adds the declarations with their names, those in candidates first,
    /// if there are few enough to be worth showing.
    fn add_possible_members(&mut self) {
        let unowned = std::mem::take(&mut self.unowned);
        if unowned.is_empty() {
            return;
        }
        let candidates: BTreeSet<(FileId, UnitId)> =
            self.found.candidates.iter().map(|one| (one.file, one.unit)).collect();
        let files: BTreeSet<FileId> = candidates.iter().map(|(file, _)| *file).chain([self.question.file]).collect();
        let wanted: BTreeSet<&str> = unowned.iter().map(|member| &*member.name).collect();
        let mut by_name: BTreeMap<Box<str>, Vec<PossibleMember>> = BTreeMap::new();
        for file in files {
            let Some(units) = self.follower.modules.units(file) else { continue };
            for member in units.names.shapes.iter().flat_map(|shape| &shape.members) {
                if !wanted.contains(&*member.name) {
                    continue;
                }
                let unit = units.names.declaration(member.declaration).and_then(|declaration| declaration.unit);
                let unit = unit.map(|unit| container(&units.outline, unit));
                let is_in_candidate = unit.is_some_and(|unit| candidates.contains(&(file, unit)));
                let possible = PossibleMember { file, declaration: member.declaration, is_in_candidate };
                by_name.entry(member.name.clone()).or_default().push(possible);
            }
        }
        for UnownedMember { name, line, rank } in unowned {
            let Some(all) = by_name.get(&name) else { continue };
            let in_candidates: Vec<_> = all.iter().filter(|member| member.is_in_candidate).collect();
            let taken = if in_candidates.is_empty() { all.iter().collect() } else { in_candidates };
            if taken.len() <= MAX_POSSIBLE {
                let via = vec![self.via(line, &name, "possible")];
                taken.iter().for_each(|one| self.add_declaration(one.file, one.declaration, rank.max(3), via.clone()));
            }
        }
    }

    /// Adds the types in the signatures of the candidates, then those in the signatures of these, and so on.
    fn add_signature_hops(&mut self, hops: u32) {
        let mut done = 0;
        for _ in 1..hops {
            let until = self.found.candidates.len();
            for at in done..until {
                self.add_signature_types(at);
            }
            done = until;
        }
    }

    fn add_signature_types(&mut self, at: usize) {
        let Some(candidate) = self.found.candidates.get(at).cloned() else { return };
        let Some(units) = self.follower.modules.units(candidate.file) else { return };
        let rank = if candidate.rank <= 2 { 4 } else { 5 };
        for (span, is_head) in signature_spans(&units.outline, &candidate) {
            for one in units.names.uses_in(span) {
                let is_type = one.space == Space::Type;
                if !is_type && !is_head {
                    continue;
                }
                let rank = if is_type { rank } else { 5 };
                self.add_signature_use(&units, &candidate, one, rank);
            }
        }
    }

    fn add_signature_use(&mut self, units: &FileUnits, from: &Candidate, one: &Use, rank: u8) {
        let (found, name): (Vec<Definition>, &str) = match &one.what {
            Used::Name(symbol) => {
                self.follower.restart();
                let name = units.names.symbol(*symbol).map_or("", |symbol| &symbol.name);
                (self.follower.definitions(from.file, *symbol).unwrap_or_default(), name)
            }
            Used::Member(base, name) => {
                let found = self.follower.members(from.file, *base, name);
                (found.into_iter().map(|(file, id)| Definition::Declaration(file, id)).collect(), name)
            }
            Used::Global(_) => return,
        };
        let mut via = from.via.clone();
        via.push(Via { file: from.file, line: one.line, name: name.into(), how: "signature" });
        let found: Vec<Definition> =
            found.into_iter().filter(|definition| !is_parameter(self.follower.modules, *definition)).collect();
        self.add_definitions(&found, one.space, rank, &via);
    }

    fn finish(mut self) -> Closure {
        // A stable sort keeps the order of discovery within a rank, so the first use comes first.
        self.found.candidates.sort_by_key(|one| one.rank);
        self.found
    }
}

pub(crate) fn imports_of(names: &FileNames, symbol: SymbolId) -> impl Iterator<Item = (DeclarationId, &Import)> {
    let declarations = names.symbol(symbol).map(|symbol| symbol.declarations.as_slice()).unwrap_or_default();
    declarations.iter().filter_map(|id| match names.declaration(*id)?.meaning {
        // A name from the same package needs no import statement (Go).
        Meaning::Import(import) => Some((*id, names.import(import)?)).filter(|(_, one)| !one.statement.is_empty()),
        _ => None,
    })
}

/// The unit that is shown for a member: the class or interface around it, at the top level of its module or namespace.
pub(crate) fn container(outline: &Outline, unit: UnitId) -> UnitId {
    let mut at = unit;
    while let Some(parent) = outline.get(at).and_then(|unit| unit.parent) {
        let is_scope = |unit: &Unit| matches!(unit.kind, UnitKind::Namespace | UnitKind::Module);
        if outline.get(parent).is_none_or(is_scope) {
            break;
        }
        at = parent;
    }
    at
}

fn is_of_space(names: &FileNames, id: DeclarationId, space: Space) -> bool {
    let Some(declaration) = names.declaration(id) else { return false };
    match (declaration.meaning, space) {
        (Meaning::Shape(shape), Space::Value) => {
            names.shape(shape).is_some_and(|shape| shape.kind != ShapeKind::Interface)
        }
        (Meaning::Alias(_) | Meaning::TypeParameter(_), Space::Value) => false,
        (Meaning::Value { .. }, Space::Type) => false,
        _ => true,
    }
}

/// Type parameters are declared in the signature itself, which is shown anyway.
fn is_parameter(modules: &dyn Modules, definition: Definition) -> bool {
    let Definition::Declaration(file, id) = definition else { return false };
    let Some(units) = modules.units(file) else { return false };
    matches!(units.names.declaration(id).map(|one| one.meaning), Some(Meaning::TypeParameter(_)))
}

fn members_of_unit(units: &FileUnits, unit: UnitId, name: &str) -> Vec<DeclarationId> {
    let shapes = units.names.shapes.iter().filter(|shape| shape.unit == Some(unit));
    shapes.flat_map(|shape| shape.named(name)).map(|member| member.declaration).collect()
}

/// The spans of a candidate's signature. The flag is set for the head of a class, where a value can be a base class.
fn signature_spans(outline: &Outline, candidate: &Candidate) -> Vec<(Span, bool)> {
    let Some(unit) = outline.get(candidate.unit) else { return Vec::new() };
    let mut spans = Vec::new();
    let has_members = unit.until > candidate.unit.0 + 1;
    if has_members {
        spans.push((unit.head, true));
        for member in &candidate.used {
            let member = outline.get(*member);
            spans.extend(member.into_iter().flat_map(without_bodies).map(|span| (span, false)));
        }
        return spans;
    }
    spans.extend(without_bodies(unit).into_iter().map(|span| (span, false)));
    spans
}

fn without_bodies(unit: &Unit) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut at = unit.span.start;
    for body in &unit.bodies {
        spans.push(Span::new(at, body.start));
        at = body.end;
    }
    spans.push(Span::new(at, unit.span.end));
    spans.retain(|span| !span.is_empty());
    spans
}
