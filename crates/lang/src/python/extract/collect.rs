//! What extraction found so far, on its way to `FileFacts`: requests are unique and in source order, names sorted.

use rustc_hash::FxHashMap;
use stan_model::facts::{Export, ExportSource, ImportedName, Request};
use stan_model::{EdgeKind, FileFacts};

use crate::python::form::Form;
use crate::typescript::extract::collect::LineCounter;

/// With fewer requests than this, a linear search is faster than a table.
const FEW: usize = 16;

#[derive(Default)]
pub(super) struct Collector {
    requests: Vec<Raw>,
    by_key: FxHashMap<(Box<str>, EdgeKind, u8), u32>,
    imports: Vec<ImportedName>,
    exports: Vec<Export>,
    stars: Vec<u32>,
}

struct Raw {
    specifier: Box<str>,
    kind: EdgeKind,
    form: Form,
    position: u32,
}

impl Collector {
    /// Records a request, and returns its number.
    pub(super) fn request(&mut self, position: u32, specifier: String, kind: EdgeKind, form: Form) -> u32 {
        let next = self.requests.len() as u32;
        let specifier = specifier.into_boxed_str();
        if self.requests.len() < FEW {
            let same = |raw: &Raw| raw.kind == kind && raw.form == form && raw.specifier == specifier;
            if let Some(at) = self.requests.iter().position(same) {
                return at as u32;
            }
        } else {
            if self.by_key.is_empty() {
                let keys = self.requests.iter().zip(0..);
                self.by_key = keys.map(|(raw, at)| ((raw.specifier.clone(), raw.kind, raw.form as u8), at)).collect();
            }
            let number = *self.by_key.entry((specifier.clone(), kind, form as u8)).or_insert(next);
            if number != next {
                return number;
            }
        }
        self.requests.push(Raw { specifier, kind, form, position });
        next
    }

    /// A name that is taken from a request, to be followed to where it is defined.
    pub(super) fn take(&mut self, request: u32, name: &str, kind: EdgeKind) {
        self.imports.push(ImportedName { request, name: name.into(), kind });
    }

    pub(super) fn offer(&mut self, name: &str, source: ExportSource) {
        self.exports.push(Export { name: name.into(), source });
    }

    pub(super) fn star(&mut self, request: u32) {
        self.stars.push(request);
    }

    pub(super) fn finish(mut self, text: &str) -> FileFacts {
        self.exports.sort_unstable();
        self.exports.dedup();
        self.stars.sort_unstable();
        self.stars.dedup();
        FileFacts {
            requests: with_lines(self.requests, text),
            imports: unique(self.imports),
            exports: self.exports,
            stars: self.stars,
            ..FileFacts::default()
        }
    }
}

/// Requests are found in source order, so that lines are counted in one pass.
fn with_lines(raw: Vec<Raw>, text: &str) -> Vec<Request> {
    let mut lines = LineCounter::new(text);
    let request = |raw: Raw| Request {
        specifier: raw.specifier,
        kind: raw.kind,
        form: raw.form.code(),
        line: lines.line_at(raw.position),
    };
    raw.into_iter().map(request).collect()
}

fn unique(mut imports: Vec<ImportedName>) -> Vec<ImportedName> {
    let mut seen = rustc_hash::FxHashSet::default();
    imports.retain(|import| seen.insert((import.request, import.name.clone(), import.kind)));
    imports
}
