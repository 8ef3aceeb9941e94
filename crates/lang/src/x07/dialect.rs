//! The meaning of x07's expressions for the slicer: which words are references, and which lists must keep their shape.

use stan_model::json::{JsonKind, JsonTree, NodeId};
use stan_model::module::{Dialect, DocumentKeys, FormShape};

/// The dialect of x07AST.
#[derive(Clone, Copy, Debug, Default)]
pub struct X07;

const KEYS: DocumentKeys = DocumentKeys {
    kind: "kind",
    imports: "imports",
    declarations: "decls",
    entry: "solve",
    metadata: "meta",
    exported_names: "names",
};

impl Dialect for X07 {
    fn keys(&self) -> &'static DocumentKeys {
        &KEYS
    }

    /// The head of every list, at any depth. Other words are variables and literals.
    fn references(&self, tree: &JsonTree<'_>, expression: NodeId, found: &mut dyn FnMut(&str)) {
        for id in tree.descendants(expression) {
            if tree.kind(id) != JsonKind::Array {
                continue;
            }
            if let Some(head) = tree.first_item(id).and_then(|head| tree.string(head)) {
                found(&head);
            }
        }
    }

    fn head_reference<'t>(&self, head: &'t str) -> Option<&'t str> {
        Some(head)
    }

    fn module_of<'t>(&self, symbol: &'t str) -> Option<&'t str> {
        symbol.rsplit_once('.').map(|(module, _)| module)
    }

    fn shape(&self, head: &str) -> FormShape {
        match head {
            "let" | "set" | "set0" => FormShape::Fixed { binders: 1 },
            "for" => FormShape::Fixed { binders: 1 },
            "if" | "while" => FormShape::Fixed { binders: 0 },
            "bytes.lit" | "bytes.view_lit" => FormShape::Literal,
            _ if head == "match" || head.ends_with(".match") || head.starts_with("match_") => FormShape::Branches,
            _ => FormShape::Open,
        }
    }
}
