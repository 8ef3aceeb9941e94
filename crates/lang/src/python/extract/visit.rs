//! One walk over the syntax tree: import statements with the kind that their context implies, calls that import a literal name,
//! and the names that the module binds.
//!
//! | place | kind |
//! |---|---|
//! | a stub, or under `if TYPE_CHECKING` | type |
//! | inside a function or lambda, or `import_module("…")` | dynamic |
//! | anywhere else, also in `try`, `if` and class bodies | runtime |

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{BoolOp, ElifElseClause, ExceptHandler, Expr, ExprCall, ModModule, Stmt, UnaryOp};
use ruff_python_ast::{StmtFunctionDef, StmtIf, StmtImport, StmtImportFrom};
use stan_model::EdgeKind;

use super::collect::{Collector, Offered};
use super::resources;
use crate::python::form::{Form, is_dotted_name};
use crate::python::parse::span;

/// Functions that import or read something named by a string. A text without any of these names has no such calls, and its
/// expressions are not walked.
const CALLS: [&str; 5] = ["import_module", "__import__", "importorskip", "resource", "get_data"];

/// Each name of a `from` import repeats the module. This limit on the total size of specifiers, relative to the file, prevents
/// quadratic output from a long module with many names; beyond it, only the module is recorded.
const SPECIFIERS_PER_BYTE: usize = 4;
const FREE_SPECIFIERS: usize = 1 << 16;

pub(super) fn walk(found: &mut Collector, module: &ModModule, text: &str, is_stub: bool) {
    let has_calls = CALLS.iter().any(|name| memchr::memmem::find(text.as_bytes(), name.as_bytes()).is_some());
    let room = SPECIFIERS_PER_BYTE * text.len() + FREE_SPECIFIERS;
    let mut walk = ImportWalk { found, has_calls, is_stub, in_function: false, type_only: false, at_top: true, room };
    walk.suite(&module.body);
}

struct ImportWalk<'f> {
    found: &'f mut Collector,
    has_calls: bool,
    is_stub: bool,
    in_function: bool,
    type_only: bool,
    /// Whether statements bind names of the module itself.
    at_top: bool,
    /// The remaining bytes for specifiers.
    room: usize,
}

impl ImportWalk<'_> {
    fn kind(&self) -> EdgeKind {
        if self.is_stub || self.type_only {
            EdgeKind::Type
        } else if self.in_function {
            EdgeKind::Dynamic
        } else {
            EdgeKind::Runtime
        }
    }

    fn suite(&mut self, body: &[Stmt]) {
        for statement in body {
            self.visit_stmt(statement);
        }
    }

    fn offer(&mut self, name: &str, source: Offered<'_>) {
        if self.at_top && !name.is_empty() {
            self.found.offer(name, source);
        }
    }

    fn import(&mut self, import: &StmtImport) {
        let kind = self.kind();
        // Where a name is missing, the parser inserts an empty one; the same applies below.
        for alias in import.names.iter().filter(|alias| !alias.name.is_empty()) {
            let (request, _) = self.found.request(span(alias).0, &[&alias.name], kind, Form::Module);
            let bound = alias.asname.as_ref().unwrap_or(&alias.name);
            match bound.split_once('.') {
                None => self.offer(bound, Offered::Namespace { request }),
                // `import a.b` binds `a`.
                Some((first, _)) => self.offer(first, Offered::Local),
            }
        }
    }

    fn import_from(&mut self, import: &StmtImportFrom) {
        let kind = self.kind();
        let mut module = ".".repeat((import.level as usize).min(64));
        module.push_str(import.module.as_deref().unwrap_or_default());
        if module.is_empty() {
            return;
        }
        for alias in import.names.iter().filter(|alias| !alias.name.is_empty()) {
            let position = span(alias).0;
            if &*alias.name == "*" {
                let (request, _) = self.found.request(position, &[&module], kind, Form::Module);
                if self.at_top {
                    self.found.star(request);
                }
                continue;
            }
            let separator = if import.module.is_some() { "." } else { "" };
            let Some(left) = self.room.checked_sub(module.len() + alias.name.len() + 1) else {
                self.found.request(position, &[&module], kind, Form::Module);
                break;
            };
            self.room = left;
            let specifier = [&*module, separator, &alias.name];
            let (request, is_new) = self.found.request(position, &specifier, kind, Form::Name);
            // Requests that are equal import the same name, because it is the last part of the specifier.
            if is_new && kind != EdgeKind::Dynamic {
                self.found.take(request, &alias.name, kind);
            }
            let bound = alias.asname.as_ref().unwrap_or(&alias.name);
            self.offer(bound, Offered::Name { request, name: &alias.name });
        }
    }

    fn condition(&mut self, statement: &StmtIf) {
        let outer = self.type_only;
        self.visit_expr(&statement.test);
        self.type_only = outer || is_type_checking(&statement.test);
        self.suite(&statement.body);
        // The `else` of `if not TYPE_CHECKING` is for the type checker.
        let mut otherwise = outer || is_not_type_checking(&statement.test);
        for ElifElseClause { test, body, .. } in &statement.elif_else_clauses {
            self.type_only = otherwise;
            if let Some(test) = test {
                self.visit_expr(test);
                self.type_only = otherwise || is_type_checking(test);
                otherwise |= is_not_type_checking(test);
            }
            self.suite(body);
        }
        self.type_only = outer;
    }

    fn function(&mut self, function: &StmtFunctionDef) {
        self.offer(&function.name, Offered::Local);
        for decorator in &function.decorator_list {
            self.visit_expr(&decorator.expression);
        }
        for parameter in function.parameters.iter_non_variadic_params() {
            if let Some(default) = parameter.default() {
                self.visit_expr(default);
            }
        }
        self.inside(true, |walk| walk.suite(&function.body));
    }

    /// Runs `work` in the scope of a function or class.
    fn inside(&mut self, is_function: bool, work: impl FnOnce(&mut Self)) {
        let outer = (self.in_function, self.at_top);
        self.in_function |= is_function;
        self.at_top = false;
        work(self);
        (self.in_function, self.at_top) = outer;
    }

    fn bind(&mut self, target: &Expr) {
        match target {
            Expr::Name(name) => self.offer(&name.id, Offered::Local),
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|target| self.bind(target)),
            Expr::List(list) => list.elts.iter().for_each(|target| self.bind(target)),
            Expr::Starred(starred) => self.bind(&starred.value),
            _ => {}
        }
    }

    /// Records a call that imports the module named by its first argument.
    fn call(&mut self, call: &ExprCall) {
        let (name, is_plain) = match &*call.func {
            Expr::Name(name) => (name.id.as_str(), true),
            Expr::Attribute(attribute) => (attribute.attr.as_str(), false),
            _ => return,
        };
        let imports = matches!(name, "import_module" | "importorskip") || (name == "__import__" && is_plain);
        let Some(Expr::StringLiteral(literal)) = call.arguments.args.first().filter(|_| imports) else { return };
        let module = literal.value.to_str();
        let bare = module.trim_start_matches('.');
        if !is_dotted_name(bare) || (bare.len() < module.len() && !names_own_package(call)) {
            return;
        }
        let kind = if self.type_only { EdgeKind::Type } else { EdgeKind::Dynamic };
        self.found.request(span(literal).0, &[module], kind, Form::Module);
    }
}

/// Whether a relative name is relative to the importer's own package.
fn names_own_package(call: &ExprCall) -> bool {
    let package = call.arguments.find_argument_value("package", 1);
    matches!(package, Some(Expr::Name(name)) if name.id.as_str() == "__package__" || name.id.as_str() == "__name__")
}

impl<'a> Visitor<'a> for ImportWalk<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Import(import) => self.import(import),
            Stmt::ImportFrom(import) => self.import_from(import),
            Stmt::If(condition) => self.condition(condition),
            Stmt::FunctionDef(function) => self.function(function),
            Stmt::ClassDef(class) => {
                self.offer(&class.name, Offered::Local);
                if self.has_calls {
                    class.decorator_list.iter().for_each(|decorator| self.visit_expr(&decorator.expression));
                    class.arguments.iter().for_each(|arguments| self.visit_arguments(arguments));
                }
                self.inside(false, |walk| walk.suite(&class.body));
            }
            Stmt::Assign(assign) => {
                assign.targets.iter().for_each(|target| self.bind(target));
                self.visit_expr(&assign.value);
            }
            Stmt::AnnAssign(assign) => {
                self.bind(&assign.target);
                assign.value.iter().for_each(|value| self.visit_expr(value));
            }
            Stmt::TypeAlias(alias) => self.bind(&alias.name),
            Stmt::Try(attempt) => {
                self.suite(&attempt.body);
                for ExceptHandler::ExceptHandler(handler) in &attempt.handlers {
                    self.suite(&handler.body);
                }
                self.suite(&attempt.orelse);
                self.suite(&attempt.finalbody);
            }
            Stmt::With(with) => {
                with.items.iter().for_each(|item| self.visit_expr(&item.context_expr));
                self.suite(&with.body);
            }
            Stmt::For(_) | Stmt::While(_) | Stmt::Match(_) => visitor::walk_stmt(self, statement),
            _ if self.has_calls => visitor::walk_stmt(self, statement),
            _ => {}
        }
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        if !self.has_calls {
            return;
        }
        if let Some(resource) = resources::resource(expression) {
            let kind = if self.type_only { EdgeKind::Type } else { EdgeKind::Dynamic };
            self.found.request(span(expression).0, &[&resource], kind, Form::Resource);
            return;
        }
        match expression {
            Expr::Lambda(_) => self.inside(true, |walk| visitor::walk_expr(walk, expression)),
            Expr::Call(call) => {
                self.call(call);
                visitor::walk_expr(self, expression);
            }
            _ => visitor::walk_expr(self, expression),
        }
    }
}

/// `TYPE_CHECKING`, `typing.TYPE_CHECKING`, or a conjunction with either.
fn is_type_checking(test: &Expr) -> bool {
    match test {
        Expr::Name(name) => name.id.as_str() == "TYPE_CHECKING",
        Expr::Attribute(attribute) => attribute.attr.as_str() == "TYPE_CHECKING",
        Expr::BoolOp(operation) => operation.op == BoolOp::And && operation.values.iter().any(is_type_checking),
        _ => false,
    }
}

fn is_not_type_checking(test: &Expr) -> bool {
    matches!(test, Expr::UnaryOp(operation) if operation.op == UnaryOp::Not && is_type_checking(&operation.operand))
}
