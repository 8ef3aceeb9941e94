//! The program `stan`. Everything is in the library.

use std::process::ExitCode;

/// Scales better than the system's allocator when many threads allocate.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    stan_cli::stan(std::env::args_os().collect())
}
