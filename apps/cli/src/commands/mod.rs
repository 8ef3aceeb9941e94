//! One file per command: turns arguments into an engine request, and its outcome into text.

mod apply;
mod check;
mod completions;
mod cycles;
mod export;
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

use stan_engine::Engine;
use stan_engine::answers::Direction;

use crate::args::{Cli, Command};
use crate::exit::Failure;
use crate::mcp;

pub(crate) fn run(cli: &Cli, engine: &Engine<'_>) -> Result<(), Failure> {
    match &cli.command {
        Command::Graph(args) => graph::run(cli, engine, args),
        Command::Run(args) => run::run(cli, engine, args),
        Command::Select(args) => select::run(cli, engine, args),
        Command::Snap(args) => snap::run(cli, engine, args),
        Command::State(args) => state::run(cli, engine, args),
        Command::Suggest(args) => suggest::run(cli, engine, args),
        Command::Map(args) => map::run(cli, engine, args),
        Command::View(args) => view::run(cli, engine, args),
        Command::Export(args) => export::run(cli, engine, args),
        Command::Deps(args) => neighbours::run(cli, engine, args, Direction::Forward),
        Command::Dependents(args) => neighbours::run(cli, engine, args, Direction::Backward),
        Command::Cycles(args) => cycles::run(cli, engine, args),
        Command::Outline(args) => outline::run(cli, engine, args),
        Command::Symbol(args) => symbol::run(cli, engine, args),
        Command::Pack(args) => pack::run(cli, engine, args),
        Command::Read(args) => read::run(cli, engine, args),
        Command::Find(args) => find::run(cli, engine, args),
        Command::Verify(args) => verify::run(cli, engine, args),
        Command::Init(args) => init::run(cli, engine, args),
        Command::Check(args) => check::run(cli, engine, args),
        Command::Mcp(args) => mcp::run(cli, engine, args),
        Command::Apply(args) => apply::run(cli, engine, args),
        Command::Completions(args) => completions::run(cli, args),
        Command::Man(args) => man::run(cli, args),
    }
}
