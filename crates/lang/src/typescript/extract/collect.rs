//! Gathers raw findings in any order and turns them into [`FileFacts`]: source order, duplicates folded, lines
//! counted, exported bindings traced to the import that bound them. Knows nothing of syntax trees.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};
use stan_model::EdgeKind;

use crate::facts::{Export, ExportSource, FileFacts, Form, GlobRequest, ImportedName, Mode, Request};

/// Index of a raw request, in the order of finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RawId(u32);

/// What a local name is bound to by an import.
#[derive(Clone, Debug)]
pub(super) enum Bound<'a> {
    Name(RawId, Cow<'a, str>),
    Namespace(RawId),
}

struct RawRequest<'a> {
    position: u32,
    specifier: Cow<'a, str>,
    kind: EdgeKind,
    form: Form,
    mode: Option<Mode>,
}

struct RawName<'a> {
    request: RawId,
    name: Cow<'a, str>,
    kind: EdgeKind,
}

/// Where an exported name comes from, before local names are looked up.
enum RawExport<'a> {
    Local,
    /// A local name that may turn out to be bound by an import.
    Binding(Cow<'a, str>),
    /// A member of a local name that may turn out to be a namespace import.
    Member(Cow<'a, str>, Cow<'a, str>),
    From(Bound<'a>),
}

/// The findings of one file. Positions are byte offsets into the whole file's text.
#[derive(Default)]
pub(super) struct Collector<'a> {
    /// Added to every position: where the block that is being read starts in the file.
    pub(super) base: u32,
    /// TypeScript's "external module": has an import, an export, or `import.meta`.
    pub(super) is_module: bool,
    requests: Vec<RawRequest<'a>>,
    names: Vec<RawName<'a>>,
    globs: Vec<(u32, Vec<Box<str>>)>,
    stars: Vec<RawId>,
    bindings: Vec<(Cow<'a, str>, Bound<'a>)>,
    exports: Vec<(Cow<'a, str>, RawExport<'a>)>,
    augmented: Vec<(u32, Cow<'a, str>)>,
    description: Option<Box<str>>,
}

impl<'a> Collector<'a> {
    /// Records a request. An empty specifier asks for nothing and is dropped.
    pub(super) fn request(
        &mut self,
        position: u32,
        specifier: impl Into<Cow<'a, str>>,
        kind: EdgeKind,
        form: Form,
        mode: Option<Mode>,
    ) -> Option<RawId> {
        let specifier = specifier.into();
        if specifier.is_empty() {
            return None;
        }
        let id = RawId(u32::try_from(self.requests.len()).ok()?);
        self.requests.push(RawRequest { position: self.base + position, specifier, kind, form, mode });
        Some(id)
    }

    pub(super) fn name(&mut self, request: RawId, name: impl Into<Cow<'a, str>>, kind: EdgeKind) {
        self.names.push(RawName { request, name: name.into(), kind });
    }

    pub(super) fn glob(&mut self, position: u32, patterns: Vec<Box<str>>) {
        if !patterns.is_empty() {
            self.globs.push((self.base + position, patterns));
        }
    }

    pub(super) fn star(&mut self, request: RawId) {
        self.stars.push(request);
    }

    /// A local name that an import binds.
    pub(super) fn bind(&mut self, local: impl Into<Cow<'a, str>>, bound: Bound<'a>) {
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

    pub(super) fn export_from(&mut self, name: impl Into<Cow<'a, str>>, bound: Bound<'a>) {
        self.exports.push((name.into(), RawExport::From(bound)));
    }

    /// The `'x'` of `declare module 'x'`: an edge only if the file turns out to be a module.
    pub(super) fn augment(&mut self, position: u32, specifier: impl Into<Cow<'a, str>>) {
        self.augmented.push((position, specifier.into()));
    }

    /// Keeps the longest description; the first of equally long ones.
    pub(super) fn describe(&mut self, description: Option<Box<str>>) {
        let longer = |new: &str, old: &str| new.chars().count() > old.chars().count();
        if let Some(new) = description
            && self.description.as_ref().is_none_or(|old| longer(&new, old))
        {
            self.description = Some(new);
        }
    }

    /// Settles what only the end of a block can tell: augmentations need to know whether this is a module.
    pub(super) fn end_of_block(&mut self) {
        for (position, specifier) in std::mem::take(&mut self.augmented) {
            if self.is_module {
                self.request(position, specifier, EdgeKind::Type, Form::Augment, None);
            }
        }
    }

    pub(super) fn finish(mut self, text: &str) -> FileFacts {
        self.end_of_block();
        let exports = self.traced_exports();
        let (requests, renumbered) = ordered_requests(std::mem::take(&mut self.requests), text);
        let renumber = |id: RawId| renumbered.get(id.0 as usize).copied().unwrap_or_default();
        let mut stars: Vec<u32> = self.stars.into_iter().map(renumber).collect();
        stars.sort_unstable();
        stars.dedup();
        FileFacts {
            imports: ordered_names(self.names, renumber),
            exports: ordered_exports(exports, renumber),
            globs: ordered_globs(self.globs, text),
            requests,
            stars,
            description: self.description,
        }
    }

    /// Replaces local names that an import bound by what they were bound to.
    fn traced_exports(&mut self) -> Vec<(Cow<'a, str>, Option<Bound<'a>>)> {
        let bindings = &self.bindings;
        let mut table: FxHashMap<&str, &Bound<'a>> = FxHashMap::default();
        if bindings.len() > FEW && !self.exports.is_empty() {
            table.extend(bindings.iter().map(|(local, bound)| (&**local, bound)));
        }
        // The last binding of a name wins, as in the table.
        let bound = |name: &str| match bindings.len() <= FEW {
            true => bindings.iter().rev().find(|(local, _)| local == name).map(|(_, bound)| bound),
            false => table.get(name).copied(),
        };
        std::mem::take(&mut self.exports)
            .into_iter()
            .map(|(name, export)| {
                let source = match export {
                    RawExport::Local => None,
                    RawExport::Binding(local) => bound(&local).cloned(),
                    RawExport::Member(local, member) => match bound(&local) {
                        Some(Bound::Namespace(request)) => Some(Bound::Name(*request, member)),
                        _ => None,
                    },
                    RawExport::From(bound) => Some(bound),
                };
                (name, source)
            })
            .collect()
    }
}

/// Lists up to this length are searched as they are: most files import a handful of modules.
const FEW: usize = 12;

/// Sorts by place, folds duplicates into their first occurrence, and tells each raw request's final index.
fn ordered_requests(raw: Vec<RawRequest<'_>>, text: &str) -> (Vec<Request>, Vec<u32>) {
    let mut order: Vec<usize> = (0..raw.len()).collect();
    order.sort_by_key(|&index| raw[index].position);
    let mut lines = LineCounter::new(text);
    let mut renumbered = vec![0; raw.len()];
    let is_small = raw.len() <= FEW;
    let mut seen: FxHashMap<(&str, EdgeKind, Form, Option<Mode>), u32> = FxHashMap::default();
    let mut requests: Vec<Request> = Vec::with_capacity(raw.len());
    for index in order {
        let RawRequest { position, specifier, kind, form, mode } = &raw[index];
        let next = requests.len() as u32;
        let number = if is_small {
            let same = |request: &Request| {
                (&*request.specifier, request.kind, request.form, request.mode) == (&**specifier, *kind, *form, *mode)
            };
            requests.iter().position(same).map_or(next, |at| at as u32)
        } else {
            *seen.entry((specifier, *kind, *form, *mode)).or_insert(next)
        };
        if number == next {
            requests.push(Request {
                specifier: specifier.as_ref().into(),
                kind: *kind,
                form: *form,
                mode: *mode,
                line: lines.line_at(*position),
            });
        }
        renumbered[index] = number;
    }
    (requests, renumbered)
}

fn ordered_names(raw: Vec<RawName<'_>>, renumber: impl Fn(RawId) -> u32) -> Vec<ImportedName> {
    let mut names: Vec<ImportedName> = raw
        .into_iter()
        .map(|RawName { request, name, kind }| ImportedName { request: renumber(request), name: name.into(), kind })
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
    // Names of one request lie together, so a set per request would do; one set for all is simpler and as fast.
    let mut seen = FxHashSet::with_capacity_and_hasher(names.len(), Default::default());
    let first: Vec<bool> = names.iter().map(|name| seen.insert((name.request, &*name.name, name.kind))).collect();
    let mut first = first.into_iter();
    names.retain(|_| first.next().unwrap_or(true));
    names
}

fn ordered_exports(raw: Vec<(Cow<'_, str>, Option<Bound<'_>>)>, renumber: impl Fn(RawId) -> u32) -> Vec<Export> {
    let mut exports: Vec<Export> = raw
        .into_iter()
        .map(|(name, source)| {
            let source = match source {
                None => ExportSource::Local,
                Some(Bound::Name(request, name)) => {
                    ExportSource::Name { request: renumber(request), name: name.into() }
                }
                Some(Bound::Namespace(request)) => ExportSource::Namespace { request: renumber(request) },
            };
            Export { name: name.into(), source }
        })
        .collect();
    exports.sort_unstable();
    exports.dedup();
    exports
}

fn ordered_globs(mut raw: Vec<(u32, Vec<Box<str>>)>, text: &str) -> Vec<GlobRequest> {
    raw.sort_by_key(|(position, _)| *position);
    let mut lines = LineCounter::new(text);
    raw.into_iter().map(|(position, patterns)| GlobRequest { line: lines.line_at(position), patterns }).collect()
}

/// Line numbers of ascending positions, each byte looked at once. A line ends with LF, CR LF or CR, as in
/// ECMAScript (its two exotic separators aside).
pub(super) struct LineCounter<'a> {
    bytes: &'a [u8],
    counted: usize,
    line: u32,
}

impl<'a> LineCounter<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { bytes: text.as_bytes(), counted: 0, line: 1 }
    }

    /// The 1-based line of a position that is not before the last one asked for.
    pub(super) fn line_at(&mut self, position: u32) -> u32 {
        let end = (position as usize).min(self.bytes.len());
        if let Some(part) = self.bytes.get(self.counted..end) {
            for found in memchr::memchr2_iter(b'\n', b'\r', part) {
                let at = self.counted + found;
                if self.bytes[at] == b'\n' || self.bytes.get(at + 1) != Some(&b'\n') {
                    self.line += 1;
                }
            }
            self.counted = end;
        }
        self.line
    }
}
