//! The command line of `stan`: names, help texts and value checks. What the commands do is in `commands`.

use clap::{Args, Parser, Subcommand, ValueEnum};
use stan_engine::tokens::Tokenizer;

/// The context engine for coding assistants: the dependency graph of a repository, exact and reproducible.
#[derive(Parser)]
#[command(name = "stan", version, propagate_version = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Run as if started in DIR
    #[arg(short = 'C', long = "directory", value_name = "DIR", global = true)]
    pub(crate) directory: Option<String>,

    /// Use this configuration file; its folder is the root
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<String>,

    /// Let imports and the configuration lead to files below DIR, outside the root (repeatable)
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) allow_outside: Vec<String>,

    /// Workspace folder of stan, relative to the root
    #[arg(long, value_name = "PATH", global = true)]
    pub(crate) stan_path: Option<String>,

    /// Archive this file whatever secrets it holds (repeatable); nothing else allows it
    #[arg(long, value_name = "PATH", global = true)]
    pub(crate) allow_secret: Vec<String>,

    /// Colour the output
    #[arg(long, value_name = "WHEN", global = true, default_value = "auto")]
    pub(crate) color: ColorChoice,

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
    /// Write the archive, and the archive of what changed since the snapshot
    Run(RunArgs),
    /// Show what the selection holds: files, sizes, and why each is in
    Select(SelectArgs),
    /// Replace the snapshots that diffs are made against
    Snap(SnapArgs),
    /// Check the selection file, or rewrite it in the current form
    State(StateArgs),
    /// Propose a selection around files, changes or a log that fits a budget of tokens
    Suggest(SuggestArgs),
    /// List the declarations of files with their lines and signatures
    Outline(OutlineArgs),
    /// Say where names are declared and who uses them
    Symbol(SymbolArgs),
    /// Compare an archive with the tree, the installed packages and the map
    Verify(VerifyArgs),
    /// Set the repository up for assistants: configuration, instructions, ignore rules
    Init(InitArgs),
    /// Check an assistant's reply against the protocol before acting on it
    Check(CheckArgs),
    /// Print the completion script for a shell
    Completions(CompletionsArgs),
    /// Print the manual page, or write the pages of all commands into a folder
    Man(ManArgs),
}

#[derive(Args)]
pub(crate) struct OutlineArgs {
    /// The files
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,

    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
}

#[derive(Args)]
pub(crate) struct SymbolArgs {
    /// A name, or a member as `Owner.member`
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,

    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
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

#[derive(Args)]
pub(crate) struct CheckArgs {
    /// The reply, as Markdown (`-`: standard input)
    #[arg(value_name = "REPLY")]
    pub(crate) reply: String,

    /// The archive that the assistant was given; without it the workspace's output/archive.tar
    #[arg(long, value_name = "ARCHIVE")]
    pub(crate) archive: Option<String>,

    /// The map was seen earlier in the thread, whatever the archive shows
    #[arg(long)]
    pub(crate) seen: bool,

    /// Warn when the archive that would result has more tokens
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<u64>,

    /// How tokens are counted
    #[arg(long, value_name = "TOKENIZER", default_value = "o200k")]
    pub(crate) tokens: TokenizerChoice,

    /// Print the result as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct RunArgs {
    /// Archive what the selection asks for, with the map, instead of the whole repository
    #[arg(long)]
    pub(crate) context: bool,

    /// Open a thread: archive the map with an empty selection
    #[arg(long, requires = "context")]
    pub(crate) meta: bool,

    /// Do not rebuild the map: whatever no longer matches it fails the run
    #[arg(long, requires = "context", conflicts_with = "meta")]
    pub(crate) frozen: bool,

    /// Write the map indented, for reading
    #[arg(long, requires = "context")]
    pub(crate) pretty: bool,

    /// Say what would be written, and change nothing
    #[arg(long)]
    pub(crate) plan: bool,

    /// Also count the tokens of what is archived, instead of only estimating them
    #[arg(long, value_name = "TOKENIZER")]
    pub(crate) tokens: Option<TokenizerChoice>,

    #[command(flatten)]
    pub(crate) wait: WaitArgs,

    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

#[derive(Args)]
pub(crate) struct SelectArgs {
    /// Read the selection from FILE (`-`: standard input)
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<String>,

    /// Read the map from FILE instead of the workspace
    #[arg(long, value_name = "FILE")]
    pub(crate) meta: Option<String>,

    /// How tokens are counted
    #[arg(long, value_name = "TOKENIZER", default_value = "o200k")]
    pub(crate) tokens: TokenizerChoice,

    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

#[derive(Args)]
pub(crate) struct SnapArgs {
    /// Only the snapshot of plain runs
    #[arg(long, conflicts_with = "context")]
    pub(crate) plain: bool,

    /// Only the snapshot of context runs
    #[arg(long)]
    pub(crate) context: bool,

    #[command(flatten)]
    pub(crate) wait: WaitArgs,

    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

#[derive(Args)]
pub(crate) struct StateArgs {
    #[command(subcommand)]
    pub(crate) action: StateAction,
}

#[derive(Subcommand)]
pub(crate) enum StateAction {
    /// Say whether the selection file is right, and everything that is wrong with it
    Validate(StateFileArgs),
    /// Rewrite the selection file as version 2
    Migrate(MigrateArgs),
}

#[derive(Args)]
pub(crate) struct MigrateArgs {
    #[command(flatten)]
    pub(crate) file: StateFileArgs,

    #[command(flatten)]
    pub(crate) wait: WaitArgs,
}

#[derive(Args)]
pub(crate) struct StateFileArgs {
    /// The selection file (`-`: standard input; migrate then prints the result)
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<String>,

    /// Print the result as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true).args(["focus", "changed", "log"]))]
pub(crate) struct SuggestArgs {
    /// A file that you work on; `:N` behind it asks for N steps of its dependencies
    #[arg(long, value_name = "FILE[:DEPTH]", num_args = 1..)]
    pub(crate) focus: Vec<String>,

    /// Every source that differs from a revision of git's, or without one from its index; also what git does not track
    #[arg(long, value_name = "REV", num_args = 0..=1)]
    pub(crate) changed: Option<Option<String>>,

    /// Every source that the output of a compiler or test runner names (`-`: standard input)
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<String>,

    /// The most tokens that the selection may have
    #[arg(long, value_name = "N")]
    pub(crate) budget: u64,

    /// How tokens are counted
    #[arg(long, value_name = "TOKENIZER", default_value = "o200k")]
    pub(crate) tokens: TokenizerChoice,

    /// Put the proposal into the selection file
    #[arg(long)]
    pub(crate) write: bool,

    /// Show the score of each file and the way to it
    #[arg(long)]
    pub(crate) explain: bool,

    #[command(flatten)]
    pub(crate) wait: WaitArgs,

    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

#[derive(Args)]
pub(crate) struct VerifyArgs {
    /// The archive; without it the workspace's output/archive.tar
    #[arg(value_name = "ARCHIVE")]
    pub(crate) archive: Option<String>,

    /// Print the result as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct CompletionsArgs {
    /// The shell that is to read the script
    #[arg(value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Args)]
pub(crate) struct ManArgs {
    /// Write stan.1 and a page for each command into DIR
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<String>,
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

/// What every command that needs the graph takes.
#[derive(Args)]
pub(crate) struct WorkArgs {
    /// Print the result as one JSON document
    #[arg(long)]
    pub(crate) json: bool,

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

    /// Print the map that the assistant reads (dependency.meta.json)
    #[arg(long, conflicts_with_all = ["json", "format", "stats", "cycles", "files"])]
    pub(crate) meta: bool,

    /// With --meta: indented
    #[arg(long, requires = "meta")]
    pub(crate) pretty: bool,

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

#[derive(Args)]
pub(crate) struct InitArgs {
    /// Replace a system document that differs from the shipped one; nothing else is ever replaced
    #[arg(long)]
    pub(crate) force: bool,

    /// Say what would be done, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Also put a block for coding agents into AGENTS.md, or bring it up to date; `remove` only takes it out
    #[arg(long, value_name = "ACTION", num_args = 0..=1, require_equals = true, default_missing_value = "add")]
    pub(crate) agents: Option<AgentsAction>,

    /// Print the result as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentsAction {
    Add,
    Remove,
}
