//! JSDoc.
use oxc_ast::ast::Program;
use super::collect::Collector;
pub(super) fn requests<'a>(_program: &Program<'a>, _found: &mut Collector<'a>) {}
