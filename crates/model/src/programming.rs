//! Counts files of programming languages by extension, whether stan analyses the language or not. Without such a count in the
//! report, a repository in another language would look like one whose files do not depend on each other.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::split_extension;

/// Extensions of programming languages, sorted. A language may stay in the list when stan learns to analyse it.
const EXTENSIONS: &[&str] = &[
    "adb", "ads", "asm", "bash", "c", "c++", "cbl", "cc", "clj", "cljc", "cljs", "cob", "coffee", "cpp", "cr", "cs",
    "cu", "cxx", "dart", "el", "elm", "erl", "ex", "exs", "f90", "f95", "fs", "fsx", "gleam", "go", "groovy", "h",
    "hh", "hpp", "hrl", "hs", "hx", "hxx", "java", "jl", "kt", "kts", "lisp", "lua", "m", "ml", "mli", "mm", "nim",
    "pas", "php", "pl", "pm", "ps1", "py", "pyi", "pyx", "r", "rb", "rkt", "rs", "scala", "scm", "sh", "sol", "sv",
    "swift", "tcl", "v", "vb", "vhd", "zig", "zsh",
];

/// The lower-case extension of a file in a programming language: `.PY` is Python too.
pub fn programming_extension(path: &str) -> Option<&'static str> {
    let (_, extension) = split_extension(path)?;
    // Shortcut: most files have one of these, and none is in the list.
    if matches!(extension, "js" | "ts" | "jsx" | "tsx" | "json" | "md") {
        return None;
    }
    let found = match EXTENSIONS.binary_search(&extension) {
        Ok(found) => found,
        // Lower-case a copy only if necessary: most extensions are lower case already.
        Err(_) if extension.bytes().any(|byte| byte.is_ascii_uppercase()) => {
            EXTENSIONS.binary_search(&&*extension.to_ascii_lowercase()).ok()?
        }
        Err(_) => return None,
    };
    EXTENSIONS.get(found).copied()
}

/// The number of files by extension. Supports adding and removing single files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgrammingFiles(BTreeMap<String, u64>);

impl ProgrammingFiles {
    pub fn of<'p>(paths: impl IntoIterator<Item = &'p str>) -> Self {
        let mut files = Self::default();
        paths.into_iter().for_each(|path| files.add(path));
        files
    }

    pub fn add(&mut self, path: &str) {
        let Some(extension) = programming_extension(path) else { return };
        match self.0.get_mut(extension) {
            Some(count) => *count += 1,
            None => {
                self.0.insert(extension.to_owned(), 1);
            }
        }
    }

    pub fn remove(&mut self, path: &str) {
        if let Some(extension) = programming_extension(path)
            && let Some(count) = self.0.get_mut(extension)
        {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.0.remove(extension);
            }
        }
    }

    /// Most files first, then by extension.
    pub fn counts(&self) -> Vec<(&str, u64)> {
        let mut counts: Vec<_> = self.0.iter().map(|(extension, count)| (extension.as_str(), *count)).collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_of_programming_languages() {
        assert!(EXTENSIONS.is_sorted());
        let cases = [
            ("a/b.py", Some("py")),
            ("A.PY", Some("py")),
            ("x.d/main.go", Some("go")),
            ("README.md", None),
            ("package.json", None),
            ("Makefile", None),
            ("py", None),
        ];
        for (path, expected) in cases {
            assert_eq!(programming_extension(path), expected, "{path}");
        }
    }

    #[test]
    fn counts_follow_added_and_removed_files() {
        let mut files = ProgrammingFiles::of(["a.go", "a.py", "b.py", "c.md"]);
        assert_eq!(files.counts(), [("py", 2), ("go", 1)]);
        files.remove("a.py");
        files.remove("x.rs");
        files.remove("a.go");
        assert_eq!(files, ProgrammingFiles::of(["b.py"]));
    }
}
