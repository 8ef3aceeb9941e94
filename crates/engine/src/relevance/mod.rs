//! Which files of a repository a task needs: one ranking for `suggest`, `pack` and servers.
//!
//! [`Relevance::gather`] reads the data of a repository that a ranking needs, once; [`Relevance::rank`] answers a
//! query. The score itself is `stan_rank`'s. How a budget is filled and what is shown is decided by each verb.

mod describe;
mod focus;
mod gather;
mod history;
mod log;
mod question;

use std::path::Path;
use std::sync::OnceLock;

use stan_model::Digest;
use stan_model::document::assistant_reports::ChangedPaths;
use stan_model::document::run_report::NotAnalysedFiles;
use stan_rank::{FileClass, History, Ranking, TextWeights, WordIndex, is_test};
use stan_repo::{AbsPath, System, SystemExt as _};

pub use self::describe::{Description, Term};
pub use self::focus::{FocusFile, Since};
use self::history::PastTexts;
#[doc(hidden)]
pub use self::log::files_named;
pub use self::question::RankQuery;
use crate::cache::{CommitTexts, StoredLayout};
use crate::tokens::MOST_COUNTED_BYTES;
pub use stan_rank::{Fixed, Signal};

/// Larger files are found by their paths and their history alone.
const MAX_INDEXED: u64 = 4 << 20;

/// The default budget of a verb, in tokens.
pub const USUAL_BUDGET: u64 = 32_000;

/// The data of a repository that its files are ranked by.
#[derive(Debug)]
pub struct Relevance {
    /// Absolute.
    root: String,
    /// stan's own folder, from the root.
    stan_path: String,
    files: StoredLayout,
    index: WordIndex,
    /// In place of an index that turned out to be damaged.
    counted: OnceLock<WordIndex>,
    history: History,
    /// The messages and ids of its commits, which only a text needs.
    texts: PastTexts,
    no_texts: CommitTexts,
    /// What the ranking had to do without, one sentence each.
    pub unavailable: Vec<String>,
    /// Files in languages whose imports are not read.
    pub not_analysed: Vec<NotAnalysedFiles>,
}

impl Relevance {
    /// All files that are ranked, by number.
    pub fn paths(&self) -> impl ExactSizeIterator<Item = &str> {
        self.files.layout.paths()
    }

    /// The path of a file from the root.
    pub fn path(&self, file: u32) -> &str {
        self.files.layout.path(file as usize)
    }

    /// The digest of a file's contents.
    pub(crate) fn digest(&self, file: u32) -> Option<Digest> {
        self.files.metas.get(file as usize).map(|meta| meta.digest)
    }

    /// The number of the file with that path.
    pub fn find(&self, path: &str) -> Option<u32> {
        self.files.layout.find(path)
    }

    /// In bytes.
    pub fn size(&self, file: u32) -> u64 {
        self.files.metas.size(file as usize).unwrap_or_default()
    }

    /// The bytes of a file; `None` when it cannot be read or is too large for any model.
    pub fn read(&self, system: &dyn System, file: u32) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let path = AbsPath::new(&self.root).join(self.path(file));
        system.read_real(Path::new(&path), MOST_COUNTED_BYTES, &mut bytes).ok()?;
        Some(bytes)
    }

    /// Whether some path may have a name that Windows reads otherwise. Hardly any repository has one, so that its paths need not be looked
    /// at one by one.
    pub(crate) fn may_have_hazards(&self) -> bool {
        // Without a way out of the loop, many bytes are compared at once.
        let has = |bytes: &[u8]| bytes.iter().fold(false, |found, byte| found | matches!(byte, b'\\' | b':'));
        self.files.layout.path_bytes().chunks(4096).any(has)
    }

    fn class(&self, file: u32) -> FileClass {
        self.files.layout.class(file as usize)
    }

    fn all(&self) -> impl Iterator<Item = u32> + use<> {
        0..u32::try_from(self.files.metas.len()).unwrap_or(u32::MAX)
    }
}

/// A file that a query is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Focused {
    pub file: u32,
    /// How many steps of its dependencies must come along.
    pub depth: u32,
    /// How much it counts: 1 for what was named, less for what a log names further down.
    pub weight: Fixed,
    /// Named by hand or changed; not only named by a log.
    pub is_asked: bool,
}

/// An answer: every file with its score.
pub struct RankedFiles<'r> {
    relevance: &'r Relevance,
    ranking: Ranking<'r>,
    /// What the query is about: what counts most first, then by path.
    pub focus: Vec<Focused>,
    /// What changed according to git; only when requested.
    pub changes: Option<ChangedPaths>,
    /// Sorted and unique.
    pub warnings: Vec<String>,
}

impl RankedFiles<'_> {
    /// The files that may be needed, the best first. Not the focus, nothing generated or binary, and no instructions for
    /// assistants: these are in every archive.
    pub fn order(&self) -> Vec<u32> {
        let mut order: Vec<(std::cmp::Reverse<Fixed>, u32)> =
            self.wanted().map(|(file, score)| (std::cmp::Reverse(score), file)).collect();
        order.sort_unstable();
        order.into_iter().map(|(_, file)| file).collect()
    }

    /// The same files by number, with their scores.
    pub(crate) fn wanted(&self) -> impl Iterator<Item = (u32, Fixed)> + '_ {
        let mut focus: Vec<u32> = self.focus.iter().map(|one| one.file).collect();
        focus.sort_unstable();
        let instructions = format!("{}/system/", self.relevance.own_folder());
        let instructions = self.relevance.files.layout.beginning_with(&instructions);
        let is_wanted = move |&(file, score): &(u32, Fixed)| {
            score > Fixed::ZERO
                && self.relevance.class(file) != FileClass::Other
                && !instructions.contains(&(file as usize))
                && focus.binary_search(&file).is_err()
        };
        self.relevance.all().map(|file| (file, self.score(file))).filter(is_wanted)
    }

    /// What the words of the text are worth in a passage of a file; `None` without a text.
    pub fn text_weights(&self) -> Option<TextWeights> {
        self.ranking.text_weights()
    }

    /// How much a file may be needed.
    pub fn score(&self, file: u32) -> Fixed {
        self.ranking.score(file as usize)
    }

    /// The order in which the default budget is filled: the score minus a cost for `tokens`.
    pub fn worth(&self, file: u32, tokens: u64) -> Fixed {
        self.worth_within(USUAL_BUDGET)(file, tokens)
    }

    /// The same for any budget, in tokens: the more there are, the less each file's size counts.
    pub fn worth_within(&self, budget: u64) -> impl Fn(u32, u64) -> Fixed + '_ {
        let cost = self.ranking.cost(budget);
        move |file, tokens| self.ranking.worth(file as usize, tokens, cost)
    }

    /// What tokens cost in a budget: the worth of a file is its score less this.
    pub(crate) fn costs(&self, budget: u64) -> impl FnMut(u64) -> Fixed + use<> {
        self.ranking.costs(budget)
    }

    /// What each signal adds to the score, the largest first; nothing that adds nothing.
    pub fn terms(&self, file: u32) -> Vec<(Signal, Fixed)> {
        self.ranking.terms(file as usize)
    }

    /// Whether the file is a test of the focus: by its name, or because it is a test and imports the focus.
    pub fn is_test_of_focus(&self, file: u32) -> bool {
        is_test(self.relevance.path(file)) && self.ranking.is_test_of_focus(file as usize)
    }
}
