//! The arguments of `stan init`.

use clap::{Args, ValueEnum};
use stan_engine::init::McpClient;

#[derive(Args)]
pub(crate) struct InitArgs {
    /// Replace a system document that differs from the shipped one; no other file is ever replaced
    #[arg(long)]
    pub(crate) force: bool,

    /// Show what would be done, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Also write or update a block for coding agents in AGENTS.md; `remove` only removes it
    #[arg(long, value_name = "ACTION", num_args = 0..=1, require_equals = true, default_missing_value = "add")]
    pub(crate) agents: Option<AgentsAction>,

    /// Also register `stan mcp` in this repository's configuration of the client (repeatable)
    #[arg(long, value_name = "CLIENT", conflicts_with = "remove_mcp")]
    pub(crate) mcp: Vec<ClientChoice>,

    /// Only remove the server from the client's configuration (repeatable)
    #[arg(long, value_name = "CLIENT")]
    pub(crate) remove_mcp: Vec<ClientChoice>,

    /// Print the result as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentsAction {
    Add,
    Remove,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClientChoice {
    Claude,
    Cursor,
    Vscode,
    Codex,
    Gemini,
}

impl From<ClientChoice> for McpClient {
    fn from(choice: ClientChoice) -> Self {
        match choice {
            ClientChoice::Claude => Self::Claude,
            ClientChoice::Cursor => Self::Cursor,
            ClientChoice::Vscode => Self::Vscode,
            ClientChoice::Codex => Self::Codex,
            ClientChoice::Gemini => Self::Gemini,
        }
    }
}
