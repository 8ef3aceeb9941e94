//! The forms of requests, and the normalised paths in facts.
//!
//! A specifier is a path as seen from the file's own module: `self::` and `super::` in inline modules are rewritten, so that
//! equal text means equal targets. A plain name in an inline module is looked up first in that module and then among the crates.
//! It is written as `self::module::name`, and the form says how many segments are inline modules.

use stan_model::facts::{FormCode, Request};

/// The syntax of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `mod x;`: the specifier is the path of its file without extension, relative to the folder of the file's module.
    Module,
    /// Like `Module`, but the file may be absent.
    OptionalModule,
    /// `#[path = "x.rs"] mod x;`, relative to the folder of the file (depth 0) or of the file's module.
    ModulePath,
    /// A name, or a glob, of a `use` declaration.
    Use,
    /// A path in code.
    Path,
    /// `extern crate x;`
    Extern,
    /// `include!("x")`; with depth 1, relative to the package's folder.
    Include,
    /// The path of a called macro; a single name for an item macro call.
    Macro,
}

/// Inline modules nested deeper are ignored.
pub(super) const MAX_MODULE_DEPTH: usize = 31;

impl Form {
    const ALL: [Self; 8] = [
        Self::Module,
        Self::OptionalModule,
        Self::ModulePath,
        Self::Use,
        Self::Path,
        Self::Extern,
        Self::Include,
        Self::Macro,
    ];

    pub(super) fn code(self, depth: usize) -> FormCode {
        FormCode(self as u8 | ((depth.min(MAX_MODULE_DEPTH) as u8) << 3))
    }

    /// The name of the macro if the request is an item macro call.
    pub(super) fn item_call(request: &Request) -> Option<&str> {
        // A single name contains no colon.
        let is_call = Self::of(request.form).0 == Self::Macro && !request.specifier.as_bytes().contains(&b':');
        is_call.then_some(&*request.specifier)
    }

    pub(super) fn of(code: FormCode) -> (Self, usize) {
        let form = Self::ALL.get(usize::from(code.0 & 7)).copied().unwrap_or(Self::Path);
        (form, usize::from(code.0 >> 3))
    }
}
