//! The verbs `deps`, `dependents` and `cycles`: small answers about dependencies. Each is a request and a report, so that
//! any front end can ask; nothing here prints. `stan_graph` finds the modules, this names them and limits the size of
//! an answer.

mod cycles;
mod neighbours;

pub use cycles::{CyclesRequest, cycles};
pub use neighbours::{NeighboursRequest, neighbours};
pub use stan_graph::Direction;
pub use stan_model::document::answer_reports::{
    CyclesReport, FileNeighbours, FolderCount, FoundCycle, NeighbourModule, NeighboursReport,
};

use std::sync::Arc;

use crate::context::{EngineError, Repository};
use crate::engine::Engine;
use crate::graph::GraphRequest;
use crate::graph::detail::{DetailedGraph, detailed_graph};

/// All kinds of edges: runtime 1, type 2, dynamic 4.
pub const ALL_KINDS: u8 = 7;

fn details(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    work: &GraphRequest,
) -> Result<Arc<DetailedGraph>, EngineError> {
    let options = repository.config.graph_options(repository.root);
    detailed_graph(engine, &options, work)
}

/// One line for everything that could not be read or resolved: a small answer does not list it.
pub(crate) fn unread(problems: usize) -> Vec<String> {
    match problems {
        0 => Vec::new(),
        1 => vec!["1 problem may cost edges; `stan graph --json` has it under `errors`".to_owned()],
        count => vec![format!("{count} problems may cost edges; `stan graph --json` has them under `errors`")],
    }
}
