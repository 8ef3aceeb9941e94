//! An input that can be generated in any size, and the command that reads it.

use super::tree::Tree;
use crate::Result;

pub(super) struct Shape {
    pub(super) name: &'static str,
    /// The smallest measured size; chosen so that four times as much takes a few tenths of a second.
    pub(super) size: usize,
    pub(super) build: fn(&Tree, usize) -> Result<()>,
    pub(super) command: Command,
    pub(super) in_short: bool,
}

#[derive(Clone, Copy)]
pub(super) enum Command {
    Stan(&'static [&'static str]),
    X07(&'static [&'static str]),
}

/// One thread, so that waiting for other threads does not count.
pub(super) const GRAPH: Command = Command::Stan(&["graph", "--stats", "--no-cache", "--threads", "1"]);

impl Shape {
    pub(super) fn new(
        name: &'static str,
        size: usize,
        build: fn(&Tree, usize) -> Result<()>,
        command: Command,
    ) -> Self {
        Self { name, size, build, command, in_short: false }
    }

    /// A shape of `stan graph`.
    pub(super) fn graph(name: &'static str, size: usize, build: fn(&Tree, usize) -> Result<()>) -> Self {
        Self::new(name, size, build, GRAPH)
    }

    /// Also measured with `--short`.
    pub(super) fn short(mut self) -> Self {
        self.in_short = true;
        self
    }
}
