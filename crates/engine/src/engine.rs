//! What every verb needs: effects, threads, and whether to free memory at the end. A front end creates one engine and keeps it:
//! threads are started on first use and serve all later calls.

use std::sync::Arc;

use stan_repo::WritableSystem;

use crate::graph::memory::Memory;
use crate::threads::WorkerPools;

/// The first argument of every verb. Cheap to clone; clones share their threads.
#[derive(Clone)]
pub struct Engine<'s> {
    system: &'s dyn WritableSystem,
    pools: Arc<WorkerPools>,
    memory: Memory,
}

impl<'s> Engine<'s> {
    /// An engine for a long-lived process: memory is freed at the end of each call.
    pub fn new(system: &'s dyn WritableSystem) -> Self {
        Self { system, pools: Arc::new(WorkerPools::new(None)), memory: Memory::freed() }
    }

    /// Sets the number of threads; `None` for one per core. Answers do not depend on it.
    #[must_use]
    pub fn with_threads(self, threads: Option<usize>) -> Self {
        Self { pools: Arc::new(WorkerPools::new(threads)), ..self }
    }

    /// For a program that exits after one verb: large values are leaked, because process exit returns their pages at once, while
    /// dropping them frees hundreds of thousands of allocations one by one. Not for a long-lived process.
    #[must_use]
    pub fn for_one_command(self) -> Self {
        Self { memory: Memory::left_to_the_system(), ..self }
    }

    /// The system that all effects go through.
    pub fn system(&self) -> &'s dyn WritableSystem {
        self.system
    }

    /// The same engine over another system, such as one that records errors or can be cancelled.
    #[must_use]
    pub fn over<'t>(&self, system: &'t dyn WritableSystem) -> Engine<'t> {
        Engine { system, pools: Arc::clone(&self.pools), memory: self.memory }
    }

    pub(crate) fn memory(&self) -> Memory {
        self.memory
    }

    /// Runs `work` on threads with stacks for parsing.
    pub(crate) fn parse<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pools.parse(work)
    }

    /// Runs `work` on threads with default stacks; it must not parse.
    pub(crate) fn share<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pools.share(work)
    }
}
