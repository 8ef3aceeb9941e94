//! Counts of nodes and edges by kind. Small enough to be stored beside a graph and read without it.

use serde::{Deserialize, Serialize};
use stan_model::{EdgeKind, NodeKind, ProgrammingFiles, Resolution};

use crate::graph::Graph;

/// Counts by kind. Counts can be updated when single nodes and edges are added or removed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    nodes: [u64; 4],
    edges: [[u64; 2]; 3],
    programming: ProgrammingFiles,
}

impl Summary {
    pub fn of(graph: &Graph) -> Self {
        let mut summary = Self::default();
        graph.nodes().iter().for_each(|node| summary.add_node(node.kind, &node.id));
        for edge in graph.indices().flat_map(|index| graph.edges(index)) {
            summary.add_edge(edge.kind, edge.resolution);
        }
        summary
    }

    pub fn node_count(&self) -> u64 {
        self.nodes.iter().sum()
    }

    pub fn edge_count(&self) -> u64 {
        self.edges.as_flattened().iter().sum()
    }

    pub fn nodes(&self, kind: NodeKind) -> u64 {
        self.nodes[kind as usize]
    }

    pub fn edges(&self, kind: EdgeKind, resolution: Resolution) -> u64 {
        self.edges[kind as usize][resolution as usize]
    }

    /// Files of the repository by programming language, analysed or not.
    pub fn programming(&self) -> &ProgrammingFiles {
        &self.programming
    }

    pub fn add_node(&mut self, kind: NodeKind, id: &str) {
        self.nodes[kind as usize] += 1;
        if kind == NodeKind::Source {
            self.programming.add(id);
        }
    }

    pub fn remove_node(&mut self, kind: NodeKind, id: &str) {
        self.nodes[kind as usize] = self.nodes[kind as usize].saturating_sub(1);
        if kind == NodeKind::Source {
            self.programming.remove(id);
        }
    }

    pub fn add_edge(&mut self, kind: EdgeKind, resolution: Resolution) {
        self.edges[kind as usize][resolution as usize] += 1;
    }

    pub fn remove_edge(&mut self, kind: EdgeKind, resolution: Resolution) {
        let count = &mut self.edges[kind as usize][resolution as usize];
        *count = count.saturating_sub(1);
    }
}
