//! One file per command: arguments to an engine request, its outcome to text.

mod apply;
mod check;
mod completions;
mod cycles;
mod find;
mod graph;
mod init;
mod input;
mod man;
mod map;
mod neighbours;
mod outline;
mod pack;
mod read;
mod run;
mod scripts;
mod select;
mod snap;
mod state;
mod suggest;
mod symbol;
mod task;
mod verify;
mod view;

use stan_engine::answers::Direction;

use crate::args::{Cli, Command};
use crate::exit::Failure;
use crate::mcp;

pub(crate) fn run(cli: &Cli) -> Result<(), Failure> {
    match &cli.command {
        Command::Graph(args) => graph::run(cli, args),
        Command::Run(args) => run::run(cli, args),
        Command::Select(args) => select::run(cli, args),
        Command::Snap(args) => snap::run(cli, args),
        Command::State(args) => state::run(cli, args),
        Command::Suggest(args) => suggest::run(cli, args),
        Command::Map(args) => map::run(cli, args),
        Command::View(args) => view::run(cli, args),
        Command::Deps(args) => neighbours::run(cli, args, Direction::Forward),
        Command::Dependents(args) => neighbours::run(cli, args, Direction::Backward),
        Command::Cycles(args) => cycles::run(cli, args),
        Command::Outline(args) => outline::run(cli, args),
        Command::Symbol(args) => symbol::run(cli, args),
        Command::Pack(args) => pack::run(cli, args),
        Command::Read(args) => read::run(cli, args),
        Command::Find(args) => find::run(cli, args),
        Command::Verify(args) => verify::run(cli, args),
        Command::Init(args) => init::run(cli, args),
        Command::Check(args) => check::run(cli, args),
        Command::Mcp(args) => mcp::run(cli, args),
        Command::Apply(args) => apply::run(cli, args),
        Command::Completions(args) => completions::run(cli, args),
        Command::Man(args) => man::run(cli, args),
    }
}
