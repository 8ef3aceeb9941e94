//! One file per command: arguments to an engine request, its outcome to text.

mod graph;
pub(crate) mod init;

use crate::args::{Cli, Command};
use crate::exit::Failure;

pub(crate) fn run(cli: &Cli) -> Result<(), Failure> {
    match &cli.command {
        Command::Graph(args) => graph::run(cli, args),
        Command::Init(args) => init::run(cli, args),
    }
}
