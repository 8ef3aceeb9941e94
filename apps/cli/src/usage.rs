//! Arguments that are wrong. The shell may have put names of files among them, which came from outside.

use std::ffi::OsString;

use clap::Parser;
use stan_engine::Untrusted;

/// What is wrong with the arguments, as the parser says it about their escaped form: its own message has several lines,
/// so a line break in an argument could not be distinguished from one of the message.
pub(crate) fn explain<P: Parser>(arguments: &[OsString], error: clap::Error) -> clap::Error {
    let escaped = arguments.iter().map(|argument| Untrusted::new(&argument.to_string_lossy()).to_string());
    P::try_parse_from(escaped).err().filter(|escaped| escaped.kind() == error.kind()).unwrap_or(error)
}
