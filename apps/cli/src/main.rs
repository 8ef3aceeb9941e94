//! The program `stan`. Everything is in the library.

use std::process::ExitCode;

/// Threads that allocate at once get in each other's way less than with the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    stan_cli::stan(std::env::args_os().collect())
}
