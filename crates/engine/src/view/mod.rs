//! The verb `view`: one HTML file with a picture of the repository. The data is collected here; the page and its layout are in
//! `stan_graph::view`.

use std::collections::BTreeMap;
use std::path::Path;

use stan_graph::view::{ViewCycle, ViewFile, ViewInput, ViewMissing, view_page};
use stan_graph::{Graph, cycles, kind_bit};
use stan_model::document::run_report::not_analysed_line;
pub use stan_model::document::view_report::ViewReport;
use stan_model::{NodeKind, ProgrammingFiles};
use stan_repo::{Access, advice};

use crate::context::{
    Artefact, EngineError, Progress, Repository, SelectRequest, Session, check_folders, refuse, select,
};
use crate::documents::write_document;
use crate::engine::Engine;
use crate::graph::GraphRequest;
use crate::graph::detail::{DetailedGraph, detailed_graph};
use crate::not_analysed::not_analysed;
use crate::outline::AskedFile;
use crate::overview::{described_files, focus};
use crate::tokens::Tokenizer;

/// The maximum number of exported names of a file.
const MAX_EXPORTS: usize = 12;
/// The maximum number of tests of a file.
const MAX_TESTS: usize = 12;

/// What to show, and where to write it.
#[derive(Clone, Debug, Default)]
pub struct ViewRequest {
    /// A file or folder to open first.
    pub focus: Vec<AskedFile>,
    /// Absolute path of the output file; `None` for the workspace's own.
    pub out: Option<String>,
    pub tokenizer: Tokenizer,
    pub work: GraphRequest,
}

pub fn view(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    request: &ViewRequest,
    progress: &mut dyn Progress,
) -> Result<ViewReport, EngineError> {
    let options = repository.config.graph_options(repository.root);
    let detailed = detailed_graph(engine, &options, &request.work)?;
    let mut input = gather(engine, repository, request, &detailed);
    input.focus = focus(&detailed, &request.focus)?.into_iter().next();
    let selected = selected(engine, repository, request)?;
    for file in &mut input.files {
        file.selected = selected.get(&file.path).cloned();
    }
    let page = view_page(&input);
    let layout = repository.layout();
    let file = match &request.out {
        Some(out) => {
            write_document(engine.system(), Path::new(out), page.as_bytes())
                .map_err(|error| EngineError::input(format!("the page cannot be written: {}", advice(&error))))?;
            out.clone()
        }
        None => {
            check_folders(engine.system(), &layout)?;
            let session = Session::open(engine.system(), &layout, progress)?;
            let mut transaction = session.begin(&layout)?;
            let target = layout.artefact(Artefact::View);
            transaction.write(&target, page.as_bytes(), Access::Shared).map_err(refuse)?;
            transaction.commit().map_err(refuse)?;
            target
        }
    };
    Ok(ViewReport {
        file,
        bytes: page.len() as u64,
        files: input.files.len() as u64,
        tokens: input.files.iter().map(|file| file.tokens).sum(),
        tokenizer: request.tokenizer.name().to_owned(),
        edges: input.files.iter().map(|file| file.imports.len() as u64).sum(),
        cycles: input.cycles.len() as u64,
        missing: input.missing.len() as u64,
        selected: input.files.iter().filter(|file| file.selected.is_some()).count() as u64,
        warnings: crate::answers::unread(&detailed.errors),
    })
}

/// Everything but the selection and the focus.
fn gather(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    request: &ViewRequest,
    detailed: &DetailedGraph,
) -> ViewInput {
    let graph = &detailed.graph;
    let (overview, packages_of) = described_files(engine, repository, &request.work, detailed, request.tokenizer);
    let nodes: Vec<u32> = graph.indices().filter(|node| graph.node(*node).kind == NodeKind::Source).collect();
    let mut file_of = vec![u32::MAX; graph.node_count()];
    for (file, node) in (0u32..).zip(&nodes) {
        file_of[*node as usize] = file;
    }
    let rank_of: BTreeMap<(&str, &str), u32> = overview
        .packages
        .iter()
        .zip(0u32..)
        .map(|(package, rank)| ((&*package.name, &*package.version), rank))
        .collect();
    let files = overview.files.iter().zip(&nodes).zip(&packages_of).map(|((file, node), packages)| {
        let mut packages: Vec<u32> =
            packages.iter().filter_map(|(name, version)| rank_of.get(&(&**name, &**version)).copied()).collect();
        packages.sort_unstable();
        ViewFile {
            path: file.path.clone(),
            is_code: file.is_code,
            tokens: file.tokens,
            bytes: graph.node(*node).file.map_or(0, |file| file.size),
            exports: file.exports.iter().take(MAX_EXPORTS).map(|(name, _)| name.clone()).collect(),
            description: file.description.clone(),
            imports: imports(graph, *node, &file_of),
            packages,
            tests: file.tests.iter().take(MAX_TESTS).copied().collect(),
            selected: None,
        }
    });
    let files: Vec<ViewFile> = files.collect();
    let sources = files.iter().map(|file| &*file.path);
    ViewInput {
        missing: missing(graph, &nodes),
        cycles: found_cycles(graph, &file_of),
        focus: None,
        tokenizer: request.tokenizer.name().to_owned(),
        notes: not_analysed_line(&not_analysed(&ProgrammingFiles::of(sources))).into_iter().collect(),
        packages: overview.packages.iter().map(|one| (one.name.clone(), one.version.clone(), one.importers)).collect(),
        files,
    }
}

/// Edges to files of the repository, each with the kinds of all edges between the two files.
fn imports(graph: &Graph, node: u32, file_of: &[u32]) -> Vec<(u32, u8)> {
    let mut kinds: BTreeMap<u32, u8> = BTreeMap::new();
    for edge in graph.edges(node) {
        let target = file_of.get(edge.target as usize).copied().unwrap_or(u32::MAX);
        if target != u32::MAX {
            *kinds.entry(target).or_default() |= kind_bit(edge.kind);
        }
    }
    kinds.into_iter().collect()
}

/// Imports without a target, the most imported first.
fn missing(graph: &Graph, nodes: &[u32]) -> Vec<ViewMissing> {
    let mut importers: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (file, node) in (0u32..).zip(nodes) {
        for edge in graph.edges(*node).iter().filter(|edge| graph.node(edge.target).kind == NodeKind::Missing) {
            let files = importers.entry(edge.target).or_default();
            // Files are in order, so only the last one can be a duplicate.
            if files.last() != Some(&file) {
                files.push(file);
            }
        }
    }
    let mut missing: Vec<ViewMissing> = importers
        .into_iter()
        .map(|(node, importers)| ViewMissing { name: graph.node(node).id.to_string(), importers })
        .collect();
    // A stable sort keeps equals in the order of their node ids.
    missing.sort_by_key(|one| std::cmp::Reverse(one.importers.len()));
    missing
}

/// Cycles among files of the repository, the largest first.
fn found_cycles(graph: &Graph, file_of: &[u32]) -> Vec<ViewCycle> {
    let files = |nodes: &[u32]| -> Vec<u32> {
        nodes.iter().map(|node| file_of[*node as usize]).filter(|file| *file != u32::MAX).collect()
    };
    let mut found: Vec<ViewCycle> = cycles(graph)
        .iter()
        .map(|cycle| ViewCycle { members: files(&cycle.members), ring: files(&cycle.example) })
        .filter(|cycle| !cycle.members.is_empty())
        .collect();
    found.sort_by_key(|cycle| std::cmp::Reverse(cycle.members.len()));
    found
}

/// For each selected file, why it is selected. Empty without a selection file.
fn selected(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    request: &ViewRequest,
) -> Result<BTreeMap<String, String>, EngineError> {
    let state = repository.layout().absolute(&repository.layout().artefact(Artefact::State));
    if engine.system().lstat(Path::new(&state)).is_err() {
        return Ok(BTreeMap::new());
    }
    let report = select(engine, repository, &SelectRequest { work: request.work.clone(), ..SelectRequest::default() })?;
    let reason = |path: &[String]| match path {
        [.., by, _] => format!("a dependency of {by}"),
        _ => "named in the selection".to_owned(),
    };
    Ok(report.nodes.into_iter().map(|node| (node.node_id, reason(&node.path))).collect())
}
