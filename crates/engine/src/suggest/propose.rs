//! Fills a budget with whole files: the focus first, then the files with the best score for their size. Decides neither the
//! ranking nor where the selection is written.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use stan_graph::{Map, SelectOptions, cover, select};
use stan_model::NodeKind;
use stan_model::document::externals_lock::ExternalsLock;
use stan_model::document::run_report::tokens;
use stan_model::document::state::{ALL_KINDS, Entry, State};
use stan_rank::{Candidate, fill};

use super::{NextStep, NodeRelation, SuggestReport, SuggestRequest, SuggestedNode, SuggestedTerm, Weigher};
use crate::cache::KeptTokens;
use crate::context::{EngineError, WorkspaceLayout};
use crate::engine::Engine;
use crate::relevance::{Description, Fixed, Focused, RankedFiles, Relevance};
use crate::tokens::Tokenizer;

/// How many of the files that did not fit are listed.
const MAX_NAMED: usize = 50;
/// A file that scores less than this fraction (1/20) of the best is not worth any tokens. On the public cases, a twentieth loses
/// nothing at 32,000 tokens; a twelfth loses a little (decision 0118).
const NEGLIGIBLE: i64 = 20;

pub(super) struct Proposal<'a> {
    engine: &'a Engine<'a>,
    layout: &'a WorkspaceLayout,
    relevance: &'a Relevance,
    ranked: &'a RankedFiles<'a>,
    /// The map and the private map, for entries with depths.
    map: Option<(&'a Map, &'a ExternalsLock)>,
    request: &'a SuggestRequest,
    tokens: &'a KeptTokens<'a>,
    /// The rest of the budget, in the unit of the tokenizer.
    left: u64,
    used: u64,
    taken: Vec<Taken>,
    too_large: Vec<Taken>,
    not_counted: u64,
    negligible: u64,
    /// Entries of the selection: depth by path.
    entries: BTreeMap<String, u32>,
    warnings: BTreeSet<String>,
}

/// A file and its weight.
#[derive(Clone, Debug)]
struct Taken {
    what: What,
    weight: u64,
    relation: NodeRelation,
}

/// A file of the repository by number, or another node of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    File(u32),
    Node(u32),
}

impl<'a> Proposal<'a> {
    pub(super) fn new(
        engine: &'a Engine<'a>,
        layout: &'a WorkspaceLayout,
        relevance: &'a Relevance,
        ranked: &'a RankedFiles<'a>,
        map: Option<(&'a Map, &'a ExternalsLock)>,
        request: &'a SuggestRequest,
        tokens: &'a KeptTokens<'a>,
    ) -> Self {
        let budget = if request.budget == 0 { u64::MAX } else { request.budget };
        // With the estimate, the unit is a byte, because only the sum is divided by four.
        let left = if request.tokenizer == Tokenizer::Bytes4 { budget.saturating_mul(4) } else { budget };
        Self {
            engine,
            layout,
            relevance,
            ranked,
            map,
            request,
            tokens,
            left,
            used: 0,
            taken: Vec::new(),
            too_large: Vec::new(),
            not_counted: 0,
            negligible: 0,
            entries: BTreeMap::new(),
            warnings: ranked.warnings.iter().cloned().collect(),
        }
    }

    /// The report and the document of the selection.
    pub(super) fn report(mut self) -> Result<(SuggestReport, Vec<u8>), EngineError> {
        for one in &self.ranked.focus {
            self.take_focus(one)?;
        }
        self.take_others();
        let document = self.state().encode();
        let score = |one: &Taken| match one.what {
            What::File(file) => self.ranked.score(file),
            What::Node(_) => Fixed::ZERO,
        };
        let is_focus = |one: &Taken| one.relation == NodeRelation::Focus;
        let mut too_large = std::mem::take(&mut self.too_large);
        too_large.sort_by_key(|one| (!is_focus(one), std::cmp::Reverse(score(one))));
        self.not_counted += too_large.len().saturating_sub(MAX_NAMED) as u64;
        too_large.truncate(MAX_NAMED);
        let mut taken = std::mem::take(&mut self.taken);
        let others = taken.partition_point(|one| one.relation.is_asked_for());
        if let Some(others) = taken.get_mut(others..) {
            others.sort_by_key(|one| (std::cmp::Reverse(score(one)), self.id(one.what)));
        }
        let next = too_large.first().map(|one| NextStep {
            node_id: self.id(one.what).to_owned(),
            tokens: self.tokens(one.weight),
            budget: self.tokens(self.used.saturating_add(one.weight)),
        });
        let report = SuggestReport {
            budget: self.request.budget,
            tokenizer: self.request.tokenizer.name().to_owned(),
            tokens: self.tokens(self.used),
            unused: self.request.budget.saturating_sub(self.tokens(self.used)),
            focus: self.focus_paths(),
            changes: self.ranked.changes.clone(),
            state: serde_json::from_slice(&document).map_err(|error| EngineError::internal(error.to_string()))?,
            next,
            nodes: self.nodes(&taken),
            too_large: self.nodes(&too_large),
            not_counted: self.not_counted,
            negligible: self.negligible,
            written: None,
            unavailable: self.relevance.unavailable.clone(),
            not_analysed: self.relevance.not_analysed.clone(),
            warnings: self.warnings.into_iter().collect(),
        };
        Ok((report, document))
    }

    fn focus_paths(&self) -> Vec<String> {
        let mut paths: Vec<String> =
            self.ranked.focus.iter().map(|one| self.relevance.path(one.file).to_owned()).collect();
        paths.sort_unstable();
        paths
    }

    /// Takes a file of the focus and its required dependencies. What does not fit is reported, not an error.
    fn take_focus(&mut self, one: &Focused) -> Result<(), EngineError> {
        let path = self.relevance.path(one.file).to_owned();
        let weight = self.weigh(&[one.file]).first().copied().unwrap_or_default();
        let own = Taken { what: What::File(one.file), weight, relation: NodeRelation::Focus };
        if weight > self.left {
            self.too_large.push(own);
            return Ok(());
        }
        self.put(own, one.depth);
        if one.depth == 0 {
            return Ok(());
        }
        let along = self.along(&path, one.depth)?;
        let sum = along.iter().fold(0u64, |sum, one| sum.saturating_add(one.weight));
        if sum > self.left {
            self.entries.insert(path.clone(), 0);
            self.warnings.insert(format!(
                "`{path}` is proposed alone: {} steps of its dependencies need {} more tokens than are left",
                one.depth,
                self.tokens(sum - self.left)
            ));
            return Ok(());
        }
        for one in along {
            self.left -= one.weight;
            self.used += one.weight;
            self.taken.push(one);
        }
        Ok(())
    }

    fn put(&mut self, one: Taken, depth: u32) {
        self.entries.insert(self.id(one.what).to_owned(), depth);
        self.left -= one.weight;
        self.used += one.weight;
        self.taken.push(one);
    }

    /// The dependencies that an entry with a depth adds and that are not taken yet.
    fn along(&self, path: &str, depth: u32) -> Result<Vec<Taken>, EngineError> {
        let Some((map, externals_lock)) = self.map else { return Ok(Vec::new()) };
        let state = State { include: vec![Entry::new(path, depth, ALL_KINDS)], exclude: Vec::new() };
        let selection = select(map, &state, &SelectOptions::default())
            .map_err(|error| EngineError::input(format!("the map cannot be used: {error}")))?;
        let known: BTreeSet<&str> = self.taken.iter().map(|one| self.id(one.what)).collect();
        let nodes: Vec<u32> = selection.selected.into_iter().filter(|node| !known.contains(map.id(*node))).collect();
        let tokenizer = self.request.tokenizer;
        let weigher = Weigher { system: self.engine.system(), layout: self.layout, map, externals_lock, tokenizer };
        let weights = self.engine.share(|| weigher.weigh(&nodes));
        let what = |node: u32| match map.kind(node) {
            NodeKind::Source => self.relevance.find(map.id(node)).map_or(What::Node(node), What::File),
            _ => What::Node(node),
        };
        let taken = |(node, weight): (u32, u64)| Taken { what: what(node), weight, relation: NodeRelation::Dependency };
        Ok(nodes.into_iter().zip(weights.weights).map(taken).collect())
    }

    /// Fills the rest of the budget by score and size.
    fn take_others(&mut self) {
        let (mut files, mut nodes) = (BTreeSet::new(), BTreeSet::new());
        self.taken.iter().for_each(|one| match one.what {
            What::File(file) => drop(files.insert(file)),
            What::Node(_) => drop(nodes.insert(self.id(one.what))),
        });
        let may_have_hazards = self.relevance.may_have_hazards();
        // Skip empty files: they have nothing to show, and dozens of `__init__.py` would always fit. Also skip names that Windows
        // interprets: no archive may contain them, and no selection can spell them.
        let is_free = |&(file, _): &(u32, Fixed)| {
            self.relevance.size(file) > 0
                && !files.contains(&file)
                && (nodes.is_empty() || !nodes.contains(self.relevance.path(file)))
                && !(may_have_hazards && stan_archive::windows_hazard(self.relevance.path(file)).is_some())
        };
        let mut cost = self.ranked.costs(self.tokens(self.left));
        let mut candidates: Vec<(u32, Fixed)> = self.ranked.wanted().filter(is_free).collect();
        let best = candidates.iter().map(|(_, score)| *score).max().unwrap_or_default();
        let count = candidates.len();
        candidates.retain(|(_, score)| *score * Fixed::int(NEGLIGIBLE) >= best);
        let negligible = count - candidates.len();
        // Order by estimate, so that only files that may fit are counted.
        let candidate =
            |(file, score): (u32, Fixed)| Candidate { file, priority: score - cost(tokens(self.relevance.size(file))) };
        let candidates: Vec<Candidate> = candidates.into_iter().map(candidate).collect();
        let mut warnings = BTreeSet::new();
        let filled = fill(candidates, self.left, |files| {
            let (weights, unread) = self.weigh_files(files);
            warnings.extend(unread);
            weights
        });
        self.warnings.extend(warnings);
        self.not_counted = filled.not_weighed as u64;
        self.negligible = negligible as u64;
        let relation = |file: u32| match self.ranked.is_test_of_focus(file) {
            true => NodeRelation::Test,
            false => NodeRelation::Related,
        };
        let taken = |(file, weight): (u32, u64)| Taken { what: What::File(file), weight, relation: relation(file) };
        let chosen: Vec<Taken> = filled.taken.into_iter().map(taken).collect();
        self.too_large.extend(filled.too_large.into_iter().map(taken));
        for one in chosen {
            self.put(one, 0);
        }
    }

    fn weigh(&mut self, files: &[u32]) -> Vec<u64> {
        let (weights, unread) = self.weigh_files(files);
        self.warnings.extend(unread);
        weights
    }

    /// The weights of files, and a warning for each unreadable one.
    fn weigh_files(&self, files: &[u32]) -> (Vec<u64>, Vec<String>) {
        let size = |file: u32| self.relevance.size(file);
        if self.request.tokenizer == Tokenizer::Bytes4 {
            return (files.iter().map(|&file| size(file)).collect(), Vec::new());
        }
        let known = |&file: &u32| self.tokens.known(&self.relevance.digest(file)?);
        let count = |&file: &u32| {
            let digest = self.relevance.digest(file)?;
            self.tokens.count(&digest, || self.relevance.read(self.engine.system(), file))
        };
        // If all counts are cached, do not wake up other threads.
        let known: Option<Vec<u64>> = files.iter().map(known).collect();
        let counts: Vec<Option<u64>> = match known {
            Some(known) => known.into_iter().map(Some).collect(),
            None => self.engine.share(|| files.par_iter().map(count).collect()),
        };
        let mut warnings = Vec::new();
        let weight = |(&file, count): (&u32, Option<u64>)| {
            count.unwrap_or_else(|| {
                let path = self.relevance.path(file);
                warnings
                    .push(format!("`{path}` is too large or cannot be read: its tokens are estimated from its size"));
                tokens(size(file))
            })
        };
        let weights = files.iter().zip(counts).map(weight).collect();
        (weights, warnings)
    }

    /// The token count for a sum of weights.
    fn tokens(&self, weight: u64) -> u64 {
        if self.request.tokenizer == Tokenizer::Bytes4 { tokens(weight) } else { weight }
    }

    fn id(&self, what: What) -> &'a str {
        match (what, self.map) {
            (What::File(file), _) => self.relevance.path(file),
            (What::Node(node), Some((map, _))) => map.id(node),
            (What::Node(_), None) => "",
        }
    }

    /// The selection: the files themselves, or a few entries that select exactly them.
    fn state(&self) -> State {
        let listed = self.entries.iter().map(|(path, depth)| Entry::new(path, *depth, ALL_KINDS));
        let Some((map, _)) = self.map.filter(|_| self.request.compact) else {
            return State { include: listed.collect(), exclude: Vec::new() };
        };
        let ids: BTreeSet<&str> = self.taken.iter().map(|one| self.id(one.what)).collect();
        let (known, unknown): (Vec<&str>, Vec<&str>) = ids.into_iter().partition(|id| map.find(id).is_some());
        let nodes: Vec<u32> = known.into_iter().filter_map(|id| map.find(id)).collect();
        let mut state = cover(map, &nodes);
        // Files that the map does not contain, because it is older.
        state.include.extend(unknown.into_iter().map(Entry::node));
        state
    }

    fn nodes(&self, taken: &[Taken]) -> Vec<SuggestedNode> {
        let number = |one: &Taken| match one.what {
            What::File(file) => Some(file),
            What::Node(_) => None,
        };
        let files: Vec<u32> = taken.iter().filter_map(number).collect();
        let mut descriptions = self.ranked.describe(self.engine.system(), &files).into_iter();
        let described = |one: &Taken| {
            let description = number(one).and_then(|_| descriptions.next());
            self.node(one, description)
        };
        taken.iter().map(described).collect()
    }

    fn node(&self, one: &Taken, description: Option<Description>) -> SuggestedNode {
        let (bytes, score) = match one.what {
            What::File(file) => (self.relevance.size(file), self.ranked.score(file).thousandths()),
            What::Node(node) => (self.map.and_then(|(map, _)| map.size(node)).unwrap_or(0), 0),
        };
        let description = description.filter(|_| !one.relation.is_asked_for());
        let reason = description.as_ref().and_then(|description| description.reason.clone());
        let terms = description.into_iter().flat_map(|description| description.terms);
        SuggestedNode {
            node_id: self.id(one.what).to_owned(),
            bytes,
            tokens: self.tokens(one.weight),
            relation: one.relation,
            score,
            reason,
            terms: terms
                .map(|term| SuggestedTerm {
                    signal: term.signal.name().to_owned(),
                    value: term.thousandths,
                    reason: term.reason,
                })
                .collect(),
        }
    }
}
