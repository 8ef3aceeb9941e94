//! The documents that leave the program, as versioned types. Nothing is computed here.

pub mod answer_reports;
pub mod assistant_reports;
pub mod config;
#[cfg(feature = "schema")]
pub mod context_schema;
mod error;
pub mod export_report;
pub mod externals_lock;
mod node_id;
pub mod outline_reports;
pub mod pack;
pub mod read;
pub mod reports;
pub mod run_report;
pub mod state;
pub mod view_report;
pub mod x07;
#[cfg(feature = "schema")]
pub mod x07_schema;

pub use error::{DocumentError, DocumentPlace};
pub use node_id::{NodeIdError, check_node_id, is_absolute, normalise_node_id};
