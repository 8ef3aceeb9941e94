//! Parses positions as tools write them (`path:12:5`, `path(12,5)`, `path 12:5-9`) and cleans paths.

use crate::LogPosition;

/// Longer texts are not considered paths.
const MAX_PATH_BYTES: usize = 4096;

/// Parses a number of at most nine digits at the start of `text`; returns also the rest.
pub(crate) fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    if digits.is_empty() || digits.len() > 9 {
        return None;
    }
    Some((digits.parse().ok()?, rest))
}

/// Parses `path:line[:col]` at the start of `text`; returns also the rest.
///
/// The path ends at the first `:` before a digit. The colons of drive letters and schemes are not followed by a digit.
pub(crate) fn colon(text: &str) -> Option<(LogPosition, &str)> {
    let mut from = 0;
    while let Some(found) = text.get(from..)?.find(':') {
        let at = from + found;
        if at > MAX_PATH_BYTES {
            return None;
        }
        if let Some((line, rest)) = number(text.get(at + 1..)?)
            && line > 0
        {
            let path = text.get(..at)?;
            let file = clean_path(path)?;
            let column = rest.strip_prefix(':').and_then(number);
            let (col, rest) = column.map_or((None, rest), |(col, rest)| (Some(col), rest));
            return Some((LogPosition { file, line, col }, rest));
        }
        from = at + 1;
    }
    None
}

/// Parses `path(line[,col])` at the start of `text`; returns also the rest.
pub(crate) fn paren(text: &str) -> Option<(LogPosition, &str)> {
    let mut from = 0;
    while let Some(found) = text.get(from..)?.find('(') {
        let at = from + found;
        if at > MAX_PATH_BYTES {
            return None;
        }
        if let Some((line, rest)) = number(text.get(at + 1..)?)
            && line > 0
        {
            let column = rest.strip_prefix([',', ':']).and_then(number);
            let (col, rest) = column.map_or((None, rest), |(col, rest)| (Some(col), rest));
            // MSBuild may add the end: `(1,2,3,4)`.
            let rest =
                rest.trim_start_matches(|letter: char| letter == ',' || letter == '-' || letter.is_ascii_digit());
            if let Some(rest) = rest.strip_prefix(')')
                && let Some(file) = clean_path(text.get(..at)?.trim_end())
            {
                return Some((LogPosition { file, line, col }, rest));
            }
        }
        from = at + 1;
    }
    None
}

/// A line and a column, as a tool counts them.
pub(crate) struct LineColumn {
    pub line: u32,
    pub col: u32,
}

/// Parses `line:col` at the start of `text`; returns also the rest.
pub(crate) fn line_column(text: &str) -> Option<(LineColumn, &str)> {
    let (line, rest) = number(text)?;
    let (col, rest) = number(rest.strip_prefix(':')?)?;
    Some((LineColumn { line, col }, rest))
}

/// The path without scheme, bundler prefix, query and backslashes; `None` if the text cannot be a path.
pub(crate) fn clean_path(text: &str) -> Option<String> {
    let text = text.trim().trim_matches(['"', '\'', '`']);
    if text.is_empty() || text.len() > MAX_PATH_BYTES || text.contains(['\n', '\0', '|', '<', '>', '*']) {
        return None;
    }
    let decoded;
    let text = if let Some(rest) = text.strip_prefix("file://") {
        let rest = rest.strip_prefix("localhost").unwrap_or(rest);
        // In `file:///C:/x`, the path starts with a drive letter.
        let rest = if rest.as_bytes().get(2) == Some(&b':') { rest.trim_start_matches('/') } else { rest };
        decoded = percent_decoded(rest);
        &decoded
    } else if let Some((scheme, rest)) = text.split_once("://") {
        // `webpack://app/./src/a.ts`, `webpack-internal:///./src/a.ts`, `rsc://React/Server/…`
        if !scheme.starts_with("webpack") && scheme != "rollup" && scheme != "vite" {
            return None;
        }
        rest.split_once("/./").map_or_else(|| rest.trim_start_matches('/'), |(_, path)| path)
    } else {
        text
    };
    let text = text.split_once('?').map_or(text, |(path, _)| path);
    let text = text.strip_prefix("./").unwrap_or(text);
    let path = text.replace('\\', "/");
    let path = path.strip_prefix("./").unwrap_or(&path);
    looks_like_a_path(path).then(|| path.to_owned())
}

/// Requires a file extension or a well-known file name. Rejects words, times and addresses.
fn looks_like_a_path(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let has_extension = name.rsplit_once('.').is_some_and(|(_, extension)| {
        !extension.is_empty() && extension.len() <= 12 && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    let is_number = name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let well_known = matches!(name, "Makefile" | "Dockerfile" | "Justfile" | "CMakeLists.txt" | "Rakefile" | "Gemfile");
    !is_number && !name.ends_with(' ') && !path.contains(": ") && (has_extension || well_known)
}

fn percent_decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let mut ahead = bytes.clone();
        let hex = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        match (byte, hex(ahead.next()), hex(ahead.next())) {
            (b'%', Some(high), Some(low)) => {
                out.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
                bytes = ahead;
            }
            _ => out.push(byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Whether a path of a stack trace belongs to a runtime, a toolchain or an installed package.
pub fn is_foreign(path: &str) -> bool {
    const FOREIGN: [&str; 16] = [
        "/node_modules/",
        "/site-packages/",
        "/dist-packages/",
        "/rustc/",
        "/.cargo/registry/",
        "/.rustup/",
        "/go/pkg/mod/",
        "/go/src/runtime/",
        "/go/src/testing/",
        "/lib/python",
        "/usr/lib/",
        "/usr/include/",
        "/internal/deps/",
        "/.pnp.",
        "/.yarn/cache/",
        "/lib/ruby/",
    ];
    let begins = ["node_modules/", "node:", "internal/", "<frozen", "native ", "bun:", "ext:", "deno:", "vendor/"];
    begins.iter().any(|begin| path.starts_with(begin))
        || FOREIGN.iter().any(|part| path.contains(part))
        || is_in_module_cache(path)
}

/// `…/example.com/m@v1.2.3/x.go`, wherever Go's module cache is.
fn is_in_module_cache(path: &str) -> bool {
    let is_version = |(at, found): (usize, &str)| path.as_bytes().get(at + found.len()).is_some_and(u8::is_ascii_digit);
    path.ends_with(".go") && path.match_indices("@v").any(is_version)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(place: Option<(LogPosition, &str)>) -> String {
        place.map_or("-".to_owned(), |(place, rest)| format!("{} {} {:?} |{rest}", place.file, place.line, place.col))
    }

    #[test]
    fn places_with_colons_are_parsed() {
        for (text, expected) in [
            ("src/a.ts:2:25 - error", "src/a.ts 2 Some(25) | - error"),
            ("./main.go:5:2: x", "main.go 5 Some(2) |: x"),
            ("stock.py:11: error", "stock.py 11 None |: error"),
            ("C:\\app\\a.ts:3:4", "C:/app/a.ts 3 Some(4) |"),
            ("file:///srv/app/my%20a.js:4:24)", "/srv/app/my a.js 4 Some(24) |)"),
            ("webpack:///./src/a.ts?x:3:4", "src/a.ts 3 Some(4) |"),
            ("app/(shop)/[id]/page.tsx:3:1", "app/(shop)/[id]/page.tsx 3 Some(1) |"),
            ("12:34:56 hello", "-"),
            ("http://localhost:3000/a.ts:1:2", "-"),
            ("node:internal/modules/cjs/loader:1521:14", "-"),
            ("Error: a.ts:1:2", "-"),
            (":1:2", "-"),
            ("src/a.ts:0", "-"),
        ] {
            assert_eq!(shown(colon(text)), expected, "{text}");
        }
    }

    #[test]
    fn places_with_parentheses_are_parsed() {
        for (text, expected) in [
            ("src/a.ts(2,25): error", "src/a.ts 2 Some(25) |: error"),
            ("src\\a (copy).ts(2,25): x", "src/a (copy).ts 2 Some(25) |: x"),
            ("a.cs(1,2,3,4): error", "a.cs 1 Some(2) |: error"),
            ("a.c(7) : error", "a.c 7 None | : error"),
            ("f(1, 2)", "-"),
        ] {
            assert_eq!(shown(paren(text)), expected, "{text}");
        }
    }

    #[test]
    fn paths_of_packages_and_toolchains_are_foreign() {
        assert!(is_foreign("/srv/app/node_modules/p/a.js"));
        assert!(is_foreign("/rustc/5980/library/std/src/panicking.rs"));
        assert!(!is_foreign("src/node_module.ts"));
    }
}
