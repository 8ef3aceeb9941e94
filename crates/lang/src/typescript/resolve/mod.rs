//! Specifier to file: TypeScript's own answer first, then files that TypeScript does not find.
//!
//! `algorithm.rs` and `exports.rs` are TypeScript's rules; `fallback.rs` finds assets, Node's answers and the sources of
//! workspace packages. All lookups go through a `Files` view, which can record them.

mod algorithm;
mod builtins;
mod exports;
mod exports_exact;
mod fallback;
mod file_resolver;
mod implementation;
pub(crate) mod links;
mod node;
mod package;
pub(crate) mod path;
mod refused;
mod semver;
mod workspace_source;

use std::sync::Arc;

use stan_model::facts::Request;
use stan_model::{Problem, split_extension};
use stan_repo::Files;

use crate::language::{FileResolver, ProjectResolver, Target, TargetTable};
use crate::memo::Memo;
use crate::project::{Project, ResolveOptions};
use crate::typescript::form::{Form, ModuleSystem};
use crate::typescript::tsconfig::{Config, Configs, ModuleKind, ModuleResolution};

use self::algorithm::Lookup;
use self::links::Links;
use self::package::Packages;

/// Reported for a specifier that resolves to a path that may not be read; the specifier precedes it in the message.
const NEEDS_CONSENT: &str = "leads outside the root, where nothing is read without consent; `--allow-outside DIR` \
                             allows a folder";
const FORBIDDEN: &str = "leads outside the root, which `context.outsideRoot: false` forbids; `--allow-outside DIR` \
                         allows a folder";

/// Resolves requests. Shared by threads; answers depend only on the `Files`, never on the order of requests.
pub struct Resolver<'f> {
    project: &'f Project<'f>,
    files: &'f dyn Files,
    root: Box<str>,
    configs: Configs<'f>,
    links: Arc<Links<'f>>,
    packages: Packages<'f>,
    options: ResolveOptions,
    /// Answers for bare specifiers: many files of a folder request the same ones.
    bare: Memo<String, Located>,
    node_modules: Memo<String, Arc<[Box<str>]>>,
}

/// The target of a request, and further information about it.
#[derive(Clone, Debug)]
pub(crate) struct Located {
    pub(crate) target: Target,
    /// The script file behind a declaration file of the repository.
    pub(crate) implementation: Option<Arc<str>>,
    /// The configuration's rules reject the specifier, a bundler's accept it.
    pub(crate) is_lenient: bool,
}

impl From<Target> for Located {
    fn from(target: Target) -> Self {
        Self { target, implementation: None, is_lenient: false }
    }
}

/// An importing file, with the settings that its path determines.
pub struct Importer {
    directory: Box<str>,
    /// For a file of a linked package: the package's folder, which requests may not leave.
    limit: Option<Box<str>>,
    /// The file name after its last dot.
    ending: Box<str>,
    /// Whether files of the same directory and ending resolve the same.
    is_shared: bool,
    config: Arc<Config>,
    /// The mode of static imports; `None` if syntax does not matter.
    static_mode: Option<ModuleSystem>,
    import_call_mode: Option<ModuleSystem>,
}

impl Importer {
    /// Whether the answers are valid for other files of the directory with the same ending.
    pub fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Whether a file is in this importer's directory.
    pub fn is_beside(&self, file: &str) -> bool {
        let rest = file.strip_prefix(&*self.directory).and_then(|rest| rest.strip_prefix('/'));
        rest.is_some_and(|name| !name.as_bytes().contains(&b'/'))
    }

    /// Whether this importer's answers are also valid for another file of the directory, as for most files.
    pub fn serves(&self, beside: &str) -> bool {
        self.is_shared && ending(beside) == &*self.ending
    }
}

/// The last path segment after its last dot: the only part of a name that modes depend on.
fn ending(file: &str) -> &str {
    split_extension(file).map_or("", |(_, extension)| extension)
}

impl<'f> Resolver<'f> {
    pub fn new(project: &'f Project<'f>) -> Self {
        let Project { root, files, options, .. } = *project;
        let links = Arc::new(Links::new(project));
        Self {
            project,
            files,
            root: root.into(),
            configs: Configs::new(files, root).with_links(Arc::clone(&links)),
            links,
            packages: Packages::new(files, root),
            options,
            bare: Memo::new(),
            node_modules: Memo::new(),
        }
    }

    /// Files below stan's own folder are treated as missing, except in `system` and `imports`: the output of stan must not change its
    /// own answers.
    fn is_hidden(&self, real: &str) -> bool {
        let below = real.strip_prefix(&*self.project.stan_folder).and_then(|rest| rest.strip_prefix('/'));
        below.is_some_and(|below| {
            !below.starts_with("system/") && !below.starts_with("imports/") && !self.is_listed(real)
        })
    }

    /// Whether an absolute path is a file of the repository.
    fn is_listed(&self, path: &str) -> bool {
        let universe = self.project.universe;
        let is_at = |inside: &str| universe.path(universe.first_from(inside)) == inside;
        self.project.relative(path).is_some_and(is_at)
    }

    /// Prepares the resolution of one file's requests, given its absolute path.
    pub fn importer(&self, file: &str) -> Importer {
        let file = &*self.files.alias(file);
        let directory = path::parent(file);
        let limit = if self.files.is_in_linked_package(directory) { self.package_of(file) } else { None };
        let in_root = path::contains(&self.root, file) && !path::in_node_modules(&file[self.root.len()..]);
        let shared = if in_root { self.configs.for_directory(directory) } else { Some(self.configs.default_config()) };
        let is_shared = shared.is_some();
        let config = shared.unwrap_or_else(|| self.configs.for_file(file));
        let (static_mode, import_call_mode) = self.modes(file, &config);
        let ending = ending(file).into();
        let limit = limit.map(String::into_boxed_str);
        Importer { directory: directory.into(), limit, ending, is_shared, config, static_mode, import_call_mode }
    }

    /// The directory of the nearest manifest with a name, from the file upwards.
    pub fn package_of(&self, file: &str) -> Option<String> {
        path::ancestors(path::parent(&self.files.alias(file)))
            .take_while(|directory| path::base_name(directory) != "node_modules")
            .find(|directory| self.packages.at(directory).is_some_and(|package| package.name().is_some()))
            .map(str::to_owned)
    }

    /// Resolves a request of this importer.
    pub(crate) fn resolve(&self, importer: &Importer, request: &Request) -> Located {
        let specifier = &*request.specifier;
        let leaves = |limit: &str| !path::contains(limit, &path::join_plain(&importer.directory, specifier));
        if path::is_path(specifier) && importer.limit.as_deref().is_some_and(leaves) {
            return self.missing(importer, specifier).into();
        }
        let (form, mode) = Form::decode(request.form);
        match form {
            Form::ReferencePath => return self.reference_path(importer, specifier).into(),
            Form::ReferenceTypes => return self.reference_types(importer, specifier, mode).into(),
            Form::Url => return self.url(importer, specifier).into(),
            // The base of such a `require` is unknown, so neither relative paths nor the importer's own package can be resolved.
            Form::RequireElsewhere if path::is_path(specifier) || self.is_own_name(importer, specifier) => {
                return Target::Nothing.into();
            }
            _ => {}
        }
        let mode = mode.or_else(|| self.mode_of(importer, form));
        if path::is_path(specifier) {
            return self.find(importer, specifier, form, mode);
        }
        match builtins::builtin(specifier) {
            // TypeScript treats specifiers with other schemes like any module, so `paths` may map them to a file.
            Some(id) if builtins::is_node(&id) => return Target::Builtin(id.into()).into(),
            Some(id) if importer.config.paths.is_empty() => return Target::Builtin(id.into()).into(),
            Some(_) | None => {}
        }
        let key = bare_key(importer, specifier, form, mode);
        self.bare.get_or(&*key, || self.find(importer, specifier, form, mode))
    }

    /// Whether a specifier names the importer's own package.
    fn is_own_name(&self, importer: &Importer, specifier: &str) -> bool {
        let package = self.packages.scope(&importer.directory);
        package.is_some_and(|package| package.name() == Some(path::split_package_name(specifier).0))
    }

    fn find(&self, importer: &Importer, specifier: &str, form: Form, mode: Option<ModuleSystem>) -> Located {
        let refusals = self.files.refusals();
        match self.find_file(importer, specifier, form, mode) {
            fallback::FallbackTarget::File { path, is_lenient } => {
                let target = self.place(&path, importer, specifier);
                let implementation = match &target {
                    Target::File(real) => self.implementation(importer, specifier, form, mode, real),
                    _ => None,
                };
                Located { is_lenient: is_lenient && matches!(target, Target::File(_)), target, implementation }
            }
            fallback::FallbackTarget::Builtin(id) => Target::Builtin(id.into()).into(),
            fallback::FallbackTarget::Nothing if form.is_edge_only_to_files() => Target::Nothing.into(),
            fallback::FallbackTarget::Nothing => {
                self.ask_for_package(importer, specifier);
                self.missing_since(importer, specifier, refusals).into()
            }
        }
    }

    /// A missing target, with the reason if a lookup was refused since `refusals` was read.
    fn missing_since(&self, importer: &Importer, specifier: &str, refusals: u64) -> Target {
        match self.missing(importer, specifier) {
            Target::Missing { id, .. } if self.files.refusals() != refusals => {
                let problem = if self.options.outside_root { NEEDS_CONSENT } else { FORBIDDEN };
                Target::Missing { id, problem: Some(problem.into()) }
            }
            target => target,
        }
    }

    /// Patterns for matching: an alias such as `@/pages/*.vue` is replaced by its mapping, relative to the importer.
    pub fn glob_patterns(&self, importer: &Importer, patterns: &[Box<str>]) -> Vec<String> {
        let mut expanded = Vec::with_capacity(patterns.len());
        for pattern in patterns {
            let (mark, text) = match pattern.strip_prefix('!') {
                Some(text) => ("!", text),
                None => ("", &**pattern),
            };
            let targets = match path::is_path(text) || text.starts_with('*') {
                true => None,
                false => algorithm::matching_path_targets(&importer.config, text),
            };
            match targets {
                None => expanded.push(pattern.to_string()),
                Some(targets) => {
                    let directory = &importer.directory;
                    let relative = |target: String| relative_path(directory, &target);
                    expanded.extend(targets.into_iter().map(|target| format!("{mark}{}", relative(target))));
                }
            }
        }
        expanded
    }

    /// The existing `node_modules` folders at or above a directory, nearest first.
    fn node_modules(&self, directory: &str) -> Arc<[Box<str>]> {
        self.node_modules.get_or(directory, || {
            let own = path::join_plain(directory, "node_modules");
            let has_own = path::base_name(directory) != "node_modules" && self.files.is_dir(&own);
            // Packages installed around a link are not visible from the package that it points to.
            let is_top = directory == "/"
                || (self.files.is_in_linked_package(directory)
                    && self.packages.at(directory).is_some_and(|package| package.name().is_some()));
            let above = if is_top { Arc::from([]) } else { self.node_modules(path::parent(directory)) };
            if !has_own {
                return above;
            }
            std::iter::once(own.into_boxed_str()).chain(above.iter().cloned()).collect()
        })
    }

    fn reference_path(&self, importer: &Importer, specifier: &str) -> Target {
        let refusals = self.files.refusals();
        let candidate = path::join(&importer.directory, specifier);
        let found = ["", ".ts", ".tsx", ".d.ts"]
            .iter()
            .map(|extension| format!("{candidate}{extension}"))
            .find(|candidate| self.files.is_file(candidate));
        match found {
            Some(found) => self.place(&found, importer, specifier),
            None => self.missing_since(importer, specifier, refusals),
        }
    }

    fn reference_types(&self, importer: &Importer, specifier: &str, mode: Option<ModuleSystem>) -> Target {
        let refusals = self.files.refusals();
        let lookup = || Lookup::type_directive(self, &importer.config, &importer.directory, mode);
        let installed = lookup().resolve_type_directive(specifier);
        match installed.or_else(|| lookup().with_links().resolve_type_directive(specifier)) {
            Some(found) => self.place(&found, importer, specifier),
            None => {
                self.ask_for_package(importer, specifier);
                self.missing_since(importer, specifier, refusals)
            }
        }
    }

    /// `new URL('x', import.meta.url)`: a URL relative to the file, so only relative paths resolve.
    fn url(&self, importer: &Importer, specifier: &str) -> Target {
        let end = specifier.find(['?', '#']).unwrap_or(specifier.len());
        let text = &specifier[..end];
        let has_scheme = text.split_once(':').is_some_and(|(scheme, _)| {
            scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '.' | '-'))
        });
        if text.is_empty() || has_scheme || text.starts_with('/') {
            return Target::Nothing;
        }
        let Some(decoded) = percent_decode(text) else { return Target::Nothing };
        let candidate = path::join(&importer.directory, &decoded);
        if !self.files.is_file(&candidate) {
            return Target::Nothing;
        }
        match self.place(&candidate, importer, specifier) {
            Target::Missing { .. } => Target::Nothing,
            target => target,
        }
    }

    /// Turns an existing, readable path into a target: resolves symlinks, and accepts only modules outside the repository.
    fn place(&self, found: &str, importer: &Importer, specifier: &str) -> Target {
        let Some(real) = self.files.real_path(found) else { return self.missing(importer, specifier) };
        if self.is_hidden(&real) {
            return self.missing(importer, specifier);
        }
        let is_module = path::is_script(&real) || real.ends_with(".json");
        if path::contains(&self.root, &real) || path::in_node_modules(&real) || is_module {
            return Target::File(real.into());
        }
        const NO_MODULE: &str = "leads outside the root to a file that is neither a script, a declaration nor JSON";
        match self.missing(importer, specifier) {
            Target::Missing { id, .. } => Target::Missing { id, problem: Some(NO_MODULE.into()) },
            target => target,
        }
    }

    /// Looks up the folders of a bare specifier again, only to count refusals: an answer from the shared cache counts none, and
    /// whether a refusal is reported must not depend on which file was resolved first.
    fn ask_for_package(&self, importer: &Importer, specifier: &str) {
        if path::is_path(specifier) {
            return;
        }
        let (name, _) = path::split_package_name(specifier);
        for directory in path::ancestors(&importer.directory) {
            let folder = path::join_plain(directory, "node_modules");
            if self.files.is_dir(&folder) {
                self.files.kind(&path::join_plain(&folder, name));
            }
        }
    }

    /// The node of a missing target: its id is the path that it would have had, or the specifier as written.
    fn missing(&self, importer: &Importer, specifier: &str) -> Target {
        let as_written = || Target::Missing { id: specifier.into(), problem: None };
        if !path::is_relative(specifier) {
            return as_written();
        }
        let text = specifier.split('?').next().unwrap_or(specifier);
        let absolute = path::join_plain(&importer.directory, text);
        match stan_repo::AbsPath::new(&self.root).below(&absolute) {
            Some(inside) if !inside.is_empty() => Target::Missing { id: inside.into(), problem: None },
            _ => as_written(),
        }
    }

    /// Yarn's Plug'n'Play stores packages in archives, which are not read. Reported once, because all imports of packages are
    /// missing.
    fn plug_and_play(&self) -> Option<Problem> {
        let is_there = |name: &&str| self.files.is_file(&path::join_plain(&self.root, name));
        let name = [".pnp.cjs", ".pnp.js"].into_iter().find(is_there)?;
        const MESSAGE: &str = "this repository is installed by Yarn's Plug'n'Play; packages in its archives are not \
                               resolved, so that imports of them are missing";
        Some(Problem::new(name, MESSAGE))
    }

    /// The mode of a form without an explicit mode.
    fn mode_of(&self, importer: &Importer, form: Form) -> Option<ModuleSystem> {
        match form {
            Form::Require | Form::RequireParam | Form::RequireResolve | Form::RequireElsewhere => {
                Some(ModuleSystem::Require)
            }
            Form::MetaResolve => Some(ModuleSystem::Import),
            Form::Augment => None,
            Form::ImportEquals => syntax_matters(&importer.config).then_some(ModuleSystem::Require),
            Form::DynamicImport => importer.import_call_mode,
            _ => importer.static_mode,
        }
    }

    /// The modes of static imports and of `import()` in a file, from its extension, the package's `type`, and `module`.
    fn modes(&self, file: &str, config: &Config) -> (Option<ModuleSystem>, Option<ModuleSystem>) {
        // Script blocks are compiled by a bundler, for which the form of an import does not matter.
        if !syntax_matters(config) || !path::is_script(file) {
            return (None, None);
        }
        let format = self.emit_format(file, config);
        let static_mode = match (format, config.module) {
            (Some(mode), _) => Some(mode),
            (None, ModuleKind::CommonJs) => Some(ModuleSystem::Require),
            (None, kind) if is_es(kind) || kind == ModuleKind::Preserve => Some(ModuleSystem::Import),
            _ => None,
        };
        let call_mode = match (config.module, format) {
            (kind, _) if is_node(kind) || kind == ModuleKind::Preserve => ModuleSystem::Import,
            (_, Some(mode)) => mode,
            (kind, None) if is_es(kind) => ModuleSystem::Import,
            (_, None) => ModuleSystem::Require,
        };
        (static_mode, Some(call_mode))
    }

    /// The module format that TypeScript would emit for the file, if the file itself determines it.
    fn emit_format(&self, file: &str, config: &Config) -> Option<ModuleSystem> {
        let ends = |extensions: [&str; 2]| extensions.iter().any(|extension| file.ends_with(extension));
        if ends([".mts", ".mjs"]) {
            return Some(ModuleSystem::Import);
        }
        if ends([".cts", ".cjs"]) {
            return Some(ModuleSystem::Require);
        }
        let is_node16 = matches!(config.module_resolution, ModuleResolution::Node16 | ModuleResolution::NodeNext);
        if !path::is_script(file) || !(is_node16 || path::in_node_modules(file)) {
            return None;
        }
        let scope = self.packages.scope(path::parent(file));
        let declared = scope.as_ref().and_then(|package| package.text("type"));
        match declared {
            Some("module") => Some(ModuleSystem::Import),
            Some("commonjs") => Some(ModuleSystem::Require),
            _ => is_node(config.module).then_some(ModuleSystem::Require),
        }
    }
}

impl ProjectResolver for Resolver<'_> {
    fn prepare(&self) {
        self.links.read();
    }

    fn worker<'r>(&'r self, table: &'r dyn TargetTable) -> Box<dyn FileResolver + 'r> {
        Box::new(file_resolver::TypeScriptFileResolver::new(self, table))
    }

    fn package_of(&self, file: &str) -> Option<String> {
        self.package_of(file)
    }

    fn finish(&self) -> Vec<Problem> {
        self.record_package_observations();
        let mut problems = self.links.read().1.clone();
        problems.extend(self.configs.problems());
        problems.extend(self.plug_and_play());
        problems
    }
}

/// The inputs of the answer for a bare specifier: text, folder, configuration, mode, kind of form.
fn bare_key(importer: &Importer, specifier: &str, form: Form, mode: Option<ModuleSystem>) -> String {
    let mode = match mode {
        None => "?",
        Some(ModuleSystem::Import) => "i",
        Some(ModuleSystem::Require) => "r",
    };
    let form = match form {
        Form::RequireParam => "p",
        Form::RequireElsewhere => "e",
        Form::Require | Form::RequireResolve => "r",
        _ => "",
    };
    let config = importer.config.file.as_deref().unwrap_or("");
    [specifier, "\0", &importer.directory, "\0", config, "\0", mode, form].concat()
}

/// The relative path from a directory to a path, starting with `./` or `../`.
fn relative_path(directory: &str, target: &str) -> String {
    let common = path::ancestors(directory).find(|ancestor| path::contains(ancestor, target)).unwrap_or("/");
    let depth = directory[common.trim_end_matches('/').len()..].split('/').filter(|part| !part.is_empty()).count();
    let rest = target[common.trim_end_matches('/').len()..].trim_start_matches('/');
    if depth == 0 { format!("./{rest}") } else { format!("{}{rest}", "../".repeat(depth)) }
}

fn is_es(kind: ModuleKind) -> bool {
    (ModuleKind::Es2015..=ModuleKind::EsNext).contains(&kind)
}

fn is_node(kind: ModuleKind) -> bool {
    (ModuleKind::Node16..=ModuleKind::NodeNext).contains(&kind)
}

/// Whether `import` and `require` of one specifier may resolve to different files.
fn syntax_matters(config: &Config) -> bool {
    match config.module_resolution {
        ModuleResolution::Node16 | ModuleResolution::NodeNext => true,
        ModuleResolution::Bundler => {
            config.resolve_package_json_exports != Some(false) || config.resolve_package_json_imports != Some(false)
        }
        ModuleResolution::Node10 => false,
    }
}

fn percent_decode(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        if let (b'%', Some(hex)) = (first, tail.get(..2)) {
            bytes.push(u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests;
