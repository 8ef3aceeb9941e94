//! Splits a text into the pieces that are encoded separately, by the patterns of the vocabularies.
//!
//! The patterns are those of `tiktoken`, except for the one with a negative look-ahead, `\s+(?!\S)`: it is written as `\s+\s`,
//! whose last character is given back, and `\s+$`. Regular expressions without look-ahead match in linear time.

use std::panic::{RefUnwindSafe, UnwindSafe};

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::util::pool::Pool;
use regex_automata::{Anchored, Input};

pub(super) const O200K: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+$"
);
pub(super) const CL100K: &str =
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+$";

/// White space before more white space; its last character belongs to the next piece.
const SPACES_BEFORE: &str = r"\s+\s";
const SPACES: &str = r"\s+";
/// The index of the pattern whose last character is given back.
const GIVES_BACK: usize = 1;

/// Finds the end of a piece by an anchored forward search with one lazy automaton. A general regular expression would also
/// compile a reverse automaton, which takes as long as everything else here.
pub(super) struct Splitter {
    automaton: DFA,
    /// The lazily built states of the automaton, per thread.
    caches: Pool<Cache, MakeCache>,
    /// Whether the pattern splits words like [`ascii_word`].
    cuts_ascii_words: bool,
}

type MakeCache = Box<dyn Fn() -> Cache + Send + Sync + UnwindSafe + RefUnwindSafe>;

impl Splitter {
    /// `None` for an invalid pattern.
    pub(super) fn new(pattern: &str) -> Option<Self> {
        // Use the minimum cache instead of failing if that exceeds the default: few states occur, and rare ones are evicted and
        // built again.
        let config = DFA::config().skip_cache_capacity_check(true);
        let automaton = DFA::builder().configure(config).build_many(&[pattern, SPACES_BEFORE, SPACES]).ok()?;
        let maker = automaton.clone();
        let caches: Pool<Cache, MakeCache> = Pool::new(Box::new(move || maker.create_cache()));
        Some(Self { automaton, caches, cuts_ascii_words: pattern == O200K })
    }

    pub(super) fn pieces<'t>(&'t self, text: &'t str) -> impl Iterator<Item = &'t str> {
        let mut rest = text;
        let mut cache = self.caches.get();
        std::iter::from_fn(move || {
            if let Some(end) = ascii_word(rest.as_bytes()).filter(|_| self.cuts_ascii_words) {
                let (piece, behind) = rest.split_at_checked(end)?;
                rest = behind;
                return Some(piece);
            }
            let input = Input::new(rest).anchored(Anchored::Yes);
            let found = self.automaton.try_search_fwd(&mut cache, &input).ok()??;
            let mut end = found.offset();
            if found.pattern().as_usize() == GIVES_BACK {
                end -= rest.get(..end)?.chars().next_back()?.len_utf8();
            }
            let (piece, behind) = rest.split_at_checked(end)?;
            rest = behind;
            (!piece.is_empty()).then_some(piece)
        })
    }
}

/// A fast path: the end of the first piece, if that is a word of ASCII letters with at most one other character in front, as the
/// first two alternatives of [`O200K`] match it. Most of a source text consists of such words. `None` if something else comes
/// first, or if the character after the word may belong to it: an apostrophe, or a non-ASCII one.
fn ascii_word(text: &[u8]) -> Option<usize> {
    let first = *text.first()?;
    let start = usize::from(!first.is_ascii_alphabetic());
    if start == 1 && (!first.is_ascii() || first.is_ascii_digit() || matches!(first, b'\r' | b'\n')) {
        return None;
    }
    let run = |from: usize, is_inside: fn(&u8) -> bool| {
        text.get(from..).unwrap_or_default().iter().take_while(|byte| is_inside(byte)).count()
    };
    let small = start + run(start, u8::is_ascii_uppercase);
    let end = small + run(small, u8::is_ascii_lowercase);
    let ends = text.get(end).is_none_or(|next| next.is_ascii() && *next != b'\'');
    (end > start && ends).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_ascii_are_cut_as_the_pattern_cuts_them() {
        let by_rule = Splitter::new(O200K).unwrap();
        let by_pattern = Splitter { cuts_ascii_words: false, ..Splitter::new(O200K).unwrap() };
        let parts = [
            "a",
            "B",
            "word",
            "Word",
            "HTTP",
            "'s",
            "'",
            " ",
            "  ",
            "\t",
            "\n",
            "\r\n",
            "1",
            "1234",
            "_",
            "(",
            "/",
            "\u{e9}",
            "\u{301}",
            "\u{4f60}",
            "\u{1f600}",
            "\0",
        ];
        for first in parts {
            for second in parts {
                for third in parts {
                    let text = [first, second, third, first].concat();
                    let cut = |splitter: &Splitter| splitter.pieces(&text).map(str::to_owned).collect::<Vec<_>>();
                    assert_eq!(cut(&by_rule), cut(&by_pattern), "{text:?}");
                }
            }
        }
    }
}
