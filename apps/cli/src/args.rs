//! The command line of `stan`: names, help texts and value checks. What the commands do is in `commands`.

use clap::{Args, Parser, Subcommand, ValueEnum};

/// The context engine for coding assistants: the dependency graph of a repository, exact and reproducible.
#[derive(Parser)]
#[command(name = "stan", version, propagate_version = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Run as if started in DIR
    #[arg(short = 'C', long = "directory", value_name = "DIR", global = true)]
    pub(crate) directory: Option<String>,

    /// Workspace folder of stan, relative to the root
    #[arg(long, value_name = "PATH", global = true)]
    pub(crate) stan_path: Option<String>,

    /// Print nothing on stderr but errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Say on stderr how the answer was found
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Print the dependency graph of the repository, of files, or its cycles
    Graph(GraphArgs),
    /// Set a repository up: configuration, the assistant's instructions, ignore rules
    Init(crate::commands::init::InitArgs),
}

#[derive(Args)]
pub(crate) struct GraphArgs {
    /// Only these files and what they depend on
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<String>,

    /// With FILE: what depends on the files instead
    #[arg(long, requires = "files")]
    pub(crate) dependents: bool,

    /// List import cycles
    #[arg(long, conflicts_with_all = ["format", "stats"])]
    pub(crate) cycles: bool,

    /// Print the result as one JSON document
    #[arg(long, conflicts_with_all = ["format", "stats"])]
    pub(crate) json: bool,

    /// Print a diagram
    #[arg(long, value_name = "FORMAT", conflicts_with = "stats")]
    pub(crate) format: Option<Format>,

    /// Print counts (the default)
    #[arg(long)]
    pub(crate) stats: bool,

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

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Dot,
    Mermaid,
}
