//! Lexical operations on absolute, `/`-separated paths, as in TypeScript. No file access.

/// `path` as an absolute path without `.`, `..`, doubled or trailing slashes; relative paths start at `base`. Backslashes in
/// `path` are separators too, because configuration files may be written on Windows.
pub(super) fn normalize(path: &str, base: &str) -> String {
    let path = path.replace('\\', "/");
    let mut out = String::with_capacity(base.len() + path.len() + 1);
    if !is_rooted(&path) {
        push_components(&mut out, base);
    }
    push_components(&mut out, &path);
    if out.is_empty() {
        out.push('/');
    }
    out
}

fn push_components(out: &mut String, path: &str) {
    for component in path.split('/') {
        match component {
            "" | "." => {}
            ".." => {
                let keep = out.rfind('/').unwrap_or(0);
                out.truncate(keep);
            }
            _ => {
                if !(out.is_empty() && is_drive(component)) {
                    out.push('/');
                }
                out.push_str(component);
            }
        }
    }
}

/// Whether a path is absolute: `/x`, `C:/x`.
pub(super) fn is_rooted(path: &str) -> bool {
    path.starts_with(['/', '\\'])
        || path.get(..2).is_some_and(is_drive) && matches!(path.as_bytes().get(2), Some(b'/' | b'\\'))
}

fn is_drive(component: &str) -> bool {
    matches!(component.as_bytes(), [letter, b':'] if letter.is_ascii_alphabetic())
}

/// The parent directory of a path; the root directory is its own parent.
pub(super) fn directory(path: &str) -> &str {
    match path.rfind('/') {
        None | Some(0) => "/",
        Some(end) => path.get(..end).unwrap_or(path),
    }
}

pub(super) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

pub(super) fn join(directory: &str, name: &str) -> String {
    let separator = if directory.ends_with('/') { "" } else { "/" };
    [directory, separator, name].concat()
}

/// The directory and its parents, nearest first.
pub(super) fn ancestors(directory: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(directory), |path| {
        let up = self::directory(path);
        (up != *path).then_some(up)
    })
}

/// Whether `path` is `directory` or lies below it.
pub(super) fn contains(directory: &str, path: &str) -> bool {
    path.strip_prefix(directory)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || directory.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_normalised_against_a_base() {
        let cases = [
            ("./src/", "/r/p", "/r/p/src"),
            ("..", "/r/p", "/r"),
            ("../../..", "/r/p", "/"),
            ("", "/r/p", "/r/p"),
            (".", "/r", "/r"),
            ("a//b/./c/../d", "/r", "/r/a/b/d"),
            ("/x/../y", "/r", "/y"),
            ("a\\b", "/r", "/r/a/b"),
            ("C:\\x", "/r", "C:/x"),
            ("x", "C:/r", "C:/r/x"),
            ("x", "/", "/x"),
        ];
        for (path, base, expected) in cases {
            assert_eq!(normalize(path, base), expected, "{path} at {base}");
        }
    }

    #[test]
    fn ancestors_and_base_names_are_taken_from_a_path() {
        assert_eq!(ancestors("/a/b").collect::<Vec<_>>(), ["/a/b", "/a", "/"]);
        assert!(contains("/a", "/a/b") && contains("/a", "/a") && contains("/", "/a") && !contains("/a", "/ab"));
        assert_eq!((directory("/a"), base_name("/a/b.ts"), join("/", "a")), ("/", "b.ts", "/a".to_owned()));
    }
}
