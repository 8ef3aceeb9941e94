//! One line about a module, from its doc comments.
use oxc_ast::ast::Program;
use super::ExtractOptions;
pub(super) fn description(_program: &Program<'_>, _options: &ExtractOptions) -> Option<Box<str>> { None }
