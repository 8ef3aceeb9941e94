//! Cuts a text into the pieces that are encoded on their own, by the patterns of the vocabularies.
//!
//! The patterns are those of `tiktoken`, except for the one with a negative look-ahead, `\s+(?!\S)`: it is written as
//! `\s+\s` whose last character is given back, and `\s+$`. Regular expressions without look-ahead take linear time.

use regex_automata::meta::Regex;
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

pub(super) struct Splitter(Regex);

impl Splitter {
    /// `None` for a pattern that is not one.
    pub(super) fn new(pattern: &str) -> Option<Self> {
        Regex::new_many(&[pattern, SPACES_BEFORE, SPACES]).ok().map(Self)
    }

    pub(super) fn pieces<'t>(&'t self, text: &'t str) -> impl Iterator<Item = &'t str> {
        let mut rest = text;
        std::iter::from_fn(move || {
            let found = self.0.find(Input::new(rest).anchored(Anchored::Yes))?;
            let mut end = found.end();
            if found.pattern().as_usize() == GIVES_BACK {
                end -= rest.get(..end)?.chars().next_back()?.len_utf8();
            }
            let (piece, behind) = rest.split_at_checked(end)?;
            rest = behind;
            (!piece.is_empty()).then_some(piece)
        })
    }
}
