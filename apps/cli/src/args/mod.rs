//! The command line of `stan`: names, help texts and value checks. What the commands do is in `commands`.

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

/// What every command takes.
#[derive(Args)]
pub(crate) struct GlobalArgs {
    /// Run as if started in DIR
    #[arg(short = 'C', long = "directory", value_name = "DIR", global = true)]
    pub(crate) directory: Option<String>,

    /// Use this configuration file; its folder is the root
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<String>,

    /// Let imports and the configuration reach files below DIR, outside the root (repeatable)
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) allow_outside: Vec<String>,

    /// Workspace folder of stan, relative to the root
    #[arg(long, value_name = "PATH", global = true)]
    pub(crate) stan_path: Option<String>,

    /// Archive this file whatever secrets it holds (repeatable); nothing else allows it
    #[arg(long, value_name = "PATH", global = true)]
    pub(crate) allow_secret: Vec<String>,

    /// Share facts of files with other machines through this server (HTTP GET and PUT); also `STAN_CACHE_URL`
    #[arg(long, value_name = "URL", global = true)]
    pub(crate) cache_url: Option<String>,

    /// Colour the output
    #[arg(long, value_name = "WHEN", global = true, default_value = "auto")]
    pub(crate) color: ColorChoice,

    /// Print nothing on stderr but errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Say on stderr how the answer was found
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Print the dependency graph of the repository, of files, or its cycles
    Graph(GraphArgs),
    /// Write the archive, and the archive of what changed since the snapshot
    Run(RunArgs),
    /// Show what the selection holds: files, sizes, and why each is in
    Select(SelectArgs),
    /// Replace the snapshots that diffs are made against, or go back to an earlier one
    Snap(SnapArgs),
    /// Check the selection file, or rewrite it in the current form
    State(StateArgs),
    /// Propose the files that a task needs, within a budget of tokens
    Suggest(SuggestArgs),
    /// Print the overview of the repository that a model reads, within a budget of tokens
    Map(MapArgs),
    /// Write a picture of the repository: one HTML page that works offline
    View(ViewArgs),
    /// Write the graph as tables (Parquet, NDJSON) into a dataset of many repositories
    Export(ExportArgs),
    /// List what files depend on, with the names that they take
    Deps(NeighboursArgs),
    /// List what depends on files, with the names that are taken
    Dependents(NeighboursArgs),
    /// List import cycles, the largest first
    Cycles(CyclesArgs),
    /// List the declarations of files with their lines and signatures
    Outline(OutlineArgs),
    /// Say where names are declared and who uses them
    Symbol(SymbolArgs),
    /// Print the declarations that explain an error, a place or a symbol, within a budget of tokens
    Pack(PackArgs),
    /// Print files or declarations whole, as signatures or as one line
    Read(ReadArgs),
    /// Look for words in names, paths and lines
    Find(FindArgs),
    /// Compare an archive or a pack with the tree, the installed packages and the map
    Verify(VerifyArgs),
    /// Serve the commands as tools over the Model Context Protocol (standard input and output)
    Mcp(McpArgs),
    /// Set the repository up for assistants: configuration, instructions, ignore rules
    Init(InitArgs),
    /// Check an assistant's reply against the protocol before acting on it
    Check(CheckArgs),
    /// Apply an assistant's reply to the files of the repository, all of it or nothing; or take the last one back
    Apply(ApplyArgs),
    /// Print the completion script for a shell
    Completions(CompletionsArgs),
    /// Print the manual page, or write the pages of all commands into a folder
    Man(ManArgs),
}

impl Cli {
    /// The number of threads that the command line asks for.
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

/// How large a small answer may be.
#[derive(Args)]
pub(crate) struct AnswerArgs {
    /// The most tokens of the answer, three bytes each; 0 for no bound
    #[arg(long, value_name = "N", default_value_t = 500)]
    pub(crate) budget: u64,

    /// The most entries for each file or name
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,

    /// Print the result as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// What every command takes that writes into the workspace.
#[derive(Args)]
pub(crate) struct WaitArgs {
    /// How many seconds to wait for another run in the same workspace
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub(crate) wait: u32,

    /// Do not wait for another run in the same workspace
    #[arg(long, conflicts_with = "wait")]
    pub(crate) no_wait: bool,
}

/// How the graph is made.
#[derive(Args, Default)]
pub(crate) struct GraphWorkArgs {
    /// Number of threads; the answer is the same with any
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,

    /// Neither read nor write the cache
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

/// Forms of findings beside text and JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FindingsFormat {
    /// SARIF 2.1.0, which code hosts show beside the lines
    Sarif,
}

/// How tokens are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TokenizerChoice {
    /// The tokenizer of current models
    O200k,
    /// The tokenizer of the generation before
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
