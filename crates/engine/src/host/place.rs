//! Where a call of a host works: the folder, the configuration that holds in it, the cache, and paths as the caller writes
//! them. The same rules as for the command line.

use std::path::Path;

use serde::Deserialize;
use stan_repo::{EntryKind, System, SystemExt, WritableSystem, normal_path, real_path, relative_path};

use super::{HostEnvironment, HostError};
use crate::config::{self, Config};
use crate::context::{NamedBytes, Repository};
use crate::graph::GraphRequest;
use crate::outline::AskedFile;
use crate::reply::recover;

/// No document that people or assistants write is larger.
const LARGEST_DOCUMENT: u64 = 1 << 30;

/// Keys of [`PlaceOptions`].
pub(super) const KEYS: [&str; 7] = ["cwd", "config", "stanPath", "allowOutside", "allowSecret", "cache", "threads"];

/// Options that every verb takes.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PlaceOptions {
    /// Absolute.
    cwd: String,
    config: Option<String>,
    stan_path: Option<String>,
    #[serde(default)]
    allow_outside: Vec<String>,
    #[serde(default)]
    allow_secret: Vec<String>,
    cache: Option<CacheChoice>,
    threads: Option<u16>,
}

/// Whether and where there is a cache.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum CacheChoice {
    /// In the workspace folder, or none.
    On(bool),
    In(String),
}

/// An opened repository.
pub(super) struct Place {
    /// Absolute real path of the folder that paths are relative to.
    directory: String,
    root: String,
    pub(super) config: Config,
    work: GraphRequest,
    /// What happened on the way that the caller should know.
    pub(super) notes: Vec<String>,
}

impl Place {
    pub(super) fn open(
        system: &dyn WritableSystem,
        environment: &HostEnvironment,
        options: PlaceOptions,
    ) -> Result<Self, HostError> {
        let directory = folder(system, &options.cwd)?;
        let found = config::find(system, &directory, options.config.as_deref())?;
        let mut config = found.config;
        if let Some(stan_path) = &options.stan_path {
            config.set_stan_path(stan_path)?;
        }
        for typed in &options.allow_outside {
            config.allow_outside(system, &directory, typed)?;
        }
        let mut place = Self { directory, root: found.root, config, work: GraphRequest::default(), notes: found.hints };
        for typed in &options.allow_secret {
            // As it is spelled, and the file that it leads to: a link and its target hold the same secret.
            let spelled = relative_path(&place.root, &place.absolute(typed));
            place.config.allowed_secrets.extend([spelled, place.node_id(system, typed)]);
        }
        // Before anything else: a killed `apply` may have left files half old and half new.
        place.notes.extend(recover(system, &place.repository())?);
        let cache = options.cache.unwrap_or(CacheChoice::On(true));
        let folder = format!("{}/{}/cache", place.root.trim_end_matches('/'), place.config.stan_path);
        place.work = work(&cache, &place.directory, folder, environment, options.threads);
        Ok(place)
    }

    pub(super) fn repository(&self) -> Repository<'_> {
        Repository { root: &self.root, config: &self.config }
    }

    /// How the graph is computed.
    pub(super) fn work(&self) -> GraphRequest {
        self.work.clone()
    }

    /// A path of the caller as an absolute one.
    pub(super) fn absolute(&self, typed: &str) -> String {
        normal_path(&self.directory, typed)
    }

    /// The node id of a file: its path from the root, links resolved when it exists.
    pub(super) fn node_id(&self, system: &dyn System, typed: &str) -> String {
        let absolute = self.absolute(typed);
        let path = real_path(system, Path::new(&absolute)).unwrap_or(absolute);
        relative_path(&self.root, &path)
    }

    pub(super) fn asked(&self, system: &dyn System, typed: &str) -> AskedFile {
        AskedFile { shown: typed.to_owned(), id: self.node_id(system, typed) }
    }

    /// The bytes of a file that the caller names.
    pub(super) fn document(&self, system: &dyn System, typed: &str) -> Result<NamedBytes, HostError> {
        let mut bytes = Vec::new();
        system
            .read_at_most(Path::new(&self.absolute(typed)), LARGEST_DOCUMENT, &mut bytes)
            .map_err(|error| HostError::input(format!("cannot read `{typed}`: {error}")))?;
        Ok(NamedBytes { name: typed.to_owned(), bytes })
    }
}

/// The real path of a folder that must be there.
pub(super) fn folder(system: &dyn System, typed: &str) -> Result<String, HostError> {
    if !typed.starts_with('/') {
        return Err(HostError::usage(format!("`cwd` must be an absolute path, and {typed:?} is not")));
    }
    let refused = |reason: String| HostError::input(format!("cannot enter `{typed}`: {reason}"));
    let real = real_path(system, Path::new(typed)).map_err(|error| refused(error.to_string()))?;
    match system.lstat(Path::new(&real)) {
        Ok(stat) if stat.kind == EntryKind::Dir => Ok(real),
        Ok(_) => Err(refused("it is not a folder".to_owned())),
        Err(error) => Err(refused(error.to_string())),
    }
}

/// The work of a process that lives on.
pub(super) fn work(
    cache: &CacheChoice,
    directory: &str,
    usual: String,
    environment: &HostEnvironment,
    threads: Option<u16>,
) -> GraphRequest {
    GraphRequest {
        threads: threads.filter(|count| *count > 0).map(usize::from),
        cache_directory: match cache {
            CacheChoice::On(false) => None,
            CacheChoice::On(true) => Some(usual),
            CacheChoice::In(typed) => Some(normal_path(directory, typed)),
        },
        state_directory: environment.state_directory.clone(),
        stats_only: false,
        leak_on_exit: false,
    }
}
