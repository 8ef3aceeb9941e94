//! The grammar of expressions: an i32, a word, or a list that starts with a word. Only checked; expressions are kept as source
//! text.

use stan_model::json::{JsonKind, JsonTree, NodeId};

use super::source_position::{SourcePosition, X07Error};

/// Checks an expression. Recursion is bounded by the reader's nesting limit.
pub(super) fn check_expression(tree: &JsonTree<'_>, id: NodeId, place: &SourcePosition<'_>) -> Result<(), X07Error> {
    match tree.kind(id) {
        JsonKind::Integer => check_integer(tree, id, place),
        JsonKind::Double => Err(place.error(format!("number is not an i64: {}", tree.text(id)))),
        JsonKind::PlainString | JsonKind::EscapedString => {
            if has_space(tree, id) {
                Err(place.error("atom must not contain whitespace"))
            } else {
                Ok(())
            }
        }
        JsonKind::Array => check_list(tree, id, place),
        JsonKind::Null | JsonKind::True | JsonKind::False | JsonKind::Object => {
            let mut shown: String = tree.text(id).chars().take(60).collect();
            if shown.len() < tree.text(id).len() {
                shown.push('…');
            }
            Err(place.error(format!("unsupported JSON value in expr: {shown}")))
        }
    }
}

fn check_integer(tree: &JsonTree<'_>, id: NodeId, place: &SourcePosition<'_>) -> Result<(), X07Error> {
    match tree.integer(id) {
        None => Err(place.error(format!("number is not an i64: {}", tree.text(id)))),
        Some(number) if i32::try_from(number).is_err() => {
            Err(place.error(format!("number out of i32 range: {number}")))
        }
        Some(_) => Ok(()),
    }
}

fn check_list(tree: &JsonTree<'_>, id: NodeId, place: &SourcePosition<'_>) -> Result<(), X07Error> {
    let mut items = tree.items(id);
    let Some(head) = items.next() else {
        return Err(place.error("list expression must not be empty"));
    };
    if !tree.is_string(head) {
        return Err(place.index(0).error("list head must be an atom string"));
    }
    if has_space(tree, head) {
        return Err(place.index(0).error("list head must not contain whitespace"));
    }
    let is_literal = is_text_literal(tree, head);
    for (index, item) in (1..).zip(items) {
        if index == 1 && is_literal && tree.is_string(item) {
            continue;
        }
        check_expression(tree, item, &place.index(index))?;
    }
    Ok(())
}

/// Whether the first argument after this head is text, which may have any content.
fn is_text_literal(tree: &JsonTree<'_>, head: NodeId) -> bool {
    match tree.kind(head) {
        JsonKind::PlainString => matches!(tree.text(head), "\"bytes.lit\"" | "\"bytes.view_lit\""),
        _ => tree.string(head).is_some_and(|text| text == "bytes.lit" || text == "bytes.view_lit"),
    }
}

fn has_space(tree: &JsonTree<'_>, id: NodeId) -> bool {
    !tree.is_plain_word(id) && tree.string(id).is_some_and(|text| text.chars().any(char::is_whitespace))
}
