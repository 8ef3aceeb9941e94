//! One function per user verb, joining the stages. The only API that the programs use.

mod cache;
pub mod config;
pub mod context;
mod context_pack;
mod documents;
pub mod graph;
pub mod imports;
pub mod init;
mod not_analysed;
mod noticing;
pub mod outline;
pub mod reply;
pub mod secrets;
mod slice;
pub mod suggest;
mod threads;
pub mod tokens;
mod watched;

pub use context_pack::{ContextCommand, context_pack};
pub use documents::{DocumentStore, Outcome, write_document};
pub use slice::{SliceCommand, slice};
pub use stan_model::document::x07 as x07_documents;
pub use stan_model::untrusted::visible_json;
pub use stan_model::{Untrusted, jcs};
pub use stan_repo::{OsSystem, System, WritableSystem, relative_path};
pub use stan_slice::{Reading, SliceRequest};
pub use threads::prepare_threads;
