//! Explains the rank of a file: one true statement, and the largest terms of its score.

use rustc_hash::FxHashMap;
use stan_rank::{Reason, Signal, TermKey, spellings};
use stan_repo::System;

use super::RankedFiles;

/// The maximum number of listed terms.
const MAX_TERMS: usize = 3;
/// The maximum number of focus files that are searched for the spelling of words.
const MAX_SPELLING_FILES: usize = 64;
/// The length of an abbreviated object id in git.
const SHORT_ID: usize = 7;

/// The description of a ranked file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// `imported by src/a.ts`; absent if no short statement applies.
    pub reason: Option<String>,
    /// The terms of its score with the largest amounts, in descending order.
    pub terms: Vec<Term>,
}

/// The contribution of one signal to a score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    pub signal: Signal,
    /// In thousandths of the score.
    pub thousandths: i64,
    pub reason: Option<String>,
}

impl RankedFiles<'_> {
    /// Describes each of the files.
    pub fn describe(&self, system: &dyn System, files: &[u32]) -> Vec<Description> {
        let found: Vec<Explanation> = files.iter().map(|&file| self.found(file as usize)).collect();
        let reasons = found
            .iter()
            .flat_map(|one| one.reason.iter().chain(one.terms.iter().filter_map(|term| term.reason.as_ref())));
        let keys: Vec<TermKey> = reasons.filter_map(word_of).collect();
        let words = self.spell(system, &keys);
        let said = |reason: Option<&Reason>| reason.and_then(|reason| self.said(reason, &words));
        let description = |one: &Explanation| Description {
            reason: said(one.reason.as_ref()),
            terms: one
                .terms
                .iter()
                .map(|term| Term {
                    signal: term.signal,
                    thousandths: term.thousandths,
                    reason: said(term.reason.as_ref()),
                })
                .collect(),
        };
        found.iter().map(description).collect()
    }

    fn found(&self, file: usize) -> Explanation {
        let terms = self.ranking.terms(file);
        Explanation {
            reason: self.ranking.reason(file, &terms),
            terms: terms
                .into_iter()
                .take(MAX_TERMS)
                .map(|(signal, value)| ExplainedTerm {
                    signal,
                    thousandths: value.thousandths(),
                    reason: self.ranking.reason_of(signal, file),
                })
                .collect(),
        }
    }

    /// The spelling, in the focus, of the words with these keys.
    fn spell(&self, system: &dyn System, keys: &[TermKey]) -> FxHashMap<TermKey, String> {
        if keys.is_empty() {
            return FxHashMap::default();
        }
        let focus = self.focus.iter().take(MAX_SPELLING_FILES);
        let texts: Vec<Vec<u8>> = focus.filter_map(|one| self.relevance.read(system, one.file)).collect();
        spellings(keys, texts.iter().map(Vec::as_slice))
    }

    fn said(&self, reason: &Reason, words: &FxHashMap<TermKey, String>) -> Option<String> {
        let path = |file: &u32| self.relevance.path(*file);
        let commit = |commit: &usize| {
            let id = self.relevance.texts.id(*commit)?;
            Some(id.get(..SHORT_ID).unwrap_or(id))
        };
        Some(match reason {
            Reason::Imports(file) => format!("imports {}", path(file)),
            Reason::ImportedBy(file) => format!("imported by {}", path(file)),
            Reason::SiblingVia(file) => format!("sibling via {}", path(file)),
            Reason::ChangedTogether { common, of } => format!("changed together ({common} of {of} commits)"),
            Reason::Shares(word) => format!("shares {}", words.get(word)?),
            Reason::Defines(word) => format!("defines {}", words.get(word)?),
            Reason::Uses(word) => format!("uses {}", words.get(word)?),
            Reason::TestOf(file) => format!("test of {}", path(file)),
            Reason::TestedBy(file) => format!("tested by {}", path(file)),
            Reason::NamedAs(file) => format!("named like {}", path(file)),
            Reason::NamedInText => "named in the text".to_owned(),
            Reason::Mentions(words) => format!("mentions {}", words.join(", ")),
            Reason::NamedLike(words) => format!("path has {}", words.join(", ")),
            Reason::Message(index) => format!("message of {}", commit(index)?),
        })
    }
}

struct Explanation {
    reason: Option<Reason>,
    terms: Vec<ExplainedTerm>,
}

/// A [`Term`] before its reason is put into words.
struct ExplainedTerm {
    signal: Signal,
    thousandths: i64,
    reason: Option<Reason>,
}

fn word_of(reason: &Reason) -> Option<TermKey> {
    match reason {
        Reason::Shares(word) | Reason::Defines(word) | Reason::Uses(word) => Some(*word),
        _ => None,
    }
}
