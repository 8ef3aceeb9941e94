//! `stan cycles`: prints import cycles, each with a shortest path around it.

use std::io;

use stan_engine::Engine;
use stan_engine::answers::{CyclesReport, CyclesRequest, FoundCycle, cycles};
use stan_engine::outline::AnswerSize;
use stan_engine::sarif::SarifLog;

use crate::args::{Cli, CyclesArgs, FindingsFormat};
use crate::commands::outline::size;
use crate::exit::Failure;
use crate::messages::Messages;
use crate::terminal::{Output, Text, Untrusted, counted, say};
use crate::workspace::Workspace;

pub(crate) fn run(cli: &Cli, engine: &Engine<'_>, args: &CyclesArgs) -> Result<(), Failure> {
    let messages = Messages::new(cli);
    let workspace = Workspace::find(cli, engine)?;
    messages.hints(&workspace.hints);
    let size = match args.format {
        // SARIF is read by programs: do not truncate it.
        Some(FindingsFormat::Sarif) => AnswerSize { budget: 0, limit: None },
        None => size(&args.answer),
    };
    let request = CyclesRequest { kinds: args.kinds.mask(), shortest: args.shortest, size };
    let work = workspace.graph_request(&args.graph)?;
    let report = cycles(engine, &workspace.repository(), &request, &work)?;
    let mut out = Output::new(cli.global.color);
    if args.format == Some(FindingsFormat::Sarif) {
        out.json(&SarifLog::of_cycles(&report))?;
        out.finish()?;
        return Ok(());
    }
    if args.answer.json {
        out.json(&report)?;
        out.finish()?;
        return Ok(());
    }
    print(&report, &mut out)?;
    out.finish()?;
    messages.warnings(&report.warnings);
    Ok(())
}

fn print(report: &CyclesReport, out: &mut Output) -> io::Result<()> {
    if report.count == 0 {
        return say!(out, "no cycles");
    }
    say!(out, "{}", counted(report.count, "cycle"))?;
    for cycle in &report.cycles {
        print_cycle(cycle, out)?;
    }
    if report.cut > 0 {
        say!(out, "{} left out; --budget 0 shows all", counted(report.cut, "cycle"))?;
    }
    Ok(())
}

fn print_cycle(cycle: &FoundCycle, out: &mut Output) -> io::Result<()> {
    let first = cycle.ring.first().map_or("", String::as_str);
    let ring = Text::joined(cycle.ring.iter().map(|id| Untrusted::new(id)), " -> ");
    say!(out, "{}: {} -> {}", counted(cycle.size, "file"), ring, Untrusted::new(first))?;
    let others = Text::joined(cycle.others.iter().map(|id| Untrusted::new(id)), ", ");
    match (cycle.others.is_empty(), cycle.others_cut) {
        (true, 0) => Ok(()),
        (true, cut) => say!(out, "  and {} more", cut),
        (false, 0) => say!(out, "  and {}", others),
        (false, cut) => say!(out, "  and {}, +{}", others, cut),
    }
}
