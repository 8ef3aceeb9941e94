//! `stan completions`: the script for one shell, on stdout. Needs no repository.

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs};
use crate::describe;
use crate::exit::Failure;
use crate::terminal::Output;

pub(crate) fn run(cli: &Cli, args: &CompletionsArgs) -> Result<(), Failure> {
    let mut out = Output::new(cli.global.color);
    out.generated(&describe::completions(Cli::command(), args.shell))?;
    out.finish()?;
    Ok(())
}
