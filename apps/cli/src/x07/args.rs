//! The command line of `x07`, without the machine flags. The commands are in the engine.

use std::ffi::OsString;

use clap::builder::NonEmptyStringValueParser;
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use stan_engine::x07_documents::{Closure, Enclosure};
use stan_engine::{ApplySliceCommand, ContextCommand, PointerSpace, SliceCommand, SliceRequest};

use crate::describe::{self, ManualPage};
use crate::usage;

use super::machine;
use super::outcome::{Printing, ProgramOutcome};

/// The parsed arguments.
pub(crate) enum Invocation {
    Slice(SliceCommand, Printing),
    Context(ContextCommand, Printing),
    Apply(ApplySliceCommand, Printing),
    /// The pages of the manual, to be written into a folder.
    Manual {
        folder: String,
        pages: Vec<ManualPage>,
    },
    /// Help, version, completions, a manual page, or an error in the arguments.
    Text(ProgramOutcome),
}

/// Parses the arguments after the program's name. `is_wrapped`: the output goes into a `--json` report.
pub(crate) fn parse(program: &OsString, arguments: &[OsString], is_wrapped: bool) -> Invocation {
    let arguments: Vec<OsString> = std::iter::once(program).chain(arguments).cloned().collect();
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => return Invocation::Text(clap_outcome(&usage::explain::<Cli>(&arguments, error))),
    };
    match cli.command {
        Some(Command::Ast { command: Some(AstCommand::Slice(slice)) }) => {
            let printing = Printing { tells_reading: slice.bounds.reading.is_none() && !is_wrapped, is_wrapped };
            Invocation::Slice(slice.into_command(cli.out), printing)
        }
        Some(Command::Ast { command: Some(AstCommand::ApplySlice(apply)) }) => {
            Invocation::Apply(apply.into_command(cli.out), Printing { tells_reading: false, is_wrapped })
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
    Invocation::Text(ProgramOutcome { exit_code: 2, stderr: format!("{message}\n"), ..ProgramOutcome::default() })
}

fn printed(stdout: &[u8]) -> ProgramOutcome {
    ProgramOutcome { stdout: stdout.to_vec(), ..ProgramOutcome::default() }
}

fn manual(folder: Option<String>) -> Invocation {
    match (describe::manual_pages(machine::describe(Cli::command())), folder) {
        (Ok(pages), Some(folder)) => Invocation::Manual { folder, pages },
        (Ok(pages), None) => Invocation::Text(printed(pages.first().map_or(&[], |page| page.text.as_bytes()))),
        (Err(error), _) => wrong(&format!("cannot make the manual: {error}")),
    }
}

fn clap_outcome(error: &clap::Error) -> ProgramOutcome {
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => printed(text.as_bytes()),
        _ => ProgramOutcome { exit_code: 2, stderr: text, ..ProgramOutcome::default() },
    }
}

/// Slices of x07 modules and context packs for agents.
#[derive(Parser)]
#[command(name = "x07", bin_name = "x07", version)]
struct Cli {
    /// Write the slice, the pack or the module to this file (with `man`: the pages into this folder).
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
    /// Put an edited slice back into the module that it was cut from.
    ApplySlice(ApplySliceArgs),
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

    /// How much of the module encloses the pointer [default: decl].
    #[arg(long, value_enum)]
    enclosure: Option<EnclosureArg>,

    #[command(flatten)]
    bounds: BoundArgs,
}

#[derive(Args)]
struct ApplySliceArgs {
    /// The x07AST file that was sliced; `-` is standard input.
    #[arg(long = "in", value_name = "PATH", value_parser = NonEmptyStringValueParser::new())]
    input: String,

    /// The edited slice: `slice_ast`, or the output of `ast slice --out`.
    #[arg(long, value_name = "PATH", value_parser = NonEmptyStringValueParser::new())]
    slice: String,

    /// The report that `ast slice` printed, or the pack: `slice_meta` and the digest of the file.
    #[arg(long, value_name = "PATH", value_parser = NonEmptyStringValueParser::new())]
    meta: String,
}

#[derive(Args)]
struct ContextArgs {
    /// Diagnostics: x07diag, or the report of an x07 tool; `-` is standard input.
    #[arg(long, value_name = "PATH", value_parser = NonEmptyStringValueParser::new())]
    diag: String,

    /// The project's manifest (x07.json).
    #[arg(long, value_name = "PATH", value_parser = NonEmptyStringValueParser::new())]
    project: String,

    /// How much of the module encloses the pointer [default: decl for a pointer into a declaration, else module].
    #[arg(long, value_enum)]
    enclosure: Option<EnclosureArg>,

    #[command(flatten)]
    bounds: BoundArgs,
}

#[derive(Args)]
struct BoundArgs {
    /// Context to include beyond the enclosure [default: all].
    #[arg(long, value_enum)]
    closure: Option<ClosureArg>,

    /// How to interpret the pointer in a file that is not in canonical order: in the file as written, or in the canonical
    /// document, as the toolchain does [default: toolchain].
    #[arg(long, value_enum)]
    reading: Option<ReadingArg>,

    /// Maximum number of declarations in the slice.
    #[arg(long, value_name = "N")]
    max_nodes: Option<u64>,

    /// Maximum size of the slice in bytes of canonical JSON.
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

    /// The interpretation of the pointer: the command's own rule for canonical documents, unless `file` was requested.
    fn pointer_space(&self, canonical: PointerSpace) -> PointerSpace {
        match self.reading {
            Some(ReadingArg::File) => PointerSpace::File,
            Some(ReadingArg::Toolchain) | None => canonical,
        }
    }
}

impl SliceArgs {
    fn into_command(self, out: Option<String>) -> SliceCommand {
        SliceCommand {
            input: self.input,
            out,
            request: SliceRequest {
                pointer: self.ptr,
                pointer_space: self.bounds.pointer_space(PointerSpace::Canonical),
                enclosure: self.enclosure.map_or(Enclosure::Decl, Enclosure::from),
                closure: self.bounds.closure(),
                max_nodes: self.bounds.max_nodes,
                max_bytes: self.bounds.max_bytes,
            },
        }
    }
}

impl ApplySliceArgs {
    fn into_command(self, out: Option<String>) -> ApplySliceCommand {
        ApplySliceCommand { input: self.input, slice: self.slice, meta: self.meta, out }
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
            pointer_space: self.bounds.pointer_space(PointerSpace::Toolchain),
            max_nodes: self.bounds.max_nodes,
            max_bytes: self.bounds.max_bytes,
            working_directory: super::files::working_directory(),
            toolchain_version: env!("CARGO_PKG_VERSION"),
        }
    }
}
