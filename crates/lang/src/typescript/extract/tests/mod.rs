//! What extraction finds, form by form. Each area has a file with a `check` of its own.

mod stack;
