//! The verb `suggest`: a selection for a task within a token budget. `crate::relevance` ranks; this module fills the budget with
//! whole files and writes the selection.

mod propose;
mod weigh;

pub use stan_model::document::assistant_reports::{
    ChangedPaths, NextStep, NodeRelation, StateDocument, SuggestReport, SuggestedNode, SuggestedTerm,
};
pub(crate) use weigh::Weigher;

use stan_repo::{Access, WritableSystem};

use crate::cache::KeptTokens;
use crate::context::{Artefact, EngineError, Progress, Repository, WorkspaceLayout};
use crate::context::{Session, StrictSystem, check_folders, map_for_selection, refuse};
use crate::engine::Engine;
use crate::graph::GraphRequest;
use crate::relevance::{RankQuery, Relevance, USUAL_BUDGET};
use crate::tokens::Tokenizer;
use propose::Proposal;

#[derive(Clone, Debug)]
pub struct SuggestRequest {
    pub query: RankQuery,
    /// In tokens; 0 for no limit.
    pub budget: u64,
    pub tokenizer: Tokenizer,
    /// Write a few entries with depths instead of every file.
    pub compact: bool,
    /// Write the proposal to the workspace's selection file.
    pub write: bool,
    pub work: GraphRequest,
}

impl Default for SuggestRequest {
    fn default() -> Self {
        Self {
            query: RankQuery::default(),
            budget: USUAL_BUDGET,
            tokenizer: Tokenizer::default(),
            compact: false,
            write: false,
            work: GraphRequest::default(),
        }
    }
}

/// Proposes a selection. Writes only the cache and, on request, the selection.
pub fn suggest(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    request: &SuggestRequest,
    progress: &mut dyn Progress,
) -> Result<SuggestReport, EngineError> {
    let layout = repository.layout();
    let system = &StrictSystem::new(engine.system(), &request.work);
    let engine = &engine.over(system);
    progress.stage("reading the repository");
    let (relevance, cache) = Relevance::gather_with_cache(engine, repository, &request.work)?;
    // Only entries with depths need the dependencies in the map; the others are plain files.
    let needs_map = request.compact || request.query.focus.iter().any(|file| file.depth > 0);
    let map = if needs_map { Some(map_for_selection(engine, repository, &request.work)?) } else { None };
    progress.stage("ranking");
    let tokens = KeptTokens::load(cache, request.tokenizer);
    let ranked = relevance.rank(system, &request.query)?;
    let map = map.as_ref().map(|(map, externals_lock)| (map, externals_lock));
    let proposal = Proposal::new(engine, &layout, &relevance, &ranked, map, request, &tokens);
    let (report, document) = proposal.report()?;
    tokens.save();
    if !request.write {
        return Ok(report);
    }
    system.ensure_no_transient_errors()?;
    let written = Some(write(system, &layout, &document, progress)?);
    Ok(SuggestReport { written, ..report })
}

fn write(
    system: &dyn WritableSystem,
    layout: &WorkspaceLayout,
    document: &[u8],
    progress: &mut dyn Progress,
) -> Result<String, EngineError> {
    check_folders(system, layout)?;
    let session = Session::open(system, layout, progress)?;
    let path = layout.artefact(Artefact::State);
    let mut transaction = session.begin(layout)?;
    // A selection cannot be rebuilt, so it must survive a power cut too.
    transaction.write_durable(&path, document, Access::Shared).map_err(refuse)?;
    transaction.commit().map_err(refuse)?;
    Ok(path)
}
