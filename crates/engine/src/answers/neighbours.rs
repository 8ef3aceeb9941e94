//! The dependencies and dependents of files, with the imported names.

use std::collections::BTreeMap;
use std::path::Path;

use rustc_hash::FxHashMap;
use stan_graph::{Direction, Graph, Neighbour, kind_bit};
use stan_model::document::answer_reports::{FileNeighbours, FolderCount, NeighbourModule, NeighboursReport};
use stan_model::{EdgeKind, NodeKind};
use stan_repo::{EntryKind, System};

use super::{details, unread};
use crate::context::{EngineError, Repository};
use crate::engine::Engine;
use crate::graph::GraphRequest;
use crate::graph::detail::{DetailedGraph, NameFinder, TakenNames};
use crate::outline::{AnswerSize, AskedFile, absolute, near_files};

/// The maximum number of names of one module in an answer with a budget.
const MAX_NAMES: usize = 8;
/// The maximum number of folders listed for modules that were left out.
const MAX_FOLDERS: usize = 5;
/// The maximum cost of the lines around the modules of one file, in bytes.
const FRAME: u64 = 220;

/// The files of a query, and how much of the answer to return.
#[derive(Clone, Debug)]
pub struct NeighboursRequest {
    pub files: Vec<AskedFile>,
    pub direction: Direction,
    /// The maximum distance in edges; at least 1.
    pub depth: u32,
    /// The kinds of edges that are followed: runtime 1, type 2, dynamic 4.
    pub kinds: u8,
    pub size: AnswerSize,
}

/// The dependencies or dependents of files.
pub fn neighbours(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    request: &NeighboursRequest,
    work: &GraphRequest,
) -> Result<NeighboursReport, EngineError> {
    let detailed = details(engine, repository, work)?;
    let seeds = seeds(engine.system(), repository, &detailed.graph, &request.files)?;
    let names = detailed.names();
    let mut left = request.size.bytes();
    let share = left / (seeds.len().max(1) as u64);
    let mut report = NeighboursReport {
        direction: match request.direction {
            Direction::Forward => "dependencies",
            Direction::Backward => "dependents",
        },
        depth: request.depth,
        warnings: unread(&detailed.errors),
        ..NeighboursReport::default()
    };
    for (rank, seed) in seeds.iter().enumerate() {
        // Budget that earlier files did not use is available to later ones.
        let room = if rank + 1 == seeds.len() { left } else { share.min(left) };
        let mut found =
            stan_graph::neighbours(&detailed.graph, *seed, request.direction, request.depth.max(1), request.kinds);
        found.sort_by_key(|one| (one.distance, kind_rank(detailed.graph.node(one.node).kind)));
        let answer = Answer { detailed: &detailed, names: &names, request };
        let (file, cost) = answer.file(*seed, &found, room);
        left = left.saturating_sub(cost);
        report.files.push(file);
    }
    Ok(report)
}

fn kind_rank(kind: NodeKind) -> u8 {
    match kind {
        NodeKind::Source => 0,
        NodeKind::External => 1,
        NodeKind::Missing => 2,
        NodeKind::Builtin => 3,
    }
}

/// The nodes with the requested names. Unknown names are an error that suggests similar ones.
fn seeds(
    system: &dyn System,
    repository: &Repository<'_>,
    graph: &Graph,
    files: &[AskedFile],
) -> Result<Vec<u32>, EngineError> {
    let mut seeds = Vec::new();
    let mut unknown = Vec::new();
    for file in files {
        match graph.find(&file.id).or_else(|| graph.find(&file.shown)) {
            Some(node) if !seeds.contains(&node) => seeds.push(node),
            Some(_) => {}
            None => unknown.push(file),
        }
    }
    if unknown.is_empty() {
        return Ok(seeds);
    }
    let ids: Vec<Box<str>> = graph.nodes().iter().map(|node| node.id.clone()).collect();
    let line = |file: &&AskedFile| {
        let path = absolute(repository.root, &file.id);
        if system.lstat(Path::new(&path)).is_ok_and(|stat| stat.kind == EntryKind::Dir) {
            return format!("`{}` is a folder; `stan map --focus {}` shows its files", file.shown, file.shown);
        }
        let near: Vec<String> = near_files(&ids, &file.id).iter().map(|id| format!("`{id}`")).collect();
        let near = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) };
        format!("`{}`{near}", file.shown)
    };
    let details: Vec<String> = unknown.iter().map(line).collect();
    Err(EngineError::input("not in the graph").details(details))
}

struct Answer<'a> {
    detailed: &'a DetailedGraph,
    names: &'a NameFinder<'a>,
    request: &'a NeighboursRequest,
}

impl Answer<'_> {
    /// The modules of one file that fit, and their cost.
    fn file(&self, seed: u32, found: &[Neighbour], room: u64) -> (FileNeighbours, u64) {
        let graph = &self.detailed.graph;
        let mut file = FileNeighbours { file: id(graph, seed), count: found.len() as u64, ..FileNeighbours::default() };
        let mut cost = FRAME.min(room) + file.file.len() as u64;
        let mut takers: FxHashMap<u32, TakenNames<'_>> = FxHashMap::default();
        let limit = self.request.size.limit.unwrap_or(usize::MAX);
        let mut shown = 0;
        for one in found.iter().take(limit) {
            // An edge goes from the dependent module to its dependency.
            let (from, to) = match self.request.direction {
                Direction::Forward => (one.by, one.node),
                Direction::Backward => (one.node, one.by),
            };
            // Every dependent has its own file, while dependencies often share one importer.
            let module = match self.request.direction {
                Direction::Backward => self.module(one, &self.names.taken_from(from, to)),
                Direction::Forward => {
                    let taken = takers.entry(from).or_insert_with(|| self.names.taken(from));
                    self.module(one, taken.get(&to).map(Vec::as_slice).unwrap_or_default())
                }
            };
            let line = line_cost(&module);
            if cost.saturating_add(line) > room {
                break;
            }
            cost += line;
            shown += 1;
            file.modules.push(module);
        }
        let rest = found.get(shown..).unwrap_or_default();
        file.cut = rest.len() as u64;
        file.cut_folders = folders(rest.iter().map(|one| (&*graph.node(one.node).id, graph.node(one.node).kind)));
        (file, cost)
    }

    fn module(&self, one: &Neighbour, names: &[&str]) -> NeighbourModule {
        let graph = &self.detailed.graph;
        let most = if self.request.size.budget == 0 { usize::MAX } else { MAX_NAMES };
        NeighbourModule {
            id: id(graph, one.node),
            kind: graph.node(one.node).kind.as_str(),
            distance: one.distance,
            by: (one.distance > 1).then(|| id(graph, one.by)),
            edges: edge_names(one.kinds),
            implicit: one.is_implicit,
            names: names.iter().take(most).map(|name| (*name).to_owned()).collect(),
            names_cut: names.len().saturating_sub(most) as u64,
        }
    }
}

fn id(graph: &Graph, node: u32) -> String {
    graph.node(node).id.to_string()
}

fn edge_names(kinds: u8) -> Vec<&'static str> {
    let all = [EdgeKind::Dynamic, EdgeKind::Runtime, EdgeKind::Type];
    all.into_iter().filter(|kind| kinds & kind_bit(*kind) != 0).map(EdgeKind::as_str).collect()
}

/// The size of a module's line as text. Kinds and distances take a few words.
fn line_cost(module: &NeighbourModule) -> u64 {
    let names: usize = module.names.iter().map(|name| word_cost(name) + 2).sum();
    let by = module.by.as_ref().map_or(0, |by| word_cost(by) + 16);
    let is_plain = module.edges == ["runtime"] && by == 0;
    // Plain builtins share a line.
    if module.kind == NodeKind::Builtin.as_str() && is_plain {
        return (word_cost(&module.id) + 2) as u64;
    }
    let notes = if module.kind == "source" && is_plain { 0 } else { 14 };
    (4 + word_cost(&module.id) + names + by + notes) as u64
}

/// The estimated cost of a word in bytes. Digits count twice: hashes in names have more tokens per byte.
fn word_cost(word: &str) -> usize {
    word.len() + word.bytes().filter(u8::is_ascii_digit).count()
}

/// The folders of modules, those with the most modules first.
fn folders<'n>(nodes: impl Iterator<Item = (&'n str, NodeKind)>) -> Vec<FolderCount> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for (id, kind) in nodes {
        let folder = match kind {
            NodeKind::Source => id.rsplit_once('/').map_or(".", |(folder, _)| folder),
            NodeKind::External => "packages",
            NodeKind::Builtin | NodeKind::Missing => kind.as_str(),
        };
        *counts.entry(folder).or_default() += 1;
    }
    let mut folders: Vec<(&str, u64)> = counts.into_iter().collect();
    folders.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let shown = folders.into_iter().take(MAX_FOLDERS);
    shown.map(|(folder, count)| FolderCount { folder: folder.to_owned(), count }).collect()
}
