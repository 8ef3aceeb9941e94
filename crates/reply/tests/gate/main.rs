//! Replies that break each rule in different ways, and near misses that do not. One file per group of rules.

mod common;

mod advice;
mod bytes;
mod git_apply;
mod hostile;
mod listing;
mod places;
mod shape;
mod state;
mod targets;
