//! Finds the files that the output of a compiler or a test runner names: `src/a.ts:12:5`, `src/a.ts(12,5)`, `(/r/src/a.ts:3:4)`,
//! `file:///r/src/a.ts`, quoted paths, backslashes, colours. Only paths of existing files count, so a word that merely looks like
//! a path is harmless. The parsed diagnostics only affect the order.

use std::collections::{BTreeMap, BTreeSet};

use stan_diagnose::{Diagnostic, Severity, parse};

/// Longer words are not tried as paths.
const MAX_PATH_BYTES: usize = 4096;
/// The maximum number of trailing path components that are tried as a file.
const MAX_PATH_COMPONENTS: usize = 40;

/// The files that the log names, by number, sorted. `paths` must be sorted.
pub fn files_named(paths: &[&str], root: &str, log: &[u8]) -> Vec<u32> {
    let mut named = LogFiles::new(paths, root).mentioned(log);
    named.sort_unstable();
    named
}

/// Finds files of a repository in logs.
pub(super) struct LogFiles<'p> {
    finder: Finder<'p>,
}

impl<'p> LogFiles<'p> {
    /// `paths` must be sorted; files are numbered by their index in it.
    pub(super) fn new(paths: &'p [&'p str], root: &'p str) -> Self {
        let mut names: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for (file, path) in (0..).zip(paths) {
            names.entry(last_part(path)).or_default().push(file);
        }
        let finder = Finder {
            paths,
            root: root.trim_end_matches('/'),
            names,
            takes_names: false,
            found: Vec::new(),
            seen: BTreeSet::new(),
        };
        Self { finder }
    }

    /// Every file that the log names, the most important first: for each error its location, the frames of its trace from the
    /// innermost outwards, and related locations; then warnings; then all other mentions.
    pub(super) fn in_order(mut self, log: &[u8]) -> Vec<u32> {
        let mut findings = parse(log, None);
        findings.sort_by_key(|finding| finding.severity != Severity::Error);
        for finding in &findings {
            places(finding).for_each(|path| {
                self.finder.path(path, true);
            });
        }
        self.mentioned(log)
    }

    /// The files that a text names, in order. A bare file name is enough if only one file has it.
    pub(super) fn in_text(mut self, text: &str) -> Vec<u32> {
        self.finder.takes_names = true;
        self.mentioned(text.as_bytes())
    }

    /// Files in order of mention.
    fn mentioned(mut self, log: &[u8]) -> Vec<u32> {
        let mut plain = Vec::new();
        for line in log.split(|&byte| byte == b'\n') {
            plain.clear();
            strip_colours(line, &mut plain);
            self.finder.line(&String::from_utf8_lossy(&plain));
        }
        self.finder.found
    }
}

/// The innermost frame is where the error occurred; without a trace there is only the location.
fn places(finding: &Diagnostic) -> impl Iterator<Item = &str> {
    let frames = finding.frames.iter().map(|frame| frame.place.file.as_str());
    let own = finding.place.iter().map(|place| place.file.as_str());
    let related = finding.related.iter().map(|related| related.place.file.as_str());
    own.chain(frames).chain(related)
}

struct Finder<'p> {
    paths: &'p [&'p str],
    root: &'p str,
    /// Files by basename.
    names: BTreeMap<&'p str, Vec<u32>>,
    /// Whether a basename without folder and position is enough.
    takes_names: bool,
    /// In order of discovery.
    found: Vec<u32>,
    seen: BTreeSet<u32>,
}

impl Finder<'_> {
    fn line(&mut self, line: &str) {
        for word in line.split(|letter: char| letter.is_whitespace() || matches!(letter, '"' | '\'' | '`')) {
            // Folder names may contain separators, such as `(group)` or `[id]`: try the whole word before its pieces.
            if !self.word(word) && word.contains(is_separator) {
                word.split(is_separator).for_each(|piece| {
                    self.word(piece);
                });
            }
        }
        // A quoted path may contain blanks.
        for quote in ['"', '\'', '`'] {
            if line.contains(quote) {
                line.split(quote).skip(1).step_by(2).filter(|text| text.contains(' ')).for_each(|text| {
                    self.word(text);
                });
            }
        }
    }

    /// Whether the word names a file.
    fn word(&mut self, word: &str) -> bool {
        // A path has a dot or a slash; most words of a log have neither.
        if word.len() > MAX_PATH_BYTES || !word.contains(['.', '/', '\\']) {
            return false;
        }
        let bare = word.trim_matches(|letter| matches!(letter, '(' | '<' | '[' | '{' | ',' | ';' | ':' | '.'));
        let outer = word.trim_start_matches(['(', '<']).trim_end_matches([')', '>', ',', ';', ':']);
        [word, bare, outer].into_iter().any(|text| {
            let (path, has_position) = without_position(text);
            self.path(path, has_position) || (has_position && self.path(text, false))
        })
    }

    fn path(&mut self, text: &str, has_position: bool) -> bool {
        let Some(path) = normal(text) else { return false };
        // The `src/a.js` of an installed package is not the repository's file of that name.
        if !self.names.contains_key(last_part(&path)) || stan_model::is_installed(&path) {
            return false;
        }
        let inside = path.strip_prefix(self.root).and_then(|rest| rest.strip_prefix('/')).unwrap_or(&path);
        let inside = inside.trim_start_matches("./");
        let found = self.exact(inside).or_else(|| self.ending(inside)).or_else(|| self.below(inside, has_position));
        if let Some(file) = found
            && self.seen.insert(file)
        {
            self.found.push(file);
        }
        found.is_some()
    }

    fn exact(&self, path: &str) -> Option<u32> {
        self.paths.binary_search(&path).ok().and_then(|found| u32::try_from(found).ok())
    }

    /// For logs from another machine or checkout: a path suffix of at least a folder and a name that is an id.
    fn ending(&self, path: &str) -> Option<u32> {
        let parts = path.rmatch_indices('/').skip(1).take(MAX_PATH_COMPONENTS);
        let ends: Vec<&str> = parts.filter_map(|(at, _)| path.get(at + 1..)).collect();
        // The longest suffix is the most certain.
        ends.iter().rev().find_map(|end| self.exact(end))
    }

    /// For logs from a subfolder of the repository: the path is the suffix of exactly one id.
    fn below(&self, path: &str, has_position: bool) -> Option<u32> {
        if path.starts_with('/') || !(has_position || self.takes_names || path.contains('/')) {
            return None;
        }
        let same_name = self.names.get(last_part(path))?;
        let mut matching = same_name.iter().copied().filter(|&file| {
            self.paths
                .get(file as usize)
                .and_then(|known| known.strip_suffix(path))
                .is_some_and(|before| before.ends_with('/'))
        });
        let first = matching.next()?;
        matching.next().is_none().then_some(first)
    }
}

/// `/`-separated, without a scheme and without `./` components.
fn normal(text: &str) -> Option<String> {
    let text = text.split_once("://").map_or(text, |(_, rest)| rest);
    let text = text.split_once(['?', '#']).map_or(text, |(path, _)| path);
    let mut path = text.replace('\\', "/");
    while path.contains("/./") || path.contains("//") {
        path = path.replace("/./", "/").replace("//", "/");
    }
    if path.contains("%20") {
        path = path.replace("%20", " ");
    }
    (!path.is_empty() && !path.ends_with('/')).then_some(path)
}

/// Removes a position: `:12`, `:12:5`, `(12,5)` or `(12)`.
fn without_position(text: &str) -> (&str, bool) {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some((path, position)) = text.strip_suffix(')').and_then(|text| text.rsplit_once('('))
        && position.split(',').all(|part| is_number(part.trim()))
    {
        return (path, true);
    }
    let mut path = text;
    for _ in 0..2 {
        match path.rsplit_once(':') {
            Some((before, number)) if is_number(number) && !before.is_empty() => path = before,
            _ => break,
        }
    }
    (path, path.len() < text.len())
}

fn is_separator(letter: char) -> bool {
    matches!(letter, '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | ',' | ';' | '|' | '=' | '@')
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Copies a line without terminal escape sequences.
fn strip_colours(line: &[u8], out: &mut Vec<u8>) {
    let mut bytes = line.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            0x1b => {
                // A CSI sequence (`ESC [`) ends with a letter; any other sequence has one character after ESC.
                if bytes.next() == Some(b'[') {
                    bytes.by_ref().find(|byte| (0x40..=0x7e).contains(byte));
                }
            }
            b'\r' | 0 => out.push(b' '),
            _ => out.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(log: &str) -> String {
        let ids = [
            "app/(shop)/[id]/page.tsx",
            "lib/my file.ts",
            "main.ts",
            "pkg/one/src/deep.ts",
            "pkg/two/src/x.ts",
            "src/a.ts",
            "src/b.ts",
        ];
        let named = files_named(&ids, "/r/repo", log.as_bytes());
        named.iter().map(|&file| ids[file as usize]).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn locations_of_compilers_and_test_runners_are_parsed() {
        for (log, expected) in [
            ("src/a.ts:12:5 - error TS2322: no", "src/a.ts"),
            ("src/a.ts(12,5): error TS2322: no", "src/a.ts"),
            ("    at f (/r/repo/src/a.ts:3:4)", "src/a.ts"),
            ("    at async file:///r/repo/src/b.ts:3:4", "src/b.ts"),
            ("webpack:///./src/b.ts?1234", "src/b.ts"),
            ("  --> ./src/a.ts:3", "src/a.ts"),
            ("Cannot find '../src/b.ts' from \"/r/repo/src/a.ts\"", "src/a.ts src/b.ts"),
            ("C:\\work\\repo\\src\\a.ts:3:4", "src/a.ts"),
            ("src\\a.ts(3)", "src/a.ts"),
            ("\x1b[96msrc/a.ts\x1b[0m:\x1b[93m12\x1b[0m:5", "src/a.ts"),
            ("/ci/build/src/a.ts:1", "src/a.ts"),
            ("diff --git a/src/a.ts b/src/a.ts", "src/a.ts"),
            ("FAIL src/a.ts, src/b.ts; done", "src/a.ts src/b.ts"),
            ("error in \"lib/my file.ts\"", "lib/my file.ts"),
            ("app/(shop)/[id]/page.tsx:3", "app/(shop)/[id]/page.tsx"),
            ("see main.ts.", "main.ts"),
            ("src/deep.ts:4", "pkg/one/src/deep.ts"),
            ("deep.ts:4", "pkg/one/src/deep.ts"),
            ("[src/a.ts]", "src/a.ts"),
            ("file=src/a.ts,line=3", "src/a.ts"),
            ("src/a.ts\r", "src/a.ts"),
        ] {
            assert_eq!(found(log), expected, "{log}");
        }
    }

    #[test]
    fn words_that_are_not_files_are_ignored() {
        for log in [
            "",
            "deep.ts",
            "src/c.ts:1",
            "at x (/r/repo/node_modules/p/src/a.ts:1:1)",
            "node_modules/p/main.ts",
            "1.2.3 https://example.org/",
            "a.ts",
            "x/main.ts.map",
            ":::::",
            "()",
            "/",
        ] {
            assert_eq!(found(log), "", "{log}");
        }
    }

    #[test]
    fn a_unique_file_name_in_a_text_is_enough() {
        let ids = ["a/one.ts", "a/two.ts", "b/two.ts", "three.ts"];
        let named = |text: &str| LogFiles::new(&ids, "/r").in_text(text);
        assert_eq!(named("`one.ts` fails, see two.ts, b/two.ts, (three.ts) and one"), [0, 2, 3]);
        assert_eq!(named("File \"/x/a/two.ts\", line 3, in <module>"), [1]);
    }

    /// A quadratic algorithm would take hours for these.
    #[test]
    fn hostile_logs_take_linear_time() {
        for unit in ["a/", "\"", "(", "src/a.ts:1 ", "\x1b[", "x.ts", "\\", "./", ":1", "'a b' "] {
            found(&unit.repeat(1_000_000 / unit.len()));
        }
        found(&("a/".repeat(2000) + "a.ts ").repeat(200));
    }
}
