//! A module cut around one place to what an agent needs, and packs of it. Pure.
//!
//! [`plan`] decides which declarations are in: it sees indices, costs and references, and knows no language. [`x07`] is the one
//! emitter: pointers into x07 documents, what a cut leaves of a declaration, the documents that are written, and the way back. What is
//! an expression or a contract comes with the [`SourceModule`](stan_model::module::SourceModule) and its
//! [`Dialect`](stan_model::module::Dialect). The cost is linear in the module: lengths are counted once and subtracted, never written
//! again to be measured.

mod plan;
mod x07;

pub use x07::{
    Applied, ApplyError, ContextPack, DiagnosticFocus, Diagnostics, PackError, PointerSpace, ProjectFacts, SizeBound,
    Slice, SliceError, SliceRequest, apply, canonical_document, readings_differ, slice,
};
