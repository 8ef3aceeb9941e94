//! The arguments of `stan run`.

use clap::{Args, ValueEnum};

use super::{TokenizerChoice, WaitArgs, WorkArgs};

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

    /// Write map and selection indented; archives hold them minified
    #[arg(long, requires = "context")]
    pub(crate) pretty: bool,

    /// Archive the map however many tokens it has
    #[arg(long, requires = "context")]
    pub(crate) full_map: bool,

    /// Say what would be written, and change nothing
    #[arg(long)]
    pub(crate) plan: bool,

    /// How tokens are counted
    #[arg(long, value_name = "TOKENIZER", default_value = "o200k")]
    pub(crate) tokens: TokenizerChoice,

    /// Write the archive in this form too, beside the tar
    #[arg(long, value_name = "FORMAT", default_value = "tar")]
    pub(crate) format: FormatChoice,

    /// With md or xml: the most tokens of a part, also as `30k`
    #[arg(long, value_name = "N", value_parser = super::answers::token_count)]
    pub(crate) split: Option<u64>,

    /// With md or xml: also put the archive, or its first part, on the clipboard
    #[arg(long, conflicts_with = "plan")]
    pub(crate) copy: bool,

    /// Run these scripts of the configuration (`stan-cli.scripts`) first, and archive their output; without this nothing is run
    #[arg(short = 's', long, value_name = "NAME", num_args = 1.., conflicts_with = "plan")]
    pub(crate) scripts: Vec<String>,

    /// After so many seconds a script is killed, with all that it started
    #[arg(long, value_name = "SECONDS", default_value_t = 600, requires = "scripts", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) timeout: u32,

    /// Write nothing when a script fails
    #[arg(long, requires = "scripts")]
    pub(crate) strict_scripts: bool,

    #[command(flatten)]
    pub(crate) wait: WaitArgs,

    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

/// The form of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatChoice {
    Tar,
    Zip,
    Md,
    Xml,
}
