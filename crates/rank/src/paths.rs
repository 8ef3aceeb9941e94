//! What the path of a file tells about it: its words, whether it is a test and of what, and the class of the file.

use crate::words::{TermKey, for_each_part, key};

/// The role of a file: source, test, text or other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileClass {
    /// Written by programmers.
    Code,
    /// Documents, settings and data that people write.
    Text,
    /// Generated, minified, binary, or outside the repository: never found by its words.
    Other,
}

impl FileClass {
    /// The letter of the class in a cache.
    pub(crate) fn letter(self) -> u8 {
        match self {
            Self::Code => b'c',
            Self::Text => b't',
            Self::Other => b'o',
        }
    }

    pub(crate) fn from_letter(letter: u8) -> Option<Self> {
        [Self::Code, Self::Text, Self::Other].into_iter().find(|class| class.letter() == letter)
    }
}

const CODE: &[&str] = &[
    "astro", "bash", "c", "cc", "cjs", "clj", "cpp", "cs", "css", "cts", "cxx", "dart", "el", "elm", "erl", "ex",
    "exs", "fs", "go", "graphql", "groovy", "h", "hbs", "hpp", "hs", "html", "java", "jl", "js", "jsx", "kt", "kts",
    "less", "lua", "m", "mdx", "mjs", "ml", "mm", "mts", "nim", "php", "pl", "pm", "prisma", "proto", "ps1", "py",
    "pyi", "r", "rb", "rs", "sass", "scala", "scss", "sh", "sol", "sql", "styl", "svelte", "swift", "tf", "ts", "tsx",
    "v", "vb", "vue", "zig",
];
const TEXT: &[&str] = &[
    "adoc",
    "cfg",
    "conf",
    "csv",
    "env",
    "gradle",
    "ini",
    "json",
    "json5",
    "jsonc",
    "md",
    "properties",
    "rst",
    "toml",
    "txt",
    "xml",
    "yaml",
    "yml",
];
const LOCKS: &[&str] = &[
    "Cargo.lock",
    "Gemfile.lock",
    "bun.lock",
    "composer.lock",
    "go.sum",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "pdm.lock",
    "pnpm-lock.yaml",
    "poetry.lock",
    "uv.lock",
    "yarn.lock",
];

/// The class of a file of the repository.
pub fn file_class(path: &str) -> FileClass {
    let name = file_name(path);
    if LOCKS.binary_search(&name).is_ok() || name.contains(".min.") || path.contains("node_modules/") {
        return FileClass::Other;
    }
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
    if CODE.binary_search(&extension.as_str()).is_ok() {
        FileClass::Code
    } else if TEXT.binary_search(&extension.as_str()).is_ok() || matches!(name, "Dockerfile" | "Makefile" | "LICENSE") {
        FileClass::Text
    } else {
        FileClass::Other
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The folder of a file, without a trailing slash.
pub fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The keys of the words of a path, in order, with duplicates.
pub(crate) fn path_keys(path: &str) -> Vec<TermKey> {
    let mut keys = Vec::new();
    // Splits at slashes and dots too.
    for_each_part(path.as_bytes(), &mut |part| keys.push(key(part)));
    keys
}

const TEST_FOLDERS: &[&str] = &[
    "__test__",
    "__tests__",
    "dtslint",
    "e2e",
    "integration",
    "spec",
    "specs",
    "t",
    "test",
    "test-d",
    "tests",
    "typetest",
    "typetests",
    "unit",
];
const TEST_ENDINGS: &[&str] = &["bench", "e2e", "spec", "stories", "test", "test-d", "tst"];

/// Whether the path looks like a test's.
pub fn is_test(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    if folder(&lower).split('/').any(|part| TEST_FOLDERS.binary_search(&part).is_ok()) {
        return true;
    }
    let name = file_name(&lower);
    // `cart.spec.ts`: a word between a separator and the next dot.
    let is_marked = name.match_indices(['.', '_', '-']).any(|(at, _)| {
        let behind = name.get(at + 1..).unwrap_or_default();
        behind.split_once('.').is_some_and(|(part, _)| TEST_ENDINGS.binary_search(&part).is_ok())
    });
    is_marked || (name.starts_with("test_") && name.ends_with(".py"))
}

const STRIPPED: &[&str] =
    &["bench", "d", "e2e", "mock", "module", "spec", "stories", "style", "styles", "test", "test-d", "tests", "types"];
const COMMON_NAMES: &[&str] = &["__init__", "index", "lib", "main", "mod", "types", "util", "utils"];
const COMMON_FOLDERS: &[&str] = &["__tests__", "lib", "src", "test", "tests"];

/// The name key that a file shares with its test: `cart` for `src/cart.ts`, `test/cart.spec.ts` and `tests/test_cart.py`.
pub fn name_key(path: &str) -> String {
    let name = file_name(path);
    let mut base = name.rsplit_once('.').map_or(name, |(base, _)| base).to_ascii_lowercase();
    loop {
        let before = base.len();
        if let Some((start, ending)) = base.rsplit_once(['.', '_', '-'])
            && STRIPPED.binary_search(&ending).is_ok()
            && !start.is_empty()
        {
            base.truncate(start.len());
        } else if let Some(rest) = base.strip_prefix("test_").or_else(|| base.strip_prefix("tests_")) {
            base = rest.to_owned();
        }
        if base.len() == before {
            break;
        }
    }
    if COMMON_NAMES.binary_search(&base.as_str()).is_ok() {
        let mut folders = folder(path).split('/').filter(|part| COMMON_FOLDERS.binary_search(part).is_err());
        if let Some(last) = folders.rfind(|part| !part.is_empty()) {
            return format!("{last}/{base}");
        }
    }
    base
}

/// The number of steps from one folder to another, up and down.
pub fn folder_distance(left: &str, right: &str) -> usize {
    let parts = |path: &str| path.split('/').filter(|part| !part.is_empty()).count();
    let shared = left.split('/').zip(right.split('/')).take_while(|(a, b)| a == b && !a.is_empty()).count();
    parts(left) + parts(right) - 2 * shared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        let tables = [CODE, TEXT, LOCKS, TEST_FOLDERS, TEST_ENDINGS, STRIPPED, COMMON_NAMES, COMMON_FOLDERS];
        for table in tables {
            assert!(table.is_sorted(), "{table:?}");
        }
    }

    #[test]
    fn names_and_endings_decide_the_class_of_a_file() {
        for (path, expected) in [
            ("src/a.ts", FileClass::Code),
            ("a.PY", FileClass::Code),
            ("README.md", FileClass::Text),
            ("package.json", FileClass::Text),
            ("package-lock.json", FileClass::Other),
            ("web/app.min.js", FileClass::Other),
            ("logo.png", FileClass::Other),
            ("Dockerfile", FileClass::Text),
            (".gitignore", FileClass::Other),
        ] {
            assert_eq!(file_class(path), expected, "{path}");
        }
    }

    #[test]
    fn tests_share_a_name_key_with_their_files() {
        for (path, is_a_test, expected) in [
            ("src/cart.ts", false, "cart"),
            ("src/cart.test.ts", true, "cart"),
            ("src/__tests__/cart.tsx", true, "cart"),
            ("pkg/cart_test.go", true, "cart"),
            ("tests/test_cart.py", true, "cart"),
            ("src/cart.d.ts", false, "cart"),
            ("src/cart-spec.mock.js", true, "cart"),
            ("src/router/index.ts", false, "router/index"),
            ("test/router/index.test.ts", true, "router/index"),
            ("src/index.ts", false, "index"),
            ("latest.ts", false, "latest"),
            ("src/contest/a.ts", false, "a"),
            ("test", false, "test"),
        ] {
            assert_eq!((is_test(path), name_key(path).as_str()), (is_a_test, expected), "{path}");
        }
    }

    #[test]
    fn folders_are_counted_up_and_down() {
        let cases =
            [("", "", 0), ("a", "", 1), ("a/b", "a/b", 0), ("a/b", "a/c", 2), ("a/b/c", "a", 2), ("ab", "a", 2)];
        for (left, right, expected) in cases {
            assert_eq!(
                (folder_distance(left, right), folder_distance(right, left)),
                (expected, expected),
                "{left} {right}"
            );
        }
    }
}
