//! The attempts after TypeScript finds nothing, so that no existing file is reported missing: specifiers without their query,
//! assets, Node's own lookup, packages of the workspace.

use crate::typescript::form::{Form, ModuleSystem};
use crate::typescript::tsconfig::ModuleResolution;

use super::algorithm::{ALL, Lookup, matching_path_targets};
use super::{Importer, Resolver, builtins, path};
use crate::jsonc::Value;

/// No real map has as many conditions in one place.
const MAX_CONDITIONS: usize = 1024;

pub(super) enum FallbackTarget {
    /// An existing path, in which symlinks are not yet resolved. `is_lenient`: only a bundler's rules accept it.
    File {
        path: String,
        is_lenient: bool,
    },
    Builtin(String),
    Nothing,
}

impl FallbackTarget {
    fn file(path: String) -> Self {
        Self::File { path, is_lenient: false }
    }
}

impl Resolver<'_> {
    pub(super) fn find_file(
        &self,
        importer: &Importer,
        specifier: &str,
        form: Form,
        mode: Option<ModuleSystem>,
    ) -> FallbackTarget {
        if let Some(found) = self.by_rules(importer, specifier, mode) {
            return found;
        }
        if let Some(id) = builtins::builtin(specifier) {
            return FallbackTarget::Builtin(id);
        }
        let text = strip_suffix(specifier);
        if text.len() < specifier.len()
            && let Some(found) = self.by_rules(importer, text, mode)
        {
            return found;
        }
        if text.starts_with('#')
            && let Some(id) = self.imported_builtin(importer, text, mode)
        {
            return FallbackTarget::Builtin(id);
        }
        let is_require = form.is_require();
        if (is_require || !path::is_path(text))
            && let Some(found) = self.node(&importer.directory, text)
            && (is_require || !path::is_script(&found))
        {
            return FallbackTarget::file(found);
        }
        if !path::is_path(text)
            && let Some(found) = self.unbuilt_package(importer, text, mode)
        {
            return FallbackTarget::file(found);
        }
        FallbackTarget::Nothing
    }

    /// TypeScript's answer first, then files as written, then packages of the repository that are not installed, then specifiers
    /// that strict rules reject and a bundler accepts.
    fn by_rules(&self, importer: &Importer, text: &str, mode: Option<ModuleSystem>) -> Option<FallbackTarget> {
        let Importer { directory, config, .. } = importer;
        let is_bare = !path::is_path(text);
        let links = |lookup: Lookup<'_>| match is_bare && !self.links.workspaces().is_empty() {
            true => lookup.with_links().resolve(text, ALL),
            false => None,
        };
        let strict = || Lookup::module(self, config, directory, mode);
        let found = strict().resolve(text, ALL).or_else(|| self.asset(importer, text)).or_else(|| links(strict()));
        if let Some(path) = found {
            return Some(FallbackTarget::file(path));
        }
        if !matches!(config.module_resolution, ModuleResolution::Node16 | ModuleResolution::NodeNext) {
            return None;
        }
        let lenient = || Lookup::by_rules(self, config, directory, mode, ModuleResolution::Bundler);
        let path = lenient().resolve(text, ALL).or_else(|| links(lenient()))?;
        Some(FallbackTarget::File { path, is_lenient: true })
    }

    /// A file exactly as the specifier names it: relative, through `paths` or `baseUrl`, or from the root of the package or
    /// repository, as bundlers serve it.
    fn asset(&self, importer: &Importer, text: &str) -> Option<String> {
        let exists = |candidate: String| self.files.is_file(&candidate).then_some(candidate);
        if path::is_relative(text) {
            return exists(path::join(&importer.directory, text));
        }
        if let Some(targets) = matching_path_targets(&importer.config, text)
            && let Some(found) = targets.into_iter().find_map(exists)
        {
            return Some(found);
        }
        if let Some(rooted) = text.strip_prefix('/') {
            let package = self.packages.scope(&importer.directory).map(|package| package.directory.clone());
            let bases =
                package.into_iter().chain([self.root.to_string()]).filter(|base| path::contains(&self.root, base));
            return bases.map(|base| path::join(&base, rooted)).find_map(exists);
        }
        let base = importer.config.base_url.as_deref()?;
        exists(path::join(base, text))
    }

    /// `"#os": "os"` in the `imports` of a package.
    fn imported_builtin(&self, importer: &Importer, specifier: &str, mode: Option<ModuleSystem>) -> Option<String> {
        let package = self.packages.scope(&importer.directory)?;
        let imports = package.imports()?;
        let mut target = imports.index.get(imports.value, specifier)?;
        let syntax = if mode == Some(ModuleSystem::Require) { "require" } else { "import" };
        for _ in 0..32 {
            match target {
                Value::String(name) => return builtins::is_plain(name).then(|| format!("node:{name}")),
                Value::Object(_) => {
                    let conditions = target.entries().get(..MAX_CONDITIONS).unwrap_or(target.entries());
                    let value_of = |wanted: &str| conditions.iter().find(|(condition, _)| **condition == *wanted);
                    target = &["node", syntax, "default"].into_iter().find_map(value_of)?.1;
                }
                _ => return None,
            }
        }
        None
    }
}

/// The specifier without `?query` and `#hash`. A leading `#` does not start a hash.
fn strip_suffix(specifier: &str) -> &str {
    let end =
        specifier.bytes().skip(1).position(|byte| matches!(byte, b'?' | b'#')).map_or(specifier.len(), |at| at + 1);
    &specifier[..end]
}
