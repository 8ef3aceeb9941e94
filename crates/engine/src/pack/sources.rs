//! Files as sources of a pack: those that were named or changed, and those that the ranking finds for them and for a text. At
//! which level each is shown is the plan's business; here is only how much of it is wanted.

use stan_pack::Level;

use super::PackRequest;
use crate::context::{EngineError, Repository};
use crate::engine::Engine;
use crate::relevance::{FocusFile, RankQuery, Relevance};

/// Files of the ranking that are wanted whole, if the budget allows, and those that are wanted as a line.
const MOST_WHOLE: usize = 40;
const MOST_LINES: usize = 80;

/// A file that a pack is to show.
pub(super) struct RankedFile {
    /// From the root.
    pub(super) id: String,
    pub(super) wanted: Level,
    /// Its place in the ranking, from 0; `None` for a file that was named or changed.
    pub(super) place: Option<usize>,
}

/// The files that are asked for, the most important first, and what the ranking had to do without.
#[derive(Default)]
pub(super) struct Sources {
    pub(super) files: Vec<RankedFile>,
    pub(super) warnings: Vec<String>,
}

/// Ranks files, if any were asked for.
pub(super) fn sources(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    request: &PackRequest,
) -> Result<Sources, EngineError> {
    if request.focus.is_empty() && request.changed.is_none() && request.about.is_empty() {
        return Ok(Sources::default());
    }
    let focus =
        request.focus.iter().map(|asked| FocusFile { shown: asked.shown.clone(), node_id: asked.id.clone(), depth: 0 });
    let about = Some(request.about.join("\n")).filter(|about| !about.trim().is_empty());
    let query = RankQuery { focus: focus.collect(), changed: request.changed.clone(), log: None, about };
    let relevance = Relevance::gather(engine, repository, &request.work)?;
    let ranked = relevance.rank(engine.system(), &query)?;
    let named = ranked.focus.iter().map(|one| (one.file, Level::Full, None));
    let found = ranked.order().into_iter().enumerate().take(MOST_LINES).map(|(place, file)| {
        let wanted = if place < MOST_WHOLE { Level::Full } else { Level::Line };
        (file, wanted, Some(place))
    });
    let source = |(file, wanted, place)| RankedFile { id: relevance.path(file).to_owned(), wanted, place };
    let files = named.chain(found).map(source).collect();
    let unavailable = relevance.unavailable.iter().map(|what| format!("not available: {what}"));
    Ok(Sources { files, warnings: ranked.warnings.iter().cloned().chain(unavailable).collect() })
}
