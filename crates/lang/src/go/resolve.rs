//! Import paths to the files of packages, by the rules of modules: the standard library, the module around the file, other modules of
//! the repository (`replace`, `go.work`, nested ones), and `vendor` folders. Everything is asked of a `Files` view.
//!
//! All build constraints count: a package has every file of its folder, whatever system it is for.

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;
use stan_model::{EdgeKind, FileFacts, FileKey, Problem, Resolution};
use stan_repo::{EntryKind, Files};

use crate::language::{
    FactsOf, FileResolver, NameEdge, NamedFile, ProjectResolver, Resolved, Target, TargetTable, Wanted,
};
use crate::name_links;
use crate::project::Project;
use crate::typescript::resolve::memo::Memo;
use crate::typescript::resolve::path::{contains, join_plain, parent};

/// The first parts of the standard library's paths. Other paths without a dot are of modules that are not published.
#[rustfmt::skip]
const STANDARD: [&str; 51] = [
    "archive", "arena", "bufio", "builtin", "bytes", "cmp", "compress", "container", "context", "crypto", "database", "debug",
    "embed", "encoding", "errors", "expvar", "flag", "fmt", "go", "hash", "html", "image", "index", "internal", "io", "iter",
    "log", "maps", "math", "mime", "net", "os", "path", "plugin", "reflect", "regexp", "runtime", "slices", "sort", "strconv",
    "strings", "structs", "sync", "syscall", "testing", "text", "time", "unicode", "unique", "unsafe", "weak",
];

/// Real ones are far smaller.
const LARGEST_MANIFEST: usize = 1 << 20;

/// The project of one run.
pub struct Resolver<'f> {
    project: &'f Project<'f>,
    files: &'f dyn Files,
    root: Box<str>,
    /// Files of packages by folder.
    members: Memo<String, Option<Target>>,
    /// Answers by the folder that asks and the path.
    module_of: Memo<String, Option<Arc<Module>>>,
    modules: OnceLock<FxHashMap<Box<str>, Box<str>>>,
    /// Names that the files of a folder declare.
    scopes: Memo<String, Arc<Scope>>,
}

/// A module: its folder, path, and local replacements.
#[derive(Debug)]
struct Module {
    folder: Box<str>,
    path: Box<str>,
    replaced: Vec<(Box<str>, Box<str>)>,
}

/// The files of a folder that declare a name.
#[derive(Default)]
struct Scope {
    declaring: FxHashMap<Box<str>, Vec<Declaring>>,
}

#[derive(Clone)]
struct Declaring {
    file: FileKey,
    package: Option<Box<str>>,
    is_test: bool,
}

impl<'f> Resolver<'f> {
    pub fn new(project: &'f Project<'f>) -> Self {
        let root = project.root.trim_end_matches('/');
        Self {
            project,
            files: project.files,
            root: if root.is_empty() { "/" } else { root }.into(),
            members: Memo::new(),
            module_of: Memo::new(),
            modules: OnceLock::new(),
            scopes: Memo::new(),
        }
    }

    fn resolve(&self, folder: &str, path: &str) -> Target {
        let missing = || Target::Missing { id: path.into(), problem: None };
        if path.starts_with("./") || path.starts_with("../") || path == "." || path == ".." {
            let target = join_plain(folder, path);
            let inside = contains(&self.root, &target);
            return inside.then(|| self.package(&target)).flatten().unwrap_or_else(missing);
        }
        let found = self.vendored(folder, path).or_else(|| self.in_modules(folder, path));
        found.unwrap_or_else(|| {
            let first = path.split('/').next().unwrap_or(path);
            match STANDARD.binary_search(&first) {
                Ok(_) => Target::Builtin(["go:", path].concat().into()),
                Err(_) => missing(),
            }
        })
    }

    /// The package in a `vendor` folder at or above the file.
    fn vendored(&self, folder: &str, path: &str) -> Option<Target> {
        let mut current = folder;
        while contains(&self.root, current) {
            let vendor = join_plain(current, "vendor");
            if self.files.is_dir(&vendor)
                && let Some(found) = self.package(&join_plain(&vendor, path))
            {
                return Some(found);
            }
            if *current == *self.root {
                break;
            }
            current = parent(current);
        }
        None
    }

    fn in_modules(&self, folder: &str, path: &str) -> Option<Target> {
        if let Some(module) = self.module(folder) {
            if let Some(below) = below(path, &module.path) {
                return self.package(&join_plain(&module.folder, below));
            }
            for (replaced, by) in &module.replaced {
                if let Some(below) = below(path, replaced) {
                    let target = join_plain(&join_plain(&module.folder, by), below);
                    return contains(&self.root, &target).then(|| self.package(&target)).flatten();
                }
            }
        }
        // The longest path of a module of the repository.
        let mut prefix = path;
        loop {
            if let Some(folder) = self.all_modules().get(prefix) {
                return self.package(&join_plain(folder, below(path, prefix)?));
            }
            prefix = prefix.rsplit_once('/')?.0;
        }
    }

    /// The module around a folder.
    fn module(&self, folder: &str) -> Option<Arc<Module>> {
        self.module_of.get_or(folder, || {
            if !contains(&self.root, folder) {
                return None;
            }
            let own = self.read_module(folder);
            own.map(Arc::new).or_else(|| (*folder != *self.root).then(|| self.module(parent(folder))).flatten())
        })
    }

    fn read_module(&self, folder: &str) -> Option<Module> {
        let path = join_plain(folder, "go.mod");
        if !self.files.is_file(&path) {
            return None;
        }
        let bytes = self.files.read(&path).filter(|bytes| bytes.len() <= LARGEST_MANIFEST)?;
        parse_module(&String::from_utf8_lossy(&bytes), folder)
    }

    /// Every module of the repository by its path.
    fn all_modules(&self) -> &FxHashMap<Box<str>, Box<str>> {
        self.modules.get_or_init(|| {
            let manifests = self.project.universe.iter().filter(|path| *path == "go.mod" || path.ends_with("/go.mod"));
            let folders = manifests.map(|path| join_plain(&self.root, path.strip_suffix("go.mod").unwrap_or_default()));
            let modules = folders.filter_map(|folder| self.read_module(&folder));
            modules.map(|module| (module.path, module.folder)).collect()
        })
    }

    /// The files of a package; tests belong to no importer.
    fn package(&self, folder: &str) -> Option<Target> {
        self.members.get_or(folder, || {
            let is_member = |(name, kind): &(String, EntryKind)| {
                *kind == EntryKind::File && name.ends_with(".go") && !is_test(name) && !name.starts_with(['_', '.'])
            };
            let names = self.files.list(folder).into_iter().filter(is_member);
            let paths = names.filter_map(|(name, _)| self.files.real_path(&join_plain(folder, &name)).map(Arc::from));
            let members: Vec<Arc<str>> = paths.collect();
            match members.as_slice() {
                [] => None,
                [one] => Some(Target::File(one.clone())),
                _ => Some(Target::Files(members.into())),
            }
        })
    }

    /// Where the names of a folder's files are declared.
    fn scope(&self, folder: &str, facts: &dyn FactsOf) -> Arc<Scope> {
        self.scopes.get_or(folder, || {
            let mut scope = Scope::default();
            for (name, kind) in self.files.list(folder) {
                if kind != EntryKind::File || !name.ends_with(".go") {
                    continue;
                }
                let key = facts.key_of(&join_plain(folder, &name));
                let Some((key, known)) = key.and_then(|key| Some((key, facts.facts(key)?))) else { continue };
                let declaring = Declaring { file: key, package: known.package.clone(), is_test: is_test(&name) };
                for declared in &known.declares {
                    scope.declaring.entry(declared.clone()).or_default().push(declaring.clone());
                }
            }
            Arc::new(scope)
        })
    }
}

impl ProjectResolver for Resolver<'_> {
    fn worker<'r>(&'r self, table: &'r dyn TargetTable) -> Box<dyn FileResolver + 'r> {
        Box::new(Worker { resolver: self, table })
    }

    fn package_of(&self, _: &str) -> Option<String> {
        None
    }

    fn package_files(&self, file: &str) -> Vec<String> {
        let folder = parent(file);
        let clause = |path: &str| self.files.read(path).and_then(|bytes| package_clause(&bytes).map(str::to_owned));
        let Some(package) = clause(file) else { return Vec::new() };
        let names = self.files.list(folder).into_iter().filter(|(name, kind)| {
            *kind == EntryKind::File && name.ends_with(".go") && (is_test(file) || !is_test(name))
        });
        let paths = names.map(|(name, _)| join_plain(folder, &name));
        paths.filter(|path| path != file && clause(path).as_deref() == Some(&*package)).collect()
    }

    fn link_by_name(&self, file: &NamedFile<'_>, facts: &dyn FactsOf) -> Vec<NameEdge> {
        let mut edges = name_links::link(&NamedFile { facts: file.facts, ..*file }, &[], facts);
        let scope = self.scope(parent(file.path), facts);
        let asks_from_test = is_test(file.path);
        for name in &file.facts.uses {
            let declaring = scope.declaring.get(name).into_iter().flatten();
            let seen = declaring.filter(|one| one.package == file.facts.package && (asks_from_test || !one.is_test));
            edges.extend(seen.filter(|one| one.file != file.key).map(|one| NameEdge {
                target: one.file,
                kind: EdgeKind::Runtime,
                resolution: Resolution::Implicit,
            }));
        }
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    fn finish(&self) -> Vec<Problem> {
        Vec::new()
    }
}

struct Worker<'r> {
    resolver: &'r Resolver<'r>,
    table: &'r dyn TargetTable,
}

impl FileResolver for Worker<'_> {
    fn resolve(&mut self, file: &str, facts: &FileFacts, _: Wanted, found: &mut Resolved) {
        let folder = parent(file);
        let targets = facts.requests.iter().map(|request| self.resolver.resolve(folder, &request.specifier));
        found.answers.extend(targets.map(|target| self.table.answer(&target)));
    }
}

fn is_test(path: &str) -> bool {
    path.ends_with("_test.go")
}

/// The name in the package clause, which only comments may precede.
fn package_clause(bytes: &[u8]) -> Option<&str> {
    let mut rest = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    loop {
        rest = rest.trim_ascii_start();
        if rest.starts_with(b"//") {
            rest = rest.get(memchr::memchr(b'\n', rest)?..)?;
        } else if rest.starts_with(b"/*") {
            rest = rest.get(memchr::memmem::find(rest, b"*/")? + 2..)?;
        } else {
            break;
        }
    }
    let name = rest.strip_prefix(b"package")?.trim_ascii_start();
    let end = name.iter().position(|byte| byte.is_ascii_whitespace() || matches!(byte, b';' | b'/'));
    std::str::from_utf8(name.get(..end.unwrap_or(name.len()))?).ok().filter(|name| !name.is_empty())
}

/// The rest of a path behind the path of a module; empty for the module itself.
fn below<'p>(path: &'p str, module: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(module)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

/// Lines of `module`, and of `replace` with a folder, alone or in parentheses.
fn parse_module(text: &str, folder: &str) -> Option<Module> {
    let mut path = None;
    let mut replaced = Vec::new();
    let mut block = "";
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        let mut words = line.split_whitespace().map(|word| word.trim_matches(['"', '`']));
        let Some(first) = words.next() else { continue };
        if first == ")" {
            block = "";
            continue;
        }
        let (keyword, rest): (&str, Vec<&str>) = match block {
            "" => (first, words.collect()),
            block => (block, std::iter::once(first).chain(words).collect()),
        };
        match (keyword, rest.as_slice()) {
            (keyword, ["(", ..]) if block.is_empty() => block = keyword,
            ("module", [module, ..]) => path = path.or(Some(*module)),
            ("replace", words) => {
                let arrow = words.iter().position(|word| *word == "=>");
                let (old, new) = (words.first(), arrow.and_then(|arrow| words.get(arrow + 1)));
                if let (Some(old), Some(new)) = (old, new.filter(|new| new.starts_with('.'))) {
                    replaced.push(((*old).into(), (*new).into()));
                }
            }
            _ => {}
        }
    }
    Some(Module { folder: folder.into(), path: path?.into(), replaced })
}
