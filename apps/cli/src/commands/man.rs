//! `stan man`: the manual page of the program on stdout, or the pages of all commands in a folder. Needs no repository.

use std::io;
use std::path::Path;

use clap::CommandFactory;
use stan_engine::{OsSystem, write_document};

use crate::args::{Cli, ManArgs};
use crate::describe::{self, ManualPage};
use crate::exit::Failure;
use crate::terminal::{Output, Untrusted, say};

/// The text after the options in the program's manual page.
const EXIT_CODES: &str = "Exit codes: 0 done, 1 the input or the workspace is at fault, 2 usage, 3 verification failed, \
                          4 internal error.";

pub(crate) fn run(cli: &Cli, args: &ManArgs) -> Result<(), Failure> {
    let pages = describe::manual_pages(Cli::command().after_help(EXIT_CODES))?;
    let mut out = Output::new(cli.global.color);
    match &args.out {
        None => pages.iter().take(1).try_for_each(|page| out.generated(&page.text))?,
        Some(folder) => {
            // Relative to the folder of `-C`, as in every command.
            let place = Path::new(cli.global.directory.as_deref().unwrap_or(".")).join(folder);
            write_pages(&place, &pages).map_err(|error| {
                Failure::input(format!("cannot write the pages into `{folder}`: {error}"))
                    .hint("name a folder that you may write to after --out")
            })?;
            for page in &pages {
                say!(out, "{}", Untrusted::new(&Path::new(folder).join(&page.file_name).to_string_lossy()))?;
            }
        }
    }
    out.finish()?;
    Ok(())
}

fn write_pages(folder: &Path, pages: &[ManualPage]) -> io::Result<()> {
    pages.iter().try_for_each(|page| write_document(&OsSystem, &folder.join(&page.file_name), page.text.as_bytes()))
}
