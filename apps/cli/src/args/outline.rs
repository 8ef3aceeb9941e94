//! The arguments of `stan outline` and `stan symbol`.

use clap::Args;

use super::AnswerArgs;

#[derive(Args)]
pub(crate) struct OutlineArgs {
    /// The files
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,

    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
}

#[derive(Args)]
pub(crate) struct SymbolArgs {
    /// A name, or a member as `Owner.member`
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,

    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
}
