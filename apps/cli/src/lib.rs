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
use stan_engine::{Engine, OsSystem};

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
    let engine = Engine::new(&OsSystem).with_threads(cli.threads());
    // A server lives on; every other command ends the process.
    let engine = if matches!(cli.command, args::Command::Mcp(_)) { engine } else { engine.for_one_command() };
    match commands::run(&cli, &engine) {
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
