//! Files as sources of a pack: those that were named or changed, and those that the ranking finds for them and for a text. Only
//! decides the wanted level of each; what is shown is decided when the pack is fitted.

use stan_pack::Level;
use stan_rank::TextWeights;

use super::PackRequest;
use crate::context::{EngineError, NamedBytes, Repository};
use crate::engine::Engine;
use crate::relevance::{FocusFile, RankQuery, Relevance};

/// The most ranked files that are wanted whole, and the most that are wanted as a line.
const MAX_WHOLE: usize = 40;
const MAX_LINES: usize = 80;

/// A file that the pack should show.
pub(super) struct RankedFile {
    /// Root-relative path.
    pub(super) id: String,
    pub(super) wanted: Level,
    /// Its position in the ranking, from 0; `None` for a file that was named or changed.
    pub(super) place: Option<usize>,
}

/// The requested files, the most important first, and what was unavailable to the ranking.
#[derive(Default)]
pub(super) struct Sources {
    pub(super) files: Vec<RankedFile>,
    /// The weights of the words of the text; `None` without a text.
    pub(super) weights: Option<TextWeights>,
    pub(super) warnings: Vec<String>,
}

/// Ranks files, if any were requested.
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
    let query = RankQuery { focus: focus.collect(), changed: request.changed.clone(), log: log_of(request), about };
    let relevance = Relevance::gather(engine, repository, &request.work)?;
    let ranked = relevance.rank(engine.system(), &query)?;
    let named = ranked.focus.iter().filter(|one| one.is_asked).map(|one| (one.file, Level::Full, None));
    // Files that a log names, innermost frame first, precede those that the ranking finds. Neither was requested by name.
    let of_log = ranked.focus.iter().filter(|one| !one.is_asked).map(|one| one.file);
    let found = of_log.chain(ranked.order()).enumerate().take(MAX_LINES).map(|(place, file)| {
        let wanted = if place < MAX_WHOLE { Level::Full } else { Level::Line };
        (file, wanted, Some(place))
    });
    let source = |(file, wanted, place)| RankedFile { id: relevance.path(file).to_owned(), wanted, place };
    let files = named.chain(found).map(source).collect();
    let unavailable = relevance.unavailable.iter().map(|what| format!("not available: {what}"));
    let weights = ranked.text_weights();
    Ok(Sources { files, weights, warnings: ranked.warnings.iter().cloned().chain(unavailable).collect() })
}

/// All logs concatenated: files count by their position.
fn log_of(request: &PackRequest) -> Option<NamedBytes> {
    let first = request.logs.first()?;
    let bytes = request.logs.iter().map(|log| log.bytes.as_slice()).collect::<Vec<_>>().join(&b'\n');
    Some(NamedBytes { name: first.name.clone(), bytes })
}
