//! Import cycles, the largest first, each with a shortest ring.

use stan_graph::{Cycle, Graph, cycles as find_cycles, with_kinds};
use stan_model::document::answer_reports::{CyclesReport, FoundCycle};

use crate::context::{EngineError, Repository};
use crate::engine::Engine;
use crate::graph::{GraphRequest, graph};
use crate::outline::AnswerSize;

/// Which cycles to list, and in how much detail.
#[derive(Clone, Copy, Debug)]
pub struct CyclesRequest {
    /// The kinds of edges that count: runtime 1, type 2, dynamic 4.
    pub kinds: u8,
    /// Only a shortest ring of each cycle, the shortest first.
    pub shortest: bool,
    pub size: AnswerSize,
}

/// The cost of the first line, in bytes.
const FRAME: u64 = 100;

/// The import cycles of the repository.
pub fn cycles(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    request: &CyclesRequest,
    work: &GraphRequest,
) -> Result<CyclesReport, EngineError> {
    let options = repository.config.graph_options(repository.root);
    let work = GraphRequest { stats_only: false, ..work.clone() };
    let outcome = graph(engine, &options, &work)?;
    let Some(graph) = outcome.graph else { return Err(EngineError::internal("the graph is missing from its outcome")) };
    let graph = if request.kinds == super::ALL_KINDS { graph } else { with_kinds(&graph, request.kinds) };
    let mut found = find_cycles(&graph);
    if request.shortest {
        found.sort_by_key(|cycle| cycle.example.len());
    } else {
        found.sort_by_key(|cycle| std::cmp::Reverse(cycle.members.len()));
    }
    Ok(CyclesReport { warnings: super::unread(&outcome.errors), ..report(&graph, &found, request) })
}

/// Spends the budget on a ring of each cycle first, then on the other members of the listed cycles.
fn report(graph: &Graph, found: &[Cycle], request: &CyclesRequest) -> CyclesReport {
    let mut left = request.size.bytes().saturating_sub(FRAME);
    let mut report = CyclesReport { count: found.len() as u64, ..CyclesReport::default() };
    let name = |node: &u32| graph.node(*node).id.to_string();
    let limit = request.size.limit.unwrap_or(usize::MAX);
    for cycle in found.iter().take(limit) {
        let ring: Vec<String> = cycle.example.iter().map(name).collect();
        let first = ring.first().map_or(0, String::len);
        let cost = ring.iter().map(|id| id.len() as u64 + 4).sum::<u64>() + first as u64 + 24;
        if cost > left {
            break;
        }
        left -= cost;
        let size = cycle.members.len() as u64;
        report.cycles.push(FoundCycle { size, ring, ..FoundCycle::default() });
    }
    report.cut = report.count - report.cycles.len() as u64;
    if !request.shortest {
        for (shown, cycle) in report.cycles.iter_mut().zip(found) {
            add_others(shown, graph, cycle, &mut left);
        }
    }
    report
}

fn add_others(shown: &mut FoundCycle, graph: &Graph, cycle: &Cycle, left: &mut u64) {
    let mut ring = cycle.example.clone();
    ring.sort_unstable();
    let others = cycle.members.iter().filter(|member| ring.binary_search(member).is_err());
    for other in others {
        let id = &graph.node(*other).id;
        let cost = id.len() as u64 + 2;
        if shown.others_cut > 0 || cost > *left {
            shown.others_cut += 1;
            continue;
        }
        *left -= cost;
        shown.others.push(id.to_string());
    }
}
