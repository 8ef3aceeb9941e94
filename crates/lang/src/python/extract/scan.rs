//! The fallback for a file that is too large or too deeply nested to parse: searches for lines that look like imports. Text in
//! strings may match, too; one edge too many is better than none.

use stan_model::EdgeKind;

use super::collect::Collector;
use crate::python::form::{Form, is_dotted_name};

/// Records imports on single lines.
pub(super) fn scan(text: &str, is_stub: bool, found: &mut Collector) {
    let mut position = 0_u32;
    for line in text.split_inclusive('\n') {
        let code = line.split('#').next().unwrap_or_default();
        let indented = code.starts_with([' ', '\t']);
        let kind = match (is_stub, indented) {
            (true, _) => EdgeKind::Type,
            (false, true) => EdgeKind::Dynamic,
            (false, false) => EdgeKind::Runtime,
        };
        let code = code.trim();
        if let Some(names) = code.strip_prefix("import ") {
            for module in names.split(',').map(first_word).filter(|module| is_dotted_name(module)) {
                found.request(position, &[module], kind, Form::Module);
            }
        } else if let Some((module, names)) = code.strip_prefix("from ").and_then(|rest| rest.split_once(" import ")) {
            from(module.trim(), names, position, kind, found);
        }
        position = position.saturating_add(u32::try_from(line.len()).unwrap_or(u32::MAX));
    }
}

fn from(module: &str, names: &str, position: u32, kind: EdgeKind, found: &mut Collector) {
    let bare = module.trim_start_matches('.');
    if module.is_empty() || module.len() - bare.len() > 64 || !(bare.is_empty() || is_dotted_name(bare)) {
        return;
    }
    for name in names.trim_matches(['(', ')']).split(',').map(first_word) {
        if name == "*" {
            found.request(position, &[module], kind, Form::Module);
        } else if is_dotted_name(name) && !name.contains('.') {
            let separator = if bare.is_empty() { "" } else { "." };
            found.request(position, &[module, separator, name], kind, Form::Name);
        }
    }
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}
