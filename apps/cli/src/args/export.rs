//! The arguments of `stan export`.

use clap::{Args, ValueEnum};
use stan_engine::export::DatasetFormat;

use super::{GraphWorkArgs, TokenizerChoice};

#[derive(Args)]
pub(crate) struct ExportArgs {
    /// The folder of the dataset; created if it does not exist
    #[arg(value_name = "DIR")]
    pub(crate) dataset: String,

    /// The repositories; by default the one around the working directory
    #[arg(value_name = "ROOT")]
    pub(crate) roots: Vec<String>,

    /// How tables are written
    #[arg(long, value_name = "FORMAT", default_value = "parquet")]
    pub(crate) format: DatasetFormatChoice,

    /// Name of a repository in the dataset, one for each ROOT in the same order; by default the name of its folder
    #[arg(long, value_name = "ID")]
    pub(crate) repo_id: Vec<String>,

    /// Name for the state of the files; by default the commit, or `worktree` if there is no commit
    #[arg(long, value_name = "ID")]
    pub(crate) commit: Option<String>,

    /// Remove other commits of these repositories from the dataset
    #[arg(long)]
    pub(crate) prune: bool,

    /// How tokens are counted
    #[arg(long, value_name = "TOKENIZER", default_value = "o200k")]
    pub(crate) tokens: TokenizerChoice,

    /// Print the report as one JSON document
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) graph: GraphWorkArgs,
}

/// How tables are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DatasetFormatChoice {
    /// Apache Parquet
    Parquet,
    /// One JSON object on each line
    Ndjson,
}

impl From<DatasetFormatChoice> for DatasetFormat {
    fn from(choice: DatasetFormatChoice) -> Self {
        match choice {
            DatasetFormatChoice::Parquet => Self::Parquet,
            DatasetFormatChoice::Ndjson => Self::Ndjson,
        }
    }
}
