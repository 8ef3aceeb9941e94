//! The target of [`crate::x07`] that slices.

pub use crate::x07::slice as law;
