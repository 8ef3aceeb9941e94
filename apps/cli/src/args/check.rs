//! The arguments of `stan check`.

use clap::Args;

use super::{FindingsFormat, TokenizerChoice};

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

    /// Take diffs only as `git apply` takes them, and bad manners (0015, 0016) for errors
    #[arg(long)]
    pub(crate) strict: bool,

    /// Warn when the archive that would result has more tokens
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<u64>,

    /// How tokens are counted
    #[arg(long, value_name = "TOKENIZER", default_value = "o200k")]
    pub(crate) tokens: TokenizerChoice,

    /// Print the result as one JSON document
    #[arg(long)]
    pub(crate) json: bool,

    /// Print the findings in another form
    #[arg(long, value_name = "FORMAT", conflicts_with = "json")]
    pub(crate) format: Option<FindingsFormat>,
}
