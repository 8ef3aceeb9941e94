//! The environment for parsers of source code: a large stack, and panics that can be caught. Not a law.

use std::panic::resume_unwind;
use std::sync::Once;
use std::thread;

use stan_lang::WORKER_STACK;

/// Runs a law as the engine runs extraction: on a thread with a stack of the guaranteed size.
///
/// The extractor catches panics of its parser and reports them in its result. The fuzzer's panic hook would abort the process
/// before that, so it is removed; an uncaught panic still reaches the fuzzer from here.
pub(crate) fn with_room(law: impl FnOnce() + Send) {
    static UNHOOKED: Once = Once::new();
    UNHOOKED.call_once(|| drop(std::panic::take_hook()));
    thread::scope(|scope| {
        let worker = thread::Builder::new().stack_size(WORKER_STACK).spawn_scoped(scope, law);
        let worker = worker.expect("there is room for a thread");
        worker.join().unwrap_or_else(|panic| resume_unwind(panic));
    });
}
