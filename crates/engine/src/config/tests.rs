//! Configurations and what is said about them.
