//! What explains a focus: the declarations that it uses, and the types in their signatures, by rank. Ranks are those of the
//! specification (60 §5): 1 what the tool points to, 2 what the failing lines use, 3 what else the focus uses, 4 and 5 the
//! types in the signatures of those.

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

/// The search for candidates ends here: no budget would show more.
const MAX_CANDIDATES: usize = 600;

/// A member of an unknown owner is searched by name, and shown if at most this many declarations have it.
const MAX_POSSIBLE: usize = 3;

/// The place that a pack explains.
#[derive(Clone, Debug)]
pub struct Question {
    pub file: FileId,
    pub focus: Focus,
    /// The lines of the diagnostic.
    pub failing: Lines,
    /// Places that the tool points to: file, position, and how it does.
    pub places: Vec<(FileId, u32, &'static str)>,
    /// Names that the message quotes.
    pub quoted: Vec<String>,
}

/// Limits of the closure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// 1: what the focus uses; 2: also the types in the signatures of that; and so on.
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
    /// Members that are used.
    pub used: BTreeSet<UnitId>,
    /// Lines inside bodies that declare something that is used.
    pub keep: BTreeSet<u32>,
    /// Any member may matter: the failing lines name the type, or use a member that it does not have.
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
    /// Names that may have been meant, the nearest first.
    pub near: Vec<Box<str>>,
}

/// The answer: candidates by rank and first use, and what was not found.
#[derive(Clone, Debug, Default)]
pub struct Closure {
    pub candidates: Vec<Candidate>,
    pub missing: Vec<Missing>,
    /// Statements of the focus file that bring in names which the focus uses, and the lines of those names.
    pub imports: BTreeMap<Span, BTreeSet<u32>>,
    /// Modules that a failing line wants a name of which they do not export, and what they export: sorted.
    pub exports: BTreeMap<FileId, Vec<Box<str>>>,
}

/// Finds what explains a focus.
pub fn closure(modules: &dyn Modules, question: &Question, limits: Limits) -> Closure {
    let follower = Follower::new(modules);
    let mut collector = Collector {
        follower: &follower,
        question,
        found: Closure::default(),
        by_unit: FxHashMap::default(),
        loose: Vec::new(),
        searched: Searched::default(),
        missing_at: FxHashMap::default(),
    };
    let Some(units) = modules.units(question.file) else { return collector.found };
    collector.own_class(&units);
    for (file, position, how) in &question.places {
        collector.place(*file, *position, how);
    }
    let uses = units.names.uses_in(question.focus.span);
    uses.iter().filter(|one| question.failing.contains(one.line)).for_each(|one| collector.root_use(&units, one, 2));
    uses.iter().filter(|one| !question.failing.contains(one.line)).for_each(|one| collector.root_use(&units, one, 3));
    collector.imported_here(&units);
    collector.quoted(&units);
    collector.possible();
    collector.hops(limits.hops);
    collector.finish()
}

pub(crate) struct Collector<'c> {
    pub(crate) follower: &'c Follower<'c>,
    pub(crate) question: &'c Question,
    pub(crate) found: Closure,
    by_unit: FxHashMap<(FileId, UnitId), usize>,
    /// Members whose owner is not known: name and use.
    loose: Vec<(Box<str>, u32, u8)>,
    pub(crate) searched: Searched,
    /// Where names are in the list of what is missing, in its order.
    missing_at: FxHashMap<Box<str>, Vec<usize>>,
}

impl Collector<'_> {
    /// The class around the focus, for its head.
    fn own_class(&mut self, units: &FileUnits) {
        let Some(unit) = self.question.focus.unit else { return };
        let outer = container(&units.outline, unit);
        if outer == unit {
            return;
        }
        let via = self.via(self.question.focus.lines.from, "", "around");
        self.unit(self.question.file, outer, None, 1, vec![via.clone()]);
        // Overloads, and the other accessor of a pair.
        let name = units.outline.get(unit).map_or("", Unit::name);
        for (id, member) in units.outline.members(outer) {
            if id != unit && member.is_named(name) {
                self.unit(self.question.file, outer, Some(id), 1, vec![via.clone()]);
            }
        }
    }

    pub(crate) fn via(&self, line: u32, name: &str, how: &'static str) -> Via {
        Via { file: self.question.file, line, name: name.into(), how }
    }

    fn is_in_focus(&self, file: FileId, span: Span) -> bool {
        file == self.question.file && self.question.focus.span.encloses(span)
    }

    /// Adds a unit, or raises the rank of one that is known.
    pub(crate) fn unit(
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
                // The focus is not its own explanation.
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

    /// Adds the unit of a declaration.
    pub(crate) fn declaration(&mut self, file: FileId, id: DeclarationId, rank: u8, via: Vec<Via>) {
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
        if let Some(at) = self.unit(file, outer, member, rank, via)
            && is_inside
            && let Some(candidate) = self.found.candidates.get_mut(at)
        {
            candidate.keep.insert(declaration.line);
        }
    }

    /// A place that the tool points to.
    fn place(&mut self, file: FileId, position: u32, how: &'static str) {
        let Some(units) = self.follower.modules.units(file) else { return };
        let Some(unit) = units.outline.innermost(position) else { return };
        let outer = container(&units.outline, unit);
        if self.is_in_focus(file, Span::new(position, position + 1)) {
            return;
        }
        let via = vec![self.via(self.question.failing.from, "", how)];
        self.unit(file, outer, (unit != outer).then_some(unit), 1, via);
    }

    /// A use in the focus itself.
    fn root_use(&mut self, units: &FileUnits, one: &Use, rank: u8) {
        let file = self.question.file;
        match &one.what {
            Used::Name(symbol) => {
                self.note_import(units, *symbol);
                let name = units.names.symbol(*symbol).map_or("", |symbol| &symbol.name);
                let via = self.via(one.line, name, "use");
                self.follower.restart();
                match self.follower.definitions(file, *symbol) {
                    Ok(found) => {
                        self.definitions(&found, one.space, rank, &[via]);
                        if rank == 2 {
                            self.named_on_failing_line(*symbol, &found, one.line);
                        }
                    }
                    Err(reason) => self.not_found(units, *symbol, UseSite { line: one.line, rank }, reason),
                }
            }
            Used::Member(base, name) => {
                let found = self.follower.members(file, *base, name);
                if found.is_empty() && self.follower.is_module(file, *base, name) {
                    return;
                }
                if found.is_empty() {
                    self.loose.push((name.clone(), one.line, rank));
                    for (file, shape) in self.follower.owners(file, *base) {
                        let via = self.via(one.line, name, "no-such-member");
                        self.owner(file, shape, Some(name), rank, &via);
                    }
                    return self.missing(name, one.line, MissingReason::NeedsTypes);
                }
                let via = self.via(one.line, name, "member");
                found.into_iter().for_each(|(file, id)| self.declaration(file, id, rank, vec![via.clone()]));
            }
            Used::Global(name) => self.missing(name, one.line, MissingReason::Global),
        }
    }

    /// What a failing line names: all of a class that it names, and of the types that its variables have.
    fn named_on_failing_line(&mut self, symbol: SymbolId, found: &[Definition], line: u32) {
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
                    self.owner(file, shape, None, 2, &via);
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

    /// What has, or should have, a member: itself, and members of a near name in all that it extends.
    fn owner(&mut self, file: FileId, shape: ShapeId, wanted: Option<&str>, rank: u8, via: &Via) {
        if let Some(unit) = self.unit_of_shape(file, shape) {
            self.unit(file, unit, None, rank, vec![via.clone()]);
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
                near.for_each(|member| self.declaration(file, member.declaration, rank, vec![via.clone()]));
            }
        }
    }

    /// The unit that shows a shape, unless it is the focus.
    fn unit_of_shape(&self, file: FileId, shape: ShapeId) -> Option<UnitId> {
        let units = self.follower.modules.units(file)?;
        let shape = units.names.shape(shape)?;
        let inner = || units.names.declaration(shape.members.first()?.declaration)?.unit;
        let unit = container(&units.outline, shape.unit.or_else(inner)?);
        let span = units.outline.get(unit)?.span;
        (!self.is_in_focus(file, span)).then_some(unit).filter(|_| {
            // The focus may be inside of it: then its class is shown anyway.
            file != self.question.file || !span.encloses(self.question.focus.span) || shape.unit.is_some()
        })
    }

    pub(crate) fn missing(&mut self, name: &str, line: u32, reason: MissingReason) {
        let is_known = |at| self.found.missing.get(at).is_some_and(|one: &Missing| one.reason == reason);
        if !self.missing_named(name).any(is_known) {
            let (specifier, near) = (None, Vec::new());
            self.missing_at.entry(name.into()).or_default().push(self.found.missing.len());
            self.found.missing.push(Missing { name: name.into(), line, reason, specifier, near });
        }
    }

    /// The places of a name in the list of what is missing.
    pub(crate) fn missing_named(&self, name: &str) -> impl Iterator<Item = usize> + use<'_> {
        self.missing_at.get(name).into_iter().flatten().copied()
    }

    fn definitions(&mut self, found: &[Definition], space: Space, rank: u8, via: &[Via]) {
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
                self.declaration(file, id, rank, via.to_vec());
            }
        }
    }

    fn note_import(&mut self, units: &FileUnits, symbol: SymbolId) {
        for (declaration, import) in imports_of(&units.names, symbol) {
            let line = units.names.declaration(declaration).map_or(0, |declaration| declaration.line);
            if !self.question.focus.span.encloses(import.statement) {
                self.found.imports.entry(import.statement).or_default().insert(line);
            }
        }
    }

    /// Names that the message quotes: in the scope of the focus, among the candidates, or members of these.
    fn quoted(&mut self, units: &FileUnits) {
        for name in self.question.quoted.clone() {
            let via = self.via(self.question.failing.from, &name, "quoted");
            let scope = units.names.symbols.iter().zip(0..).filter(|(symbol, _)| *symbol.name == *name);
            let ids: Vec<SymbolId> = scope.map(|(_, index)| SymbolId(index)).collect();
            for symbol in ids {
                self.follower.restart();
                let found = self.follower.definitions(self.question.file, symbol).unwrap_or_default();
                for definition in found {
                    if let Definition::Declaration(file, id) = definition {
                        self.declaration(file, id, 1, vec![via.clone()]);
                    }
                }
            }
            self.quoted_members(&name, &via);
        }
    }

    fn quoted_members(&mut self, name: &str, via: &Via) {
        let known: Vec<(FileId, UnitId)> = self.found.candidates.iter().map(|one| (one.file, one.unit)).collect();
        for (file, unit) in known {
            let Some(units) = self.follower.modules.units(file) else { continue };
            if units.outline.get(unit).is_some_and(|unit| unit.is_named(name)) {
                self.unit(file, unit, None, 1, vec![via.clone()]);
            }
            let members = members_of_unit(&units, unit, name);
            members.into_iter().for_each(|id| self.declaration(file, id, 1, vec![via.clone()]));
        }
    }

    /// Members whose owner only a type checker knows: those of that name in what was found, if they are few.
    fn possible(&mut self) {
        let loose = std::mem::take(&mut self.loose);
        if loose.is_empty() {
            return;
        }
        let candidates: BTreeSet<(FileId, UnitId)> =
            self.found.candidates.iter().map(|one| (one.file, one.unit)).collect();
        let files: BTreeSet<FileId> = candidates.iter().map(|(file, _)| *file).chain([self.question.file]).collect();
        let wanted: BTreeSet<&str> = loose.iter().map(|(name, ..)| &**name).collect();
        let mut by_name: BTreeMap<Box<str>, Vec<(bool, FileId, DeclarationId)>> = BTreeMap::new();
        for file in files {
            let Some(units) = self.follower.modules.units(file) else { continue };
            for member in units.names.shapes.iter().flat_map(|shape| &shape.members) {
                if !wanted.contains(&*member.name) {
                    continue;
                }
                let unit = units.names.declaration(member.declaration).and_then(|declaration| declaration.unit);
                let unit = unit.map(|unit| container(&units.outline, unit));
                let is_near = unit.is_some_and(|unit| candidates.contains(&(file, unit)));
                by_name.entry(member.name.clone()).or_default().push((is_near, file, member.declaration));
            }
        }
        for (name, line, rank) in loose {
            let Some(all) = by_name.get(&name) else { continue };
            let near: Vec<_> = all.iter().filter(|(is_near, ..)| *is_near).collect();
            let taken = if near.is_empty() { all.iter().collect() } else { near };
            if taken.len() <= MAX_POSSIBLE {
                let via = self.via(line, &name, "possible");
                taken.iter().for_each(|(_, file, id)| self.declaration(*file, *id, rank.max(3), vec![via.clone()]));
            }
        }
    }

    /// Types in the signatures of what was found.
    fn hops(&mut self, hops: u32) {
        let mut done = 0;
        for _ in 1..hops {
            let until = self.found.candidates.len();
            for at in done..until {
                self.signature_types(at);
            }
            done = until;
        }
    }

    fn signature_types(&mut self, at: usize) {
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
                self.hop_use(&units, &candidate, one, rank);
            }
        }
    }

    fn hop_use(&mut self, units: &FileUnits, from: &Candidate, one: &Use, rank: u8) {
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
        self.definitions(&found, one.space, rank, &via);
    }

    fn finish(mut self) -> Closure {
        // Stable: within a rank the first use decides, which is the order of discovery.
        self.found.candidates.sort_by_key(|one| one.rank);
        self.found
    }
}

pub(crate) fn imports_of(names: &FileNames, symbol: SymbolId) -> impl Iterator<Item = (DeclarationId, &Import)> {
    let declarations = names.symbol(symbol).map(|symbol| symbol.declarations.as_slice()).unwrap_or_default();
    declarations.iter().filter_map(|id| match names.declaration(*id)?.meaning {
        // A name that is taken from the own package has no statement.
        Meaning::Import(import) => Some((*id, names.import(import)?)).filter(|(_, one)| !one.statement.is_empty()),
        _ => None,
    })
}

/// The unit that is shown for a member: the class or interface at module level, or at the level of a namespace.
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

/// Type parameters resolve to their declaration, which the signature itself shows.
fn is_parameter(modules: &dyn Modules, definition: Definition) -> bool {
    let Definition::Declaration(file, id) = definition else { return false };
    let Some(units) = modules.units(file) else { return false };
    matches!(units.names.declaration(id).map(|one| one.meaning), Some(Meaning::TypeParameter(_)))
}

fn members_of_unit(units: &FileUnits, unit: UnitId, name: &str) -> Vec<DeclarationId> {
    let shapes = units.names.shapes.iter().filter(|shape| shape.unit == Some(unit));
    shapes.flat_map(|shape| shape.named(name)).map(|member| member.declaration).collect()
}

/// What a signature shows of a candidate; whether it is the head of a class, where values are bases.
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
