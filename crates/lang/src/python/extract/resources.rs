//! Data files of packages named by literals: `importlib.resources`, `pkgutil.get_data` and `pkg_resources`.

use ruff_python_ast::{Expr, ExprCall, Operator};

use crate::python::form::is_dotted_name;

/// Functions of `importlib.resources` that take a package and a resource name.
const READERS: [&str; 7] =
    ["read_text", "read_binary", "open_text", "open_binary", "path", "is_resource", "resource_path"];

/// Functions of `pkg_resources` and `pkgutil` that take a package and a path.
const OTHERS: [&str; 4] = ["get_data", "resource_filename", "resource_string", "resource_stream"];

/// The maximum number of parts of a path, which bounds the recursion. Real paths have few.
const MAX_PARTS: usize = 16;

/// `package:path` for an expression that names a data file of a package; `None` for any other.
pub(super) fn resource(expression: &Expr) -> Option<String> {
    let (package, path) = located(expression, 0)?;
    Some([&package, ":", &path].concat())
}

/// The package and the path in it.
fn located(expression: &Expr, depth: usize) -> Option<(String, String)> {
    if depth > MAX_PARTS {
        return None;
    }
    match expression {
        Expr::BinOp(operation) if operation.op == Operator::Div => {
            let (package, path) = located(&operation.left, depth + 1)?;
            Some((package, appended(path, literal(&operation.right)?)?))
        }
        Expr::Call(call) => called(call, depth),
        _ => None,
    }
}

fn called(call: &ExprCall, depth: usize) -> Option<(String, String)> {
    let arguments = &call.arguments.args;
    let (name, owner) = match &*call.func {
        Expr::Name(name) => (name.id.as_str(), None),
        Expr::Attribute(attribute) => (attribute.attr.as_str(), Some(&*attribute.value)),
        _ => return None,
    };
    if let ("joinpath", Some(owner)) = (name, owner) {
        let (package, mut path) = located(owner, depth + 1)?;
        for part in arguments {
            path = appended(path, literal(part)?)?;
        }
        return Some((package, path));
    }
    let is_resources = owner.is_none_or(|owner| last_name(owner).is_some_and(|last| last.ends_with("resources")));
    if name == "files" && owner.is_some() && is_resources {
        return Some((package_of(arguments.first()?)?, String::new()));
    }
    let reads = owner.is_some() && is_resources && READERS.contains(&name);
    if !reads && !OTHERS.contains(&name) {
        return None;
    }
    Some((package_of(arguments.first()?)?, appended(String::new(), literal(arguments.get(1)?)?)?))
}

fn last_name(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
        _ => None,
    }
}

/// The package in an argument: a literal, or the importer's own.
fn package_of(argument: &Expr) -> Option<String> {
    match argument {
        Expr::Name(name) if matches!(name.id.as_str(), "__package__" | "__name__") => Some(".".to_owned()),
        _ => literal(argument).filter(|name| is_dotted_name(name)).map(str::to_owned),
    }
}

fn literal(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::StringLiteral(literal) => Some(literal.value.to_str()),
        _ => None,
    }
}

/// Appends parts to a path; `None` if they leave the package.
fn appended(mut path: String, parts: &str) -> Option<String> {
    for part in parts.split('/').filter(|part| !part.is_empty()) {
        if matches!(part, "." | "..") || part.contains(['\\', ':', '\0']) {
            return None;
        }
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(part);
    }
    Some(path)
}
