//! The planner. A declaration is an index with a cost and references to other indices; the emitter knows its contents and
//! serialisation. Knows no language and no document.

mod choice;
mod fit;
mod parts;

pub(crate) use choice::{Choice, References};
pub(crate) use fit::{Bounds, Exceeded, Shrink, TooLarge, fit};
pub(crate) use parts::{Cost, Parts};
