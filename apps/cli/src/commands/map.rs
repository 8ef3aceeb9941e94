//! `stan map`: prints the overview of the repository.

use stan_engine::Engine;
use stan_engine::overview::{Level, OverviewRequest, overview};

use crate::args::answers::LevelChoice;
use crate::args::{Cli, MapArgs};
use crate::exit::Failure;
use crate::messages::Messages;
use crate::terminal::{Output, grouped, text};
use crate::workspace::Workspace;

pub(crate) fn run(cli: &Cli, engine: &Engine<'_>, args: &MapArgs) -> Result<(), Failure> {
    let messages = Messages::new(cli);
    let workspace = Workspace::find(cli, engine)?;
    messages.hints(&workspace.hints);
    let focus = args.focus.iter().map(|typed| workspace.asked_file(engine, typed)).collect::<Result<_, _>>()?;
    let level = match args.level {
        LevelChoice::File => Level::File,
        LevelChoice::Folder => Level::Folder,
        LevelChoice::Package => Level::Package,
    };
    let request = OverviewRequest { budget: args.budget, focus, level, tokenizer: args.tokens.into() };
    let work = workspace.graph_request(&args.graph)?;
    let report = overview(engine, &workspace.repository(), &request, &work)?;
    let mut out = Output::new(cli.global.color);
    if args.json {
        out.json(&report)?;
    } else {
        out.document(|out| out.write_all(report.text.as_bytes()))?;
    }
    out.finish()?;
    if cli.global.verbose {
        let (tokens, listed, folded) = (grouped(report.tokens), grouped(report.listed), grouped(report.folded));
        messages.explain(&text!("{} tokens; {} listed, {} folded", tokens, listed, folded));
    }
    messages.warnings(&report.warnings);
    Ok(())
}
