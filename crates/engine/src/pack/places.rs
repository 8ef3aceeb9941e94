//! Maps a path in a log to a file of the repository: by its root-relative path, or by its longest matching suffix. If several
//! files match equally well, none is chosen.

use rustc_hash::FxHashMap;
use stan_diagnose::ColumnUnit;
use stan_model::outline::{LineStarts, Lines};
use stan_repo::normal_path;

/// The meaning of a path in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Located {
    /// Relative to the root.
    Found(String),
    /// All candidates, sorted.
    Ambiguous(Vec<String>),
    Unknown,
}

/// Maps paths in logs to files.
pub(super) struct Locator<'l> {
    root: &'l str,
    files: &'l [Box<str>],
    by_name: FxHashMap<&'l str, Vec<usize>>,
    is_file: &'l dyn Fn(&str) -> bool,
}

impl<'l> Locator<'l> {
    /// `files` must be sorted; `is_file` gets root-relative paths.
    pub(super) fn new(root: &'l str, files: &'l [Box<str>], is_file: &'l dyn Fn(&str) -> bool) -> Self {
        let mut by_name: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        for (index, file) in files.iter().enumerate() {
            by_name.entry(last_part(file)).or_default().push(index);
        }
        Self { root: root.trim_end_matches('/'), files, by_name, is_file }
    }

    pub(super) fn locate(&self, path: &str) -> Located {
        let inside = match path.strip_prefix(self.root).and_then(|rest| rest.strip_prefix('/')) {
            Some(inside) => inside.to_owned(),
            None if path.starts_with('/') => path.to_owned(),
            None => {
                let whole = normal_path(self.root, path);
                whole.strip_prefix(self.root).map_or(whole.clone(), |rest| rest.trim_start_matches('/').to_owned())
            }
        };
        if self.files.binary_search_by(|file| (**file).cmp(inside.as_str())).is_ok() {
            return Located::Found(inside);
        }
        if !inside.starts_with('/') && (self.is_file)(&inside) {
            return Located::Found(inside);
        }
        // The `src/index.js` of an installed package is not the repository's file of that name.
        if stan_model::is_installed(&inside) {
            return Located::Unknown;
        }
        self.by_end(&inside)
    }

    /// Matches by the longest common suffix. If the path has folders, at least one of them must match too.
    fn by_end(&self, path: &str) -> Located {
        let Some(same_name) = self.by_name.get(last_part(path)) else { return Located::Unknown };
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let agreeing = |index: usize| {
            let file = self.files.get(index).map_or("", |file| file);
            file.rsplit('/').zip(parts.iter().rev()).take_while(|(one, other)| one == *other).count()
        };
        let needed = parts.len().min(2);
        let best = same_name.iter().map(|index| agreeing(*index)).max().unwrap_or_default();
        if best < needed {
            return Located::Unknown;
        }
        let found = same_name.iter().filter(|index| agreeing(**index) == best);
        let mut found: Vec<String> = found.filter_map(|index| Some(self.files.get(*index)?.to_string())).collect();
        match found.len() {
            0 => Located::Unknown,
            1 => Located::Found(found.swap_remove(0)),
            _ => Located::Ambiguous(found),
        }
    }
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A position in a file as a user or a tool gives it. Lines and columns are 1-based.
#[derive(Clone, Copy)]
pub(super) struct LineColumn {
    pub(super) line: u32,
    pub(super) col: Option<u32>,
    /// The unit of columns.
    pub(super) unit: ColumnUnit,
}

/// The byte offset of a line and column. Without a column, or with one in the indentation, that of the line's first other
/// character. A column after the end of the line means its end.
pub(super) fn position(text: &str, starts: &LineStarts, place: LineColumn) -> u32 {
    let LineColumn { line, col, unit } = place;
    let line = line.clamp(1, starts.count().max(1));
    let span = starts.span(Lines { from: line, to: line }, text);
    let content = span.of(text);
    let blank = content.len() - content.trim_start().len();
    let Some(before) = col.and_then(|col| col.checked_sub(1)) else { return span.start + blank as u32 };
    let mut counted = 0;
    for (at, letter) in content.char_indices() {
        if counted >= before {
            return span.start + at.max(blank) as u32;
        }
        counted += match unit {
            ColumnUnit::Utf16 => letter.len_utf16(),
            ColumnUnit::Char => 1,
            ColumnUnit::Byte => letter.len_utf8(),
        } as u32;
    }
    span.start + content.trim_end().len().saturating_sub(1) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_logs_are_found() {
        let files: Vec<Box<str>> =
            ["a/src/index.ts", "b/src/index.ts", "lib/one.ts", "src/main.ts"].iter().map(|id| (*id).into()).collect();
        let is_file = |path: &str| path == "dist/out.js";
        let locator = Locator::new("/r", &files, &is_file);
        let found = |id: &str| Located::Found(id.to_owned());
        for (path, expected) in [
            ("src/main.ts", found("src/main.ts")),
            ("./src/main.ts", found("src/main.ts")),
            ("/r/src/main.ts", found("src/main.ts")),
            ("/ci/build/src/main.ts", found("src/main.ts")),
            ("one.ts", found("lib/one.ts")),
            ("/elsewhere/one.ts", Located::Unknown),
            ("src/index.ts", Located::Ambiguous(vec!["a/src/index.ts".to_owned(), "b/src/index.ts".to_owned()])),
            ("x/b/src/index.ts", found("b/src/index.ts")),
            ("dist/out.js", found("dist/out.js")),
            ("/x/node_modules/p/src/main.ts", Located::Unknown),
            ("C:/ci/src/main.ts", found("src/main.ts")),
            ("gone.ts", Located::Unknown),
        ] {
            assert_eq!(locator.locate(path), expected, "{path}");
        }
    }

    #[test]
    fn columns_become_positions() {
        let text = "ab\r\n  \u{1f600}x = y\n";
        let starts = LineStarts::new(text);
        for (line, col, unit, expected) in [
            (1, Some(1), ColumnUnit::Utf16, 0),
            (2, None, ColumnUnit::Utf16, 6),
            (2, Some(1), ColumnUnit::Utf16, 6),
            (2, Some(5), ColumnUnit::Utf16, 10),
            (2, Some(4), ColumnUnit::Char, 10),
            (2, Some(7), ColumnUnit::Byte, 10),
            (1, Some(99), ColumnUnit::Utf16, 1),
            (99, None, ColumnUnit::Utf16, 16),
        ] {
            assert_eq!(position(text, &starts, LineColumn { line, col, unit }), expected, "{line}:{col:?}");
        }
    }
}
