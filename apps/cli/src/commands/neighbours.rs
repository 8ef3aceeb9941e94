//! `stan deps` and `stan dependents`: print the modules around files.

use std::io;

use stan_engine::Engine;
use stan_engine::answers::{Direction, FileNeighbours, NeighbourModule, NeighboursRequest, neighbours};

use crate::args::{Cli, NeighboursArgs};
use crate::commands::outline::size;
use crate::exit::Failure;
use crate::messages::Messages;
use crate::terminal::{Output, Text, Untrusted, counted, say, text};
use crate::workspace::Workspace;

pub(crate) fn run(cli: &Cli, engine: &Engine<'_>, args: &NeighboursArgs, direction: Direction) -> Result<(), Failure> {
    let messages = Messages::new(cli);
    let workspace = Workspace::find(cli, engine)?;
    messages.hints(&workspace.hints);
    let files = args.files.iter().map(|typed| workspace.asked_file(engine, typed)).collect::<Result<_, _>>()?;
    let request =
        NeighboursRequest { files, direction, depth: args.depth, kinds: args.kinds.mask(), size: size(&args.answer) };
    let work = workspace.graph_request(&args.graph)?;
    let report = neighbours(engine, &workspace.repository(), &request, &work)?;
    let mut out = Output::new(cli.global.color);
    if args.answer.json {
        out.json(&report)?;
        out.finish()?;
        return Ok(());
    }
    for file in &report.files {
        print(file, direction, &mut out)?;
    }
    out.finish()?;
    messages.warnings(&report.warnings);
    Ok(())
}

fn print(file: &FileNeighbours, direction: Direction, out: &mut Output) -> io::Result<()> {
    let name = Untrusted::new(&file.file);
    match direction {
        Direction::Forward => say!(out, "{} depends on {}", name, counted(file.count, "module"))?,
        Direction::Backward => say!(out, "{} has {}", name, counted(file.count, "dependent"))?,
    }
    for module in file.modules.iter().filter(|module| !is_plain_builtin(module)) {
        say!(out, "  {}{}{}", Untrusted::new(&module.id), notes(module), names(module))?;
    }
    let builtins: Vec<_> = file.modules.iter().filter(|module| is_plain_builtin(module)).collect();
    if !builtins.is_empty() {
        let ids = Text::joined(builtins.into_iter().map(|module| Untrusted::new(&module.id)), ", ");
        say!(out, "  builtin: {}", ids)?;
    }
    if file.cut > 0 {
        let folders = file.cut_folders.iter().map(|one| text!("{} in {}", one.count, Untrusted::new(&one.folder)));
        say!(out, "{} left out ({}); --budget 0 shows all", file.cut, Text::joined(folders, ", "))?;
    }
    Ok(())
}

/// A module of the standard library without anything else to report.
fn is_plain_builtin(module: &NeighbourModule) -> bool {
    module.kind == "builtin" && module.edges == ["runtime"] && module.by.is_none() && module.names.is_empty()
}

/// The unusual properties of a module: its kind, the kinds of its edges, its distance.
fn notes(module: &NeighbourModule) -> Text {
    let mut notes: Vec<Text> = Vec::new();
    if module.kind != "source" {
        notes.push(text!("{}", module.kind));
    }
    if module.edges != ["runtime"] {
        notes.push(Text::joined(module.edges.iter().copied(), "+"));
    }
    // Implicit: through a barrel, by a name of the same package, or as the package that contains what is imported.
    if module.implicit {
        notes.push(text!("implicit"));
    }
    if let Some(by) = &module.by {
        notes.push(text!("step {} by {}", module.distance, Untrusted::new(by)));
    }
    if notes.is_empty() { Text::default() } else { text!(" ({})", Text::joined(notes, ", ")) }
}

fn names(module: &NeighbourModule) -> Text {
    if module.names.is_empty() {
        return Text::default();
    }
    let names = Text::joined(module.names.iter().map(|name| Untrusted::new(name)), ", ");
    if module.names_cut > 0 { text!(": {}, +{}", names, module.names_cut) } else { text!(": {}", names) }
}
