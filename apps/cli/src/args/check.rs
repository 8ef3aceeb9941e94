//! The arguments of `stan check`.

use clap::Args;

use super::{FindingsFormat, TokenizerChoice};

#[derive(Args)]
pub(crate) struct CheckArgs {
    /// The reply, as Markdown (`-`: standard input)
    #[arg(value_name = "REPLY")]
    pub(crate) reply: String,

    /// The archive that the assistant has; by default the workspace's output/archive.tar
    #[arg(long, value_name = "ARCHIVE")]
    pub(crate) archive: Option<String>,

    /// The assistant has seen the map earlier in the thread
    #[arg(long)]
    pub(crate) seen: bool,

    /// Accept diffs only as `git apply` does, and treat style rules (0015, 0016) as errors
    #[arg(long)]
    pub(crate) strict: bool,

    /// Warn if the resulting archive would have more tokens
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<u64>,

    /// How tokens are counted
    #[arg(long, value_name = "TOKENIZER", default_value = "o200k")]
    pub(crate) tokens: TokenizerChoice,

    /// Print the result as one JSON document
    #[arg(long)]
    pub(crate) json: bool,

    /// Print the findings in another format
    #[arg(long, value_name = "FORMAT", conflicts_with = "json")]
    pub(crate) format: Option<FindingsFormat>,
}
