//! Which files outside the root a run may read by default, and which the command line allows (spec 10 §4).
//!
//! Decides by paths alone. For packages that are linked into a `node_modules`, the symlink's target matters too: see
//! [`crate::World`].

use std::borrow::Cow;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::paths::{Root, ancestors, join};
use crate::system::{EntryKind, Owner, System};

const MODULES: &str = "/node_modules";

/// A folder that the command line allows (`--allow-outside`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AllowedFolder {
    /// The absolute path as typed, with `.` and `..` resolved lexically.
    pub spelled: String,
    /// Absolute real path.
    pub real: String,
}

/// The paths that may be read. Paths are absolute and normalised.
#[derive(Clone, Debug)]
pub struct Reach {
    root: Root,
    /// Whether anything outside the root may be read without consent.
    needs_no_consent: bool,
    work_tree: Option<Root>,
    allowed: Vec<Root>,
    /// Other spellings of allowed folders, with the real paths.
    spellings: Vec<(Root, Root)>,
}

impl Reach {
    /// The root (a real path) and the packages installed above it.
    pub fn new(root: &str) -> Self {
        Self {
            root: Root::new(root),
            needs_no_consent: true,
            work_tree: None,
            allowed: Vec::new(),
            spellings: Vec::new(),
        }
    }

    /// The readable paths around `root`, a real path. `outside_root` is the configuration's `context.outsideRoot`; if it is
    /// false, only `allowed` counts.
    pub fn find(system: &dyn System, root: &str, outside_root: bool, allowed: &[AllowedFolder]) -> Self {
        let work_tree = if outside_root { work_tree_above(system, root) } else { None };
        Self {
            needs_no_consent: outside_root,
            work_tree: work_tree.as_deref().map(Root::new),
            ..Self::new(root).allowing(allowed)
        }
    }

    /// Only the root and the folders that the command line allows.
    pub fn by_consent(root: &str, allowed: &[AllowedFolder]) -> Self {
        Self { needs_no_consent: false, ..Self::new(root).allowing(allowed) }
    }

    fn allowing(mut self, allowed: &[AllowedFolder]) -> Self {
        self.allowed = allowed.iter().map(|folder| Root::new(&folder.real)).collect();
        let others = allowed.iter().filter(|folder| folder.spelled != folder.real);
        self.spellings = others.map(|folder| (Root::new(&folder.spelled), Root::new(&folder.real))).collect();
        self
    }

    pub(crate) fn root(&self) -> &Root {
        &self.root
    }

    /// The folder above the root that is the top of the git work tree, if its files may be read.
    pub fn work_tree(&self) -> Option<&str> {
        self.work_tree.as_ref().map(Root::path)
    }

    /// Whether a real path may be read.
    pub fn covers(&self, path: &str) -> bool {
        self.root.relative(path).is_some()
            || (self.needs_no_consent && self.is_installed_above(path))
            || self.work_tree.as_ref().is_some_and(|top| top.relative(path).is_some_and(|below| !has_git(below)))
            || self.allowed.iter().any(|folder| folder.relative(path).is_some())
    }

    /// Whether packages linked into a `node_modules` may be read outside the reach.
    pub(crate) fn follows_packages(&self) -> bool {
        self.needs_no_consent
    }

    /// Whether the path is the root, an allowed folder, or a parent of one: these are known to be folders.
    pub(crate) fn is_known_folder(&self, path: &str) -> bool {
        self.root.is_at_or_below(path) || self.allowed.iter().any(|folder| folder.is_at_or_below(path))
    }

    /// The path with the user's spelling of an allowed folder replaced by its real path.
    pub(crate) fn real_spelling<'p>(&self, path: &'p str) -> Cow<'p, str> {
        for (spelled, real) in &self.spellings {
            if let Some(below) = spelled.relative(path) {
                return Cow::Owned(real.absolute(below));
            }
        }
        Cow::Borrowed(path)
    }

    /// Whether the path is in a `node_modules` of the root or of one of its parents.
    fn is_installed_above(&self, path: &str) -> bool {
        let is_segment = |at: &usize| matches!(path.as_bytes().get(at + MODULES.len()), None | Some(b'/'));
        let first = path.match_indices(MODULES).map(|(at, _)| at).find(is_segment);
        first.and_then(|at| path.get(..at)).is_some_and(|folder| self.root.is_at_or_below(folder))
    }
}

/// Git's own folder is not part of the work tree.
fn has_git(below: &str) -> bool {
    below.split('/').any(|part| part.eq_ignore_ascii_case(".git"))
}

/// The nearest parent of `root` with `.git`, if that is a work tree of this user. `None` if the root has a `.git` itself.
fn work_tree_above(system: &dyn System, root: &str) -> Option<String> {
    for folder in ancestors(root) {
        let git = join(folder, ".git");
        let kind = match system.lstat(Path::new(&git)) {
            Ok(stat) => stat.kind,
            Err(_) => continue,
        };
        let is_git = match kind {
            EntryKind::Dir => system.lstat(Path::new(&join(&git, "HEAD"))).is_ok(),
            EntryKind::File | EntryKind::Link => true,
            EntryKind::Other => false,
        };
        let is_ours = |path: &str| !matches!(system.owner(Path::new(path)), Ok(Owner::Other));
        return (folder != root && is_git && is_ours(&git) && is_ours(folder)).then(|| folder.to_owned());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemorySystem;

    fn reach(root: &str) -> Reach {
        let system = MemorySystem::from_fixture(
            "
            //- /mono/.git/HEAD
            //- /mono/app/a.ts
            //- /mono/lib/x.ts
            //- /mono/nested/.git/HEAD
            //- /planted/.git/HEAD
            //- /planted/r/a.ts
            //- /half/.git/config
            //- /half/r/a.ts
            //- /alone/r/a.ts
            ",
        );
        system.set_owner("/planted/.git", Owner::Other);
        let allowed = [AllowedFolder { spelled: "/link".to_owned(), real: "/opt/shared".to_owned() }];
        Reach::find(&system, root, true, &allowed)
    }

    #[test]
    fn paths_are_covered_by_kind() {
        let reach = reach("/mono/app");
        for (path, expected) in [
            ("/mono/app", true),
            ("/mono/app/x/y.ts", true),
            ("/mono/lib/x.ts", true),
            ("/mono/.git/config", false),
            ("/mono/lib/.GIT/x.js", false),
            ("/mono/node_modules/p/index.js", true),
            ("/node_modules/p/index.js", true),
            ("/node_modules", true),
            ("/other/node_modules/p/index.js", false),
            ("/node_modules.json", false),
            ("/etc/passwd", false),
            ("/monolith/x.ts", false),
            ("/opt/shared", true),
            ("/opt/shared/x.ts", true),
            ("/opt/sharedx", false),
            ("/opt", false),
        ] {
            assert_eq!(reach.covers(path), expected, "{path}");
        }
        assert!(reach.is_known_folder("/opt") && reach.is_known_folder("/mono") && !reach.is_known_folder("/etc"));
        assert_eq!(reach.real_spelling("/link/x.ts"), "/opt/shared/x.ts");
        assert_eq!(reach.real_spelling("/linked"), "/linked");
    }

    #[test]
    fn the_work_tree_is_the_nearest_one_of_this_user() {
        for (root, expected) in [
            ("/mono/app", Some("/mono")),
            ("/mono/nested", None),
            ("/mono", None),
            ("/planted/r", None),
            ("/half/r", None),
            ("/alone/r", None),
        ] {
            assert_eq!(reach(root).work_tree(), expected, "{root}");
        }
    }

    #[test]
    fn without_outside_root_only_consent_counts() {
        let allowed = [AllowedFolder { spelled: "/o".to_owned(), real: "/o".to_owned() }];
        let reach = Reach::by_consent("/a/r", &allowed);
        assert!(reach.covers("/o/x.ts") && reach.covers("/a/r/x.ts"));
        assert!(!reach.covers("/a/node_modules/p.js") && !reach.covers("/node_modules/p.js"));
    }
}
