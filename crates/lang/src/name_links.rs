//! Edges by name: which files of a package a file depends on, from the names that it uses and the names that they declare. The
//! rule is the same for every language; each language defines what a package is.

use stan_model::{EdgeKind, FileFacts, Resolution};

use crate::language::{FactsOf, NameEdge, NamedFile};
use stan_model::FileKey;

/// The edges of one file, sorted and unique.
///
/// - A request with several target files makes an explicit edge to those that declare a name that `file` takes from it;
///   to all of them when no such name is known, or none of them declares it.
/// - Each file of `own_package` that declares a name which `file` uses without importing it gets an implicit edge. A name that
///   none of them declares is a builtin of the language, and adds no edge.
pub fn link(file: &NamedFile<'_>, own_package: &[FileKey], facts: &dyn FactsOf) -> Vec<NameEdge> {
    let mut edges = Vec::new();
    for (request, members) in file.packages {
        let taken: Vec<&str> =
            file.facts.imports.iter().filter(|import| import.request == *request).map(|import| &*import.name).collect();
        let declares = |member: &FileKey| facts.facts(*member).is_some_and(|facts| declares_any(facts, &taken));
        let mut declaring: Vec<FileKey> = members.iter().copied().filter(declares).collect();
        if declaring.is_empty() {
            declaring = members.to_vec();
        }
        let kind = file.facts.requests.get(*request as usize).map_or(EdgeKind::Runtime, |request| request.kind);
        edges.extend(edges_to(file, &declaring, kind, Resolution::Explicit));
    }
    if !file.facts.uses.is_empty() {
        let used: Vec<&str> = file.facts.uses.iter().map(|name| &**name).collect();
        let declares = |member: &FileKey| facts.facts(*member).is_some_and(|facts| declares_any(facts, &used));
        let declaring: Vec<FileKey> = own_package.iter().copied().filter(declares).collect();
        edges.extend(edges_to(file, &declaring, EdgeKind::Runtime, Resolution::Implicit));
    }
    edges.sort_unstable();
    edges.dedup();
    edges
}

fn edges_to(
    file: &NamedFile<'_>,
    targets: &[FileKey],
    kind: EdgeKind,
    resolution: Resolution,
) -> impl Iterator<Item = NameEdge> {
    let own = file.key;
    targets.iter().filter(move |target| **target != own).map(move |target| NameEdge {
        target: *target,
        kind,
        resolution,
    })
}

/// `names` and the declarations of `facts` are compared by binary search, so `declares` must be sorted.
fn declares_any(facts: &FileFacts, names: &[&str]) -> bool {
    names.iter().any(|name| facts.declares.binary_search_by(|declared| (**declared).cmp(name)).is_ok())
}
