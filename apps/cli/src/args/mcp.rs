//! The arguments of `stan mcp`.

use clap::Args;

#[derive(Args)]
pub(crate) struct McpArgs {
    /// Serve the repository in DIR; by default the one around the working directory
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<String>,
}
