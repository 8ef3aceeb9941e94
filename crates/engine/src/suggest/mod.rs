//! The verb `suggest`: a selection around what somebody works on that fits a budget of tokens. Where the focus comes
//! from is decided here; ranking and covering are `stan_graph::suggest`.

mod log;
mod weigh;

#[doc(hidden)]
pub use log::files_named;
pub use stan_model::document::assistant_reports::{
    ChangedPaths, NextStep, NodeRelation, StateDocument, SuggestReport, SuggestedNode,
};
pub(crate) use weigh::Weigher;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use stan_graph::Map;
use stan_graph::suggest::{Candidate, Focus, FocusTooHeavy, Ranking, Relation, Taken, Weighed, cover, rank, take};
use stan_model::NodeKind;
use stan_model::document::integrity::Integrity;
use stan_model::document::reports::SHOWN_STEPS;
use stan_repo::{Access, WritableSystem, git_changes};

use crate::context::{Artefact, Context, NamedBytes, Patience, Place, Refusal};
use crate::context::{Careful, Session, check_folders, map_for_selection, refuse};
use crate::graph::GraphRequest;
use crate::not_analysed::not_analysed_of_map;
use crate::threads::Workers;
use crate::tokens::Tokenizer;

/// What to propose a selection for.
#[derive(Clone, Debug, Default)]
pub struct SuggestRequest {
    /// Files named by hand.
    pub focus: Vec<FocusFile>,
    /// Also every source that is not as it was.
    pub changed: Option<Since>,
    /// Also every source that this output of a compiler or a test runner names.
    pub log: Option<NamedBytes>,
    /// In tokens.
    pub budget: u64,
    pub tokenizer: Tokenizer,
    /// Put the proposal into the workspace's selection file.
    pub write: bool,
    pub work: GraphRequest,
}

/// What files are compared with to see whether they changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Since {
    /// What git's index says.
    Index,
    /// What a revision has, spelled as git spells revisions.
    Revision(String),
}

/// A file that somebody works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FocusFile {
    /// As the user typed it.
    pub shown: String,
    pub node_id: String,
    /// How many steps of its dependencies must come along.
    pub depth: u32,
}

/// Proposes a selection on the map that `select` would use, so that both count the same. Writes the selection when asked
/// to, and nothing else but the cache.
pub fn suggest(
    system: &dyn WritableSystem,
    context: &Context<'_>,
    request: &SuggestRequest,
    patience: &mut dyn Patience,
) -> Result<SuggestReport, Refusal> {
    let pool = Workers::start(request.work.threads);
    let place = context.place();
    let system = &Careful::new(system, &request.work);
    patience.stage("reading the map");
    let (map, integrity) = map_for_selection(system, context, &request.work)?;
    let verb = Suggestion { system, place: &place, map: &map, integrity: &integrity, request };
    let mut warnings = Vec::new();
    patience.stage("finding the focus");
    let (focus, changes) = pool.install(|| verb.focus(&mut warnings))?;
    patience.stage("counting tokens");
    let (mut report, document) = pool.install(|| verb.propose(&focus, warnings))?;
    report.changes = changes;
    if !request.write {
        return Ok(report);
    }
    system.has_seen_everything()?;
    report.written = Some(write(system, &place, &document, patience)?);
    Ok(report)
}

fn write(
    system: &dyn WritableSystem,
    place: &Place,
    document: &[u8],
    patience: &mut dyn Patience,
) -> Result<String, Refusal> {
    check_folders(system, place)?;
    let session = Session::open(system, place, patience)?;
    let path = place.artefact(Artefact::State);
    let mut transaction = session.begin(place)?;
    // Nobody can make a selection again, so that it must survive a power cut too.
    transaction.write_durable(&path, document, Access::Shared).map_err(refuse)?;
    transaction.commit().map_err(refuse)?;
    Ok(path)
}

struct Suggestion<'a> {
    system: &'a dyn WritableSystem,
    place: &'a Place,
    map: &'a Map,
    integrity: &'a Integrity,
    request: &'a SuggestRequest,
}

impl Suggestion<'_> {
    /// All files of the focus, each with the largest depth that was asked for.
    fn focus(&self, warnings: &mut Vec<String>) -> Result<(Vec<Focus>, Option<ChangedPaths>), Refusal> {
        let mut focus: BTreeMap<u32, u32> = BTreeMap::new();
        let mut unknown = Vec::new();
        for file in &self.request.focus {
            match self.map.find(&file.node_id).filter(|&node| self.is_file(node)) {
                Some(node) => {
                    let depth = focus.entry(node).or_default();
                    *depth = file.depth.max(*depth);
                }
                None => unknown.push(self.unknown(file)),
            }
        }
        if !unknown.is_empty() {
            return Err(Refusal::input("the focus names files that the map does not know")
                .details(unknown)
                .hint("name a module of the map; `stan run --context --meta` writes a new map"));
        }
        let changes = self.request.changed.as_ref().map(|since| self.changed(since, warnings)).transpose()?;
        let not_gone = changes.iter().flat_map(|changes| changes.changed.iter().chain(&changes.added));
        for node in not_gone.filter_map(|id| self.map.find(id)) {
            focus.entry(node).or_default();
        }
        if let Some(log) = &self.request.log {
            let named = log::files_named(self.map, self.place.root(), &log.bytes);
            if named.is_empty() {
                warnings.push(format!("{} names no file of the map", log.name));
            }
            for node in named {
                focus.entry(node).or_default();
            }
        }
        if focus.is_empty() {
            return Err(Refusal::input(
                "there is nothing to suggest files for: no file of the map changed or was named",
            )
            .details(std::mem::take(warnings))
            .hint("name a file: stan suggest --focus src/a.ts --budget 20000"));
        }
        self.warn_of_old_sizes(focus.keys().copied(), warnings);
        Ok((focus.into_iter().map(|(node, depth)| Focus { node, depth }).collect(), changes))
    }

    fn is_file(&self, node: u32) -> bool {
        matches!(self.map.kind(node), NodeKind::Source | NodeKind::External)
    }

    /// One line about a file that is not in the map, with the ids that end alike.
    fn unknown(&self, file: &FocusFile) -> String {
        let name = file.node_id.rsplit('/').next().unwrap_or_default();
        let ends_alike = |id: &&str| id.rsplit('/').next() == Some(name);
        let alike: Vec<String> = self
            .map
            .indices()
            .filter(|&node| self.is_file(node))
            .map(|node| self.map.id(node))
            .filter(ends_alike)
            .take(3)
            .map(|id| format!("`{id}`"))
            .collect();
        let hint = if alike.is_empty() { String::new() } else { format!("; there is {}", alike.join(", ")) };
        format!("`{}`{hint}", file.shown)
    }

    /// The sources that are not as they were, and what is gone.
    fn changed(&self, since: &Since, warnings: &mut Vec<String>) -> Result<ChangedPaths, Refusal> {
        let sources = self.map.indices().filter(|&node| self.map.kind(node) == NodeKind::Source);
        let ids: Vec<&str> = sources.map(|node| self.map.id(node)).collect();
        let (revision, shown) = match since {
            Since::Index => (None, "git's index was written"),
            Since::Revision(revision) => (Some(revision.as_str()), revision.as_str()),
        };
        let found = git_changes(self.system, self.place.root(), &ids, revision)
            .map_err(|error| Refusal::input(format!("git cannot say what changed: {error}")).hint(error.hint()))?;
        let count = found.deleted.len();
        if let Some(first) = found.deleted.first() {
            let and_more = if count > 1 { format!(" and {} more", count - 1) } else { String::new() };
            warnings.push(format!(
                "deleted since {shown}, so not in the map and not in the focus: {first}{and_more}; --focus what imported it"
            ));
        }
        let owned = |paths: Vec<&str>| paths.into_iter().map(str::to_owned).collect();
        Ok(ChangedPaths {
            since: revision.map(str::to_owned),
            commit: found.commit,
            changed: owned(found.changed),
            added: owned(found.added),
            deleted: found.deleted,
        })
    }

    /// Sizes that differ tell that the map is older than the files.
    fn warn_of_old_sizes(&self, nodes: impl Iterator<Item = u32>, warnings: &mut Vec<String>) {
        let sources = nodes.filter(|&node| self.map.kind(node) == NodeKind::Source);
        let old = sources.filter(|&node| {
            let path = self.place.absolute(self.map.id(node));
            let size = self.system.lstat(Path::new(&path)).ok().map(|stat| stat.size);
            self.map.size(node).is_some_and(|known| Some(known) != size)
        });
        if let Some(first) = old.into_iter().next() {
            warnings.push(format!(
                "the map is older than `{}`: what it imports now may be missing; `stan run --context` writes a new map",
                self.map.id(first)
            ));
        }
    }

    fn propose(&self, focus: &[Focus], mut warnings: Vec<String>) -> Result<(SuggestReport, Vec<u8>), Refusal> {
        let Self { system, place, map, integrity, request } = *self;
        let weigher = Weigher { system, place, map, integrity, tokenizer: request.tokenizer };
        let ranking = rank(map, focus);
        let mut estimated = BTreeSet::new();
        let mut taken = take(&ranking, weigher.budget(request.budget), |nodes| {
            let weights = weigher.weigh(nodes);
            estimated.extend(weights.estimated);
            weights.weights
        })
        .map_err(|error| self.too_heavy(&weigher, &error))?;
        // No archive would hold them, and no selection can spell them.
        let has_name = |one: &Weighed| stan_archive::windows_hazard(map.id(one.candidate.node)).is_none();
        taken.total -= taken.taken.iter().filter(|one| !has_name(one)).map(|one| one.weight).sum::<u64>();
        taken.taken.retain(has_name);
        let wanted: BTreeSet<u32> = taken.taken.iter().map(|one| one.candidate.node).collect();
        warnings.extend(estimated.intersection(&wanted).map(|&node| weigher.warning(node)));
        warnings.sort_unstable();
        warnings.dedup();
        let state = cover(map, &wanted.into_iter().collect::<Vec<_>>());
        let document = state.encode();
        let report = SuggestReport {
            budget: request.budget,
            tokenizer: request.tokenizer.name().to_owned(),
            tokens: weigher.tokens(taken.total),
            focus: focus.iter().map(|one| map.id(one.node).to_owned()).collect(),
            changes: None,
            state: serde_json::from_slice(&document).map_err(|error| Refusal::internal(error.to_string()))?,
            next: next_step(map, &weigher, &taken),
            nodes: taken.taken.iter().map(|one| self.node(&weigher, &ranking, one)).collect(),
            too_large: taken.too_heavy.iter().map(|one| self.node(&weigher, &ranking, one)).collect(),
            not_counted: taken.not_weighed as u64,
            written: None,
            not_analysed: not_analysed_of_map(map),
            warnings,
        };
        Ok((report, document))
    }

    fn too_heavy(&self, weigher: &Weigher<'_>, error: &FocusTooHeavy) -> Refusal {
        const SHOWN: usize = 10;
        let needed = weigher.tokens(error.needed);
        let line =
            |one: &Weighed| format!("{}: {} tokens", self.map.id(one.candidate.node), weigher.tokens(one.weight));
        let more = error.focus.len().saturating_sub(SHOWN);
        let rest = (more > 0).then(|| format!("and {more} more"));
        Refusal::input(format!(
            "the focus alone needs {needed} {} tokens, and the budget is {}",
            weigher.tokenizer, self.request.budget
        ))
        .details(error.focus.iter().take(SHOWN).map(line).chain(rest))
        .hint(format!("give --budget {needed} or more, or fewer files"))
    }

    fn node(&self, weigher: &Weigher<'_>, ranking: &Ranking, one: &Weighed) -> SuggestedNode {
        let Candidate { node, score, relation, reached_by, steps } = one.candidate;
        let path = ranking.end_of_path(node, SHOWN_STEPS);
        SuggestedNode {
            node_id: self.map.id(node).to_owned(),
            bytes: self.map.size(node).unwrap_or(0),
            tokens: weigher.tokens(one.weight),
            relation: match relation {
                Relation::Focus => NodeRelation::Focus,
                Relation::Dependency => NodeRelation::Dependency,
                Relation::Dependent => NodeRelation::Dependent,
            },
            score,
            reached_by,
            path: path.iter().map(|&step| self.map.id(step).to_owned()).collect(),
            path_omitted: (u64::from(steps) + 1).checked_sub(path.len() as u64).filter(|count| *count > 0),
        }
    }
}

fn next_step(map: &Map, weigher: &Weigher<'_>, taken: &Taken) -> Option<NextStep> {
    let first = taken.too_heavy.first()?;
    Some(NextStep {
        node_id: map.id(first.candidate.node).to_owned(),
        tokens: weigher.tokens(first.weight),
        budget: weigher.tokens(taken.total.saturating_add(first.weight)),
    })
}
