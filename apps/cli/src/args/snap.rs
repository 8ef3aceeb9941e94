//! The arguments of `stan snap`.

use clap::{Args, ValueEnum};

use super::{WaitArgs, WorkArgs};

#[derive(Args)]
pub(crate) struct SnapArgs {
    /// Instead of making a snapshot, list or restore one of the last ten of each kind
    #[arg(value_name = "ACTION")]
    pub(crate) action: Option<SnapAction>,

    /// With `set`: the number of the snapshot, as shown by `list`; 0 is the newest
    #[arg(value_name = "N", requires = "action", required_if_eq("action", "set"))]
    pub(crate) number: Option<usize>,

    /// Only the snapshot of plain runs
    #[arg(long, conflicts_with = "context")]
    pub(crate) plain: bool,

    /// Only the snapshot of context runs
    #[arg(long)]
    pub(crate) context: bool,

    #[command(flatten)]
    pub(crate) wait: WaitArgs,

    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SnapAction {
    /// Show the stored snapshots
    List,
    /// Go back to the previous one
    Undo,
    /// Go forward again
    Redo,
    /// Go to number N
    Set,
}
