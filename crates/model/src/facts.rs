//! What one module says about the outside: which modules it asks for, which names it takes from them, and
//! what it offers under which names. Pure data, cached between runs; nothing is resolved here.

use crate::EdgeKind;
use serde::{Deserialize, Serialize};

/// The facts of one source file. Lists are in source order (`exports` aside), so equal text gives equal facts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFacts {
    /// Every module asked for. Entries equal in (specifier, kind, form) occur once, at their first line.
    pub requests: Vec<Request>,
    /// Pattern requests: `import.meta.glob` and template imports.
    pub globs: Vec<GlobRequest>,
    /// Names taken from a request, for tunnelling: by `import {a}`, `import d` (as `default`), `export {a} from`,
    /// `import('x').A` in type position, and JSDoc `@import {A}`. Namespace, side-effect and dynamic forms take none.
    pub imports: Vec<ImportedName>,
    /// Names offered, sorted by (name, source) and unique, so that a name is found by binary search. A name may occur
    /// more than once (overloads and merged declarations are folded; two sources are not).
    pub exports: Vec<Export>,
    /// Requests behind `export * from`, without a name; ascending and unique.
    pub stars: Vec<u32>,
    /// One line about the module (spec 10 §6).
    pub description: Option<Box<str>>,
    /// The package or namespace that the file says it belongs to, in languages where files say so.
    pub package: Option<Box<str>>,
    /// Names declared at top level, sorted and unique. Empty in languages whose files are linked by requests alone.
    pub declares: Vec<Box<str>>,
    /// Names used and neither declared in this file nor imported, sorted and unique: other files of the package may declare
    /// them. Names that are taken from a request are in `imports`. Empty like `declares`.
    pub uses: Vec<Box<str>>,
}

/// One module specifier and how it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Request {
    /// The specifier's value, escapes resolved, never empty.
    pub specifier: Box<str>,
    pub kind: EdgeKind,
    pub form: FormCode,
    /// 1-based line of the specifier.
    pub line: u32,
}

/// The syntax of a request, as a number that only the language of the file understands: its resolver may answer requests of
/// different forms differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FormCode(pub u8);

/// A set of files asked for by pattern, relative to the asking file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct GlobRequest {
    /// Globs; a leading `!` takes matches away. For templates, `${…}` is `*` and the literal text is escaped
    /// with `[…]`.
    pub patterns: Vec<Box<str>>,
    pub line: u32,
    /// Whether wildcards match names that start with a dot.
    pub with_hidden: bool,
}

/// A name that the file takes from a module.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ImportedName {
    /// Index into `requests`.
    pub request: u32,
    /// The name in the module asked, `default` included.
    pub name: Box<str>,
    /// `Type` when this very specifier is type-only, else `Runtime`.
    pub kind: EdgeKind,
}

/// A name that the file offers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Export {
    /// `default` for the default export, `export=` for `export =`.
    pub name: Box<str>,
    pub source: ExportSource,
}

/// Where an offered name comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ExportSource {
    /// Declared in this file.
    Local,
    /// `export {name as …} from`, or an import binding that is exported again.
    Name { request: u32, name: Box<str> },
    /// `export * as … from`, or a namespace import (or `import x = require()`) that is exported again.
    Namespace { request: u32 },
}

impl FileFacts {
    /// The requests whose modules this file offers again, in part or whole.
    pub fn reexported_requests(&self) -> impl Iterator<Item = u32> + '_ {
        let named = self.exports.iter().filter_map(|export| match &export.source {
            ExportSource::Local => None,
            ExportSource::Name { request, .. } | ExportSource::Namespace { request } => Some(*request),
        });
        named.chain(self.stars.iter().copied())
    }

    /// Whether edges to or from the file may follow from names instead of requests.
    pub fn is_linked_by_name(&self) -> bool {
        !self.declares.is_empty() || !self.uses.is_empty()
    }
}
