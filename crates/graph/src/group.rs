//! A graph of folders or packages instead of files, for readable diagrams. Edges within a group are left out; edges between two
//! groups are drawn once per kind, as explicit ones. Builtins and missing modules are one node each.

use std::collections::BTreeMap;

use stan_model::{EdgeKind, Language, NodeKind, Resolution};

use crate::graph::{Edge, Graph, Node};

/// The unit that becomes one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupBy {
    /// Folders, truncated after this many segments.
    Folder { depth: Option<usize> },
    /// The nearest folder with a manifest.
    Package,
}

/// Files that make their folder a package.
const MANIFESTS: [&str; 4] = ["package.json", "pyproject.toml", "Cargo.toml", "go.mod"];

/// The graph of the groups.
pub fn grouped(graph: &Graph, by: GroupBy) -> Graph {
    let packages = match by {
        GroupBy::Package => package_folders(graph),
        GroupBy::Folder { .. } => Vec::new(),
    };
    let name = |node: &Node| match node.kind {
        NodeKind::Source => match by {
            GroupBy::Folder { depth } => folder(&node.id, depth).to_owned(),
            GroupBy::Package => package_of(&packages, &node.id).to_owned(),
        },
        NodeKind::External => installed_package(&node.id).to_owned(),
        NodeKind::Builtin => "builtin modules".to_owned(),
        NodeKind::Missing => "missing modules".to_owned(),
    };
    let mut groups: BTreeMap<String, (NodeKind, u32)> = BTreeMap::new();
    let names: Vec<String> = graph.nodes().iter().map(&name).collect();
    for (node, name) in graph.nodes().iter().zip(&names) {
        groups.entry(name.clone()).or_insert((node.kind, 0));
    }
    for (index, (_, number)) in (0u32..).zip(groups.values_mut()) {
        *number = index;
    }
    let number = |index: u32| groups.get(&names[index as usize]).map_or(0, |(_, number)| *number);
    let mut edges: Vec<Vec<(u32, EdgeKind)>> = vec![Vec::new(); groups.len()];
    for index in graph.indices() {
        let source = number(index);
        let targets = graph.edges(index).iter().map(|edge| (number(edge.target), edge.kind));
        edges[source as usize].extend(targets.filter(|(target, _)| *target != source));
    }
    let mut ends = Vec::with_capacity(groups.len());
    let mut all = Vec::new();
    for mut of_group in edges {
        of_group.sort_unstable();
        of_group.dedup();
        let edge = |(target, kind)| Edge { target, kind, resolution: Resolution::Explicit };
        all.extend(of_group.into_iter().map(edge));
        ends.push(all.len());
    }
    let node = |(name, (kind, _)): (String, (NodeKind, u32))| Node {
        language: Language::Other,
        ..Node::bare(name.into(), kind)
    };
    Graph::from_sorted_parts(groups.into_iter().map(node).collect(), ends, all)
}

/// The folder of a file; `.` for the root.
fn folder(id: &str, depth: Option<usize>) -> &str {
    let Some((folder, _)) = id.rsplit_once('/') else { return "." };
    let end = depth.and_then(|depth| folder.match_indices('/').nth(depth.max(1) - 1));
    end.map_or(folder, |(at, _)| &folder[..at])
}

/// Folders with a manifest, sorted; the root counts as one.
fn package_folders(graph: &Graph) -> Vec<&str> {
    let sources = graph.nodes().iter().filter(|node| node.kind == NodeKind::Source);
    let mut folders: Vec<&str> = sources
        .filter_map(|node| {
            let (folder, name) = node.id.rsplit_once('/')?;
            MANIFESTS.contains(&name).then_some(folder)
        })
        .collect();
    folders.sort_unstable();
    folders.dedup();
    folders
}

fn package_of<'p>(packages: &[&'p str], id: &str) -> &'p str {
    let mut rest = id;
    while let Some((folder, _)) = rest.rsplit_once('/') {
        if let Ok(at) = packages.binary_search(&folder) {
            return packages[at];
        }
        rest = folder;
    }
    "."
}

/// The name of the installed package that a file belongs to, derived from its path.
fn installed_package(id: &str) -> &str {
    let folders = ["node_modules/", "site-packages/", "vendor/"];
    let start = folders.iter().filter_map(|folder| id.rfind(folder).map(|at| at + folder.len())).max();
    let Some(inside) = start.and_then(|start| id.get(start..)) else { return "files outside the repository" };
    let segments = if inside.starts_with('@') { 2 } else { 1 };
    let end = inside.match_indices('/').nth(segments - 1).map_or(inside.len(), |(at, _)| at);
    &inside[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GraphBuilder;

    fn graph(edges: &[(&str, &str)]) -> Graph {
        let mut builder = GraphBuilder::new();
        let mut keys: BTreeMap<&str, u32> = BTreeMap::new();
        for (source, target) in edges {
            for id in [source, target] {
                let next = keys.len() as u32;
                keys.entry(id).or_insert(next);
            }
            builder.edge(keys[source], keys[target], EdgeKind::Runtime, Resolution::Explicit);
        }
        for (id, key) in keys {
            let kind = if id.contains("node_modules") {
                NodeKind::External
            } else if id.starts_with("node:") {
                NodeKind::Builtin
            } else {
                NodeKind::Source
            };
            builder.node(key, Node::bare(id.into(), kind));
        }
        builder.finish().unwrap().graph
    }

    fn lines(graph: &Graph) -> Vec<String> {
        let edges = graph.indices().flat_map(|index| graph.edges(index).iter().map(move |edge| (index, edge.target)));
        edges.map(|(from, to)| format!("{} > {}", graph.node(from).id, graph.node(to).id)).collect()
    }

    #[test]
    fn files_become_their_folders() {
        let graph = graph(&[
            ("src/a/x.ts", "src/b/y.ts"),
            ("src/a/x.ts", "src/a/z.ts"),
            ("src/a/z.ts", "src/b/y.ts"),
            ("main.ts", "src/a/x.ts"),
            ("src/b/y.ts", "node_modules/@s/p/index.d.ts"),
            ("src/b/y.ts", "node:fs"),
        ]);
        assert_eq!(
            lines(&grouped(&graph, GroupBy::Folder { depth: None })),
            [". > src/a", "src/a > src/b", "src/b > @s/p", "src/b > builtin modules"]
        );
        assert_eq!(
            lines(&grouped(&graph, GroupBy::Folder { depth: Some(1) })),
            [". > src", "src > @s/p", "src > builtin modules"]
        );
    }

    #[test]
    fn files_become_their_packages() {
        let graph = graph(&[
            ("packages/a/src/x.ts", "packages/b/src/y.ts"),
            ("packages/a/src/x.ts", "packages/a/package.json"),
            ("packages/b/src/y.ts", "packages/b/package.json"),
            ("scripts/z.ts", "packages/b/src/y.ts"),
        ]);
        assert_eq!(lines(&grouped(&graph, GroupBy::Package)), [". > packages/b", "packages/a > packages/b"]);
    }
}
