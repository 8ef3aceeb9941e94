//! The arguments of `stan view`.

use clap::Args;

use super::{GraphWorkArgs, TokenizerChoice, WaitArgs};

#[derive(Args)]
pub(crate) struct ViewArgs {
    /// Write the page to FILE instead of the workspace folder
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<String>,

    /// The file or folder to open first
    #[arg(long, value_name = "PATH")]
    pub(crate) focus: Option<String>,

    /// Open the page in the browser
    #[arg(long)]
    pub(crate) open: bool,

    /// How tokens are counted
    #[arg(long, value_name = "TOKENIZER", default_value = "o200k")]
    pub(crate) tokens: TokenizerChoice,

    /// Print the report as one JSON document
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) wait: WaitArgs,

    #[command(flatten)]
    pub(crate) graph: GraphWorkArgs,
}
