//! Starting threads where the machine gives few: little address space (`ulimit -v`), few processes, strict
//! overcommitment. Fewer threads, and at last the thread that asks, are slower and give the same answer.

use rayon::{ThreadPool, ThreadPoolBuilder};
use stan_lang::{WORKER_STACK, set_stack_size};
use stan_repo::{address_space, stack_limit};

/// Of a limited address space, stacks may take one part in so many: the rest is for the files, the graph and the program.
const SHARE: u64 = 4;

/// What threads get that do not parse: the default of the standard library.
const USUAL_STACK: usize = 2 << 20;

/// The smallest stack that is asked for.
const SMALLEST_STACK: usize = 1 << 20;

/// What the calling thread is taken to have at most when no other can be started. Files that might need more are then
/// searched without parsing, and the answer says so.
const CALLERS_STACK: usize = 6 << 20;

/// Threads that share work.
pub(crate) struct Workers(Option<ThreadPool>);

impl Workers {
    /// For work that does not parse. `threads`: `None` for as many as the machine has cores.
    pub(crate) fn start(threads: Option<usize>) -> Self {
        Self::with_stack(threads, USUAL_STACK)
    }

    /// For parsing, which needs large stacks.
    pub(crate) fn start_parsing(threads: Option<usize>) -> Self {
        Self::with_stack(threads, WORKER_STACK)
    }

    pub(crate) fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match &self.0 {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    fn with_stack(threads: Option<usize>, stack: usize) -> Self {
        let builder =
            |stack: usize| ThreadPoolBuilder::new().stack_size(stack).start_handler(move |_| set_stack_size(stack));
        let space = address_space();
        let count = threads.unwrap_or_else(cores);
        let started = attempts(count, stack, space)
            .into_iter()
            .find_map(|(count, stack)| builder(stack).num_threads(count).build().ok());
        if started.is_some() {
            return Self(started);
        }
        // Of a program's first thread, the limit is the size; a quarter is in use already or is kept free.
        set_stack_size(
            usize::try_from(stack_limit().unwrap_or(u64::MAX) / 4 * 3).unwrap_or(usize::MAX).min(CALLERS_STACK),
        );
        // Fails only when this thread is in such a pool already, which then serves.
        Self(ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().ok())
    }
}

/// Prepares the threads that work is given to which asks for none of its own. Needed only where the address space is
/// limited: elsewhere they are started when they are first used.
pub fn prepare_threads() {
    let Some(space) = address_space() else { return };
    let started = attempts(cores(), USUAL_STACK, Some(space))
        .into_iter()
        .any(|(count, stack)| ThreadPoolBuilder::new().num_threads(count).stack_size(stack).build_global().is_ok());
    if !started {
        // An error means that they were prepared before.
        let _ = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// How many threads with which stack to try, in this order: fewer threads first, then smaller stacks.
fn attempts(count: usize, stack: usize, space: Option<u64>) -> Vec<(usize, usize)> {
    let budget = space.map_or(usize::MAX, |space| usize::try_from(space / SHARE).unwrap_or(usize::MAX));
    let halves = |first: usize, least: usize| {
        std::iter::successors(Some(first), move |last| Some(last / 2)).take_while(move |number| *number >= least)
    };
    let fewer = halves(count.max(1), 1).map(|count| (count, stack));
    let smaller = halves(stack, SMALLEST_STACK).skip(1).map(|stack| (1, stack));
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
        assert_eq!(with(1_024)[0], (1, 256 * MB));
        assert_eq!(with(400)[0], (1, 64 * MB));
        assert_eq!(with(2), []);
        assert_eq!(attempts(0, MB, None), [(1, MB)]);
    }

    #[test]
    fn work_is_done_without_another_thread() {
        let sum = std::thread::scope(|scope| {
            let alone = || {
                let own = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().unwrap();
                let workers = Workers(Some(own));
                let again = Workers(ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().ok());
                assert!(again.0.is_none());
                workers.install(|| again.install(|| rayon::join(|| 1, || 2)))
            };
            scope.spawn(alone).join().unwrap()
        });
        assert_eq!(sum, (1, 2));
    }
}
