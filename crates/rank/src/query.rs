//! Parses the text of a task into words to search for. Code in backquotes and identifiers are also searched for as a whole.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::fixed::Fixed;
use crate::words::{
    HashedRange, TermKey, for_each_part, for_each_piece, hashed_ranges, is_stop, is_stop_in_any_case, key, ranges,
};

/// Longer texts are truncated: a text starts with its topic.
const MAX_TEXT_BYTES: usize = 32 << 10;
/// A text with more distinct words is a document, not a task.
const MAX_WORDS: usize = 2000;

/// The words of a query's text. Words of its first line count twice, and those of the area before a colon three times.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextQuery {
    /// Stemmed parts, sorted by key.
    pub(crate) parts: Vec<(TermKey, Fixed)>,
    /// Whole words, in the order of the text.
    pub(crate) words: Vec<TextWord>,
    /// For each part, the first word that contains it.
    shown: FxHashMap<TermKey, ShownPart>,
}

/// A part of a word in its original spelling: `Bearer` in `PasswordBearer`.
#[derive(Clone, Debug)]
pub(crate) struct ShownPart {
    pub(crate) word: String,
    pub(crate) piece: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextWord {
    pub(crate) key: TermKey,
    pub(crate) text: String,
    pub(crate) weight: Fixed,
    /// Written like code: `camelCase`, `snake_case`, `called()`, `Type.member`, `a::path`, or in backquotes.
    pub(crate) is_identifier: bool,
}

impl TextQuery {
    pub(crate) fn new(text: &str) -> Self {
        let text = text.get(..text.floor_char_boundary(MAX_TEXT_BYTES)).unwrap_or(text);
        let first_line = text.find('\n').unwrap_or(text.len());
        let in_code = code_spans(text);
        let area = area_end(text.get(..first_line).unwrap_or(text));
        let mut query = Self::default();
        let mut seen: FxHashMap<&str, usize> = FxHashMap::default();
        let mut parts: FxHashMap<TermKey, Fixed> = FxHashMap::default();
        for (start, end) in ranges(text.as_bytes()) {
            let Some(word) = text.get(start..end) else { continue };
            let weight = match () {
                () if start < area => Fixed::int(AREA),
                () if start < first_line => Fixed::int(2),
                () => Fixed::ONE,
            };
            let is_quoted = in_code.iter().any(|&(from, to)| from <= start && end <= to);
            let is_identifier =
                word.len() > 3 && (is_quoted || looks_like_code(word) || is_used_as_code(text, start, end));
            if let Some(&index) = seen.get(word) {
                query.words[index].is_identifier |= is_identifier;
                continue;
            }
            if seen.len() == MAX_WORDS {
                break;
            }
            seen.insert(word, query.words.len());
            query.words.push(TextWord { key: key(word), text: word.to_owned(), weight, is_identifier });
            if is_stop_in_any_case(word) {
                continue;
            }
            for_each_piece(word.as_bytes(), &mut |piece, part| {
                if !is_stop(part) {
                    let place = parts.entry(key(part)).or_default();
                    *place = weight.max(*place);
                    let piece = String::from_utf8_lossy(piece).into_owned();
                    query.shown.entry(key(part)).or_insert_with(|| ShownPart { word: word.to_owned(), piece });
                }
            });
        }
        query.parts = parts.into_iter().collect();
        query.parts.sort_unstable();
        query
    }

    /// The part as spelled in the text.
    pub(crate) fn shown(&self, part: TermKey) -> Option<&ShownPart> {
        self.shown.get(&part)
    }
}

/// The weight of words that name the area of a task.
const AREA: i64 = 3;

/// The end of the area at the start of a title: `fix(router): …`, `Proxy helper: …`, `[core] …`; 0 if there is none.
fn area_end(title: &str) -> usize {
    /// A longer start is a sentence, not an area.
    const MAX_AREA_BYTES: usize = 60;
    let start = title.get(..title.floor_char_boundary(MAX_AREA_BYTES)).unwrap_or(title);
    match start.strip_prefix('[').and_then(|rest| rest.find(']')) {
        Some(end) => end + 1,
        // Requires a space: `a::b` is a name, and `12:30` a time.
        None => start.match_indices(": ").map(|(at, _)| at).next().unwrap_or(0),
    }
}

/// The ranges of code between backquotes: a pair of them, or a fence.
fn code_spans(text: &str) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    let mut open: Option<(usize, usize)> = None;
    let mut rest = text.match_indices('`').map(|(at, _)| at).peekable();
    while let Some(at) = rest.next() {
        let mut end = at + 1;
        while rest.peek() == Some(&end) {
            rest.next();
            end += 1;
        }
        let length = end - at;
        match open {
            None => open = Some((length, end)),
            Some((opened, start)) if opened == length => {
                spans.push((start, at));
                open = None;
            }
            Some(_) => {}
        }
    }
    spans
}

fn looks_like_code(word: &str) -> bool {
    let bytes = word.as_bytes();
    word.contains(['_', '$']) || bytes.windows(2).any(|pair| matches!(pair, [b'a'..=b'z', b'A'..=b'Z']))
}

/// Whether a word is called, is a member or has one: `parse(`, `Cart.total`, `Vec::push`, `Cart#total`.
fn is_used_as_code(text: &str, start: usize, end: usize) -> bool {
    let (before, behind) = (text.get(..start).unwrap_or_default(), text.get(end..).unwrap_or_default());
    // `file(s)` is a plural.
    if behind.starts_with('(') && !behind.starts_with("(s)") {
        return true;
    }
    // `Node.js`, `config.json` and `example.org` are names, not members.
    let is_ending = |word: &str| ENDINGS.contains(&word);
    let is_letter = |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_alphabetic() || letter == '_');
    let joint = |text: &str| ["::", "#", "."].into_iter().find(|joint| text.starts_with(joint)).map(str::len);
    let member = joint(behind).and_then(|length| behind.get(length..)).filter(|rest| is_letter(rest.chars().next()));
    if let Some(member) = member {
        let length =
            member.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(member.len());
        return !member.get(..length).is_some_and(is_ending);
    }
    let owner = ["::", "#", "."].into_iter().find_map(|joint| before.strip_suffix(joint));
    owner.is_some_and(|owner| is_letter(owner.chars().next_back())) && !text.get(start..end).is_some_and(is_ending)
}

/// Words that follow a dot in names of files, programs and hosts.
const ENDINGS: [&str; 16] =
    ["com", "css", "dev", "go", "html", "io", "js", "json", "jsx", "md", "net", "org", "py", "rs", "ts", "tsx"];

/// The words of a commit message: parts with counts, those of the subject counted twice, and the number of words. Skips trailers,
/// addresses and numbers of pull requests.
pub fn message_words(message: &str) -> (Vec<(TermKey, u16)>, u32) {
    /// Only this many words of the body count: longer ones repeat themselves.
    const MAX_BODY_WORDS: usize = 60;
    let (subject, body) = message.split_once('\n').unwrap_or((message, ""));
    let mut counts: FxHashMap<TermKey, u16> = FxHashMap::default();
    let mut total = 0u32;
    let mut add = |line: &str, times: u16, most: usize| {
        let mut taken = 0;
        for word in line.split_whitespace().filter(|word| !word.contains("://")) {
            for (start, end) in ranges(word.as_bytes()) {
                let Some(word) = word.get(start..end).filter(|word| !is_stop_in_any_case(word)) else { continue };
                for_each_part(word.as_bytes(), &mut |part| {
                    if taken < most && !is_stop(part) {
                        taken += 1;
                        total += u32::from(times);
                        let count = counts.entry(key(part)).or_default();
                        *count = count.saturating_add(times);
                    }
                });
            }
        }
        taken
    };
    add(subject, 2, MAX_BODY_WORDS);
    let mut left = MAX_BODY_WORDS;
    for line in body.lines().filter(|line| !is_trailer(line)) {
        left -= add(line, 1, left);
        if left == 0 {
            break;
        }
    }
    let mut words: Vec<(TermKey, u16)> = counts.into_iter().collect();
    words.sort_unstable();
    (words, total)
}

/// Trailers and issue references: `Co-authored-by: …`, `Fixes #12`.
fn is_trailer(line: &str) -> bool {
    const TRAILERS: [&str; 13] = [
        "acked-by",
        "cc",
        "change-id",
        "close",
        "closes",
        "co-authored-by",
        "fix",
        "fixed",
        "fixes",
        "pr-url",
        "ref",
        "reviewed-by",
        "signed-off-by",
    ];
    let line = line.trim_start();
    let end = line.find(|letter: char| matches!(letter, ':' | '#') || letter.is_whitespace()).unwrap_or(line.len());
    let first = line.get(..end).unwrap_or_default().to_ascii_lowercase();
    end < line.len() && TRAILERS.binary_search(&first.as_str()).is_ok()
}

/// The words of some keys, recovered from the texts that the keys came from (hashes cannot be reversed).
pub fn spellings<'t>(keys: &[TermKey], texts: impl Iterator<Item = &'t [u8]>) -> FxHashMap<TermKey, String> {
    let mut wanted: FxHashSet<TermKey> = keys.iter().copied().collect();
    let mut found = FxHashMap::default();
    for text in texts {
        for HashedRange { start, end, key } in hashed_ranges(text) {
            if wanted.is_empty() {
                return found;
            }
            if !wanted.contains(&key) {
                continue;
            }
            let Some(word) = text.get(start..end).and_then(|bytes| std::str::from_utf8(bytes).ok()) else { continue };
            wanted.remove(&key);
            found.insert(key, word.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_gives_words_and_identifiers() {
        let query = TextQuery::new("Fix the router for parseRoute\n\nUse `path` and the `a b` Router; see max_depth");
        let weight = |part: &str| {
            query.parts.iter().find(|(found, _)| *found == key(part)).map(|(_, weight)| weight.thousandths() / 1000)
        };
        assert_eq!(
            (weight("router"), weight("rout"), weight("path"), weight("max")),
            (Some(2), Some(2), Some(1), Some(1))
        );
        assert_eq!((weight("fix"), weight("the")), (None, None));
        let identifiers: Vec<&str> =
            query.words.iter().filter(|word| word.is_identifier).map(|word| word.text.as_str()).collect();
        assert_eq!(identifiers, ["parseRoute", "path", "max_depth"]);
        let shown = query.shown(key("rout")).expect("a part of a word");
        assert_eq!((&*shown.word, &*shown.piece), ("parseRoute", "Route"));
    }

    #[test]
    fn words_that_are_used_as_code() {
        for (text, expected) in [
            ("call parse() twice", "parse"),
            ("Cart.total is wrong", "Cart total"),
            ("see Cart#total and vector::push", "Cart total vector push"),
            ("Node.js and config.json of example.org", ""),
            ("the file(s) of a sentence. Another one (here)", ""),
            ("either/or, and so on.", ""),
        ] {
            let query = TextQuery::new(text);
            let found: Vec<&str> =
                query.words.iter().filter(|word| word.is_identifier).map(|word| word.text.as_str()).collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }

    #[test]
    fn areas_of_titles() {
        for (title, expected) in [
            ("fix(router): match all", "fix(router)"),
            ("Proxy helper: let me use my own", "Proxy helper"),
            ("[core] no such thing", "[core"),
            ("Use a::b at 12:30", ""),
            ("no area", ""),
            ("", ""),
        ] {
            assert_eq!(title.get(..area_end(title)), Some(expected), "{title}");
        }
        assert_eq!(area_end(&format!("{}: x", "ü".repeat(60))), 0);
    }

    #[test]
    fn fences_are_code_and_what_is_between_two_spans_is_not() {
        assert_eq!(code_spans("`a` plain `b`"), [(1, 2), (11, 12)]);
        assert_eq!(code_spans("```ts\ncode `x`\n```"), [(3, 15)]);
        assert_eq!(code_spans("open ` only"), []);
    }

    #[test]
    fn messages_without_trailers() {
        let (words, length) = message_words(
            "fix: Routing (#12)\n\nRoutes are parsed https://x.org/routes\nCo-authored-by: N <route@x>\n",
        );
        let find = |text: &str| words.iter().find(|(found, _)| *found == key(text)).map(|(_, count)| *count);
        assert_eq!((find("rout"), find("par"), length), (Some(3), Some(1), 4));
        let long = message_words(&format!("s\n{}", "word ".repeat(500)));
        assert_eq!(long.1, 60);
    }

    #[test]
    fn hostile_texts_take_linear_time() {
        for unit in ["`", "``", "a ", "aB", "\n", "ü", "`a`"] {
            TextQuery::new(&unit.repeat(2_000_000 / unit.len()));
            message_words(&unit.repeat(2_000_000 / unit.len()));
        }
    }
}
