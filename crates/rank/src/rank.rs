//! Ranks files: the score of a file is the weighted sum of its signals. The formula is the same for all queries; missing inputs
//! contribute nothing.
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
    /// Focus files with their weights; all numbers are below the number of files.
    pub focus: &'q [(u32, Fixed)],
    /// The task in words.
    pub text: Option<&'q str>,
    /// Files whose paths the text contains, sorted; all numbers are below the number of files.
    pub named: &'q [u32],
}

/// A signal: one reason why a file may be needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Signal {
    /// Its vocabulary is similar to the focus's.
    Vocabulary,
    /// It contains rare words of the focus.
    Words,
    /// It changed in the same commits as the focus.
    Changes,
    /// It changes together with files that change together with the focus.
    NearChanges,
    /// It defines names that the focus uses.
    Defines,
    /// It uses names that the focus defines.
    Uses,
    /// Its path shares words with the focus's path.
    Path,
    /// It is close to the focus on the import graph.
    Graph,
    /// It has the same name key as the focus, as its test has.
    Names,
    /// It contains words of the text.
    TextWords,
    /// Its path contains words of the text.
    TextPath,
    /// Commits with messages similar to the text changed it.
    TextMessages,
    /// It contains identifiers of the text.
    TextNames,
    /// It changed often recently.
    Churn,
    /// It is close on the import graph to the best answers by the signals above.
    HitGraph,
    /// It changes together with the best answers.
    HitChanges,
    /// It has the same name key as one of the best answers, as its test has.
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

    /// The name of the signal in reports.
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

/// The score of every file, with its terms.
pub struct Ranking<'c> {
    pub(crate) signals: Signals<'c>,
    pub(crate) focus: Vec<usize>,
    /// The files of each commit that changed a focus file.
    pub(crate) focus_commits: Vec<Files<'c>>,
    pub(crate) of_focus: Option<FocusSignals>,
    pub(crate) of_text: Option<(TextQuery, TextSignals)>,
    /// Files whose paths the text contains, sorted.
    pub(crate) named: Vec<u32>,
    /// Signals from the best files by the signals above; `None` until these are known.
    pub(crate) of_hits: Option<HitSignals>,
    scores: Vec<Fixed>,
    /// The maximum possible score.
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

    pub fn score(&self, file: usize) -> Fixed {
        self.scores.get(file).copied().unwrap_or_default()
    }

    /// The priority of a file under a budget: its score minus the cost of its tokens. A file of twice the size must have a
    /// clearly higher score; how much higher depends on the maximum possible score and on the budget. `cost` is that of the
    /// budget.
    pub fn priority(&self, file: usize, tokens: u64, cost: Fixed) -> Fixed {
        self.score(file) - cost * number(tokens).ln()
    }

    /// The cost of tokens under a budget, as subtracted by [`Self::priority`].
    pub fn costs(&self, budget: u64) -> impl FnMut(u64) -> Fixed + use<> {
        let cost = self.cost(budget);
        let mut known = Memo::new(move |tokens: Fixed| cost * tokens.ln());
        move |tokens| known.get(number(tokens))
    }

    /// The cost of multiplying the tokens by e, under a budget.
    pub fn cost(&self, budget: u64) -> Fixed {
        let share = number(budget.clamp(2_000, 512_000)) / Fixed::int(32_000);
        // With four times the budget, three quarters of the cost.
        let scarcity = Fixed::ONE - Fixed::ratio(1, 4) * share.ln() / Fixed::int(4).ln();
        let cost = if self.of_text.is_some() { COST_WITH_TEXT } else { COST };
        self.most * cost * scarcity
    }

    /// The contribution of each signal to the file's score, largest first, without zeros.
    pub fn terms(&self, file: usize) -> Vec<(Signal, Fixed)> {
        let term = |signal: Signal| (signal, self.term(signal, file));
        let mut terms: Vec<(Signal, Fixed)> =
            Signal::ALL.into_iter().map(term).filter(|(_, value)| value.is_positive()).collect();
        terms.sort_by_key(|&(signal, value)| (std::cmp::Reverse(value), signal));
        terms
    }

    /// Whether the query and the repository have the inputs of the signal.
    fn is_given(&self, signal: Signal) -> bool {
        let has_history = !self.signals.corpus.history.is_empty();
        match signal {
            Signal::Changes | Signal::NearChanges => has_history && self.of_focus.is_some(),
            Signal::TextMessages => has_history && self.of_text.is_some(),
            Signal::HitChanges => has_history,
            // A text names its topic, so churn is ignored, unless no file contains any of its words.
            Signal::Churn => has_history && (self.of_text.is_none() || self.is_text_unknown()),
            // Common changes show which test belongs to the focus. Without a history, the name does.
            Signal::Names => !has_history && self.of_focus.is_some(),
            Signal::HitGraph => true,
            // Files that share a hit's name are rarely what a text is about. A focus is different: its test usually changes with it. Without
            // a history, only the focus's own name counts if other files share it.
            Signal::HitPairs => self.of_focus.as_ref().is_some_and(|focus| has_history || !focus.has_mates),
            _ if signal < Signal::TextWords => self.of_focus.is_some(),
            _ => self.of_text.is_some(),
        }
    }

    /// Adds a signal's contribution to the scores of all files.
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

    /// `None` if the signal does not count.
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

/// The factor of a signal: a quarter of its weight, less for files that are not code.
fn factor(signal: Signal, class: FileClass) -> Fixed {
    let parts = if class == FileClass::Code { 4 } else { 8 };
    Fixed::ratio(i64::from(signal.weight()), parts)
}

/// The cost of e times the tokens under a budget of 32,000, as a share of the maximum possible score.
const COST: Fixed = Fixed::per_mille(40);
/// The same for queries with a text: its matches have clearly higher scores, so a large file must have more to be taken.
const COST_WITH_TEXT: Fixed = Fixed::per_mille(45);
