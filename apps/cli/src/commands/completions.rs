//! `stan completions`: the script for one shell, on stdout. Needs no repository.

use std::io::{self, Write};

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs};
use crate::describe;
use crate::exit::Failure;

pub(crate) fn run(args: &CompletionsArgs) -> Result<(), Failure> {
    let script = describe::completions(Cli::command(), args.shell);
    let mut out = io::stdout().lock();
    out.write_all(&script)?;
    out.flush()?;
    Ok(())
}
