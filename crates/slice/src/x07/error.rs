//! Why a slice or a pack cannot be made, or an edited slice not be applied. Messages name no options: how a request is typed is the program's business.

use stan_model::jcs::JcsError;

/// What a bound counts.
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

/// Why a module cannot be cut as asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SliceError {
    /// A pointer is empty or starts with a slash.
    #[error("invalid JSON Pointer (expected leading '/'): {pointer:?}")]
    InvalidPointer { pointer: String },
    /// Nothing of the document is there.
    #[error("JSON Pointer not found: {pointer:?}")]
    PointerNotFound { pointer: String },
    /// A bound of nothing.
    #[error("the bound of {bound} must be >= 1")]
    BoundIsZero { bound: SizeBound },
    /// The enclosure is a declaration and the pointer is in none.
    #[error("the enclosure {enclosure} requires a pointer under /{declarations}/<i>")]
    NotInDeclaration { enclosure: &'static str, declarations: &'static str },
    /// The enclosure is a definition and the pointer is in another declaration.
    #[error("the enclosure defn requires a defn/defasync decl, got kind={kind:?}")]
    NotADefinition { kind: &'static str },
    /// Even the smallest document with the focus is larger.
    #[error("the smallest document that holds the focus has {minimum} bytes, and {max_bytes} are allowed")]
    CannotTruncate { max_bytes: u64, minimum: u64 },
    /// A number in the slice has no canonical form.
    #[error(transparent)]
    NotCanonical(#[from] JcsError),
}

/// Why an edited slice cannot go back into its module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// The slice has only a part of what was edited.
    #[error("{pointer} of the module was cut or left out of the slice, so an edit of it would lose the rest")]
    CutAway { pointer: String },
    /// A slice is of the same module, version and kind as when it was cut.
    #[error("{pointer} of a slice cannot be edited")]
    Fixed { pointer: String },
    /// A declaration of the slice is gone.
    #[error("{name:?} is missing in the edited slice: declarations are changed and added, never removed")]
    Removed { name: String },
    /// A declaration was added that the module has, outside the slice.
    #[error("{name:?} was added to the slice, and the module already has a declaration of that name")]
    Exists { name: String },
    /// Canonical JSON that cannot be read: it nests too deeply.
    #[error("the module nests too deeply")]
    Unreadable,
    /// Something in it has no canonical form.
    #[error(transparent)]
    NotCanonical(#[from] SliceError),
}

/// Why no pack could be made from diagnostics.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PackError {
    /// The file is not JSON.
    #[error("diagnostics are not JSON: {message}")]
    NotJson { message: String },
    /// A number in it has no canonical form.
    #[error("diagnostics cannot be repeated: {0}")]
    NotCanonical(#[from] JcsError),
    /// Neither x07diag nor a tool's report.
    #[error("unsupported diag schema_version: {found:?} (expected x07.x07diag@0.1.0 or x07.tool.*@0.1.0)")]
    UnknownSchema { found: String },
    /// There is nothing to focus on.
    #[error("diag JSON has no diagnostics")]
    NoDiagnostics,
    /// The diagnostic in focus lacks something.
    #[error("focus diagnostic has no {what} at {pointer}")]
    IncompleteFocus { what: &'static str, pointer: String },
    /// It points into something that is not an x07AST.
    #[error("focus diagnostic loc.kind is not x07ast (got {found:?}) at {pointer}; re-run producing x07ast pointers")]
    OtherLocation { found: String, pointer: String },
}
