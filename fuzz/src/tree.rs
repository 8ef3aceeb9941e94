//! A small repository in memory, with a guard: reading a forbidden file panics. Not a law.

use std::io;
use std::path::Path;

use stan_engine::Engine;
use stan_engine::graph::{GraphOptions, GraphOutcome, GraphRequest, Stats, graph, write_json};
use stan_repo::{
    Access, Links, MemorySystem, OpenFile, OutputFile, Stat, System, SystemLayer, WritableLayer, WritableSystem,
};

/// The path of the repository.
pub(crate) const ROOT: &str = "/r";

/// A system that panics if the contents of a file are read for which `may_read` returns false. Stats and listings are allowed.
pub(crate) struct Fence<'s> {
    pub(crate) system: &'s MemorySystem,
    pub(crate) may_read: fn(&str) -> bool,
}

impl Fence<'_> {
    fn check(&self, path: &Path) {
        // Check the target of a symlink, not its name.
        let real = stan_repo::real_path(self.system, path);
        let real = real.unwrap_or_else(|_| path.to_string_lossy().into_owned());
        assert!((self.may_read)(&real), "{} was read as {}", real, path.display());
    }
}

impl SystemLayer for Fence<'_> {
    type Inner = MemorySystem;

    fn inner(&self) -> &MemorySystem {
        self.system
    }

    fn read_file(&self, path: &Path, links: Links, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Stat> {
        let stat = self.system.read_file(path, links, limit, buffer)?;
        self.check(path);
        Ok(stat)
    }

    fn open_file(&self, path: &Path, links: Links) -> io::Result<OpenFile> {
        let file = self.system.open_file(path, links)?;
        self.check(path);
        Ok(file)
    }
}

impl WritableLayer for Fence<'_> {
    fn write_atomic(&self, path: &Path, _bytes: &[u8]) -> io::Result<()> {
        panic!("{} was written", path.display());
    }

    fn write_atomic_pieces(&self, path: &Path, _pieces: &[&[u8]]) -> io::Result<()> {
        panic!("{} was written", path.display());
    }

    fn write_atomic_durable(&self, path: &Path, _bytes: &[u8]) -> io::Result<()> {
        panic!("{} was written", path.display());
    }

    fn create_new(&self, path: &Path, _access: Access) -> io::Result<Box<dyn OutputFile>> {
        panic!("{} was written", path.display());
    }

    fn set_permissions(&self, path: &Path, _mode: u32) -> io::Result<()> {
        panic!("the permissions of {} were set", path.display());
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        panic!("{} was made", path.display());
    }

    fn create_private_dir_all(&self, path: &Path) -> io::Result<()> {
        panic!("{} was made", path.display());
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        panic!("{} was removed", path.display());
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        panic!("{} was removed", path.display());
    }

    fn rename(&self, _from: &Path, to: &Path) -> io::Result<()> {
        panic!("{} was written", to.display());
    }
}

/// The graph of the repository; no input may cause an error.
pub(crate) fn graph_of(
    threads: usize,
    system: &dyn WritableSystem,
    options: &GraphOptions,
    request: &GraphRequest,
) -> GraphOutcome {
    let engine = Engine::new(system).with_threads(Some(threads));
    graph(&engine, options, request).expect("no input makes a run fail")
}

/// The document of `stan graph --json`.
pub(crate) fn json(outcome: &GraphOutcome) -> String {
    let graph = outcome.graph.as_ref().expect("the whole graph was asked for");
    let mut bytes = Vec::new();
    write_json(graph, &Stats::of(graph, outcome.dirty as u64), &outcome.errors, &outcome.not_analysed(), &mut bytes)
        .expect("memory is writable");
    String::from_utf8(bytes).expect("JSON is UTF-8")
}
