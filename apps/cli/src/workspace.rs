//! The directory that the engine opens, and how the graph is computed there.
#![expect(clippy::disallowed_methods, reason = "the working directory is the program's business")]

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use stan_engine::context::NamedPath;
use stan_engine::graph::{GraphRequest, KeptGraph};
use stan_engine::{Engine, OpenOptions, OpenRepository};

use crate::args::{Cli, GraphWorkArgs};
use crate::environment;
use crate::exit::Failure;
use crate::shared_cache;
use crate::terminal::is_captured;

/// The graph that `stan mcp` keeps between calls: one process serves one repository.
static KEPT: LazyLock<KeptGraph> = LazyLock::new(KeptGraph::new);

/// The repository that a command works on.
pub(crate) struct Workspace<'e> {
    pub(crate) engine: &'e Engine<'e>,
    opened: OpenRepository,
}

impl Deref for Workspace<'_> {
    type Target = OpenRepository;

    fn deref(&self) -> &OpenRepository {
        &self.opened
    }
}

impl<'e> Workspace<'e> {
    pub(crate) fn find(cli: &Cli, engine: &'e Engine<'e>) -> Result<Self, Failure> {
        Self::find_at(cli, engine, cli.global.directory.as_deref().unwrap_or("."), "name an existing folder after -C")
    }

    /// The repository that contains a folder argument; `hint` says what to do if the folder does not exist.
    pub(crate) fn find_at(cli: &Cli, engine: &'e Engine<'e>, typed: &str, hint: &'static str) -> Result<Self, Failure> {
        let directory = std::fs::canonicalize(typed)
            .map_err(|error| Failure::input(format!("cannot enter `{typed}`: {error}")).hint(hint))?;
        if !directory.is_dir() {
            return Err(Failure::input(format!("`{typed}` is not a folder")).hint(hint));
        }
        let directory = directory.to_str().ok_or_else(|| {
            Failure::input("the path of the repository is not UTF-8").hint("move it to a folder with a UTF-8 name")
        })?;
        let options = OpenOptions {
            config: cli.global.config.clone(),
            stan_path: cli.global.stan_path.clone(),
            allow_outside: cli.global.allow_outside.clone(),
            allow_secret: cli.global.allow_secret.clone(),
            package_caches: environment::package_caches(),
        };
        Ok(Self { engine, opened: engine.open(directory, &options)? })
    }

    /// The repository that contains a folder argument. Relative to `-C`.
    pub(crate) fn find_below(cli: &Cli, engine: &'e Engine<'e>, typed: &str) -> Result<Self, Failure> {
        let path = Path::new(cli.global.directory.as_deref().unwrap_or(".")).join(typed);
        let path = path.to_str().unwrap_or(typed).to_owned();
        Self::find_at(cli, engine, &path, "name an existing folder")
    }

    /// How to compute the graph.
    pub(crate) fn graph_request(&self, args: &GraphWorkArgs) -> Result<GraphRequest, Failure> {
        Ok(GraphRequest {
            cache_directory: self.cache_directory_of(args.no_cache, args.cache_dir.as_deref())?,
            state_directory: environment::state_directory(),
            stats_only: false,
            kept: if is_captured() { KEPT.clone() } else { KeptGraph::default() },
            shared: shared_cache::chosen(args.no_cache),
        })
    }

    /// The cache folder that the arguments choose.
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

    /// The absolute path of a typed one.
    pub(crate) fn path_of(&self, typed: &str) -> Result<String, Failure> {
        self.absolute(typed).ok_or_else(|| Failure::input(format!("the path `{typed}` is not UTF-8")))
    }

    /// A file that the command line names.
    pub(crate) fn named_path(&self, typed: &str) -> Result<NamedPath, Failure> {
        Ok(NamedPath { shown: typed.to_owned(), path: self.path_of(typed)? })
    }

    /// Whether a path from the root leaves the root through a symlink, to a place that is not allowed. Opens nothing.
    pub(crate) fn leads_outside(&self, path: &str) -> bool {
        self.opened.escapes_root(self.engine, &format!("{}/{path}", self.root.trim_end_matches('/')))
    }
}

/// The absolute path of a file or folder that may not exist yet: relative to `-C`, with symlinks resolved as far as it exists.
/// `None` if it is not UTF-8, or if no part of it exists.
pub(crate) fn real_place(cli: &Cli, typed: &str) -> Option<String> {
    let base = std::fs::canonicalize(cli.global.directory.as_deref().unwrap_or(".")).ok()?;
    let path = base.join(typed);
    let (there, real) = path.ancestors().find_map(|there| Some((there, std::fs::canonicalize(there).ok()?)))?;
    let mut place: PathBuf = real;
    for part in path.strip_prefix(there).ok()?.components() {
        match part {
            // Nothing exists here, so `..` cannot follow a symlink.
            std::path::Component::ParentDir => {
                place.pop();
            }
            part => place.push(part),
        }
    }
    place.to_str().map(str::to_owned)
}
