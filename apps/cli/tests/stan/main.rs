//! `stan` as its users run it: arguments in; stdout, stderr, exit code and files out. One program, so that it links once.
#![expect(clippy::disallowed_methods, reason = "these tests build real directories")]

mod archives;
mod context;
mod graph;
mod suggest;
mod support;
