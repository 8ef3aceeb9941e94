//! The emitter for x07 documents: resolves pointers, selects the contents of a slice, writes canonical JSON, and applies edits
//! back to the module. `crate::plan` decides which declarations are kept.

mod apply;
mod bounds;
mod closure;
mod draft;
mod emit;
mod enclosure;
mod error;
mod exports;
mod pack;
mod prune;
mod write;

pub use apply::{Applied, apply, canonical_document};
pub use error::{ApplyError, PackError, SizeBound, SliceError};
pub use pack::{ContextPack, DiagnosticFocus, Diagnostics, ProjectFacts};

use stan_model::document::x07::{
    Closure, Diagnostic, Enclosure, Location, Missing, Omitted, PtrRemap, Severity, SliceMeta, Stage, TruncationData,
};
use stan_model::module::{Dialect, SourceModule};

/// How to interpret a pointer if the file is not in canonical order, and what a pointer outside of all declarations selects under
/// the enclosure `module`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PointerSpace {
    /// It refers to the file as written; outside of all declarations it selects the whole document.
    File,
    /// It refers to the canonical document; outside of all declarations it selects the whole document.
    #[default]
    Canonical,
    /// It refers to the canonical document; outside of all declarations it selects none. The toolchain writes such pointers into
    /// context packs.
    Toolchain,
}

/// The focus and the limits of a slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SliceRequest {
    /// JSON Pointer into the module; white space around it is ignored.
    pub pointer: String,
    pub pointer_space: PointerSpace,
    pub enclosure: Enclosure,
    pub closure: Closure,
    /// The maximum number of declarations.
    pub max_nodes: Option<u64>,
    /// The maximum length of the canonical JSON, in bytes.
    pub max_bytes: Option<u64>,
}

impl SliceRequest {
    /// The pointer without surrounding white space.
    pub fn trimmed_pointer(&self) -> &str {
        self.pointer.trim()
    }

    /// The report for a request that failed.
    pub fn stub_meta(&self) -> SliceMeta {
        SliceMeta {
            ptr: self.trimmed_pointer().to_owned(),
            enclosure: self.enclosure,
            closure: self.closure,
            ptr_remap: Vec::new(),
            omitted: Omitted {
                locals: !self.closure.includes_locals(),
                types: !self.closure.includes_types(),
                imports: !self.closure.includes_imports(),
            },
            missing: Missing::default(),
            truncated: false,
            truncation: None,
        }
    }
}

/// Whether the two interpretations of a pointer are different locations.
pub fn readings_differ(module: &SourceModule<'_>, dialect: &dyn Dialect, pointer: &str) -> bool {
    let place = |pointer_space| enclosure::place(module, dialect, pointer_space, pointer.trim());
    place(PointerSpace::File) != place(PointerSpace::Canonical)
}

/// A slice: a complete document, and information about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Canonical JSON, without a final newline.
    pub ast: Vec<u8>,
    pub meta: SliceMeta,
    /// One entry if a bound cut something.
    pub diagnostics: Vec<Diagnostic>,
}

/// Locates the focus, selects what it needs, and drops declarations until the bounds hold.
pub fn slice(module: &SourceModule<'_>, dialect: &dyn Dialect, request: &SliceRequest) -> Result<Slice, SliceError> {
    let focus = enclosure::locate(module, dialect, request)?;
    let selection = closure::select(module, dialect, request, &focus);
    let mut draft = draft::Draft::new(module, dialect, request, &focus, &selection);
    let truncation = bounds::enforce(&mut draft, request)?;
    draft.check_numbers()?;
    let pointer = request.trimmed_pointer();
    let diagnostics = truncation.as_ref().map(|record| Diagnostic {
        code: "X07-AST-SLICE-0001",
        severity: Severity::Info,
        stage: Stage::Run,
        message: format!("x07 ast slice truncated ({})", record.reason.as_str()),
        loc: Some(Location { kind: "x07ast", ptr: pointer.to_owned() }),
        data: Some(TruncationData { record: record.clone(), dropped_decls: draft.dropped_names() }),
    });
    let meta = SliceMeta {
        ptr_remap: draft
            .focus_pointer()
            .filter(|to| to != pointer)
            .map(|to| PtrRemap { from: pointer.to_owned(), to })
            .into_iter()
            .collect(),
        omitted: selection.omitted,
        missing: draft.missing(&selection),
        truncated: truncation.is_some(),
        truncation,
        ..request.stub_meta()
    };
    Ok(Slice { ast: draft.write(), meta, diagnostics: diagnostics.into_iter().collect() })
}
