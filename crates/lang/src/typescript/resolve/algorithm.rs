//! TypeScript's module resolution: modes, conditions, extension passes, directories, `node_modules`.
//!
//! This follows the algorithm of the TypeScript 5.9 compiler step by step, because the answers must be the same. Package maps
//! (`exports`, `imports`) are in `exports.rs`, and what is tried if TypeScript finds nothing in `fallback.rs`. TypeScript's
//! directory-exists checks, which save system calls, are left out: here, listings are cached.

use std::cell::Cell;

use crate::jsonc::Value;
use crate::typescript::form::ModuleSystem;
use crate::typescript::path_table::PathTable;
use crate::typescript::tsconfig::{Config, ModuleResolution};

use super::package::Package;
use super::{Resolver, path};

/// A set of file types that a pass accepts.
pub(super) type Extensions = u8;
pub(super) const TYPESCRIPT: Extensions = 1;
pub(super) const JAVASCRIPT: Extensions = 2;
pub(super) const DECLARATION: Extensions = 4;
pub(super) const JSON: Extensions = 8;
pub(super) const ALL: Extensions = TYPESCRIPT | JAVASCRIPT | DECLARATION | JSON;
/// File types that win over all others in packages.
const PRIORITY: Extensions = TYPESCRIPT | DECLARATION;

/// A set of features of a lookup.
pub(super) type Features = u8;
pub(super) const IMPORTS: Features = 2;
pub(super) const SELF_NAME: Features = 4;
pub(super) const EXPORTS: Features = 8;
const ALL_FEATURES: Features = IMPORTS | SELF_NAME | EXPORTS;
/// Node's rules for `import`: no implied extensions, no directory lookups.
const ESM: Features = 32;
/// Packages of the repository count as installed; see [`super::links`].
const LINKS: Features = 64;

/// `imports` of a package may refer to `imports` of another package; more hops are a cycle.
const MAX_HOPS: u8 = 16;

/// How many conditions and alternatives of package maps one lookup may visit in total. Without this limit, a map whose targets
/// refer to several other keys of the map would take exponential time.
const MAX_MAP_STEPS: u32 = 1024;

/// One lookup: its importer, configuration and conditions.
#[derive(Clone)]
pub(super) struct Lookup<'a> {
    pub(super) resolver: &'a Resolver<'a>,
    pub(super) config: &'a Config,
    /// The resolution rules, which may be more lenient than the configuration's.
    resolution: ModuleResolution,
    pub(super) conditions: Conditions<'a>,
    pub(super) features: Features,
    /// The directory of the importing file.
    pub(super) directory: &'a str,
    pub(super) hops: u8,
    /// The remaining part of [`MAX_MAP_STEPS`].
    pub(super) steps: Cell<u32>,
}

impl<'a> Lookup<'a> {
    /// A lookup of a module specifier in a file of `directory`.
    pub(super) fn module(
        resolver: &'a Resolver<'a>,
        config: &'a Config,
        directory: &'a str,
        mode: Option<ModuleSystem>,
    ) -> Self {
        Self::by_rules(resolver, config, directory, mode, config.module_resolution)
    }

    /// As [`Self::module`], with other rules than the configuration's.
    pub(super) fn by_rules(
        resolver: &'a Resolver<'a>,
        config: &'a Config,
        directory: &'a str,
        mode: Option<ModuleSystem>,
        resolution: ModuleResolution,
    ) -> Self {
        let (features, conditions) = match resolution {
            ModuleResolution::Node16 | ModuleResolution::NodeNext => {
                let esm = if mode == Some(ModuleSystem::Import) { ESM } else { 0 };
                (ALL_FEATURES | esm, Conditions::new(config, resolution, mode.or(Some(ModuleSystem::Require))))
            }
            ModuleResolution::Bundler => {
                (package_features(config, resolution), Conditions::new(config, resolution, mode))
            }
            // Node's old algorithm ignores `exports`, unless the syntax forces a mode.
            ModuleResolution::Node10 if mode.is_some() => (ALL_FEATURES, Conditions::new(config, resolution, mode)),
            ModuleResolution::Node10 => (0, Conditions::none(config)),
        };
        let steps = Cell::new(MAX_MAP_STEPS);
        Self { resolver, config, resolution, conditions, features, directory, hops: 0, steps }
    }

    /// The same lookup, with the packages of the repository as if they were installed.
    pub(super) fn with_links(mut self) -> Self {
        self.features |= LINKS;
        self
    }

    /// The same lookup, restricted to code that can run.
    pub(super) fn without_types(mut self) -> Self {
        self.conditions.has_types = false;
        self
    }

    /// A lookup of a `/// <reference types>` directive.
    pub(super) fn type_directive(
        resolver: &'a Resolver<'a>,
        config: &'a Config,
        directory: &'a str,
        mode: Option<ModuleSystem>,
    ) -> Self {
        let resolution = config.module_resolution;
        let mut features = package_features(config, resolution);
        if mode.is_some() {
            features |= ALL_FEATURES;
        }
        let is_node16 = matches!(resolution, ModuleResolution::Node16 | ModuleResolution::NodeNext);
        if mode == Some(ModuleSystem::Import) && is_node16 {
            features |= ESM;
        }
        let conditions = match features & EXPORTS {
            0 => Conditions::none(config),
            _ => Conditions::new(config, resolution, mode),
        };
        let steps = Cell::new(MAX_MAP_STEPS);
        Self { resolver, config, resolution, conditions, features, directory, hops: 0, steps }
    }

    /// Resolves a module specifier to an existing path, in which symlinks are not yet resolved.
    pub(super) fn resolve(&self, specifier: &str, extensions: Extensions) -> Option<String> {
        if self.resolution == ModuleResolution::Node10 {
            return self
                .resolve_pass(specifier, extensions & PRIORITY)
                .or_else(|| self.resolve_pass(specifier, extensions & !PRIORITY));
        }
        self.resolve_pass(specifier, extensions)
    }

    fn resolve_pass(&self, specifier: &str, extensions: Extensions) -> Option<String> {
        if extensions == 0 {
            return None;
        }
        if let Some(found) = self.by_settings(specifier, extensions) {
            return Some(found);
        }
        if path::is_path(specifier) {
            return self.relative(&path::join(self.directory, specifier), extensions, true);
        }
        if self.features & IMPORTS != 0
            && specifier.starts_with('#')
            && let Some(found) = self.package_imports(specifier, extensions)
        {
            return Some(found);
        }
        if self.features & SELF_NAME != 0
            && let Some(found) = self.self_reference(specifier, extensions)
        {
            return Some(found);
        }
        if specifier.contains(':') {
            return None;
        }
        self.nearest_node_modules(specifier, extensions)
            .or_else(|| (extensions & DECLARATION != 0).then(|| self.type_roots(specifier)).flatten())
    }

    /// `paths`, `baseUrl` and `rootDirs`.
    fn by_settings(&self, specifier: &str, extensions: Extensions) -> Option<String> {
        let config = self.config;
        if !config.paths.is_empty() && !path::is_relative(specifier) {
            let load = |candidate: &str| self.relative(candidate, extensions, true);
            if let Some(outcome) = self.by_path_patterns(specifier, &config.paths_base, &config.paths, load) {
                return outcome;
            }
        }
        if !path::is_path(specifier) {
            let base = config.base_url.as_deref()?;
            return self.relative(&path::join(base, specifier), extensions, true);
        }
        self.by_root_dirs(specifier, extensions)
    }

    /// `None` if no pattern matches; `Some(None)` if one matches but does not resolve.
    fn by_path_patterns(
        &self,
        specifier: &str,
        base: &str,
        paths: &PathTable,
        load: impl Fn(&str) -> Option<String>,
    ) -> Option<Option<String>> {
        let (targets, star) = paths.best(specifier)?;
        Some(targets.iter().find_map(|target| {
            let candidate = path::join(base, &replace_first_star(target, star));
            // A mapping may name a TypeScript file with its extension, which an import may not.
            if path::known_extension(target).is_some()
                && let Some(found) = self.file(&candidate)
            {
                return Some(found);
            }
            load(&candidate)
        }))
    }

    fn by_root_dirs(&self, specifier: &str, extensions: Extensions) -> Option<String> {
        let roots = &self.config.root_dirs;
        if roots.is_empty() {
            return None;
        }
        let candidate = path::join(self.directory, specifier);
        let holds = |root: &&String| path::contains(root, &candidate) && candidate.len() > root.len();
        let home = roots.iter().filter(holds).max_by_key(|root| root.len())?;
        let suffix = candidate[home.trim_end_matches('/').len()..].trim_start_matches('/').to_owned();
        self.relative(&candidate, extensions, true).or_else(|| {
            let others = roots.iter().filter(|root| *root != home);
            others.into_iter().find_map(|root| self.relative(&path::join(root, &suffix), extensions, true))
        })
    }

    /// Tries a path as a file, then (except in ESM) as a directory.
    fn relative(&self, candidate: &str, extensions: Extensions, use_manifest: bool) -> Option<String> {
        if !candidate.ends_with('/')
            && let Some(found) = self.as_file(candidate, extensions)
        {
            return Some(found);
        }
        if self.features & ESM != 0 {
            return None;
        }
        let directory = trim_slash(candidate);
        if !self.resolver.files.is_dir(directory) {
            return None;
        }
        let package = if use_manifest { self.resolver.packages.at(directory) } else { None };
        self.as_directory(directory, extensions, package.as_deref())
    }

    /// Tries a path with its extension replaced, then (except in ESM) with an extension added.
    fn as_file(&self, candidate: &str, extensions: Extensions) -> Option<String> {
        self.replacing_extension(candidate, extensions)
            .or_else(|| if self.features & ESM != 0 { None } else { self.with_extensions(candidate, "", extensions) })
    }

    fn replacing_extension(&self, candidate: &str, extensions: Extensions) -> Option<String> {
        let name_start = candidate.rfind('/').map_or(0, |at| at + 1);
        let dot = candidate[name_start..].rfind('.')?;
        let split = match path::known_extension(candidate) {
            Some(extension) => candidate.len() - extension.len(),
            None => name_start + dot,
        };
        let (stem, extension) = candidate.split_at(split);
        self.with_extensions(stem, extension, extensions)
    }

    /// Tries the extensions that the written one may be replaced by, in TypeScript's order.
    fn with_extensions(&self, stem: &str, written: &str, extensions: Extensions) -> Option<String> {
        let table: &[(Extensions, &str)] = match written {
            ".mjs" | ".mts" | ".d.mts" => &[(TYPESCRIPT, ".mts"), (DECLARATION, ".d.mts"), (JAVASCRIPT, ".mjs")],
            ".cjs" | ".cts" | ".d.cts" => &[(TYPESCRIPT, ".cts"), (DECLARATION, ".d.cts"), (JAVASCRIPT, ".cjs")],
            ".json" => &[(DECLARATION, ".d.json.ts"), (JSON, ".json")],
            ".tsx" | ".jsx" => &[
                (TYPESCRIPT, ".tsx"),
                (TYPESCRIPT, ".ts"),
                (DECLARATION, ".d.ts"),
                (JAVASCRIPT, ".jsx"),
                (JAVASCRIPT, ".js"),
            ],
            ".ts" | ".d.ts" | ".js" | "" => &[
                (TYPESCRIPT, ".ts"),
                (TYPESCRIPT, ".tsx"),
                (DECLARATION, ".d.ts"),
                (JAVASCRIPT, ".js"),
                (JAVASCRIPT, ".jsx"),
            ],
            other => {
                // `style.css` may be declared by `style.d.css.ts`.
                if extensions & DECLARATION == 0 || path::is_declaration(&format!("{stem}{other}")) {
                    return None;
                }
                return self.file(&format!("{stem}.d{other}.ts"));
            }
        };
        let mut endings = [""; 5];
        let mut count = 0;
        for (_, ending) in table.iter().filter(|(kind, _)| extensions & kind != 0) {
            endings[count] = ending;
            count += 1;
        }
        let endings = &endings[..count];
        if self.config.module_suffixes.is_empty() {
            let found = self.resolver.files.first_file(stem, endings)?;
            return Some([stem, endings[found]].concat());
        }
        endings.iter().find_map(|ending| self.file(&[stem, ending].concat()))
    }

    /// The file itself, or the first existing one with a module suffix.
    fn file(&self, candidate: &str) -> Option<String> {
        let exists = |path: String| self.resolver.files.is_file(&path).then_some(path);
        if self.config.module_suffixes.is_empty() {
            return exists(candidate.to_owned());
        }
        let extension = path::known_extension(candidate).unwrap_or("");
        let stem = &candidate[..candidate.len() - extension.len()];
        self.config.module_suffixes.iter().find_map(|suffix| exists(format!("{stem}{suffix}{extension}")))
    }

    /// A file named by a manifest: TypeScript files as written, others by their possible declarations.
    pub(super) fn manifest_file(&self, candidate: &str, extensions: Extensions) -> Option<String> {
        let is_declaration = [".d.ts", ".d.mts", ".d.cts"].iter().any(|e| candidate.ends_with(e));
        if (extensions & TYPESCRIPT != 0 && path::is_typescript(candidate))
            || (extensions & DECLARATION != 0 && is_declaration)
        {
            return self.file(candidate);
        }
        self.replacing_extension(candidate, extensions)
    }

    /// Tries a directory: the files that its manifest names, then its index file.
    fn as_directory(&self, directory: &str, extensions: Extensions, package: Option<&Package>) -> Option<String> {
        let own = package.filter(|package| package.directory == directory);
        let main = own.and_then(|package| {
            let types = || package.path_field("typings").or_else(|| package.path_field("types"));
            (extensions & DECLARATION != 0)
                .then(types)
                .flatten()
                .or_else(|| (extensions & !JSON != 0).then(|| package.path_field("main")).flatten())
        });
        let load = |candidate: &str| self.manifest_entry(candidate, extensions, package);
        if let Some(paths) = package.and_then(Package::version_paths) {
            let target = main.clone().unwrap_or_else(|| path::join(directory, "index"));
            if path::contains(directory, &target) {
                let relative = target[directory.len()..].trim_start_matches('/');
                if let Some(outcome) = self.by_path_patterns(relative, directory, paths, load) {
                    return outcome;
                }
            }
        }
        if let Some(found) = main.as_deref().and_then(load) {
            return Some(found);
        }
        if self.features & ESM != 0 {
            return None;
        }
        self.as_file(&path::join(directory, "index"), extensions)
    }

    /// Resolves the value of `main` or `types`. It may lack an extension or name a directory, except in ESM packages.
    fn manifest_entry(&self, candidate: &str, extensions: Extensions, package: Option<&Package>) -> Option<String> {
        if let Some(found) = self.manifest_file(candidate, extensions) {
            return Some(found);
        }
        let extensions = if extensions == DECLARATION { PRIORITY } else { extensions };
        let mut inner = self.clone();
        if !package.is_some_and(Package::is_esm) {
            inner.features &= !ESM;
        }
        inner.relative(candidate, extensions, false)
    }

    /// Searches `node_modules` in all parent directories. The first pass, for declarations and TypeScript, visits all of them
    /// before the second pass, for JavaScript, visits any.
    fn nearest_node_modules(&self, specifier: &str, extensions: Extensions) -> Option<String> {
        let folders = self.resolver.node_modules(self.directory);
        let (name, rest) = path::split_package_name(specifier);
        let links = match self.features & LINKS {
            0 => Vec::new(),
            _ => self.resolver.linked_packages(self.directory, name),
        };
        let one_pass = |pass: Extensions| {
            let installed = folders.iter().find_map(|folder| self.one_node_modules(specifier, folder, pass));
            installed.or_else(|| links.iter().find_map(|directory| self.package_at(directory, rest, pass)))
        };
        [extensions & PRIORITY, extensions & !PRIORITY].into_iter().filter(|pass| *pass != 0).find_map(one_pass)
    }

    fn one_node_modules(&self, specifier: &str, folder: &str, extensions: Extensions) -> Option<String> {
        if let Some(found) = self.package(specifier, folder, extensions) {
            return Some(found);
        }
        if extensions & DECLARATION == 0 {
            return None;
        }
        let types = format!("{folder}/@types");
        if !self.resolver.files.is_dir(&types) {
            return None;
        }
        self.package(&mangle_scope(specifier), &types, DECLARATION)
    }

    /// A package, or a module of it, in one `node_modules` folder.
    fn package(&self, specifier: &str, folder: &str, extensions: Extensions) -> Option<String> {
        let (name, rest) = path::split_package_name(specifier);
        self.package_at(&path::join_plain(folder, name), rest, extensions)
    }

    /// The module `rest` (empty for the main module) of the package in `directory`.
    pub(super) fn package_at(&self, directory: &str, rest: &str, extensions: Extensions) -> Option<String> {
        if !rest.is_empty() && !self.resolver.files.is_dir(directory) {
            return None;
        }
        let candidate = if rest.is_empty() { directory.to_owned() } else { path::join(directory, rest) };
        let root_package = self.resolver.packages.at(directory);
        let has_exports = root_package.as_ref().is_some_and(|package| package.manifest.get("exports").is_some());
        if !rest.is_empty() && (self.features & EXPORTS == 0 || !has_exports) {
            // A nested manifest, as in `node_modules/foo/bar/package.json`.
            if let Some(nested) = self.resolver.packages.at(trim_slash(&candidate)) {
                return self
                    .as_file(&candidate, extensions)
                    .or_else(|| self.as_directory(trim_slash(&candidate), extensions, Some(&nested)));
            }
        }
        if let Some(package) = &root_package
            && self.features & EXPORTS != 0
            && package.exports().is_some()
        {
            let subpath = if rest.is_empty() { ".".to_owned() } else { format!("./{rest}") };
            return self.package_exports(package, &subpath, extensions);
        }
        let load = |candidate: &str| self.package_path(candidate, rest, extensions, root_package.as_deref());
        if !rest.is_empty()
            && let Some(paths) = root_package.as_deref().and_then(Package::version_paths)
            && let Some(outcome) = self.by_path_patterns(rest, directory, paths, load)
        {
            return outcome;
        }
        load(&candidate)
    }

    /// A path in a package without `exports`.
    fn package_path(
        &self,
        candidate: &str,
        rest: &str,
        extensions: Extensions,
        package: Option<&Package>,
    ) -> Option<String> {
        let esm = self.features & ESM != 0;
        let as_file = || (!rest.is_empty() || !esm).then(|| self.as_file(candidate, extensions)).flatten();
        let found = as_file().or_else(|| self.as_directory(trim_slash(candidate), extensions, package));
        if found.is_some() || !rest.is_empty() || !esm {
            return found;
        }
        let no_exports = package.is_some_and(|p| matches!(p.manifest.get("exports"), None | Some(Value::Null)));
        no_exports.then(|| self.as_file(&path::join(candidate, "index.js"), extensions)).flatten()
    }

    /// The `typeRoots` option: the last resort for a bare specifier.
    fn type_roots(&self, specifier: &str) -> Option<String> {
        self.config.type_roots.as_deref()?.iter().find_map(|root| {
            let candidate = type_root_candidate(root, specifier);
            self.as_file(&candidate, DECLARATION).or_else(|| self.type_directory(&candidate))
        })
    }

    fn type_directory(&self, candidate: &str) -> Option<String> {
        let directory = trim_slash(candidate);
        let package = self.resolver.packages.at(directory);
        self.as_directory(directory, DECLARATION, package.as_deref())
    }

    /// Resolves `/// <reference types="name" />`.
    pub(super) fn resolve_type_directive(&self, name: &str) -> Option<String> {
        let explicit = self.config.type_roots.as_deref();
        let primary = match explicit {
            Some(roots) => self.type_roots_of(name, roots.iter().map(String::as_str), true),
            None => {
                let home = self.config.file.as_deref().map_or(&*self.resolver.root, path::parent);
                let roots: Vec<String> =
                    path::ancestors(home).map(|dir| path::join_plain(dir, "node_modules/@types")).collect();
                self.type_roots_of(name, roots.iter().map(String::as_str), false)
            }
        };
        primary.or_else(|| {
            if path::is_path(name) {
                self.relative(&path::join(self.directory, name), DECLARATION, true)
            } else {
                self.nearest_node_modules(name, DECLARATION)
            }
        })
    }

    fn type_roots_of<'r>(&self, name: &str, roots: impl Iterator<Item = &'r str>, as_file: bool) -> Option<String> {
        roots.into_iter().filter(|root| self.resolver.files.is_dir(root)).find_map(|root| {
            let candidate = type_root_candidate(root, name);
            as_file.then(|| self.as_file(&candidate, DECLARATION)).flatten().or_else(|| self.type_directory(&candidate))
        })
    }

    /// A lookup for the target of a package's `imports`: the same rules, from the package's directory. `None` if there were too
    /// many hops.
    pub(super) fn asked_from<'b>(&'b self, directory: &'b str) -> Option<Lookup<'b>> {
        (self.hops < MAX_HOPS).then(|| Lookup {
            resolver: self.resolver,
            config: self.config,
            resolution: self.resolution,
            conditions: self.conditions,
            features: self.features,
            directory,
            hops: self.hops + 1,
            steps: self.steps.clone(),
        })
    }
}

fn package_features(config: &Config, resolution: ModuleResolution) -> Features {
    let mut features = if resolution == ModuleResolution::Node10 { 0 } else { ALL_FEATURES };
    for (option, bit) in
        [(config.resolve_package_json_exports, EXPORTS), (config.resolve_package_json_imports, IMPORTS)]
    {
        match option {
            Some(true) => features |= bit,
            Some(false) => features &= !bit,
            None => {}
        }
    }
    features
}

/// The conditions that apply in package maps. Evaluated one by one, because most lookups never need them.
#[derive(Clone, Copy)]
pub(super) struct Conditions<'a> {
    config: &'a Config,
    resolution: ModuleResolution,
    has_types: bool,
    /// `None` if no condition applies.
    mode: Option<ModuleSystem>,
}

impl<'a> Conditions<'a> {
    fn none(config: &'a Config) -> Self {
        Self { config, resolution: config.module_resolution, has_types: true, mode: None }
    }

    fn new(config: &'a Config, resolution: ModuleResolution, mode: Option<ModuleSystem>) -> Self {
        let default = match resolution {
            ModuleResolution::Bundler => Some(ModuleSystem::Import),
            ModuleResolution::Node10 => None,
            ModuleResolution::Node16 | ModuleResolution::NodeNext => Some(ModuleSystem::Require),
        };
        Self { config, resolution, has_types: true, mode: mode.or(default) }
    }

    pub(super) fn contain(&self, condition: &str) -> bool {
        let Some(mode) = self.mode else { return false };
        match condition {
            "types" => self.has_types,
            "import" if mode == ModuleSystem::Import => true,
            "require" if mode == ModuleSystem::Require => true,
            "node" if self.resolution != ModuleResolution::Bundler => true,
            other => self.config.custom_conditions.iter().any(|custom| custom == other),
        }
    }
}

pub(super) fn matching_path_targets(config: &Config, specifier: &str) -> Option<Vec<String>> {
    let (targets, star) = config.paths.best(specifier)?;
    Some(targets.iter().map(|target| path::join(&config.paths_base, &replace_first_star(target, star))).collect())
}

fn replace_first_star(target: &str, star: &str) -> String {
    if star.is_empty() { target.to_owned() } else { target.replacen('*', star, 1) }
}

fn type_root_candidate(root: &str, name: &str) -> String {
    if root.trim_end_matches('/').ends_with("/node_modules/@types") {
        path::join(root, &mangle_scope(name))
    } else {
        path::join(root, name)
    }
}

/// The name of `@scope/name` in `@types`: `@types/scope__name`.
fn mangle_scope(specifier: &str) -> String {
    match specifier.strip_prefix('@') {
        Some(scoped) if scoped.contains('/') => scoped.replacen('/', "__", 1),
        _ => specifier.to_owned(),
    }
}

fn trim_slash(path: &str) -> &str {
    if path.len() > 1 { path.trim_end_matches('/') } else { path }
}
