//! Errors in arguments. The shell may have expanded globs to names of files, so arguments are untrusted text.

use std::ffi::OsString;

use clap::{Parser, ValueEnum as _};
use stan_engine::Untrusted;

use crate::args::ColorChoice;

/// What is wrong with the arguments, as the parser says it about their escaped form: its own message has several lines,
/// so a line break in an argument could not be distinguished from one of the message.
pub(crate) fn explain<P: Parser>(arguments: &[OsString], error: clap::Error) -> clap::Error {
    let escaped = arguments.iter().map(|argument| Untrusted::new(&argument.to_string_lossy()).to_string());
    P::try_parse_from(escaped).err().filter(|escaped| escaped.kind() == error.kind()).unwrap_or(error)
}

/// The choice of colours of arguments that were not parsed, because they ask for help or are wrong.
pub(crate) fn color_of(arguments: &[OsString]) -> ColorChoice {
    let texts: Vec<&str> = arguments.iter().map(|argument| argument.to_str().unwrap_or_default()).collect();
    let joined = texts.iter().find_map(|text| text.strip_prefix("--color="));
    let apart = texts.windows(2).find_map(|pair| (pair[0] == "--color").then_some(pair[1]));
    joined.or(apart).and_then(|typed| ColorChoice::from_str(typed, false).ok()).unwrap_or(ColorChoice::Auto)
}
