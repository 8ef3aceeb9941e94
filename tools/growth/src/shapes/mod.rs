//! The shapes: everything that was once found to grow too fast, and what might.

mod barrels;
mod configs;
mod documents;
mod git;
mod packages;
mod sources;

use super::shape::Shape;

pub(super) fn all() -> Vec<Shape> {
    [barrels::shapes(), configs::shapes(), packages::shapes(), sources::shapes(), documents::shapes(), git::shapes()]
        .into_iter()
        .flatten()
        .collect()
}
