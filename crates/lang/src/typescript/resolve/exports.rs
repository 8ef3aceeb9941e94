//! `exports` and `imports` of packages, and the self-reference of a package by its name.

use std::cmp::Ordering;

use super::algorithm::{DECLARATION, Extensions, JAVASCRIPT, Lookup, TYPESCRIPT};
use super::package::Package;
use super::{path, semver};
use crate::jsonc::Value;

/// Conditions nest; a manifest that nests them deeper than this is not a real one.
const MAX_DEPTH: usize = 64;

/// One entry of a map that matched: the package, the text for the star, and how to use it.
struct Entry<'p> {
    package: &'p Package,
    subpath: &'p str,
    is_pattern: bool,
    is_imports: bool,
    extensions: Extensions,
}

impl Lookup<'_> {
    /// The module that `subpath` (`.` or `./x`) of a package is mapped to.
    pub(super) fn package_exports(&self, package: &Package, subpath: &str, extensions: Extensions) -> Option<String> {
        let exports = package.exports()?;
        if subpath == "." {
            let main = match exports {
                Value::Object(entries) if entries.iter().any(|(key, _)| key.starts_with('.')) => exports.get(".")?,
                other => other,
            };
            let entry = Entry { package, subpath: "", is_pattern: false, is_imports: false, extensions };
            return self.mapped_target(main, &entry, 0);
        }
        match exports {
            Value::Object(entries) if entries.iter().all(|(key, _)| key.starts_with('.')) => {
                self.by_map(entries, subpath, package, false, extensions)
            }
            _ => None,
        }
    }

    /// `#name`, by the `imports` of the nearest manifest.
    pub(super) fn package_imports(&self, specifier: &str, extensions: Extensions) -> Option<String> {
        if specifier == "#" || specifier.starts_with("#/") {
            return None;
        }
        let package = self.resolver.packages.scope(self.directory)?;
        match package.imports()? {
            Value::Object(entries) => self.by_map(entries, specifier, &package, true, extensions),
            _ => None,
        }
    }

    /// A package that imports itself by name, through its own `exports`.
    pub(super) fn self_reference(&self, specifier: &str, extensions: Extensions) -> Option<String> {
        let package = self.resolver.packages.scope(self.directory)?;
        package.exports()?;
        let rest = specifier.strip_prefix(package.name()?)?;
        let subpath = match rest.strip_prefix('/') {
            Some("") | None if rest.is_empty() || rest == "/" => ".".to_owned(),
            Some(rest) => format!("./{}", rest.trim_end_matches('/')),
            None => return None,
        };
        if !path::in_node_modules(self.directory) {
            return self.package_exports(&package, &subpath, extensions);
        }
        let priority = TYPESCRIPT | DECLARATION;
        self.package_exports(&package, &subpath, extensions & priority)
            .or_else(|| self.package_exports(&package, &subpath, extensions & !priority))
    }

    fn by_map(
        &self,
        entries: &[(Box<str>, Value)],
        name: &str,
        package: &Package,
        is_imports: bool,
        extensions: Extensions,
    ) -> Option<String> {
        if !name.ends_with('/')
            && !name.contains('*')
            && let Some((_, target)) = entries.iter().rev().find(|(key, _)| **key == *name)
        {
            let entry = Entry { package, subpath: "", is_pattern: false, is_imports, extensions };
            return self.mapped_target(target, &entry, 0);
        }
        let mut patterns: Vec<&(Box<str>, Value)> =
            entries.iter().filter(|(key, _)| key.matches('*').count() == 1 || key.ends_with('/')).collect();
        patterns.sort_by(|(a, _), (b, _)| compare_pattern_keys(a, b));
        for (key, target) in patterns {
            let (subpath, is_pattern) = match key.split_once('*') {
                Some((prefix, suffix)) => {
                    let matches =
                        name.starts_with(prefix) && name.ends_with(suffix) && name.len() >= prefix.len() + suffix.len();
                    if !matches {
                        continue;
                    }
                    (&name[prefix.len()..name.len() - suffix.len()], true)
                }
                None => match name.strip_prefix(&**key) {
                    Some(rest) => (rest, false),
                    None => continue,
                },
            };
            let entry = Entry { package, subpath, is_pattern, is_imports, extensions };
            return self.mapped_target(target, &entry, 0);
        }
        None
    }

    /// Follows conditions and alternatives down to a path. A condition whose file is absent falls through to the
    /// next one: that is what TypeScript does, although Node does not.
    fn mapped_target(&self, target: &Value, entry: &Entry<'_>, depth: usize) -> Option<String> {
        if depth > MAX_DEPTH {
            return None;
        }
        match target {
            Value::String(target) => self.mapped_path(target, entry),
            Value::Object(conditions) => conditions
                .iter()
                .filter(|(condition, _)| self.applies(condition))
                .find_map(|(_, inner)| self.mapped_target(inner, entry, depth + 1)),
            Value::Array(alternatives) => {
                alternatives.iter().find_map(|inner| self.mapped_target(inner, entry, depth + 1))
            }
            _ => None,
        }
    }

    fn applies(&self, condition: &str) -> bool {
        condition == "default"
            || self.conditions.contain(condition)
            || (self.conditions.contain("types")
                && condition.strip_prefix("types@").and_then(semver::admits_typescript) == Some(true))
    }

    fn mapped_path(&self, target: &str, entry: &Entry<'_>) -> Option<String> {
        if !entry.is_pattern && !entry.subpath.is_empty() && !target.ends_with('/') {
            return None;
        }
        let fill = |text: &str| {
            if entry.is_pattern { text.replace('*', entry.subpath) } else { format!("{text}{}", entry.subpath) }
        };
        if !target.starts_with("./") {
            let is_package = entry.is_imports && !target.starts_with("../") && !target.starts_with('/');
            return is_package
                .then(|| self.asked_from(&entry.package.directory)?.resolve(&fill(target), entry.extensions))
                .flatten();
        }
        let forbidden = |text: &str| text.split('/').any(|part| matches!(part, "." | ".." | "node_modules"));
        if forbidden(&target[2..]) || forbidden(entry.subpath) {
            return None;
        }
        let file = path::join(&entry.package.directory, &fill(target));
        self.input_of_output(&file, entry).or_else(|| self.manifest_file(&file, entry.extensions))
    }

    /// A path inside the output folder of the project that asks stands for the source it is built from.
    fn input_of_output(&self, file: &str, entry: &Entry<'_>) -> Option<String> {
        let config = self.config;
        if (config.out_dir.is_none() && config.declaration_dir.is_none()) || path::in_node_modules(file) {
            return None;
        }
        let outputs = [config.declaration_dir.as_deref(), config.out_dir.as_deref()];
        for source in self.source_directory_guesses(&entry.package.directory) {
            for output in outputs.iter().flatten() {
                let output = output.trim_end_matches('/');
                let Some(fragment) = file.strip_prefix(output).and_then(|rest| rest.strip_prefix('/')) else {
                    continue;
                };
                let base = path::join(&source, fragment);
                if let Some(found) = self.input_file(&base, entry.extensions) {
                    return Some(found);
                }
            }
        }
        None
    }

    fn source_directory_guesses(&self, package_directory: &str) -> Vec<String> {
        let config = self.config;
        if let Some(root_dir) = &config.root_dir {
            return vec![root_dir.clone()];
        }
        if let (true, Some(file)) = (config.composite, &config.file) {
            return vec![path::parent(file).to_owned()];
        }
        let common = path::ancestors(self.directory).find(|dir| path::contains(dir, package_directory)).unwrap_or("/");
        // TypeScript guesses from the top of the disk downwards; nothing above the repository concerns us.
        let mut guesses: Vec<String> =
            path::ancestors(common).filter(|dir| path::contains(&self.resolver.root, dir)).map(str::to_owned).collect();
        guesses.reverse();
        guesses
    }

    fn input_file(&self, output: &str, extensions: Extensions) -> Option<String> {
        const OUTPUTS: [&str; 7] = [".mjs", ".cjs", ".js", ".json", ".d.mts", ".d.cts", ".d.ts"];
        for extension in OUTPUTS.into_iter().filter(|extension| output.ends_with(extension)) {
            let inputs: &[(Extensions, &str)] = match extension {
                ".mjs" | ".d.mts" => &[(TYPESCRIPT, ".mts"), (JAVASCRIPT, ".mjs")],
                ".cjs" | ".d.cts" => &[(TYPESCRIPT, ".cts"), (JAVASCRIPT, ".cjs")],
                _ => &[(TYPESCRIPT, ".tsx"), (TYPESCRIPT, ".ts"), (JAVASCRIPT, ".jsx"), (JAVASCRIPT, ".js")],
            };
            let stem = &output[..output.len() - extension.len()];
            for (kind, input) in inputs {
                let candidate = format!("{stem}{input}");
                if extensions & kind != 0 && self.resolver.files.is_file(&candidate) {
                    return self.manifest_file(&candidate, extensions);
                }
            }
        }
        None
    }
}

/// Longer text before the star first; a folder key after a pattern of the same length.
fn compare_pattern_keys(a: &str, b: &str) -> Ordering {
    let base = |key: &str| key.find('*').map_or(key.len(), |at| at + 1);
    base(b).cmp(&base(a)).then_with(|| match (a.contains('*'), b.contains('*')) {
        (false, _) => Ordering::Greater,
        (_, false) => Ordering::Less,
        _ => b.len().cmp(&a.len()),
    })
}
