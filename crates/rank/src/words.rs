//! Splits a text into words, identifiers into parts, and stems these. Pure, linear time.
//!
//! A word is what a programmer would search for: `parseRoute`, `MAX_SIZE`, `$el`. Its parts are the words of a sentence about it:
//! `parse`, `route`. Non-Latin letters belong to words; digits do not start one.

use rustc_hash::FxHashMap;

use crate::key_table::KeyTable;

/// Longer words are data, not names.
const MAX_WORD_BYTES: usize = 60;
/// Only the most frequent words of a file are indexed.
const MAX_WORDS: usize = 1500;

/// A word or a part, by its 64-bit FNV-1a hash. A collision merges two words, which only blurs a score.
pub type TermKey = u64;

/// The hash of a word or part.
pub(crate) fn key(text: &str) -> TermKey {
    text.bytes().fold(FIRST_KEY, next_key)
}

const FIRST_KEY: TermKey = 0xcbf2_9ce4_8422_2325;

fn next_key(key: TermKey, byte: u8) -> TermKey {
    (key ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
}

/// Stop words: too common to tell what a task needs.
const STOP: &[&str] = &[
    "a",
    "add",
    "added",
    "adds",
    "all",
    "allow",
    "also",
    "an",
    "and",
    "apply",
    "are",
    "as",
    "at",
    "authored",
    "be",
    "bug",
    "but",
    "by",
    "can",
    "change",
    "changed",
    "changes",
    "chore",
    "ci",
    "co",
    "code",
    "comment",
    "comments",
    "do",
    "docs",
    "does",
    "doesn",
    "don",
    "feat",
    "feature",
    "fix",
    "fixed",
    "fixes",
    "fixing",
    "for",
    "from",
    "had",
    "has",
    "have",
    "here",
    "i",
    "if",
    "in",
    "into",
    "is",
    "issue",
    "it",
    "made",
    "make",
    "more",
    "new",
    "no",
    "not",
    "now",
    "of",
    "on",
    "only",
    "or",
    "out",
    "per",
    "perf",
    "please",
    "refactor",
    "remove",
    "removed",
    "removes",
    "review",
    "should",
    "so",
    "some",
    "suggestions",
    "support",
    "test",
    "testing",
    "tests",
    "than",
    "that",
    "the",
    "then",
    "there",
    "this",
    "to",
    "up",
    "update",
    "updated",
    "updates",
    "use",
    "used",
    "using",
    "via",
    "was",
    "we",
    "were",
    "when",
    "which",
    "will",
    "with",
    "would",
    "you",
];

/// No stop word is longer.
const MAX_STOP_BYTES: usize = 11;

/// Whether the word (in lower case) or part is a stop word.
pub(crate) fn is_stop(word: &str) -> bool {
    word.len() <= MAX_STOP_BYTES && STOP.binary_search(&word).is_ok()
}

/// Whether a word in any case is a stop word. Used for each word of a message: copies nothing to the heap, except words that
/// are not ASCII.
pub(crate) fn is_stop_in_any_case(word: &str) -> bool {
    if !word.is_ascii() {
        return is_stop(&word.to_lowercase());
    }
    let mut lower = [0; MAX_STOP_BYTES];
    let Some(lower) = lower.get_mut(..word.len()) else { return false };
    lower.copy_from_slice(word.as_bytes());
    lower.make_ascii_lowercase();
    STOP.binary_search_by(|stop| stop.as_bytes().cmp(lower)).is_ok()
}

/// The range of every word of at least two bytes.
pub(crate) fn ranges(text: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    hashed_ranges(text).map(|word| (word.start, word.end))
}

/// The range of a word in its text, and the word's hash.
pub(crate) struct HashedRange {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) key: TermKey,
}

/// As [`ranges`], with the hash of each word, computed during the same scan.
pub(crate) fn hashed_ranges(text: &[u8]) -> impl Iterator<Item = HashedRange> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            while let Some(&byte) = text.get(at) {
                if is_start(text, at, byte) {
                    break;
                }
                at += 1;
            }
            let start = at;
            let mut key = FIRST_KEY;
            while let Some(&byte) = text.get(at) {
                let goes_on = match CLASSES[byte as usize] {
                    INSIDE => at > start || byte.is_ascii(),
                    _ => is_start(text, at, byte),
                };
                if !goes_on {
                    break;
                }
                key = next_key(key, byte);
                at += 1;
            }
            if start == at {
                return None;
            }
            if at - start > 1 {
                return Some(HashedRange { start, end: at, key });
            }
        }
    })
}

/// The class of a byte: between words, may start a word, only continues one (digits, and UTF-8 continuation bytes), or depends on
/// the next byte.
const BETWEEN: u8 = 0;
const START: u8 = 1;
const INSIDE: u8 = 2;
const DEPENDS: u8 = 3;

/// In non-ASCII text, punctuation and symbols (U+0080 to U+00BF, U+2000 to U+2FFF, U+3000 to U+303F, and everything above U+FFFF)
/// separate words; all other characters are letters.
const CLASSES: [u8; 256] = {
    let mut classes = [BETWEEN; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'$' => START,
            0xe3 => DEPENDS,
            0xc3..=0xdf | 0xe0 | 0xe1 | 0xe4..=0xef => START,
            b'0'..=b'9' | 0x80..=0xbf => INSIDE,
            _ => BETWEEN,
        };
        byte += 1;
    }
    classes
};

/// Whether a word may start here.
fn is_start(text: &[u8], at: usize, byte: u8) -> bool {
    match CLASSES[byte as usize] {
        START => true,
        DEPENDS => text.get(at + 1).is_some_and(|next| *next != 0x80),
        _ => false,
    }
}

/// The parts of a word in lower case, stemmed, without single letters and digits.
#[cfg(test)]
pub(crate) fn parts(word: &str) -> Vec<String> {
    let mut parts = Vec::new();
    for_each_part(word.as_bytes(), &mut |part| parts.push(part.to_owned()));
    parts
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Upper,
    Lower,
    Digit,
    Other,
}

fn class(byte: u8) -> Class {
    match byte {
        b'A'..=b'Z' => Class::Upper,
        b'a'..=b'z' | 0x80.. => Class::Lower,
        b'0'..=b'9' => Class::Digit,
        _ => Class::Other,
    }
}

pub(crate) fn for_each_part(word: &[u8], take: &mut dyn FnMut(&str)) {
    for_each_piece(word, &mut |_, part| take(part));
}

/// As [`for_each_part`], with the bytes of the word that each part was made from.
pub(crate) fn for_each_piece(word: &[u8], take: &mut dyn FnMut(&[u8], &str)) {
    let mut buffer = String::new();
    let mut rest = word;
    while let Some(&first) = rest.first() {
        let run =
            |class_of: Class, from: usize| rest.iter().skip(from).take_while(|byte| class(**byte) == class_of).count();
        let length = match class(first) {
            Class::Other => {
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
            Class::Digit => run(Class::Digit, 0),
            Class::Lower => run(Class::Lower, 0),
            Class::Upper => {
                let upper = run(Class::Upper, 0);
                match (upper, run(Class::Lower, upper)) {
                    (1, lower) => 1 + lower,
                    (upper, 0) => upper,
                    // `HTTPServer`: the last capital belongs to the next part.
                    (upper, _) => upper - 1,
                }
            }
        };
        let (part, behind) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        rest = behind;
        if length > 1 {
            buffer.clear();
            match part.is_ascii() {
                true => buffer.extend(part.iter().map(|byte| char::from(byte.to_ascii_lowercase()))),
                false => buffer.extend(String::from_utf8_lossy(part).chars().flat_map(char::to_lowercase)),
            }
            stem(&mut buffer);
            take(part, &buffer);
        }
    }
}

/// Removes English endings until none is left, so that a stem is its own stem.
fn stem(word: &mut String) {
    loop {
        let length = word.len();
        if length > 4 && word.ends_with("ies") {
            word.truncate(length - 3);
            word.push('y');
        } else if length > 5 && word.ends_with("ing") {
            word.truncate(length - 3);
        } else if length > 4 && word.ends_with("ed") {
            word.truncate(length - 2);
        } else {
            if length > 3 && word.ends_with('s') && !word.ends_with("ss") {
                word.pop();
            }
            if word.len() > 4 && word.ends_with('e') {
                word.pop();
            }
        }
        if word.len() == length {
            return;
        }
    }
}

/// The index entries of one file: its words, parts and definitions, without duplicates, in any order (the index sorts all files'
/// entries).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileWords {
    /// Words as written, with counts.
    pub words: Vec<(TermKey, u16)>,
    /// Stemmed parts of those words.
    pub parts: Vec<(TermKey, u16)>,
    /// Words that the file probably defines.
    pub definitions: Vec<TermKey>,
}

/// Scratch memory, reused between files.
#[derive(Debug, Default)]
pub struct WordCounter {
    words: KeyTable<WordCount>,
    /// The count of each part.
    parts: KeyTable<u32>,
    known: KnownParts,
}

/// The number of times that a word occurs, and the range of its first occurrence.
#[derive(Clone, Copy, Debug)]
struct WordCount {
    count: u32,
    start: u32,
    end: u32,
}

/// A cache of the parts of words: most words of a file occur in others too.
#[derive(Debug, Default)]
struct KnownParts {
    /// From the key of a word to the range of its parts.
    ranges: FxHashMap<TermKey, (u32, u32)>,
    parts: Vec<TermKey>,
}

/// The maximum number of cached words: a few megabytes.
const MAX_CACHED_WORDS: usize = 1 << 17;

impl KnownParts {
    fn of(&mut self, word: TermKey, text: &[u8]) -> &[TermKey] {
        if self.ranges.len() >= MAX_CACHED_WORDS {
            self.ranges.clear();
            self.parts.clear();
        }
        let Self { ranges, parts } = self;
        let &mut (start, end) = ranges.entry(word).or_insert_with(|| {
            let start = parts.len();
            for_each_part(text, &mut |part| parts.push(key(part)));
            (start as u32, parts.len() as u32)
        });
        parts.get(start as usize..end as usize).unwrap_or_default()
    }
}

impl WordCounter {
    /// Counts the words of a file. `path` selects the language whose rules detect definitions.
    pub fn count(&mut self, path: &str, text: &[u8]) -> FileWords {
        self.words.clear();
        self.parts.clear();
        let mut definitions = crate::definitions::Finder::new(path, text);
        let mut found = Vec::new();
        for HashedRange { start, end, key } in hashed_ranges(text) {
            let is_definition = definitions.word(start, end);
            if end - start > MAX_WORD_BYTES {
                continue;
            }
            if is_definition && end - start > 2 {
                found.push(key);
            }
            let word = WordCount { count: 0, start: start as u32, end: end as u32 };
            self.words.get_or_insert(key, word).count += 1;
        }
        found.sort_unstable();
        found.dedup();
        let words = self.words.entries_mut();
        if words.len() > MAX_WORDS {
            words.sort_unstable_by_key(|(_, word)| (std::cmp::Reverse(word.count), word.start));
            words.truncate(MAX_WORDS);
        }
        for (key, word) in words.iter() {
            let text = text.get(word.start as usize..word.end as usize).unwrap_or_default();
            for &part in self.known.of(*key, text) {
                let count = self.parts.get_or_insert(part, 0);
                *count = count.saturating_add(word.count);
            }
        }
        FileWords {
            words: words.iter().map(|(key, word)| (*key, small(word.count))).collect(),
            parts: self.parts.entries().iter().map(|(key, count)| (*key, small(*count))).collect(),
            definitions: found,
        }
    }
}

fn small(count: u32) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

pub(crate) fn hash(bytes: &[u8]) -> TermKey {
    bytes.iter().copied().fold(FIRST_KEY, next_key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_code_and_of_sentences() {
        let all =
            |text: &str| ranges(text.as_bytes()).map(|(start, end)| &text[start..end]).collect::<Vec<_>>().join(" ");
        assert_eq!(all("const $el = a + b1 + 12px; // it's “done” — now"), "const $el b1 px it done now");
        assert_eq!(all("größe привет 名前、次 naïve"), "größe привет 名前 次 naïve");
        assert_eq!(all("\u{1f600}ok \u{80}\u{bf}"), "ok");
        let broken = [b'a', b'b', 0xff, 0x80, b'c', b'd', 0xc3];
        assert_eq!(ranges(&broken).count(), 2);
    }

    #[test]
    fn parts_of_identifiers() {
        for (word, expected) in [
            ("parseRoutes", "par rout"),
            ("HTTPServerError", "http server error"),
            ("MAX_SIZE_2", "max size"),
            ("utf8Decode", "utf decod"),
            ("v12beta", "12 beta"),
            ("ABC", "abc"),
            ("aB", ""),
            ("größeMax", "größ max"),
            ("queries", "query"),
            ("running", "runn"),
            ("class", "class"),
        ] {
            assert_eq!(parts(word).join(" "), expected, "{word}");
        }
    }

    #[test]
    fn a_stem_is_its_own_stem() {
        for word in ["parsing", "classes", "needed", "files", "increased", "series", "seedings"] {
            let once = parts(word);
            assert_eq!(parts(&once[0]), once, "{word}");
        }
    }

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP.is_sorted());
        assert!(is_stop("the") && is_stop("fixes") && !is_stop("route"));
        assert_eq!(STOP.iter().map(|word| word.len()).max(), Some(MAX_STOP_BYTES));
        for word in ["The", "FIXES", "Suggestions", "Route", "suggestionss", "", "DöS"] {
            assert_eq!(is_stop_in_any_case(word), is_stop(&word.to_lowercase()), "{word}");
        }
    }

    #[test]
    fn counting_a_file() {
        let mut counter = WordCounter::default();
        let counted = counter.count("a.ts", b"export const parseRoute = (route) => route.parse();");
        let count = |list: &[(TermKey, u16)], text: &str| {
            list.iter().find(|(found, _)| *found == key(text)).map_or(0, |(_, count)| *count)
        };
        assert_eq!(count(&counted.words, "route"), 2);
        assert_eq!((count(&counted.parts, "rout"), count(&counted.parts, "par")), (3, 2));
        assert_eq!(counted.definitions, [key("parseRoute")]);
        assert_eq!(counter.count("a.ts", b""), FileWords::default());
    }

    #[test]
    fn a_vocabulary_is_bounded() {
        let text: String = (0..5000).map(|number| format!("word{number} ")).collect();
        let counted = WordCounter::default().count("a.ts", (text + &"often ".repeat(3)).as_bytes());
        assert_eq!(counted.words.len(), MAX_WORDS);
        assert!(counted.words.contains(&(key("often"), 3)));
    }
}
