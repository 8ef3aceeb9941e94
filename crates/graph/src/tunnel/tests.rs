//! Tunnelling: a table of situations, laws on random module graphs, and sizes that break naive searches.

mod beyond_ecmascript;
mod fixture;
mod large;
mod laws;
mod situations;
