//! Opens a repository: finds its root, reads its configuration, and interprets the paths that users type. Shared by all front
//! ends, which provide the working directory and the arguments.

use std::path::{Component, Path, PathBuf};

use stan_repo::{AbsPath, EntryKind, escapes_root, real_path, relative_path};

use crate::config::{self, Config};
use crate::context::Repository;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::package_caches::PackageCaches;
use crate::reply::recover;

/// Command-line options about a repository, in addition to its configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// The configuration file, relative to the directory. Default: the nearest one.
    pub config: Option<String>,
    /// Overrides the configured workspace folder.
    pub stan_path: Option<String>,
    /// Folders outside the root that may be read, as typed.
    pub allow_outside: Vec<String>,
    /// Files that are archived despite their secrets, as typed.
    pub allow_secret: Vec<String>,
    /// The download folders of this user's package managers.
    pub package_caches: PackageCaches,
}

/// A repository that verbs work on.
#[derive(Clone, Debug)]
pub struct OpenRepository {
    /// Absolute real path of the root.
    pub root: String,
    pub config: Config,
    /// Notes for the user about how the root was found.
    pub hints: Vec<String>,
    /// Absolute real path of the directory that typed paths are relative to.
    directory: PathBuf,
}

impl Engine<'_> {
    /// Opens the repository that contains `directory`, an absolute real path. Typed paths are relative to it.
    pub fn open(&self, directory: &str, options: &OpenOptions) -> Result<OpenRepository, EngineError> {
        let found = config::find(self.system(), directory, options.config.as_deref())?;
        let mut config = found.config;
        if let Some(stan_path) = &options.stan_path {
            config.set_stan_path(stan_path)?;
        }
        for typed in &options.allow_outside {
            let allowed = config.allow_outside(self.system(), directory, typed);
            allowed.map_err(|error| EngineError::input(error.to_string()))?;
        }
        config.stores = options.package_caches.stores(self.system());
        let mut opened = OpenRepository { root: found.root, config, hints: found.hints, directory: directory.into() };
        for typed in &options.allow_secret {
            // Both the spelling and the file that it resolves to: a link and its target contain the same secret.
            let spelled = opened.absolute(typed).map(|path| relative_path(&opened.root, &path));
            let allowed: Vec<String> = [spelled, opened.node_id(self, typed)].into_iter().flatten().collect();
            opened.config.allowed_secrets.extend(allowed);
        }
        // Before any other access: a killed `apply` may have left some files with old contents and some with new.
        opened.hints.extend(recover(self, &opened.repository())?);
        Ok(opened)
    }
}

impl OpenRepository {
    /// The argument that verbs take.
    pub fn repository(&self) -> Repository<'_> {
        Repository { root: &self.root, config: &self.config }
    }

    /// Makes a typed path absolute and resolves `.` and `..` lexically; `None` if it is not UTF-8.
    pub fn absolute(&self, typed: &str) -> Option<String> {
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

    /// Whether a typed path is inside the repository lexically but leads through a link to a place outside that the user has not
    /// allowed. The user may not know which links the repository contains.
    pub fn escapes_root(&self, engine: &Engine<'_>, typed: &str) -> bool {
        let system = engine.system();
        let Some(absolute) = self.absolute(typed).filter(|path| escapes_root(system, &self.root, path)) else {
            return false;
        };
        let is_allowed = || real_path(system, Path::new(&absolute)).is_ok_and(|real| self.is_allowed(&real));
        self.config.allowed_outside.is_empty() || !is_allowed()
    }

    /// Whether a real path is in a folder that `--allow-outside` names.
    fn is_allowed(&self, real: &str) -> bool {
        self.config.allowed_outside.iter().any(|folder| Path::new(real).starts_with(&folder.real))
    }

    /// The node id of a typed file: its path from the root, with links resolved if it exists and they stay in the root.
    pub fn node_id(&self, engine: &Engine<'_>, typed: &str) -> Option<String> {
        let absolute = self.absolute(typed)?;
        let is_followed = !self.escapes_root(engine, typed);
        let real = is_followed.then(|| real_path(engine.system(), Path::new(&absolute)).ok()).flatten();
        // A link may have appeared since it was looked for. Then the path keeps its spelling, and what reads it refuses links.
        let root = AbsPath::new(&self.root);
        let real = real.filter(|real| root.holds(real) || !root.holds(&absolute) || self.is_allowed(real));
        Some(relative_path(&self.root, &real.unwrap_or(absolute)))
    }

    /// Whether a typed path is a file. Follows links, but not out of the root: a target outside is not stat'ed.
    pub fn is_file(&self, engine: &Engine<'_>, typed: &str) -> bool {
        if self.escapes_root(engine, typed) {
            return false;
        }
        let real = self.absolute(typed).and_then(|path| real_path(engine.system(), Path::new(&path)).ok());
        let stat = real.and_then(|real| engine.system().lstat(Path::new(&real)).ok());
        stat.is_some_and(|stat| stat.kind == EntryKind::File)
    }

    /// The default folder of the cache.
    pub fn cache_directory(&self) -> String {
        AbsPath::new(&self.root).join(&format!("{}/cache", self.config.stan_path))
    }
}
