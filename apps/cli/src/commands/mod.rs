//! One file per command: arguments to an engine request, its outcome to text.

mod graph;
mod input;
mod run;
mod select;
mod snap;
mod state;
mod suggest;
mod verify;

use crate::args::{Cli, Command};
use crate::exit::Failure;

pub(crate) fn run(cli: &Cli) -> Result<(), Failure> {
    match &cli.command {
        Command::Graph(args) => graph::run(cli, args),
        Command::Run(args) => run::run(cli, args),
        Command::Select(args) => select::run(cli, args),
        Command::Snap(args) => snap::run(cli, args),
        Command::State(args) => state::run(cli, args),
        Command::Suggest(args) => suggest::run(cli, args),
        Command::Verify(args) => verify::run(cli, args),
    }
}
