//! The lines that `.gitignore` needs so that git ignores the files that `stan` creates. Bytes in, bytes out; nothing is written.

use std::path::Path;

use stan_repo::{MemorySystem, ScanOptions, WritableSystem, scan};

use super::text::{self, BOM};

/// The folders that `stan` creates in its own folder and git should ignore.
const FOLDERS: [&str; 6] = ["context", "output", "diff", "patch", "imports", "cache"];
const FILES: [&str; 1] = [".lock"];

/// A root for testing what is ignored; it exists only in memory.
const QUESTION: &str = "/question";
/// A name that no rule matches.
const PROBE: &str = "zz-stan-init-probe";

/// The missing lines, without line ends.
pub(super) fn missing_lines(bytes: &[u8], stan_path: &str) -> Vec<String> {
    let shown = shown_by_git(bytes, stan_path);
    let folder = escape(stan_path);
    let folders = FOLDERS.iter().map(|name| (*name, "/"));
    let files = FILES.iter().map(|name| (*name, ""));
    folders
        .chain(files)
        .filter(|(name, _)| shown.contains(name) && !is_mentioned(bytes, &format!("{folder}/{name}")))
        .map(|(name, end)| format!("{folder}/{name}{end}"))
        .collect()
}

/// `bytes` with the lines appended, in the line ends of `bytes`.
pub(super) fn append(bytes: &[u8], lines: &[String]) -> Vec<u8> {
    let line_end = text::line_end(bytes);
    let mut after = bytes.to_vec();
    if text::lacks_final_line_end(bytes) {
        after.extend_from_slice(line_end.as_bytes());
    }
    for line in lines {
        after.extend_from_slice(line.as_bytes());
        after.extend_from_slice(line_end.as_bytes());
    }
    after
}

/// Whether a line names exactly this path, even negated with `!`: then the user has decided about it.
fn is_mentioned(bytes: &[u8], path: &str) -> bool {
    let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
    bytes.split(|byte| *byte == b'\n').any(|line| {
        let line = line.trim_ascii_end();
        let line = line.strip_prefix(b"!").unwrap_or(line);
        let line = line.strip_prefix(b"/").unwrap_or(line);
        line.strip_suffix(b"/").unwrap_or(line) == path.as_bytes()
    })
}

/// The folders that the rules do not ignore. Tested with the scanner on an in-memory tree, so that wider rules count exactly as
/// in git.
fn shown_by_git(bytes: &[u8], stan_path: &str) -> Vec<&'static str> {
    let all = || FOLDERS.into_iter().chain(FILES);
    // The scanner never lists installed packages, regardless of the rules.
    if stan_model::is_installed(stan_path) {
        return all().collect();
    }
    let system = MemorySystem::new();
    let probes = FOLDERS.map(|name| format!("{stan_path}/{name}/{PROBE}"));
    let files = FILES.map(|name| format!("{stan_path}/{name}"));
    let put = |path: &str, contents: &[u8]| {
        let path = format!("{QUESTION}/{path}");
        let folder = Path::new(&path).parent().unwrap_or(Path::new(QUESTION)).to_owned();
        system.create_dir_all(&folder).and_then(|()| system.write_atomic(Path::new(&path), contents))
    };
    let made = put(".gitignore", bytes).and_then(|()| probes.iter().chain(&files).try_for_each(|path| put(path, b"")));
    if made.is_err() {
        return all().collect();
    }
    // Another workspace folder, so that the scanner does not skip the real one by itself.
    let options = ScanOptions { stan_path: PROBE.to_owned(), ..ScanOptions::default() };
    let universe = scan(&system, Path::new(QUESTION), &options);
    all().zip(probes.iter().chain(&files)).filter(|(_, path)| universe.contains(path)).map(|(name, _)| name).collect()
}

/// The path as a pattern that matches nothing else.
fn escape(path: &str) -> String {
    let mut pattern = String::with_capacity(path.len());
    for (index, c) in path.char_indices() {
        if matches!(c, '\\' | '*' | '?' | '[') || (index == 0 && matches!(c, '#' | '!')) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &str = ".stan/context/ .stan/output/ .stan/diff/ .stan/patch/ .stan/imports/ .stan/cache/ .stan/.lock";

    fn check(rules: &str, expected: &str) {
        assert_eq!(missing_lines(rules.as_bytes(), ".stan").join(" "), expected, "{rules:?}");
    }

    #[test]
    fn only_missing_lines_are_added() {
        check("", ALL);
        check("node_modules/\n*.log\n", ALL);
        check(".stan/context/\n/.stan/output\r\n", &ALL.replace(".stan/context/ .stan/output/ ", ""));
        check(&ALL.replace(' ', "\n"), "");
        check(&ALL.replace(' ', "\r\n"), "");
        check(&format!("\u{feff}{}", ALL.replace(' ', "\n")), "");
    }

    #[test]
    fn rules_that_cover_a_path_in_any_form_are_recognised() {
        for rules in [".stan/", ".stan", "/.stan/", ".*", ".stan/*", ".stan/**", "*"] {
            check(rules, "");
        }
        check(".stan/*\n!.stan/system/\n", "");
        check("context/\n", &ALL.replace(".stan/context/ ", ""));
        check("# .stan/\n", ALL);
        check(".stan/\n!.stan/\n", ALL);
        check("src/.stan/\n", ALL);
    }

    #[test]
    fn a_rule_that_a_user_negated_is_not_added_again() {
        check("!.stan/output/\n", &ALL.replace(".stan/output/ ", ""));
        check(".stan/*\n!.stan/imports/\n", "");
    }

    #[test]
    fn special_characters_of_a_folder_are_escaped() {
        for (stan_path, first) in [
            ("#a", "\\#a/context/"),
            ("a*[b]?", "a\\*\\[b]\\?/context/"),
            ("node_modules/stan", "node_modules/stan/context/"),
            (".gitignore", ".gitignore/context/"),
            ("tools/stan", "tools/stan/context/"),
        ] {
            let lines = missing_lines(b"", stan_path);
            assert_eq!((lines.first().map(String::as_str), lines.len()), (Some(first), 7), "{stan_path}");
            let after = append(b"", &lines);
            assert_eq!(missing_lines(&after, stan_path), Vec::<String>::new(), "{stan_path}");
        }
    }

    #[test]
    fn line_ends_are_kept() {
        let lines = ["x/".to_owned(), "y".to_owned()];
        for (before, after) in [
            ("", "x/\ny\n"),
            ("a\n", "a\nx/\ny\n"),
            ("a", "a\nx/\ny\n"),
            ("a\r\n", "a\r\nx/\r\ny\r\n"),
            ("a\r\nb", "a\r\nb\r\nx/\r\ny\r\n"),
            ("\u{feff}", "\u{feff}x/\ny\n"),
        ] {
            assert_eq!(append(before.as_bytes(), &lines), after.as_bytes(), "{before:?}");
        }
    }
}
