//! A tiny language for modules, one per line: `name: item; item`. Items read like the real thing, without quotes.
//!
//! `export x` and `export default` declare; `export {a as b} from m`, `export * from m`, `export * as n from m`,
//! `import {a as b} from m`, `import d from m`, `import * as n from m`, `import n = require m`, `import m`,
//! `export {a}`, `export = a` and `type` in its usual places mean what they mean in TypeScript.
//! A module without a line of its own cannot be analysed; one that starts with `!` does not exist; `p/x` is file `x`
//! of the external package `p`.

use std::collections::BTreeMap;

use stan_model::EdgeKind;
use stan_model::FileFacts;
use stan_model::facts::{Export, ExportSource, FormCode, ImportedName, Request};

use crate::tunnel::{FileKey, Module, Modules, Tunneller};

#[derive(Default, Debug)]
pub(super) struct Fixture {
    pub(super) names: Vec<String>,
    pub(super) modules: Vec<(FileFacts, Vec<Option<FileKey>>)>,
}

/// A module to be pushed.
#[derive(Clone, Debug, Default)]
pub(super) struct Sketch {
    pub(super) exports: Vec<(String, Source)>,
    pub(super) stars: Vec<Option<u32>>,
    pub(super) imports: Vec<(u32, String)>,
}

#[derive(Clone, Debug)]
pub(super) enum Source {
    Local,
    Name(Option<u32>, String),
    Namespace(Option<u32>),
}

impl Modules for Fixture {
    fn module(&self, file: FileKey) -> Option<Module<'_>> {
        self.modules.get(file.0 as usize).map(|(facts, targets)| Module { facts, targets })
    }

    fn may_enter(&self, from: FileKey, to: FileKey) -> bool {
        let package = |file: FileKey| self.names[file.0 as usize].split_once('/').map(|(package, _)| package);
        package(from).is_none() || package(from) == package(to)
    }
}

impl Fixture {
    pub(super) fn parse(text: &str) -> Self {
        let lines: Vec<(&str, &str)> =
            text.lines().filter(|line| !line.trim().is_empty()).map(|line| line.split_once(':').unwrap()).collect();
        let mut fixture = Self::default();
        fixture.names.extend(lines.iter().map(|(name, _)| name.trim().to_owned()));
        for (_, items) in lines {
            let mut parser = ModuleParser::new(&mut fixture);
            let items: Vec<&str> = items.split(';').map(str::trim).filter(|item| !item.is_empty()).collect();
            // Bindings are hoisted: an export may come before the import that it passes on.
            let (imports, exports): (Vec<&str>, Vec<&str>) = items.iter().partition(|item| item.starts_with("import"));
            for item in imports.into_iter().chain(exports) {
                parser.item(item);
            }
            let (mut facts, targets) = (parser.facts, parser.targets);
            facts.exports.sort_by(|a, b| a.name.cmp(&b.name));
            fixture.modules.push((facts, targets));
        }
        fixture
    }

    /// Adds a module without text, for tests that need many. Files are numbers: the first module is 0.
    pub(super) fn push(&mut self, name: String, sketch: Sketch) {
        let mut facts = FileFacts::default();
        let mut targets = Vec::new();
        let mut request = |file: Option<u32>| {
            targets.push(file.map(FileKey));
            targets.len() as u32 - 1
        };
        for (name, source) in sketch.exports {
            let source = match source {
                Source::Local => ExportSource::Local,
                Source::Name(file, name) => ExportSource::Name { request: request(file), name: name.into() },
                Source::Namespace(file) => ExportSource::Namespace { request: request(file) },
            };
            facts.exports.push(Export { name: name.into(), source });
        }
        facts.exports.sort_by(|a, b| a.name.cmp(&b.name));
        facts.stars = sketch.stars.into_iter().map(&mut request).collect();
        for (file, name) in sketch.imports {
            let request = request(Some(file));
            facts.imports.push(ImportedName { request, name: name.into(), kind: EdgeKind::Runtime });
        }
        self.names.push(name);
        self.modules.push((facts, targets));
    }

    pub(super) fn key(&self, name: &str) -> FileKey {
        FileKey(self.names.iter().position(|other| other == name).unwrap() as u32)
    }

    /// The implicit edges of a file: `b type:c`.
    pub(super) fn edges_of(&self, tunneller: &Tunneller<'_>, file: &str) -> String {
        let mut edges: Vec<String> = tunneller
            .implicit_edges(self.key(file))
            .edges
            .into_iter()
            .map(|(target, kind)| {
                let name = &self.names[target.0 as usize];
                if kind == EdgeKind::Type { format!("type:{name}") } else { name.clone() }
            })
            .collect();
        edges.sort();
        edges.join(" ")
    }
}

struct ModuleParser<'f> {
    fixture: &'f mut Fixture,
    facts: FileFacts,
    targets: Vec<Option<FileKey>>,
    bindings: BTreeMap<String, ExportSource>,
}

impl<'f> ModuleParser<'f> {
    fn new(fixture: &'f mut Fixture) -> Self {
        Self { fixture, facts: FileFacts::default(), targets: Vec::new(), bindings: BTreeMap::new() }
    }

    fn item(&mut self, item: &str) {
        let (head, from) = item.split_once(" from ").map_or((item, None), |(head, from)| (head, Some(from.trim())));
        let head = head.replace('{', " { ").replace('}', " } ").replace(',', " , ");
        let words: Vec<&str> = head.split_whitespace().collect();
        let request = from.map(|from| self.request(from));
        match (words.as_slice(), request) {
            (["import", module], None) => _ = self.request(module),
            (["import", name, "=", "require", module], None) => {
                let request = self.request(module);
                self.bind(name, ExportSource::Namespace { request });
            }
            (["import", "*", "as", name], Some(request)) => self.bind(name, ExportSource::Namespace { request }),
            (["import", "type", "{", list @ .., "}"], Some(request)) => self.imports(list, request, true, true),
            (["import", "{", list @ .., "}"], Some(request)) => self.imports(list, request, false, true),
            (["import", name, ",", "{", list @ .., "}"], Some(request)) => {
                self.imports(&["default", "as", name], request, false, true);
                self.imports(list, request, false, true);
            }
            (["import", name], Some(request)) => self.imports(&["default", "as", name], request, false, true),
            (["export", "*"], Some(request)) => self.facts.stars.push(request),
            (["export", "*", "as", name], Some(request)) => self.export(name, ExportSource::Namespace { request }),
            (["export", "type", "{", list @ .., "}"], Some(request)) => self.imports(list, request, true, false),
            (["export", "{", list @ .., "}"], Some(request)) => self.imports(list, request, false, false),
            (["export", "{", list @ .., "}"], None) => {
                for (_, local, exported) in specifiers(list) {
                    let source = self.bindings.get(&local).cloned().unwrap_or(ExportSource::Local);
                    self.export(&exported, source);
                }
            }
            (["export", "=", local], None) => {
                let source = self.bindings.get(*local).cloned().unwrap_or(ExportSource::Local);
                self.export("export=", source);
            }
            (["export", names @ ..], None) => names.iter().for_each(|name| self.export(name, ExportSource::Local)),
            other => panic!("not an item: {item} ({other:?})"),
        }
    }

    /// The names of an import, or of an export from another module.
    fn imports(&mut self, list: &[&str], request: u32, all_types: bool, binds: bool) {
        for (is_type, name, local) in specifiers(list) {
            let kind = if is_type || all_types { EdgeKind::Type } else { EdgeKind::Runtime };
            self.facts.imports.push(ImportedName { request, name: name.as_str().into(), kind });
            let source = ExportSource::Name { request, name: name.as_str().into() };
            if binds { self.bind(&local, source) } else { self.export(&local, source) }
        }
    }

    fn request(&mut self, module: &str) -> u32 {
        let names = &mut self.fixture.names;
        let target = (!module.starts_with('!')).then(|| {
            let known = names.iter().position(|name| name == module);
            FileKey(known.unwrap_or_else(|| {
                names.push(module.to_owned());
                names.len() - 1
            }) as u32)
        });
        self.targets.push(target);
        let (specifier, kind) = (module.into(), EdgeKind::Runtime);
        self.facts.requests.push(Request { specifier, kind, form: FormCode(0), line: 1 });
        self.facts.requests.len() as u32 - 1
    }

    fn bind(&mut self, name: &str, source: ExportSource) {
        self.bindings.insert(name.to_owned(), source);
    }

    fn export(&mut self, name: &str, source: ExportSource) {
        self.facts.exports.push(Export { name: name.into(), source });
    }
}

/// `a, type b as c` → (is type, name, local name).
fn specifiers(list: &[&str]) -> Vec<(bool, String, String)> {
    let specifier = |words: &[&str]| match words {
        ["type", name, "as", local] => (true, (*name).to_owned(), (*local).to_owned()),
        ["type", name] => (true, (*name).to_owned(), (*name).to_owned()),
        [name, "as", local] => (false, (*name).to_owned(), (*local).to_owned()),
        [name] => (false, (*name).to_owned(), (*name).to_owned()),
        other => panic!("not a specifier: {other:?}"),
    };
    list.split(|word| *word == ",").filter(|words| !words.is_empty()).map(specifier).collect()
}
