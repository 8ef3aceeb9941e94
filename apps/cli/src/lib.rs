//! The programs `stan` and `x07`: arguments in, one engine call, output and exit code out. A library, so that both
//! programs, the tests and the fuzzer share one definition of the command line; nothing else may depend on it.

mod args;
mod clipboard;
mod commands;
mod describe;
mod environment;
mod exit;
mod mcp;
mod messages;
mod script_table;
mod shared_cache;
mod terminal;
mod usage;
mod workspace;
mod x07;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::CommandFactory as _;
use stan_engine::{Engine, OsSystem};

/// Runs `stan` with the arguments of this process.
pub fn stan(arguments: Vec<OsString>) -> ExitCode {
    let cli = match args::Cli::parse_arguments(&arguments) {
        Ok(cli) => cli,
        Err(error) => {
            let error = usage::explain::<args::Cli>(&arguments, error);
            terminal::print_usage(&error, usage::color_of(&arguments));
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    stan_engine::prepare_threads();
    if let Some(folder) = environment::cache_directory() {
        stan_engine::tokens::keep_tables_in(&OsSystem, folder);
    }
    let engine = Engine::new(&OsSystem).with_threads(cli.threads());
    // A server and an export of many repositories continue afterwards; every other command ends the process.
    let lives_on = matches!(cli.command, args::Command::Mcp(_) | args::Command::Export(_));
    let engine = if lives_on { engine } else { engine.for_one_command() };
    let outcome = shared_cache::prepare(&cli).and_then(|()| commands::run(&cli, &engine));
    shared_cache::tell_usage(&cli);
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.tell(cli.global.color);
            failure.code()
        }
    }
}

/// Runs `x07` with the arguments of this process.
pub fn x07(arguments: Vec<OsString>) -> ExitCode {
    ExitCode::from(x07::run(arguments))
}

/// The answers of `stan mcp` to an input, without a repository: a call is answered with the command line that it is translated to.
/// For the fuzzer.
pub fn mcp_answers(input: &[u8]) -> Vec<serde_json::Value> {
    mcp::lines::answers_without_repository(input)
}

/// The command line of `stan`, from which completions, manual pages and the pages of `docs/commands` are made.
pub fn stan_command() -> clap::Command {
    args::Cli::command()
}
