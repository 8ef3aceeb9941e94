//! The program `stan`: arguments in, one engine call, output and exit code out.

mod args;
mod commands;
mod describe;
mod environment;
mod exit;
mod messages;
mod terminal;
mod usage;
mod workspace;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

/// Threads that allocate at once get in each other's way less than with the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let cli = match args::Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => {
            let error = usage::explain::<args::Cli>(&arguments, error);
            terminal::print_usage(&error);
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    stan_engine::prepare_threads();
    match commands::run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.tell(cli.color);
            failure.code()
        }
    }
}
