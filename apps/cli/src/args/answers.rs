//! Arguments of the small answers about dependencies, and of the overview. What the commands do is in `commands`.

use clap::{Args, ValueEnum};

use super::{AnswerArgs, FindingsFormat, GraphWorkArgs, TokenizerChoice};

#[derive(Args)]
pub(crate) struct NeighboursArgs {
    /// The files, or the names that the graph has for packages and builtins
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,

    /// How many steps to follow
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
    /// Only a shortest ring of each cycle, the shortest first
    #[arg(long)]
    pub(crate) shortest: bool,

    /// Print the cycles in another form, all of them
    #[arg(long, value_name = "FORMAT", conflicts_with_all = ["json", "budget", "limit"])]
    pub(crate) format: Option<FindingsFormat>,

    #[command(flatten)]
    pub(crate) kinds: KindArgs,

    #[command(flatten)]
    pub(crate) answer: AnswerArgs,

    #[command(flatten)]
    pub(crate) graph: GraphWorkArgs,
}

/// Which edges count.
#[derive(Args)]
pub(crate) struct KindArgs {
    /// Only edges of these kinds
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    pub(crate) kinds: Vec<KindChoice>,
}

impl KindArgs {
    /// runtime 1, type 2, dynamic 4; all of them when none is named.
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
    /// The most tokens of the overview, also as `8k`; 0 for all of it
    #[arg(long, value_name = "N", value_parser = token_count)]
    pub(crate) budget: Option<u64>,

    /// A folder or file that is shown in most detail (repeatable)
    #[arg(long, value_name = "PATH")]
    pub(crate) focus: Vec<String>,

    /// What has a line of its own
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

/// `16000`, `16k` or `1m`.
pub(crate) fn token_count(typed: &str) -> Result<u64, String> {
    let lower = typed.trim().to_ascii_lowercase();
    let (digits, unit) = match lower.strip_suffix('k') {
        Some(digits) => (digits, 1000),
        None => match lower.strip_suffix('m') {
            Some(digits) => (digits, 1_000_000),
            None => (&*lower, 1),
        },
    };
    let number = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    number.ok_or_else(|| "expected a number of tokens, such as 16000 or 16k".to_owned())
}
