//! `stan` as its users run it: arguments in; stdout, stderr, exit code and files out. One program, so that it links once.
#![expect(clippy::disallowed_methods, reason = "these tests build real directories")]
#![expect(clippy::print_stdout, reason = "a test says what it skips on this machine")]

mod archives;
mod at_once;
mod context;
mod errors;
mod errors_maps;
mod errors_workspace;
mod graph;
mod integrity;
mod killed;
mod privacy;
mod project;
mod reproducible;
mod support;
