//! The command line of a program as completion scripts and manual pages, generated from its definition. The caller chooses the
//! program and writes the bytes.

use std::io;

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

/// One page of the manual.
pub(crate) struct ManualPage {
    /// Such as `stan-run.1`.
    pub(crate) file_name: String,
    pub(crate) text: Generated,
}

/// Bytes that are made from the definition of the command line alone. Only this module makes them.
pub(crate) struct Generated(Vec<u8>);

impl Generated {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// The script that teaches a shell the program's commands and options.
pub(crate) fn completions(mut command: Command, shell: Shell) -> Generated {
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut script);
    Generated(script)
}

/// A page for the program, and one for each of its commands; the program's own comes first.
pub(crate) fn manual_pages(command: Command) -> io::Result<Vec<ManualPage>> {
    // Leave out `help`: it needs no manual page.
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    collect_pages(&command, &mut pages)?;
    Ok(pages)
}

fn collect_pages(command: &Command, pages: &mut Vec<ManualPage>) -> io::Result<()> {
    let page = Man::new(command.clone());
    let mut text = Vec::new();
    page.render(&mut text)?;
    pages.push(ManualPage { file_name: page.get_filename(), text: Generated(text) });
    command.get_subcommands().filter(|below| !below.is_hide_set()).try_for_each(|below| collect_pages(below, pages))
}
