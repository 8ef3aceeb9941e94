//! The outline of one block of code: declarations at module level and in namespaces, and the members of classes, interfaces and
//! enums. Uses only the spans of the tree.

use oxc_ast::ast::*;
use oxc_span::{GetSpan, Span as OxcSpan};
use rustc_hash::{FxHashMap, FxHashSet};
use stan_model::facts::EXPORT_EQUALS;
use stan_model::outline::{LineStarts, Span, Unit, UnitId, UnitKind, UnitName};

/// Collects the units of one file, block by block.
pub(super) struct Units<'s> {
    /// The text of the whole file.
    text: &'s str,
    lines: &'s LineStarts,
    /// The start of the block in the file.
    base: u32,
    units: Vec<Unit>,
    parents: Vec<UnitId>,
    /// Doc comments by the position of the documented node in the block.
    docs: FxHashMap<u32, Span>,
    /// Local names that an export list or assignment exports.
    exported_names: FxHashSet<Box<str>>,
    /// The block has explicit exports: in a declaration file, all other declarations are then private.
    says_exports: bool,
    /// In `declare` blocks, everything is exported.
    ambient: bool,
}

impl<'s> Units<'s> {
    pub(super) fn new(text: &'s str, lines: &'s LineStarts) -> Self {
        Self {
            text,
            lines,
            base: 0,
            units: Vec::new(),
            parents: Vec::new(),
            docs: FxHashMap::default(),
            exported_names: FxHashSet::default(),
            says_exports: false,
            ambient: false,
        }
    }

    pub(super) fn block(&mut self, program: &Program<'_>, base: u32) {
        let first = self.units.len();
        self.base = base;
        self.says_exports = false;
        self.ambient = program.source_type.is_typescript_definition();
        self.docs = program
            .comments
            .iter()
            .filter(|comment| comment.is_jsdoc())
            .map(|comment| (comment.attached_to, self.span(comment.span)))
            .collect();
        self.exported_names.clear();
        for statement in &program.body {
            self.statement(statement);
        }
        let is_declaration_file = program.source_type.is_typescript_definition();
        let all = is_declaration_file && !self.says_exports;
        let names = std::mem::take(&mut self.exported_names);
        for unit in self.units.iter_mut().skip(first).filter(|unit| unit.parent.is_none()) {
            unit.exported |= all || unit.names.iter().any(|name| names.contains(&name.text));
        }
    }

    pub(super) fn finish(self) -> Vec<Unit> {
        self.units
    }

    fn span(&self, span: OxcSpan) -> Span {
        Span::new(self.base + span.start, self.base + span.end)
    }

    fn is_multiline(&self, span: OxcSpan) -> bool {
        self.span(span).of(self.text).contains('\n')
    }

    fn name(&self, text: &str, span: OxcSpan) -> UnitName {
        let span = self.span(span);
        UnitName { text: text.into(), span, line: self.lines.line(span.start) }
    }

    fn id_name(&self, id: &BindingIdentifier<'_>) -> Vec<UnitName> {
        vec![self.name(id.name.as_str(), id.span)]
    }

    fn add(&mut self, kind: UnitKind, names: Vec<UnitName>, span: OxcSpan, bodies: &[OxcSpan]) -> &mut Unit {
        let doc = self.docs.get(&span.start).copied();
        let span = self.span(span);
        let bodies: Vec<Span> = bodies.iter().map(|body| self.span(*body)).collect();
        let head = Span::new(span.start, bodies.first().map_or(span.end, |body| body.start));
        let next = self.units.len();
        self.units.push(Unit {
            kind,
            names,
            span,
            lines: self.lines.lines(span),
            doc,
            head,
            bodies,
            parent: self.parents.last().copied(),
            until: next as u32 + 1,
            exported: false,
            is_static: false,
            heritage: Vec::new(),
        });
        &mut self.units[next]
    }

    /// Runs `work`, which adds units as members of the last unit.
    fn inside(&mut self, work: impl FnOnce(&mut Self)) {
        let Some(id) = self.units.len().checked_sub(1) else { return };
        self.parents.push(UnitId(id as u32));
        work(self);
        self.parents.pop();
        self.units[id].until = self.units.len() as u32;
    }

    fn at_top(&self) -> bool {
        self.parents.is_empty()
    }

    fn statement(&mut self, statement: &Statement<'_>) {
        match statement {
            match_declaration!(Statement) => {
                let exported = self.ambient && !self.at_top();
                self.declaration(statement.to_declaration(), statement.span(), exported);
            }
            Statement::ExportDeclaration(it) => {
                self.says_exports |= self.at_top();
                self.declaration(&it.declaration, it.span, true);
            }
            Statement::ExportDefaultDeclaration(it) => self.export_default(it),
            Statement::ExportNamedDeclaration(it) => {
                self.says_exports |= self.at_top();
                let names = it.specifiers.iter().map(|specifier| specifier.local.name().as_str().into());
                self.exported_names.extend(names);
            }
            Statement::ExportFromDeclaration(_) | Statement::ExportAllDeclaration(_) => {
                self.says_exports |= self.at_top();
            }
            Statement::TSExportAssignment(it) => self.export_value(EXPORT_EQUALS, &it.expression, it.span),
            Statement::ExpressionStatement(it) if self.at_top() => self.commonjs(it),
            _ => {}
        }
    }

    fn declaration(&mut self, declaration: &Declaration<'_>, span: OxcSpan, exported: bool) {
        let before = self.units.len();
        match declaration {
            Declaration::VariableDeclaration(it) => self.variables(it, span),
            Declaration::FunctionDeclaration(it) => self.function(it, span),
            Declaration::ClassDeclaration(it) => self.class(it, span),
            Declaration::TSTypeAliasDeclaration(it) => {
                self.add(UnitKind::Type, self.id_name(&it.id), span, &[]);
            }
            Declaration::TSInterfaceDeclaration(it) => self.interface(it, span),
            Declaration::TSEnumDeclaration(it) => self.enumeration(it, span),
            Declaration::TSNamespaceDeclaration(it) => self.namespace(it, span),
            Declaration::TSExternalModuleDeclaration(it) => {
                let names = vec![self.name(it.id.value.as_str(), it.id.span)];
                let body = it.body.as_ref().map(|body| body.span);
                self.add(UnitKind::Module, names, span, body.as_slice());
                self.module_block(it.body.as_deref(), true);
            }
            Declaration::TSGlobalDeclaration(it) => {
                let names = vec![self.name("global", it.global_span)];
                self.add(UnitKind::Module, names, span, &[it.body.span]);
                self.module_block(Some(&it.body), true);
            }
            Declaration::TSImportEqualsDeclaration(_) => {}
        }
        if let Some(unit) = self.units.get_mut(before) {
            unit.exported = exported;
        }
    }

    fn module_block(&mut self, block: Option<&TSModuleBlock<'_>>, ambient: bool) {
        let Some(block) = block else { return };
        let before = self.ambient;
        self.ambient |= ambient;
        self.inside(|units| block.body.iter().for_each(|statement| units.statement(statement)));
        self.ambient = before;
    }

    fn namespace(&mut self, it: &TSNamespaceDeclaration<'_>, span: OxcSpan) {
        let names = self.id_name(&it.id);
        match &it.body {
            TSNamespaceDeclarationBody::TSModuleBlock(block) => {
                self.add(UnitKind::Namespace, names, span, &[block.span]);
                self.module_block(Some(block), it.declare);
            }
            // `namespace a.b {}`: one unit inside the other.
            TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => {
                self.add(UnitKind::Namespace, names, span, &[]);
                let before = self.ambient;
                self.ambient |= it.declare;
                self.inside(|units| {
                    let at = units.units.len();
                    units.namespace(inner, inner.span);
                    units.units.get_mut(at).into_iter().for_each(|unit| unit.exported = true);
                });
                self.ambient = before;
            }
        }
    }

    fn variables(&mut self, it: &VariableDeclaration<'_>, span: OxcSpan) {
        let mut names = Vec::new();
        let mut bodies = Vec::new();
        for declarator in &it.declarations {
            pattern_names(&declarator.id, &mut |id| names.push(self.name(id.name.as_str(), id.span)));
            bodies.extend(declarator.init.as_ref().and_then(|value| self.value_body(value)));
        }
        self.add(UnitKind::Variable, names, span, &bodies);
    }

    /// The part of a value that a signature omits: the body of a function or class, or a whole value of several lines.
    fn value_body(&self, value: &Expression<'_>) -> Option<OxcSpan> {
        match value {
            Expression::ParenthesizedExpression(it) => self.value_body(&it.expression),
            Expression::TSAsExpression(it) => self.value_body(&it.expression),
            Expression::TSSatisfiesExpression(it) => self.value_body(&it.expression),
            Expression::ArrowFunctionExpression(it) => match &it.body {
                ArrowFunctionBody::FunctionBody(body) => Some(body.span),
                body => Some(body.span()).filter(|span| self.is_multiline(*span)),
            },
            Expression::FunctionExpression(it) => it.body.as_ref().map(|body| body.span),
            Expression::ClassExpression(it) => Some(it.body.span),
            value => Some(value.span()).filter(|span| self.is_multiline(*span)),
        }
    }

    fn function(&mut self, it: &Function<'_>, span: OxcSpan) {
        let names = it.id.iter().flat_map(|id| self.id_name(id)).collect();
        let body = it.body.as_ref().map(|body| body.span);
        self.add(UnitKind::Function, names, span, body.as_slice());
    }

    fn class(&mut self, it: &Class<'_>, span: OxcSpan) {
        let names = it.id.iter().flat_map(|id| self.id_name(id)).collect();
        // Decorators may precede `export`.
        let start = it.decorators.first().map_or(span.start, |first| first.span.start.min(span.start));
        let span = OxcSpan::new(start, span.end);
        let extended = it.heritage.iter().map(|heritage| heritage.expression.span());
        let heritage = extended.chain(it.implements.iter().map(|implemented| implemented.expression.span()));
        let heritage: Vec<Box<str>> = heritage.map(|span| self.span(span).of(self.text).into()).collect();
        self.add(UnitKind::Class, names, span, &[it.body.span]).heritage = heritage;
        self.inside(|units| it.body.body.iter().for_each(|element| units.class_element(element)));
    }

    fn class_element(&mut self, element: &ClassElement<'_>) {
        let (kind, key, bodies) = match element {
            ClassElement::StaticBlock(it) => (UnitKind::StaticBlock, None, vec![it.span]),
            ClassElement::MethodDefinition(it) => {
                let kind = match it.kind {
                    MethodDefinitionKind::Constructor => UnitKind::Constructor,
                    MethodDefinitionKind::Method => UnitKind::Method,
                    MethodDefinitionKind::Get => UnitKind::Getter,
                    MethodDefinitionKind::Set => UnitKind::Setter,
                };
                (kind, Some(&it.key), it.value.body.iter().map(|body| body.span).collect())
            }
            ClassElement::PropertyDefinition(it) => {
                let body = it.value.as_ref().and_then(|value| self.value_body(value));
                (UnitKind::Property, Some(&it.key), body.into_iter().collect())
            }
            ClassElement::AccessorProperty(it) => {
                let body = it.value.as_ref().and_then(|value| self.value_body(value));
                (UnitKind::Property, Some(&it.key), body.into_iter().collect())
            }
            ClassElement::TSIndexSignature(_) => (UnitKind::Signature, None, Vec::new()),
        };
        let names = key.map(|key| self.key_name(key)).into_iter().collect();
        let is_private = key.is_some_and(|key| matches!(key, PropertyKey::PrivateIdentifier(_)))
            || element.accessibility() == Some(TSAccessibility::Private);
        let unit = self.add(kind, names, element.span(), &bodies);
        unit.exported = !is_private;
        unit.is_static = element.r#static();
    }

    fn key_name(&self, key: &PropertyKey<'_>) -> UnitName {
        let text = match key {
            PropertyKey::PrivateIdentifier(it) => format!("#{}", it.name),
            key => match key.static_name() {
                Some(name) => name.into_owned(),
                None => format!("[{}]", self.span(key.span()).of(self.text)),
            },
        };
        self.name(&text, key.span())
    }

    fn interface(&mut self, it: &TSInterfaceDeclaration<'_>, span: OxcSpan) {
        let heritage = it.extends.iter().map(|extended| self.span(extended.type_name.span()).of(self.text).into());
        let heritage: Vec<Box<str>> = heritage.collect();
        self.add(UnitKind::Interface, self.id_name(&it.id), span, &[it.body.span]).heritage = heritage;
        self.inside(|units| {
            for signature in &it.body.body {
                let (kind, key) = match signature {
                    TSSignature::TSPropertySignature(it) => (UnitKind::Property, Some(&it.key)),
                    TSSignature::TSMethodSignature(it) => {
                        let kind = match it.kind {
                            TSMethodSignatureKind::Method => UnitKind::Method,
                            TSMethodSignatureKind::Get => UnitKind::Getter,
                            TSMethodSignatureKind::Set => UnitKind::Setter,
                        };
                        (kind, Some(&it.key))
                    }
                    _ => (UnitKind::Signature, None),
                };
                let names = key.map(|key| units.key_name(key)).into_iter().collect();
                units.add(kind, names, signature.span(), &[]).exported = true;
            }
        });
    }

    fn enumeration(&mut self, it: &TSEnumDeclaration<'_>, span: OxcSpan) {
        self.add(UnitKind::Enum, self.id_name(&it.id), span, &[it.body.span]);
        self.inside(|units| {
            for member in &it.body.members {
                let name = units.name(member.id.static_name().as_str(), member.id.span());
                units.add(UnitKind::EnumMember, vec![name], member.span, &[]).exported = true;
            }
        });
    }

    fn export_default(&mut self, it: &ExportDefaultDeclaration<'_>) {
        let before = self.units.len();
        match &it.declaration {
            ExportDefaultDeclarationKind::FunctionDeclaration(function) => self.function(function, it.span),
            ExportDefaultDeclarationKind::ClassDeclaration(class) => self.class(class, it.span),
            ExportDefaultDeclarationKind::TSInterfaceDeclaration(interface) => self.interface(interface, it.span),
            declaration => {
                self.says_exports |= self.at_top();
                if let Some(value) = declaration.as_expression() {
                    self.export_value("default", value, it.span);
                }
            }
        }
        if let Some(unit) = self.units.get_mut(before) {
            unit.exported = true;
            if unit.names.is_empty() {
                let span = Span::new(unit.span.start, unit.span.start);
                unit.names.push(UnitName { text: "default".into(), span, line: unit.lines.from });
            }
        }
    }

    /// `export default value`, `export = value`, `module.exports = value`: a name exports its declaration; any other value is a
    /// unit of its own.
    fn export_value(&mut self, name: &str, value: &Expression<'_>, span: OxcSpan) {
        self.says_exports |= self.at_top();
        if let Expression::Identifier(it) = value {
            self.exported_names.insert(it.name.as_str().into());
            return;
        }
        if let Expression::ObjectExpression(it) = value {
            let names = it.properties.iter().filter_map(|property| match property {
                ObjectPropertyKind::ObjectProperty(it) => it.value.get_identifier_reference(),
                ObjectPropertyKind::SpreadProperty(_) => None,
            });
            self.exported_names.extend(names.map(|name| name.name.as_str().into()));
        }
        let body = self.value_body(value);
        let names = vec![self.name(name, OxcSpan::new(span.start, span.start))];
        self.add(UnitKind::Export, names, span, body.as_slice()).exported = true;
    }

    /// `module.exports = …`, `exports.a = …`, `module.exports.a = …`.
    fn commonjs(&mut self, statement: &ExpressionStatement<'_>) {
        let Expression::AssignmentExpression(it) = &statement.expression else { return };
        match commonjs_target(&it.left) {
            Some(CommonJs::Whole) => self.export_value(EXPORT_EQUALS, &it.right, statement.span),
            Some(CommonJs::Name(property)) => {
                // `exports.a = exports.b = void 0` only reserves the names for later assignments.
                let is_value = !matches!(
                    it.right,
                    Expression::AssignmentExpression(_) | Expression::UnaryExpression(_) | Expression::Identifier(_)
                );
                if let Expression::Identifier(value) = &it.right {
                    self.exported_names.insert(value.name.as_str().into());
                }
                if is_value {
                    let kind = match &it.right {
                        Expression::FunctionExpression(_) | Expression::ArrowFunctionExpression(_) => {
                            UnitKind::Function
                        }
                        Expression::ClassExpression(_) => UnitKind::Class,
                        _ => UnitKind::Variable,
                    };
                    let names = vec![self.name(property.name.as_str(), property.span)];
                    let body = self.value_body(&it.right);
                    self.add(kind, names, statement.span, body.as_slice()).exported = true;
                }
            }
            None => {}
        }
    }
}

/// The target of an assignment to the exports of a CommonJS module.
pub(super) enum CommonJs<'e, 'a> {
    Whole,
    Name(&'e IdentifierName<'a>),
}

pub(super) fn commonjs_target<'e, 'a>(target: &'e AssignmentTarget<'a>) -> Option<CommonJs<'e, 'a>> {
    let AssignmentTarget::StaticMemberExpression(member) = target else { return None };
    let is_named = |value: &Expression<'_>, name: &str| matches!(value, Expression::Identifier(it) if it.name == name);
    let is_module_exports = |value: &Expression<'_>| {
        matches!(value, Expression::StaticMemberExpression(it)
            if it.property.name == "exports" && is_named(&it.object, "module"))
    };
    if member.property.name == "exports" && is_named(&member.object, "module") {
        return Some(CommonJs::Whole);
    }
    let is_exports = is_named(&member.object, "exports") || is_module_exports(&member.object);
    is_exports.then_some(CommonJs::Name(&member.property))
}

/// Calls `found` for each name that a pattern binds.
pub(super) fn pattern_names<'a>(pattern: &BindingPattern<'a>, found: &mut dyn FnMut(&BindingIdentifier<'a>)) {
    match pattern {
        BindingPattern::BindingIdentifier(id) => found(id),
        BindingPattern::AssignmentPattern(it) => pattern_names(&it.left, found),
        BindingPattern::ObjectPattern(it) => {
            it.properties.iter().for_each(|property| pattern_names(&property.value, found));
            it.rest.iter().for_each(|rest| pattern_names(&rest.argument, found));
        }
        BindingPattern::ArrayPattern(it) => {
            it.elements.iter().flatten().for_each(|element| pattern_names(element, found));
            it.rest.iter().for_each(|rest| pattern_names(&rest.argument, found));
        }
    }
}
