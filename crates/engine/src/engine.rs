//! What every verb works with: the effects, the threads, and what becomes of memory at the end. A front end makes one engine and
//! keeps it: threads are started when they are first needed, and serve all later calls.

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
    /// An engine for a process that lives on: what a call needs is freed when it ends.
    pub fn new(system: &'s dyn WritableSystem) -> Self {
        Self { system, pools: Arc::new(WorkerPools::new(None)), memory: Memory::freed() }
    }

    /// With so many threads; `None`: as many as the machine has cores. The answers are the same with any number.
    #[must_use]
    pub fn with_threads(self, threads: Option<usize>) -> Self {
        Self { pools: Arc::new(WorkerPools::new(threads)), ..self }
    }

    /// For a program that ends after one verb: large values are left to the operating system, which takes memory back at once;
    /// freeing hundreds of thousands of pieces takes longer. Not for a process that lives on.
    #[must_use]
    pub fn for_one_command(self) -> Self {
        Self { memory: Memory::left_to_the_system(), ..self }
    }

    /// Where all effects go.
    pub fn system(&self) -> &'s dyn WritableSystem {
        self.system
    }

    /// The same engine over another system, such as one that watches for errors or can be cancelled.
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

    /// Runs `work`, which does not parse, on threads with usual stacks.
    pub(crate) fn share<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pools.share(work)
    }
}
