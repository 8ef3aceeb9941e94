//! Ranks the files of a repository for a task. Shared by `suggest`, `pack` and servers.
//!
//! [`Relevance::gather`] reads a repository's data once; [`Relevance::rank`] answers a query. `stan_rank` computes the score.
//! Each verb decides how to fill a budget and what to show.

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
use crate::tokens::MAX_COUNTED_BYTES;
pub use stan_rank::{Fixed, Signal};

/// Larger files are found only by path and history: their words are not indexed.
const MAX_INDEXED_BYTES: u64 = 4 << 20;

/// The default budget of a verb, in tokens.
pub const USUAL_BUDGET: u64 = 32_000;

/// The data of a repository that rankings need.
#[derive(Debug)]
pub struct Relevance {
    /// Absolute.
    root: String,
    /// stan's own folder, root-relative.
    stan_path: String,
    files: StoredLayout,
    index: WordIndex,
    /// Replaces a word index that turned out to be damaged.
    counted: OnceLock<WordIndex>,
    history: History,
    /// The messages and ids of the commits, which only a query with a text needs.
    texts: PastTexts,
    no_texts: CommitTexts,
    /// The inputs that were unavailable to the ranking, one sentence each.
    pub unavailable: Vec<String>,
    /// Files in languages that stan does not analyse.
    pub not_analysed: Vec<NotAnalysedFiles>,
}

impl Relevance {
    /// All ranked files, by number.
    pub fn paths(&self) -> impl ExactSizeIterator<Item = &str> {
        self.files.layout.paths()
    }

    /// The root-relative path of a file.
    pub fn path(&self, file: u32) -> &str {
        self.files.layout.path(file as usize)
    }

    /// The digest of a file's contents.
    pub(crate) fn digest(&self, file: u32) -> Option<Digest> {
        self.files.metas.get(file as usize).map(|meta| meta.digest)
    }

    /// The number of the file with this path.
    pub fn find(&self, path: &str) -> Option<u32> {
        self.files.layout.find(path)
    }

    /// In bytes.
    pub fn size(&self, file: u32) -> u64 {
        self.files.metas.size(file as usize).unwrap_or_default()
    }

    /// The bytes of a file; `None` if it is unreadable or too large for any model.
    pub fn read(&self, system: &dyn System, file: u32) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let path = AbsPath::new(&self.root).join(self.path(file));
        system.read_real(Path::new(&path), MAX_COUNTED_BYTES, &mut bytes).ok()?;
        Some(bytes)
    }

    /// Whether some path may contain a character that Windows interprets. Hardly any repository has one, so the check of each
    /// path can usually be skipped.
    pub(crate) fn may_have_hazards(&self) -> bool {
        // No early exit, so that the loop is vectorised.
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
    /// The number of levels of its dependencies that must be included.
    pub depth: u32,
    /// 1 for a file that was named, less for one further down in a log.
    pub weight: Fixed,
    /// Named by the user or changed; not just named by a log.
    pub is_asked: bool,
}

/// An answer: every file with its score.
pub struct RankedFiles<'r> {
    relevance: &'r Relevance,
    ranking: Ranking<'r>,
    /// The files that the query is about, by weight, then by path.
    pub focus: Vec<Focused>,
    /// The changes according to git; only when requested.
    pub changes: Option<ChangedPaths>,
    /// Sorted and unique.
    pub warnings: Vec<String>,
}

impl RankedFiles<'_> {
    /// The other files, the best first. Without the focus, generated and binary files, and instructions for assistants, which are
    /// in every archive.
    pub fn order(&self) -> Vec<u32> {
        let mut order: Vec<(std::cmp::Reverse<Fixed>, u32)> =
            self.wanted().map(|(file, score)| (std::cmp::Reverse(score), file)).collect();
        order.sort_unstable();
        order.into_iter().map(|(_, file)| file).collect()
    }

    /// The files of [`Self::order`] with their scores, by number.
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

    /// The weights of the text's words, to score passages of a file; `None` without a text.
    pub fn text_weights(&self) -> Option<TextWeights> {
        self.ranking.text_weights()
    }

    pub fn score(&self, file: u32) -> Fixed {
        self.ranking.score(file as usize)
    }

    /// The order in which the default budget is filled: the score minus a penalty for `tokens`.
    pub fn priority(&self, file: u32, tokens: u64) -> Fixed {
        self.priority_within(USUAL_BUDGET)(file, tokens)
    }

    /// [`Self::priority`] for another budget, in tokens: the larger it is, the smaller the penalty.
    pub fn priority_within(&self, budget: u64) -> impl Fn(u32, u64) -> Fixed + '_ {
        let cost = self.ranking.cost(budget);
        move |file, tokens| self.ranking.priority(file as usize, tokens, cost)
    }

    /// The penalty for a number of tokens in a budget.
    pub(crate) fn costs(&self, budget: u64) -> impl FnMut(u64) -> Fixed + use<> {
        self.ranking.costs(budget)
    }

    /// The contribution of each signal to the score, the largest first, without zeros.
    pub fn terms(&self, file: u32) -> Vec<(Signal, Fixed)> {
        self.ranking.terms(file as usize)
    }

    /// Whether the file is a test of the focus: by its name, or because it is a test that imports the focus.
    pub fn is_test_of_focus(&self, file: u32) -> bool {
        is_test(self.relevance.path(file)) && self.ranking.is_test_of_focus(file as usize)
    }
}
