//! Readings of tiny files.
