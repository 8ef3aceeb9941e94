//! Git's glob language (`wildmatch.c` with `WM_PATHNAME`), matched byte by byte.
//!
//! Not a general glob library: no braces, no case folding, no compilation to a regex. Git's own matcher is recursive and takes
//! exponential time on hostile patterns; this one keeps two restore points instead, which accepts exactly the same language in
//! polynomial time and constant stack.

/// Whether `pattern` matches the whole of `text`. `*`, `?` and classes never match `/`; `**` does, if it is a whole path
/// component (or at the start or end of the pattern).
pub(crate) fn wildmatch(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    // The latest `*` since the latest `**`, and the latest `**`. Backtracking to earlier ones cannot help, because the later one
    // could have matched the same text.
    let mut star: Option<Restore> = None;
    let mut star_star: Option<Restore> = None;
    loop {
        let advanced = match pattern.get(p) {
            None if t == text.len() => return true,
            None => None,
            Some(b'*') => {
                let stars = Stars::at(pattern, p);
                p = stars.end;
                if stars.crosses_slashes {
                    star = None;
                    if p == pattern.len() {
                        return true;
                    }
                    let whole_components = pattern.get(p) == Some(&b'/');
                    // `**/` also matches the empty text, so the pattern continues right after its slash.
                    p += usize::from(whole_components);
                    star_star = Some(Restore { pattern: p, text: t, whole_components });
                } else {
                    star = Some(Restore { pattern: p, text: t, whole_components: false });
                }
                continue;
            }
            Some(_) => text.get(t).and_then(|&byte| match_one(pattern, p, byte)),
        };
        if let Some(next) = advanced {
            (p, t) = (next, t + 1);
            continue;
        }
        if let Some(restore) = &mut star {
            if text.get(restore.text).is_some_and(|&byte| byte != b'/') {
                restore.text += 1;
                (p, t) = (restore.pattern, restore.text);
                continue;
            }
            star = None;
        }
        match star_star.as_mut().and_then(|restore| restore.next(text)) {
            Some(position) => (p, t) = position,
            None => return false,
        }
    }
}

/// The number of leading bytes without special meaning.
pub(crate) fn literal_prefix_length(pattern: &[u8]) -> usize {
    pattern.iter().position(|byte| matches!(byte, b'*' | b'?' | b'[' | b'\\')).unwrap_or(pattern.len())
}

/// Where to continue after a failure: the pattern position after a star, and the first text byte that the star does not cover
/// yet.
struct Restore {
    pattern: usize,
    text: usize,
    /// A `**/`, which may only cover text up to and including a slash.
    whole_components: bool,
}

impl Restore {
    fn next(&mut self, text: &[u8]) -> Option<(usize, usize)> {
        let rest = text.get(self.text..)?;
        let step = if self.whole_components {
            rest.iter().position(|&byte| byte == b'/')? + 1
        } else if rest.is_empty() {
            return None;
        } else {
            1
        };
        self.text += step;
        Some((self.pattern, self.text))
    }
}

struct Stars {
    end: usize,
    crosses_slashes: bool,
}

impl Stars {
    fn at(pattern: &[u8], start: usize) -> Self {
        let rest = pattern.get(start..).unwrap_or_default();
        let count = rest.iter().take_while(|&&byte| byte == b'*').count();
        let after = rest.get(count..).unwrap_or_default();
        let opens = start == 0 || pattern.get(start - 1) == Some(&b'/');
        let closes = after.is_empty() || after.starts_with(b"/") || after.starts_with(b"\\/");
        Self { end: start + count, crosses_slashes: count > 1 && opens && closes }
    }
}

/// Matches one text byte with the pattern element at `p`, which is not a star; returns the position of the next element.
fn match_one(pattern: &[u8], p: usize, byte: u8) -> Option<usize> {
    match *pattern.get(p)? {
        b'\\' => (*pattern.get(p + 1)? == byte).then_some(p + 2),
        b'?' => (byte != b'/').then_some(p + 1),
        b'[' => class(pattern, p + 1, byte),
        literal => (literal == byte).then_some(p + 1),
    }
}

/// Matches a bracket expression whose content starts at `p`. A malformed one matches nothing, as in git.
fn class(pattern: &[u8], mut p: usize, byte: u8) -> Option<usize> {
    let at = |index: usize| pattern.get(index).copied();
    let negated = matches!(at(p)?, b'!' | b'^');
    p += usize::from(negated);
    let mut matched = false;
    let mut previous = 0;
    // The first character is a member even if it is `]`.
    let mut first = true;
    loop {
        let mut current = at(p)?;
        if current == b']' && !first {
            break;
        }
        first = false;
        if current == b'\\' {
            p += 1;
            current = at(p)?;
            matched |= byte == current;
        } else if current == b'-' && previous != 0 && at(p + 1).is_some_and(|next| next != b']') {
            p += 1;
            current = at(p)?;
            if current == b'\\' {
                p += 1;
                current = at(p)?;
            }
            matched |= (previous..=current).contains(&byte);
            current = 0;
        } else if current == b'[' && at(p + 1) == Some(b':') {
            let start = p + 2;
            let close = start + pattern.get(start..)?.iter().position(|&c| c == b']')?;
            if close > start && at(close - 1) == Some(b':') {
                matched |= named_class(pattern.get(start..close - 1)?, byte)?;
                p = close;
                current = 0;
            } else {
                matched |= byte == b'[';
            }
        } else {
            matched |= byte == current;
        }
        previous = current;
        p += 1;
    }
    (matched != negated && byte != b'/').then_some(p + 1)
}

/// `None` for a name that git does not know. The sets are git's own: ASCII, and independent of the locale.
fn named_class(name: &[u8], byte: u8) -> Option<bool> {
    let space = matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    Some(match name {
        b"alnum" => byte.is_ascii_alphanumeric(),
        b"alpha" => byte.is_ascii_alphabetic(),
        b"blank" => matches!(byte, b' ' | b'\t'),
        b"cntrl" => byte.is_ascii_control(),
        b"digit" => byte.is_ascii_digit(),
        b"graph" => byte.is_ascii_graphic(),
        b"lower" => byte.is_ascii_lowercase(),
        b"print" => (b' '..=b'~').contains(&byte),
        b"punct" => byte.is_ascii_punctuation(),
        b"space" => space,
        b"upper" => byte.is_ascii_uppercase(),
        b"xdigit" => byte.is_ascii_hexdigit(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(PartialEq)]
    enum MatchResult {
        Match,
        NoMatch,
        AbortAll,
        AbortToStarStar,
    }

    /// The recursive formulation of git, which the fast one is tested against.
    fn reference(start: &[u8], pattern: &[u8], text: &[u8]) -> MatchResult {
        let (mut p, mut t) = (0, 0);
        while p < pattern.len() {
            if t == text.len() && pattern[p] != b'*' {
                return MatchResult::AbortAll;
            }
            if pattern[p] != b'*' {
                match match_one(pattern, p, text[t]) {
                    Some(next) => p = next,
                    None => return MatchResult::NoMatch,
                }
                t += 1;
                continue;
            }
            let offset = start.len() - pattern.len();
            let mut stars = Stars::at(start, offset + p);
            stars.end -= offset;
            let rest = &pattern[stars.end..];
            if stars.crosses_slashes
                && rest.first() == Some(&b'/')
                && reference(start, &rest[1..], &text[t..]) == MatchResult::Match
            {
                return MatchResult::Match;
            }
            if rest.is_empty() {
                let blocked = !stars.crosses_slashes && text[t..].contains(&b'/');
                return if blocked { MatchResult::AbortToStarStar } else { MatchResult::Match };
            }
            while t < text.len() {
                match reference(start, rest, &text[t..]) {
                    MatchResult::NoMatch if !stars.crosses_slashes && text[t] == b'/' => {
                        return MatchResult::AbortToStarStar;
                    }
                    MatchResult::NoMatch => {}
                    MatchResult::AbortToStarStar if stars.crosses_slashes => {}
                    other => return other,
                }
                t += 1;
            }
            return MatchResult::AbortAll;
        }
        if t == text.len() { MatchResult::Match } else { MatchResult::NoMatch }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn agrees_with_the_recursive_definition(
            pattern in r"(\*|\*\*/?|/\*\*/|/|a|b|\?|\[ab\]|\[!a\]|\\a){0,9}",
            text in "[ab/]{0,12}",
        ) {
            let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
            prop_assert_eq!(wildmatch(pattern, text), reference(pattern, pattern, text) == MatchResult::Match);
        }

        #[test]
        fn no_pattern_and_text_panics(pattern in prop::collection::vec(any::<u8>(), 0..40), text in prop::collection::vec(any::<u8>(), 0..40)) {
            wildmatch(&pattern, &text);
        }
    }

    #[test]
    fn hostile_patterns_take_no_time() {
        let text = "a/".repeat(500) + "c";
        assert!(!wildmatch(("**/".repeat(200) + "b").as_bytes(), text.as_bytes()));
        assert!(!wildmatch(("**/*a*/".repeat(60) + "b").as_bytes(), text.as_bytes()));
        assert!(!wildmatch(("*a".repeat(5000) + "b").as_bytes(), "a".repeat(3000).as_bytes()));
    }
}
