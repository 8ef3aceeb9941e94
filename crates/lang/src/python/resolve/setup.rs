//! Source roots in files that setuptools reads or writes: `setup.cfg`, which is an INI file, the literals of `setup.py`, and the
//! tables of editable installs.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, ExprCall, Stmt};

use crate::python::parse;

/// Parses keys with multi-line values, like setuptools.
pub(super) fn of_setup_cfg(text: &str, roots: &mut Vec<String>) {
    let (mut section, mut key) = (String::new(), String::new());
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        }
        let value = if line.starts_with([' ', '\t']) {
            trimmed
        } else if let Some(name) = trimmed.strip_prefix('[') {
            section = name.trim_end_matches(']').trim().to_owned();
            key.clear();
            continue;
        } else {
            let (name, value) = trimmed.split_once('=').unwrap_or((trimmed, ""));
            key = name.trim().replace('-', "_");
            value.trim()
        };
        match (&*section, &*key) {
            ("options.packages.find", "where") if !value.is_empty() => roots.push(value.to_owned()),
            ("options", "package_dir") => {
                // `= src`, also as `package_dir = =src`.
                if let Some((package, folder)) = value.split_once('=') {
                    roots.extend(root_of_package(package.trim(), folder.trim()));
                }
            }
            _ => {}
        }
    }
}

/// `package_dir={"": "src"}`, `find_packages("src")` and `find_packages(where="src")`.
pub(super) fn of_setup_py(text: &str, roots: &mut Vec<String>) {
    if !text.contains("package_dir") && !text.contains("packages(") {
        return;
    }
    let mut found = Literals(Vec::new());
    let read = || {
        found.visit_body(&parse::parse("setup.py", text).syntax().body);
        found
    };
    roots.extend(parse::with_room(text, read).map(|found| found.0).unwrap_or_default());
}

struct Literals(Vec<String>);

impl Literals {
    fn call(&mut self, call: &ExprCall) {
        let name = match &*call.func {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            _ => return,
        };
        if matches!(name, "find_packages" | "find_namespace_packages") {
            self.0.extend(call.arguments.find_argument_value("where", 0).and_then(literal).map(str::to_owned));
        }
        if let Some(Expr::Dict(folders)) = call.arguments.find_keyword("package_dir").map(|keyword| &keyword.value) {
            for item in &folders.items {
                let (package, folder) = (item.key.as_ref().and_then(literal), literal(&item.value));
                if let (Some(package), Some(folder)) = (package, folder) {
                    self.0.extend(root_of_package(package, folder));
                }
            }
        }
    }
}

impl<'a> Visitor<'a> for Literals {
    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Call(call) = expression {
            self.call(call);
        }
        visitor::walk_expr(self, expression);
    }
}

/// The roots in `MAPPING = {"package": "/folder/package"}` of an editable install.
pub(super) fn of_editable_table(text: &str) -> Vec<String> {
    let read = || {
        let tree = parse::parse("finder.py", text);
        let tables = tree.syntax().body.iter().filter_map(|statement| {
            let (target, value) = match statement {
                Stmt::Assign(assign) => (assign.targets.first()?, &*assign.value),
                Stmt::AnnAssign(assign) => (&*assign.target, assign.value.as_deref()?),
                _ => return None,
            };
            let is_mapping = matches!(target, Expr::Name(name) if name.id.as_str() == "MAPPING");
            if let Expr::Dict(table) = value
                && is_mapping
            {
                Some(table)
            } else {
                None
            }
        });
        let pairs = tables.flat_map(|table| &table.items).filter_map(|item| {
            let (package, folder) = (literal(item.key.as_ref()?)?, literal(&item.value)?);
            root_of_package(package, folder)
        });
        pairs.collect()
    };
    parse::with_room(text, read).unwrap_or_default()
}

fn literal(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::StringLiteral(literal) => Some(literal.value.to_str()),
        _ => None,
    }
}

/// The root if package `package` is in folder `folder`: the whole folder for an empty name, otherwise the folder without the
/// package's own path.
pub(super) fn root_of_package(package: &str, folder: &str) -> Option<String> {
    if package.is_empty() {
        return Some(folder.to_owned());
    }
    let root = folder.trim_end_matches('/').strip_suffix(&package.replace('.', "/"))?;
    match root.strip_suffix('/') {
        Some(root) => Some(root.to_owned()),
        None => root.is_empty().then(|| ".".to_owned()),
    }
}
