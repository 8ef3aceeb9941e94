//! The arguments of `stan graph`.

use clap::{Args, ValueEnum};

use super::GraphWorkArgs;
use super::answers::LevelChoice;

#[derive(Args)]
pub(crate) struct GraphArgs {
    /// Only these files, or the files of these folders, and what they depend on
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<String>,

    /// With FILE: the files' dependents instead
    #[arg(long, requires = "files")]
    pub(crate) dependents: bool,

    /// List import cycles
    #[arg(long, conflicts_with_all = ["format", "stats"])]
    pub(crate) cycles: bool,

    /// Print the result as one JSON document
    #[arg(long, conflicts_with_all = ["format", "stats"])]
    pub(crate) json: bool,

    /// Print the map that the assistant reads (dependency.meta.json)
    #[arg(long, conflicts_with_all = ["json", "format", "stats", "cycles", "files"])]
    pub(crate) meta: bool,

    /// With --meta: indented
    #[arg(long, requires = "meta")]
    pub(crate) pretty: bool,

    /// Print a diagram, or as SARIF the imports that cannot be resolved
    #[arg(long, value_name = "FORMAT", conflicts_with = "stats")]
    pub(crate) format: Option<Format>,

    /// With --format: what one node of the diagram represents
    #[arg(long, value_name = "LEVEL", requires = "format", default_value = "file")]
    pub(crate) level: LevelChoice,

    /// With FILE: follow at most N edges; with --level folder: shorten folders to N segments
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) depth: Option<u16>,

    /// With --format mermaid: refuse a diagram with more edges (Mermaid's own limit is 500); 0 for no limit
    #[arg(long, value_name = "N", requires = "format", default_value_t = 500)]
    pub(crate) max_edges: usize,

    /// Print counts (the default)
    #[arg(long)]
    pub(crate) stats: bool,

    #[command(flatten)]
    pub(crate) graph: GraphWorkArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Dot,
    Mermaid,
    /// Imports that cannot be resolved, for code hosts
    Sarif,
}
