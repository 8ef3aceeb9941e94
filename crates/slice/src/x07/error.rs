//! Errors of slices, packs and applying edited slices. Messages do not name options: the program knows how a request is typed.

use stan_model::jcs::JcsError;

/// The unit of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeBound {
    Declarations,
    Bytes,
}

impl std::fmt::Display for SizeBound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Declarations => "declarations",
            Self::Bytes => "bytes",
        })
    }
}

/// Why a module cannot be sliced as requested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SliceError {
    /// A pointer must be empty or start with a slash.
    #[error("invalid JSON Pointer (expected leading '/'): {pointer:?}")]
    InvalidPointer { pointer: String },
    /// The pointer resolves to nothing.
    #[error("JSON Pointer not found: {pointer:?}")]
    PointerNotFound { pointer: String },
    /// A bound of 0.
    #[error("the bound of {bound} must be >= 1")]
    BoundIsZero { bound: SizeBound },
    /// The enclosure is a declaration, but the pointer is outside of all declarations.
    #[error("the enclosure {enclosure} requires a pointer under /{declarations}/<i>")]
    NotInDeclaration { enclosure: &'static str, declarations: &'static str },
    /// The enclosure is a definition, but the pointer is in another kind of declaration.
    #[error("the enclosure defn requires a defn/defasync decl, got kind={kind:?}")]
    NotADefinition { kind: &'static str },
    /// Even the smallest document with the focus is larger than allowed.
    #[error("the smallest document that holds the focus has {minimum} bytes, and {max_bytes} are allowed")]
    CannotTruncate { max_bytes: u64, minimum: u64 },
    /// A number in the slice has no canonical form.
    #[error(transparent)]
    NotCanonical(#[from] JcsError),
}

/// Why an edited slice cannot be applied to its module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// The slice contains only a part of what was edited.
    #[error("{pointer} of the module was cut or left out of the slice, so an edit of it would lose the rest")]
    CutAway { pointer: String },
    /// The module, version and kind of a slice must stay.
    #[error("{pointer} of a slice cannot be edited")]
    Fixed { pointer: String },
    /// A declaration of the slice was removed.
    #[error("{name:?} is missing in the edited slice: declarations are changed and added, never removed")]
    Removed { name: String },
    /// An added declaration has the name of one that is outside of the slice.
    #[error("{name:?} was added to the slice, and the module already has a declaration of that name")]
    Exists { name: String },
    /// The canonical JSON cannot be parsed again: it nests too deeply.
    #[error("the module nests too deeply")]
    Unreadable,
    /// A value has no canonical form.
    #[error(transparent)]
    NotCanonical(#[from] SliceError),
}

/// Why no pack could be made from diagnostics.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PackError {
    /// The file is not JSON.
    #[error("diagnostics are not JSON: {message}")]
    NotJson { message: String },
    /// A number has no canonical form.
    #[error("diagnostics cannot be repeated: {0}")]
    NotCanonical(#[from] JcsError),
    /// Neither x07diag nor the report of a tool.
    #[error("unsupported diag schema_version: {found:?} (expected x07.x07diag@0.1.0 or x07.tool.*@0.1.0)")]
    UnknownSchema { found: String },
    /// There is nothing to focus on.
    #[error("diag JSON has no diagnostics")]
    NoDiagnostics,
    /// A required field of the diagnostic in focus is missing.
    #[error("focus diagnostic has no {what} at {pointer}")]
    IncompleteFocus { what: &'static str, pointer: String },
    /// It refers to something other than an x07AST.
    #[error("focus diagnostic loc.kind is not x07ast (got {found:?}) at {pointer}; re-run producing x07ast pointers")]
    OtherLocation { found: String, pointer: String },
}
