//! The arguments of `stan apply`.

use clap::Args;

use super::WaitArgs;

#[derive(Args)]
pub(crate) struct ApplyArgs {
    /// The reply, as Markdown (`-`: standard input)
    #[arg(value_name = "REPLY", required_unless_present = "undo")]
    pub(crate) reply: Option<String>,

    /// Take the last applied reply back instead
    #[arg(long, conflicts_with_all = ["reply", "dry_run", "strict", "archive", "no_archive", "seen"])]
    pub(crate) undo: bool,

    /// Show the diff, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Take diffs only as `git apply` takes them, and every rule of the protocol for an error
    #[arg(long)]
    pub(crate) strict: bool,

    /// The archive that the assistant was given; without it the workspace's output/archive.tar, if there is one
    #[arg(long, value_name = "ARCHIVE")]
    pub(crate) archive: Option<String>,

    /// The reply answers no archive: rules about what the assistant has seen are off
    #[arg(long, conflicts_with = "archive")]
    pub(crate) no_archive: bool,

    /// The map was seen earlier in the thread, whatever the archive shows
    #[arg(long)]
    pub(crate) seen: bool,

    #[command(flatten)]
    pub(crate) wait: WaitArgs,

    /// Print the result as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
