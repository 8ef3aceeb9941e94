//! The arguments of `stan apply`.

use clap::Args;

use super::WaitArgs;

#[derive(Args)]
pub(crate) struct ApplyArgs {
    /// The reply, as Markdown (`-`: standard input)
    #[arg(value_name = "REPLY", required_unless_present = "undo")]
    pub(crate) reply: Option<String>,

    /// Undo the last applied reply instead
    #[arg(long, conflicts_with_all = ["reply", "dry_run", "strict", "archive", "no_archive", "seen"])]
    pub(crate) undo: bool,

    /// Show the diff, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Accept diffs only as `git apply` does, and treat every rule of the protocol as an error
    #[arg(long)]
    pub(crate) strict: bool,

    /// The archive that the assistant has; by default the workspace's output/archive.tar, if it exists
    #[arg(long, value_name = "ARCHIVE")]
    pub(crate) archive: Option<String>,

    /// The reply does not answer an archive: turn off the rules about what the assistant has seen
    #[arg(long, conflicts_with = "archive")]
    pub(crate) no_archive: bool,

    /// The assistant has seen the map earlier in the thread
    #[arg(long)]
    pub(crate) seen: bool,

    #[command(flatten)]
    pub(crate) wait: WaitArgs,

    /// Print the result as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
