//! The module-level names of a package's `__init__`: in `from package import name`, `name` is an attribute if the package binds
//! it, otherwise the module of that name.

use ruff_python_ast::{ExceptHandler, Expr, ModModule, Stmt, StmtImportFrom};
use rustc_hash::FxHashMap;

use crate::python::{is_stub, parse};

/// The final binding of each name in a module.
#[derive(Debug, Default)]
pub(in crate::python) struct Bindings(FxHashMap<Box<str>, BoundAs>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BoundAs {
    /// A submodule of the package.
    Module,
    Attribute,
}

impl Bindings {
    /// Parses a file; one that cannot be parsed binds nothing.
    pub(in crate::python) fn of_file(path: &str, bytes: &[u8]) -> Self {
        let Some(text) = parse::text_of(bytes).0 else { return Self::default() };
        let read = || Self::of_module(parse::parse(path, &text).syntax(), is_stub(path));
        parse::with_room(&text, read).unwrap_or_default()
    }

    fn of_module(module: &ModModule, is_stub: bool) -> Self {
        let mut reader = BindingCollector { bound: Self::default(), is_stub };
        reader.suite(&module.body);
        reader.bound
    }

    /// Whether the name is bound to anything but a submodule.
    pub(in crate::python) fn is_attribute(&self, name: &str) -> bool {
        self.0.get(name) == Some(&BoundAs::Attribute)
    }
}

struct BindingCollector {
    bound: Bindings,
    is_stub: bool,
}

impl BindingCollector {
    fn set(&mut self, name: &str, bound: BoundAs) {
        self.bound.0.insert(name.into(), bound);
    }

    /// Binds a name if it is unbound.
    fn set_first(&mut self, name: &str, bound: BoundAs) {
        self.bound.0.entry(name.into()).or_insert(bound);
    }

    fn suite(&mut self, body: &[Stmt]) {
        body.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::FunctionDef(function) => self.set(&function.name, BoundAs::Attribute),
            Stmt::ClassDef(class) => self.set(&class.name, BoundAs::Attribute),
            Stmt::Assign(assign) => assign.targets.iter().for_each(|target| self.target(target)),
            Stmt::AnnAssign(assign) if assign.value.is_some() || self.is_stub => self.target(&assign.target),
            Stmt::Import(import) => {
                for alias in &import.names {
                    match &alias.asname {
                        Some(name) => self.set(name, BoundAs::Attribute),
                        None => self.set_first(first_part(&alias.name), BoundAs::Attribute),
                    }
                }
            }
            Stmt::ImportFrom(import) => self.import_from(import),
            Stmt::If(condition) => {
                self.suite(&condition.body);
                condition.elif_else_clauses.iter().for_each(|clause| self.suite(&clause.body));
            }
            Stmt::Try(attempt) => {
                self.suite(&attempt.body);
                self.suite(&attempt.orelse);
                self.suite(&attempt.finalbody);
                for ExceptHandler::ExceptHandler(handler) in &attempt.handlers {
                    self.suite(&handler.body);
                }
            }
            Stmt::With(with) => self.suite(&with.body),
            Stmt::For(each) => {
                self.suite(&each.body);
                self.suite(&each.orelse);
            }
            Stmt::While(each) => {
                self.suite(&each.body);
                self.suite(&each.orelse);
            }
            _ => {}
        }
    }

    fn import_from(&mut self, import: &StmtImportFrom) {
        if import.level == 1
            && let Some(module) = &import.module
        {
            // Importing from a submodule also binds the submodule.
            self.set_first(first_part(module), BoundAs::Module);
        }
        for alias in import.names.iter().filter(|alias| &*alias.name != "*") {
            let name = alias.asname.as_ref().unwrap_or(&alias.name);
            let is_module = import.level == 1 && import.module.is_none() && name.as_str() == alias.name.as_str();
            self.set(name, if is_module { BoundAs::Module } else { BoundAs::Attribute });
        }
    }

    fn target(&mut self, target: &Expr) {
        match target {
            Expr::Name(name) => self.set(&name.id, BoundAs::Attribute),
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|target| self.target(target)),
            Expr::List(list) => list.elts.iter().for_each(|target| self.target(target)),
            Expr::Starred(starred) => self.target(&starred.value),
            _ => {}
        }
    }
}

fn first_part(dotted: &str) -> &str {
    dotted.split('.').next().unwrap_or(dotted)
}
