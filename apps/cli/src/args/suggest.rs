//! The arguments of `stan suggest`.

use clap::Args;

use super::{TaskArgs, TokenizerChoice, WaitArgs, WorkArgs, budget};

#[derive(Args)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true).args(["focus", "changed", "log", "about"]))]
pub(crate) struct SuggestArgs {
    #[command(flatten)]
    pub(crate) task: TaskArgs,

    /// Maximum number of tokens in the selection, as `32000` or `32k`; 0 for no limit
    #[arg(long, value_name = "N", default_value = "32k", value_parser = budget)]
    pub(crate) budget: u64,

    /// How tokens are counted
    #[arg(long, value_name = "TOKENIZER", default_value = "o200k")]
    pub(crate) tokens: TokenizerChoice,

    /// Write few entries with depths instead of listing every file
    #[arg(long)]
    pub(crate) compact: bool,

    /// Write the proposal to the selection file
    #[arg(long)]
    pub(crate) write: bool,

    /// Show the score of each file and its three largest terms
    #[arg(long)]
    pub(crate) explain: bool,

    #[command(flatten)]
    pub(crate) wait: WaitArgs,

    #[command(flatten)]
    pub(crate) work: WorkArgs,
}
