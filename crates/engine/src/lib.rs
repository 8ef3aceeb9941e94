//! One function per user verb, joining the stages. The only API that the programs use.

pub mod answers;
mod cache;
pub mod config;
pub mod context;
mod context_pack;
mod documents;
pub mod graph;
pub mod imports;
pub mod init;
mod lenient_system;
mod line_diff;
mod not_analysed;
mod observed_system;
pub mod outline;
pub mod overview;
pub mod pack;
pub mod relevance;
pub mod reply;
pub mod scripts;
pub mod secrets;
mod slice;
pub mod suggest;
mod threads;
pub mod tokens;

pub use context_pack::{ContextCommand, context_pack};
pub use documents::{DocumentStore, Outcome, content_digest, write_document};
pub use line_diff::unified_patch;
pub use slice::{SliceCommand, slice};
pub use stan_model::document::x07 as x07_documents;
pub use stan_model::untrusted::visible_json;
pub use stan_model::{Untrusted, jcs};
pub use stan_repo::{EntryKind, OsSystem, Processes, System, SystemExt, WritableSystem, relative_path};
pub use stan_slice::{PointerSpace, SliceRequest};
pub use threads::prepare_threads;
