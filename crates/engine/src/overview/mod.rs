//! The verb `map`: the overview of the repository for models, and the document `dependency.overview.md`. Collects the data of
//! files; `stan_graph::overview` decides about lines, folding and budgets.

mod declared;
mod input;
mod manifests;
mod packages;

use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::engine::Engine;
use stan_graph::JsonStyle;
use stan_graph::overview::{Overview, OverviewInput, OverviewOptions, Unit, aggregate, overview as write_overview};
pub use stan_model::document::answer_reports::OverviewReport;

pub(crate) use self::packages::bare_package;

use stan_repo::WritableSystem;

use crate::cache::{Identity, MapIdentity};
use crate::context::{EngineError, Repository, build_map};
use crate::graph::GraphRequest;
use crate::graph::detail::{DetailedGraph, detailed_graph};
use crate::outline::{AskedFile, near_files};
use crate::tokens::Tokenizer;

/// An overview with at most this many tokens is never shortened.
const SMALL: u64 = 400;

/// The entries that get a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    #[default]
    File,
    Folder,
    Package,
}

/// The options of an overview: its size and its focus.
#[derive(Clone, Debug, Default)]
pub struct OverviewRequest {
    /// In tokens, 0 for everything; `None` for the configured budget.
    pub budget: Option<u64>,
    /// Folders or files.
    pub focus: Vec<AskedFile>,
    pub level: Level,
    pub tokenizer: Tokenizer,
}

/// The overview of the repository.
pub fn overview(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    request: &OverviewRequest,
    work: &GraphRequest,
) -> Result<OverviewReport, EngineError> {
    let options = repository.config.graph_options(repository.root);
    let detailed = detailed_graph(engine, &options, work)?;
    let focus = focus(&detailed, &request.focus)?;
    let budget = request.budget.unwrap_or(repository.config.context.overview_tokens);
    let source = Source::new(engine, repository, work, &detailed, request.tokenizer);
    // Even without a budget, the overview stays much smaller than the map that it replaces.
    let names_within = match budget {
        0 => (map_tokens(engine, repository, request.tokenizer, work)? / 3).max(SMALL),
        _ => 0,
    };
    let made = source.overview(request.level, &OverviewOptions { budget, focus, names_within }, &[]);
    Ok(OverviewReport {
        tokens: made.tokens,
        tokenizer: request.tokenizer.name().to_owned(),
        budget,
        listed: made.listed as u64,
        folded: made.folded as u64,
        text: made.text,
        warnings: crate::answers::unread(&detailed.errors),
    })
}

/// An overview, and the identity of its inputs.
pub(crate) struct OverviewDocument {
    pub(crate) text: Vec<u8>,
    /// The graph in the cache and the manifests; `None` if an input cannot be compared in a later run.
    made_of: Option<(Identity, u64)>,
}

impl OverviewDocument {
    /// Whether the map was built from the same inputs.
    pub(crate) fn belongs_to(&self, map: &MapIdentity) -> bool {
        self.made_of == Some((map.graph, map.manifests))
    }
}

/// The document that a repository run writes. `notes` are added at its top.
pub(crate) fn overview_document(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    work: &GraphRequest,
    notes: &[String],
) -> Result<OverviewDocument, EngineError> {
    let options = repository.config.graph_options(repository.root);
    let detailed = detailed_graph(engine, &options, work)?;
    let source = Source::new(engine, repository, work, &detailed, Tokenizer::default());
    let budget = repository.config.context.overview_tokens;
    let options = OverviewOptions { budget, ..OverviewOptions::default() };
    let text = source.overview(Level::File, &options, notes).text.into_bytes();
    let is_proved = !source.read_other_bytes.load(Ordering::Relaxed);
    let manifests = source.manifests.get().copied().flatten().filter(|_| is_proved);
    Ok(OverviewDocument { text, made_of: detailed.kept_as.zip(manifests) })
}

/// The input of an overview, and for each of its files the packages that it uses.
pub(crate) fn described_files(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    work: &GraphRequest,
    detailed: &DetailedGraph,
    tokenizer: Tokenizer,
) -> (OverviewInput, Vec<BTreeSet<(String, String)>>) {
    let source = Source::new(engine, repository, work, detailed, tokenizer);
    (source.input(), source.packages_by_file())
}

/// The token count of each node's file; 0 if it is not code. Cached for unchanged files.
pub(crate) fn counted_tokens(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    work: &GraphRequest,
    detailed: &DetailedGraph,
    tokenizer: Tokenizer,
    nodes: &[u32],
) -> Vec<u64> {
    Source::new(engine, repository, work, detailed, tokenizer).tokens(nodes)
}

/// The token count of `dependency.meta.json`.
fn map_tokens(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    tokenizer: Tokenizer,
    work: &GraphRequest,
) -> Result<u64, EngineError> {
    let mut bytes = Vec::new();
    build_map(engine, repository, work)?
        .write(&mut bytes, JsonStyle::Minified)
        .map_err(|error| EngineError::internal(error.to_string()))?;
    Ok(tokenizer.count(&bytes))
}

/// The root-relative paths that were named. A name that is neither a file nor a folder is an error that suggests similar names.
pub(crate) fn focus(detailed: &DetailedGraph, asked: &[AskedFile]) -> Result<Vec<String>, EngineError> {
    let ids: Vec<Box<str>> = detailed.graph.nodes().iter().map(|node| node.id.clone()).collect();
    let is_there = |id: &str| {
        let at = ids.partition_point(|known| **known < *id);
        let is_file = ids.get(at).is_some_and(|known| **known == *id);
        let below = format!("{id}/");
        let at = ids.partition_point(|known| **known < *below);
        is_file || ids.get(at).is_some_and(|known| known.starts_with(&below))
    };
    let mut unknown = Vec::new();
    let mut focus = Vec::new();
    for file in asked {
        let id = file.id.trim_end_matches('/');
        match id {
            "" | "." => {}
            _ if is_there(id) => focus.push(id.to_owned()),
            _ => {
                let near: Vec<String> = near_files(&ids, id).iter().map(|id| format!("`{id}`")).collect();
                let near = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) };
                unknown.push(format!("`{}`{near}", file.shown));
            }
        }
    }
    if unknown.is_empty() {
        Ok(focus)
    } else {
        Err(EngineError::input("there is no such file or folder").details(unknown))
    }
}

/// The data source of an overview.
struct Source<'s> {
    engine: &'s Engine<'s>,
    system: &'s dyn WritableSystem,
    repository: &'s Repository<'s>,
    work: &'s GraphRequest,
    detailed: &'s DetailedGraph,
    tokenizer: Tokenizer,
    /// Tokens were counted of bytes that differ from those the graph was built from.
    read_other_bytes: AtomicBool,
    /// The fingerprint of the manifests that packages were named by.
    manifests: OnceLock<Option<u64>>,
}

impl<'s> Source<'s> {
    fn new(
        engine: &'s Engine<'s>,
        repository: &'s Repository<'s>,
        work: &'s GraphRequest,
        detailed: &'s DetailedGraph,
        tokenizer: Tokenizer,
    ) -> Self {
        let system = engine.system();
        let (read_other_bytes, manifests) = (AtomicBool::new(false), OnceLock::new());
        Self { engine, system, repository, work, detailed, tokenizer, read_other_bytes, manifests }
    }

    fn overview(&self, level: Level, options: &OverviewOptions, notes: &[String]) -> Overview {
        let mut input = self.input();
        if level == Level::File {
            self.add_declared(&mut input);
        }
        input.header = self.header(&input);
        input.header.extend(notes.iter().cloned());
        let input = match level {
            Level::File => input,
            Level::Folder => aggregate(&input, &folders(&input)),
            Level::Package => aggregate(&input, &self.packages(&input)),
        };
        let count = |text: &str| self.tokenizer.count(text.as_bytes());
        write_overview(&input, options, &count)
    }

    /// A legend of the lines, for a reader without other context.
    fn header(&self, input: &OverviewInput) -> Vec<String> {
        let code = input.files.iter().filter(|file| file.is_code);
        let (count, tokens) = code.fold((0u64, 0u64), |(count, sum), file| (count + 1, sum + file.tokens));
        vec![
            format!(
                "Overview: {count} code files of {} files, {tokens} tokens of code. A folder, then its files: name, \
                 tokens, <importers, exported names, : other declarations, > imports with the names taken, ~ tests, # description.",
                input.files.len()
            ),
            "An import names a file of the same folder, else the one file whose path ends so; ../ starts at the folder. `+ 3 png`: other files. \
             `path/ * 9 files …` is folded: `stan map --focus path` shows it. = lists packages."
                .to_owned(),
        ]
    }
}

/// One unit per folder with code.
fn folders(input: &OverviewInput) -> Vec<Unit> {
    let code = input.files.iter().filter(|file| file.is_code);
    let folders: BTreeSet<&str> =
        code.map(|file| file.path.rsplit_once('/').map_or("", |(folder, _)| folder)).collect();
    folders.into_iter().map(|folder| Unit { folder: folder.to_owned(), description: None }).collect()
}
