//! The syntax of specifiers and paths, as in TypeScript: relative or not, package name, extension. No file access.

pub(crate) use crate::paths::{ancestors, base_name, contains, join, join_plain, parent};

/// `.`, `..`, `./x`, `../x`: a relative specifier in TypeScript's sense.
pub(crate) fn is_relative(specifier: &str) -> bool {
    matches!(specifier, "." | "..") || specifier.starts_with("./") || specifier.starts_with("../")
}

/// Whether a specifier is relative or absolute.
pub(crate) fn is_path(specifier: &str) -> bool {
    is_relative(specifier) || specifier.starts_with('/')
}

/// Whether a path has a `node_modules` segment before its last one.
pub(crate) fn in_node_modules(path: &str) -> bool {
    path.contains("/node_modules/")
}

/// Splits `@scope/name/rest` into the package name and the rest, which may be empty.
pub(crate) fn split_package_name(specifier: &str) -> (&str, &str) {
    let skip = match specifier.strip_prefix('@') {
        Some(scoped) => scoped.find('/').map_or(specifier.len(), |at| at + 2),
        None => 0,
    };
    match specifier[skip..].find('/') {
        Some(at) => (&specifier[..skip + at], &specifier[skip + at + 1..]),
        None => (specifier, ""),
    }
}

/// The extensions that TypeScript strips from a name, in its order.
const STRIPPED: [&str; 12] =
    [".d.ts", ".d.mts", ".d.cts", ".mjs", ".mts", ".cjs", ".cts", ".ts", ".js", ".tsx", ".jsx", ".json"];

/// The known extension of a path, if it has one.
pub(crate) fn known_extension(path: &str) -> Option<&'static str> {
    STRIPPED.into_iter().find(|extension| path.len() > extension.len() && path.ends_with(extension))
}

pub(crate) fn is_declaration(path: &str) -> bool {
    [".d.ts", ".d.mts", ".d.cts"].iter().any(|extension| path.ends_with(extension))
        || (path.ends_with(".ts") && base_name(path).contains(".d."))
}

pub(crate) fn is_typescript(path: &str) -> bool {
    [".ts", ".tsx", ".mts", ".cts"].iter().any(|extension| path.ends_with(extension))
}

/// Whether the graph counts a path as a script: TypeScript, JavaScript, declarations.
pub(crate) fn is_script(path: &str) -> bool {
    is_typescript(path) || [".js", ".jsx", ".mjs", ".cjs"].iter().any(|extension| path.ends_with(extension))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_names_split_at_the_right_slash() {
        let cases = [
            ("a", ("a", "")),
            ("a/b/c", ("a", "b/c")),
            ("@s/a", ("@s/a", "")),
            ("@s/a/b", ("@s/a", "b")),
            ("@s", ("@s", "")),
            ("a/", ("a", "")),
        ];
        for (specifier, expected) in cases {
            assert_eq!(split_package_name(specifier), expected, "{specifier}");
        }
    }
}
