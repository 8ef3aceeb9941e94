//! The arguments of `stan read` and `stan find`.

use clap::{Args, ValueEnum};

use super::{AnswerArgs, budget};

#[derive(Args)]
pub(crate) struct ReadArgs {
    /// A file, a declaration of it as FILE#Name or FILE#Owner.member, or some lines as FILE:FROM-TO
    #[arg(value_name = "FILE[#NAME]", required = true)]
    pub(crate) files: Vec<String>,

    /// How much of each is shown
    #[arg(long, value_name = "LEVEL", default_value = "full")]
    pub(crate) level: LevelChoice,

    /// The most tokens of the answer, three bytes each (`50k` is 50,000); 0 for no bound
    #[arg(long, value_name = "N", default_value = "4k", value_parser = budget)]
    pub(crate) budget: u64,

    /// Print the result as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// How much of a text is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LevelChoice {
    /// As it is in the file
    Full,
    /// Without bodies
    Signature,
    /// Kind, name and place
    Line,
}

#[derive(Args)]
pub(crate) struct FindArgs {
    /// Words that a name, path or line has, in any case
    #[arg(value_name = "WORD", required = true)]
    pub(crate) words: Vec<String>,

    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
}

/// `FILE:LINE` and `FILE:FROM-TO` as other answers print places.
pub(crate) fn line_range(typed: &str) -> Option<(&str, (u32, u32))> {
    let (file, lines) = typed.rsplit_once(':').filter(|(file, _)| !file.is_empty())?;
    let (from, to) = lines.split_once('-').unwrap_or((lines, lines));
    // Larger numbers than this can hold mean the end.
    let number = |digits: &str| -> Option<u32> {
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse().unwrap_or(u32::MAX))
    };
    Some((file, (number(from)?, number(to)?)))
}
