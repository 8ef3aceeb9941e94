//! One configuration file as written, and the merged configuration of a chain of `extends`.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use stan_model::Problem;
use stan_repo::Files as _;

use crate::jsonc::{self, Value};
use crate::typescript::resolve::links::Links;

use super::inside::Inside;
use super::options::{RawOptions, has_template};
use super::{Problems, extends, paths};
use extends::ExtendsScope;

/// Longer chains of `extends` are cut off: real ones are written by hand and short, and each link uses stack.
const MAX_CHAIN: usize = 100;

/// Configurations that extend each other in cycles have exponentially many paths between them; after this many steps, the rest is
/// ignored.
const MAX_STEPS: usize = 2_000;

/// A list of paths or patterns: `files`, `include` or `exclude`.
#[derive(Clone, Debug)]
pub(super) enum Specs {
    List(Vec<String>),
    /// Present, but not a list. It hides an inherited list and disables the default of `exclude`, as in TypeScript.
    NotAList,
    /// As above, with a value that is falsy in JavaScript (`false`, 0, an empty string): it hides nothing.
    Falsy,
}

impl Specs {
    /// The file's own value if it counts, otherwise the inherited one.
    fn own_or(own: Option<&Self>, inherited: Option<Self>) -> Option<Self> {
        match own {
            None => inherited,
            Some(Self::Falsy) => inherited.or(Some(Self::Falsy)),
            Some(own) => Some(own.clone()),
        }
    }
}

/// The contents of one file, without what it extends.
#[derive(Debug)]
struct Layer {
    options: RawOptions,
    files: Option<Specs>,
    include: Option<Specs>,
    exclude: Option<Specs>,
    /// The files that `extends` resolves to, in order.
    extends: Vec<String>,
    references: Vec<String>,
    /// The file could not be read or is not JSON, so it cannot be extended.
    is_broken: bool,
}

/// The contents of a file merged with everything that it extends.
#[derive(Clone, Debug, Default)]
pub(super) struct Merged {
    pub(super) options: RawOptions,
    pub(super) files: Option<Specs>,
    pub(super) include: Option<Specs>,
    pub(super) exclude: Option<Specs>,
    /// Never inherited.
    pub(super) references: Vec<String>,
}

/// Reads configuration files, each once.
pub(super) struct Layers<'f> {
    place: ExtendsScope<'f>,
    layers: Mutex<FxHashMap<String, Arc<Layer>>>,
    /// Chains without a cycle; the result of a cycle depends on its starting file.
    merged: Mutex<FxHashMap<String, Option<Merged>>>,
}

/// One walk along `extends`.
struct ExtendsWalk {
    stack: Vec<String>,
    steps: usize,
    /// Whether the walk met a cycle or a limit. Its result is then valid for this walk only.
    is_cut: bool,
}

impl<'f> Layers<'f> {
    pub(super) fn new(files: Inside<'f>) -> Self {
        Self { place: ExtendsScope::new(files), layers: Mutex::default(), merged: Mutex::default() }
    }

    pub(super) fn set_links(&mut self, links: Arc<Links<'f>>) {
        self.place.set_links(links);
    }

    /// The options and lists of a configuration, merged with everything that it extends.
    pub(super) fn load(&self, path: &str, problems: &Problems) -> Merged {
        let mut walk = ExtendsWalk { stack: Vec::new(), steps: 0, is_cut: false };
        let layer = self.layer(path, problems);
        self.merge(path, &layer, &mut walk, problems)
    }

    fn merge(&self, path: &str, layer: &Layer, walk: &mut ExtendsWalk, problems: &Problems) -> Merged {
        walk.stack.push(path.to_owned());
        let directory = paths::directory(path);
        let mut base = Merged::default();
        for parent in &layer.extends {
            let Some(inherited) = self.inherited(parent, walk, problems) else { continue };
            let from = paths::directory(parent);
            base.options = inherited.options.over(base.options);
            base.files = rebased(inherited.files, from, directory).or(base.files);
            base.include = rebased(inherited.include, from, directory).or(base.include);
            base.exclude = rebased(inherited.exclude, from, directory).or(base.exclude);
        }
        walk.stack.pop();
        Merged {
            options: layer.options.clone().over(base.options),
            files: Specs::own_or(layer.files.as_ref(), base.files),
            include: Specs::own_or(layer.include.as_ref(), base.include),
            exclude: Specs::own_or(layer.exclude.as_ref(), base.exclude),
            references: layer.references.clone(),
        }
    }

    /// The contribution of an extended file. `None` drops only this link.
    fn inherited(&self, path: &str, walk: &mut ExtendsWalk, problems: &Problems) -> Option<Merged> {
        if let Some(known) = lock(&self.merged).get(path) {
            return known.clone();
        }
        if let Some(start) = walk.stack.iter().position(|file| file == path) {
            walk.is_cut = true;
            problems.add(cycle_problem(walk.stack.get(start..).unwrap_or_default(), problems));
            return None;
        }
        walk.steps += 1;
        if walk.stack.len() >= MAX_CHAIN || walk.steps > MAX_STEPS {
            walk.is_cut = true;
            problems.report(path, None, "the chain of `extends` that leads here is too long; it is cut");
            return None;
        }
        let layer = self.layer(path, problems);
        let was_cut = std::mem::replace(&mut walk.is_cut, false);
        let merged = (!layer.is_broken).then(|| self.merge(path, &layer, walk, problems));
        if !walk.is_cut {
            lock(&self.merged).insert(path.to_owned(), merged.clone());
        }
        walk.is_cut |= was_cut;
        merged
    }

    fn layer(&self, path: &str, problems: &Problems) -> Arc<Layer> {
        if let Some(layer) = lock(&self.layers).get(path) {
            return Arc::clone(layer);
        }
        let layer = Arc::new(read_layer(&self.place, path, problems));
        Arc::clone(lock(&self.layers).entry(path.to_owned()).or_insert(layer))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The problem starts at the cycle's smallest file, so that a cycle is reported once, no matter where it is entered.
fn cycle_problem(cycle: &[String], problems: &Problems) -> Problem {
    let start = (0..cycle.len()).min_by_key(|index| cycle.get(*index)).unwrap_or(0);
    let names: Vec<String> =
        cycle.iter().cycle().skip(start).take(cycle.len() + 1).map(|file| problems.relative(file)).collect();
    let first = names.first().cloned().unwrap_or_default();
    Problem::new(first, format!("`extends` goes round in a circle: {}; the last step is left out", names.join(" -> ")))
}

/// Inherited specs are relative to the file that contains them.
fn rebased(specs: Option<Specs>, from: &str, to: &str) -> Option<Specs> {
    let list = match specs? {
        Specs::List(list) => list,
        // Inheriting a value that is not a list gives an empty list.
        Specs::NotAList => Vec::new(),
        Specs::Falsy => return None,
    };
    if from == to {
        return Some(Specs::List(list));
    }
    let rebase = |spec: String| {
        if has_template(&spec) || paths::is_rooted(&spec) {
            spec
        } else if spec.is_empty() {
            from.to_owned()
        } else {
            paths::join(from, &spec)
        }
    };
    Some(Specs::List(list.into_iter().map(rebase).collect()))
}

fn read_layer(place: &ExtendsScope<'_>, path: &str, problems: &Problems) -> Layer {
    let files = &place.files;
    let Some(bytes) = files.read(path) else {
        let reason = if files.leads_outside(path) {
            "leads outside the repository, so it is not read"
        } else {
            "cannot be read"
        };
        problems.report(path, None, &format!("{reason}; it counts as empty"));
        return Layer::from_json(place, path, &Value::Null, true, problems);
    };
    let document = jsonc::parse_bytes(&bytes);
    if let Some(error) = document.error() {
        problems.report(
            path,
            Some(error.line),
            &format!("not valid JSON: {}; only what could be read counts", error.message),
        );
    }
    let root = match &document.value {
        Value::Array(items) => items.iter().find(|item| matches!(item, Value::Object(_))).unwrap_or(&Value::Null),
        value => value,
    };
    if document.error().is_none() && !matches!(document.value, Value::Object(_)) {
        problems.report(path, Some(1), "the root of a configuration must be an object");
    }
    Layer::from_json(place, path, root, document.syntax_error.is_some(), problems)
}

impl Layer {
    fn from_json(place: &ExtendsScope<'_>, path: &str, root: &Value, is_broken: bool, problems: &Problems) -> Self {
        let directory = paths::directory(path);
        let mut report = |message: String| problems.report(path, None, &message);
        let options = root.get("compilerOptions").unwrap_or(&Value::Null);
        if !matches!(options, Value::Object(_) | Value::Null) {
            report("`compilerOptions` must be an object; it is ignored".to_owned());
        }
        Self {
            options: RawOptions::read(options, directory, &mut report),
            files: specs(root, "files", &mut report),
            include: specs(root, "include", &mut report),
            exclude: specs(root, "exclude", &mut report),
            extends: read_extends(place, root, directory, &mut report),
            references: read_references(&place.files, root, directory, &mut report),
            is_broken,
        }
    }
}

fn specs(root: &Value, name: &str, report: &mut dyn FnMut(String)) -> Option<Specs> {
    match root.get(name)? {
        Value::Null => None,
        Value::Array(items) => Some(Specs::List(items.iter().filter_map(Value::as_str).map(str::to_owned).collect())),
        other => {
            report(format!("`{name}` must be a list; it is ignored"));
            Some(if other.is_truthy() { Specs::NotAList } else { Specs::Falsy })
        }
    }
}

fn read_extends(
    place: &ExtendsScope<'_>,
    root: &Value,
    directory: &str,
    report: &mut dyn FnMut(String),
) -> Vec<String> {
    let names: Vec<&str> = match root.get("extends") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        Some(_) => {
            report("`extends` must be a string or a list of strings; it is ignored".to_owned());
            Vec::new()
        }
    };
    let mut found = Vec::with_capacity(names.len());
    for name in names {
        match extends::resolve(place, name, directory) {
            Some(path) if place.files.leads_outside(&path) => report(format!(
                "`extends` names {name:?}, which leads outside the repository and is not read; that link is left out"
            )),
            Some(path) => found.push(path),
            None if extends::is_path(name) && place.files.leads_outside(&paths::normalize(name, directory)) => {
                report(format!(
                    "`extends` names {name:?}, which leads outside the repository and is not read; that link is left out"
                ))
            }
            None => report(format!("`extends` names {name:?}, which does not exist; that link is left out")),
        }
    }
    found
}

fn read_references(files: &Inside<'_>, root: &Value, directory: &str, report: &mut dyn FnMut(String)) -> Vec<String> {
    let Some(value) = root.get("references").filter(|value| !value.is_null()) else { return Vec::new() };
    let Some(references) = value.as_array() else {
        report("`references` must be a list; it is ignored".to_owned());
        return Vec::new();
    };
    let mut found = Vec::with_capacity(references.len());
    for reference in references {
        let Some(name) = reference.get("path").and_then(Value::as_str) else {
            report("a reference needs a `path`; it is left out".to_owned());
            continue;
        };
        let path = paths::normalize(name, directory);
        let path = if path.ends_with(".json") { path } else { paths::join(&path, "tsconfig.json") };
        if files.leads_outside(&path) {
            report(format!(
                "`references` names {name:?}, which leads outside the repository and is not read; it is left out"
            ));
        } else if files.is_file(&path) {
            found.push(path);
        } else {
            report(format!("`references` names {name:?}, which does not exist; it is left out"));
        }
    }
    found
}
