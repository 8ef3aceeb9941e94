//! Repository mode: the map, its selection, verified staging, archives. One file per verb, and the code that they share. Decides
//! what goes where; `stan-archive` verifies and writes the bytes.

mod allow;
mod assemble;
mod consent;
mod count;
mod defaults;
mod externals;
mod formats;
mod history;
mod import;
mod layout;
mod locate;
mod map;
mod map_verifier;
mod outside;
mod overview;
mod packages;
mod progress;
mod read_only;
mod root_budget;
mod run;
mod select;
mod session;
mod snap;
mod state;
mod strict_system;
mod verify;
mod walk;
mod workspace_files;

pub use crate::error::{EngineError, EngineErrorKind};
pub use formats::ArchiveFormat;
pub use layout::{Artefact, WorkspaceLayout};
pub use map::{BuiltMap, build_map};
pub use progress::{NoProgress, Progress, ScriptEvent, script_end, script_line};
pub use run::{RunRequest, run};
pub use select::{SelectRequest, select};
pub use snap::{SnapKinds, SnapRequest, SnapStep, snap, snap_history};
pub use stan_graph::JsonStyle;
pub use state::{StateSource, check_state, migrate_state};
pub use verify::verify;

pub(crate) use externals::locate_externals;
pub(crate) use map::map_for_selection;
pub(crate) use session::{Session, refuse};
pub(crate) use strict_system::StrictSystem;
pub(crate) use workspace_files::check_folders;

use crate::config::Config;

/// The functions with which the reply gate finds out what a selection would archive.
pub(crate) mod gate {
    pub(crate) use super::allow::{Documents, Origin, Rules, selected, top_of};
    pub(crate) use super::assemble::{excludes, ignored_by_git};
    pub(crate) use super::locate::{Located, Locator};
    pub(crate) use super::map::{load_map, readable_externals_lock};
    pub(crate) use super::walk::walk;
    pub(crate) use super::workspace_files::read_if_there;
}

/// The documents that verbs report.
pub mod reports {
    pub use stan_model::document::reports::*;
    pub use stan_model::document::run_report::*;
}

/// The repository that a verb works on.
#[derive(Clone, Copy, Debug)]
pub struct Repository<'a> {
    /// Absolute real path of the root.
    pub root: &'a str,
    pub config: &'a Config,
}

impl Repository<'_> {
    pub fn layout(&self) -> WorkspaceLayout {
        WorkspaceLayout::new(self.root, &self.config.stan_path)
    }
}

/// A file on disk, and its name in messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPath {
    /// As the user typed it, or relative to the root.
    pub shown: String,
    /// Absolute.
    pub path: String,
}

/// A document that the user named, and its name in messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedBytes {
    pub name: String,
    pub bytes: Vec<u8>,
}
