//! The arguments of `stan select`.

use clap::Args;

use super::{TokenizerChoice, WorkArgs};

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
