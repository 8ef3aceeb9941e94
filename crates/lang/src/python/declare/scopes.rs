//! The scopes of a module and the names that each binds. An assignment binds its name in the whole scope, also before it, so the
//! names of a scope are collected before its statements are walked.

use ruff_python_ast::{ExceptHandler, Expr, Stmt};
use rustc_hash::{FxHashMap, FxHashSet};
use stan_model::names::{ShapeId, SymbolId};

/// The kind of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScopeKind {
    Module,
    /// Its names are not visible in functions inside.
    Class(ShapeId),
    /// A function, lambda or comprehension.
    Function,
}

pub(super) struct Scope {
    pub(super) kind: ScopeKind,
    pub(super) names: FxHashMap<Box<str>, SymbolId>,
    /// Names declared `global`.
    pub(super) globals: FxHashSet<Box<str>>,
}

/// The names that statements bind in their own scope.
#[derive(Default)]
pub(super) struct BoundNames {
    pub(super) names: Vec<Box<str>>,
    pub(super) globals: FxHashSet<Box<str>>,
    /// Names declared `nonlocal`.
    outer: FxHashSet<Box<str>>,
}

impl BoundNames {
    pub(super) fn of(body: &[Stmt]) -> Self {
        let mut bound = Self::default();
        bound.suite(body);
        let taken = |name: &str| bound.globals.contains(name) || bound.outer.contains(name);
        let names: Vec<Box<str>> = bound.names.iter().filter(|name| !taken(name)).cloned().collect();
        Self { names, ..bound }
    }

    fn suite(&mut self, body: &[Stmt]) {
        body.iter().for_each(|statement| self.statement(statement));
    }

    fn add(&mut self, name: &str) {
        self.names.push(name.into());
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::FunctionDef(function) => self.add(&function.name),
            Stmt::ClassDef(class) => self.add(&class.name),
            Stmt::Assign(assign) => assign.targets.iter().for_each(|target| self.target(target)),
            Stmt::AnnAssign(assign) => self.target(&assign.target),
            Stmt::AugAssign(assign) => self.target(&assign.target),
            Stmt::TypeAlias(alias) => self.target(&alias.name),
            Stmt::Import(import) => {
                for alias in &import.names {
                    let name = alias.asname.as_ref().unwrap_or(&alias.name);
                    self.add(name.split('.').next().unwrap_or_default());
                }
            }
            Stmt::ImportFrom(import) => {
                for alias in import.names.iter().filter(|alias| &*alias.name != "*") {
                    self.add(alias.asname.as_ref().unwrap_or(&alias.name));
                }
            }
            Stmt::Global(global) => self.globals.extend(global.names.iter().map(|name| name.as_str().into())),
            Stmt::Nonlocal(outer) => self.outer.extend(outer.names.iter().map(|name| name.as_str().into())),
            Stmt::With(with) => {
                with.items.iter().flat_map(|item| &item.optional_vars).for_each(|target| self.target(target));
                self.suite(&with.body);
            }
            Stmt::For(each) => {
                self.target(&each.target);
                self.suite(&each.body);
                self.suite(&each.orelse);
            }
            Stmt::While(each) => {
                self.suite(&each.body);
                self.suite(&each.orelse);
            }
            Stmt::If(condition) => {
                self.suite(&condition.body);
                condition.elif_else_clauses.iter().for_each(|clause| self.suite(&clause.body));
            }
            Stmt::Match(matched) => matched.cases.iter().for_each(|case| self.suite(&case.body)),
            Stmt::Try(attempt) => {
                self.suite(&attempt.body);
                for ExceptHandler::ExceptHandler(handler) in &attempt.handlers {
                    handler.name.iter().for_each(|name| self.add(name));
                    self.suite(&handler.body);
                }
                self.suite(&attempt.orelse);
                self.suite(&attempt.finalbody);
            }
            _ => {}
        }
    }

    pub(super) fn target(&mut self, target: &Expr) {
        match target {
            Expr::Name(name) => self.add(&name.id),
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|target| self.target(target)),
            Expr::List(list) => list.elts.iter().for_each(|target| self.target(target)),
            Expr::Starred(starred) => self.target(&starred.value),
            _ => {}
        }
    }
}
