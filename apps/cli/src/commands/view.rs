//! `stan view`: writes a picture of the repository as one HTML file.

use std::process::{Command, Stdio};

use stan_engine::Engine;
use stan_engine::view::{ViewRequest, view};

use crate::args::{Cli, ViewArgs};
use crate::exit::Failure;
use crate::messages::Messages;
use crate::terminal::{Output, Untrusted, counted, grouped, say, text};
use crate::workspace::Workspace;

/// Programs that open a file in the browser. Nothing from the repository is run: none of them is a shell, which would read signs such
/// as `&` in the path, and the configuration names a part of the path.
const OPENERS: &[&str] = &["open", "xdg-open", "wslview"];

pub(crate) fn run(cli: &Cli, engine: &Engine<'_>, args: &ViewArgs) -> Result<(), Failure> {
    let messages = Messages::new(cli);
    let workspace = Workspace::find(cli, engine)?;
    messages.hints(&workspace.hints);
    let out = args.out.as_ref().map(|typed| workspace.path_of(typed));
    let request = ViewRequest {
        focus: args.focus.iter().map(|typed| workspace.asked_file(engine, typed)).collect::<Result<_, _>>()?,
        out: out.transpose()?,
        tokenizer: args.tokens.into(),
        work: workspace.graph_request(&args.graph)?,
    };
    let mut progress = messages.progress("stan view", &args.wait);
    let mut report = view(engine, &workspace.repository(), &request, &mut progress)?;
    drop(progress);
    let written = match &request.out {
        Some(absolute) => absolute.clone(),
        None => workspace.repository().layout().absolute(&report.file),
    };
    if let Some(typed) = &args.out {
        report.file.clone_from(typed);
    }
    let mut out = Output::new(cli.global.color);
    if args.json {
        out.json(&report)?;
    } else {
        let size = (counted(report.files, "file"), grouped(report.tokens), grouped(report.bytes));
        say!(out, "{}  {}, {} tokens; {} bytes", Untrusted::new(&report.file), size.0, size.1, size.2)?;
        let [cycles, missing] = [(report.cycles, "cycle"), (report.missing, "missing import")];
        say!(out, "{}, {}, {} selected", counted(cycles.0, cycles.1), counted(missing.0, missing.1), report.selected)?;
    }
    out.finish()?;
    messages.warnings(&report.warnings);
    if args.open && !open(&written) {
        messages.explain(&text!("no program to open the page was found; open the file in a browser"));
    }
    Ok(())
}

/// Returns true if one of the programs succeeded.
fn open(path: &str) -> bool {
    OPENERS.iter().any(|program| {
        let child =
            Command::new(program).arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        child.is_ok_and(|mut child| child.wait().is_ok_and(|status| status.success()))
    })
}

#[cfg(test)]
mod tests {
    use super::OPENERS;

    #[test]
    fn no_shell_reads_the_path_of_a_page() {
        for shell in ["cmd", "sh", "powershell", "start"] {
            assert!(!OPENERS.iter().any(|program| program.split('.').next() == Some(shell)), "{shell}");
        }
    }
}
