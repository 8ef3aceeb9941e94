//! Records where the names of a file are used, and which members: a member chain is followed from a name whose type is explicit.

use rustc_hash::FxHashMap;
use stan_model::names::{Recipe, RecipeId, ShapeId, Space, Use, Used};
use stan_model::outline::UnitKind;

use super::lexer::Kind;
use super::symbols::Scope;

/// The maximum length of a member chain.
const MAX_CHAIN_LINKS: usize = 64;

/// The locals of a function, with the recipes of their types.
type Locals<'t> = FxHashMap<&'t str, RecipeId>;

/// Records the uses in all units.
pub(super) fn record<'t>(scope: &mut Scope<'_, 't>) {
    for index in 0..scope.units.len() {
        let kind = scope.units[index].kind;
        let part = scope.parts[index];
        let own = scope.own_shape(index);
        match kind {
            // Their members are units themselves.
            UnitKind::Namespace | UnitKind::Module => {}
            UnitKind::Impl | UnitKind::Trait | UnitKind::Struct | UnitKind::Enum | UnitKind::Union
                if part.body.is_some() =>
            {
                tokens(scope, part.from, part.body.unwrap_or(part.to), own, &mut Locals::default());
            }
            UnitKind::Macro => {}
            _ => {
                let mut locals = Locals::default();
                if matches!(kind, UnitKind::Function | UnitKind::Method) {
                    let (open, close) = scope.parameters(index);
                    for (name, ty) in scope.entries(open, close) {
                        let ty = match ty {
                            Some(ty) => scope.type_at(ty, own),
                            None => own.map_or(RecipeId::UNKNOWN, |own| scope.recipe(Recipe::Instance(own))),
                        };
                        locals.insert(scope.lexed.word(name), ty);
                    }
                }
                tokens(scope, part.from, part.to, own, &mut locals);
            }
        }
    }
    scope.names.uses.sort_by_key(|one| one.at);
    scope.names.uses.dedup_by_key(|one| one.at);
}

fn tokens<'t>(scope: &mut Scope<'_, 't>, from: usize, to: usize, own: Option<ShapeId>, locals: &mut Locals<'t>) {
    let lexed = scope.lexed;
    let mut at = from;
    while at < to {
        if lexed.kind(at) != Some(Kind::Word) || lexed.is_mark(at.wrapping_sub(1), b'.') {
            at += 1;
            continue;
        }
        match lexed.text_at(at) {
            "let" => bind(scope, at + 1, to, own, locals),
            "for" => bind_element(scope, at + 1, to, own, locals),
            _ => {}
        }
        at = chain(scope, at, to, own, locals, true).1;
    }
}

/// `let x: T = …`, `let x = …`, `if let Some(x) = …`.
fn bind<'t>(scope: &mut Scope<'_, 't>, start: usize, to: usize, own: Option<ShapeId>, locals: &mut Locals<'t>) {
    let lexed = scope.lexed;
    let mut at = start;
    let mut name = None;
    while at < to.min(start + 16) {
        match lexed.kind(at) {
            Some(Kind::Mark(b':')) => {
                let ty = scope.type_at(at + 1, own);
                locals.extend(name.map(|name| (name, ty)));
                return;
            }
            Some(Kind::Mark(b'=')) => {
                if let Some(name) = name {
                    let value = chain(scope, at + 1, to, own, locals, false).0;
                    locals.insert(name, value);
                }
                return;
            }
            Some(Kind::Word) => match lexed.text_at(at) {
                "mut" | "ref" | "Some" | "Ok" | "Err" => {}
                word => name = Some(word),
            },
            Some(Kind::Mark(b'(' | b')' | b'&')) => {}
            _ => return,
        }
        at += 1;
    }
}

/// `for x in …`.
fn bind_element<'t>(scope: &mut Scope<'_, 't>, start: usize, to: usize, own: Option<ShapeId>, locals: &mut Locals<'t>) {
    let lexed = scope.lexed;
    if lexed.word(start + 1) == "in" && !lexed.word(start).is_empty() {
        let value = chain(scope, start + 2, to, own, locals, false).0;
        locals.insert(lexed.word(start), value);
    }
}

/// Reads a name and the member chain after it. Returns the recipe for the whole chain, and the token after it.
fn chain<'t>(
    scope: &mut Scope<'_, 't>,
    start: usize,
    to: usize,
    own: Option<ShapeId>,
    locals: &Locals<'t>,
    record: bool,
) -> (RecipeId, usize) {
    let lexed = scope.lexed;
    let mut at = start;
    while matches!(lexed.kind(at), Some(Kind::Mark(b'&' | b'*'))) || matches!(lexed.word(at), "mut" | "match" | "if") {
        if at > start + 4 || record {
            break;
        }
        at += 1;
    }
    let (base, mut behind) = chain_base(scope, at, own, locals, record);
    let Some(mut base) = base else { return (RecipeId::UNKNOWN, skip_path(scope, behind)) };
    let after = skip_path(scope, behind);
    for _ in 0..MAX_CHAIN_LINKS {
        let is_member = lexed.is_mark(behind, b'.') || lexed.kind(behind) == Some(Kind::Separator);
        if behind >= to {
            break;
        } else if is_member && lexed.kind(behind + 1) == Some(Kind::Word) {
            let member = lexed.text_at(behind + 1);
            if member != "await" && base != RecipeId::UNKNOWN {
                use_at(scope, behind + 1, Space::Value, Used::Member(base, member.into()), record);
                base = scope.recipe(Recipe::Member(base, member.into()));
            }
            behind += 2;
        } else if lexed.is_mark(behind, b'(') {
            base = if base == RecipeId::UNKNOWN { base } else { scope.recipe(Recipe::Call(base)) };
            behind = lexed.closing(behind).max(behind) + 1;
        } else if lexed.is_mark(behind, b'?') {
            behind += 1;
        } else {
            break;
        }
    }
    (base, after)
}

/// The value of the name that a chain starts with, and the index of the token behind it. `None` for an unknown name.
fn chain_base<'t>(
    scope: &mut Scope<'_, 't>,
    at: usize,
    own: Option<ShapeId>,
    locals: &Locals<'t>,
    record: bool,
) -> (Option<RecipeId>, usize) {
    let lexed = scope.lexed;
    let name = lexed.word(at);
    let mut behind = at + 1;
    let space = if name.starts_with(|first: char| first.is_uppercase()) { Space::Type } else { Space::Value };
    let path = scope.path_symbols.get(&(at as u32)).copied();
    let base = if name == "self" && lexed.kind(behind) != Some(Kind::Separator) || name == "Self" {
        own.map_or(RecipeId::UNKNOWN, |own| scope.recipe(Recipe::Instance(own)))
    } else if let Some(symbol) = path {
        use_at(scope, at, space, Used::Name(symbol), record);
        // Continue up to the name that this path imports.
        let wanted = scope.names.symbol(symbol).map(|symbol| symbol.name.clone()).unwrap_or_default();
        while lexed.kind(behind) == Some(Kind::Separator) && *lexed.text_at(behind - 1) != *wanted {
            behind += 2;
        }
        symbol_recipe(scope, symbol, lexed.text_at(behind - 1))
    } else if let Some(local) = locals.get(name).filter(|_| lexed.kind(behind) != Some(Kind::Separator)) {
        *local
    } else if let Some(symbol) = scope.known.get(name).copied() {
        use_at(scope, at, space, Used::Name(symbol), record);
        symbol_recipe(scope, symbol, name)
    } else {
        return (None, behind);
    };
    (Some(base), behind)
}

/// A type contributes the members of its instances; a function or constant is a value.
fn symbol_recipe(scope: &mut Scope<'_, '_>, symbol: stan_model::names::SymbolId, name: &str) -> RecipeId {
    let is_type = name.starts_with(|first: char| first.is_uppercase()) && name.chars().any(char::is_lowercase);
    scope.recipe(if is_type { Recipe::Type { symbol, arguments: Vec::new() } } else { Recipe::Value(symbol) })
}

/// The token after the rest of a path, whose words are members and not names in scope.
fn skip_path(scope: &Scope<'_, '_>, start: usize) -> usize {
    let mut at = start;
    while scope.lexed.kind(at) == Some(Kind::Separator) && scope.lexed.kind(at + 1) == Some(Kind::Word) {
        at += 2;
    }
    at
}

fn use_at(scope: &mut Scope<'_, '_>, token: usize, space: Space, what: Used, record: bool) {
    if !record {
        return;
    }
    if let Some(token) = scope.lexed.tokens.get(token) {
        let line = scope.lines.line(token.start);
        scope.names.uses.push(Use { at: token.start, line, space, what });
    }
}
