//! Arithmetic on absolute, `/`-separated paths. Nothing here reads a disk.

/// Joins and normalises: `.`, `..` and doubled slashes are gone afterwards. `base` is normal already. A trailing slash
/// is kept, because TypeScript lets `./dir/` mean the directory only.
pub(crate) fn join(base: &str, relative: &str) -> String {
    let mut out = String::with_capacity(base.len() + relative.len() + 16);
    if !relative.starts_with('/') {
        out.push_str(base.trim_end_matches('/'));
    }
    let mut rest = relative;
    while !rest.is_empty() {
        let end = rest.bytes().position(|byte| byte == b'/').unwrap_or(rest.len());
        let (segment, tail) = rest.split_at(end);
        match segment {
            "" | "." => {}
            ".." => out.truncate(out.rfind('/').unwrap_or(0)),
            name => {
                out.push('/');
                out.push_str(name);
            }
        }
        if tail.len() <= 1 {
            // What ends in a slash, or in dots, means a directory.
            if !tail.is_empty() || matches!(segment, "." | "..") {
                out.push('/');
            }
            break;
        }
        rest = &tail[1..];
    }
    if out.is_empty() {
        out.push('/');
    }
    out
}

/// As [`join`], without the trailing slash.
pub(crate) fn join_plain(base: &str, relative: &str) -> String {
    let mut out = join(base, relative);
    if out.len() > 1 && out.ends_with('/') {
        out.pop();
    }
    out
}

/// The directory of a path; `/` for what lies in the root directory.
pub(crate) fn parent(path: &str) -> &str {
    match path.trim_end_matches('/').rfind('/') {
        Some(0) | None => "/",
        Some(at) => &path[..at],
    }
}

pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether `path` is `directory` or lies below it.
pub(crate) fn contains(directory: &str, path: &str) -> bool {
    let directory = directory.trim_end_matches('/');
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The directory and everything above it, nearest first, ending with `/`.
pub(crate) fn ancestors(directory: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(directory), |path| (*path != "/").then(|| parent(path)))
}

/// `.`, `..`, `./x`, `../x`: what TypeScript calls relative.
pub(crate) fn is_relative(specifier: &str) -> bool {
    matches!(specifier, "." | "..") || specifier.starts_with("./") || specifier.starts_with("../")
}

/// Relative, or rooted on the disk.
pub(crate) fn is_path(specifier: &str) -> bool {
    is_relative(specifier) || specifier.starts_with('/')
}

/// Whether a path has a `node_modules` segment before its last one.
pub(crate) fn in_node_modules(path: &str) -> bool {
    path.contains("/node_modules/")
}

/// Splits `@scope/name/rest` into package name and rest (empty when there is none).
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

/// Script files as the graph counts them: TypeScript, JavaScript, declarations.
pub(crate) fn is_script(path: &str) -> bool {
    is_typescript(path) || [".js", ".jsx", ".mjs", ".cjs"].iter().any(|extension| path.ends_with(extension))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joining_normalises_and_keeps_a_meant_directory() {
        let cases = [
            ("/a/b", "./c", "/a/b/c"),
            ("/a/b", "../c.ts", "/a/c.ts"),
            ("/a/b", "..", "/a/"),
            ("/a/b", ".", "/a/b/"),
            ("/a/b", "./c/", "/a/b/c/"),
            ("/a/b", "../../../../x", "/x"),
            ("/a", "..", "/"),
            ("/a/b", "/c//d/./e", "/c/d/e"),
            ("/", "x", "/x"),
        ];
        for (base, relative, expected) in cases {
            assert_eq!(join(base, relative), expected, "{base} + {relative}");
        }
        assert_eq!(join_plain("/a/b", ".."), "/a");
    }

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

    #[test]
    fn ancestors_end_at_the_root() {
        assert_eq!(ancestors("/a/b").collect::<Vec<_>>(), ["/a/b", "/a", "/"]);
        assert!(contains("/a", "/a/b") && contains("/a", "/a") && !contains("/a", "/ab") && contains("/", "/x"));
    }
}
