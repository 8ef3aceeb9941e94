//! Spellings of paths: absolute, `/`-separated UTF-8 strings, and their relation to the root. Pure, except `real_path`, which
//! reads symlinks.

use std::io;
use std::path::{Component, Path};

use crate::system::{EntryKind, System};

/// The number of symlinks that Linux follows before it fails.
pub(crate) const MAX_LINKS: usize = 40;

/// An absolute, `/`-separated path that other paths are relative to. Joining and stripping paths is implemented here and nowhere
/// else. Borrows its text, so that it can be created where it is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbsPath<'p> {
    /// Without a trailing slash, so that `/` is empty.
    base: &'p str,
}

impl<'p> AbsPath<'p> {
    /// `absolute` may end with slashes.
    pub fn new(absolute: &'p str) -> Self {
        Self { base: absolute.trim_end_matches('/') }
    }

    pub fn as_str(self) -> &'p str {
        if self.base.is_empty() { "/" } else { self.base }
    }

    /// The absolute path of `below`; this path itself if `below` is empty.
    pub fn join(self, below: &str) -> String {
        if below.is_empty() { self.as_str().to_owned() } else { [self.base, "/", below].concat() }
    }

    /// The path with a trailing slash, to which relative paths can be appended.
    pub fn prefix(self) -> String {
        [self.base, "/"].concat()
    }

    /// The rest of a path below this one; `None` for any other path, including the path itself.
    pub fn below(self, absolute: &str) -> Option<&str> {
        absolute.strip_prefix(self.base)?.strip_prefix('/').filter(|below| !below.is_empty())
    }

    /// Whether a path is this one or below it.
    pub fn holds(self, absolute: &str) -> bool {
        absolute == self.as_str() || self.below(absolute).is_some()
    }
}

/// A root directory: the prefix of absolute paths that root-relative ones lack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Root {
    /// Without a trailing slash, so that the root `/` is empty.
    base: String,
}

impl Root {
    pub(crate) fn new(absolute: &str) -> Self {
        Self { base: absolute.trim_end_matches('/').to_owned() }
    }

    /// The root's own path.
    pub(crate) fn path(&self) -> &str {
        AbsPath { base: &self.base }.as_str()
    }

    /// `relative` may be empty, for the root itself.
    pub(crate) fn absolute(&self, relative: &str) -> String {
        AbsPath { base: &self.base }.join(relative)
    }

    /// `None` outside the root; empty for the root itself.
    pub(crate) fn relative<'p>(&self, absolute: &'p str) -> Option<&'p str> {
        if absolute == self.path() {
            return Some("");
        }
        AbsPath { base: &self.base }.below(absolute)
    }

    /// Whether `ancestor` is the root or one of its parents.
    pub(crate) fn is_at_or_below(&self, ancestor: &str) -> bool {
        Self::new(ancestor).relative(self.path()).is_some()
    }
}

/// An absolute path relative to a directory: `x/y.ts` below it, `../lib/x.ts` elsewhere, `.` for the directory itself.
pub fn relative_path(directory: &str, path: &str) -> String {
    let base = Root::new(directory);
    if let Some(below) = base.relative(path) {
        return if below.is_empty() { ".".to_owned() } else { below.to_owned() };
    }
    let mut steps = 0;
    let mut above = base.path();
    while let Some((parent, _)) = split_last(above) {
        above = parent;
        steps += 1;
        if let Some(below) = Root::new(above).relative(path) {
            return ["../".repeat(steps).as_str(), below].concat().trim_end_matches('/').to_owned();
        }
    }
    path.to_owned()
}

/// Joins a path to an absolute directory, and resolves `.` and `..` lexically.
pub fn normal_path(directory: &str, path: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    let start = if path.starts_with('/') { "" } else { directory };
    for name in start.split('/').chain(path.split('/')) {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    ["/", &names.join("/")].concat()
}

/// The parent directory of an absolute path and its last name; `None` for `/`.
pub(crate) fn split_last(path: &str) -> Option<(&str, &str)> {
    let (parent, name) = path.rsplit_once('/')?;
    if name.is_empty() {
        return None;
    }
    Some((if parent.is_empty() { "/" } else { parent }, name))
}

pub(crate) fn join(directory: &str, name: &str) -> String {
    if directory == "/" { ["/", name].concat() } else { [directory, "/", name].concat() }
}

/// `directory` and its parents, up to `/`.
pub(crate) fn ancestors(directory: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(directory), |path| split_last(path).map(|(parent, _)| parent))
}

/// Whether a symlink in a path below `root` (a real path) points outside. Nothing outside is stat'ed: a symlink is judged by the
/// text of its target. False for a path that is not below `root` or does not exist.
pub fn escapes_root(system: &dyn System, root: &str, path: &str) -> bool {
    let root = root.trim_end_matches('/');
    let below = |path: &str| path.strip_prefix(root).filter(|rest| rest.starts_with('/')).map(str::to_owned);
    let Some(rest) = below(path) else { return false };
    let names =
        |path: &str| path.split('/').rev().filter(|name| !matches!(*name, "" | ".")).map(str::to_owned).collect();
    let mut pending: Vec<String> = names(&rest);
    let mut real = root.to_owned();
    let mut links = 0;
    while let Some(name) = pending.pop() {
        if name == ".." {
            match real.rsplit_once('/').filter(|_| real != root) {
                Some((parent, _)) => real = parent.to_owned(),
                None => return true,
            }
            continue;
        }
        let next = format!("{real}/{name}");
        match system.lstat(Path::new(&next)) {
            Err(_) => return false,
            Ok(stat) if stat.kind == EntryKind::Link => {
                links += 1;
                let target = system.read_link(Path::new(&next)).ok();
                let Some(target) = target.as_deref().and_then(Path::to_str).filter(|_| links <= MAX_LINKS) else {
                    return true;
                };
                if target.starts_with('/') {
                    let Some(rest) = below(&normal_path("/", target)) else { return true };
                    real = root.to_owned();
                    pending.extend(names(&rest));
                } else {
                    pending.extend(names(target));
                }
            }
            Ok(_) => real = next,
        }
    }
    false
}

/// The path with all symlinks resolved. The result is absolute if `path` is.
///
/// Fails if a component is missing or is not UTF-8, or if symlinks form a cycle.
pub fn real_path(system: &dyn System, path: &Path) -> io::Result<String> {
    let mut pending = Vec::new();
    let mut real = String::from("/");
    push_components(&mut pending, &mut real, path)?;
    let mut links = 0;
    while let Some(name) = pending.pop() {
        if name == ".." {
            real = split_last(&real).map_or("/", |(parent, _)| parent).to_owned();
            continue;
        }
        let next = join(&real, &name);
        let kind = system.lstat(Path::new(&next))?.kind;
        if kind == EntryKind::Link {
            links += 1;
            if links > MAX_LINKS {
                return Err(io::Error::other("too many links"));
            }
            push_components(&mut pending, &mut real, &system.read_link(Path::new(&next))?)?;
        } else if kind == EntryKind::Dir || pending.is_empty() {
            real = next;
        } else {
            return Err(io::ErrorKind::NotADirectory.into());
        }
    }
    Ok(real)
}

/// Pushes the components of `path` onto a stack, the first one on top. An absolute path restarts at `/`.
fn push_components(pending: &mut Vec<String>, real: &mut String, path: &Path) -> io::Result<()> {
    for component in path.components().rev() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => pending.push("..".to_owned()),
            Component::RootDir | Component::Prefix(_) => {
                real.clear();
                real.push('/');
            }
            Component::Normal(name) => {
                let name = name.to_str().ok_or(io::ErrorKind::InvalidData)?;
                pending.push(name.to_owned());
            }
        }
    }
    Ok(())
}

/// Valid UTF-8 as is, other bytes as `\xNN`: for messages about names that are not UTF-8.
pub(crate) fn escape_bytes(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| out.push_str(&format!("\\x{byte:02x}")));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_paths_are_joined_and_cut() {
        for (path, text, prefix, joined) in
            [("/r/", "/r", "/r/", "/r/a/b"), ("/r", "/r", "/r/", "/r/a/b"), ("/", "/", "/", "/a/b")]
        {
            let path = AbsPath::new(path);
            assert_eq!(
                (path.as_str(), &*path.prefix(), &*path.join("a/b"), &*path.join("")),
                (text, prefix, joined, text)
            );
            assert_eq!((path.below(joined), path.holds(joined), path.holds(text)), (Some("a/b"), true, true));
        }
        let path = AbsPath::new("/r");
        assert_eq!((path.below("/rs/a"), path.below("/r"), path.holds("/rs")), (None, None, false));
        assert_eq!(AbsPath::new("/").below("/"), None);
    }

    #[test]
    fn relative_and_absolute_paths_are_inverse() {
        for (root, relative, absolute) in [("/r", "a/b", "/r/a/b"), ("/", "a", "/a"), ("/r/", "", "/r"), ("/", "", "/")]
        {
            let root = Root::new(root);
            assert_eq!(root.absolute(relative), absolute);
            assert_eq!(root.relative(absolute), Some(relative));
        }
        assert_eq!(Root::new("/r").relative("/root"), None);
        assert_eq!(Root::new("/r/s").relative("/r"), None);
        assert!(Root::new("/r/s").is_at_or_below("/r") && Root::new("/r").is_at_or_below("/"));
        assert!(Root::new("/r").is_at_or_below("/r") && !Root::new("/rs").is_at_or_below("/r"));
    }

    #[test]
    fn a_path_is_split_and_its_ancestors_end_at_the_root() {
        assert_eq!(split_last("/a/b"), Some(("/a", "b")));
        assert_eq!(split_last("/a"), Some(("/", "a")));
        assert_eq!(split_last("/"), None);
        assert_eq!(ancestors("/a/b").collect::<Vec<_>>(), ["/a/b", "/a", "/"]);
        assert_eq!(join("/", "a"), "/a");
    }

    #[test]
    fn paths_as_seen_from_a_directory() {
        for (directory, path, expected) in [
            ("/a/r", "/a/r/x.ts", "x.ts"),
            ("/a/r", "/a/r", "."),
            ("/a/r", "/a/lib/x.ts", "../lib/x.ts"),
            ("/a/r", "/a/rest/x.ts", "../rest/x.ts"),
            ("/a/r", "/o/x.ts", "../../o/x.ts"),
            ("/a/r", "/a", ".."),
            ("/", "/x", "x"),
        ] {
            assert_eq!(relative_path(directory, path), expected, "{path} from {directory}");
            if expected != "." {
                assert_eq!(normal_path(directory, expected), path);
            }
        }
        assert_eq!(normal_path("/a/b", "./../c//d/"), "/a/c/d");
        assert_eq!(normal_path("/a/b", "/../x"), "/x");
    }

    #[test]
    fn escapes_only_what_is_not_utf8() {
        assert_eq!(escape_bytes(b"\xc3\xa4\xff\n"), "ä\\xff\n");
    }
}
