//! The program `x07`: slices of x07 modules and context packs for agents. Everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    stan_cli::x07(std::env::args_os().collect())
}
