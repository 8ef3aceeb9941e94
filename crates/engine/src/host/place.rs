//! The place that a host call works on: the folder, its configuration, the cache, and the meaning of typed paths. The rules are
//! those of the command line.

use std::path::Path;

use serde::Deserialize;
use stan_repo::{EntryKind, System, SystemExt as _, normal_path, real_path};

use super::{HostEnvironment, HostError};
use crate::context::{NamedBytes, Repository};
use crate::engine::Engine;
use crate::graph::GraphRequest;
use crate::open::{OpenOptions, OpenRepository};

/// No valid document is larger.
const MAX_DOCUMENT_BYTES: u64 = 1 << 30;

/// The keys of [`PlaceOptions`].
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

/// Whether to use a cache, and where.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum CacheChoice {
    /// The default location in the workspace folder, or none.
    On(bool),
    In(String),
}

/// An opened repository and its engine.
pub(super) struct OpenHost<'s> {
    pub(super) opened: OpenRepository,
    pub(super) engine: Engine<'s>,
    work: GraphRequest,
    /// Notes for the caller.
    pub(super) notes: Vec<String>,
}

impl<'s> OpenHost<'s> {
    pub(super) fn open(
        engine: &Engine<'s>,
        environment: &HostEnvironment,
        options: PlaceOptions,
    ) -> Result<Self, HostError> {
        let directory = folder(engine.system(), &options.cwd)?;
        let PlaceOptions { config, stan_path, allow_outside, allow_secret, .. } = options;
        let package_caches = environment.package_caches.clone();
        let options_of_open = OpenOptions { config, stan_path, allow_outside, allow_secret, package_caches };
        let mut opened = engine.open(&directory, &options_of_open)?;
        let cache = options.cache.unwrap_or(CacheChoice::On(true));
        let work = work(&cache, &directory, opened.cache_directory(), environment);
        let notes = std::mem::take(&mut opened.hints);
        Ok(Self { opened, engine: with_threads(engine, options.threads), work, notes })
    }

    pub(super) fn repository(&self) -> Repository<'_> {
        self.opened.repository()
    }

    /// The graph request of the call.
    pub(super) fn work(&self) -> GraphRequest {
        self.work.clone()
    }

    /// Makes a path of the caller absolute.
    pub(super) fn absolute(&self, typed: &str) -> String {
        self.opened.absolute(typed).unwrap_or_else(|| typed.to_owned())
    }

    /// Reads a file that the caller named.
    pub(super) fn document(&self, typed: &str) -> Result<NamedBytes, HostError> {
        let mut bytes = Vec::new();
        self.engine
            .system()
            .read_at_most(Path::new(&self.absolute(typed)), MAX_DOCUMENT_BYTES, &mut bytes)
            .map_err(|error| HostError::input(format!("cannot read `{typed}`: {error}")))?;
        Ok(NamedBytes { name: typed.to_owned(), bytes })
    }
}

/// The engine with the requested number of threads. Calls that request none share the threads of the host's engine.
pub(super) fn with_threads<'s>(engine: &Engine<'s>, threads: Option<u16>) -> Engine<'s> {
    match threads.filter(|count| *count > 0) {
        Some(count) => engine.clone().with_threads(Some(count.into())),
        None => engine.clone(),
    }
}

/// The real path of an existing folder.
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

/// The graph request with the cache of a call.
pub(super) fn work(cache: &CacheChoice, directory: &str, usual: String, environment: &HostEnvironment) -> GraphRequest {
    GraphRequest {
        cache_directory: match cache {
            CacheChoice::On(false) => None,
            CacheChoice::On(true) => Some(usual),
            CacheChoice::In(typed) => Some(normal_path(directory, typed)),
        },
        state_directory: environment.state_directory.clone(),
        ..GraphRequest::default()
    }
}
