//! One score for each file: the weighted sum of its signals. The same formula for every query; what is not given
//! contributes nothing.
//!
//! The weights were fitted on public commits (`docs/benchmarks.md`); none of them is specific to a repository or a
//! language.

use crate::fixed::{Fixed, Memo};
use crate::flat::numbers;
use crate::hits::HitSignals;
use crate::paths::FileClass;
use crate::query::TextQuery;
use crate::signals::{Corpus, FocusSignals, Signals, TextSignals};
use crate::walk::Files;

/// The query: files, a text, or both.
#[derive(Clone, Copy, Debug, Default)]
pub struct Question<'q> {
    /// Focus files, each with how much it counts; all numbers below those of the corpus.
    pub focus: &'q [(u32, Fixed)],
    /// The task in words.
    pub text: Option<&'q str>,
    /// Files whose paths the text spells out, sorted; all numbers below those of the corpus.
    pub named: &'q [u32],
}

/// Why a file may be needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Signal {
    /// Its vocabulary is like that of the focus.
    Vocabulary,
    /// It has rare words of the focus.
    Words,
    /// It changed in the same commits as the focus.
    Changes,
    /// It changes with what changes with the focus.
    NearChanges,
    /// It defines what the focus uses.
    Defines,
    /// It uses what the focus defines.
    Uses,
    /// Its path has words of the focus's path.
    Path,
    /// It is close on the import graph.
    Graph,
    /// It has the name of the focus: its test, for one.
    Names,
    /// It has words of the text.
    TextWords,
    /// Its path has words of the text.
    TextPath,
    /// Commits with a message like the text changed it.
    TextMessages,
    /// It has identifiers of the text.
    TextNames,
    /// It changed often lately.
    Churn,
    /// It is close on the import graph to the best answers by all of the above.
    HitGraph,
    /// It changes with the best answers.
    HitChanges,
    /// It has the name of one of the best answers: its test, for one.
    HitPairs,
}

impl Signal {
    pub const ALL: [Self; 17] = [
        Self::Vocabulary,
        Self::Words,
        Self::Changes,
        Self::NearChanges,
        Self::Defines,
        Self::Uses,
        Self::Path,
        Self::Graph,
        Self::Names,
        Self::TextWords,
        Self::TextPath,
        Self::TextMessages,
        Self::TextNames,
        Self::Churn,
        Self::HitGraph,
        Self::HitChanges,
        Self::HitPairs,
    ];

    /// How much the signal counts.
    pub fn weight(self) -> u8 {
        match self {
            Self::Churn | Self::Graph | Self::HitPairs => 1,
            Self::Defines | Self::HitGraph | Self::Names => 2,
            Self::Vocabulary | Self::Words | Self::Uses => 3,
            Self::HitChanges => 4,
            Self::NearChanges | Self::TextPath | Self::TextNames => 5,
            Self::Path | Self::TextMessages => 6,
            Self::Changes => 7,
            Self::TextWords => 9,
        }
    }

    /// As reports spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Vocabulary => "vocabulary",
            Self::Words => "words",
            Self::Changes => "changes",
            Self::NearChanges => "near changes",
            Self::Defines => "defines",
            Self::Uses => "uses",
            Self::Path => "path",
            Self::Graph => "imports",
            Self::Names => "names",
            Self::TextWords => "text words",
            Self::TextPath => "text path",
            Self::TextMessages => "text messages",
            Self::TextNames => "text names",
            Self::Churn => "churn",
            Self::HitGraph => "near hits",
            Self::HitChanges => "changes with hits",
            Self::HitPairs => "names of hits",
        }
    }
}

/// Every file's score, and where it comes from.
pub struct Ranking<'c> {
    pub(crate) signals: Signals<'c>,
    pub(crate) focus: Vec<usize>,
    /// The files of each commit that changed one of the focus.
    pub(crate) focus_commits: Vec<Files<'c>>,
    pub(crate) of_focus: Option<FocusSignals>,
    pub(crate) of_text: Option<(TextQuery, TextSignals)>,
    /// Files whose paths the text spells out, sorted.
    pub(crate) named: Vec<u32>,
    /// What is near the best files by the signals above; absent until those are known.
    pub(crate) of_hits: Option<HitSignals>,
    scores: Vec<Fixed>,
    /// The most that any file could have.
    most: Fixed,
}

/// Ranks all files of the corpus.
pub fn rank<'c>(corpus: Corpus<'c>, question: Question<'_>) -> Ranking<'c> {
    let count = corpus.layout.len();
    let signals = Signals::new(corpus);
    let total: Fixed = question.focus.iter().map(|(_, weight)| *weight).sum();
    let mut seeds = vec![Fixed::ZERO; count];
    for &(file, weight) in question.focus {
        if let Some(seed) = seeds.get_mut(file as usize) {
            *seed += weight / total;
        }
    }
    let focus: Vec<usize> = (0..count).filter(|&file| seeds[file].is_positive()).collect();
    let is_seed = |file: u32| seeds.get(file as usize).is_some_and(|seed| seed.is_positive());
    let focus_commits = corpus.history.together().map(|(_, files)| files);
    let focus_commits = focus_commits.filter(|files| numbers(files).any(is_seed)).collect();
    let of_focus = (!focus.is_empty()).then(|| signals.focus(&seeds));
    let of_text = question.text.map(|text| {
        let query = TextQuery::new(text);
        let found = signals.text(&query, question.named);
        (query, found)
    });
    let (scores, most) = (Vec::new(), Fixed::ZERO);
    let mut ranking = Ranking {
        signals,
        focus,
        focus_commits,
        of_focus,
        of_text,
        named: question.named.to_vec(),
        of_hits: None,
        scores,
        most,
    };
    let mut scores = vec![Fixed::ZERO; count];
    Signal::ALL.into_iter().for_each(|signal| ranking.add(signal, &mut scores));
    let counts = |signal| ranking.is_given(signal);
    ranking.of_hits = Some(ranking.signals.hits(&scores, &ranking.focus, counts));
    [Signal::HitGraph, Signal::HitChanges, Signal::HitPairs]
        .into_iter()
        .for_each(|signal| ranking.add(signal, &mut scores));
    ranking.scores = scores;
    let given = Signal::ALL.iter().filter(|signal| ranking.is_given(**signal));
    ranking.most = given.map(|signal| Fixed::ratio(i64::from(signal.weight()), 4)).sum();
    ranking
}

impl<'c> Ranking<'c> {
    pub fn corpus(&self) -> &Corpus<'c> {
        &self.signals.corpus
    }

    /// Whether there is a text and no file has any of its words. Files may have scores all the same: by a focus, or by how often
    /// they changed.
    pub fn is_text_unknown(&self) -> bool {
        self.of_text.as_ref().is_some_and(|(_, text)| text.parts.is_empty())
    }

    /// How much a file may be needed.
    pub fn score(&self, file: usize) -> Fixed {
        self.scores.get(file).copied().unwrap_or_default()
    }

    /// What a budget is filled by: the score, less what the file costs. A file of twice the size must be clearly more
    /// needed; how clearly depends on how much any file could score, and on how many tokens there are.
    /// `cost` is that of the budget.
    pub fn worth(&self, file: usize, tokens: u64, cost: Fixed) -> Fixed {
        self.score(file) - cost * number(tokens).ln()
    }

    /// What tokens cost in a budget: `worth` is the score less this.
    pub fn costs(&self, budget: u64) -> impl FnMut(u64) -> Fixed + use<> {
        let cost = self.cost(budget);
        let mut known = Memo::new(move |tokens: Fixed| cost * tokens.ln());
        move |tokens| known.get(number(tokens))
    }

    /// What e times the tokens cost in a budget.
    pub fn cost(&self, budget: u64) -> Fixed {
        let share = number(budget.clamp(2_000, 512_000)) / Fixed::int(32_000);
        // Four times the budget, three quarters of the cost.
        let scarcity = Fixed::ONE - Fixed::ratio(1, 4) * share.ln() / Fixed::int(4).ln();
        let cost = if self.of_text.is_some() { COST_WITH_TEXT } else { COST };
        self.most * cost * scarcity
    }

    /// What each signal adds to the file's score, the largest first; nothing that adds nothing.
    pub fn terms(&self, file: usize) -> Vec<(Signal, Fixed)> {
        let term = |signal: Signal| (signal, self.term(signal, file));
        let mut terms: Vec<(Signal, Fixed)> =
            Signal::ALL.into_iter().map(term).filter(|(_, value)| value.is_positive()).collect();
        terms.sort_by_key(|&(signal, value)| (std::cmp::Reverse(value), signal));
        terms
    }

    /// Whether the query and the repository have what the signal needs.
    fn is_given(&self, signal: Signal) -> bool {
        let has_history = !self.signals.corpus.history.is_empty();
        match signal {
            Signal::Changes | Signal::NearChanges => has_history && self.of_focus.is_some(),
            Signal::TextMessages => has_history && self.of_text.is_some(),
            Signal::HitChanges => has_history,
            // A text says what it is about, whatever changed often lately; unless no file has any of its words.
            Signal::Churn => has_history && (self.of_text.is_none() || self.is_text_unknown()),
            // Common changes show which test belongs to the focus; without them its name does.
            Signal::Names => !has_history && self.of_focus.is_some(),
            Signal::HitGraph => true,
            // A text seldom means what merely has the name of a hit; who changes a file changes its test.
            // Of what is not known to change with it, only the names of the focus itself count, if other files have them.
            Signal::HitPairs => self.of_focus.as_ref().is_some_and(|focus| has_history || !focus.has_mates),
            _ if signal < Signal::TextWords => self.of_focus.is_some(),
            _ => self.of_text.is_some(),
        }
    }

    /// Adds what a signal is worth to the scores of all files.
    fn add(&self, signal: Signal, scores: &mut [Fixed]) {
        let Some(values) = self.values(signal) else { return };
        let (code, other) = (factor(signal, FileClass::Code), factor(signal, FileClass::Other));
        for ((score, value), class) in scores.iter_mut().zip(values).zip(self.signals.corpus.layout.classes()) {
            if *value != Fixed::ZERO {
                *score += *value * if *class == FileClass::Code { code } else { other };
            }
        }
    }

    fn term(&self, signal: Signal, file: usize) -> Fixed {
        let value = self.values(signal).and_then(|values| values.get(file)).copied().unwrap_or_default();
        value * factor(signal, self.signals.corpus.layout.class(file))
    }

    /// `None` for a signal that does not count.
    fn values(&self, signal: Signal) -> Option<&[Fixed]> {
        if !self.is_given(signal) {
            return None;
        }
        let hits = self.of_hits.as_ref();
        let focus = self.of_focus.as_ref();
        let text = self.of_text.as_ref().map(|(_, signals)| signals);
        let values = match signal {
            Signal::Vocabulary => &focus?.cosine,
            Signal::Words => &focus?.lexical,
            Signal::Changes => &focus?.cochange,
            Signal::NearChanges => &focus?.cowalk,
            Signal::Defines => &focus?.define,
            Signal::Uses => &focus?.uses,
            Signal::Path => &focus?.pathlike,
            Signal::Graph => &focus?.walk,
            Signal::Names => &focus?.names,
            Signal::TextWords => &text?.content,
            Signal::TextPath => &text?.path,
            Signal::TextMessages => &text?.message,
            Signal::TextNames => &text?.identifier,
            Signal::Churn => &self.signals.corpus.history.churn,
            Signal::HitGraph => &hits?.walk,
            Signal::HitChanges => &hits?.cowalk,
            Signal::HitPairs => &hits?.pairs,
        };
        Some(values)
    }
}

fn number(tokens: u64) -> Fixed {
    Fixed::int(i64::try_from(tokens).unwrap_or(i64::MAX).clamp(50, 1 << 30))
}

/// What a signal counts: a quarter of its weight, less for files that are not code.
fn factor(signal: Signal, class: FileClass) -> Fixed {
    let parts = if class == FileClass::Code { 4 } else { 8 };
    Fixed::ratio(i64::from(signal.weight()), parts)
}

/// What e times the tokens cost in a budget of 32,000, as a share of the most that a file could score.
const COST: Fixed = Fixed::per_mille(40);
/// The same with a text: what it finds stands out more, so that a large file needs more to be taken.
const COST_WITH_TEXT: Fixed = Fixed::per_mille(45);
