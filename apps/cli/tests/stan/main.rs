//! `stan` as its users run it: arguments in; stdout, stderr, exit code and files out. One program, so that it links once.
#![expect(clippy::disallowed_methods, reason = "these tests build real directories")]

mod archives;
/// The definition of the command line, compiled a second time: a program has no library to take it from.
#[path = "../../src/args.rs"]
mod args;
mod check;
mod completions;
mod context;
mod docs;
#[cfg(unix)]
mod examples;
mod graph;
mod init;
mod schemas;
mod support;
