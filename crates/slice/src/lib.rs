//! Slices a module around one location to what an agent needs, and builds context packs from slices. Pure.
//!
//! [`plan`] decides which declarations to keep: it sees indices, costs and references, and knows no language. [`x07`] is the only
//! emitter: it resolves pointers into x07 documents, cuts declarations, writes documents, and applies edits back to the module.
//! Expressions and contracts are defined by the [`SourceModule`](stan_model::module::SourceModule) and its
//! [`Dialect`](stan_model::module::Dialect). The cost is linear in the module: lengths are computed once and then subtracted,
//! never measured by writing again.

mod plan;
mod x07;

pub use x07::{
    Applied, ApplyError, ContextPack, DiagnosticFocus, Diagnostics, PackError, PointerSpace, ProjectFacts, SizeBound,
    Slice, SliceError, SliceRequest, apply, canonical_document, readings_differ, slice,
};
