//! The arguments of `stan verify`.

use clap::Args;

#[derive(Args)]
pub(crate) struct VerifyArgs {
    /// The archive, or a pack written by `stan pack`; by default the workspace's output/archive.tar
    #[arg(value_name = "ARCHIVE")]
    pub(crate) archive: Option<String>,

    /// Print the result as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
