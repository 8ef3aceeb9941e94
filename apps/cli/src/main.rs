//! The program `stan`: arguments in, one engine call, output and exit code out.
#![expect(clippy::print_stderr, reason = "programs talk to the terminal")]

mod args;
mod commands;
mod describe;
mod environment;
mod exit;
mod figures;
mod json;
mod messages;
mod style;
mod workspace;

use std::process::ExitCode;

use clap::Parser;

/// Threads that allocate at once get in each other's way less than with the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = args::Cli::parse();
    match commands::run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !failure.is_silent() {
                eprintln!("{}", failure.show(style::Style::of_stderr(cli.color)));
            }
            failure.code()
        }
    }
}
