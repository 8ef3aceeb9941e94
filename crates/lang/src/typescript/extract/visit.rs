//! Walks a syntax tree and reports every request for a module and every imported or exported name. Calls are handled in
//! `calls.rs`, order, duplicates and bindings in the collector.

use oxc_ast::ast::*;
use oxc_ast_visit::{Visit, walk};
use oxc_syntax::scope::ScopeFlags;
use stan_model::EdgeKind;
use stan_model::facts::EXPORT_EQUALS;

use super::calls;
use super::collect::{Collector, LocalBinding, RawId};
use super::walk_scope::{WalkScope, has_inner_import};
use crate::typescript::form::{Form, ModuleSystem};

/// The state of a walk.
pub(super) struct ImportWalk<'a, 'c> {
    pub(super) found: &'c mut Collector<'a>,
    pub(super) needs: WalkScope,
    /// Inside a function, method, accessor or constructor.
    pub(super) in_function: bool,
    /// Inside a function with a parameter `require`.
    pub(super) require_is_parameter: bool,
    /// Names bound to the result of `createRequire`, and calls of names that may be bound to one.
    pub(super) created: calls::CreatedRequires<'a>,
    in_ambient_module: bool,
    /// Depth of namespace and module blocks: exports at depth 0 are the file's own.
    block_depth: u32,
    /// For a declaration file: its top-level declarations; `None` once it exports names explicitly.
    declared: Option<Vec<&'a str>>,
    says_exports: bool,
}

impl<'a, 'c> ImportWalk<'a, 'c> {
    /// Walks a whole program.
    pub(super) fn program(found: &'c mut Collector<'a>, program: &Program<'a>, mut needs: WalkScope) {
        needs.expressions |= has_inner_import(program);
        let mut walk = ImportWalk {
            found,
            needs,
            in_function: false,
            require_is_parameter: false,
            created: calls::CreatedRequires::default(),
            in_ambient_module: false,
            block_depth: 0,
            declared: program.source_type.is_typescript_definition().then(Vec::new),
            says_exports: false,
        };
        walk.visit_statements(&program.body);
        let ImportWalk { found, created, declared, says_exports, .. } = walk;
        created.settle(found);
        // A declaration file that is a module and has no explicit exports exports all its declarations.
        if let Some(declared) = declared
            && found.is_module
            && !says_exports
        {
            declared.into_iter().for_each(|name| found.export_local(name));
        }
    }

    fn static_form(&self, form: Form) -> Form {
        if self.in_ambient_module { Form::InModule } else { form }
    }

    fn static_kind(&self, type_only: bool) -> EdgeKind {
        if type_only || self.in_ambient_module { EdgeKind::Type } else { EdgeKind::Runtime }
    }

    fn static_request(
        &mut self,
        source: &StringLiteral<'a>,
        form: Form,
        type_only: bool,
        mode: Option<ModuleSystem>,
    ) -> Option<RawId> {
        let (kind, form) = (self.static_kind(type_only), self.static_form(form));
        self.found.request(source.span.start, source.value.as_str(), kind, form, mode)
    }

    fn at_top(&self) -> bool {
        self.block_depth == 0
    }

    /// Any import or export at the top level makes the file a module.
    fn mark_module(&mut self) {
        if self.at_top() {
            self.found.is_module = true;
        }
    }

    fn import(&mut self, import: &ImportDeclaration<'a>) {
        self.mark_module();
        let whole = import.import_kind.is_type();
        let type_only = whole || import.specifiers.as_ref().is_some_and(|list| all_type_imports(list));
        let mode = import.with_clause.as_ref().and_then(|clause| clause_mode(clause));
        let Some(request) = self.static_request(&import.source, Form::Static, type_only, mode) else { return };
        for specifier in import.specifiers.iter().flatten() {
            self.import_specifier(request, specifier, whole);
        }
    }

    fn import_specifier(&mut self, request: RawId, specifier: &ImportDeclarationSpecifier<'a>, type_only: bool) {
        let (local, name, type_only) = match specifier {
            ImportDeclarationSpecifier::ImportSpecifier(it) => {
                (it.local.name, it.imported.name().as_str(), type_only || it.import_kind.is_type())
            }
            ImportDeclarationSpecifier::ImportDefaultSpecifier(it) => (it.local.name, "default", type_only),
            ImportDeclarationSpecifier::ImportNamespaceSpecifier(it) => {
                if self.at_top() {
                    self.found.bind(it.local.name.as_str(), LocalBinding::Namespace(request));
                }
                return;
            }
        };
        self.found.name(request, name, self.static_kind(type_only));
        if self.at_top() {
            self.created.import(local.as_str(), name);
            self.found.bind(local.as_str(), LocalBinding::Name(request, name.into()));
        }
    }

    fn export_from(&mut self, export: &ExportFromDeclaration<'a>) {
        self.mark_module();
        self.says_exports |= self.at_top();
        let whole = export.export_kind.is_type();
        let every = !export.specifiers.is_empty() && export.specifiers.iter().all(|it| it.export_kind.is_type());
        let mode = export.with_clause.as_ref().and_then(|clause| clause_mode(clause));
        let Some(request) = self.static_request(&export.source, Form::Static, whole || every, mode) else { return };
        for specifier in &export.specifiers {
            let name = specifier.local.name().as_str();
            let kind = self.static_kind(whole || specifier.export_kind.is_type());
            self.found.name(request, name, kind);
            if self.at_top() {
                self.found.export_from(specifier.exported.name().as_str(), LocalBinding::Name(request, name.into()));
            }
        }
    }

    fn export_all(&mut self, export: &ExportAllDeclaration<'a>) {
        self.mark_module();
        self.says_exports |= self.at_top();
        let mode = export.with_clause.as_ref().and_then(|clause| clause_mode(clause));
        let type_only = export.export_kind.is_type();
        let Some(request) = self.static_request(&export.source, Form::Static, type_only, mode) else { return };
        if !self.at_top() {
            return;
        }
        match &export.exported {
            Some(name) => self.found.export_from(name.name().as_str(), LocalBinding::Namespace(request)),
            None => self.found.star(request),
        }
    }

    fn export_default(&mut self, export: &ExportDefaultDeclaration<'a>) {
        self.mark_module();
        if !self.at_top() {
            return;
        }
        match &export.declaration {
            ExportDefaultDeclarationKind::FunctionDeclaration(it) => self.declare(it.id.as_ref()),
            ExportDefaultDeclarationKind::ClassDeclaration(it) => self.declare(it.id.as_ref()),
            ExportDefaultDeclarationKind::TSInterfaceDeclaration(it) => self.declare(Some(&it.id)),
            ExportDefaultDeclarationKind::Identifier(it) => {
                self.says_exports = true;
                return self.found.export_binding("default", it.name.as_str());
            }
            _ => self.says_exports = true,
        }
        self.found.export_local("default");
    }

    fn export_assignment(&mut self, export: &TSExportAssignment<'a>) {
        self.mark_module();
        if !self.at_top() {
            return;
        }
        self.says_exports = true;
        match &export.expression {
            Expression::Identifier(it) => self.found.export_binding(EXPORT_EQUALS, it.name.as_str()),
            _ => self.found.export_local(EXPORT_EQUALS),
        }
    }

    fn import_equals(&mut self, import: &TSImportEqualsDeclaration<'a>, exported: bool) {
        let local = import.id.name.as_str();
        let at_top = self.at_top();
        match &import.module_reference {
            TSModuleReference::ExternalModuleReference(reference) => {
                self.mark_module();
                let type_only = import.import_kind.is_type();
                let request = self.static_request(&reference.expression, Form::ImportEquals, type_only, None);
                if let Some(request) = request
                    && at_top
                {
                    self.found.bind(local, LocalBinding::Namespace(request));
                    if exported {
                        self.found.export_from(local, LocalBinding::Namespace(request));
                    }
                }
            }
            TSModuleReference::IdentifierReference(it) if exported && at_top => {
                self.found.export_binding(local, it.name.as_str());
            }
            TSModuleReference::QualifiedName(name) if exported && at_top => match &name.left {
                TSTypeName::IdentifierReference(left) => {
                    self.found.export_member(local, left.name.as_str(), name.right.name.as_str());
                }
                _ => self.found.export_local(local),
            },
            _ => {}
        }
    }

    /// The names of a top-level declaration: exported now, or collected for a declaration file.
    fn declaration_names(&mut self, declaration: &Declaration<'a>, exported: bool) {
        if !self.at_top() || (!exported && self.declared.is_none()) {
            return;
        }
        let id = match declaration {
            Declaration::VariableDeclaration(it) => {
                return it.declarations.iter().for_each(|it| self.pattern_names(&it.id, exported));
            }
            Declaration::FunctionDeclaration(it) => it.id.as_ref(),
            Declaration::ClassDeclaration(it) => it.id.as_ref(),
            Declaration::TSTypeAliasDeclaration(it) => Some(&it.id),
            Declaration::TSInterfaceDeclaration(it) => Some(&it.id),
            Declaration::TSEnumDeclaration(it) => Some(&it.id),
            Declaration::TSNamespaceDeclaration(it) => Some(&it.id),
            // An import equals is handled with its request; the other declarations have no name here.
            _ => None,
        };
        self.introduce(id, exported);
    }

    fn introduce(&mut self, id: Option<&BindingIdentifier<'a>>, exported: bool) {
        match id {
            Some(id) if exported => self.found.export_local(id.name.as_str()),
            id => self.declare(id),
        }
    }

    fn declare(&mut self, id: Option<&BindingIdentifier<'a>>) {
        if let (Some(declared), Some(id)) = (&mut self.declared, id) {
            declared.push(id.name.as_str());
        }
    }

    fn pattern_names(&mut self, pattern: &BindingPattern<'a>, exported: bool) {
        match pattern {
            BindingPattern::BindingIdentifier(id) => self.introduce(Some(id), exported),
            BindingPattern::AssignmentPattern(it) => self.pattern_names(&it.left, exported),
            BindingPattern::ObjectPattern(it) => {
                it.properties.iter().for_each(|property| self.pattern_names(&property.value, exported));
                it.rest.iter().for_each(|rest| self.pattern_names(&rest.argument, exported));
            }
            BindingPattern::ArrayPattern(it) => {
                it.elements.iter().flatten().for_each(|element| self.pattern_names(element, exported));
                it.rest.iter().for_each(|rest| self.pattern_names(&rest.argument, exported));
            }
        }
    }

    /// Walks the parts of a function as inside it. Includes parameters, decorators and computed names, as in the reference
    /// implementation.
    fn inside_function(&mut self, parameters: Option<&FormalParameters<'a>>, walk: impl FnOnce(&mut Self)) {
        let before = (self.in_function, self.require_is_parameter);
        self.in_function = true;
        self.require_is_parameter |= parameters.is_some_and(calls::has_require_parameter);
        walk(self);
        (self.in_function, self.require_is_parameter) = before;
    }
}

impl<'a> Visit<'a> for ImportWalk<'a, '_> {
    fn visit_statement(&mut self, it: &Statement<'a>) {
        match it {
            match_module_declaration!(Statement) => walk::walk_statement(self, it),
            match_declaration!(Statement) => {
                self.declaration_names(it.to_declaration(), false);
                self.visit_declaration(it.to_declaration());
            }
            _ if self.needs.expressions || self.needs.types => walk::walk_statement(self, it),
            _ => {}
        }
    }

    fn visit_declaration(&mut self, it: &Declaration<'a>) {
        let holds_statements = matches!(
            it,
            Declaration::TSExternalModuleDeclaration(_)
                | Declaration::TSNamespaceDeclaration(_)
                | Declaration::TSGlobalDeclaration(_)
                | Declaration::TSImportEqualsDeclaration(_)
        );
        if holds_statements || self.needs.expressions || self.needs.types {
            walk::walk_declaration(self, it);
        }
    }

    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        self.import(it);
    }

    fn visit_export_from_declaration(&mut self, it: &ExportFromDeclaration<'a>) {
        self.export_from(it);
    }

    fn visit_export_all_declaration(&mut self, it: &ExportAllDeclaration<'a>) {
        self.export_all(it);
    }

    fn visit_export_named_declaration(&mut self, it: &ExportNamedDeclaration<'a>) {
        self.mark_module();
        if self.at_top() {
            self.says_exports = true;
            for specifier in &it.specifiers {
                self.found.export_binding(specifier.exported.name().as_str(), specifier.local.name().as_str());
            }
        }
    }

    fn visit_export_declaration(&mut self, it: &ExportDeclaration<'a>) {
        self.mark_module();
        self.declaration_names(&it.declaration, true);
        match &it.declaration {
            Declaration::TSImportEqualsDeclaration(it) => self.import_equals(it, true),
            declaration => self.visit_declaration(declaration),
        }
    }

    fn visit_export_default_declaration(&mut self, it: &ExportDefaultDeclaration<'a>) {
        self.export_default(it);
        if self.needs.expressions || self.needs.types {
            walk::walk_export_default_declaration(self, it);
        }
    }

    fn visit_ts_export_assignment(&mut self, it: &TSExportAssignment<'a>) {
        self.export_assignment(it);
        if self.needs.expressions {
            walk::walk_ts_export_assignment(self, it);
        }
    }

    fn visit_ts_import_equals_declaration(&mut self, it: &TSImportEqualsDeclaration<'a>) {
        self.import_equals(it, false);
    }

    fn visit_ts_external_module_declaration(&mut self, it: &TSExternalModuleDeclaration<'a>) {
        self.found.augment(it.id.span.start, it.id.value.as_str());
        let before = std::mem::replace(&mut self.in_ambient_module, true);
        walk::walk_ts_external_module_declaration(self, it);
        self.in_ambient_module = before;
    }

    fn visit_ts_module_block(&mut self, it: &TSModuleBlock<'a>) {
        self.block_depth += 1;
        walk::walk_ts_module_block(self, it);
        self.block_depth -= 1;
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.inside_function(Some(&it.params), |walk| walk::walk_function(walk, it, flags));
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.inside_function(Some(&it.params), |walk| walk::walk_arrow_function_expression(walk, it));
    }

    fn visit_method_definition(&mut self, it: &MethodDefinition<'a>) {
        self.inside_function(Some(&it.value.params), |walk| walk::walk_method_definition(walk, it));
    }

    fn visit_object_property(&mut self, it: &ObjectProperty<'a>) {
        match &it.value {
            Expression::FunctionExpression(function) if it.method || it.kind != PropertyKind::Init => {
                self.inside_function(Some(&function.params), |walk| walk::walk_object_property(walk, it));
            }
            _ => walk::walk_object_property(self, it),
        }
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if self.needs.create_require {
            self.created.declarator(it);
        }
        walk::walk_variable_declarator(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.call(it);
        walk::walk_call_expression(self, it);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        self.new_url(it);
        walk::walk_new_expression(self, it);
    }

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        self.dynamic_import(it);
        walk::walk_import_expression(self, it);
    }

    fn visit_import_meta(&mut self, _: &ImportMeta) {
        self.found.is_module = true;
    }

    fn visit_ts_type(&mut self, it: &TSType<'a>) {
        if self.needs.types {
            walk::walk_ts_type(self, it);
        }
    }

    fn visit_ts_import_type(&mut self, it: &TSImportType<'a>) {
        let mode = it.options.as_ref().and_then(|options| options_mode(options));
        let source = &it.source;
        let request =
            self.found.request(source.span.start, source.value.as_str(), EdgeKind::Type, Form::ImportType, mode);
        if let (Some(request), Some(qualifier)) = (request, &it.qualifier) {
            self.found.name(request, first_qualifier(qualifier), EdgeKind::Type);
        }
        if let Some(arguments) = &it.type_arguments {
            self.visit_ts_type_parameter_instantiation(arguments);
        }
    }
}

/// `import {type A, type B}`: at least one name, all marked as types, and no other binding.
fn all_type_imports(specifiers: &[ImportDeclarationSpecifier<'_>]) -> bool {
    let is_type = |specifier: &ImportDeclarationSpecifier<'_>| matches!(specifier, ImportDeclarationSpecifier::ImportSpecifier(it) if it.import_kind.is_type());
    !specifiers.is_empty() && specifiers.iter().all(is_type)
}

fn first_qualifier<'a>(qualifier: &TSImportTypeQualifier<'a>) -> &'a str {
    let mut qualifier = qualifier;
    loop {
        match qualifier {
            TSImportTypeQualifier::Identifier(it) => return it.name.as_str(),
            TSImportTypeQualifier::QualifiedName(it) => qualifier = &it.left,
        }
    }
}

fn mode_of(key: &str, value: &str) -> Option<ModuleSystem> {
    match (key, value) {
        ("resolution-mode", "import") => Some(ModuleSystem::Import),
        ("resolution-mode", "require") => Some(ModuleSystem::Require),
        _ => None,
    }
}

fn clause_mode(clause: &WithClause<'_>) -> Option<ModuleSystem> {
    clause.with_entries.iter().find_map(|entry| {
        let key = match &entry.key {
            ImportAttributeKey::Identifier(it) => it.name.as_str(),
            ImportAttributeKey::StringLiteral(it) => it.value.as_str(),
        };
        mode_of(key, entry.value.value.as_str())
    })
}

/// `{ with: { "resolution-mode": "import" } }`, the options of an import type.
fn options_mode(options: &ObjectExpression<'_>) -> Option<ModuleSystem> {
    options.properties.iter().find_map(|property| match property {
        ObjectPropertyKind::ObjectProperty(it) => match &it.value {
            Expression::ObjectExpression(inner) => options_mode(inner),
            Expression::StringLiteral(value) => mode_of(&it.key.static_name()?, value.value.as_str()),
            _ => None,
        },
        ObjectPropertyKind::SpreadProperty(_) => None,
    })
}
