//! Resolves root-relative names to real paths. Follows links, but never out of the root. Each directory is resolved once, so that
//! thousands of files cost one lstat each. Does not decide which files go into an archive.

use std::path::Path;

use rustc_hash::FxHashMap;
use stan_repo::{EntryKind, System, real_path};

use super::layout::WorkspaceLayout;

/// The file that a name resolves to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Located {
    /// A regular file in the root, by its real root-relative path.
    File(String),
    /// A directory, a pipe, a socket.
    NotAFile,
    Missing,
    /// A link on the path points out of the root, forms a cycle, or cannot be read.
    Outside,
}

pub(crate) struct Locator<'a> {
    system: &'a dyn System,
    layout: &'a WorkspaceLayout,
    /// Real paths of directories by root-relative name; `None` if it is not a directory inside the root.
    directories: FxHashMap<String, Option<String>>,
}

impl<'a> Locator<'a> {
    pub(crate) fn new(system: &'a dyn System, layout: &'a WorkspaceLayout) -> Self {
        Self { system, layout, directories: FxHashMap::default() }
    }

    /// `path` is root-relative and has no `..`.
    pub(crate) fn locate(&mut self, path: &str) -> Located {
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        if matches!(name, "" | "." | "..") {
            return Located::NotAFile;
        }
        let Some(directory) = self.directory(directory) else { return self.unusual(path) };
        let real = if directory.is_empty() { name.to_owned() } else { [&directory, "/", name].concat() };
        match self.system.lstat(Path::new(&self.layout.absolute(&real))) {
            Ok(stat) => match stat.kind {
                EntryKind::File => Located::File(real),
                EntryKind::Link => self.unusual(&real),
                EntryKind::Dir | EntryKind::Other => Located::NotAFile,
            },
            Err(_) => Located::Missing,
        }
    }

    /// The real root-relative path of a directory inside the root.
    pub(crate) fn directory(&mut self, named: &str) -> Option<String> {
        if named.is_empty() {
            return Some(String::new());
        }
        if let Some(known) = self.directories.get(named) {
            return known.clone();
        }
        let real = real_path(self.system, Path::new(&self.layout.absolute(named))).ok().and_then(|absolute| {
            let inside = if absolute == self.layout.root() { "" } else { self.layout.relative(&absolute)? };
            let stat = self.system.lstat(Path::new(&absolute)).ok()?;
            (stat.kind == EntryKind::Dir).then(|| inside.to_owned())
        });
        self.directories.insert(named.to_owned(), real.clone());
        real
    }

    /// The slow path, for links and missing files.
    fn unusual(&self, path: &str) -> Located {
        let absolute = self.layout.absolute(path);
        let Ok(real) = real_path(self.system, Path::new(&absolute)) else {
            // A dangling link counts as outside; a missing name without a link is just missing.
            return if self.has_link(path) { Located::Outside } else { Located::Missing };
        };
        let Some(inside) = self.layout.relative(&real) else { return Located::Outside };
        match self.system.lstat(Path::new(&real)) {
            Ok(stat) if stat.kind == EntryKind::File => Located::File(inside.to_owned()),
            Ok(_) => Located::NotAFile,
            Err(_) => Located::Missing,
        }
    }

    fn has_link(&self, path: &str) -> bool {
        let ends = path.match_indices('/').map(|(index, _)| index).chain([path.len()]);
        ends.filter_map(|end| path.get(..end)).any(|part| {
            let stat = self.system.lstat(Path::new(&self.layout.absolute(part)));
            stat.is_ok_and(|stat| stat.kind == EntryKind::Link)
        })
    }
}

#[cfg(test)]
mod tests {
    use stan_repo::MemorySystem;

    use super::*;

    #[test]
    fn names_lead_to_files_in_the_root_or_nowhere() {
        let system = MemorySystem::new();
        system.set_file("/r/a/b.ts", "").set_file("/out/x", "").set_link("/r/l", "a").set_link("/r/m", "a/b.ts");
        system.set_link("/r/o", "/out").set_link("/r/p", "/out/x").set_link("/r/q", "q").set_link("/r/dead", "gone");
        let layout = WorkspaceLayout::new("/r", ".stan");
        let mut locator = Locator::new(&system, &layout);
        let file = |path: &str| Located::File(path.to_owned());
        for (path, expected) in [
            ("a/b.ts", file("a/b.ts")),
            ("l/b.ts", file("a/b.ts")),
            ("m", file("a/b.ts")),
            ("a", Located::NotAFile),
            ("a/c", Located::Missing),
            ("x/y", Located::Missing),
            ("a/b.ts/c", Located::Missing),
            ("o/x", Located::Outside),
            ("p", Located::Outside),
            ("q", Located::Outside),
            ("dead", Located::Outside),
        ] {
            assert_eq!(locator.locate(path), expected, "{path}");
        }
    }
}
