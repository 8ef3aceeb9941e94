//! Statistics of a graph, and its cycles, as text for users. Programs read the JSON.

use std::io::{self, Write};

use stan_model::{EdgeKind, NodeKind, Resolution};

use super::Sink;
use crate::summary::Summary;

/// Writes the numbers of nodes and edges of each kind, and the number of files that could not be analysed completely.
pub fn write_stats(summary: &Summary, dirty: u64, out: &mut dyn Write) -> io::Result<()> {
    let mut rows: Vec<(String, u64)> = vec![("modules".to_owned(), summary.node_count())];
    for kind in [NodeKind::Source, NodeKind::External, NodeKind::Builtin, NodeKind::Missing] {
        rows.push((format!("  {}", kind.as_str()), summary.nodes(kind)));
    }
    rows.push(("edges".to_owned(), summary.edge_count()));
    for kind in [EdgeKind::Runtime, EdgeKind::Type, EdgeKind::Dynamic] {
        for resolution in [Resolution::Explicit, Resolution::Implicit] {
            rows.push((format!("  {} {}", kind.as_str(), resolution.as_str()), summary.edges(kind, resolution)));
        }
    }
    rows.push(("not read or parsed cleanly".to_owned(), dirty));

    let label_width = rows.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
    let number_width = rows.iter().map(|(_, count)| count.to_string().len()).max().unwrap_or(0);
    let mut sink = Sink::new(out);
    for (label, count) in rows {
        sink.text(&format!("{label:<label_width$}  {count:>number_width$}\n"));
    }
    sink.finish()
}
