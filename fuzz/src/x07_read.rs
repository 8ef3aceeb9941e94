//! The fuzz target for [`crate::x07::read`].

pub use crate::x07::read as law;
