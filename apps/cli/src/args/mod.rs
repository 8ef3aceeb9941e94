//! The command line of `stan`: names, help texts and value checks. The commands are in `commands`.

pub(crate) mod answers;
mod apply;
mod check;
mod export;
mod graph;
mod help;
mod init;
mod mcp;
mod outline;
mod pack;
mod parse;
mod read;
mod run;
mod select;
mod shell;
mod snap;
mod state;
mod suggest;
mod task;
mod verify;
mod view;

pub(crate) use answers::{CyclesArgs, MapArgs, NeighboursArgs};
pub(crate) use apply::ApplyArgs;
pub(crate) use check::CheckArgs;
pub(crate) use export::ExportArgs;
pub(crate) use graph::{Format, GraphArgs};
pub(crate) use init::{AgentsAction, InitArgs};
pub(crate) use mcp::McpArgs;
pub(crate) use outline::{OutlineArgs, SymbolArgs};
pub(crate) use pack::{ClosureChoice, ExternalsChoice, PackArgs, PackFormat};
pub(crate) use read::{FindArgs, LevelChoice, ReadArgs};
pub(crate) use run::{FormatChoice, RunArgs};
pub(crate) use select::SelectArgs;
pub(crate) use shell::{CompletionsArgs, ManArgs};
pub(crate) use snap::{SnapAction, SnapArgs};
pub(crate) use state::{MigrateArgs, StateAction, StateArgs, StateFileArgs};
pub(crate) use suggest::SuggestArgs;
pub(crate) use task::{TaskArgs, budget};
pub(crate) use verify::VerifyArgs;
pub(crate) use view::ViewArgs;

use clap::{Args, Parser, Subcommand, ValueEnum};
use stan_engine::tokens::Tokenizer;

/// Options that every command takes; in its help they come after its own.
const GLOBAL: &str = "Options of every command";

/// The right context for coding assistants: maps, packs and archives of a repository, within a budget, reproducible.
#[derive(Parser)]
#[command(
    name = "stan",
    version,
    propagate_version = true,
    arg_required_else_help = true,
    help_template = help::TEMPLATE
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Args)]
pub(crate) struct GlobalArgs {
    /// Run as if started in DIR
    #[arg(short = 'C', long = "directory", value_name = "DIR", global = true, help_heading = GLOBAL)]
    pub(crate) directory: Option<String>,

    /// Use this configuration file; its folder is the root
    #[arg(long, value_name = "FILE", global = true, help_heading = GLOBAL)]
    pub(crate) config: Option<String>,

    /// Allow imports and the configuration to read files in DIR, outside the root (repeatable)
    #[arg(long, value_name = "DIR", global = true, help_heading = GLOBAL)]
    pub(crate) allow_outside: Vec<String>,

    /// Workspace folder of stan, relative to the root
    #[arg(long, value_name = "PATH", global = true, help_heading = GLOBAL)]
    pub(crate) stan_path: Option<String>,

    /// Include this file although it contains a secret (repeatable); nothing else allows that
    #[arg(long, value_name = "PATH", global = true, help_heading = GLOBAL)]
    pub(crate) allow_secret: Vec<String>,

    /// Share extracted facts of files with other machines through this server (HTTP GET and PUT); also `STAN_CACHE_URL`
    #[arg(long, value_name = "URL", global = true, help_heading = GLOBAL)]
    pub(crate) cache_url: Option<String>,

    /// Colour the output
    #[arg(long, value_name = "WHEN", global = true, help_heading = GLOBAL, default_value = "auto")]
    pub(crate) color: ColorChoice,

    /// Print only errors on stderr
    #[arg(short, long, global = true, help_heading = GLOBAL, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Explain on stderr how the answer was found
    #[arg(short, long, global = true, help_heading = GLOBAL)]
    pub(crate) verbose: bool,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Print the dependency graph of the repository, of files, or its cycles
    Graph(GraphArgs),
    /// Write the archive, and the diff archive of what changed since the snapshot
    Run(RunArgs),
    /// Show what the selection contains: files, sizes, and why each is included
    Select(SelectArgs),
    /// Replace the snapshots that diffs are relative to, or go back to an earlier one
    Snap(SnapArgs),
    /// Check the selection file, or rewrite it in the current form
    State(StateArgs),
    /// Propose the files that a task needs, within a token budget
    Suggest(SuggestArgs),
    /// Print an overview of the repository for a model, within a token budget
    Map(MapArgs),
    /// Write an overview of the repository for a person: one HTML page that works offline
    View(ViewArgs),
    /// Write the graph as tables (Parquet, NDJSON) into a dataset of many repositories
    Export(ExportArgs),
    /// List what files import, with the imported names
    Deps(NeighboursArgs),
    /// List what imports files, with the imported names
    Dependents(NeighboursArgs),
    /// List import cycles, the largest first
    Cycles(CyclesArgs),
    /// List the declarations of files with their lines and signatures
    Outline(OutlineArgs),
    /// Show where names are declared and used
    Symbol(SymbolArgs),
    /// Collect the code that explains an error, a location, a symbol or a task, within a token budget
    Pack(PackArgs),
    /// Print files or declarations in full, as signatures or as one line
    Read(ReadArgs),
    /// Search names, paths and lines for words
    Find(FindArgs),
    /// Compare an archive or a pack with the files on disk, the installed packages and the map
    Verify(VerifyArgs),
    /// Serve the commands as tools over the Model Context Protocol (standard input and output)
    Mcp(McpArgs),
    /// Set up the repository for assistants: configuration, instructions, ignore rules
    Init(InitArgs),
    /// Check an assistant's reply against the protocol before you act on it
    Check(CheckArgs),
    /// Apply an assistant's reply to the files of the repository, all or nothing; or undo the last one
    Apply(ApplyArgs),
    /// Print the completion script for a shell
    Completions(CompletionsArgs),
    /// Print the manual page, or write the pages of all commands to a folder
    Man(ManArgs),
}

impl Cli {
    /// The number of threads on the command line.
    pub(crate) fn threads(&self) -> Option<usize> {
        let threads = match &self.command {
            Command::Graph(args) => args.graph.threads,
            Command::Run(args) => args.work.graph.threads,
            Command::Select(args) => args.work.graph.threads,
            Command::Snap(args) => args.work.graph.threads,
            Command::Suggest(args) => args.work.graph.threads,
            Command::Map(args) => args.graph.threads,
            Command::Export(args) => args.graph.threads,
            Command::Deps(args) | Command::Dependents(args) => args.graph.threads,
            Command::Cycles(args) => args.graph.threads,
            Command::View(args) => args.graph.threads,
            _ => None,
        };
        threads.map(usize::from)
    }
}

/// The limits of a small answer.
#[derive(Args)]
pub(crate) struct AnswerArgs {
    /// Maximum size of the answer in tokens (estimated as bytes / 3; `2k` is 2,000); 0 for no limit
    #[arg(long, value_name = "N", default_value = "500", value_parser = budget)]
    pub(crate) budget: u64,

    /// Maximum number of entries per file or name
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,

    /// Print the result as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of every command that writes to the workspace.
#[derive(Args)]
pub(crate) struct WaitArgs {
    /// Maximum number of seconds to wait for another run in the same workspace
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub(crate) wait: u32,

    /// Do not wait for another run in the same workspace
    #[arg(long, conflicts_with = "wait")]
    pub(crate) no_wait: bool,
}

/// Options for computing the graph.
#[derive(Args, Default)]
pub(crate) struct GraphWorkArgs {
    /// Number of threads; does not change the answer
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,

    /// Do not use the cache
    #[arg(long, conflicts_with = "cache_dir")]
    pub(crate) no_cache: bool,

    /// Keep the cache in DIR instead of the workspace folder
    #[arg(long, value_name = "DIR")]
    pub(crate) cache_dir: Option<String>,
}

/// The arguments of commands that need the graph and print a report.
#[derive(Args)]
pub(crate) struct WorkArgs {
    /// Print the result as one JSON document
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) graph: GraphWorkArgs,
}

/// Formats of findings besides text and JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FindingsFormat {
    /// SARIF 2.1.0, which code hosts show beside the code
    Sarif,
}

/// How tokens are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TokenizerChoice {
    /// The tokenizer of current models
    O200k,
    /// The tokenizer of the previous generation
    Cl100k,
    /// A quarter of the bytes
    Bytes4,
}

impl From<TokenizerChoice> for Tokenizer {
    fn from(choice: TokenizerChoice) -> Self {
        match choice {
            TokenizerChoice::O200k => Self::O200k,
            TokenizerChoice::Cl100k => Self::Cl100k,
            TokenizerChoice::Bytes4 => Self::Bytes4,
        }
    }
}

/// When output is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    Auto,
    Always,
    Never,
}
