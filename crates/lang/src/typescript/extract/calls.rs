//! Calls that request a module: `import()`, `require`, `import.meta`, mocks, `new URL`. Calls are recognised by their text,
//! without scope analysis, as in the reference implementation; only bindings of `createRequire` are followed.

use std::borrow::Cow;

use oxc_ast::ast::*;
use rustc_hash::FxHashMap;
use stan_model::EdgeKind;

use super::collect::Collector;
use super::visit::ImportWalk;
use crate::typescript::form::Form;

/// Methods of Vitest's `vi`, Jest's `jest` and the `mock` of Node and Bun whose first argument is a module specifier.
const MOCK_METHODS: &[&str] = &[
    "createMockFromModule",
    "deepUnmock",
    "doMock",
    "doUnmock",
    "dontMock",
    "genMockFromModule",
    "importActual",
    "importMock",
    "mock",
    "requireActual",
    "requireMock",
    "setMock",
    "unmock",
    "unstable_mockModule",
    "unstable_unmockModule",
];

/// Names bound to the result of `createRequire`. They may be declared after the functions that use them.
#[derive(Default)]
pub(super) struct CreatedRequires<'a> {
    /// Local names of `createRequire`, besides `createRequire` itself.
    makers: Vec<&'a str>,
    /// Evaluated at the end, when all names of `createRequire` are known.
    results: Vec<CallResult<'a>>,
    calls: Vec<TentativeCall<'a>>,
}

/// A variable whose value is a call, with the callee's name and the base in its arguments.
struct CallResult<'a> {
    name: &'a str,
    callee: &'a str,
    base: Base<'a>,
}

/// The base that a `require` made by `createRequire` resolves from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base<'a> {
    /// The file itself: `import.meta.url`, `__filename`.
    File,
    /// `new URL('x', import.meta.url)`.
    Beside(&'a str),
    Unknown,
}

impl<'a> Base<'a> {
    /// The base in the arguments of `createRequire`.
    fn of(call: &CallExpression<'a>) -> Self {
        call.arguments
            .first()
            .and_then(Argument::as_expression)
            .map_or(Self::Unknown, |base| Self::of_expression(base, 0))
    }

    fn of_expression(base: &Expression<'a>, depth: u8) -> Self {
        let inner = |base: &Expression<'a>| Self::of_expression(base, depth + 1);
        // If one branch is the file itself, assume it: the other branch is for another module system.
        let either = |one: &Expression<'a>, other: &Expression<'a>| match inner(one) {
            Self::Unknown => inner(other),
            known => known,
        };
        match base {
            _ if depth > 8 => Self::Unknown,
            Expression::Identifier(it) if it.name == "__filename" => Self::File,
            Expression::StaticMemberExpression(it) if is_import_meta(&it.object) => {
                if matches!(it.property.name.as_str(), "url" | "filename") { Self::File } else { Self::Unknown }
            }
            // `new URL(…).href` and `.pathname`.
            Expression::StaticMemberExpression(it) if matches!(it.property.name.as_str(), "href" | "pathname") => {
                inner(&it.object)
            }
            // `fileURLToPath(import.meta.url)`
            Expression::CallExpression(it) if it.arguments.len() == 1 => Self::of(it),
            Expression::NewExpression(it) => match it.arguments.as_slice() {
                [first, Argument::StaticMemberExpression(second)]
                    if second.property.name == "url" && is_import_meta(&second.object) =>
                {
                    literal(first).map_or(Self::Unknown, |(_, place)| Self::Beside(place))
                }
                _ => Self::Unknown,
            },
            Expression::ConditionalExpression(it) => either(&it.consequent, &it.alternate),
            Expression::LogicalExpression(it) => either(&it.left, &it.right),
            Expression::ParenthesizedExpression(it) => inner(&it.expression),
            Expression::TSAsExpression(it) => inner(&it.expression),
            Expression::TSNonNullExpression(it) => inner(&it.expression),
            _ => Self::Unknown,
        }
    }

    /// The form and the specifier, as if written in the file itself.
    fn request(self, specifier: &'a str, form: Form) -> (Form, Cow<'a, str>) {
        let is_relative = specifier.starts_with("./") || specifier.starts_with("../");
        match self {
            Self::File => (form, specifier.into()),
            // Packages are searched in all parent folders, so every file of the folder resolves them the same.
            Self::Beside(_) if !is_relative => (form, specifier.into()),
            Self::Beside(place) if !place.starts_with('/') && !place.contains([':', '?', '#', '%']) => {
                let folder = place.rfind('/').map_or("", |at| &place[..=at]);
                let start = if folder.starts_with('.') { "" } else { "./" };
                (form, [start, folder, specifier.strip_prefix("./").unwrap_or(specifier)].concat().into())
            }
            Self::Beside(_) | Self::Unknown => (Form::RequireElsewhere, specifier.into()),
        }
    }
}

struct TentativeCall<'a> {
    callee: &'a str,
    position: u32,
    specifier: &'a str,
    kind: EdgeKind,
    form: Form,
}

impl<'a> CreatedRequires<'a> {
    /// `import {createRequire as make} from 'module'`.
    pub(super) fn import(&mut self, local: &'a str, imported: &str) {
        if imported == "createRequire" {
            self.makers.push(local);
        }
    }

    /// `const load = createRequire(…)`, and `const { createRequire: make } = require('module')`.
    pub(super) fn declarator(&mut self, declarator: &VariableDeclarator<'a>) {
        match (&declarator.id, &declarator.init) {
            (BindingPattern::BindingIdentifier(id), Some(Expression::CallExpression(call))) => {
                if let Some(callee) = called_name(call) {
                    self.results.push(CallResult { name: id.name.as_str(), callee, base: Base::of(call) });
                }
            }
            (BindingPattern::ObjectPattern(pattern), _) => {
                for property in &pattern.properties {
                    if let BindingPattern::BindingIdentifier(id) = &property.value
                        && property.key.static_name().as_deref() == Some("createRequire")
                    {
                        self.makers.push(id.name.as_str());
                    }
                }
            }
            _ => {}
        }
    }

    /// Turns the calls of names that are bound to a `require` into requests.
    pub(super) fn settle(self, found: &mut Collector<'a>) {
        if self.calls.is_empty() {
            return;
        }
        let makes = |name: &str| name == "createRequire" || self.makers.contains(&name);
        let created = self.results.iter().filter(|result| makes(result.callee));
        let created: FxHashMap<&str, Base<'a>> = created.map(|result| (result.name, result.base)).collect();
        for call in self.calls {
            if let Some(base) = created.get(call.callee) {
                let (form, specifier) = base.request(call.specifier, call.form);
                found.request(call.position, specifier, call.kind, form, None);
            }
        }
    }
}

/// The last name of a callee: `createRequire` for `createRequire(x)` and `module.createRequire(x)`.
fn called_name<'a>(call: &CallExpression<'a>) -> Option<&'a str> {
    match &call.callee {
        Expression::Identifier(it) => Some(it.name.as_str()),
        Expression::StaticMemberExpression(it) => Some(it.property.name.as_str()),
        _ => None,
    }
}

pub(super) fn has_require_parameter(parameters: &FormalParameters<'_>) -> bool {
    let is_require = |pattern: &BindingPattern<'_>| match pattern {
        BindingPattern::BindingIdentifier(id) => id.name == "require",
        BindingPattern::AssignmentPattern(it) => {
            matches!(&it.left, BindingPattern::BindingIdentifier(id) if id.name == "require")
        }
        _ => false,
    };
    parameters.items.iter().any(|parameter| is_require(&parameter.pattern))
        || parameters.rest.as_ref().is_some_and(|rest| is_require(&rest.rest.argument))
}

impl<'a> ImportWalk<'a, '_> {
    pub(super) fn call(&mut self, call: &CallExpression<'a>) {
        let Some(first) = call.arguments.first() else { return };
        match &call.callee {
            Expression::Identifier(callee) => {
                if let Some((position, specifier)) = literal(first) {
                    self.plain_call(callee.name.as_str(), position, specifier);
                }
            }
            Expression::StaticMemberExpression(callee) => self.member_call(callee, first, call),
            // `createRequire(import.meta.url)('x')`
            Expression::CallExpression(callee) if self.needs.create_require => {
                if let (Some((position, specifier)), Some("createRequire")) = (literal(first), called_name(callee)) {
                    let (form, specifier) = Base::of(callee).request(specifier, Form::Require);
                    self.found.request(position, specifier, self.require_kind(), form, None);
                }
            }
            _ => {}
        }
    }

    fn require_kind(&self) -> EdgeKind {
        if self.in_function { EdgeKind::Dynamic } else { EdgeKind::Runtime }
    }

    fn plain_call(&mut self, callee: &'a str, position: u32, specifier: &'a str) {
        let kind = self.require_kind();
        if callee == "require" {
            let form = if self.require_is_parameter { Form::RequireParam } else { Form::Require };
            self.found.request(position, specifier, kind, form, None);
        } else if self.needs.create_require {
            self.created.calls.push(TentativeCall { callee, position, specifier, kind, form: Form::Require });
        }
    }

    fn member_call(&mut self, callee: &StaticMemberExpression<'a>, first: &Argument<'a>, call: &CallExpression<'a>) {
        let method = callee.property.name.as_str();
        match method {
            "resolve" => {
                if let Some((position, specifier)) = literal(first) {
                    self.resolve_call(&callee.object, position, specifier);
                }
            }
            "glob" | "globEager" if is_import_meta(&callee.object) => {
                self.found.glob(call.span.start, glob_patterns(first), is_exhaustive(call.arguments.get(1)));
            }
            _ if is_mock(method, &callee.object) => {
                if let Some((position, specifier)) = literal(first) {
                    self.found.request(position, specifier, EdgeKind::Dynamic, Form::Mock, None);
                }
            }
            _ => {}
        }
    }

    fn resolve_call(&mut self, object: &Expression<'a>, position: u32, specifier: &'a str) {
        let (kind, form) = (EdgeKind::Dynamic, Form::RequireResolve);
        match object {
            Expression::Identifier(it) if it.name == "require" => {
                let form = if self.require_is_parameter { Form::RequireParam } else { form };
                self.found.request(position, specifier, kind, form, None);
            }
            Expression::Identifier(it) if self.needs.create_require => {
                self.created.calls.push(TentativeCall { callee: it.name.as_str(), position, specifier, kind, form });
            }
            Expression::CallExpression(it) if called_name(it) == Some("createRequire") => {
                let (form, specifier) = Base::of(it).request(specifier, form);
                self.found.request(position, specifier, kind, form, None);
            }
            object if is_import_meta(object) => {
                self.found.request(position, specifier, kind, Form::MetaResolve, None);
            }
            _ => {}
        }
    }

    /// `new URL('x', import.meta.url)`.
    pub(super) fn new_url(&mut self, new: &NewExpression<'a>) {
        let Expression::Identifier(callee) = &new.callee else { return };
        if callee.name != "URL" {
            return;
        }
        if let [first, Argument::StaticMemberExpression(second)] = new.arguments.as_slice()
            && second.property.name == "url"
            && is_import_meta(&second.object)
            && let Some((position, specifier)) = literal(first)
        {
            self.found.request(position, specifier, EdgeKind::Dynamic, Form::Url, None);
        }
    }

    pub(super) fn dynamic_import(&mut self, import: &ImportExpression<'a>) {
        if let Some((position, specifier)) = literal_expression(&import.source) {
            self.found.request(position, specifier, EdgeKind::Dynamic, Form::DynamicImport, None);
        } else if let Expression::TemplateLiteral(template) = &import.source
            && let Some(pattern) = template_pattern(template)
        {
            self.found.glob(template.span.start, vec![pattern], false);
        }
    }
}

/// A string literal, or a template without substitutions.
fn literal<'a>(argument: &Argument<'a>) -> Option<(u32, &'a str)> {
    literal_expression(argument.as_expression()?)
}

fn literal_expression<'a>(expression: &Expression<'a>) -> Option<(u32, &'a str)> {
    match expression {
        Expression::StringLiteral(it) => Some((it.span.start, it.value.as_str())),
        Expression::TemplateLiteral(it) if it.expressions.is_empty() => {
            Some((it.span.start, it.quasis.first()?.value.cooked?.as_str()))
        }
        _ => None,
    }
}

fn is_import_meta(expression: &Expression<'_>) -> bool {
    matches!(expression, Expression::ImportMeta(_))
}

/// Whether `object.method` mocks a module. Calls may be chained: `jest.mock('a').mock('b')`.
fn is_mock(method: &str, object: &Expression<'_>) -> bool {
    let mut object = object;
    loop {
        match object {
            Expression::Identifier(it) => {
                return match it.name.as_str() {
                    "vi" | "vitest" | "jest" => MOCK_METHODS.contains(&method),
                    "mock" => method == "module",
                    _ => false,
                };
            }
            Expression::CallExpression(call) => match &call.callee {
                Expression::StaticMemberExpression(it) if MOCK_METHODS.contains(&it.property.name.as_str()) => {
                    object = &it.object;
                }
                _ => return false,
            },
            _ => return false,
        }
    }
}

/// The patterns of `import.meta.glob('a')` or `import.meta.glob(['a', '!b'])`; computed ones are skipped.
fn glob_patterns(argument: &Argument<'_>) -> Vec<Box<str>> {
    let Some(argument) = argument.as_expression() else { return Vec::new() };
    let one = |expression: &Expression<'_>| {
        literal_expression(expression).filter(|(_, text)| !text.is_empty()).map(|(_, text)| text.into())
    };
    match argument {
        Expression::ArrayExpression(it) => {
            it.elements.iter().filter_map(|element| element.as_expression().and_then(one)).collect()
        }
        expression => one(expression).into_iter().collect(),
    }
}

/// Whether the options of `import.meta.glob` include hidden files.
fn is_exhaustive(options: Option<&Argument<'_>>) -> bool {
    let Some(Expression::ObjectExpression(options)) = options.and_then(Argument::as_expression) else { return false };
    options.properties.iter().any(|property| match property {
        ObjectPropertyKind::ObjectProperty(it) => {
            it.key.static_name().as_deref() == Some("exhaustive")
                && matches!(&it.value, Expression::BooleanLiteral(value) if value.value)
        }
        ObjectPropertyKind::SpreadProperty(_) => false,
    })
}

/// `` `./dir/${x}.js` `` as a glob, without its query. Only relative templates name a folder to search.
fn template_pattern(template: &TemplateLiteral<'_>) -> Option<Box<str>> {
    let mut pattern = String::new();
    for (index, quasi) in template.quasis.iter().enumerate() {
        let text = quasi.value.cooked?;
        let text = text.as_str();
        if index == 0 && !(text.starts_with("./") || text.starts_with("../")) {
            return None;
        }
        if index > 0 && !pattern.ends_with('*') {
            pattern.push('*');
        }
        let (path, query) = text.split_once('?').map_or((text, false), |(path, _)| (path, true));
        for character in path.chars() {
            if matches!(character, '*' | '?' | '[' | ']' | '{' | '}' | '\\') {
                pattern.extend(['[', character, ']']);
            } else {
                pattern.push(character);
            }
        }
        if query {
            break;
        }
    }
    Some(pattern.into())
}
