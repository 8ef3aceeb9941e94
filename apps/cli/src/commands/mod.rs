//! One file per command: arguments to an engine request, its outcome to text.

mod check;
mod completions;
mod graph;
mod init;
mod input;
mod man;
mod outline;
mod run;
mod select;
mod snap;
mod state;
mod suggest;
mod symbol;
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
        Command::Outline(args) => outline::run(cli, args),
        Command::Symbol(args) => symbol::run(cli, args),
        Command::Verify(args) => verify::run(cli, args),
        Command::Init(args) => init::run(cli, args),
        Command::Check(args) => check::run(cli, args),
        Command::Completions(args) => completions::run(cli, args),
        Command::Man(args) => man::run(cli, args),
    }
}
