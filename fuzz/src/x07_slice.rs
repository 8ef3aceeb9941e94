//! The fuzz target for [`crate::x07::slice`].

pub use crate::x07::slice as law;
