//! The arguments of `stan completions` and `stan man`.

use clap::Args;

#[derive(Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Args)]
pub(crate) struct ManArgs {
    /// Write stan.1 and a page for each command to DIR
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<String>,
}
