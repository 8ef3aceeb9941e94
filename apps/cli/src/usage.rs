//! Errors in arguments. The shell may have expanded globs to file names, so arguments are untrusted text.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Parser, ValueEnum as _};
use stan_engine::Untrusted;

use crate::args::ColorChoice;

/// Explains an error in the arguments. The parser is run again on their escaped form: its own message has several lines, so a
/// line break in an argument could not be distinguished from one of the message.
pub(crate) fn explain<P: Parser>(arguments: &[OsString], error: clap::Error) -> clap::Error {
    let escaped = arguments.iter().map(|argument| Untrusted::new(&argument.to_string_lossy()).to_string());
    let escaped = P::try_parse_from(escaped).err().filter(|escaped| escaped.kind() == error.kind());
    with_tips(arguments, escaped.unwrap_or(error))
}

/// clap lists the most similar command last, and gives no tip for options that should be arguments.
fn with_tips(arguments: &[OsString], mut error: clap::Error) -> clap::Error {
    if let Some(ContextValue::Strings(near)) = error.get(ContextKind::SuggestedSubcommand) {
        let near = near.iter().rev().take(2).cloned().collect();
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(near));
    }
    let is_command = |name: &str| arguments.iter().any(|argument| argument == name);
    let wrong = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(wrong)) if error.kind() == ErrorKind::UnknownArgument => wrong.as_str(),
        _ => return error,
    };
    let tip = if wrong.starts_with('-') && wrong.contains(' ') && is_command("--about") {
        "a text that begins with `-` is written as --about=\"TEXT\""
    } else if !wrong.starts_with('-') && (is_command("map") || is_command("suggest")) {
        "name files and folders with --focus"
    } else {
        return error;
    };
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    error
}

/// The colour choice in arguments that were not parsed, because they request help or are invalid.
pub(crate) fn color_of(arguments: &[OsString]) -> ColorChoice {
    let texts: Vec<&str> = arguments.iter().map(|argument| argument.to_str().unwrap_or_default()).collect();
    let joined = texts.iter().find_map(|text| text.strip_prefix("--color="));
    let apart = texts.windows(2).find_map(|pair| (pair[0] == "--color").then_some(pair[1]));
    joined.or(apart).and_then(|typed| ColorChoice::from_str(typed, false).ok()).unwrap_or(ColorChoice::Auto)
}
