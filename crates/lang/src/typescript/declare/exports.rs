//! The names that a block exports, once its symbols are declared.

use oxc_ast::ast::*;
use stan_model::facts::EXPORT_EQUALS;
use stan_model::names::{Imported, Meaning, RecipeId, SymbolId};

use super::units::{CommonJs, commonjs_target, pattern_names};
use super::walk::DeclarationWalk;

impl DeclarationWalk<'_> {
    /// Adds the exports of a whole program.
    pub(super) fn exports(&mut self, program: &Program<'_>) {
        let mut says_exports = false;
        for statement in &program.body {
            says_exports |= self.exports_of(statement);
        }
        if program.source_type.is_typescript_definition() && !says_exports {
            for statement in &program.body {
                exported_bindings(statement, true, &mut |id| self.export_binding(id.name.as_str(), id));
            }
        }
    }

    /// Sorts exports by name; the first of each name counts.
    pub(super) fn sort_exports(&mut self) {
        self.names.exports.sort_by(|(one, _), (other, _)| one.cmp(other));
        self.names.exports.dedup_by(|(one, _), (other, _)| one == other);
    }

    fn export(&mut self, name: &str, symbol: SymbolId) {
        self.names.exports.push((name.into(), symbol));
    }

    fn export_binding(&mut self, name: &str, id: &BindingIdentifier<'_>) {
        if let Some(symbol) = self.symbol_of(id) {
            self.export(name, symbol);
        }
    }

    /// `statement` has the specifier at `span`.
    fn export_imported(
        &mut self,
        name: &str,
        specifier: &str,
        imported: Imported,
        span: oxc_span::Span,
        statement: oxc_span::Span,
    ) {
        let import = self.import(specifier, imported, statement);
        let declaration = self.declare(name, span, Meaning::Import(import));
        let symbol = self.unnamed_symbol(name, vec![declaration]);
        self.export(name, symbol);
    }

    /// An exported expression: the symbol that it names, or a new one.
    fn export_value(&mut self, name: &str, value: &Expression<'_>, span: oxc_span::Span) {
        if let Expression::Identifier(it) = value
            && let Some(symbol) = self.symbol_at(it)
        {
            return self.export(name, symbol);
        }
        let (ty, signature) = (self.value(value), self.function_signature(value));
        let span = oxc_span::Span::new(span.start, span.start);
        let declaration = self.declare(name, span, Meaning::Value { ty, signature });
        let symbol = self.unnamed_symbol(name, vec![declaration]);
        self.export(name, symbol);
    }

    /// Whether the statement has explicit exports.
    fn exports_of(&mut self, statement: &Statement<'_>) -> bool {
        match statement {
            Statement::ExportDeclaration(_) => {
                exported_bindings(statement, false, &mut |id| self.export_binding(id.name.as_str(), id));
            }
            Statement::ExportDefaultDeclaration(it) => self.export_default(it),
            Statement::ExportNamedDeclaration(it) => {
                for specifier in &it.specifiers {
                    if let ModuleExportName::IdentifierReference(local) = &specifier.local
                        && let Some(symbol) = self.symbol_at(local)
                    {
                        self.export(specifier.exported.name().as_str(), symbol);
                    }
                }
            }
            Statement::ExportFromDeclaration(it) => {
                for specifier in &it.specifiers {
                    let imported = Imported::Name(specifier.local.name().as_str().into());
                    let (name, source) = (specifier.exported.name(), it.source.value.as_str());
                    self.export_imported(name.as_str(), source, imported, specifier.span, it.span);
                }
            }
            Statement::ExportAllDeclaration(it) => match &it.exported {
                Some(name) => {
                    let (name, source) = (name.name(), it.source.value.as_str());
                    self.export_imported(name.as_str(), source, Imported::Namespace, it.span, it.span);
                }
                None => self.names.stars.push(it.source.value.as_str().into()),
            },
            Statement::TSExportAssignment(it) => self.export_value(EXPORT_EQUALS, &it.expression, it.span),
            Statement::ExpressionStatement(it) => {
                self.commonjs(it);
                return false;
            }
            _ => return false,
        }
        true
    }

    fn export_default(&mut self, it: &ExportDefaultDeclaration<'_>) {
        let (id, meaning) = match &it.declaration {
            ExportDefaultDeclarationKind::FunctionDeclaration(function) => {
                let signature = Some(self.signature_of_function(function));
                (function.id.as_ref(), Meaning::Value { ty: RecipeId::UNKNOWN, signature })
            }
            ExportDefaultDeclarationKind::ClassDeclaration(class) => {
                (class.id.as_ref(), Meaning::Shape(self.class_shape(class)))
            }
            ExportDefaultDeclarationKind::TSInterfaceDeclaration(interface) => {
                return self.export_binding("default", &interface.id);
            }
            declaration => {
                if let Some(value) = declaration.as_expression() {
                    self.export_value("default", value, it.span);
                }
                return;
            }
        };
        match id {
            Some(id) => self.export_binding("default", id),
            None => {
                let span = oxc_span::Span::new(it.span.start, it.span.start);
                let declaration = self.declare("default", span, meaning);
                let symbol = self.unnamed_symbol("default", vec![declaration]);
                self.export("default", symbol);
            }
        }
    }

    fn commonjs(&mut self, statement: &ExpressionStatement<'_>) {
        let Expression::AssignmentExpression(it) = &statement.expression else { return };
        match commonjs_target(&it.left) {
            Some(CommonJs::Whole) => self.export_value(EXPORT_EQUALS, &it.right, statement.span),
            Some(CommonJs::Name(property)) if !matches!(it.right, Expression::UnaryExpression(_)) => {
                self.export_value(property.name.as_str(), &it.right, property.span);
            }
            _ => {}
        }
    }
}

/// The names that a statement of a namespace or module exports. In an ambient block, all declarations are exported.
pub(super) fn exported_bindings<'a>(
    statement: &Statement<'a>,
    ambient: bool,
    found: &mut dyn FnMut(&BindingIdentifier<'a>),
) {
    match statement {
        Statement::ExportDeclaration(it) => declared_names(&it.declaration, found),
        match_declaration!(Statement) if ambient => declared_names(statement.to_declaration(), found),
        _ => {}
    }
}

fn declared_names<'a>(declaration: &Declaration<'a>, found: &mut dyn FnMut(&BindingIdentifier<'a>)) {
    match declaration {
        Declaration::VariableDeclaration(it) => {
            it.declarations.iter().for_each(|declarator| pattern_names(&declarator.id, found));
        }
        Declaration::FunctionDeclaration(it) => it.id.iter().for_each(found),
        Declaration::ClassDeclaration(it) => it.id.iter().for_each(found),
        Declaration::TSTypeAliasDeclaration(it) => found(&it.id),
        Declaration::TSInterfaceDeclaration(it) => found(&it.id),
        Declaration::TSEnumDeclaration(it) => found(&it.id),
        Declaration::TSNamespaceDeclaration(it) => found(&it.id),
        Declaration::TSImportEqualsDeclaration(it) => found(&it.id),
        Declaration::TSExternalModuleDeclaration(_) | Declaration::TSGlobalDeclaration(_) => {}
    }
}
