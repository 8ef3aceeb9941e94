//! Starts threads where resources are limited: little address space (`ulimit -v`), few processes, strict overcommit. Falls back
//! to fewer threads and finally to the calling thread, which is slower but gives the same answer.

use std::sync::OnceLock;

use rayon::{ThreadPool, ThreadPoolBuilder};
use stan_lang::{WORKER_STACK, set_stack_size};
use stan_repo::{address_space, stack_limit};

/// Stacks may take this fraction (1/4) of a limited address space. The rest is for the files, the graph and the program.
const SHARE: u64 = 4;

/// The share below [`ONE_POOL`], where the arenas of three threads already take most of the space.
const SCARCE_SHARE: u64 = 8;

/// Address space that the C library reserves for each allocating thread, besides its stack.
const ARENA: u64 = 64 << 20;

/// With less address space than this, all work shares one pool: each additional thread costs an arena, and the stack of the main
/// thread must still be able to grow.
const ONE_POOL: u64 = 2 << 30;

/// The stack size of threads that do not parse: the default of the standard library.
const USUAL_STACK: usize = 2 << 20;

/// No smaller stack is requested.
const MIN_STACK: usize = 1 << 20;

/// The stack size that is assumed of the calling thread if no other thread can be started. Files that might need more are scanned
/// instead of parsed, and the answer reports it.
const CALLERS_STACK: usize = 6 << 20;

/// The thread pools of one engine, by stack size. Each is started on first use.
pub(crate) struct WorkerPools {
    /// `None` for as many as the machine has cores.
    threads: Option<usize>,
    parsing: OnceLock<Option<ThreadPool>>,
    usual: OnceLock<Option<ThreadPool>>,
}

impl WorkerPools {
    pub(crate) fn new(threads: Option<usize>) -> Self {
        Self { threads, parsing: OnceLock::new(), usual: OnceLock::new() }
    }

    /// For parsing, which needs large stacks.
    pub(crate) fn parse<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        install(self.parsing.get_or_init(|| start(self.threads, WORKER_STACK)).as_ref(), work)
    }

    /// For work that does not parse.
    pub(crate) fn share<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        if is_scarce(address_space()) {
            return self.parse(work);
        }
        // Reuse parsing threads if they run: starting others costs more than most of this work.
        if let Some(started) = self.parsing.get() {
            return install(started.as_ref(), work);
        }
        install(self.usual.get_or_init(|| start(self.threads, USUAL_STACK)).as_ref(), work)
    }
}

/// Starts threads with this stack size, or fewer, or smaller ones; `None` if none can be started.
fn start(threads: Option<usize>, stack: usize) -> Option<ThreadPool> {
    let builder =
        |stack: usize| ThreadPoolBuilder::new().stack_size(stack).start_handler(move |_| set_stack_size(stack));
    attempts(threads.unwrap_or_else(cores), stack, address_space())
        .into_iter()
        .find_map(|(count, stack)| builder(stack).num_threads(count).build().ok())
}

fn install<T: Send>(pool: Option<&ThreadPool>, work: impl FnOnce() -> T + Send) -> T {
    match pool {
        Some(pool) => pool.install(work),
        None => on_this_thread(work),
    }
}

/// Runs the work on the calling thread alone. This pool is not kept: later calls may come from other threads, which would have to
/// wait for this one.
fn on_this_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    // The stack of the main thread may grow up to the limit; a quarter covers what is in use already and a margin.
    let limit = usize::try_from(stack_limit().unwrap_or(u64::MAX) / 4 * 3).unwrap_or(usize::MAX);
    set_stack_size(limit.min(CALLERS_STACK));
    match ThreadPoolBuilder::new().num_threads(1).use_current_thread().build() {
        Ok(pool) => pool.install(work),
        // An error means that this thread already belongs to a pool: use that one.
        Err(_) => work(),
    }
}

/// Prepares the global thread pool. Needed only where the address space is limited: elsewhere it is started on first
/// use.
pub fn prepare_threads() {
    let Some(space) = address_space() else { return };
    let build = |(count, stack)| ThreadPoolBuilder::new().num_threads(count).stack_size(stack).build_global().is_ok();
    let is_started = attempts(cores(), USUAL_STACK, Some(space)).into_iter().any(build);
    if !is_started {
        // An error means that the pool is already initialised.
        let _ = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
    }
}

fn is_scarce(space: Option<u64>) -> bool {
    space.is_some_and(|space| space < ONE_POOL)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The thread counts and stack sizes to try, in this order: fewer threads first, then smaller stacks.
fn attempts(count: usize, stack: usize, space: Option<u64>) -> Vec<(usize, usize)> {
    let share = if is_scarce(space) { SCARCE_SHARE } else { SHARE };
    let budget = space.map_or(usize::MAX, |space| usize::try_from(space / share).unwrap_or(usize::MAX));
    let halves = |first: usize, least: usize| {
        std::iter::successors(Some(first), move |last| Some(last / 2)).take_while(move |number| *number >= least)
    };
    let most = space.map_or(usize::MAX, |space| usize::try_from(space / SHARE / ARENA).unwrap_or(usize::MAX));
    let fewer = halves(count.min(most).max(1), 1).map(|count| (count, stack));
    let smaller = halves(stack, MIN_STACK).skip(1).map(|stack| (1, stack));
    fewer.chain(smaller).filter(|(count, stack)| count.saturating_mul(*stack) <= budget).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_threads_are_tried_before_smaller_stacks() {
        const MB: usize = 1 << 20;
        let all = attempts(6, 256 * MB, None);
        assert_eq!(all[..4], [(6, 256 * MB), (3, 256 * MB), (1, 256 * MB), (1, 128 * MB)]);
        assert_eq!(all.last(), Some(&(1, MB)));
        let with = |megabytes: u64| attempts(8, 256 * MB, Some(megabytes << 20));
        assert_eq!(with(4_096)[0], (4, 256 * MB), "a quarter of the space");
        assert_eq!(with(1_024)[0], (1, 128 * MB), "an eighth where it is scarce");
        assert_eq!(with(400)[0], (1, 32 * MB));
        assert_eq!(attempts(64, MB, Some(600 << 20))[0], (2, MB), "two arenas are a quarter of the space");
        assert_eq!(with(2), []);
        assert_eq!(attempts(0, MB, None), [(1, MB)]);
    }

    #[test]
    fn work_is_done_without_another_thread() {
        let alone = || on_this_thread(|| on_this_thread(|| rayon::join(|| 1, || 2)));
        let sum = std::thread::scope(|scope| scope.spawn(alone).join().unwrap());
        assert_eq!(sum, (1, 2));
    }

    #[test]
    fn threads_are_started_once() {
        let pools = WorkerPools::new(Some(2));
        let names = || rayon::broadcast(|_| std::thread::current().id());
        assert_eq!(pools.share(names), pools.share(names));
        assert_ne!(pools.share(names), pools.parse(names));
    }
}
