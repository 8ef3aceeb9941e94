//! Lexical scan.
use super::collect::Collector;
pub(super) fn scan<'a>(_text: &'a str, _found: &mut Collector<'a>) {}
pub(super) fn estimated_depth(_text: &str, _limit: usize) -> usize { 0 }
