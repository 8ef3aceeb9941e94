//! Resolves the pointer of a request to a location in the canonical module. A pointer into the file as written is translated
//! here, once: its indices of declarations, imports and exported names become canonical. Later code never sees an index of the
//! file.

use stan_model::document::x07::Enclosure;
use stan_model::json::{JsonTree, NodeId, array_index, pointer_tokens};
use stan_model::module::{Declaration, Dialect, Piece, SourceModule};

use super::{PointerSpace, SizeBound, SliceError, SliceRequest};

/// The part of the document that the pointer is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FocusKind {
    Root,
    /// The expression outside of all declarations.
    Entry,
    /// A declaration, by its index in the canonical module.
    Declaration(usize),
    Imports,
    Metadata,
    Other,
}

/// The location of a pointer.
#[derive(Clone, Debug)]
pub(crate) struct Focus {
    pub(crate) kind: FocusKind,
    /// The tokens of the pointer as given, unescaped (as all tokens here).
    pub(crate) given: Vec<String>,
    /// The tokens with indices of the canonical module.
    pub(crate) tokens: Vec<String>,
}

impl Focus {
    pub(crate) fn declaration(&self) -> Option<usize> {
        match self.kind {
            FocusKind::Declaration(index) => Some(index),
            _ => None,
        }
    }

    /// The key of the declaration's field that the pointer is in.
    pub(crate) fn field(&self) -> Option<&str> {
        self.declaration()?;
        self.tokens.get(2).map(String::as_str)
    }

    /// The tokens inside the declaration's field, or inside the entry expression.
    pub(crate) fn inside(&self) -> &[String] {
        let skipped = if self.kind == FocusKind::Entry { 1 } else { 3 };
        self.tokens.get(skipped..).unwrap_or_default()
    }
}

/// Resolves the pointer and checks that the enclosure contains it.
pub(crate) fn locate(
    module: &SourceModule<'_>,
    dialect: &dyn Dialect,
    request: &SliceRequest,
) -> Result<Focus, SliceError> {
    let pointer = request.trimmed_pointer();
    let tokens = pointer_tokens(pointer).ok_or_else(|| SliceError::InvalidPointer { pointer: pointer.to_owned() })?;
    let focus = resolve(module, dialect, request.pointer_space, tokens)
        .ok_or_else(|| SliceError::PointerNotFound { pointer: pointer.to_owned() })?;
    for (most, bound) in [(request.max_nodes, SizeBound::Declarations), (request.max_bytes, SizeBound::Bytes)] {
        if most == Some(0) {
            return Err(SliceError::BoundIsZero { bound });
        }
    }
    match (request.enclosure, focus.declaration()) {
        (Enclosure::Module, _) => {}
        (enclosure, None) => {
            return Err(SliceError::NotInDeclaration {
                enclosure: enclosure.as_str(),
                declarations: dialect.keys().declarations,
            });
        }
        (Enclosure::Defn, Some(index)) => {
            let declaration = module.declarations.get(index);
            if let Some(declaration) = declaration.filter(|declaration| !declaration.is_definition) {
                return Err(SliceError::NotADefinition { kind: declaration.kind });
            }
        }
        (Enclosure::Decl, Some(_)) => {}
    }
    Ok(focus)
}

/// The tokens of a pointer, translated to the canonical module.
pub(crate) fn place(
    module: &SourceModule<'_>,
    dialect: &dyn Dialect,
    pointer_space: PointerSpace,
    pointer: &str,
) -> Option<Vec<String>> {
    resolve(module, dialect, pointer_space, pointer_tokens(pointer)?).map(|focus| focus.tokens)
}

fn resolve(
    module: &SourceModule<'_>,
    dialect: &dyn Dialect,
    pointer_space: PointerSpace,
    mut tokens: Vec<String>,
) -> Option<Focus> {
    let keys = dialect.keys();
    // Kept for the report, which shows the pointer as requested.
    let given = tokens.clone();
    let Some(first) = tokens.first() else {
        return Some(Focus { kind: FocusKind::Root, given, tokens });
    };
    let kind = if first == keys.declarations {
        resolve_in_declarations(module, dialect, pointer_space, &mut tokens)?
    } else if first == keys.imports {
        if let Some(token) = tokens.get_mut(1) {
            let index = array_index(token)?;
            *token = match pointer_space {
                PointerSpace::File => *module.import_positions.get(index)?,
                PointerSpace::Canonical | PointerSpace::Toolchain => module.imports.get(index).map(|_| index)?,
            }
            .to_string();
        }
        (tokens.len() <= 2).then_some(FocusKind::Imports)?
    } else if first == keys.entry {
        node_has(&module.tree, module.entry?, tokens.get(1..)?).then_some(FocusKind::Entry)?
    } else if first == keys.metadata {
        node_has(&module.tree, module.metadata?, tokens.get(1..)?).then_some(FocusKind::Metadata)?
    } else {
        let is_text = first == keys.kind || module.fixed.iter().any(|(key, _)| key == first);
        (is_text && tokens.len() == 1).then_some(FocusKind::Other)?
    };
    Some(Focus { kind, given, tokens })
}

fn resolve_in_declarations(
    module: &SourceModule<'_>,
    dialect: &dyn Dialect,
    pointer_space: PointerSpace,
    tokens: &mut [String],
) -> Option<FocusKind> {
    let Some(token) = tokens.get_mut(1) else {
        return Some(FocusKind::Other);
    };
    let index = array_index(token)?;
    let index = match pointer_space {
        PointerSpace::File => (*module.declaration_positions.get(index)?)?,
        PointerSpace::Canonical | PointerSpace::Toolchain => canonical_place(module, index)?,
    };
    *token = index.to_string();
    let declaration = module.declarations.get(index)?;
    let found = FocusKind::Declaration(index);
    let Some(field) = tokens.get(2) else {
        return Some(found);
    };
    if let Some(exports) = declaration.exports.as_ref().filter(|_| field == dialect.keys().exported_names) {
        if let Some(token) = tokens.get_mut(3) {
            let name = array_index(token)?;
            *token = match pointer_space {
                PointerSpace::File => *exports.positions.get(name)?,
                PointerSpace::Canonical | PointerSpace::Toolchain => exports.names.get(name).map(|_| name)?,
            }
            .to_string();
        }
        return (tokens.len() <= 4).then_some(found);
    }
    declaration_has(&module.tree, declaration, field, tokens.get(3..)?).then_some(found)
}

/// The index of the `index`-th declaration of the canonical document, which leaves some out.
fn canonical_place(module: &SourceModule<'_>, index: usize) -> Option<usize> {
    let in_document = module.declarations.iter().enumerate().filter(|(_, declaration)| !declaration.only_in_focus);
    in_document.map(|(place, _)| place).nth(index)
}

fn declaration_has(tree: &JsonTree<'_>, declaration: &Declaration<'_>, field: &str, rest: &[String]) -> bool {
    declaration.fields.iter().any(|candidate| candidate.key == field && piece_has(tree, &candidate.value, rest))
}

fn piece_has(tree: &JsonTree<'_>, piece: &Piece<'_>, tokens: &[String]) -> bool {
    let Some((token, rest)) = tokens.split_first() else { return true };
    match piece {
        Piece::Node(id) => node_has(tree, *id, tokens),
        Piece::List(items) | Piece::Call(items) => {
            array_index(token).and_then(|index| items.get(index)).is_some_and(|item| piece_has(tree, item, rest))
        }
        Piece::Record(fields) => fields.iter().any(|field| field.key == token && piece_has(tree, &field.value, rest)),
        Piece::Text(_) | Piece::Zero | Piece::OwnPointer(_) => false,
    }
}

fn node_has(tree: &JsonTree<'_>, id: NodeId, tokens: &[String]) -> bool {
    tokens.iter().try_fold(id, |id, token| tree.step(id, token)).is_some()
}
