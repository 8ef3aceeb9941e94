//! Cuts a text into the pieces that are encoded on their own, by the patterns of the vocabularies.
//!
//! The patterns are those of `tiktoken`, except for the one with a negative look-ahead, `\s+(?!\S)`: it is written as
//! `\s+\s` whose last character is given back, and `\s+$`. Regular expressions without look-ahead take linear time.

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

/// White space before more white space; the last character is not part of the piece.
const SPACES_BEFORE: &str = r"\s+\s";
const SPACES: &str = r"\s+";
/// The pattern whose last character is given back.
const GIVES_BACK: usize = 1;

/// Anchored forward search for the end of a piece, by one lazy automaton. A general regular expression would also compile the way back, which takes as long as everything else here.
pub(super) struct Splitter {
    automaton: DFA,
    /// What threads have made of the automaton.
    caches: Pool<Cache, MakeCache>,
}

type MakeCache = Box<dyn Fn() -> Cache + Send + Sync + UnwindSafe + RefUnwindSafe>;

impl Splitter {
    /// `None` for a pattern that is not one.
    pub(super) fn new(pattern: &str) -> Option<Self> {
        // Few states are ever needed; where many are, the oldest are evicted and built again.
        let config = DFA::config().skip_cache_capacity_check(true);
        let automaton = DFA::builder().configure(config).build_many(&[pattern, SPACES_BEFORE, SPACES]).ok()?;
        let maker = automaton.clone();
        let caches: Pool<Cache, MakeCache> = Pool::new(Box::new(move || maker.create_cache()));
        Some(Self { automaton, caches })
    }

    pub(super) fn pieces<'t>(&'t self, text: &'t str) -> impl Iterator<Item = &'t str> {
        let mut rest = text;
        let mut cache = self.caches.get();
        std::iter::from_fn(move || {
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
