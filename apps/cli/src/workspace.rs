//! Where the program was started: the repository's root and the paths that the user typed, made absolute.
#![expect(clippy::disallowed_methods, reason = "the working directory is the program's business")]

use std::path::{Component, Path, PathBuf};

use crate::args::Cli;
use crate::exit::Failure;

/// The repository that a command works on.
pub(crate) struct Workspace {
    /// Absolute real path of the root.
    pub(crate) root: String,
    /// Workspace folder of stan, relative to the root.
    pub(crate) stan_path: String,
    /// Absolute real path of the directory that typed paths are relative to.
    directory: PathBuf,
}

impl Workspace {
    pub(crate) fn find(cli: &Cli) -> Result<Self, Failure> {
        let typed = cli.directory.as_deref().unwrap_or(".");
        let directory = std::fs::canonicalize(typed).map_err(|error| {
            Failure::input(format!("cannot enter `{typed}`: {error}")).hint("name an existing folder after -C")
        })?;
        if !directory.is_dir() {
            return Err(Failure::input(format!("`{typed}` is not a folder")).hint("name a folder after -C"));
        }
        let root = directory.to_str().map(str::to_owned).ok_or_else(|| {
            Failure::input("the path of the repository is not UTF-8").hint("move it to a folder with a UTF-8 name")
        })?;
        let stan_path = cli.stan_path.as_deref().unwrap_or(".stan").trim_end_matches('/').to_owned();
        check_stan_path(&stan_path)?;
        Ok(Self { root, stan_path, directory })
    }

    /// The folder of the cache, when none is named.
    pub(crate) fn cache_directory(&self) -> String {
        format!("{}/{}/cache", self.root.trim_end_matches('/'), self.stan_path)
    }

    /// A typed path as an absolute one, `.` and `..` resolved by name.
    pub(crate) fn absolute(&self, typed: &str) -> Option<String> {
        let mut path = PathBuf::new();
        for component in self.directory.join(typed).components() {
            match component {
                Component::ParentDir => {
                    path.pop();
                }
                Component::CurDir => {}
                other => path.push(other),
            }
        }
        path.to_str().map(str::to_owned)
    }

    /// The node id of a typed file: its path from the root, links resolved when it exists.
    pub(crate) fn node_id(&self, typed: &str) -> Option<String> {
        let absolute = self.absolute(typed)?;
        let real = std::fs::canonicalize(&absolute).ok().and_then(|real| real.to_str().map(str::to_owned));
        let path = real.unwrap_or(absolute);
        match path.strip_prefix(self.root.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/')) {
            Some(inside) => Some(inside.to_owned()),
            None => Some(path),
        }
    }
}

/// The workspace folder must be a folder below the root.
fn check_stan_path(path: &str) -> Result<(), Failure> {
    let components: Vec<Component<'_>> = Path::new(path).components().collect();
    let is_plain =
        !components.is_empty() && components.iter().all(|component| matches!(component, Component::Normal(_)));
    let is_git = components.first().is_some_and(|first| first.as_os_str() == ".git");
    if is_plain && !is_git {
        return Ok(());
    }
    Err(Failure::input(format!("the workspace folder `{path}` is not a folder below the root"))
        .hint("use a relative path such as .stan"))
}
