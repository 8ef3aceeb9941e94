//! Lexical operations on absolute, `/`-separated paths, without file access.

/// Joins and normalises: resolves `.` and `..` and collapses doubled slashes. `base` must be normalised. A trailing slash is
/// kept: in TypeScript, `./dir/` means only the directory.
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
            // A trailing slash, `.` or `..` denotes a directory.
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

/// The parent directory; `/` for an entry of the root directory.
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
    fn ancestors_end_at_the_root() {
        assert_eq!(ancestors("/a/b").collect::<Vec<_>>(), ["/a/b", "/a", "/"]);
        assert!(contains("/a", "/a/b") && contains("/a", "/a") && !contains("/a", "/ab") && contains("/", "/x"));
    }
}
