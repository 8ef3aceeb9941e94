//! `stan symbol`: prints where names are declared and used.

use std::io;

use stan_engine::Engine;
use stan_engine::outline::{FoundSymbol, SymbolRequest, SymbolUse, symbol};

use crate::args::{Cli, SymbolArgs};
use crate::commands::outline::size;
use crate::exit::Failure;
use crate::messages::Messages;
use crate::terminal::{Output, Text, Untrusted, counted, say, text};
use crate::workspace::Workspace;

pub(crate) fn run(cli: &Cli, engine: &Engine<'_>, args: &SymbolArgs) -> Result<(), Failure> {
    let messages = Messages::new(cli);
    let workspace = Workspace::find(cli, engine)?;
    messages.hints(&workspace.hints);
    let request = SymbolRequest { names: args.names.clone(), size: size(&args.answer) };
    let report = symbol(engine, &workspace.repository(), &request)?;
    let mut out = Output::new(cli.global.color);
    if args.answer.json {
        out.json(&report)?;
        out.finish()?;
        return Ok(());
    }
    for found in &report.symbols {
        print(found, &mut out)?;
    }
    out.finish()?;
    messages.warnings(&report.warnings);
    Ok(())
}

fn print(found: &FoundSymbol, out: &mut Output) -> io::Result<()> {
    for one in &found.declarations {
        let (file, signature) = (Untrusted::new(&one.file), Untrusted::new(&one.signature));
        say!(out, "{}:{}-{}  {}", file, one.start_line, one.end_line, signature)?;
    }
    let uses = counted(found.use_count, "use");
    say!(out, "{} in {}", uses, counted(found.file_count, "file"))?;
    for of_file in found.uses.chunk_by(|one, other| one.file == other.file) {
        if let Some(first) = of_file.first() {
            let lines = Text::joined(of_file.iter().map(line), ", ");
            say!(out, "  {}: {}", Untrusted::new(&first.file), lines)?;
        }
    }
    if found.uses.iter().any(|one| one.how != "name") {
        say!(out, "? marks a member of that name whose owner is not known")?;
    }
    if found.cut > 0 {
        say!(out, "{} left out; --budget 0 shows all", found.cut)?;
    }
    Ok(())
}

/// A line with its enclosing declaration; `?` if only the member's name matches.
fn line(one: &SymbolUse) -> Text {
    let doubt = if one.how == "name" { "" } else { "?" };
    match &one.within {
        Some(within) => text!("{}{} {}", one.line, doubt, Untrusted::new(within)),
        None => text!("{}{}", one.line, doubt),
    }
}
