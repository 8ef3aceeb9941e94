//! Paths in the headers of diffs: quoting, prefixes, timestamps. Whether a path may be written is checked elsewhere.

use super::WrittenPath;

/// Prefixes that git puts before paths: `a/`, `b/`, and those of `diff.mnemonicPrefix`.
const PREFIXES: &[&str] = &["a/", "b/", "c/", "i/", "o/", "w/"];

/// In a longer `diff --git` line the boundary between the names is not searched: that is quadratic, and no path is so long.
const MAX_HEADER_BYTES: usize = 16 * 1024;

/// The name after `--- ` or `+++ `: `None` for `/dev/null`.
pub(super) fn file_name(text: &str, index: usize) -> Option<WrittenPath> {
    let raw = match unquote(text) {
        Some((name, _)) => name,
        None => text.split(['\t', '\r']).next().unwrap_or_default().to_owned(),
    };
    (raw != "/dev/null").then(|| with_prefix(raw, index))
}

/// Removes a date after a name that is separated by spaces instead of a tab, as GNU diff wrote it.
pub(super) fn without_timestamp(text: &str) -> &str {
    if text.contains('\t') || text.starts_with('"') {
        return text;
    }
    // `name 2020-01-01 00:00:00.000000000 +0000`, the zone optional.
    let text_end = text.trim_end_matches(['\r', ' ']);
    let mut cut = text_end;
    let is_zone = |word: &str| word.len() == 5 && word.starts_with(['+', '-']);
    let is_time = |word: &str| word.len() >= 8 && word.as_bytes().get(2) == Some(&b':');
    let is_date = |word: &str| word.len() == 10 && word.as_bytes().get(4) == Some(&b'-');
    for (is_expected, is_needed) in [(&is_zone as &dyn Fn(&str) -> bool, false), (&is_time, true), (&is_date, true)] {
        match cut.rsplit_once(' ') {
            Some((before, word)) if is_expected(word) => cut = before.trim_end(),
            _ if is_needed => return text,
            _ => {}
        }
    }
    cut
}

/// The name after `rename from ` and similar: never has a prefix.
pub(super) fn plain_name(text: &str, index: usize) -> WrittenPath {
    let path = match unquote(text) {
        Some((name, _)) => name,
        None => text.strip_suffix('\r').unwrap_or(text).to_owned(),
    };
    WrittenPath { path, taken_as: None, index }
}

/// The two names after `diff --git `, if the end of the first can be determined.
pub(super) fn header_names(text: &str, index: usize) -> Option<(WrittenPath, WrittenPath)> {
    let text = text.trim_end_matches(['\r', ' ', '\t']);
    let (first, second) = split_header(text)?;
    let is_prefixed = has_prefix(&first) || has_prefix(&second) || first != second;
    let make = |raw: String| if is_prefixed { with_prefix(raw, index) } else { without_prefix(raw, index) };
    Some((make(first), make(second)))
}

fn split_header(text: &str) -> Option<(String, String)> {
    if let Some((first, rest)) = unquote(text) {
        let rest = rest.trim_start_matches([' ', '\t']);
        let second = unquote(rest).map_or_else(|| rest.to_owned(), |(name, _)| name);
        return Some((first, second));
    }
    if text.len() > MAX_HEADER_BYTES {
        return None;
    }
    if let Some((first, quoted)) = text.split_once(" \"") {
        let quoted = text.get(text.len() - quoted.len() - 1..)?;
        return unquote(quoted).map(|(second, _)| (first.to_owned(), second));
    }
    // Without a rename, both names are equal after their prefixes.
    let middles = text.match_indices([' ', '\t']).map(|(at, _)| at);
    let halves = |at: usize| Some((text.get(..at)?, text.get(at + 1..)?));
    let same = middles.clone().filter_map(halves).find(|(left, right)| is_same_file(left, right));
    let renamed = || text.find(" b/").and_then(halves);
    let only = || {
        let mut middles = middles.clone();
        middles.next().filter(|_| middles.next().is_none()).and_then(halves)
    };
    let (left, right) = same.or_else(renamed).or_else(only)?;
    Some((left.to_owned(), right.to_owned()))
}

fn is_same_file(left: &str, right: &str) -> bool {
    left == right
        || match (left.split_once('/'), right.split_once('/')) {
            (Some((_, left)), Some((_, right))) => left == right && !left.is_empty(),
            _ => false,
        }
}

fn has_prefix(raw: &str) -> bool {
    PREFIXES.iter().any(|prefix| raw.starts_with(prefix))
}

fn with_prefix(raw: String, index: usize) -> WrittenPath {
    if !has_prefix(&raw) {
        return without_prefix(raw, index);
    }
    WrittenPath { path: squeeze(raw.get(2..).unwrap_or_default()), taken_as: None, index }
}

fn without_prefix(raw: String, index: usize) -> WrittenPath {
    let taken_as = Some(raw.split_once('/').map_or_else(String::new, |(_, rest)| squeeze(rest)));
    WrittenPath { path: raw, taken_as, index }
}

/// Git treats repeated slashes in a path as one.
fn squeeze(path: &str) -> String {
    let Some(first) = path.get(1..).filter(|rest| rest.contains("//")) else { return path.to_owned() };
    let mut squeezed = path.get(..1).unwrap_or_default().to_owned();
    let mut last = squeezed.chars().next().unwrap_or_default();
    for character in first.chars() {
        if character != '/' || last != '/' {
            squeezed.push(character);
        }
        last = character;
    }
    squeezed
}

/// Parses a C-escaped name in double quotes. Returns it and the rest of the text; `None` if there is none.
pub(crate) fn unquote(text: &str) -> Option<(String, &str)> {
    let inner = text.strip_prefix('"')?;
    let bytes = inner.as_bytes();
    let mut name = Vec::new();
    let mut at = 0;
    loop {
        let byte = *bytes.get(at)?;
        at += 1;
        match byte {
            b'"' => break,
            b'\\' => {
                let (decoded, length) = escape(bytes.get(at..)?)?;
                name.push(decoded);
                at += length;
            }
            _ => name.push(byte),
        }
    }
    Some((String::from_utf8_lossy(&name).into_owned(), inner.get(at..)?))
}

fn escape(bytes: &[u8]) -> Option<(u8, usize)> {
    let simple = match bytes.first()? {
        b'a' => 7,
        b'b' => 8,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 11,
        b'f' => 12,
        b'r' => b'\r',
        &byte @ (b'"' | b'\\') => byte,
        b'0'..=b'3' => {
            let digits = bytes.get(..3)?;
            let is_octal = digits.iter().all(|digit| (b'0'..=b'7').contains(digit));
            let value = digits.iter().fold(0_u32, |value, digit| value * 8 + u32::from(digit.wrapping_sub(b'0')));
            return u8::try_from(value).ok().filter(|_| is_octal).map(|value| (value, 3));
        }
        _ => return None,
    };
    Some((simple, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_names_are_decoded() {
        let check = |text: &str, expected: Option<(&str, &str)>| {
            assert_eq!(unquote(text), expected.map(|(name, rest)| (name.to_owned(), rest)), "{text}");
        };
        check(r#""a/b" rest"#, Some(("a/b", " rest")));
        check(r#""a/\303\244.ts""#, Some(("a/ä.ts", "")));
        check(r#""a/\t\"\\""#, Some(("a/\t\"\\", "")));
        for broken in ["a", "\"a", r#""a\"#, r#""\9""#, r#""\400""#, r#""\7""#, "\""] {
            check(broken, None);
        }
    }

    #[test]
    fn names_lose_their_prefix_and_date() {
        let check = |text: &str, path: &str, taken_as: Option<&str>| {
            let name = file_name(without_timestamp(text), 0).expect("a name");
            assert_eq!((name.path.as_str(), name.taken_as.as_deref()), (path, taken_as), "{text}");
        };
        check("a/src/a.ts", "src/a.ts", None);
        check("b/my file.ts\t", "my file.ts", None);
        check("a/x.ts\t2020-01-01 00:00:00", "x.ts", None);
        check("a/x.ts 2020-01-01 00:00:00.000000000 +0000", "x.ts", None);
        check("a/x y 2020", "x y 2020", None);
        check("src/a.ts", "src/a.ts", Some("a.ts"));
        check("a.ts", "a.ts", Some(""));
        check("/etc/passwd", "/etc/passwd", Some("etc/passwd"));
        check("a//etc/passwd", "/etc/passwd", None);
        check("a/src//a.ts\r", "src/a.ts", None);
        check(r#""b/\303\244""#, "ä", None);
        assert_eq!(file_name("/dev/null", 0), None);
        assert_eq!(file_name("/dev/null\t1970", 0), None);
    }

    #[test]
    fn header_names_are_split_where_both_are_the_same() {
        let check = |text: &str, expected: Option<(&str, &str)>| {
            let names = header_names(text, 0);
            let names = names.as_ref().map(|(old, new)| (old.path.as_str(), new.path.as_str()));
            assert_eq!(names, expected, "{text}");
        };
        check("a/x.ts b/x.ts", Some(("x.ts", "x.ts")));
        check("a/my file.ts b/my file.ts", Some(("my file.ts", "my file.ts")));
        check("a/old.ts b/new.ts", Some(("old.ts", "new.ts")));
        check("a/old name.ts b/new name.ts", Some(("old name.ts", "new name.ts")));
        check("src/x.ts src/x.ts", Some(("src/x.ts", "src/x.ts")));
        check("x.ts x.ts", Some(("x.ts", "x.ts")));
        check(r#""a/\303\244" "b/\303\244""#, Some(("ä", "ä")));
        check(r#"a/x "b/\303\244""#, Some(("x", "ä")));
        check("", None);
        check("a/x", None);
    }
}
