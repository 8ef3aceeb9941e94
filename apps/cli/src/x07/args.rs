//! The command line of `x07`, without the machine flags. What it means is the engine's matter.

use std::ffi::OsString;

use clap::builder::NonEmptyStringValueParser;
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use stan_engine::x07_documents::{Closure, Enclosure};
use stan_engine::{ContextCommand, PointerSpace, SliceCommand, SliceRequest};

use crate::describe::{self, ManualPage};
use crate::usage;

use super::machine;
use super::outcome::{Outcome, Printing};

/// What the arguments ask for.
pub(crate) enum Invocation {
    Slice(SliceCommand, Printing),
    Context(ContextCommand, Printing),
    /// The pages of the manual, to be written into a folder.
    Manual {
        folder: String,
        pages: Vec<ManualPage>,
    },
    /// Help, version, completions, a manual page, or what is wrong with the arguments.
    Text(Outcome),
}

/// Reads the arguments after the program's name. `is_wrapped` tells that the output goes into a `--json` report.
pub(crate) fn parse(program: &OsString, arguments: &[OsString], is_wrapped: bool) -> Invocation {
    let arguments: Vec<OsString> = std::iter::once(program).chain(arguments).cloned().collect();
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => return Invocation::Text(clap_outcome(&usage::explain::<Cli>(&arguments, error))),
    };
    match cli.command {
        Some(Command::Ast { command: Some(AstCommand::Slice(slice)) }) => {
            let printing = Printing { tells_reading: slice.bounds.reading.is_none() && !is_wrapped, is_wrapped };
            Invocation::Slice(slice.into_command(cli.out, is_wrapped), printing)
        }
        Some(Command::Agent { command: Some(AgentCommand::Context(context)) }) => {
            Invocation::Context(context.into_command(cli.out), Printing { tells_reading: false, is_wrapped })
        }
        Some(Command::Completions { shell }) => {
            Invocation::Text(printed(describe::completions(machine::describe(Cli::command()), shell).as_bytes()))
        }
        Some(Command::Man) => manual(cli.out),
        Some(Command::Ast { command: None }) => wrong("missing subcommand (try --help)"),
        Some(Command::Agent { command: None }) => wrong("missing agent subcommand (try --help)"),
        None => wrong("missing command (try --help)"),
    }
}

fn wrong(message: &str) -> Invocation {
    Invocation::Text(Outcome { exit_code: 2, stderr: format!("{message}\n"), ..Outcome::default() })
}

fn printed(stdout: &[u8]) -> Outcome {
    Outcome { stdout: stdout.to_vec(), ..Outcome::default() }
}

fn manual(folder: Option<String>) -> Invocation {
    match (describe::manual_pages(machine::describe(Cli::command())), folder) {
        (Ok(pages), Some(folder)) => Invocation::Manual { folder, pages },
        (Ok(pages), None) => Invocation::Text(printed(pages.first().map_or(&[], |page| page.text.as_bytes()))),
        (Err(error), _) => wrong(&format!("cannot make the manual: {error}")),
    }
}

fn clap_outcome(error: &clap::Error) -> Outcome {
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => printed(text.as_bytes()),
        _ => Outcome { exit_code: 2, stderr: text, ..Outcome::default() },
    }
}

/// Slices of x07 modules and context packs for agents.
#[derive(Parser)]
#[command(name = "x07", bin_name = "x07", version)]
struct Cli {
    /// Write the slice or the pack to this file (with `man`: the pages into this folder).
    #[arg(long, global = true, value_name = "PATH", value_parser = NonEmptyStringValueParser::new())]
    out: Option<String>,

    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Work on x07AST files.
    Ast {
        #[command(subcommand)]
        command: Option<AstCommand>,
    },
    /// Prepare context for agents.
    Agent {
        #[command(subcommand)]
        command: Option<AgentCommand>,
    },
    /// Print the completion script for a shell.
    Completions { shell: clap_complete::Shell },
    /// Print the manual page, or write all of them into the folder that --out names.
    Man,
}

#[derive(Subcommand)]
enum AstCommand {
    /// Cut a module around a place to what an agent needs.
    Slice(SliceArgs),
}

#[derive(Subcommand)]
enum AgentCommand {
    /// Join the slice at a diagnostic with the diagnostics and the digests of all inputs.
    Context(ContextArgs),
}

#[derive(Args)]
struct SliceArgs {
    /// The x07AST file; `-` is standard input.
    #[arg(long = "in", value_name = "PATH", value_parser = NonEmptyStringValueParser::new())]
    input: String,

    /// JSON Pointer to the focus.
    #[arg(long, value_name = "POINTER")]
    ptr: String,

    /// What encloses the pointer [default: decl].
    #[arg(long, value_enum)]
    enclosure: Option<EnclosureArg>,

    #[command(flatten)]
    bounds: BoundArgs,
}

#[derive(Args)]
struct ContextArgs {
    /// Diagnostics: x07diag, or the report of an x07 tool; `-` is standard input.
    #[arg(long, value_name = "PATH", value_parser = NonEmptyStringValueParser::new())]
    diag: String,

    /// The project's manifest (x07.json).
    #[arg(long, value_name = "PATH", value_parser = NonEmptyStringValueParser::new())]
    project: String,

    /// What encloses the pointer [default: decl for a pointer into a declaration, else module].
    #[arg(long, value_enum)]
    enclosure: Option<EnclosureArg>,

    #[command(flatten)]
    bounds: BoundArgs,
}

#[derive(Args)]
struct BoundArgs {
    /// What is included beyond the enclosure [default: all].
    #[arg(long, value_enum)]
    closure: Option<ClosureArg>,

    /// Where the pointer leads in a file that is not in canonical order: in the file as written, or in the canonical
    /// document as for the toolchain [default: file for a slice with --enclosure or --closure and without --json,
    /// else toolchain].
    #[arg(long, value_enum)]
    reading: Option<ReadingArg>,

    /// The most declarations in the slice.
    #[arg(long, value_name = "N")]
    max_nodes: Option<u64>,

    /// The most bytes of canonical JSON in the slice.
    #[arg(long, value_name = "N")]
    max_bytes: Option<u64>,
}

#[derive(Clone, Copy, ValueEnum)]
enum EnclosureArg {
    Decl,
    Defn,
    Module,
}

#[derive(Clone, Copy, ValueEnum)]
enum ClosureArg {
    All,
    Locals,
    Types,
    Imports,
}

#[derive(Clone, Copy, ValueEnum)]
enum ReadingArg {
    File,
    Toolchain,
}

impl From<ReadingArg> for PointerSpace {
    fn from(argument: ReadingArg) -> Self {
        match argument {
            ReadingArg::File => Self::File,
            ReadingArg::Toolchain => Self::Toolchain,
        }
    }
}

impl From<EnclosureArg> for Enclosure {
    fn from(argument: EnclosureArg) -> Self {
        match argument {
            EnclosureArg::Decl => Self::Decl,
            EnclosureArg::Defn => Self::Defn,
            EnclosureArg::Module => Self::Module,
        }
    }
}

impl From<ClosureArg> for Closure {
    fn from(argument: ClosureArg) -> Self {
        match argument {
            ClosureArg::All => Self::All,
            ClosureArg::Locals => Self::Locals,
            ClosureArg::Types => Self::Types,
            ClosureArg::Imports => Self::Imports,
        }
    }
}

impl BoundArgs {
    fn closure(&self) -> Closure {
        self.closure.map_or(Closure::All, Closure::from)
    }
}

impl SliceArgs {
    fn into_command(self, out: Option<String>, is_wrapped: bool) -> SliceCommand {
        // The toolchain's short form and its machine form are read as it reads them: who uses them has its pointers.
        let is_short = self.enclosure.is_none() && self.bounds.closure.is_none();
        let default = if is_short || is_wrapped { PointerSpace::Toolchain } else { PointerSpace::File };
        SliceCommand {
            input: self.input,
            out,
            request: SliceRequest {
                pointer: self.ptr,
                reading: self.bounds.reading.map_or(default, PointerSpace::from),
                enclosure: self.enclosure.map_or(Enclosure::Decl, Enclosure::from),
                closure: self.bounds.closure(),
                max_nodes: self.bounds.max_nodes,
                max_bytes: self.bounds.max_bytes,
            },
        }
    }
}

impl ContextArgs {
    fn into_command(self, out: Option<String>) -> ContextCommand {
        ContextCommand {
            diag: self.diag,
            project: self.project,
            out,
            enclosure: self.enclosure.map(Enclosure::from),
            closure: self.bounds.closure(),
            // Diagnostics are the toolchain's, and so are their pointers.
            reading: self.bounds.reading.map_or(PointerSpace::Toolchain, PointerSpace::from),
            max_nodes: self.bounds.max_nodes,
            max_bytes: self.bounds.max_bytes,
            working_directory: super::files::working_directory(),
            toolchain_version: env!("CARGO_PKG_VERSION"),
        }
    }
}
