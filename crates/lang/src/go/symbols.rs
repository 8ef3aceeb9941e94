//! The symbols of a Go file: functions, types with their fields and methods, variables and constants, and where names are used.
//! Files of a package share a scope: a name that this file does not declare is looked up in the others, and so are further
//! methods of its types.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use stan_model::names::{
    Declaration as NameDeclaration, FileNames, Import as NameImport, ImportId, Imported, Meaning, Member, RecipeId,
    Shape, ShapeId, ShapeKind, Space, SymbolId, Used,
};
use stan_model::outline::{LineStarts, Outline, Span, UnitId};

use super::extract::{is_universal, local_names};
use super::lexer::Kind;
use super::names::{Places, Uses, collect, entries, field_names, is_type_parameters};
use super::syntax::{Declaration, File, What};
use super::types::Scope;

/// The symbols of the top level and of imports, the members of types, and the uses of names.
pub(super) fn names(file: &File<'_>, outline: &Outline, lines: &LineStarts) -> FileNames {
    let mut uses = Uses::with_places(file);
    file.declarations.iter().for_each(|declaration| collect(file, declaration, &mut uses));
    let uses = uses.places.unwrap_or_default();
    let mut scope = Scope::new(file, outline, lines);
    imports(&mut scope);
    let own = file.declarations.iter().filter(|declaration| declaration.what != What::Method);
    let own: BTreeSet<&str> = own.flat_map(|declaration| declaration.names.iter().map(|(name, _)| *name)).collect();
    let receivers = receivers(file);
    // Names declared in other files, and types whose methods may be in other files.
    for (name, _) in &uses.plain {
        if !scope.known.contains_key(name) && !own.contains(name) && !is_universal(name) {
            scope.ask_package(name);
        }
    }
    for name in own.iter().chain(receivers.keys()) {
        scope.symbol(name);
    }
    scope.take_locals(&uses);
    let shapes = shapes(&mut scope, &own, &receivers);
    values(&mut scope, &shapes);
    exports(&mut scope, &own, &receivers);
    record_uses(&mut scope, &uses);
    scope.names
}

fn imports(scope: &mut Scope<'_, '_>) {
    let file = scope.file;
    for import in file.imports.iter().filter(|import| !matches!(import.alias, Some("_" | "."))) {
        let statement = Span::new(import.position, import.end);
        let specifier = import.path.into();
        scope.names.imports.push(NameImport { specifier, name: Imported::Namespace, statement });
        let meaning = Meaning::Import(ImportId(scope.names.imports.len() as u32 - 1));
        let line = scope.lines.line(import.position);
        // The real package name is in the package's own files; here the names derived from the path must do.
        for name in local_names(import) {
            if name.is_empty() || scope.known.contains_key(name) {
                continue;
            }
            let symbol = scope.symbol(name);
            scope.declare(
                Some(symbol),
                NameDeclaration { name: name.into(), span: statement, line, unit: None, meaning },
            );
        }
    }
}

/// The types that this file declares methods for, with the indices of these methods.
fn receivers<'t>(file: &File<'t>) -> BTreeMap<&'t str, Vec<usize>> {
    let mut found: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, declaration) in file.declarations.iter().enumerate() {
        if let Some(name) = declaration.receiver.and_then(|(from, to)| receiver_type(file, from, to)) {
            found.entry(name).or_default().push(index);
        }
    }
    found
}

/// The `T` in `(x *T)`, `(T)` and `(x T[K])`.
fn receiver_type<'t>(file: &File<'t>, from: usize, to: usize) -> Option<&'t str> {
    let (_, mut ty) = *entries(file, from, to).first()?;
    while matches!(file.kind(ty), Some(Kind::Mark(b'*' | b'('))) {
        ty += 1;
    }
    Some(file.word(ty)).filter(|word| !word.is_empty())
}

/// Creates a shape for each type of this file, and for each type of another file that this one adds methods to.
fn shapes<'t>(
    scope: &mut Scope<'_, 't>,
    own: &BTreeSet<&'t str>,
    receivers: &BTreeMap<&'t str, Vec<usize>>,
) -> FxHashMap<usize, ShapeId> {
    let file = scope.file;
    let mut by_declaration = FxHashMap::default();
    let types = file.declarations.iter().enumerate().filter(|(_, declaration)| declaration.what == What::Type);
    for (index, declaration) in types {
        let Some((name, token)) = declaration.names.first() else { continue };
        let at = file.token_index(token);
        let (symbol, unit) = (scope.symbol(name), scope.outline.innermost(token.start));
        let mut rest = declaration.rest;
        if is_type_parameters(file, What::Type, rest) {
            rest = file.behind_bracket(rest);
        }
        if file.is_mark(rest, b'=') {
            let ty = scope.type_at(rest + 1, 0);
            let declared = scope.declaration(at, Meaning::Alias(ty));
            scope.declare(Some(symbol), declared);
            continue;
        }
        let kind = if file.word(rest) == "interface" { ShapeKind::Interface } else { ShapeKind::Class };
        let shape = add_shape(scope, kind, unit, symbol);
        by_declaration.insert(index, shape);
        let declared = scope.declaration(at, Meaning::Shape(shape));
        scope.declare(Some(symbol), declared);
        members(scope, shape, rest, kind);
        methods(scope, shape, receivers.get(name).map(Vec::as_slice).unwrap_or_default());
        // Other files may declare further methods.
        scope.ask_package(name);
    }
    for (name, indexes) in receivers.iter().filter(|(name, _)| !own.contains(*name)) {
        let symbol = scope.symbol(name);
        let shape = add_shape(scope, ShapeKind::Class, None, symbol);
        let declared = NameDeclaration {
            name: (*name).into(),
            span: Span::default(),
            line: 1,
            unit: None,
            meaning: Meaning::Shape(shape),
        };
        scope.declare(Some(symbol), declared);
        methods(scope, shape, indexes);
    }
    scope.names.shapes.iter_mut().for_each(|shape| shape.members.sort_by(|one, other| one.name.cmp(&other.name)));
    by_declaration
}

fn add_shape(scope: &mut Scope<'_, '_>, kind: ShapeKind, unit: Option<UnitId>, symbol: SymbolId) -> ShapeId {
    scope.names.shapes.push(Shape {
        kind,
        unit,
        symbol: Some(symbol),
        members: Vec::new(),
        calls: Vec::new(),
        constructs: Vec::new(),
        extends: Vec::new(),
        bases: Vec::new(),
    });
    ShapeId(scope.names.shapes.len() as u32 - 1)
}

/// The fields of a struct or the methods of an interface. Embedded types become bases, as does the underlying type of a type
/// definition.
fn members(scope: &mut Scope<'_, '_>, shape: ShapeId, rest: usize, kind: ShapeKind) {
    let file = scope.file;
    if !matches!(file.word(rest), "struct" | "interface") || !file.is_mark(rest + 1, b'{') {
        if file.word(rest) != "func" {
            let base = scope.type_at(rest, 0);
            add_base(scope, shape, base);
        }
        return;
    }
    let end = file.behind_bracket(rest + 1);
    let mut at = rest + 2;
    while at + 1 < end {
        if kind == ShapeKind::Interface && file.is_mark(at + 1, b'(') {
            let signature = scope.signature_at(at + 1, 0);
            member(scope, shape, at, Meaning::Value { ty: RecipeId::UNKNOWN, signature: Some(signature) });
        } else if kind == ShapeKind::Class
            && let Some(names) = field_names(file, at, end)
        {
            let ty = names.last().map_or(RecipeId::UNKNOWN, |last| scope.type_at(last + 1, 0));
            for name in names {
                member(scope, shape, name, Meaning::Value { ty, signature: None });
            }
        } else {
            let base = scope.type_at(at, 0);
            add_base(scope, shape, base);
            let name = embedded_name(file, at);
            if kind == ShapeKind::Class && !file.word(name).is_empty() {
                member(scope, shape, name, Meaning::Value { ty: base, signature: None });
            }
        }
        at = file.end_of(at) + 1;
    }
}

/// The last component of `*pkg.T`, which is the name of an embedded field.
fn embedded_name(file: &File<'_>, mut at: usize) -> usize {
    while file.is_mark(at, b'*') {
        at += 1;
    }
    if file.is_mark(at + 1, b'.') { at + 2 } else { at }
}

fn add_base(scope: &mut Scope<'_, '_>, shape: ShapeId, base: RecipeId) {
    if let Some(shape) = scope.names.shapes.get_mut(shape.0 as usize).filter(|_| base != RecipeId::UNKNOWN) {
        shape.bases.push(base);
    }
}

fn member(scope: &mut Scope<'_, '_>, shape: ShapeId, at: usize, meaning: Meaning) {
    let declared = scope.declaration(at, meaning);
    let name = declared.name.clone();
    let declaration = scope.declare(None, declared);
    if let Some(shape) = scope.names.shapes.get_mut(shape.0 as usize) {
        shape.members.push(Member { name, declaration, is_static: false });
    }
}

fn methods(scope: &mut Scope<'_, '_>, shape: ShapeId, declarations: &[usize]) {
    let file = scope.file;
    for declaration in declarations.iter().filter_map(|index| file.declarations.get(*index)) {
        let Some((_, token)) = declaration.names.first() else { continue };
        let signature = scope.signature_at(declaration.rest, 0);
        let meaning = Meaning::Value { ty: RecipeId::UNKNOWN, signature: Some(signature) };
        member(scope, shape, file.token_index(token), meaning);
    }
}

/// Adds functions, variables and constants.
fn values(scope: &mut Scope<'_, '_>, shapes: &FxHashMap<usize, ShapeId>) {
    let file = scope.file;
    for (index, declaration) in file.declarations.iter().enumerate() {
        if matches!(declaration.what, What::Method | What::Type) || shapes.contains_key(&index) {
            continue;
        }
        let mut rest = declaration.rest;
        let meaning = if declaration.what == What::Function {
            if is_type_parameters(file, What::Function, rest) {
                rest = file.behind_bracket(rest);
            }
            let signature = scope.signature_at(rest, 0);
            Meaning::Value { ty: RecipeId::UNKNOWN, signature: Some(signature) }
        } else {
            let ty = match file.kind(rest) {
                Some(Kind::Mark(b'=')) => scope.value_at(rest + 1, true),
                None | Some(Kind::End | Kind::Mark(b')')) => RecipeId::UNKNOWN,
                _ => scope.type_at(rest, 0),
            };
            Meaning::Value { ty, signature: None }
        };
        for (name, token) in declaration.names.iter().filter(|(name, _)| *name != "_") {
            let symbol = scope.symbol(name);
            let declared = scope.declaration(file.token_index(token), meaning);
            scope.declare(Some(symbol), declared);
        }
    }
}

fn exports<'t>(scope: &mut Scope<'_, 't>, own: &BTreeSet<&'t str>, receivers: &BTreeMap<&'t str, Vec<usize>>) {
    let names = own.iter().chain(receivers.keys()).filter(|name| **name != "_");
    let mut exports: Vec<(Box<str>, SymbolId)> =
        names.filter_map(|name| Some(((*name).into(), *scope.known.get(name)?))).collect();
    exports.sort_unstable();
    exports.dedup_by(|one, other| one.0 == other.0);
    scope.names.exports = exports;
}

fn record_uses<'t>(scope: &mut Scope<'_, 't>, uses: &Places<'t>) {
    let file = scope.file;
    let mut signatures: Vec<(usize, usize)> = file.declarations.iter().map(|one| type_tokens(file, one)).collect();
    signatures.sort_unstable();
    let space_at = |at: usize| {
        let behind = signatures.partition_point(|(from, _)| *from <= at);
        let is_type = behind.checked_sub(1).and_then(|index| signatures.get(index)).is_some_and(|(_, to)| at < *to);
        if is_type { Space::Type } else { Space::Value }
    };
    for (name, at) in &uses.plain {
        let what = match scope.known.get(name) {
            Some(symbol) => Used::Name(*symbol),
            None if is_universal(name) => continue,
            None => Used::Global((*name).into()),
        };
        scope.use_at(*at, space_at(*at), what);
        scope.members_of(*at, space_at(*at));
    }
    for (at, _) in &uses.local_uses {
        scope.members_of(*at, space_at(*at));
    }
    scope.names.uses.sort_by_key(|one| one.at);
    scope.names.uses.dedup_by_key(|one| one.at);
}

/// The token range of a declaration in which names are types: the signature, or the whole of a type declaration.
fn type_tokens(file: &File<'_>, declaration: &Declaration<'_>) -> (usize, usize) {
    let from = declaration.receiver.map_or(declaration.rest, |(from, _)| from);
    match declaration.what {
        What::Function | What::Method => {
            let mut open = declaration.rest;
            if file.is_mark(open, b'[') {
                open = file.behind_bracket(open);
            }
            (from, file.function_body(open).0.min(declaration.to))
        }
        What::Type => (from, declaration.to),
        What::Variable | What::Constant => (from, from),
    }
}
