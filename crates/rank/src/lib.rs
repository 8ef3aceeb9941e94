//! Ranks which files a task needs. Each of these is a signal, summed up to one score: words, definitions, names, history and the
//! import graph.
//!
//! - `layout`, `index`, `history`, `walk`: the inputs of the signals: paths, words, files changed together, imports;
//! - `signals`, `rank`: the signals; their weighted sum;
//! - `hits`: a second pass over the neighbours of the best hits;
//! - `reasons`: the reason that is shown for each file;
//! - `flat`: the word index in the form that the cache stores;
//! - `definitions`: the words that a text defines, by file extension and keyword.
//!
//! Pure and deterministic: fixed-point arithmetic, sums in the order of files and terms. Reading, caching and printing are done
//! elsewhere.

mod definitions;
mod fill;
mod fixed;
mod flat;
mod history;
mod hits;
mod index;
mod key_table;
mod layout;
mod passages;
mod paths;
mod query;
mod rank;
mod reasons;
mod signals;
mod walk;
mod words;

pub use fill::{Candidate, Filled, fill};
pub use fixed::Fixed;
pub use flat::{Batch, Flat, Lists, ReadRanges, SharedBytes};
pub use history::{Change, History, Messages};
pub use index::{Postings, WordIndex};
pub use layout::{Layout, LayoutParts, PathWords};
pub use passages::TextWeights;
pub use paths::{FileClass, file_class, folder, folder_distance, is_test, name_key};
pub use query::{message_words, spellings};
pub use rank::{Question, Ranking, Signal, rank};
pub use reasons::Reason;
pub use signals::Corpus;
pub use walk::{Edge, ImportGraph};
pub use words::{FileWords, TermKey, WordCounter};

#[cfg(test)]
mod tests;
