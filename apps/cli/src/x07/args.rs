//! The command line of `x07`, without the machine flags. What it means is the engine's matter.

use std::ffi::OsString;

use clap::builder::NonEmptyStringValueParser;
use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand, ValueEnum};
use stan_engine::x07_documents::{Closure, Enclosure};
use stan_engine::{ContextCommand, Outcome, SliceCommand, SliceRequest};

/// What the arguments ask for.
pub(crate) enum Invocation {
    Slice(SliceCommand),
    Context(ContextCommand),
    /// Help, version, or what is wrong with the arguments.
    Text(Outcome),
}

/// Reads the arguments after the program's name.
pub(crate) fn parse(program: &OsString, arguments: &[OsString]) -> Invocation {
    let arguments = std::iter::once(program).chain(arguments);
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return Invocation::Text(clap_outcome(&error)),
    };
    match cli.command {
        Some(Command::Ast { command: Some(AstCommand::Slice(slice)) }) => {
            Invocation::Slice(slice.into_command(cli.out))
        }
        Some(Command::Agent { command: Some(AgentCommand::Context(context)) }) => {
            Invocation::Context(context.into_command(cli.out))
        }
        Some(Command::Ast { command: None }) => usage("missing subcommand (try --help)"),
        Some(Command::Agent { command: None }) => usage("missing agent subcommand (try --help)"),
        None => usage("missing command (try --help)"),
    }
}

fn usage(message: &str) -> Invocation {
    Invocation::Text(Outcome { exit_code: 2, stderr: format!("{message}\n"), ..Outcome::default() })
}

fn clap_outcome(error: &clap::Error) -> Outcome {
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            Outcome { stdout: text.into_bytes(), ..Outcome::default() }
        }
        _ => Outcome { exit_code: 2, stderr: text, ..Outcome::default() },
    }
}

/// Slices of x07 modules and context packs for agents.
#[derive(Parser)]
#[command(name = "x07", bin_name = "x07", version)]
struct Cli {
    /// Write the slice or the pack to this file.
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

    /// JSON Pointer into the file as written.
    #[arg(long, value_name = "POINTER")]
    ptr: String,

    /// What encloses the pointer.
    #[arg(long, value_enum, default_value = "decl")]
    enclosure: EnclosureArg,

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
    /// What is included beyond the enclosure.
    #[arg(long, value_enum, default_value = "all")]
    closure: ClosureArg,

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

impl SliceArgs {
    fn into_command(self, out: Option<String>) -> SliceCommand {
        SliceCommand {
            input: self.input,
            out,
            request: SliceRequest {
                pointer: self.ptr,
                enclosure: self.enclosure.into(),
                closure: self.bounds.closure.into(),
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
            closure: self.bounds.closure.into(),
            max_nodes: self.bounds.max_nodes,
            max_bytes: self.bounds.max_bytes,
            working_directory: super::files::working_directory(),
            toolchain_version: env!("CARGO_PKG_VERSION"),
        }
    }
}
