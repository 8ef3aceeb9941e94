//! Opens a repository: finds its root, reads its configuration, and interprets the paths that users type. The same for every front
//! end, which provides the working directory and the arguments.

use std::path::{Component, Path, PathBuf};

use stan_repo::{AbsPath, EntryKind, escapes_root, real_path, relative_path};

use crate::config::{self, Config};
use crate::context::Repository;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::package_caches::PackageCaches;
use crate::reply::recover;

/// What the user says about a repository besides its configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// The configuration file, relative to the directory; else the nearest one is used.
    pub config: Option<String>,
    /// Instead of the configured workspace folder.
    pub stan_path: Option<String>,
    /// Folders outside the root that may be read, as typed.
    pub allow_outside: Vec<String>,
    /// Files that are archived whatever secrets they hold, as typed.
    pub allow_secret: Vec<String>,
    /// Where package managers of this user keep what they downloaded.
    pub package_caches: PackageCaches,
}

/// A repository that verbs work on.
#[derive(Clone, Debug)]
pub struct OpenRepository {
    /// Absolute real path of the root.
    pub root: String,
    pub config: Config,
    /// What the user may want to know about how the root was found.
    pub hints: Vec<String>,
    /// Absolute real path of the directory that typed paths are relative to.
    directory: PathBuf,
}

impl Engine<'_> {
    /// Opens the repository that `directory` is in. The directory is an absolute real path, and typed paths are relative to it.
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
            // As it is spelled, and the file that it resolves to: a link and its target hold the same secret.
            let spelled = opened.absolute(typed).map(|path| relative_path(&opened.root, &path));
            let allowed: Vec<String> = [spelled, opened.node_id(self, typed)].into_iter().flatten().collect();
            opened.config.allowed_secrets.extend(allowed);
        }
        // Before anything else: a killed `apply` may have left files half old and half new.
        opened.hints.extend(recover(self, &opened.repository())?);
        Ok(opened)
    }
}

impl OpenRepository {
    /// The repository as verbs take it.
    pub fn repository(&self) -> Repository<'_> {
        Repository { root: &self.root, config: &self.config }
    }

    /// A typed path as an absolute one, `.` and `..` resolved by name; `None` when it is not UTF-8.
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

    /// Whether a typed path is in the repository by its spelling, but leads out of it through a link, to where the user has not
    /// allowed it. The user may not know which links the repository contains.
    pub fn escapes_root(&self, engine: &Engine<'_>, typed: &str) -> bool {
        let system = engine.system();
        let Some(absolute) = self.absolute(typed).filter(|path| escapes_root(system, &self.root, path)) else {
            return false;
        };
        let allowed = &self.config.allowed_outside;
        let is_allowed = |real: &str| allowed.iter().any(|folder| Path::new(real).starts_with(&folder.real));
        allowed.is_empty() || !real_path(system, Path::new(&absolute)).is_ok_and(|real| is_allowed(&real))
    }

    /// The node id of a typed file: its path from the root, links resolved when it exists and they stay in the root.
    pub fn node_id(&self, engine: &Engine<'_>, typed: &str) -> Option<String> {
        let absolute = self.absolute(typed)?;
        let is_followed = !self.escapes_root(engine, typed);
        let real = is_followed.then(|| real_path(engine.system(), Path::new(&absolute)).ok()).flatten();
        Some(relative_path(&self.root, &real.unwrap_or(absolute)))
    }

    /// Whether a typed path is a file; links are followed, but not out of the root: a target outside is not stat'ed.
    pub fn is_file(&self, engine: &Engine<'_>, typed: &str) -> bool {
        if self.escapes_root(engine, typed) {
            return false;
        }
        let real = self.absolute(typed).and_then(|path| real_path(engine.system(), Path::new(&path)).ok());
        let stat = real.and_then(|real| engine.system().lstat(Path::new(&real)).ok());
        stat.is_some_and(|stat| stat.kind == EntryKind::File)
    }

    /// The folder of the cache, when none is named.
    pub fn cache_directory(&self) -> String {
        AbsPath::new(&self.root).join(&format!("{}/cache", self.config.stan_path))
    }
}
