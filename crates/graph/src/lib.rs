//! Facts and targets to the dependency graph; its queries and outputs. Pure: no I/O, no threads of its own.
