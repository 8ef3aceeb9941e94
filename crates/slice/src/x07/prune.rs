//! Prunes an expression to the path to one location in it. Keeps what makes each form that form.

use stan_model::json::{JsonKind, JsonTree, NodeId, array_index};
use stan_model::module::{Dialect, Field, FormShape, Piece};

/// Cuts everything off the path in an expression. `None` if there is nothing to cut.
pub(crate) fn expression<'a>(
    tree: &JsonTree<'_>,
    dialect: &dyn Dialect,
    id: NodeId,
    path: &[String],
) -> Option<Piece<'a>> {
    let (token, rest) = path.split_first()?;
    if tree.kind(id) != JsonKind::Array {
        return None;
    }
    let items: Vec<NodeId> = tree.items(id).collect();
    let target = array_index(token).filter(|&index| index < items.len())?;
    let head = tree.string(*items.first()?)?;
    let on_path = |item: NodeId| expression(tree, dialect, item, rest).unwrap_or(Piece::Node(item));
    let pieces = match dialect.shape(&head) {
        FormShape::Literal => return None,
        FormShape::Open => items
            .iter()
            .enumerate()
            .take(target + 1)
            .map(|(index, &item)| match index {
                _ if index == target => on_path(item),
                0 => Piece::Node(item),
                _ => Piece::Zero,
            })
            .collect(),
        FormShape::Fixed { binders } => items
            .iter()
            .enumerate()
            .map(|(index, &item)| match index {
                _ if index == target => on_path(item),
                _ if index <= binders => Piece::Node(item),
                _ => Piece::Zero,
            })
            .collect(),
        FormShape::Branches => items
            .iter()
            .enumerate()
            .map(|(index, &item)| match index {
                _ if index == target => on_path(item),
                0 => Piece::Node(item),
                1 => Piece::Zero,
                _ => branch(tree, item),
            })
            .collect(),
    };
    Some(Piece::Call(pieces))
}

/// Cuts everything off the path in a contract: later clauses are removed, earlier ones become placeholders, so that indices stay.
pub(crate) fn contract<'a>(
    tree: &JsonTree<'_>,
    dialect: &dyn Dialect,
    piece: &Piece<'a>,
    path: &[String],
) -> Piece<'a> {
    let Some((token, rest)) = path.split_first() else { return copy(piece) };
    match piece {
        Piece::Node(id) => expression(tree, dialect, *id, path).unwrap_or(Piece::Node(*id)),
        Piece::List(items) => {
            let target = array_index(token).unwrap_or(usize::MAX);
            let kept = items.iter().enumerate().take(target.saturating_add(1));
            Piece::List(
                kept.map(
                    |(index, item)| {
                        if index == target { contract(tree, dialect, item, rest) } else { placeholder(item) }
                    },
                )
                .collect(),
            )
        }
        Piece::Record(fields) => Piece::Record(
            fields
                .iter()
                .map(|field| {
                    let value = if field.key == token {
                        contract(tree, dialect, &field.value, rest)
                    } else {
                        placeholder(&field.value)
                    };
                    Field { key: field.key, role: field.role, value }
                })
                .collect(),
        ),
        Piece::Text(_) | Piece::Zero | Piece::Call(_) | Piece::OwnPointer(_) => copy(piece),
    }
}

/// A branch keeps its pattern and the names it binds, but not its result.
fn branch<'a>(tree: &JsonTree<'_>, id: NodeId) -> Piece<'a> {
    let items: Vec<NodeId> = tree.items(id).collect();
    let Some((_, pattern)) = items.split_last().filter(|(_, pattern)| !pattern.is_empty()) else {
        return Piece::Zero;
    };
    Piece::Call(pattern.iter().map(|&item| Piece::Node(item)).chain([Piece::Zero]).collect())
}

/// The smallest value of the same shape: expressions become 0 and lists empty, fields stay.
fn placeholder<'a>(piece: &Piece<'a>) -> Piece<'a> {
    match piece {
        Piece::Node(_) | Piece::Zero | Piece::Call(_) => Piece::Zero,
        Piece::List(_) => Piece::List(Vec::new()),
        Piece::Record(fields) => Piece::Record(
            fields
                .iter()
                .map(|field| Field { key: field.key, role: field.role, value: placeholder(&field.value) })
                .collect(),
        ),
        Piece::Text(text) => Piece::Text(text.clone()),
        Piece::OwnPointer(rest) => Piece::OwnPointer(rest.clone()),
    }
}

fn copy<'a>(piece: &Piece<'a>) -> Piece<'a> {
    match piece {
        Piece::Node(id) => Piece::Node(*id),
        Piece::Text(text) => Piece::Text(text.clone()),
        Piece::Zero => Piece::Zero,
        Piece::List(items) => Piece::List(items.iter().map(copy).collect()),
        Piece::Call(items) => Piece::Call(items.iter().map(copy).collect()),
        Piece::Record(fields) => Piece::Record(
            fields.iter().map(|field| Field { key: field.key, role: field.role, value: copy(&field.value) }).collect(),
        ),
        Piece::OwnPointer(rest) => Piece::OwnPointer(rest.clone()),
    }
}
