//! Explains why a file has its rank: for each signal, the one true statement that explains it best. Claims nothing that the data
//! does not show; a signal without a short explanation has no reason.

use crate::fixed::Fixed;
use crate::flat::{contains, numbers};
use crate::paths::{folder, folder_distance, is_test};
use crate::rank::{Ranking, Signal};
use crate::signals::MentionedPart;
use crate::words::TermKey;

/// A statement about a file. Other files are given by number, words by key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It imports that file, which is in the focus or imports the focus.
    Imports(u32),
    /// It is imported by that file, which is in the focus or imported by the focus.
    ImportedBy(u32),
    /// It and the focus both import that file, or are both imported by it.
    SiblingVia(u32),
    /// It changed in `common` of the focus's `of` commits.
    ChangedTogether { common: u32, of: u32 },
    /// It shares this word with the focus.
    Shares(TermKey),
    /// It defines this word, and the focus uses it.
    Defines(TermKey),
    /// It uses this word, and the focus defines it.
    Uses(TermKey),
    /// It tests that file, which is in the focus or one of the best answers.
    TestOf(u32),
    /// That file is its test.
    TestedBy(u32),
    /// Its name without extensions equals that file's.
    NamedAs(u32),
    /// The text contains its path.
    NamedInText,
    /// It contains these words of the text.
    Mentions(Vec<String>),
    /// Its path contains these words of the text.
    NamedLike(Vec<String>),
    /// The commit with that index in the history changed it and has a message similar to the text.
    Message(usize),
}

/// The maximum number of words in a reason.
const MAX_WORDS: usize = 3;

impl Ranking<'_> {
    /// The best true statement about a file: that the text contains its path, what it tests, or that an import connects it with
    /// the focus. Otherwise that of its largest signal with a reason. `terms` are the file's.
    pub fn reason(&self, file: usize, terms: &[(Signal, Fixed)]) -> Option<Reason> {
        let named = self.is_named(file).then_some(Reason::NamedInText);
        let of_signals = || terms.iter().find_map(|(signal, _)| self.reason_of(*signal, file));
        named.or_else(|| self.pair(file)).or_else(|| self.direct_edge(file)).or_else(of_signals)
    }

    /// The reason for one signal of a file.
    pub fn reason_of(&self, signal: Signal, file: usize) -> Option<Reason> {
        match signal {
            Signal::Vocabulary | Signal::Words => self.of_focus.as_ref()?.shared.of(file).map(Reason::Shares),
            Signal::Changes | Signal::NearChanges => self.changed_together(file),
            Signal::Defines => self.of_focus.as_ref()?.used.of(file).map(Reason::Defines),
            Signal::Uses => self.of_focus.as_ref()?.defined.of(file).map(Reason::Uses),
            Signal::Graph => self.edge(file),
            Signal::Path => self.pair(file),
            Signal::Names => self.pair_among(&self.focus, file),
            Signal::TextWords | Signal::TextNames => self.mentioned(file),
            Signal::TextPath if self.is_named(file) => Some(Reason::NamedInText),
            Signal::TextPath => self.named_like(file),
            Signal::TextMessages => self.message(file),
            Signal::HitPairs => self.pair_of_hit(file),
            Signal::HitGraph | Signal::HitChanges | Signal::Churn => None,
        }
    }

    fn is_named(&self, file: usize) -> bool {
        u32::try_from(file).is_ok_and(|file| self.named.binary_search(&file).is_ok())
    }

    /// Whether the file is a test of the focus, by its name or its imports.
    pub fn is_test_of_focus(&self, file: usize) -> bool {
        matches!(self.pair(file).or_else(|| self.direct_edge(file)), Some(Reason::TestOf(_) | Reason::Imports(_)))
    }

    /// The focus file that the file tests, or that is its test.
    fn pair(&self, file: usize) -> Option<Reason> {
        self.pair_among(&self.focus, file).filter(|reason| !matches!(reason, Reason::NamedAs(_)))
    }

    fn pair_of_hit(&self, file: usize) -> Option<Reason> {
        self.pair_among(&self.of_hits.as_ref()?.files, file)
    }

    /// The nearest of `others` with the same name key; a pair of test and tested file comes first.
    fn pair_among(&self, others: &[usize], file: usize) -> Option<Reason> {
        let layout = self.corpus().layout;
        let path = layout.path(file);
        let own = layout.name(file);
        let path_of = |other: usize| layout.path(other);
        let is_pair = |other: usize| is_test(path_of(other)) != is_test(path);
        let mates = others.iter().copied().filter(|other| *other != file && layout.name(*other) == own);
        let distance = |other: &usize| folder_distance(folder(path), folder(path_of(*other)));
        let other = mates.min_by_key(|other| (!is_pair(*other), distance(other)))?;
        let number = u32::try_from(other).ok()?;
        Some(match (is_pair(other), is_test(path)) {
            (true, true) => Reason::TestOf(number),
            (true, false) => Reason::TestedBy(number),
            (false, _) => Reason::NamedAs(number),
        })
    }

    fn imports(&self, from: u32, to: u32) -> bool {
        self.corpus().layout.graph.imports(from, to)
    }

    fn direct_edge(&self, file: usize) -> Option<Reason> {
        let number = u32::try_from(file).ok()?;
        let other = self.corpus().layout.graph.first_neighbour(file, &self.focus)?;
        Some(if self.imports(other, number) { Reason::ImportedBy(other) } else { Reason::Imports(other) })
    }

    /// The shortest path over imports, if it has one or two steps.
    fn edge(&self, file: usize) -> Option<Reason> {
        if let Some(direct) = self.direct_edge(file) {
            return Some(direct);
        }
        let number = u32::try_from(file).ok()?;
        let graph = &self.corpus().layout.graph;
        // Of several paths, prefer the one over the file with the fewest neighbours: a hub connects everything.
        let leads_to_focus = |between: u32| Some((between, graph.first_neighbour(between as usize, &self.focus)?));
        let ways = numbers(graph.neighbours(file)).filter_map(leads_to_focus);
        let (between, focus) = ways.min_by_key(|(between, _)| (graph.neighbours(*between as usize).len(), *between))?;
        Some(match (self.imports(between, number), self.imports(focus, between)) {
            (true, true) => Reason::ImportedBy(between),
            (false, false) => Reason::Imports(between),
            _ => Reason::SiblingVia(between),
        })
    }

    fn changed_together(&self, file: usize) -> Option<Reason> {
        let number = u32::try_from(file).ok()?;
        let common = self.focus_commits.iter().filter(|files| contains(files, number)).count();
        let of = u32::try_from(self.focus_commits.len()).unwrap_or(u32::MAX);
        (common > 0).then(|| Reason::ChangedTogether { common: u32::try_from(common).unwrap_or(u32::MAX), of })
    }

    fn mentioned(&self, file: usize) -> Option<Reason> {
        let (query, signals) = self.of_text.as_ref()?;
        let has = |part: &&MentionedPart| part.files.binary_search(&file).is_ok();
        let found = signals.parts.iter().filter(has);
        // A file that contains `Bearer` need not contain `PasswordBearer`.
        let has_whole = |word: &str| {
            let files = signals.identifiers.iter().find(|(known, _)| known == word);
            files.is_some_and(|(_, files)| files.binary_search(&file).is_ok())
        };
        let shown = |part: &MentionedPart| {
            let shown = query.shown(part.key)?;
            Some((part.files.len(), if has_whole(&shown.word) { &*shown.word } else { &*shown.piece }))
        };
        let mut found: Vec<(usize, &str)> = found.filter_map(shown).collect();
        words_of(&mut found).map(Reason::Mentions)
    }

    fn named_like(&self, file: usize) -> Option<Reason> {
        let (query, _) = self.of_text.as_ref()?;
        let words = self.corpus().layout.words_of_path(file);
        let in_path = query.parts.iter().filter(|(key, _)| words.binary_search(key).is_ok());
        let mut found: Vec<(usize, &str)> =
            in_path.filter_map(|(key, _)| Some((0, &*query.shown(*key)?.piece))).collect();
        words_of(&mut found).map(Reason::NamedLike)
    }

    fn message(&self, file: usize) -> Option<Reason> {
        let (_, signals) = self.of_text.as_ref()?;
        let number = u32::try_from(file).ok()?;
        let changed = |commit: usize| contains(self.corpus().history.files_of(commit), number);
        signals.alike.iter().find(|(commit, _)| changed(*commit)).map(|(commit, _)| Reason::Message(*commit))
    }
}

/// The rarest few words, without duplicates.
fn words_of(found: &mut Vec<(usize, &str)>) -> Option<Vec<String>> {
    found.sort_unstable();
    let mut words: Vec<String> = Vec::new();
    for (_, word) in found {
        if words.len() < MAX_WORDS && !words.iter().any(|known| known == word) {
            words.push((*word).to_owned());
        }
    }
    (!words.is_empty()).then_some(words)
}
