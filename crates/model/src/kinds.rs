//! The kinds of nodes and edges. Variants are ordered by their names in output, because edge lists are sorted by (target, kind,
//! resolution) *as text*.

use serde::{Deserialize, Serialize};

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum NodeKind {
    /// A file of the repository.
    Source,
    /// A file under `node_modules`, or outside the repository.
    External,
    /// A module of the runtime, such as `node:fs`.
    Builtin,
    /// A specifier that resolves to no file.
    Missing,
}

impl NodeKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::External => "external",
            Self::Builtin => "builtin",
            Self::Missing => "missing",
        }
    }
}

/// When an edge is followed: at run time, by the type checker only, or on demand.
///
/// Variants are declared in the byte order of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum EdgeKind {
    Dynamic,
    Runtime,
    Type,
}

impl EdgeKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Dynamic => "dynamic",
            Self::Runtime => "runtime",
            Self::Type => "type",
        }
    }
}

/// Whether an edge was written in the file or found by following names through barrels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Resolution {
    Explicit,
    Implicit,
}

impl Resolution {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Explicit => "explicit",
            Self::Implicit => "implicit",
        }
    }
}

/// The language of a file, by its extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Language {
    Ts,
    Js,
    Json,
    Md,
    Py,
    Go,
    Rs,
    Other,
}

impl Language {
    pub const ALL: [Self; 8] = [Self::Ts, Self::Js, Self::Json, Self::Md, Self::Py, Self::Go, Self::Rs, Self::Other];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ts => "ts",
            Self::Js => "js",
            Self::Json => "json",
            Self::Md => "md",
            Self::Py => "py",
            Self::Go => "go",
            Self::Rs => "rs",
            Self::Other => "other",
        }
    }

    /// The language of a path's extension. Case-sensitive, as in TypeScript: `.TS` is `other`.
    pub fn of_path(path: &str) -> Self {
        match split_extension(path).map(|(_, extension)| extension) {
            Some("ts" | "tsx" | "mts" | "cts") => Self::Ts,
            Some("js" | "jsx" | "mjs" | "cjs") => Self::Js,
            Some("json") => Self::Json,
            Some("md") => Self::Md,
            Some("py" | "pyi") => Self::Py,
            Some("go") => Self::Go,
            Some("rs") => Self::Rs,
            _ => Self::Other,
        }
    }
}

/// Splits a path at the last dot of its last segment. Searches from the end, because this is called several times per file and
/// extensions are short.
pub fn split_extension(path: &str) -> Option<(&str, &str)> {
    let at = path.bytes().rposition(|byte| matches!(byte, b'.' | b'/'))?;
    let (stem, rest) = path.split_at(at);
    rest.strip_prefix('.').map(|extension| (stem, extension))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_are_of_the_last_segment() {
        let cases = [
            ("a/b.d.ts", Some(("a/b.d", "ts"))),
            ("a.ts/b", None),
            ("a.ts/", None),
            (".ts", Some(("", "ts"))),
            ("a.", Some(("a", ""))),
            ("é.é", Some(("é", "é"))),
            ("", None),
        ];
        for (path, expected) in cases {
            assert_eq!(split_extension(path), expected, "{path}");
        }
    }

    #[test]
    fn variant_order_is_name_order() {
        let kinds = [EdgeKind::Dynamic, EdgeKind::Runtime, EdgeKind::Type];
        assert!(kinds.is_sorted() && kinds.map(EdgeKind::as_str).is_sorted());
        assert!(Resolution::Explicit < Resolution::Implicit);
    }

    #[test]
    fn the_extension_decides_the_language() {
        let cases = [
            ("a.ts", Language::Ts),
            ("a.d.mts", Language::Ts),
            ("x/a.jsx", Language::Js),
            ("a.vue", Language::Other),
            ("src/lib.rs", Language::Rs),
            ("tsconfig.json", Language::Json),
            ("dir.ts/README.md", Language::Md),
            ("ts", Language::Other),
            ("a.TS", Language::Other),
        ];
        for (path, language) in cases {
            assert_eq!(Language::of_path(path), language, "{path}");
        }
    }
}
