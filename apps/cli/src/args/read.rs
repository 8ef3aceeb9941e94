//! The arguments of `stan read` and `stan find`.

use clap::{Args, ValueEnum};

use super::{AnswerArgs, budget};

#[derive(Args)]
pub(crate) struct ReadArgs {
    /// A file, a declaration of it as FILE#Name or FILE#Owner.member, or some lines as FILE:FROM-TO
    #[arg(value_name = "FILE[#NAME]", required = true)]
    pub(crate) files: Vec<String>,

    /// How much of each to show
    #[arg(long, value_name = "LEVEL", default_value = "full")]
    pub(crate) level: LevelChoice,

    /// Maximum size of the answer in tokens (estimated as bytes / 3; `50k` is 50,000); 0 for no limit
    #[arg(long, value_name = "N", default_value = "4k", value_parser = budget)]
    pub(crate) budget: u64,

    /// Print the result as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// How much of a text is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LevelChoice {
    /// As in the file
    Full,
    /// Without bodies
    Signature,
    /// Kind, name and location
    Line,
}

#[derive(Args)]
pub(crate) struct FindArgs {
    /// Words to search for, ignoring case
    #[arg(value_name = "WORD", required = true)]
    pub(crate) words: Vec<String>,

    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
}
