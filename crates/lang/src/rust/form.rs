//! How a file asks for something, and how paths are written in facts.
//!
//! A specifier is a path as seen from the module that the file is: `self::` and `super::` of modules inside the file are turned into that,
//! so that equal text means equal things. A plain name in a module inside the file is looked up in that module first and then among the
//! crates: it is written as `self::module::name`, and the form says how many segments are modules of the file.

use stan_model::facts::{FormCode, Request};

/// The syntax of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `mod x;`: the specifier is the path of its file without ending, below the folder of the file's module.
    Module,
    /// As `Module`, where the file may be absent.
    OptionalModule,
    /// `#[path = "x.rs"] mod x;`, relative to the folder of the file (depth 0) or of the file's module.
    ModulePath,
    /// A name, or all names, of a `use` declaration.
    Use,
    /// A path in code.
    Path,
    /// `extern crate x;`
    Extern,
    /// `include!("x")`; below the package's folder with depth 1.
    Include,
    /// The path of a macro that is called; a single name for a call at the place of an item.
    Macro,
}

/// Modules inside a file that are deeper than this are not followed.
pub(super) const DEEPEST: usize = 31;

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
        FormCode(self as u8 | ((depth.min(DEEPEST) as u8) << 3))
    }

    /// The macro that a call at the place of an item names, for such a request.
    pub(super) fn item_call(request: &Request) -> Option<&str> {
        // Names have no colon.
        let is_call = Self::of(request.form).0 == Self::Macro && !request.specifier.as_bytes().contains(&b':');
        is_call.then_some(&*request.specifier)
    }

    pub(super) fn of(code: FormCode) -> (Self, usize) {
        let form = Self::ALL.get(usize::from(code.0 & 7)).copied().unwrap_or(Self::Path);
        (form, usize::from(code.0 >> 3))
    }
}
