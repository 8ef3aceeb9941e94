//! The verbs `deps`, `dependents` and `cycles`: small answers about dependencies. Each is a request and a report, for any front
//! end; nothing here prints. `stan_graph` finds the modules; this module names them and limits the size of an answer.

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

/// The maximum length of a problem in a small answer, in characters.
const MAX_PROBLEM_CHARS: usize = 240;

/// One line for all problems of reading and resolving. A small answer contains the first problem, which is the most important
/// one, and says where the others are listed.
pub(crate) fn unread(problems: &[String]) -> Vec<String> {
    let Some((first, others)) = problems.split_first() else { return Vec::new() };
    let mut line: String = first.chars().take(MAX_PROBLEM_CHARS).collect();
    if line.len() < first.len() {
        line.push('…');
    }
    match others.len() {
        0 => {}
        1 => line.push_str("; 1 more problem may cost edges: `stan graph -v` lists it"),
        count => line.push_str(&format!("; {count} more problems may cost edges: `stan graph -v` lists them")),
    }
    vec![line]
}

#[cfg(test)]
mod tests {
    use super::{MAX_PROBLEM_CHARS, unread};

    #[test]
    fn a_small_answer_shows_the_first_problem_and_counts_the_others() {
        let lines = |problems: &[&str]| unread(&problems.iter().map(|&text| text.to_owned()).collect::<Vec<_>>());
        assert_eq!(lines(&[]), Vec::<String>::new());
        assert_eq!(lines(&["a.ts: cannot be read"]), ["a.ts: cannot be read"]);
        assert_eq!(
            lines(&["a.ts: cannot be read", "b.ts"]),
            ["a.ts: cannot be read; 1 more problem may cost edges: `stan graph -v` lists it"]
        );
        let long = "ü".repeat(MAX_PROBLEM_CHARS + 1);
        let shown = lines(&[&long, "b", "c"]).concat();
        assert!(shown.starts_with(&format!("{}…; 2 more", "ü".repeat(MAX_PROBLEM_CHARS))), "{shown}");
    }
}
