//! What must hold for any input: plain functions that take bytes and panic when a law is broken.
//!
//! The fuzzer calls them with inputs of its own making, the tests here with seeds and random changes to them, and the
//! programs with files that are named. Nothing here knows which of them it is.

mod x07;

pub use x07::{x07_read, x07_slice};

/// Calls a target with each file named on the command line: how a finding is looked at without a fuzzer.
#[cfg(not(fuzzing))]
pub fn replay(target: fn(&[u8])) {
    for path in std::env::args_os().skip(1) {
        match std::fs::read(&path) {
            Ok(bytes) => target(&bytes),
            Err(error) => eprintln!("{}: {error}", path.display()),
        }
    }
}
