//! Arguments of the small answers about dependencies, and of the overview. The commands are in `commands`.

use clap::{Args, ValueEnum};

use super::{AnswerArgs, FindingsFormat, GraphWorkArgs, TokenizerChoice, budget};

#[derive(Args)]
pub(crate) struct NeighboursArgs {
    /// Files, or ids of packages and builtins as the graph shows them
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,

    /// Number of steps to follow
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) depth: u32,

    #[command(flatten)]
    pub(crate) kinds: KindArgs,

    #[command(flatten)]
    pub(crate) answer: AnswerArgs,

    #[command(flatten)]
    pub(crate) graph: GraphWorkArgs,
}

#[derive(Args)]
pub(crate) struct CyclesArgs {
    /// Show only a shortest path around each cycle, the shortest first
    #[arg(long)]
    pub(crate) shortest: bool,

    /// Print all cycles in another format
    #[arg(long, value_name = "FORMAT", conflicts_with_all = ["json", "budget", "limit"])]
    pub(crate) format: Option<FindingsFormat>,

    #[command(flatten)]
    pub(crate) kinds: KindArgs,

    #[command(flatten)]
    pub(crate) answer: AnswerArgs,

    #[command(flatten)]
    pub(crate) graph: GraphWorkArgs,
}

/// The kinds of edges that count.
#[derive(Args)]
pub(crate) struct KindArgs {
    /// Only edges of these kinds
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    pub(crate) kinds: Vec<KindChoice>,
}

impl KindArgs {
    /// The sum of runtime 1, type 2 and dynamic 4; all of them if no kind is given.
    pub(crate) fn mask(&self) -> u8 {
        let mask = self.kinds.iter().fold(0, |mask, kind| {
            mask | match kind {
                KindChoice::Runtime => 1,
                KindChoice::Type => 2,
                KindChoice::Dynamic => 4,
            }
        });
        if mask == 0 { 7 } else { mask }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindChoice {
    Runtime,
    Type,
    Dynamic,
}

#[derive(Args)]
pub(crate) struct MapArgs {
    /// Maximum number of tokens, also as `8k`; 0 for the whole overview
    #[arg(long, value_name = "N", value_parser = budget)]
    pub(crate) budget: Option<u64>,

    /// A folder or file to show in most detail (repeatable)
    #[arg(long, value_name = "PATH")]
    pub(crate) focus: Vec<String>,

    /// Entries that get their own line
    #[arg(long, value_name = "LEVEL", default_value = "file")]
    pub(crate) level: LevelChoice,

    /// How tokens are counted
    #[arg(long, value_name = "TOKENIZER", default_value = "o200k")]
    pub(crate) tokens: TokenizerChoice,

    /// Print the result as one JSON document
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) graph: GraphWorkArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LevelChoice {
    File,
    Folder,
    Package,
}
