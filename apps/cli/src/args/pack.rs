//! The arguments of `stan pack`.

use clap::{Args, ValueEnum};
use stan_engine::{TypedPlace, TypedSymbol};

use super::{TokenizerChoice, budget};

#[derive(Args)]
#[command(group = clap::ArgGroup::new("source").required(true).multiple(true).args(["logs", "log", "at", "symbol", "focus", "changed", "about"]))]
pub(crate) struct PackArgs {
    /// Output of a compiler, linter or test runner (`-`: standard input)
    #[arg(value_name = "LOG")]
    pub(crate) logs: Vec<String>,

    /// The same as LOG
    #[arg(long, value_name = "LOG")]
    pub(crate) log: Vec<String>,

    /// A location; lines and columns start at 1
    #[arg(long, value_name = "FILE:LINE[:COL]", value_parser = place)]
    pub(crate) at: Vec<String>,

    /// A declaration
    #[arg(long, value_name = "FILE#NAME[.MEMBER]", value_parser = declaration)]
    pub(crate) symbol: Vec<String>,

    /// A file, folder or glob that you work on, with the files it needs
    #[arg(long, value_name = "FILE|GLOB")]
    pub(crate) focus: Vec<String>,

    /// Every file that differs from a git revision, or without REV from git's index
    #[arg(long, value_name = "REV", num_args = 0..=1)]
    pub(crate) changed: Option<Option<String>>,

    /// The task in words, or `@FILE` to read them (`@-`: standard input)
    #[arg(long, alias = "task", value_name = "TEXT|@FILE")]
    pub(crate) about: Vec<String>,

    /// The tool that wrote the log, instead of detecting it
    #[arg(long, value_name = "TOOL")]
    pub(crate) from: Option<String>,

    /// Only list the diagnostics of the log
    #[arg(long, conflicts_with_all = ["at", "symbol", "focus", "changed", "about", "copy", "out", "format"])]
    pub(crate) list: bool,

    /// Explain the K-th diagnostic, as numbered by --list
    #[arg(long, value_name = "K")]
    pub(crate) diagnostic: Option<usize>,

    /// Explain every error of the log
    #[arg(long, conflicts_with = "diagnostic")]
    pub(crate) all: bool,

    /// Maximum number of tokens (`50k` is 50,000); 0 for no limit
    #[arg(long, value_name = "N", default_value = "16k", value_parser = budget)]
    pub(crate) budget: u64,

    /// How tokens are counted
    #[arg(long, value_name = "TOKENIZER", default_value = "o200k")]
    pub(crate) tokens: TokenizerChoice,

    /// Which declarations are followed from the focus
    #[arg(long, value_name = "KIND", default_value = "all")]
    pub(crate) closure: ClosureChoice,

    /// Number of steps to follow: 1 stops at the declarations that the focus uses
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=8))]
    pub(crate) hops: u32,

    /// Declarations of installed packages: only those that explain the focus, none, or all
    #[arg(long, value_name = "WHICH", default_value = "auto")]
    pub(crate) externals: ExternalsChoice,

    /// How the pack is written
    #[arg(long, value_name = "FORMAT", default_value = "md")]
    pub(crate) format: PackFormat,

    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,

    /// Also put the pack on the clipboard
    #[arg(long)]
    pub(crate) copy: bool,

    /// Write the pack to PATH instead of printing it
    #[arg(long, value_name = "PATH")]
    pub(crate) out: Option<String>,

    /// Fail if the budget left something out
    #[arg(long)]
    pub(crate) strict: bool,
}

/// Only the syntax is checked here, not whether the file exists.
fn place(text: &str) -> Result<String, &'static str> {
    TypedPlace::parse(text).map(|_| text.to_owned()).ok_or(TypedPlace::FORM)
}

fn declaration(text: &str) -> Result<String, &'static str> {
    TypedSymbol::parse(text).map(|_| text.to_owned()).ok_or(TypedSymbol::FORM)
}

/// Which declarations a pack follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClosureChoice {
    All,
    /// Those of the same file
    Locals,
    /// Only types
    Types,
    /// Those of other files
    Imports,
    None,
}

/// Which declarations of installed packages a pack shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExternalsChoice {
    Auto,
    None,
    All,
}

/// The format of a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PackFormat {
    /// Markdown, for a chat
    Md,
    /// For tools that prefer tags
    Xml,
    /// One line of canonical JSON
    Json,
}
