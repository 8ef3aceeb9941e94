//! From facts and targets to the dependency graph, with its queries and outputs. Pure: no I/O, no threads of its own.
//!
//! The engine pushes nodes and explicit edges into a [`GraphBuilder`], gets the implicit ones from a [`Tunneller`], and passes
//! the finished [`Graph`] to a query or a writer. Nothing here resolves a specifier or reads a file.

mod builder;
mod canonical;
mod cycles;
mod graph;
mod group;
mod map;
mod neighbours;
pub mod overview;
mod query;
mod select;
mod summary;
mod tunnel;
pub mod view;
mod write;

pub use builder::{BuildError, Built, GraphBuilder, Indices, Merged};
pub use canonical::{
    Canonical, Conflict, ExternalFile, Externals, PackageFile, Unlocated, canonical_id, is_safe_package,
};
pub use cycles::{Cycle, cycles};
pub use graph::{Edge, FileMeta, Graph, Node};
pub use group::{GroupBy, grouped};
pub use map::{HashPrefix, JsonStyle, Map, MapEdge, MapNode, MetaHashes, hash_text};
pub use neighbours::{Neighbour, importer_counts, kind_bit, neighbours, with_kinds};
pub use query::{Direction, Stats, closure, closure_within};
pub use select::{
    EntryKinds, HashWithoutSize, Largest, Reasons, SelectError, SelectOptions, Selection, SelectionEntry,
    SelectionSummary, cover, select, summarize, unknown_warning, why,
};
pub use summary::Summary;
pub use tunnel::{FileKey, Implicit, Module, Modules, Tunneller};
pub use write::{write_cycles_json, write_dot, write_json, write_mermaid, write_stats};
