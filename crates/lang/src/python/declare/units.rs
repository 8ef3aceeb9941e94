//! The outline of one file: functions, classes and assignments at module level, and the members of classes. Uses only the spans
//! of the tree. Declarations under `if`, `try` and `with` count like those outside.

use ruff_python_ast::{Decorator, ExceptHandler, Expr, ModModule, Stmt, StmtClassDef, StmtFunctionDef};
use ruff_text_size::Ranged;
use rustc_hash::FxHashSet;
use stan_model::outline::{LineStarts, Span, Unit, UnitId, UnitKind, UnitName};

use crate::python::parse::span as ends;

pub(super) fn units(module: &ModModule, text: &str, lines: &LineStarts) -> Vec<Unit> {
    let mut units = Units { text, lines, units: Vec::new(), parents: Vec::new(), in_enum: false };
    units.suite(&module.body);
    let mut units = units.units;
    if let Some(listed) = all_names(&module.body) {
        for unit in units.iter_mut().filter(|unit| unit.parent.is_none()) {
            unit.exported = unit.names.iter().any(|name| listed.contains(&*name.text));
        }
    }
    units
}

struct Units<'s> {
    text: &'s str,
    lines: &'s LineStarts,
    units: Vec<Unit>,
    parents: Vec<UnitId>,
    /// Whether the enclosing class is an enum.
    in_enum: bool,
}

impl Units<'_> {
    fn suite(&mut self, body: &[Stmt]) {
        body.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::FunctionDef(function) => self.function(function),
            Stmt::ClassDef(class) => self.class(class),
            Stmt::Assign(assign) => {
                let mut names = Vec::new();
                assign.targets.iter().for_each(|target| self.target_names(target, &mut names));
                self.variable(names, statement, Some(&assign.value));
            }
            Stmt::AnnAssign(assign) => {
                let mut names = Vec::new();
                self.target_names(&assign.target, &mut names);
                self.variable(names, statement, assign.value.as_deref());
            }
            Stmt::TypeAlias(alias) => {
                let mut names = Vec::new();
                self.target_names(&alias.name, &mut names);
                self.add(UnitKind::Type, names, span(statement), Vec::new());
            }
            Stmt::If(condition) => {
                self.suite(&condition.body);
                condition.elif_else_clauses.iter().for_each(|clause| self.suite(&clause.body));
            }
            Stmt::Try(attempt) => {
                self.suite(&attempt.body);
                for ExceptHandler::ExceptHandler(handler) in &attempt.handlers {
                    self.suite(&handler.body);
                }
                self.suite(&attempt.orelse);
                self.suite(&attempt.finalbody);
            }
            Stmt::With(with) => self.suite(&with.body),
            _ => {}
        }
    }

    fn add(&mut self, kind: UnitKind, names: Vec<UnitName>, span: Span, bodies: Vec<Span>) -> &mut Unit {
        let head = Span::new(span.start, bodies.first().map_or(span.end, |body| body.start));
        let exported = names.iter().any(|name| !name.text.starts_with('_') || name.text.ends_with("__"));
        let next = self.units.len();
        self.units.push(Unit {
            kind,
            names,
            span,
            lines: self.lines.lines(span),
            doc: None,
            head,
            bodies,
            parent: self.parents.last().copied(),
            until: next as u32 + 1,
            exported,
            is_static: false,
            heritage: Vec::new(),
        });
        &mut self.units[next]
    }

    fn name(&self, name: &str, node: &impl Ranged) -> UnitName {
        let span = span(node);
        UnitName { text: name.into(), span, line: self.lines.line(span.start) }
    }

    fn target_names(&self, target: &Expr, names: &mut Vec<UnitName>) {
        match target {
            Expr::Name(name) => names.push(self.name(&name.id, name)),
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|target| self.target_names(target, names)),
            Expr::List(list) => list.elts.iter().for_each(|target| self.target_names(target, names)),
            Expr::Starred(starred) => self.target_names(&starred.value, names),
            _ => {}
        }
    }

    fn variable(&mut self, names: Vec<UnitName>, statement: &Stmt, value: Option<&Expr>) {
        let Some(first) = names.first() else { return };
        let is_constant = first.text.chars().any(char::is_uppercase) && !first.text.chars().any(char::is_lowercase);
        let kind = match (self.parents.is_empty(), self.in_enum) {
            (true, _) if is_constant => UnitKind::Constant,
            (true, _) => UnitKind::Variable,
            (false, true) => UnitKind::EnumMember,
            (false, false) => UnitKind::Property,
        };
        let bodies = value.map(span).filter(|span| span.of(self.text).contains('\n'));
        self.add(kind, names, span(statement), bodies.into_iter().collect());
    }

    fn function(&mut self, function: &StmtFunctionDef) {
        let whole = with_decorators(span(function), &function.decorator_list);
        let (kind, is_static) = match self.parents.is_empty() {
            true => (UnitKind::Function, false),
            false => method_kind(function),
        };
        let names = vec![self.name(&function.name, &function.name)];
        let doc = doc_string(&function.body);
        let unit = self.add(kind, names, whole, body_span(&function.body, whole));
        unit.is_static = is_static;
        unit.doc = doc;
    }

    fn class(&mut self, class: &StmtClassDef) {
        let whole = with_decorators(span(class), &class.decorator_list);
        let names = vec![self.name(&class.name, &class.name)];
        let bases = class.arguments.iter().flat_map(|arguments| arguments.args.iter());
        let heritage: Vec<Box<str>> = bases.map(|base| span(without_arguments(base)).of(self.text).into()).collect();
        let is_enum = heritage.iter().any(|base| base.ends_with("Enum") || base.ends_with("Flag"));
        let doc = doc_string(&class.body);
        let unit = self.add(UnitKind::Class, names, whole, body_span(&class.body, whole));
        unit.heritage = heritage;
        unit.doc = doc;
        let id = self.units.len() - 1;
        let outer = std::mem::replace(&mut self.in_enum, is_enum);
        self.parents.push(UnitId(id as u32));
        self.suite(&class.body);
        self.parents.pop();
        self.in_enum = outer;
        self.units[id].until = self.units.len() as u32;
    }
}

fn span(node: &impl Ranged) -> Span {
    let (start, end) = ends(node);
    Span::new(start, end)
}

fn with_decorators(span: Span, decorators: &[Decorator]) -> Span {
    let start = decorators.first().map_or(span.start, |first| ends(first).0.min(span.start));
    Span::new(start, span.end)
}

/// The statements of a body, without the newline and white space before them.
fn body_span(body: &[Stmt], whole: Span) -> Vec<Span> {
    body.first().map(|first| Span::new(ends(first).0, whole.end)).into_iter().collect()
}

pub(super) fn doc_string(body: &[Stmt]) -> Option<Span> {
    match body.first() {
        Some(Stmt::Expr(first)) if matches!(*first.value, Expr::StringLiteral(_)) => Some(span(first)),
        _ => None,
    }
}

/// `Base` of `Base[T]`.
fn without_arguments(base: &Expr) -> &Expr {
    match base {
        Expr::Subscript(subscript) => &subscript.value,
        base => base,
    }
}

/// The unit kind of a function in a class, and whether it is a class-level member (class or static method).
pub(super) fn method_kind(function: &StmtFunctionDef) -> (UnitKind, bool) {
    let named = |wanted: &[&str]| {
        function.decorator_list.iter().any(|decorator| {
            let name = match &decorator.expression {
                Expr::Name(name) => name.id.as_str(),
                Expr::Attribute(attribute) => attribute.attr.as_str(),
                Expr::Call(call) => match &*call.func {
                    Expr::Name(name) => name.id.as_str(),
                    Expr::Attribute(attribute) => attribute.attr.as_str(),
                    _ => return false,
                },
                _ => return false,
            };
            wanted.contains(&name)
        })
    };
    let kind = if function.name.as_str() == "__init__" {
        UnitKind::Constructor
    } else if named(&["setter", "deleter"]) {
        UnitKind::Setter
    } else if named(&["property", "cached_property", "computed_field", "abstractproperty"]) {
        UnitKind::Getter
    } else {
        UnitKind::Method
    };
    (kind, named(&["staticmethod", "classmethod"]))
}

/// The strings of `__all__`, if it is assigned a literal.
fn all_names(body: &[Stmt]) -> Option<FxHashSet<&str>> {
    let value = body.iter().rev().find_map(|statement| {
        let (target, value) = match statement {
            Stmt::Assign(assign) => (assign.targets.first()?, &*assign.value),
            Stmt::AnnAssign(assign) => (&*assign.target, assign.value.as_deref()?),
            _ => return None,
        };
        matches!(target, Expr::Name(name) if name.id.as_str() == "__all__").then_some(value)
    })?;
    let elements: &[Expr] = match value {
        Expr::List(list) => &list.elts,
        Expr::Tuple(tuple) => &tuple.elts,
        _ => return None,
    };
    // `[*other.__all__]` contains names that are unknown here.
    elements.iter().map(literal).collect()
}

fn literal(element: &Expr) -> Option<&str> {
    match element {
        Expr::StringLiteral(literal) => Some(literal.value.to_str()),
        _ => None,
    }
}
