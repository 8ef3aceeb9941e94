//! Resolves module names to files, by Python's own rules on an explicit search path. All file access goes through a `Files` view,
//! so that it can be recorded.
//!
//! `search.rs` defines where absolute names are searched, `roots.rs` and `environments.rs` the folders that projects and virtual
//! environments add, and `folders.rs` lists the modules of one folder. Neither `sys.path` nor an installed Python affects an
//! answer.

mod builtins;
mod environments;
mod folders;
mod roots;
mod search;
mod setup;
#[cfg(test)]
mod tests;
mod worker;

use std::sync::Arc;

use stan_model::Problem;
use stan_repo::Files;

use self::folders::Folders;
use self::search::{SearchPath, Surroundings};
use super::extract::bindings::Bindings;
use super::form::{Form, is_module_named, split_level};
use crate::language::{FileResolver, ProjectResolver, Target, TargetTable};
use crate::memo::Memo;
use crate::paths::{contains, join_plain, parent};
use crate::project::Project;

/// The site-packages folder of a virtual environment.
const SITE: &str = "/site-packages/";

/// Resolves requests. Shared by threads; answers depend only on the `Files`, never on the order of calls.
pub struct Resolver<'f> {
    project: &'f Project<'f>,
    files: &'f dyn Files,
    root: Box<str>,
    folders: Folders<'f>,
    search_paths: Memo<String, Arc<SearchPath>>,
    surroundings: Memo<String, Arc<Surroundings>>,
    /// The text of a package's `__init__` file and the names that it binds.
    bindings: Memo<String, Arc<Package>>,
}

/// A parsed `__init__` file.
#[derive(Default)]
struct Package {
    text: Option<Arc<[u8]>>,
    bindings: std::sync::OnceLock<Bindings>,
}

/// The target of a dotted name.
#[derive(Clone, Debug)]
struct Module {
    /// `None` for a namespace package.
    file: Option<String>,
    /// The folders of its submodules; empty for a plain module.
    locations: Vec<Arc<str>>,
}

/// The importing file.
#[derive(Clone, Copy)]
struct Importer<'a> {
    folder: &'a str,
    /// Imports in a stub prefer stubs.
    is_stub: bool,
}

impl<'f> Resolver<'f> {
    pub fn new(project: &'f Project<'f>) -> Self {
        let root = project.root.trim_end_matches('/');
        Self {
            project,
            files: project.files,
            root: if root.is_empty() { "/" } else { root }.into(),
            folders: Folders::new(project.files),
            search_paths: Memo::new(),
            surroundings: Memo::new(),
            bindings: Memo::new(),
        }
    }

    /// Resolves one request.
    fn resolve(&self, importer: Importer<'_>, specifier: &str, form: Form) -> Target {
        match form {
            Form::Module => self.module_target(importer, specifier),
            Form::Name => self.name_target(importer, specifier),
            Form::Resource => self.resource_target(importer, specifier),
        }
    }

    fn module_target(&self, importer: Importer<'_>, specifier: &str) -> Target {
        let (level, dotted) = split_level(specifier);
        if level == 0 && builtins::is_standard(first_part(dotted)) {
            return builtin(dotted);
        }
        match self.module(importer, level, dotted) {
            Some(module) => self.file_target(importer, &module),
            None => self.missing(importer, level, dotted),
        }
    }

    /// Resolves `from module import name`: to the module of that name, unless the package binds the name to something else.
    fn name_target(&self, importer: Importer<'_>, specifier: &str) -> Target {
        let (level, dotted) = split_level(specifier);
        let (module, name) = dotted.rsplit_once('.').unwrap_or(("", dotted));
        if level == 0 && builtins::is_standard(first_part(module)) {
            return builtin(module);
        }
        let Some(module) = self.module(importer, level, module) else { return self.missing(importer, level, module) };
        if !module.locations.is_empty()
            && let Some(submodule) = self.component(name, &module.locations)
            && !module.file.as_deref().is_some_and(|file| self.binds(file, name))
        {
            return self.file_target(importer, &submodule);
        }
        self.file_target(importer, &module)
    }

    /// Resolves a data file of a package, or the package itself if no file is named.
    fn resource_target(&self, importer: Importer<'_>, specifier: &str) -> Target {
        let (package, path) = specifier.split_once(':').unwrap_or((specifier, ""));
        let (level, dotted) = split_level(package);
        if level == 0 && builtins::is_standard(first_part(dotted)) {
            return Target::Nothing;
        }
        let Some(module) = self.module(importer, level, dotted) else { return Target::Nothing };
        if path.is_empty() {
            return self.file_target(importer, &module);
        }
        let candidates = module.locations.iter().map(|folder| join_plain(folder, path));
        let found = candidates.filter(|path| self.files.is_file(path)).find_map(|path| self.real_file(&path));
        found.map_or(Target::Nothing, |path| Target::File(path.into()))
    }

    /// The module of a dotted name, from the importer's search path or relative to its package.
    fn module(&self, importer: Importer<'_>, level: usize, dotted: &str) -> Option<Module> {
        if level == 0 {
            let path = self.search_path(importer.folder);
            return self.walk(dotted, &path.folders).or_else(|| self.walk(&stub_package(dotted), &path.folders));
        }
        let folder = self.folder_of_level(importer.folder, level)?;
        if dotted.is_empty() {
            let file = self.folders.get(folder).package_file().map(|name| join_plain(folder, name));
            return Some(Module { file, locations: vec![folder.into()] });
        }
        self.walk(dotted, &[folder.into()])
    }

    /// The folder that a relative import starts from; `None` outside the repository.
    fn folder_of_level<'a>(&self, folder: &'a str, level: usize) -> Option<&'a str> {
        let mut current = folder;
        for _ in 1..level {
            current = parent(current);
            if !contains(&self.root, current) {
                return None;
            }
        }
        Some(current)
    }

    fn walk(&self, dotted: &str, path: &[Arc<str>]) -> Option<Module> {
        let mut parts = dotted.split('.');
        let mut module = self.component(parts.next()?, path)?;
        for part in parts {
            module = self.component(part, &module.locations)?;
        }
        Some(module)
    }

    /// Looks up one name in several folders, like Python's path finder: the first package or module wins, and folders without
    /// `__init__` together form one namespace package. If Python finds nothing, a stub is used.
    fn component(&self, name: &str, path: &[Arc<str>]) -> Option<Module> {
        let mut portions: Vec<Arc<str>> = Vec::new();
        for folder in path {
            let listing = self.folders.get(folder);
            let Some(entry) = listing.get(name) else { continue };
            if entry.folder {
                let inner: Arc<str> = join(folder, name).into();
                let package = self.folders.get(&inner);
                if package.is_package() {
                    let init = package.get("__init__");
                    let native = init.and_then(|init| init.native.as_deref());
                    let file = join(&inner, native.unwrap_or("__init__.py"));
                    return Some(Module { file: Some(file), locations: vec![inner] });
                }
                portions.push(inner);
            }
            if let Some(native) = &entry.native {
                return Some(Module { file: Some(join(folder, native)), locations: Vec::new() });
            }
            if entry.source {
                return Some(Module { file: Some(join(folder, &[name, ".py"].concat())), locations: Vec::new() });
            }
        }
        self.stub(name, path).or_else(|| (!portions.is_empty()).then_some(Module { file: None, locations: portions }))
    }

    fn stub(&self, name: &str, path: &[Arc<str>]) -> Option<Module> {
        for folder in path {
            let listing = self.folders.get(folder);
            let Some(entry) = listing.get(name) else { continue };
            if entry.folder {
                let inner: Arc<str> = join(folder, name).into();
                if self.folders.get(&inner).has_stub_package() {
                    return Some(Module { file: Some(join(&inner, "__init__.pyi")), locations: vec![inner] });
                }
            }
            if entry.stub {
                return Some(Module { file: Some(join(folder, &[name, ".pyi"].concat())), locations: Vec::new() });
            }
        }
        None
    }

    /// Whether a package binds a name to anything but a submodule.
    fn binds(&self, init: &str, name: &str) -> bool {
        let package =
            self.bindings.get_or(init, || Arc::new(Package { text: self.files.read(init), ..Package::default() }));
        let Some(text) = &package.text else { return false };
        // A cheap check before parsing: most packages do not even mention the modules that are imported from them.
        if memchr::memmem::find(text, name.as_bytes()).is_none() {
            return false;
        }
        package.bindings.get_or_init(|| Bindings::of_file(init, text)).is_attribute(name)
    }

    /// The target of a module: its file, or nothing for a namespace package.
    fn file_target(&self, importer: Importer<'_>, module: &Module) -> Target {
        let Some(file) = &module.file else { return Target::Nothing };
        let chosen = self.twin(importer, file);
        match self.real_file(chosen.as_deref().unwrap_or(file)) {
            Some(path) => Target::File(path.into()),
            None => Target::Nothing,
        }
    }

    /// The `__init__` files of the packages that contain a module of the repository: Python runs them before the module. Those
    /// that also contain the importer are left out, because they ran before it.
    fn packages_above(&self, importer: Importer<'_>, specifier: &str, form: Form, file: &str) -> Vec<String> {
        if file.contains(SITE) {
            return Vec::new();
        }
        let (_, dotted) = split_level(specifier);
        let is_attribute = form == Form::Name && !is_module_named(file, specifier);
        let packages = dotted.matches('.').count().saturating_sub(usize::from(is_attribute));
        let is_package = file.rsplit('/').next().is_some_and(|name| name.starts_with("__init__."));
        let mut folder = if is_package { parent(parent(file)) } else { parent(file) };
        let mut found = Vec::new();
        for _ in 0..packages {
            if *folder == *self.root || !contains(&self.root, folder) || contains(folder, importer.folder) {
                break;
            }
            if let Some(name) = self.folders.get(folder).package_file() {
                let init = join(folder, name);
                let chosen = self.twin(importer, &init).unwrap_or(init);
                found.extend(self.real_file(&chosen));
            }
            folder = parent(folder);
        }
        found
    }

    /// The stub to use instead of a file: if the importer is a stub, or the file is an extension module.
    fn twin(&self, importer: Importer<'_>, file: &str) -> Option<String> {
        let folder = parent(file);
        let name = file.rsplit('/').next()?;
        let stem = match name.strip_suffix(".py") {
            Some(stem) => Some(stem).filter(|_| importer.is_stub)?,
            None if name.ends_with(".pyi") => return None,
            None => name.split('.').next()?,
        };
        let has_stub = self.folders.get(folder).get(stem).is_some_and(|entry| entry.stub);
        has_stub.then(|| join(folder, &[stem, ".pyi"].concat()))
    }

    fn real_file(&self, path: &str) -> Option<String> {
        self.files.real_path(path).filter(|real| !self.is_hidden(real))
    }

    /// stan's own folder is hidden, except for `system` and `imports`.
    fn is_hidden(&self, real: &str) -> bool {
        let below = real.strip_prefix(&*self.project.stan_folder).and_then(|rest| rest.strip_prefix('/'));
        below.is_some_and(|below| !below.starts_with("system/") && !below.starts_with("imports/"))
    }

    /// The node of an unresolved request: the dotted name, or the path that a relative import would have had.
    fn missing(&self, importer: Importer<'_>, level: usize, dotted: &str) -> Target {
        if level == 0 {
            if builtins::is_of_some_version(first_part(dotted)) {
                return builtin(dotted);
            }
            return Target::Missing { id: dotted.into(), problem: None };
        }
        let id = match self.folder_of_level(importer.folder, level) {
            Some(folder) => {
                let path = join_plain(folder, &dotted.replace('.', "/"));
                self.project.relative(&path).unwrap_or(dotted).to_owned()
            }
            None => [&".".repeat(level), dotted].concat(),
        };
        Target::Missing { id: id.into(), problem: None }
    }
}

impl ProjectResolver for Resolver<'_> {
    fn worker<'r>(&'r self, table: &'r dyn TargetTable) -> Box<dyn FileResolver + 'r> {
        Box::new(worker::PythonFileResolver::new(self, table))
    }

    /// The distribution's folder (or single file) in site-packages; `None` for files of the repository.
    fn package_of(&self, file: &str) -> Option<String> {
        let after = file.rfind(SITE)? + SITE.len();
        let rest = file.get(after..)?;
        let end = rest.find('/').unwrap_or(rest.len());
        file.get(..after + end).map(str::to_owned)
    }

    fn finish(&self) -> Vec<Problem> {
        Vec::new()
    }
}

fn builtin(dotted: &str) -> Target {
    Target::Builtin(["python:", dotted].concat().into())
}

fn first_part(dotted: &str) -> &str {
    dotted.split('.').next().unwrap_or(dotted)
}

/// The same name in a stub-only package (PEP 561).
fn stub_package(dotted: &str) -> String {
    let first = first_part(dotted);
    [first, "-stubs", dotted.get(first.len()..).unwrap_or_default()].concat()
}

fn join(folder: &str, name: &str) -> String {
    [folder.trim_end_matches('/'), "/", name].concat()
}
