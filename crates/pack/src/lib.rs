//! Selects the declarations that explain a place in a file, and how much of each fits into a budget.
//!
//! Pure: files, their units and the targets of their imports come through [`Modules`]. The stages are `focus` (the unit of a
//! place), `closure` (the declarations that it uses, by rank; `definitions` and `follow` find them across files), `show` (the
//! text of a unit at a level) and `plan` (the level of each under a budget). Knows no language and reads no file.
#![forbid(unsafe_code)]

mod closure;
mod definitions;
mod focus;
mod follow;
mod imports;
mod modules;
mod near;
mod opening;
mod plan;
mod prune;
mod render;
mod show;

pub use closure::{Candidate, Closure, Limits, Missing, MissingReason, PointedPlace, Question, Via, closure};
pub use definitions::{Definition, NotFound};
pub use focus::{Focus, focus_at, lines_around};
pub use follow::Follower;
pub use modules::{FileId, ImportTarget, Modules};
pub use plan::{Costs, Fitted, Level, fit};
pub use prune::{PrunePoint, Pruning};
pub use render::{Lists, markdown, xml};
pub use show::{
    FileKeeping, Options, Shown, file_passages, file_signature, full, head, lines_only, one_line, signature,
};
