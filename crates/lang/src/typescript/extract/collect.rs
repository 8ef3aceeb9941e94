//! Collects findings in any order and turns them into [`FileFacts`]: in source order, without duplicates, with line numbers, and
//! with exported bindings traced to the import that bound them. Knows no syntax trees.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};
use stan_model::EdgeKind;

use stan_model::facts::{Export, ExportSource, FileFacts, FormCode, GlobRequest, ImportedName, Request};

use crate::line_counter::LineCounter;
use crate::typescript::form::{Form, ModuleSystem};

/// The index of a raw request, in the order of discovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RawId(u32);

/// The imported thing that a local name is bound to.
#[derive(Clone, Debug)]
pub(super) enum LocalBinding<'a> {
    Name(RawId, Cow<'a, str>),
    Namespace(RawId),
}

struct RawRequest<'a> {
    position: u32,
    specifier: Cow<'a, str>,
    kind: EdgeKind,
    form: FormCode,
}

struct RawName<'a> {
    request: RawId,
    name: Cow<'a, str>,
    kind: EdgeKind,
}

/// The source of an exported name, before local names are looked up.
enum RawExport<'a> {
    Local,
    /// A local name, which an import may have bound.
    Binding(Cow<'a, str>),
    /// A member of a local name, which may be a namespace import.
    Member(Cow<'a, str>, Cow<'a, str>),
    From(LocalBinding<'a>),
}

/// A request by pattern, with its position.
struct RawGlob {
    position: u32,
    patterns: Vec<Box<str>>,
    with_hidden: bool,
}

/// The findings in one file. Positions are byte offsets into the whole file's text.
#[derive(Default)]
pub(super) struct Collector<'a> {
    /// Added to every position: the start of the current block in the file.
    pub(super) base: u32,
    /// An "external module" in TypeScript's sense: has an import, an export, or `import.meta`.
    pub(super) is_module: bool,
    requests: Vec<RawRequest<'a>>,
    names: Vec<RawName<'a>>,
    globs: Vec<RawGlob>,
    stars: Vec<RawId>,
    bindings: Vec<(Cow<'a, str>, LocalBinding<'a>)>,
    exports: Vec<(Cow<'a, str>, RawExport<'a>)>,
    augmented: Vec<(u32, Cow<'a, str>)>,
    description: Option<Box<str>>,
}

impl<'a> Collector<'a> {
    /// Records a request. Empty specifiers are dropped.
    pub(super) fn request(
        &mut self,
        position: u32,
        specifier: impl Into<Cow<'a, str>>,
        kind: EdgeKind,
        form: Form,
        mode: Option<ModuleSystem>,
    ) -> Option<RawId> {
        let specifier = specifier.into();
        if specifier.is_empty() {
            return None;
        }
        let id = RawId(u32::try_from(self.requests.len()).ok()?);
        self.requests.push(RawRequest { position: self.base + position, specifier, kind, form: form.code(mode) });
        Some(id)
    }

    pub(super) fn name(&mut self, request: RawId, name: impl Into<Cow<'a, str>>, kind: EdgeKind) {
        self.names.push(RawName { request, name: name.into(), kind });
    }

    pub(super) fn glob(&mut self, position: u32, patterns: Vec<Box<str>>, with_hidden: bool) {
        if !patterns.is_empty() {
            self.globs.push(RawGlob { position: self.base + position, patterns, with_hidden });
        }
    }

    pub(super) fn star(&mut self, request: RawId) {
        self.stars.push(request);
    }

    /// Records a local name that an import binds.
    pub(super) fn bind(&mut self, local: impl Into<Cow<'a, str>>, bound: LocalBinding<'a>) {
        self.bindings.push((local.into(), bound));
    }

    pub(super) fn export_local(&mut self, name: impl Into<Cow<'a, str>>) {
        self.exports.push((name.into(), RawExport::Local));
    }

    pub(super) fn export_binding(&mut self, name: impl Into<Cow<'a, str>>, local: impl Into<Cow<'a, str>>) {
        self.exports.push((name.into(), RawExport::Binding(local.into())));
    }

    pub(super) fn export_member(
        &mut self,
        name: impl Into<Cow<'a, str>>,
        local: impl Into<Cow<'a, str>>,
        member: impl Into<Cow<'a, str>>,
    ) {
        self.exports.push((name.into(), RawExport::Member(local.into(), member.into())));
    }

    pub(super) fn export_from(&mut self, name: impl Into<Cow<'a, str>>, bound: LocalBinding<'a>) {
        self.exports.push((name.into(), RawExport::From(bound)));
    }

    /// Records the `'x'` of `declare module 'x'`, which adds an edge only if the file is a module.
    pub(super) fn augment(&mut self, position: u32, specifier: impl Into<Cow<'a, str>>) {
        self.augmented.push((position, specifier.into()));
    }

    /// Keeps the longest description; of equally long ones, the first.
    pub(super) fn describe(&mut self, description: Option<Box<str>>) {
        let longer = |new: &str, old: &str| new.chars().count() > old.chars().count();
        if let Some(new) = description
            && self.description.as_ref().is_none_or(|old| longer(&new, old))
        {
            self.description = Some(new);
        }
    }

    /// Evaluates findings that depend on the whole block: augmentations are edges only in modules.
    pub(super) fn end_of_block(&mut self) {
        for (position, specifier) in std::mem::take(&mut self.augmented) {
            if self.is_module {
                self.request(position, specifier, EdgeKind::Type, Form::Augment, None);
            }
        }
    }

    pub(super) fn finish(mut self, text: &str, spare: &mut Spare) -> FileFacts {
        self.end_of_block();
        let (requests, renumbered) = ordered_requests(&self.requests, text);
        let renumber = |id: RawId| renumbered.get(id.0 as usize).copied().unwrap_or_default();
        let mut stars: Vec<u32> = self.stars.iter().copied().map(renumber).collect();
        stars.sort_unstable();
        stars.dedup();
        let facts = FileFacts {
            imports: ordered_names(&self.names, renumber),
            exports: self.ordered_exports(renumber),
            globs: ordered_globs(std::mem::take(&mut self.globs), text),
            requests,
            stars,
            description: self.description.take(),
            ..FileFacts::default()
        };
        spare.take_back(self);
        facts
    }

    /// The exports, in which local names bound by imports are replaced by the imported names.
    fn ordered_exports(&self, renumber: impl Fn(RawId) -> u32) -> Vec<Export> {
        let bindings = &self.bindings;
        let mut table: FxHashMap<&str, &LocalBinding<'a>> = FxHashMap::default();
        if bindings.len() > FEW && !self.exports.is_empty() {
            table.extend(bindings.iter().map(|(local, bound)| (&**local, bound)));
        }
        // The last binding of a name wins, as in the hash table.
        let bound = |name: &str| match bindings.len() <= FEW {
            true => bindings.iter().rev().find(|(local, _)| local == name).map(|(_, bound)| bound),
            false => table.get(name).copied(),
        };
        let named = |request: RawId, name: &str| ExportSource::Name { request: renumber(request), name: name.into() };
        let from = |bound: &LocalBinding<'_>| match bound {
            LocalBinding::Name(request, name) => named(*request, name),
            LocalBinding::Namespace(request) => ExportSource::Namespace { request: renumber(*request) },
        };
        let source = |export: &RawExport<'_>| match export {
            RawExport::Local => ExportSource::Local,
            RawExport::Binding(local) => bound(local).map_or(ExportSource::Local, from),
            RawExport::Member(local, member) => match bound(local) {
                Some(LocalBinding::Namespace(request)) => named(*request, member),
                _ => ExportSource::Local,
            },
            RawExport::From(bound) => from(bound),
        };
        let mut exports: Vec<Export> = Vec::with_capacity(self.exports.len());
        exports.extend(self.exports.iter().map(|(name, raw)| Export { name: (&**name).into(), source: source(raw) }));
        exports.sort_unstable();
        exports.dedup();
        exports
    }
}

/// The allocations of a collector, for reuse by the next one: barrels with thousands of names would otherwise allocate megabytes
/// each.
#[derive(Default)]
pub(super) struct Spare {
    requests: Vec<RawRequest<'static>>,
    names: Vec<RawName<'static>>,
    bindings: Vec<(Cow<'static, str>, LocalBinding<'static>)>,
    exports: Vec<(Cow<'static, str>, RawExport<'static>)>,
}

impl Spare {
    pub(super) fn collector<'a>(&mut self) -> Collector<'a> {
        Collector {
            requests: emptied(std::mem::take(&mut self.requests)),
            names: emptied(std::mem::take(&mut self.names)),
            bindings: emptied(std::mem::take(&mut self.bindings)),
            exports: emptied(std::mem::take(&mut self.exports)),
            ..Collector::default()
        }
    }

    fn take_back(&mut self, collector: Collector<'_>) {
        self.requests = emptied(collector.requests);
        self.names = emptied(collector.names);
        self.bindings = emptied(collector.bindings);
        self.exports = emptied(collector.exports);
    }
}

/// Larger buffers are freed after the file that needed them: few files have so many names.
const MAX_KEPT: usize = 1 << 16;

/// Empties a list and reuses its allocation for elements of another lifetime: collecting from a `Vec`'s own iterator into a `Vec` of
/// elements of the same size happens in place.
fn emptied<A, B>(mut list: Vec<A>) -> Vec<B> {
    if list.capacity() > MAX_KEPT {
        return Vec::new();
    }
    list.clear();
    list.into_iter().filter_map(|_| None).collect()
}

/// Shorter lists are searched linearly: most files import a handful of modules.
const FEW: usize = 12;

/// Sorts by position, merges duplicates into their first occurrence, and returns the final index of each raw request.
fn ordered_requests(raw: &[RawRequest<'_>], text: &str) -> (Vec<Request>, Vec<u32>) {
    // Usually they were already found in source order.
    let mut order: Vec<usize> = Vec::new();
    if !raw.is_sorted_by_key(|request| request.position) {
        order.extend(0..raw.len());
        order.sort_by_key(|&index| raw[index].position);
    }
    let mut lines = LineCounter::new(text);
    let mut renumbered = vec![0; raw.len()];
    let is_small = raw.len() <= FEW;
    let mut seen: FxHashMap<(&str, EdgeKind, FormCode), u32> = FxHashMap::default();
    if !is_small {
        seen.reserve(raw.len());
    }
    let mut requests: Vec<Request> = Vec::with_capacity(raw.len());
    for index in (0..raw.len()).map(|place| order.get(place).copied().unwrap_or(place)) {
        let RawRequest { position, specifier, kind, form } = &raw[index];
        let next = requests.len() as u32;
        let number = if is_small {
            let same =
                |request: &Request| (&*request.specifier, request.kind, request.form) == (&**specifier, *kind, *form);
            requests.iter().position(same).map_or(next, |at| at as u32)
        } else {
            *seen.entry((specifier, *kind, *form)).or_insert(next)
        };
        if number == next {
            requests.push(Request {
                specifier: specifier.as_ref().into(),
                kind: *kind,
                form: *form,
                line: lines.line_at(*position),
            });
        }
        renumbered[index] = number;
    }
    (requests, renumbered)
}

fn ordered_names(raw: &[RawName<'_>], renumber: impl Fn(RawId) -> u32) -> Vec<ImportedName> {
    let mut names: Vec<ImportedName> = raw
        .iter()
        .map(|RawName { request, name, kind }| ImportedName {
            request: renumber(*request),
            name: (&**name).into(),
            kind: *kind,
        })
        .collect();
    names.sort_by_key(|name| name.request);
    if names.len() <= FEW {
        let mut at = 0;
        while at < names.len() {
            if names[..at].contains(&names[at]) {
                names.remove(at);
            } else {
                at += 1;
            }
        }
        return names;
    }
    // Names of one request are adjacent, so a set per request would be enough; one set for all is simpler and as fast.
    let mut seen = FxHashSet::with_capacity_and_hasher(names.len(), Default::default());
    let first: Vec<bool> = names.iter().map(|name| seen.insert((name.request, &*name.name, name.kind))).collect();
    let mut first = first.into_iter();
    names.retain(|_| first.next().unwrap_or(true));
    names
}

fn ordered_globs(mut raw: Vec<RawGlob>, text: &str) -> Vec<GlobRequest> {
    raw.sort_by_key(|glob| glob.position);
    let mut lines = LineCounter::new(text);
    let request = |RawGlob { position, patterns, with_hidden }| {
        let line = lines.line_at(position);
        GlobRequest { patterns, line, with_hidden }
    };
    raw.into_iter().map(request).collect()
}
