//! Counts tokens: with real tokenizers, or with the estimate that the formats use.
//!
//! The vocabularies are compiled into the program. Their tables are read from the user's cache folder or built when the first
//! text is counted, so that commands without counts do not pay for it.

mod known;
mod split;
mod tables;
mod vocabulary;

use std::fmt;
use std::sync::LazyLock;

use rayon::prelude::*;
use regex_automata::util::pool::Pool;
use stan_model::document::reports::ExactTokens;
use stan_model::document::run_report::tokens;

use self::known::KnownPieces;
use self::split::Splitter;
pub use self::tables::keep_tables_in;
use self::vocabulary::{Packed, Vocabulary};

/// A vocabulary, and its rule to split texts into pieces.
struct Encoding {
    vocabulary: Vocabulary,
    splitter: Splitter,
    /// Counts of words that threads have encoded before.
    known: Pool<KnownPieces>,
}

impl Encoding {
    /// `None` only if the embedded vocabulary is corrupt.
    fn load(parts: &EncodingParts) -> Option<Self> {
        let packed = Packed::new(parts.packed)?;
        let kept = tables::load(parts.name, packed.flat_size(), parts.table_hash);
        let vocabulary = match kept.and_then(|flat| Vocabulary::from_flat(packed, flat)) {
            Some(kept) => kept,
            None => {
                let made = Vocabulary::unpack(packed)?;
                tables::store(parts.name, made.flat());
                made
            }
        };
        Some(Self { vocabulary, splitter: Splitter::new(parts.pattern)?, known: Pool::new(KnownPieces::new) })
    }

    fn count(&self, text: &str) -> usize {
        let mut known = self.known.get();
        let mut count = |piece: &str| known.count(piece.as_bytes(), |piece| self.vocabulary.count(piece));
        self.splitter.pieces(text).map(&mut count).sum()
    }
}

/// The embedded parts of an encoding.
struct EncodingParts {
    name: &'static str,
    packed: &'static [u8],
    /// SHA-256 of the table that is built from it.
    table_hash: &'static str,
    pattern: &'static str,
}

const O200K_PARTS: EncodingParts = EncodingParts {
    name: "o200k",
    packed: include_bytes!("../assets/o200k.ranks"),
    table_hash: "b472ad69086bdb0d946c73faec30ed848e5bfb8f6c6dede002a5031d5aebf2ce",
    pattern: split::O200K,
};

const CL100K_PARTS: EncodingParts = EncodingParts {
    name: "cl100k",
    packed: include_bytes!("../assets/cl100k.ranks"),
    table_hash: "7556be5ee35bbcbfcace8f4a9ec206d8de4e54c1c27c89bad6dff1346229f763",
    pattern: split::CL100K,
};

static O200K: LazyLock<Option<Encoding>> = LazyLock::new(|| Encoding::load(&O200K_PARTS));
static CL100K: LazyLock<Option<Encoding>> = LazyLock::new(|| Encoding::load(&CL100K_PARTS));

/// Must change whenever the count of some text changes.
pub(crate) const COUNT_VERSION: u64 = 2;

/// Larger files are not read for counting, because no model gets them; their count is estimated from the size.
pub(crate) const MAX_COUNTED_BYTES: u64 = 64 << 20;

/// A way to count tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tokenizer {
    /// `o200k_base`, which the current models of OpenAI use and which is close for others.
    #[default]
    O200k,
    /// `cl100k_base`, of the previous generation.
    Cl100k,
    /// A quarter of the byte count, rounded up: the estimate of the formats (spec 30 §6).
    Bytes4,
}

impl Tokenizer {
    pub const ALL: [Self; 3] = [Self::O200k, Self::Cl100k, Self::Bytes4];

    /// The name in options and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::O200k => "o200k",
            Self::Cl100k => "cl100k",
            Self::Bytes4 => "bytes4",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tokenizer| tokenizer.name() == name)
    }

    /// The token count of a text. Invalid UTF-8 counts as the replacement characters that a model would see. Linear in the length
    /// for any content.
    pub fn count(&self, text: &[u8]) -> u64 {
        let estimate = || tokens(text.len() as u64);
        let encoding = match self {
            Self::O200k => &O200K,
            Self::Cl100k => &CL100K,
            Self::Bytes4 => return estimate(),
        };
        // The tests decode both vocabularies, so this never happens.
        let Some(encoding) = &**encoding else { return estimate() };
        // Text is borrowed; only a piece that is not UTF-8 is copied.
        pieces(text).map(|piece| encoding.count(&String::from_utf8_lossy(piece)) as u64).sum()
    }

    /// The weight of a file of this size that is not counted. For `Bytes4`, the weight is the byte count, because only the sum is
    /// divided by four; see [`Tokenizer::tokens_of`].
    pub(crate) fn weight_of_size(self, bytes: u64) -> u64 {
        if self == Self::Bytes4 { bytes } else { tokens(bytes) }
    }

    /// The token count for a sum of weights.
    pub(crate) fn tokens_of(self, weight: u64) -> u64 {
        if self == Self::Bytes4 { tokens(weight) } else { weight }
    }

    /// The token count of all weights together, for a report.
    pub(crate) fn total(self, weights: impl Iterator<Item = u64>) -> ExactTokens {
        let sum = weights.fold(0u64, u64::saturating_add);
        ExactTokens { tokenizer: self.name().to_owned(), tokens: self.tokens_of(sum) }
    }

    /// Counts all items on all threads; `text` returns the bytes of an item, or `None` if it cannot be read.
    pub fn count_each<T: Sync>(&self, items: &[T], text: impl Fn(&T) -> Option<Vec<u8>> + Sync) -> Vec<Option<u64>> {
        items.par_iter().map(|item| text(item).map(|bytes| self.count(&bytes))).collect()
    }
}

/// Encoding takes ten times the memory of the text, so longer texts are counted in pieces.
const MAX_PIECE_BYTES: usize = 8 << 20;

/// Splits a long text after a line end, where most tokens end too, or else at a character boundary.
fn pieces(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let longest = rest.get(..MAX_PIECE_BYTES).filter(|_| rest.len() > MAX_PIECE_BYTES).unwrap_or(rest);
        let end = if longest.len() == rest.len() {
            rest.len()
        } else {
            let line = longest.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
            let character = longest.iter().rposition(|byte| byte & 0xc0 != 0x80).filter(|at| *at > 0);
            line.or(character).unwrap_or(longest.len())
        };
        let (piece, after) = rest.split_at_checked(end)?;
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

impl fmt::Display for Tokenizer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected counts are from `tiktoken`.
    #[test]
    fn texts_count_as_the_tokenizers_count_them() {
        for (text, o200k, cl100k, bytes4) in [
            ("", 0, 0, 0),
            ("a", 1, 1, 1),
            ("hello world", 2, 2, 3),
            ("import { a } from './a';\n", 8, 8, 7),
            ("tiktoken is great!", 6, 6, 5),
            ("\u{4f60}\u{597d}", 1, 2, 2),
        ] {
            assert_eq!(Tokenizer::O200k.count(text.as_bytes()), o200k, "{text}");
            assert_eq!(Tokenizer::Cl100k.count(text.as_bytes()), cl100k, "{text}");
            assert_eq!(Tokenizer::Bytes4.count(text.as_bytes()), bytes4, "{text}");
        }
    }

    /// Cached tables with another hash, such as those of other versions, are never used but built again.
    #[test]
    fn tables_have_the_hashes_that_the_program_asks_for() {
        for parts in [O200K_PARTS, CL100K_PARTS] {
            let packed = Packed::new(parts.packed).unwrap();
            let made = Vocabulary::unpack(packed).unwrap();
            assert_eq!(made.flat().len(), packed.flat_size());
            assert_eq!(stan_repo::sha256(made.flat()).to_string(), parts.table_hash, "{}", parts.name);
            let read = Vocabulary::from_flat(packed, made.flat().to_vec()).unwrap();
            assert_eq!((read.count(b"hello"), read.token(300)), (made.count(b"hello"), made.token(300)));
            assert!(Vocabulary::from_flat(packed, Vec::new()).is_none());
        }
    }

    #[test]
    fn vocabularies_are_those_of_the_reference() {
        for (ours, reference) in [(&O200K, bpe_openai::o200k_base()), (&CL100K, bpe_openai::cl100k_base())] {
            let ours = &ours.as_ref().expect("it is not damaged").vocabulary;
            for rank in 0..reference.bpe.num_tokens() as u32 {
                let token = reference.bpe.token_bytes(rank);
                assert_eq!(ours.token(rank), token);
                assert_eq!(ours.count(token), 1);
            }
            assert!(ours.token(reference.bpe.num_tokens() as u32).is_empty());
        }
    }

    fn agrees(text: &str) {
        let shown = text.get(..text.len().min(80)).unwrap_or_default();
        assert_eq!(Tokenizer::O200k.count(text.as_bytes()), bpe_openai::o200k_base().count(text) as u64, "{shown:?}");
        assert_eq!(Tokenizer::Cl100k.count(text.as_bytes()), bpe_openai::cl100k_base().count(text) as u64, "{shown:?}");
    }

    #[test]
    fn real_texts_count_as_the_reference_counts_them() {
        agrees(include_str!("../assets/stan.system.md"));
        agrees(include_str!("tokens.rs"));
        agrees(include_str!("../../../Cargo.lock"));
        agrees(include_str!("../../../schemas/stan-run.report.schema.json"));
        for unit in [
            "a",
            "aB",
            " ",
            "\n\n ",
            "\u{4f60}\u{597d}",
            "0",
            "=/",
            "'ll ",
            "\r\n\t",
            "\u{0301}",
            "supercalifragilistic",
        ] {
            for length in [1, 7, 95, 96, 97, 98, 400, 3_000] {
                agrees(&unit.repeat(length));
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn generated_texts_count_as_the_reference_counts_them(
            words in proptest::collection::vec("[a-zA-Z_\u{e9}\u{4f60}]{0,40}|[0-9]{1,9}|[ \n\r\t]{1,6}|[!-/:-@]{1,5}|\\PC{0,12}|[ab]{90,300}", 0..40),
            joint in "|[ \n]",
        ) {
            agrees(&words.join(&joint));
        }
    }

    #[test]
    fn bytes_that_are_not_utf8_count_as_replacement_characters() {
        let shown = "a\u{fffd}b".as_bytes();
        assert_eq!(Tokenizer::O200k.count(b"a\xffb"), Tokenizer::O200k.count(shown));
        assert!(Tokenizer::O200k.count(&[0xff; 1000]) > 0);
    }

    /// A quadratic algorithm would take hours for these.
    #[test]
    fn hostile_texts_take_time_in_proportion_to_their_length() {
        let length = 500_000;
        for unit in ["a", "A", " ", "\n", "\t ", "aB", "\u{4f60}", "0", "=", "' ", "\r\n ", "\u{0301}"] {
            let text = unit.repeat(length / unit.len());
            assert!(Tokenizer::O200k.count(text.as_bytes()) > 0, "{unit:?}");
            assert!(Tokenizer::Cl100k.count(text.as_bytes()) > 0, "{unit:?}");
        }
        assert!(Tokenizer::O200k.count(&vec![0xc3; length]) > 0);
    }

    #[test]
    fn long_texts_are_counted_in_pieces() {
        let count = |text: &[u8]| pieces(text).map(<[u8]>::len).collect::<Vec<_>>();
        assert_eq!(count(b""), [0; 0]);
        assert_eq!(count(b"a\nb"), [3]);
        let mut text = vec![b'a'; MAX_PIECE_BYTES + 10];
        text[MAX_PIECE_BYTES - 100] = b'\n';
        assert_eq!(count(&text), [MAX_PIECE_BYTES - 99, 109]);
        let umlauts = "\u{e4}".repeat(MAX_PIECE_BYTES / 2 + 1).into_bytes();
        assert!(pieces(&umlauts).all(|piece| std::str::from_utf8(piece).is_ok()));
        assert_eq!(
            pieces(&vec![0x80; 2 * MAX_PIECE_BYTES + 1]).map(<[u8]>::len).sum::<usize>(),
            2 * MAX_PIECE_BYTES + 1
        );
        let lines = "let a = 1;\n".repeat(MAX_PIECE_BYTES / 10);
        let line = Tokenizer::O200k.count(b"let a = 1;\n");
        assert_eq!(Tokenizer::O200k.count(lines.as_bytes()), line * (MAX_PIECE_BYTES / 10) as u64);
    }

    #[test]
    fn names_are_read_back() {
        for tokenizer in Tokenizer::ALL {
            assert_eq!(Tokenizer::from_name(tokenizer.name()), Some(tokenizer));
        }
        assert_eq!(Tokenizer::from_name("gpt2"), None);
    }

    #[test]
    fn many_texts_are_counted_in_their_order() {
        let texts = ["a", "hello world", "missing", "b"];
        let counts = Tokenizer::O200k.count_each(&texts, |text| (*text != "missing").then(|| text.as_bytes().to_vec()));
        assert_eq!(counts, [Some(1), Some(2), None, Some(1)]);
    }

    /// Such a word once took 65 times its own memory in each thread.
    #[test]
    fn a_long_word_is_counted_in_parts() {
        let word = "x".repeat(1 << 20);
        for tokenizer in [Tokenizer::O200k, Tokenizer::Cl100k] {
            let one = tokenizer.count(word.as_bytes());
            assert_eq!(tokenizer.count(word.repeat(3).as_bytes()), 3 * one);
            // Characters are not split.
            let umlauts = "\u{e4}".repeat((1 << 20) / 2);
            let shifted = format!("x{umlauts}");
            let difference = tokenizer.count(shifted.as_bytes()).abs_diff(tokenizer.count(umlauts.as_bytes()));
            assert!(difference <= 2, "{difference}");
        }
    }
}
