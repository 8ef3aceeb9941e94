//! The compiler options that affect resolution: read from one file, merged with those of another, and completed with defaults.
//!
//! Options that only affect checking or emitting are not read.

use std::sync::Arc;

use crate::jsonc::Value;
use crate::typescript::path_table::PathTable;

use super::paths;
use super::{Config, ModuleKind, ModuleResolution};

/// An option in one file: missing, reset (`null`, or an invalid value), or set.
type Setting<T> = Option<Option<T>>;

/// `paths`, shared by all configurations that inherit it.
#[derive(Clone, Debug, Default)]
struct PathMapping {
    table: Arc<PathTable>,
    /// Whether a target starts with `${configDir}`.
    has_templates: bool,
}

/// Every directory, suffix, condition or target in such a list may be tried for each import. Longer lists occur in no real
/// configuration.
const MAX_TRIED: usize = 100;

/// The options of one file, or merged ones. Paths are absolute or start with `${configDir}`.
#[derive(Clone, Debug, Default)]
pub(super) struct RawOptions {
    target: Setting<u8>,
    module: Setting<ModuleKind>,
    module_resolution: Setting<Option<ModuleResolution>>,
    base_url: Setting<String>,
    paths: Setting<PathMapping>,
    /// The directory of the file that sets `paths`.
    paths_base: Setting<String>,
    root_dirs: Setting<Vec<String>>,
    module_suffixes: Setting<Vec<String>>,
    custom_conditions: Setting<Vec<String>>,
    resolve_package_json_exports: Setting<bool>,
    resolve_package_json_imports: Setting<bool>,
    preserve_symlinks: Setting<bool>,
    type_roots: Setting<Vec<String>>,
    out_dir: Setting<String>,
    declaration_dir: Setting<String>,
    root_dir: Setting<String>,
    composite: Setting<bool>,
}

impl RawOptions {
    /// Reads `compilerOptions`. Calls `report` for each invalid value.
    pub(super) fn read(value: &Value, directory: &str, report: &mut dyn FnMut(String)) -> Self {
        let mut reader = OptionReader { value, directory, report };
        let paths = reader.paths();
        Self {
            target: reader.one_of("target", TARGETS),
            module: reader.one_of("module", MODULES),
            module_resolution: reader.one_of("moduleResolution", RESOLUTIONS),
            base_url: reader.path("baseUrl"),
            paths_base: matches!(paths, Some(Some(_))).then(|| Some(directory.to_owned())),
            paths,
            root_dirs: reader.path_list("rootDirs"),
            module_suffixes: reader.list("moduleSuffixes", true),
            custom_conditions: reader.list("customConditions", false),
            resolve_package_json_exports: reader.flag("resolvePackageJsonExports"),
            resolve_package_json_imports: reader.flag("resolvePackageJsonImports"),
            preserve_symlinks: reader.flag("preserveSymlinks"),
            type_roots: reader.path_list("typeRoots"),
            out_dir: reader.path("outDir"),
            declaration_dir: reader.path("declarationDir"),
            root_dir: reader.path("rootDir"),
            composite: reader.flag("composite"),
        }
    }

    /// These options where they are set or reset, otherwise those of `under`.
    pub(super) fn over(self, under: Self) -> Self {
        Self {
            target: self.target.or(under.target),
            module: self.module.or(under.module),
            module_resolution: self.module_resolution.or(under.module_resolution),
            base_url: self.base_url.or(under.base_url),
            paths: self.paths.or(under.paths),
            paths_base: self.paths_base.or(under.paths_base),
            root_dirs: self.root_dirs.or(under.root_dirs),
            module_suffixes: self.module_suffixes.or(under.module_suffixes),
            custom_conditions: self.custom_conditions.or(under.custom_conditions),
            resolve_package_json_exports: self.resolve_package_json_exports.or(under.resolve_package_json_exports),
            resolve_package_json_imports: self.resolve_package_json_imports.or(under.resolve_package_json_imports),
            preserve_symlinks: self.preserve_symlinks.or(under.preserve_symlinks),
            type_roots: self.type_roots.or(under.type_roots),
            out_dir: self.out_dir.or(under.out_dir),
            declaration_dir: self.declaration_dir.or(under.declaration_dir),
            root_dir: self.root_dir.or(under.root_dir),
            composite: self.composite.or(under.composite),
        }
    }

    /// The options for resolution: with `${configDir}` replaced and defaults filled in.
    pub(super) fn finish(self, file: Option<&str>, directory: &str) -> Config {
        let (module, module_resolution) = self.module_and_resolution();
        let place = |path: String| replace_template(&path, directory).unwrap_or(path);
        let places = |list: Option<Option<Vec<String>>>| -> Option<Vec<String>> {
            list.flatten().map(|list| list.into_iter().map(place).collect())
        };
        let base_url = self.base_url.flatten().map(place);
        let paths_base = base_url.clone().or(self.paths_base.flatten()).unwrap_or_else(|| directory.to_owned());
        let mapping = self.paths.flatten().unwrap_or_default();
        let paths = if mapping.has_templates { placed(&mapping.table, directory) } else { mapping.table };
        Config {
            file: file.map(str::to_owned),
            directory: directory.to_owned(),
            module,
            module_resolution,
            base_url,
            paths,
            paths_base,
            root_dirs: places(self.root_dirs).unwrap_or_default(),
            module_suffixes: self.module_suffixes.flatten().unwrap_or_default(),
            custom_conditions: self.custom_conditions.flatten().unwrap_or_default(),
            resolve_package_json_exports: self.resolve_package_json_exports.flatten(),
            resolve_package_json_imports: self.resolve_package_json_imports.flatten(),
            preserve_symlinks: self.preserve_symlinks.flatten().unwrap_or(false),
            type_roots: places(self.type_roots),
            out_dir: self.out_dir.flatten().map(place),
            declaration_dir: self.declaration_dir.flatten().map(place),
            root_dir: self.root_dir.flatten().map(place),
            composite: self.composite.flatten().unwrap_or(false),
        }
    }

    /// TypeScript's defaults, with two exceptions: a configuration that sets neither is a bundler's, and `classic` (today only a
    /// leftover of a computed default) counts as `bundler`.
    fn module_and_resolution(&self) -> (ModuleKind, ModuleResolution) {
        let (module, resolution) = (self.module.flatten(), self.module_resolution.flatten());
        if module.is_none() && resolution.is_none() {
            return (ModuleKind::EsNext, ModuleResolution::Bundler);
        }
        let module = module.unwrap_or_else(|| {
            let target = self.target.flatten().filter(|target| *target != ES3).unwrap_or(ES5);
            if target >= ES2015 { ModuleKind::Es2015 } else { ModuleKind::CommonJs }
        });
        let resolution = resolution.unwrap_or(match module {
            ModuleKind::CommonJs => Some(ModuleResolution::Node10),
            ModuleKind::Node16 | ModuleKind::Node18 | ModuleKind::Node20 => Some(ModuleResolution::Node16),
            ModuleKind::NodeNext => Some(ModuleResolution::NodeNext),
            ModuleKind::Preserve => Some(ModuleResolution::Bundler),
            _ => CLASSIC,
        });
        (module, resolution.unwrap_or(ModuleResolution::Bundler))
    }
}

const ES3: u8 = 0;
const ES5: u8 = 1;
const ES2015: u8 = 2;

/// The values of `target` with TypeScript's numbers.
const TARGETS: &[(&str, u8)] = &[
    ("es3", ES3),
    ("es5", ES5),
    ("es6", ES2015),
    ("es2015", ES2015),
    ("es2016", 3),
    ("es2017", 4),
    ("es2018", 5),
    ("es2019", 6),
    ("es2020", 7),
    ("es2021", 8),
    ("es2022", 9),
    ("es2023", 10),
    ("es2024", 11),
    ("esnext", 99),
];

const MODULES: &[(&str, ModuleKind)] = &[
    ("none", ModuleKind::None),
    ("commonjs", ModuleKind::CommonJs),
    ("amd", ModuleKind::Amd),
    ("system", ModuleKind::System),
    ("umd", ModuleKind::Umd),
    ("es6", ModuleKind::Es2015),
    ("es2015", ModuleKind::Es2015),
    ("es2020", ModuleKind::Es2020),
    ("es2022", ModuleKind::Es2022),
    ("esnext", ModuleKind::EsNext),
    ("node16", ModuleKind::Node16),
    ("node18", ModuleKind::Node18),
    ("node20", ModuleKind::Node20),
    ("nodenext", ModuleKind::NodeNext),
    ("preserve", ModuleKind::Preserve),
];

/// `classic` is a valid value, but this resolver does not implement it.
const CLASSIC: Option<ModuleResolution> = None;

const RESOLUTIONS: &[(&str, Option<ModuleResolution>)] = &[
    ("node10", Some(ModuleResolution::Node10)),
    ("node", Some(ModuleResolution::Node10)),
    ("classic", CLASSIC),
    ("node16", Some(ModuleResolution::Node16)),
    ("nodenext", Some(ModuleResolution::NodeNext)),
    ("bundler", Some(ModuleResolution::Bundler)),
];

const TEMPLATE: &str = "${configDir}";

/// Whether a path starts with `${configDir}`, in any case.
pub(super) fn has_template(path: &str) -> bool {
    path.get(..TEMPLATE.len()).is_some_and(|start| start.eq_ignore_ascii_case(TEMPLATE))
}

/// Replaces `${configDir}` at the start of a path by the directory of the configuration in use.
pub(super) fn replace_template(path: &str, directory: &str) -> Option<String> {
    has_template(path).then(|| paths::normalize(&path.replacen(TEMPLATE, "./", 1), directory))
}

/// Reads options from a `compilerOptions` object.
struct OptionReader<'a> {
    value: &'a Value,
    directory: &'a str,
    report: &'a mut dyn FnMut(String),
}

impl<'a> OptionReader<'a> {
    /// `None` if the option is missing; `Some(None)` if its value is unusable.
    fn option<T>(&mut self, name: &str, wanted: &str, read: impl Fn(&'a Value) -> Option<T>) -> Setting<T> {
        let value = self.value.get(name)?;
        let found = read(value);
        if found.is_none() && !value.is_null() {
            (self.report)(format!("`{name}` must be {wanted}; it is ignored"));
        }
        Some(found)
    }

    fn flag(&mut self, name: &str) -> Setting<bool> {
        self.option(name, "true or false", Value::as_bool)
    }

    fn path(&mut self, name: &str) -> Setting<String> {
        let directory = self.directory;
        self.option(name, "a string", |value| value.as_str().map(|path| located(path, directory)))
    }

    fn one_of<T: Copy>(&mut self, name: &str, allowed: &[(&str, T)]) -> Setting<T> {
        let value = self.value.get(name)?;
        let Some(written) = value.as_str() else {
            return self.option(name, "a string", |_| None);
        };
        let found = allowed.iter().find(|(name, _)| written.eq_ignore_ascii_case(name)).map(|(_, found)| *found);
        if found.is_none() {
            (self.report)(format!("`{name}` cannot be {written:?}; it is ignored"));
        }
        Some(found)
    }

    fn list(&mut self, name: &str, keep_empty: bool) -> Setting<Vec<String>> {
        let list = self.option(name, "a list of strings", Value::as_array)?;
        let Some(items) = list else { return Some(None) };
        let strings: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
        if strings.len() < items.iter().filter(|item| !item.is_null()).count() {
            (self.report)(format!("`{name}` must be a list of strings; other values in it are ignored"));
        }
        let mut strings: Vec<String> =
            strings.into_iter().filter(|item| keep_empty || !item.is_empty()).map(str::to_owned).collect();
        self.cut(name, &mut strings);
        Some(Some(strings))
    }

    /// Truncates a list whose elements may be tried for each import.
    fn cut<T>(&mut self, name: &str, list: &mut Vec<T>) {
        if list.len() > MAX_TRIED {
            (self.report)(format!("`{name}` has {} values; only the first {MAX_TRIED} are used", list.len()));
            list.truncate(MAX_TRIED);
        }
    }

    fn path_list(&mut self, name: &str) -> Setting<Vec<String>> {
        let directory = self.directory;
        let list = self.list(name, true)?;
        Some(list.map(|list| list.iter().map(|path| located(path, directory)).collect()))
    }

    fn paths(&mut self) -> Setting<PathMapping> {
        let is_object = |value: &'a Value| matches!(value, Value::Object(_) | Value::Array(_)).then_some(value);
        let object = self.option("paths", "an object", is_object)?;
        let Some(object) = object else { return Some(None) };
        let mut entries = Vec::with_capacity(object.entries().len());
        for (pattern, targets) in object.entries() {
            let targets = targets.as_array().unwrap_or_else(|| {
                (self.report)(format!("`paths` for {pattern:?} must be a list; it is ignored"));
                &[]
            });
            let mut targets: Vec<Box<str>> = targets.iter().filter_map(Value::as_str).map(Into::into).collect();
            self.cut(&format!("paths/{pattern}"), &mut targets);
            entries.push((pattern.clone(), targets));
        }
        let has_templates = entries.iter().flat_map(|(_, targets)| targets).any(|target| has_template(target));
        Some(Some(PathMapping { table: Arc::new(PathTable::new(entries)), has_templates }))
    }
}

/// The table with `${configDir}` replaced in its targets.
fn placed(table: &PathTable, directory: &str) -> Arc<PathTable> {
    let place = |target: &str| replace_template(target, directory).map_or_else(|| target.into(), Into::into);
    let places = |targets: &[Box<str>]| targets.iter().map(|target| place(target)).collect();
    let entries = table.entries().iter().map(|(pattern, targets)| (pattern.clone(), places(targets)));
    Arc::new(PathTable::new(entries.collect()))
}

fn located(path: &str, directory: &str) -> String {
    if has_template(path) { path.replace('\\', "/") } else { paths::normalize(path, directory) }
}
