//! The code behind a declaration file of the repository: the script that runs where TypeScript resolves to a declaration.
//!
//! TypeScript resolves `./x` to `x.d.ts` if it is beside `x.js`. The graph has both: the declaration by TypeScript's rules, and
//! the script file that Node or a bundler would load.

use std::sync::Arc;

use crate::typescript::extract::is_analysed;
use crate::typescript::form::{Form, ModuleSystem};
use crate::typescript::tsconfig::ModuleResolution;

use super::algorithm::{JAVASCRIPT, Lookup, TYPESCRIPT};
use super::{Importer, Resolver, path};

impl Resolver<'_> {
    /// The script file behind `declaration`, which a specifier of this importer resolved to.
    pub(super) fn implementation(
        &self,
        importer: &Importer,
        specifier: &str,
        form: Form,
        mode: Option<ModuleSystem>,
        declaration: &str,
    ) -> Option<Arc<str>> {
        let inside = declaration.strip_prefix(self.root.trim_end_matches('/'))?;
        let is_own = inside.starts_with('/') && !path::in_node_modules(inside);
        let has_code = !matches!(form, Form::ReferencePath | Form::ReferenceTypes | Form::Augment | Form::InModule);
        if !is_own || !has_code || !path::is_declaration(declaration) || path::is_declaration(specifier) {
            return None;
        }
        let found = self.code(importer, specifier, mode)?;
        let real = self.files.real_path(&found)?;
        (!self.is_hidden(&real)).then(|| real.into())
    }

    /// The file that a bundler or Node would load.
    fn code(&self, importer: &Importer, specifier: &str, mode: Option<ModuleSystem>) -> Option<String> {
        let Importer { directory, config, .. } = importer;
        let is_code = |found: &String| is_analysed(found) && !path::is_declaration(found);
        let lookup = || Lookup::by_rules(self, config, directory, mode, ModuleResolution::Bundler).without_types();
        let by_bundler = lookup().with_links().resolve(specifier, JAVASCRIPT | TYPESCRIPT).filter(is_code);
        let as_written = || {
            let written = path::is_relative(specifier).then(|| path::join(directory, specifier))?;
            self.files.is_file(&written).then_some(written)
        };
        by_bundler
            .or_else(|| as_written().filter(is_code))
            .or_else(|| self.node(directory, specifier).filter(is_code))
            .or_else(|| self.unbuilt_code(importer, specifier, mode).filter(is_code))
    }
}
