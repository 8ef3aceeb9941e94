//! The programs `stan` and `x07`: arguments in, one engine call, output and exit code out. A library, so that both
//! programs and the tests share one definition of the command line; nothing else may depend on it.

mod args;
mod clipboard;
mod commands;
mod describe;
mod environment;
mod exit;
mod mcp;
mod messages;
mod script_table;
mod terminal;
mod usage;
mod workspace;
mod x07;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

/// Runs `stan` with the arguments of this process.
pub fn stan(arguments: Vec<OsString>) -> ExitCode {
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

/// Runs `x07` with the arguments of this process.
pub fn x07(arguments: Vec<OsString>) -> ExitCode {
    ExitCode::from(x07::run(arguments))
}

/// The command line of `stan`, from which completions, manual pages and the pages of `docs/commands` are made.
pub fn stan_command() -> clap::Command {
    args::Cli::command()
}
