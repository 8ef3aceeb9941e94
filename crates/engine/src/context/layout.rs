//! The paths of a workspace: the root, stan's folder, and the names below it. No I/O.

use stan_model::{Ecosystem, is_git_folder};
use stan_repo::AbsPath;

/// A repository and stan's folder in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceLayout {
    /// Absolute real path of the repository.
    root: String,
    /// Root-relative, without leading or trailing slashes.
    stan_path: String,
}

/// Files that runs write for the assistant and for later runs. The names are part of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Artefact {
    Meta,
    Overview,
    State,
    ExternalsLock,
    Archive,
    DiffArchive,
    DiffList,
    PlainSnapshot,
    ContextSnapshot,
    NoChanges,
    /// The page of `stan view`.
    View,
    /// The labels that the last run staged.
    ImportLabels,
    Lock,
}

impl Artefact {
    fn below_stan_path(self) -> &'static str {
        match self {
            Self::Meta => "context/dependency.meta.json",
            Self::Overview => "context/dependency.overview.md",
            Self::State => "context/dependency.state.json",
            Self::ExternalsLock => "context/dependency.map.json",
            Self::Archive => "output/archive.tar",
            Self::DiffArchive => "output/archive.diff.tar",
            Self::DiffList => "output/archive.diff.json",
            Self::PlainSnapshot => "diff/.archive.snapshot.json",
            Self::ContextSnapshot => "diff/.archive.snapshot.context.json",
            Self::NoChanges => "diff/.stan_no_changes",
            Self::View => "output/view.html",
            Self::ImportLabels => "diff/.imports.json",
            Self::Lock => ".lock",
        }
    }
}

impl WorkspaceLayout {
    /// `stan_path` must be validated: a folder below the root.
    pub fn new(root: &str, stan_path: &str) -> Self {
        let stan_path = stan_path.trim_start_matches("./").trim_matches('/');
        Self { root: AbsPath::new(root).as_str().to_owned(), stan_path: stan_path.to_owned() }
    }

    /// Absolute path of the root.
    pub fn root(&self) -> &str {
        &self.root
    }

    pub fn stan_path(&self) -> &str {
        &self.stan_path
    }

    pub fn absolute(&self, relative: &str) -> String {
        AbsPath::new(&self.root).join(relative)
    }

    /// The root-relative path of a file below the root.
    pub fn relative<'p>(&self, absolute: &'p str) -> Option<&'p str> {
        AbsPath::new(&self.root).below(absolute).filter(|relative| !relative.is_empty())
    }

    /// The root-relative path of a file in stan's folder.
    pub fn own(&self, below: &str) -> String {
        [&self.stan_path, "/", below].concat()
    }

    /// Root-relative path of an artefact.
    pub fn artefact(&self, artefact: Artefact) -> String {
        self.own(artefact.below_stan_path())
    }

    /// The part of a root-relative path after `<stanPath>/`.
    pub fn below_stan_path<'p>(&self, path: &'p str) -> Option<&'p str> {
        path.strip_prefix(&self.stan_path)?.strip_prefix('/')
    }

    /// Whether the path is that of a staged external, whose bytes are never trusted without verification.
    pub fn is_staged(&self, path: &str) -> bool {
        self.below_stan_path(path).and_then(Ecosystem::of_staged).is_some()
    }

    /// Whether the path is that of a script's stored output.
    pub fn is_script_output(&self, path: &str) -> bool {
        let name = self.below_stan_path(path).and_then(|below| below.strip_prefix("output/"));
        name.is_some_and(|name| !name.contains('/') && name.ends_with(".txt"))
    }

    /// Why this path must never be archived, if so. Ignores case, because on some file systems `.GIT` is `.git`.
    pub fn denial(&self, path: &str) -> Option<&'static str> {
        if path.split('/').any(is_git_folder) {
            return Some("git's own files are never archived");
        }
        let folded = path.to_ascii_lowercase();
        // At any depth: a repository may contain workspaces of its packages, and one from before `stanPath` was changed.
        match folded.rsplit('/').next() {
            Some("dependency.map.json") => {
                return Some("the private map names places on this machine and is never archived");
            }
            Some(name) if name.starts_with(".stan-tmp-") => {
                return Some("stan's own working files are never archived");
            }
            _ => {}
        }
        let below =
            folded.strip_prefix(&self.stan_path.to_ascii_lowercase()).and_then(|rest| rest.strip_prefix('/'))?;
        let first = below.split('/').next().unwrap_or(below);
        match first {
            "diff" => Some("snapshots are never archived"),
            "patch" => Some("patches are never archived"),
            "cache" | ".lock" | ".lock.held" | ".lock.break" => Some("stan's own working files are never archived"),
            "output" if below.starts_with("output/archive.") => Some("archives are never archived"),
            "output" if below == "output/view.html" => Some("the picture of `stan view` is never archived"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn artefacts_have_their_paths_below_the_stan_path() {
        let layout = WorkspaceLayout::new("/r/", "./.stan/");
        assert_eq!((layout.root(), layout.stan_path()), ("/r", ".stan"));
        assert_eq!(layout.artefact(Artefact::Meta), ".stan/context/dependency.meta.json");
        assert_eq!(layout.absolute("a/b"), "/r/a/b");
        assert_eq!((layout.relative("/r/a"), layout.relative("/root"), layout.relative("/r")), (Some("a"), None, None));
        assert_eq!(WorkspaceLayout::new("/", ".stan").absolute("a"), "/a");
        assert!(layout.is_staged(".stan/context/npm/a/1.0.0/x.js") && !layout.is_staged(".stan/context/x"));
    }

    #[test]
    fn git_and_private_files_are_denied_in_any_spelling() {
        let layout = WorkspaceLayout::new("/r", ".stan");
        for denied in [
            ".git/config",
            "sub/.git/config",
            ".GIT/config",
            ".git./config",
            "git~1/config",
            ".stan/diff/.archive.snapshot.json",
            ".stan/patch/a.patch",
            ".stan/output/archive.tar",
            ".stan/output/archive.diff.json",
            ".stan/context/dependency.map.json",
            ".STAN/Repository/dependency.MAP.json",
            "packages/a/.stan/context/dependency.map.json",
            ".stan/cache/graph.data",
            ".stan/.lock",
            ".stan/.lock.held",
            ".stan/output/.stan-tmp-1-0-archive.tar",
        ] {
            assert!(layout.denial(denied).is_some(), "{denied}");
        }
        for allowed in [".gitignore", ".stan/output/test.txt", ".stan/system/a.md", "diff/a", ".stanley/diff/a"] {
            assert_eq!(layout.denial(allowed), None, "{allowed}");
        }
    }
}
