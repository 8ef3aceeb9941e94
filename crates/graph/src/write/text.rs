//! Numbers about a graph for people. Programs read the `stats` of the JSON.

use std::io::{self, Write};

use stan_model::{EdgeKind, NodeKind, Resolution};

use super::Sink;
use crate::graph::Graph;
use crate::query::Stats;

/// Writes how many nodes and edges there are of each sort.
pub fn write_stats(graph: &Graph, stats: &Stats, out: &mut dyn Write) -> io::Result<()> {
    let mut rows: Vec<(String, u64)> = vec![("modules".to_owned(), stats.modules)];
    for kind in [NodeKind::Source, NodeKind::External, NodeKind::Builtin, NodeKind::Missing] {
        let count = graph.nodes().iter().filter(|node| node.kind == kind).count();
        rows.push((format!("  {}", kind.as_str()), count as u64));
    }
    rows.push(("edges".to_owned(), stats.edges));
    let edges = || graph.indices().flat_map(|index| graph.edges(index));
    for kind in [EdgeKind::Runtime, EdgeKind::Type, EdgeKind::Dynamic] {
        for resolution in [Resolution::Explicit, Resolution::Implicit] {
            let count = edges().filter(|edge| edge.kind == kind && edge.resolution == resolution).count();
            rows.push((format!("  {} {}", kind.as_str(), resolution.as_str()), count as u64));
        }
    }
    rows.push(("analysed in this run".to_owned(), stats.dirty));

    let label_width = rows.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
    let number_width = rows.iter().map(|(_, count)| count.to_string().len()).max().unwrap_or(0);
    let mut sink = Sink::new(out);
    for (label, count) in rows {
        sink.text(&format!("{label:<label_width$}  {count:>number_width$}\n"));
    }
    sink.finish()
}
