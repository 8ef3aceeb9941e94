//! Where the program was started: the repository's root and the paths that the user typed, made absolute.
#![expect(clippy::disallowed_methods, reason = "the working directory is the program's business")]

use std::path::{Component, PathBuf};
use std::sync::LazyLock;

use stan_engine::OsSystem;
use stan_engine::config::{self, Config};
use stan_engine::context::Repository;
use stan_engine::graph::{GraphRequest, KeptGraph};
use stan_engine::relative_path;
use stan_engine::reply::recover;

use crate::args::answers::GraphWorkArgs;
use crate::args::{Cli, WorkArgs};
use crate::environment;
use crate::exit::Failure;
use crate::terminal::is_captured;

/// What `stan mcp` keeps between calls: one process serves one repository.
static KEPT: LazyLock<KeptGraph> = LazyLock::new(KeptGraph::new);

/// The repository that a command works on.
pub(crate) struct Workspace {
    /// Absolute real path of the root.
    pub(crate) root: String,
    pub(crate) config: Config,
    /// What the user may want to know about how the root was found.
    pub(crate) hints: Vec<String>,
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
        let started_in = directory.to_str().ok_or_else(|| {
            Failure::input("the path of the repository is not UTF-8").hint("move it to a folder with a UTF-8 name")
        })?;
        let found = config::find(&OsSystem, started_in, cli.config.as_deref())?;
        let mut config = found.config;
        if let Some(stan_path) = &cli.stan_path {
            config.set_stan_path(stan_path)?;
        }
        for typed in &cli.allow_outside {
            config.allow_outside(&OsSystem, started_in, typed).map_err(|error| Failure::input(error.to_string()))?;
        }
        let mut workspace = Self { root: found.root, config, hints: found.hints, directory };
        for typed in &cli.allow_secret {
            // As it is spelled, and the file that it leads to: a link and its target hold the same secret.
            let spelled = workspace.absolute(typed).map(|path| relative_path(&workspace.root, &path));
            let allowed: Vec<String> = [spelled, workspace.node_id(typed)].into_iter().flatten().collect();
            workspace.config.allowed_secrets.extend(allowed);
        }
        // Before anything else: a killed `apply` may have left files half old and half new.
        workspace.hints.extend(recover(&OsSystem, &workspace.repository())?);
        Ok(workspace)
    }

    /// The repository as the engine takes it.
    pub(crate) fn repository(&self) -> Repository<'_> {
        Repository { root: &self.root, config: &self.config }
    }

    /// How the graph is to be computed.
    pub(crate) fn graph_request(&self, args: &WorkArgs) -> Result<GraphRequest, Failure> {
        self.request_of(args.threads, args.no_cache, args.cache_dir.as_deref())
    }

    /// The same for commands that answer about the graph.
    pub(crate) fn answer_request(&self, args: &GraphWorkArgs) -> Result<GraphRequest, Failure> {
        self.request_of(args.threads, args.no_cache, args.cache_dir.as_deref())
    }

    /// The same, by single arguments.
    pub(crate) fn request_of(
        &self,
        threads: Option<u16>,
        no_cache: bool,
        cache_dir: Option<&str>,
    ) -> Result<GraphRequest, Failure> {
        Ok(GraphRequest {
            threads: threads.map(usize::from),
            cache_directory: self.cache_directory_of(no_cache, cache_dir)?,
            state_directory: environment::state_directory(),
            stats_only: false,
            leak_on_exit: !is_captured(),
            kept: if is_captured() { KEPT.clone() } else { KeptGraph::default() },
        })
    }

    /// The folder of the cache that the arguments ask for.
    fn cache_directory_of(&self, none: bool, typed: Option<&str>) -> Result<Option<String>, Failure> {
        match typed {
            _ if none => Ok(None),
            None => Ok(Some(self.cache_directory())),
            Some(typed) => match self.absolute(typed) {
                Some(path) => Ok(Some(path)),
                None => Err(Failure::input(format!("the cache folder `{typed}` is not UTF-8"))),
            },
        }
    }

    /// The folder of the cache, when none is named.
    fn cache_directory(&self) -> String {
        format!("{}/{}/cache", self.root.trim_end_matches('/'), self.config.stan_path)
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

    /// Whether a path below the root leads out of it through a link, to where no consent was given. Nothing is opened.
    pub(crate) fn leads_outside(&self, path: &str) -> bool {
        let root = PathBuf::from(&self.root);
        let mut part = root.join(path);
        // What is not there leads where its folder leads.
        let real = loop {
            match std::fs::canonicalize(&part) {
                Ok(real) => break real,
                Err(_) if part == root || !part.pop() => return false,
                Err(_) => {}
            }
        };
        let allowed = self.config.allowed_outside.iter().any(|folder| real.starts_with(&folder.real));
        !real.starts_with(&root) && !allowed
    }

    /// Whether a typed path is a file.
    pub(crate) fn is_file(&self, typed: &str) -> bool {
        self.absolute(typed).is_some_and(|path| std::path::Path::new(&path).is_file())
    }

    /// The node id of a typed file: its path from the root, links resolved when it exists.
    pub(crate) fn node_id(&self, typed: &str) -> Option<String> {
        let absolute = self.absolute(typed)?;
        let real = std::fs::canonicalize(&absolute).ok().and_then(|real| real.to_str().map(str::to_owned));
        let path = real.unwrap_or(absolute);
        Some(relative_path(&self.root, &path))
    }
}
