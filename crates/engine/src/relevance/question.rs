//! A query to the ranking. Resolves its focus in the repository.

use std::collections::BTreeMap;

use stan_rank::{Corpus, FileClass, Question, rank};
use stan_repo::System;

use super::focus::{FocusFile, Since};
use super::{Fixed, Focused, RankedFiles, Relevance};
use crate::context::{EngineError, NamedBytes};

/// The parts of a query. All that are given count.
#[derive(Clone, Debug, Default)]
pub struct RankQuery {
    /// Files, folders and globs that the user named.
    pub focus: Vec<FocusFile>,
    /// Also every changed file.
    pub changed: Option<Since>,
    /// Also every file that this output of a compiler or a test runner names.
    pub log: Option<NamedBytes>,
    /// The task in words.
    pub about: Option<String>,
}

impl Relevance {
    /// Ranks all files for a query. Fails if the focus matches nothing, and suggests similar names.
    pub fn rank(&self, system: &dyn System, query: &RankQuery) -> Result<RankedFiles<'_>, EngineError> {
        let mut found: BTreeMap<u32, Focused> = BTreeMap::new();
        let mut add = |file: u32, depth: u32, weight: Fixed, is_asked: bool| {
            let known = found.entry(file).or_insert(Focused { file, depth, weight, is_asked });
            known.depth = depth.max(known.depth);
            known.weight = weight.max(known.weight);
            known.is_asked |= is_asked;
        };
        let mut warnings = Vec::new();
        for (file, depth) in self.named(&query.focus)? {
            add(file, depth, Fixed::ONE, true);
        }
        let changes = query.changed.as_ref().map(|since| self.changed(system, since, &mut warnings)).transpose()?;
        for path in changes.iter().flat_map(|changes| changes.changed.iter().chain(&changes.added)) {
            // Changed images, lock files and other assets do not indicate which other files are needed.
            if let Some(file) = self.find(path).filter(|file| self.class(*file) != FileClass::Other) {
                add(file, 0, Fixed::ONE, true);
            }
        }
        if let Some(log) = &query.log {
            let named = self.in_log(&log.bytes);
            if named.is_empty() {
                warnings.push(format!("{} names no file of the repository", log.name));
            }
            named.into_iter().for_each(|(file, weight)| add(file, 0, weight, false));
        }
        let about = query.about.as_deref().filter(|text| !text.trim().is_empty());
        if found.is_empty() && about.is_none() {
            return Err(EngineError::input("there is nothing to rank files by: no file changed or was named")
                .details(warnings)
                .hint("name a file (--focus src/a.ts), or say what the task is (--about \"…\")"));
        }
        let mut focus: Vec<Focused> = found.into_values().collect();
        let seeds: Vec<(u32, Fixed)> = focus.iter().map(|one| (one.file, one.weight)).collect();
        let named = about.map(|text| self.in_text(text)).unwrap_or_default();
        let question = Question { focus: &seeds, text: about, named: &named };
        let messages = if about.is_some() { &self.texts(system).messages } else { &self.no_texts.messages };
        let (layout, history) = (&self.files.layout, &self.history);
        let answer = |index| rank(Corpus { layout, index, history, messages }, question);
        let mut ranking = answer(self.counted.get().unwrap_or(&self.index));
        if ranking.corpus().index.failed() {
            ranking = answer(self.counted.get_or_init(|| self.count_words(system)));
        }
        focus.sort_by_key(|one| (std::cmp::Reverse(one.weight), one.file));
        if ranking.is_text_unknown() {
            let is_ranked = self.all().any(|file| ranking.score(file as usize) > Fixed::ZERO);
            warnings.push(if is_ranked {
                "no file contains a word of the text; files are ranked by the history and the focus alone".to_owned()
            } else {
                "no word of the text occurs in the repository".to_owned()
            });
        }
        warnings.sort_unstable();
        warnings.dedup();
        Ok(RankedFiles { relevance: self, ranking, focus, changes, warnings })
    }
}
