//! The selection file: read for runs, checked or migrated for users.

use std::path::Path;

use stan_model::document::state::{self, DecodedState, State, StateVersion};
use stan_repo::{Access, System, SystemExt as _, advice, remove_leftovers};

use super::layout::{Artefact, WorkspaceLayout};
use super::reports::StateReport;
use super::session::{Session, refuse};
use super::workspace_files::{check_folders, read_if_there};
use super::{NamedBytes, Progress, Repository, map::decode_error};
use crate::engine::Engine;
use crate::error::EngineError;

/// A selection of this size could name every file of a repository with a million files.
const MAX_STATE_BYTES: u64 = 256 << 20;

/// Which selection to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateSource {
    /// That of the workspace.
    Workspace,
    /// A file by its absolute path.
    File {
        shown: String,
        path: String,
    },
    Bytes(NamedBytes),
}

/// Reports all errors of a selection. A missing selection is an error.
pub fn check_state(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    source: &StateSource,
) -> Result<StateReport, EngineError> {
    let system = engine.system();
    let named = read(system, repository, source)?;
    Ok(match state::decode(&named.bytes, &named.name) {
        Ok(decoded) => valid(&named, &decoded, false),
        Err(errors) => StateReport {
            file: named.name,
            valid: false,
            version: None,
            includes: 0,
            excludes: 0,
            rewritten: false,
            warnings: Vec::new(),
            errors: errors.iter().map(ToString::to_string).collect(),
        },
    })
}

/// Migrates a selection to version 2: rewrites a file in place, or returns the document if it was given as bytes.
pub fn migrate_state(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    source: &StateSource,
    progress: &mut dyn Progress,
) -> Result<(StateReport, Option<Vec<u8>>), EngineError> {
    let system = engine.system();
    // Lock first: the file must not change between reading and replacing it.
    let layout = repository.layout();
    let session = match source {
        StateSource::Workspace => {
            check_folders(system, &layout)?;
            Some(Session::open(system, &layout, progress)?)
        }
        _ => None,
    };
    let named = read(system, repository, source)?;
    let decoded = state::decode(&named.bytes, &named.name)
        .map_err(|errors| decode_error("the selection", &errors).hint(FIX_STATE))?;
    let document = decoded.state.encode();
    let is_new = is_old_form(&decoded);
    let report = valid(&named, &decoded, is_new);
    match source {
        StateSource::Bytes(_) => return Ok((report, Some(document))),
        _ if !is_new => {}
        StateSource::Workspace => {
            if let Some(session) = &session {
                let mut transaction = session.begin(&layout)?;
                transaction.write_durable(&named.name, &document, Access::Shared).map_err(refuse)?;
                transaction.commit().map_err(refuse)?;
            }
        }
        StateSource::File { shown, path } => {
            let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
            remove_leftovers(system, Path::new(if folder.is_empty() { "/" } else { folder }), &[name]);
            system
                .write_atomic_durable(Path::new(path), &document)
                .map_err(|error| EngineError::input(format!("`{shown}` cannot be written: {}", advice(&error))))?;
        }
    }
    Ok((report, None))
}

/// The workspace's selection; `None` selects nothing.
pub(crate) fn load(
    system: &dyn System,
    layout: &WorkspaceLayout,
) -> Result<Option<(DecodedState, Vec<u8>)>, EngineError> {
    let file = layout.artefact(Artefact::State);
    let Some(bytes) = read_if_there(system, layout, &file)? else { return Ok(None) };
    let decoded =
        state::decode(&bytes, &file).map_err(|errors| decode_error("the selection", &errors).hint(FIX_STATE))?;
    Ok(Some((decoded, bytes)))
}

pub(crate) const FIX_STATE: &str = "fix the file; `stan state validate` checks it, {\"v\":2,\"i\":[]} selects nothing";

/// The empty selection.
pub(crate) fn nothing() -> DecodedState {
    DecodedState { state: State::default(), version: StateVersion::V2, uses_aliases: false, warnings: Vec::new() }
}

/// Whether the document differs from the canonical form, which archives contain.
pub(crate) fn is_old_form(decoded: &DecodedState) -> bool {
    decoded.version == StateVersion::V1 || decoded.uses_aliases
}

fn read(system: &dyn System, repository: &Repository<'_>, source: &StateSource) -> Result<NamedBytes, EngineError> {
    let absent = |shown: &str| {
        EngineError::input(format!("there is no selection at `{shown}`"))
            .hint("`stan run --context --meta` writes an empty one")
    };
    match source {
        StateSource::Bytes(named) => Ok(named.clone()),
        StateSource::File { shown, path } => {
            let mut bytes = Vec::new();
            match system.read_at_most(Path::new(path), MAX_STATE_BYTES, &mut bytes) {
                Ok(_) => Ok(NamedBytes { name: shown.clone(), bytes }),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(absent(shown)),
                Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => Err(EngineError::input(format!(
                    "`{shown}` is larger than {} MiB, which no selection is",
                    MAX_STATE_BYTES >> 20
                ))
                .hint("name a selection, for example `.stan/context/dependency.state.json`")),
                Err(error) => Err(EngineError::input(format!("`{shown}` cannot be read: {}", advice(&error)))),
            }
        }
        StateSource::Workspace => {
            let layout = repository.layout();
            let name = layout.artefact(Artefact::State);
            let bytes = read_if_there(system, &layout, &name)?.ok_or_else(|| absent(&name))?;
            Ok(NamedBytes { name, bytes })
        }
    }
}

fn valid(named: &NamedBytes, decoded: &DecodedState, rewritten: bool) -> StateReport {
    StateReport {
        file: named.name.clone(),
        valid: true,
        version: Some(if decoded.version == StateVersion::V1 { 1 } else { 2 }),
        includes: decoded.state.include.len() as u64,
        excludes: decoded.state.exclude.len() as u64,
        rewritten,
        warnings: decoded.warnings.clone(),
        errors: Vec::new(),
    }
}
