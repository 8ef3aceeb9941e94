//! Packages linked into a `node_modules` from outside the reach (`npm link`, pnpm). Followed if the manifest at the symlink's
//! target has exactly the name of the symlink.
//!
//! Files of such a package are accessed below the symlink. Its own folder stays refused, so that an answer never depends on
//! whether the symlink was followed before.

use std::borrow::Cow;
use std::sync::{Arc, PoisonError};

use stan_model::PACKAGE_FOLDER;
use stan_model::json::JsonTree;

use super::{Directory, Lookup, Reached, Unfound, World};
use crate::hash::sha256;
use crate::observations::{DigestScope, ObservedFile, read_real_limited};
use crate::paths::{MAX_LINKS, ancestors, join, split_last};
use crate::system::EntryKind;

/// Real manifests are far smaller; a larger one is not read.
const MAX_MANIFEST_BYTES: u64 = 4 << 20;

/// The key of a package's directory in the map of all packages' directories.
pub(super) fn key(package: &str, path: &str) -> String {
    [package, "\0", path].concat()
}

impl<'a> World<'a> {
    /// The package that a symlink points to, if the symlink itself is a package entry of a `node_modules`.
    pub(super) fn linked_package(&self, directory: &Directory<'a>, name: &str) -> Lookup<Reached> {
        let package_name = package_name(&directory.real, name).ok_or(Unfound::Refused)?;
        if !self.reach.follows_packages() {
            return Err(Unfound::Refused);
        }
        let link = join(&directory.real, name);
        let (real, kind) = self.walk_freely(&link).ok_or(Unfound::Absent)?;
        if self.reach.covers(&real) {
            return Ok(Reached { real, kind, package: None });
        }
        // A package that contains the root would give access to everything around it.
        if kind != EntryKind::Dir || self.root().is_at_or_below(&real) {
            return Err(Unfound::Refused);
        }
        if self.manifest_name(&real).as_deref() != Some(&*package_name) {
            return Err(Unfound::Refused);
        }
        self.aliases.get_or_insert(&real, || join(&self.alias_of(&directory.real), name).into());
        Ok(Reached { package: Some(real.as_str().into()), real, kind })
    }

    /// A directory of a linked package, by its real path, which contains no symlink.
    pub(super) fn packaged_directory(&self, package: &Arc<str>, path: &str) -> Lookup<Arc<Directory<'a>>> {
        let new = || Ok(Arc::new(self.new_directory(path, Some(Arc::clone(package)))));
        self.packaged.get_or_insert(&key(package, path), new)
    }

    /// See [`crate::Files::alias`].
    pub(super) fn alias_of<'p>(&self, path: &'p str) -> Cow<'p, str> {
        if self.reach.covers(path) {
            return Cow::Borrowed(path);
        }
        let linked = |folder: &str| Some((self.aliases.get(folder)?, path.get(folder.len()..)?));
        match ancestors(path).find_map(linked) {
            Some((alias, below)) => Cow::Owned([&alias, below].concat()),
            None => Cow::Borrowed(path),
        }
    }

    /// Resolves a symlink completely, wherever it points. Stats only the components of its path.
    fn walk_freely(&self, link: &str) -> Option<(String, EntryKind)> {
        let mut pending: Vec<String> = Vec::new();
        let (mut real, mut kind) = (String::from("/"), EntryKind::Dir);
        let push = |pending: &mut Vec<String>, target: &str| {
            let names = target.split('/').filter(|name| !matches!(*name, "" | "."));
            pending.extend(names.rev().map(str::to_owned));
        };
        push(&mut pending, link);
        let mut links = 0;
        while let Some(name) = pending.pop() {
            if kind != EntryKind::Dir {
                return None;
            }
            if name == ".." {
                real = split_last(&real).map_or("/", |(parent, _)| parent).to_owned();
                continue;
            }
            let next = join(&real, &name);
            if self.reach.is_known_folder(&next) {
                real = next;
                continue;
            }
            match self.probe(&next)? {
                EntryKind::Link => {
                    links += 1;
                    let target = self.read_link(&next).filter(|_| links <= MAX_LINKS)?;
                    if target.starts_with('/') {
                        "/".clone_into(&mut real);
                    }
                    push(&mut pending, &target);
                }
                other => (real, kind) = (next, other),
            }
        }
        Some((real, kind))
    }

    /// The name in the manifest of a folder, if the manifest is a regular file.
    fn manifest_name(&self, folder: &str) -> Option<Arc<str>> {
        self.package_names.get_or_insert(folder, || {
            let path = join(folder, "package.json");
            if self.probe(&path)? != EntryKind::File {
                return None;
            }
            let (stat, bytes) = read_real_limited(self.system, &path, MAX_MANIFEST_BYTES);
            let digest = bytes.as_ref().ok().map(|bytes| sha256(bytes));
            let observed = ObservedFile { path, stat, digest, scope: DigestScope::Bytes };
            self.reads.lock().unwrap_or_else(PoisonError::into_inner).push(observed);
            let bytes = bytes.ok()?;
            let tree = JsonTree::parse(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes)).ok()?;
            tree.string(tree.field(tree.root(), "name")?).map(|name| Arc::from(&*name))
        })
    }
}

/// The package name of an entry: `name` in a `node_modules`, `@scope/name` in a scope folder of one.
fn package_name(directory: &str, name: &str) -> Option<String> {
    let (parent, last) = split_last(directory)?;
    if last == PACKAGE_FOLDER {
        return (!name.starts_with('@')).then(|| name.to_owned());
    }
    let is_scope = last.starts_with('@') && split_last(parent).is_some_and(|(_, above)| above == PACKAGE_FOLDER);
    is_scope.then(|| [last, "/", name].concat())
}

#[cfg(test)]
mod tests {
    use super::package_name;

    #[test]
    fn package_names_follow_from_the_path() {
        for (directory, name, expected) in [
            ("/r/node_modules", "a", Some("a")),
            ("/r/node_modules", "@s", None),
            ("/r/node_modules/@s", "a", Some("@s/a")),
            ("/r/node_modules/a", "b", None),
            ("/r/src", "a", None),
            ("/r/@s", "a", None),
            ("/", "a", None),
        ] {
            assert_eq!(package_name(directory, name).as_deref(), expected, "{directory} {name}");
        }
    }
}
