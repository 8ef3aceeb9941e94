//! The forms of TypeScript requests. Facts contain them as [`FormCode`], which only the resolver decodes.

use stan_model::facts::FormCode;

/// The module system that a specifier is resolved for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ModuleSystem {
    Import,
    Require,
}

/// The syntax of a request, as far as it matters for resolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Form {
    /// `import … from`, `import 'x'`, `export … from`, and JSDoc `@import`.
    Static,
    /// `import x = require('x')`.
    ImportEquals,
    /// `import('x')`, `import.defer('x')`, `import.source('x')`.
    DynamicImport,
    /// `require('x')`, also through a name bound by `createRequire`.
    Require,
    /// `require('x')` or `require.resolve('x')` where `require` is a parameter of an enclosing function (AMD, bundles): adds an
    /// edge only if it resolves to a file.
    RequireParam,
    /// `require.resolve('x')`.
    RequireResolve,
    /// `import.meta.resolve('x')`.
    MetaResolve,
    /// `new URL('x', import.meta.url)`: adds an edge only if the file exists.
    Url,
    /// `vi.mock('x')`, `jest.mock('x')`, `vi.importActual('x')` and similar.
    Mock,
    /// `import('x')` in type position, also in JSDoc of JavaScript.
    ImportType,
    /// `/// <reference path="x" />`.
    ReferencePath,
    /// `/// <reference types="x" />`.
    ReferenceTypes,
    /// Any static form inside `declare module '…' { }`.
    InModule,
    /// The `'x'` of `declare module 'x'` in a file that is a module itself.
    Augment,
    /// `require('x')` or `require.resolve('x')` through a name bound by `createRequire` with an unknown base: adds an edge only
    /// if it resolves to a file of a package.
    RequireElsewhere,
}

/// In declaration order: the index of a form is its code.
const FORMS: [Form; 15] = [
    Form::Static,
    Form::ImportEquals,
    Form::DynamicImport,
    Form::Require,
    Form::RequireParam,
    Form::RequireResolve,
    Form::MetaResolve,
    Form::Url,
    Form::Mock,
    Form::ImportType,
    Form::ReferencePath,
    Form::ReferenceTypes,
    Form::InModule,
    Form::Augment,
    Form::RequireElsewhere,
];

const MODES: [Option<ModuleSystem>; 3] = [None, Some(ModuleSystem::Import), Some(ModuleSystem::Require)];

impl Form {
    /// The code of a form with its explicit mode (`with { "resolution-mode": "import" | "require" }` on a type-only import, an
    /// import type, or a reference).
    pub fn code(self, mode: Option<ModuleSystem>) -> FormCode {
        let mode = match mode {
            None => 0,
            Some(ModuleSystem::Import) => 1,
            Some(ModuleSystem::Require) => 2,
        };
        FormCode(self as u8 * MODES.len() as u8 + mode)
    }

    /// Whether the form follows Node's rules for `require`.
    pub(crate) fn is_require(self) -> bool {
        matches!(self, Self::Require | Self::RequireResolve | Self::RequireParam | Self::RequireElsewhere)
    }

    /// Whether the form adds no edge if the file does not exist.
    pub(crate) fn is_edge_only_to_files(self) -> bool {
        matches!(self, Self::RequireParam | Self::RequireElsewhere)
    }

    /// The form and the explicit mode of a code.
    pub fn decode(code: FormCode) -> (Self, Option<ModuleSystem>) {
        let code = usize::from(code.0);
        let form = FORMS.get(code / MODES.len()).copied().unwrap_or(Self::Static);
        (form, MODES.get(code % MODES.len()).copied().flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_and_decode_to_their_forms() {
        for (index, form) in FORMS.into_iter().enumerate() {
            for (number, mode) in MODES.into_iter().enumerate() {
                let code = form.code(mode);
                assert_eq!(usize::from(code.0), index * MODES.len() + number);
                assert_eq!(Form::decode(code), (form, mode));
            }
        }
    }
}
