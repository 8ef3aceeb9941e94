//! Type references: which are well formed, which are bytes-like, and which may cross to C. No types are inferred.

use stan_model::json::{JsonKind, JsonTree, NodeId};

use super::names::{check_local_name, check_type_name};
use super::source_position::{SourcePosition, X07Error};

/// The types that are written as one word.
const KNOWN_TYPES: [&str; 20] = [
    "i32",
    "u32",
    "f64",
    "bytes",
    "bytes_view",
    "vec_u8",
    "option_i32",
    "option_bytes",
    "option_bytes_view",
    "result_i32",
    "result_bytes",
    "result_bytes_view",
    "result_result_bytes",
    "iface",
    "ptr_const_u8",
    "ptr_mut_u8",
    "ptr_const_void",
    "ptr_mut_void",
    "ptr_const_i32",
    "ptr_mut_i32",
];

/// Checks a type: a known word, `["t", NAME]`, or `[head, type, …]`.
pub(super) fn check_type(tree: &JsonTree<'_>, id: NodeId, place: &SourcePosition<'_>) -> Result<(), X07Error> {
    match tree.kind(id) {
        JsonKind::PlainString | JsonKind::EscapedString => {
            let name = tree.string(id).unwrap_or_default();
            check_type_name(&name).map_err(|message| place.error(message))?;
            if KNOWN_TYPES.contains(&&*name) {
                return Ok(());
            }
            Err(place.error(format!("unknown type: {name:?} (expected one of {})", KNOWN_TYPES.join(", "))))
        }
        JsonKind::Array => check_type_list(tree, id, place),
        _ => Err(place.error("type must be a string or a list")),
    }
}

fn check_type_list(tree: &JsonTree<'_>, id: NodeId, place: &SourcePosition<'_>) -> Result<(), X07Error> {
    let items: Vec<NodeId> = tree.items(id).collect();
    let Some((&first, arguments)) = items.split_first() else {
        return Err(place.error("type expression list must not be empty"));
    };
    let head = tree.string(first).ok_or_else(|| place.index(0).error("type expression head must be a string"))?;
    check_type_name(&head).map_err(|message| place.index(0).error(message))?;
    if head == "t" {
        let [variable] = arguments else {
            return Err(place.error("type var expression must be [\"t\", <name>]"));
        };
        let name = tree.string(*variable).ok_or_else(|| place.index(1).error("type var name must be a string"))?;
        return check_local_name(&name).map_err(|message| place.index(1).error(message));
    }
    if arguments.is_empty() {
        return Err(place.error("type application must have at least 1 argument"));
    }
    for (index, &argument) in (1..).zip(arguments) {
        check_type(tree, argument, &place.index(index))?;
    }
    Ok(())
}

/// Whether a type that passed [`check_type`] may have a brand.
pub(super) fn is_bytes_like(tree: &JsonTree<'_>, id: NodeId) -> bool {
    matches!(
        concrete_name(tree, id),
        Some(
            "bytes"
                | "bytes_view"
                | "option_bytes"
                | "option_bytes_view"
                | "result_bytes"
                | "result_bytes_view"
                | "result_result_bytes"
        )
    )
}

/// Whether a type that passed [`check_type`] may cross to C.
pub(super) fn is_foreign(tree: &JsonTree<'_>, id: NodeId) -> bool {
    concrete_name(tree, id).is_some_and(|name| matches!(name, "i32" | "u32") || name.starts_with("ptr_"))
}

/// The one-word name of a type without variables: `["option", "bytes"]` is `option_bytes`.
fn concrete_name(tree: &JsonTree<'_>, id: NodeId) -> Option<&'static str> {
    if let Some(name) = tree.string(id) {
        return KNOWN_TYPES.into_iter().find(|&known| known == name);
    }
    let mut items = tree.items(id);
    let head = tree.string(items.next()?)?;
    let inner = concrete_name(tree, items.next()?)?;
    if items.next().is_some() {
        return None;
    }
    match (&*head, inner) {
        ("option", "i32" | "u32") => Some("option_i32"),
        ("option", "bytes") => Some("option_bytes"),
        ("option", "bytes_view") => Some("option_bytes_view"),
        ("result", "i32" | "u32") => Some("result_i32"),
        ("result", "bytes") => Some("result_bytes"),
        ("result", "bytes_view") => Some("result_bytes_view"),
        ("result", "result_bytes") => Some("result_result_bytes"),
        _ => None,
    }
}
