//! The arguments of `stan run`.

use clap::{Args, ValueEnum};

use super::{TokenizerChoice, WaitArgs, WorkArgs};

#[derive(Args)]
pub(crate) struct RunArgs {
    /// Archive the selected files and the map, instead of the whole repository
    #[arg(long)]
    pub(crate) context: bool,

    /// Open a thread: archive the map with an empty selection
    #[arg(long, requires = "context")]
    pub(crate) meta: bool,

    /// Do not rebuild the map; fail if anything no longer matches it
    #[arg(long, requires = "context", conflicts_with = "meta")]
    pub(crate) frozen: bool,

    /// Indent the map and selection on disk; in archives they are minified
    #[arg(long, requires = "context")]
    pub(crate) pretty: bool,

    /// Archive the map even if it is large
    #[arg(long, requires = "context")]
    pub(crate) full_map: bool,

    /// Show what would be written, and change nothing
    #[arg(long)]
    pub(crate) plan: bool,

    /// How tokens are counted
    #[arg(long, value_name = "TOKENIZER", default_value = "o200k")]
    pub(crate) tokens: TokenizerChoice,

    /// Also write the archive in this format
    #[arg(long, value_name = "FORMAT", default_value = "tar")]
    pub(crate) format: FormatChoice,

    /// With md or xml: maximum number of tokens per part, also as `30k`
    #[arg(long, value_name = "N", value_parser = super::budget)]
    pub(crate) split: Option<u64>,

    /// With md or xml: also put the archive, or its first part, on the clipboard
    #[arg(long, conflicts_with = "plan")]
    pub(crate) copy: bool,

    /// Run these scripts of the configuration (`stan-cli.scripts`) first, and archive their output; without this nothing is run
    #[arg(short = 's', long, value_name = "NAME", num_args = 1.., conflicts_with = "plan")]
    pub(crate) scripts: Vec<String>,

    /// Kill a script, and everything it started, after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600, requires = "scripts", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) timeout: u32,

    /// Write nothing if a script fails
    #[arg(long, requires = "scripts")]
    pub(crate) strict_scripts: bool,

    #[command(flatten)]
    pub(crate) wait: WaitArgs,

    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

/// The format of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatChoice {
    Tar,
    Zip,
    Md,
    Xml,
}
