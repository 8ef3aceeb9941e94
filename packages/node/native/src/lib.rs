//! The engine as an addon of Node: the name of a verb and its options as JSON go in, JSON comes out. Nothing is decided here:
//! verbs, options and errors are `stan_engine::host`.
//!
//! An answer starts with `+` and is a result, or starts with `-` and is an error. Promises are never rejected here; the
//! JavaScript beside this makes an `Error` with a `code` of it.

use std::panic::catch_unwind;
use std::path::PathBuf;
use std::sync::OnceLock;

use napi::bindgen_prelude::AsyncTask;
use napi::{Env, Task};
use napi_derive::napi;
use stan_engine::host::{self, HostEnvironment, HostError};
use stan_engine::{Engine, OsSystem, PackageCaches};

/// A call on a thread of Node's pool.
pub struct Call {
    verb: String,
    options: String,
}

impl Task for Call {
    type Output = String;
    type JsValue = String;

    fn compute(&mut self) -> napi::Result<String> {
        Ok(answer(&self.verb, &self.options))
    }

    fn resolve(&mut self, _: Env, output: String) -> napi::Result<String> {
        Ok(output)
    }
}

/// Runs a verb on another thread.
#[napi]
pub fn call(verb: String, options: String) -> AsyncTask<Call> {
    AsyncTask::new(Call { verb, options })
}

/// Runs a verb on this thread: for verbs that only compute.
#[napi]
pub fn call_sync(verb: String, options: String) -> String {
    answer(&verb, &options)
}

/// The version of the engine.
#[napi]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// One engine for the process: its threads serve all calls.
fn engine() -> &'static Engine<'static> {
    static ENGINE: OnceLock<Engine<'static>> = OnceLock::new();
    ENGINE.get_or_init(|| Engine::new(&OsSystem))
}

fn answer(verb: &str, options: &str) -> String {
    // A panic must not unwind into Node, which would end the process.
    let outcome = catch_unwind(|| host::call(engine(), &environment(), verb, options));
    let outcome = outcome.unwrap_or_else(|_| Err(HostError::internal("a fault in stan; please report it")));
    match outcome {
        Ok(result) => format!("+{result}"),
        Err(error) => format!("-{}", error.to_json()),
    }
}

/// The same places as those of the program.
fn environment() -> HostEnvironment {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
    HostEnvironment {
        state_directory: state.and_then(|state| state.join("stan").to_str().map(str::to_owned)),
        package_caches: PackageCaches::from_environment(|name| std::env::var_os(name)?.into_string().ok()),
    }
}
