//! `stan pack`: prints the declarations that explain an error, a position or a symbol.

use std::path::Path;

use stan_engine::context::NamedBytes;
use stan_engine::pack::{ClosureKind, Externals, ITEM_TOKENS, PackRequest, Since, TAG_TOKENS, list_diagnostics, pack};
use stan_engine::{Engine, write_document};

use crate::args::{Cli, ClosureChoice, ExternalsChoice, GraphWorkArgs, PackArgs, PackFormat};
use crate::clipboard;
use crate::commands::input;
use crate::exit::Failure;
use crate::messages::Messages;
use crate::terminal::Output;
use crate::workspace::Workspace;

pub(crate) fn run(cli: &Cli, engine: &Engine<'_>, args: &PackArgs) -> Result<(), Failure> {
    let messages = Messages::new(cli);
    let workspace = Workspace::find(cli, engine)?;
    let logs = args.logs.iter().chain(&args.log).map(|file| input::read_log(&workspace, &messages, file));
    let logs: Vec<NamedBytes> = logs.collect::<Result<_, _>>()?;
    let mut out = Output::new(cli.global.color);
    if args.list {
        let report = list_diagnostics(engine, &workspace.repository(), &logs, args.from.as_deref())?;
        out.json(&report)?;
        out.finish()?;
        return Ok(());
    }
    messages.hints(&workspace.hints);
    let format = if args.json { PackFormat::Json } else { args.format };
    let request = request_of(args, engine, &workspace, logs, format)?;
    let outcome = pack(engine, &workspace.repository(), &request)?;
    let rendered = match format {
        PackFormat::Json => outcome.json(),
        PackFormat::Md => outcome.markdown(),
        PackFormat::Xml => outcome.xml(),
    };
    write(args, engine, &workspace, &rendered)?;
    if args.copy {
        clipboard::copy_and_tell(&rendered, &messages);
    }
    if args.out.is_none() && !(args.copy && cli.global.quiet) {
        out.document(|out| out.write_all(&rendered))?;
    }
    out.finish()?;
    messages.warnings(&outcome.problems);
    if args.strict && outcome.pack.truncation.is_some() {
        return Err(Failure::input("the budget left something out").hint("raise --budget, or leave out --strict"));
    }
    Ok(())
}

fn request_of(
    args: &PackArgs,
    engine: &Engine<'_>,
    workspace: &Workspace,
    logs: Vec<NamedBytes>,
    format: PackFormat,
) -> Result<PackRequest, Failure> {
    Ok(PackRequest {
        logs,
        from: args.from.clone(),
        places: args.at.iter().map(|typed| workspace.asked_place(engine, typed)).collect::<Result<_, _>>()?,
        symbols: args.symbol.iter().map(|typed| workspace.asked_symbol(engine, typed)).collect::<Result<_, _>>()?,
        focus: args.focus.iter().map(|typed| workspace.asked_file(engine, typed)).collect::<Result<_, _>>()?,
        changed: args.changed.clone().map(|revision| revision.map_or(Since::Index, Since::Revision)),
        about: args.about.iter().map(|typed| input::text_of(workspace, typed)).collect::<Result<_, _>>()?,
        budget: args.budget,
        item_tokens: if format == PackFormat::Xml { TAG_TOKENS } else { ITEM_TOKENS },
        tokenizer: args.tokens.into(),
        closure: match args.closure {
            ClosureChoice::All => ClosureKind::All,
            ClosureChoice::Locals => ClosureKind::Locals,
            ClosureChoice::Types => ClosureKind::Types,
            ClosureChoice::Imports => ClosureKind::Imports,
            ClosureChoice::None => ClosureKind::None,
        },
        hops: args.hops,
        externals: match args.externals {
            ExternalsChoice::Auto => Externals::Auto,
            ExternalsChoice::None => Externals::None,
            ExternalsChoice::All => Externals::All,
        },
        diagnostic: args.diagnostic,
        all: args.all,
        work: workspace.graph_request(&GraphWorkArgs::default())?,
    })
}

/// Writes the pack to the file of `--out`, if it is given.
fn write(args: &PackArgs, engine: &Engine<'_>, workspace: &Workspace, rendered: &[u8]) -> Result<(), Failure> {
    let Some(typed) = &args.out else { return Ok(()) };
    let path = workspace.path_of(typed)?;
    write_document(engine.system(), Path::new(&path), rendered)
        .map_err(|error| Failure::input(format!("cannot write `{typed}`: {error}")))
}
