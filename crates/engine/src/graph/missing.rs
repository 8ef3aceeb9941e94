//! The unresolved requests of a file, each with specifier and line. The graph itself has one node for all specifiers that would name
//! the same file, and no lines.

use stan_model::{EdgeKind, NodeKind};

use super::detail::DetailedGraph;

/// A request that resolves to a missing node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MissingRequest<'d> {
    /// Index of the missing node.
    pub(crate) node: u32,
    /// As written in the file.
    pub(crate) specifier: &'d str,
    pub(crate) kind: EdgeKind,
    /// 1-based.
    pub(crate) line: u32,
}

impl DetailedGraph {
    /// The requests of a file that resolve to missing nodes, in source order.
    pub(crate) fn missing_requests(&self, file: u32) -> Vec<MissingRequest<'_>> {
        let graph = &self.graph;
        let is_missing = |node: &u32| graph.node(*node).kind == NodeKind::Missing;
        let missing: Vec<u32> = graph.edges(file).iter().map(|edge| edge.target).filter(is_missing).collect();
        let Some(facts) = self.facts(file).filter(|_| !missing.is_empty()) else { return Vec::new() };
        let found = |id: &str| graph.find(id).filter(|node| missing.contains(node));
        let request = |request: &'_ stan_model::facts::Request| {
            let by_path = || found(&path_of(&graph.node(file).id, &request.specifier)?);
            found(&request.specifier).filter(|_| !is_relative(&request.specifier)).or_else(by_path)
        };
        let requests = facts.requests.iter().filter_map(|it| Some((request(it)?, it)));
        requests
            .map(|(node, it)| MissingRequest { node, specifier: &it.specifier, kind: it.kind, line: it.line })
            .collect()
    }
}

pub(crate) fn is_relative(specifier: &str) -> bool {
    specifier == "." || specifier == ".." || specifier.starts_with("./") || specifier.starts_with("../")
}

/// The root-relative path of a relative specifier; the specifier itself if that path is outside the root.
fn path_of(file: &str, specifier: &str) -> Option<String> {
    if !is_relative(specifier) {
        return None;
    }
    let text = specifier.split('?').next().unwrap_or(specifier);
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut names: Vec<&str> = Vec::new();
    for name in folder.split('/').chain(text.split('/')) {
        match name {
            "" | "." => {}
            ".." if names.last().is_none_or(|last| *last == "..") => return Some(specifier.to_owned()),
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    if names.is_empty() { Some(specifier.to_owned()) } else { Some(names.join("/")) }
}

#[cfg(test)]
mod tests {
    use super::path_of;

    #[test]
    fn relative_specifiers_are_paths_from_the_root() {
        for (file, specifier, expected) in [
            ("a.ts", "./gone", Some("gone")),
            ("src/a.ts", "./gone", Some("src/gone")),
            ("src/x/a.ts", "../gone.css?inline", Some("src/gone.css")),
            ("src/a.ts", "../../out", Some("../../out")),
            // As in the resolver: a path outside the root keeps its spelling.
            ("../lib/a.ts", "./b", Some("./b")),
            ("src/a.ts", "pkg", None),
        ] {
            assert_eq!(path_of(file, specifier).as_deref(), expected, "{file} {specifier}");
        }
    }
}
