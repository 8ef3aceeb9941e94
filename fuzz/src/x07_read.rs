//! The target of [`crate::x07`] that reads.

pub use crate::x07::read as law;
