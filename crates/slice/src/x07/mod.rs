//! The emitter for x07 documents: where a pointer leads, what a slice holds and lacks, canonical JSON of it, and the
//! way back into the module. Which declarations are in is decided by `crate::plan`.

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

/// How a pointer is read where the file is not in canonical order, and what one outside of all declarations selects
/// under the enclosure `module`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PointerSpace {
    /// It addresses the file as written, and outside of all declarations it selects the whole document.
    File,
    /// It addresses the canonical document, and outside of all declarations it selects the whole document.
    #[default]
    Canonical,
    /// It addresses the canonical document, and outside of all declarations it selects none: what the toolchain puts into
    /// a context pack.
    Toolchain,
}

/// What to cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SliceRequest {
    /// JSON Pointer into the module; white space around it is ignored.
    pub pointer: String,
    pub reading: PointerSpace,
    pub enclosure: Enclosure,
    pub closure: Closure,
    /// The most declarations.
    pub max_nodes: Option<u64>,
    /// The most bytes of canonical JSON.
    pub max_bytes: Option<u64>,
}

impl SliceRequest {
    /// The pointer without the white space around it.
    pub fn trimmed_pointer(&self) -> &str {
        self.pointer.trim()
    }

    /// What is reported of a request that failed.
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

/// Whether the two readings of a pointer resolve to different locations.
pub fn readings_differ(module: &SourceModule<'_>, dialect: &dyn Dialect, pointer: &str) -> bool {
    let place = |reading| enclosure::place(module, dialect, reading, pointer.trim());
    place(PointerSpace::File) != place(PointerSpace::Canonical)
}

/// A slice: a document of its own, and what is to be known about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Canonical JSON, without a newline.
    pub ast: Vec<u8>,
    pub meta: SliceMeta,
    /// One entry when a bound cut something.
    pub diagnostics: Vec<Diagnostic>,
}

/// Cuts a module.
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
