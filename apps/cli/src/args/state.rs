//! The arguments of `stan state`.

use clap::{Args, Subcommand};

use super::WaitArgs;

#[derive(Args)]
pub(crate) struct StateArgs {
    #[command(subcommand)]
    pub(crate) action: StateAction,
}

#[derive(Subcommand)]
pub(crate) enum StateAction {
    /// Check the selection file and report every error in it
    Validate(StateFileArgs),
    /// Rewrite the selection file as version 2
    Migrate(MigrateArgs),
}

#[derive(Args)]
pub(crate) struct MigrateArgs {
    #[command(flatten)]
    pub(crate) file: StateFileArgs,

    #[command(flatten)]
    pub(crate) wait: WaitArgs,
}

#[derive(Args)]
pub(crate) struct StateFileArgs {
    /// The selection file (`-`: standard input; migrate then prints the result)
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<String>,

    /// Print the result as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
