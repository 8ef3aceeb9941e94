//! The documents that leave the program, as versioned types of their own. Nothing here computes anything.

pub mod x07;
