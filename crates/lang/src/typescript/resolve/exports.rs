//! `exports` and `imports` of packages, and references of a package to itself by name.

use super::algorithm::{DECLARATION, Extensions, JAVASCRIPT, Lookup, TYPESCRIPT};
use super::package::{Mapping, Package};
use super::{path, semver};
use crate::jsonc::Value;

/// Deeper nesting of conditions occurs in no real manifest.
const MAX_DEPTH: usize = 64;

/// A matching entry of a map: the package, the text for the star, and how to use it.
struct Entry<'p> {
    package: &'p Package,
    subpath: &'p str,
    is_pattern: bool,
    is_imports: bool,
    extensions: Extensions,
}

impl Lookup<'_> {
    /// The module that `exports` maps `subpath` (`.` or `./x`) to.
    pub(super) fn package_exports(&self, package: &Package, subpath: &str, extensions: Extensions) -> Option<String> {
        let exports = package.exports()?;
        if subpath == "." {
            let main = if exports.index.has_dots { exports.index.get(exports.value, ".")? } else { exports.value };
            let entry = Entry { package, subpath: "", is_pattern: false, is_imports: false, extensions };
            return self.mapped_target(main, &entry, 0);
        }
        match exports.value {
            Value::Object(_) if exports.index.all_dots => self.by_map(exports, subpath, package, false, extensions),
            _ => None,
        }
    }

    /// `#name`, through the `imports` of the nearest manifest.
    pub(super) fn package_imports(&self, specifier: &str, extensions: Extensions) -> Option<String> {
        if specifier == "#" || specifier.starts_with("#/") {
            return None;
        }
        let package = self.resolver.packages.scope(self.directory)?;
        self.by_map(package.imports()?, specifier, &package, true, extensions)
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
        map: Mapping<'_>,
        name: &str,
        package: &Package,
        is_imports: bool,
        extensions: Extensions,
    ) -> Option<String> {
        let found = map.index.by_typescript(map.value, name)?;
        let entry = Entry { package, subpath: found.rest, is_pattern: found.is_pattern, is_imports, extensions };
        self.mapped_target(found.target, &entry, 0)
    }

    /// Uses one of the lookup's remaining map steps; returns false if there is none.
    fn take_step(&self) -> bool {
        let left = self.steps.get();
        self.steps.set(left.saturating_sub(1));
        left > 0
    }

    /// Follows conditions and alternatives to a path. If the file of a condition is missing, the next condition is tried, as in
    /// TypeScript and unlike in Node.
    fn mapped_target(&self, target: &Value, entry: &Entry<'_>, depth: usize) -> Option<String> {
        if depth > MAX_DEPTH || !self.take_step() {
            return None;
        }
        match target {
            Value::String(target) => self.mapped_path(target, entry),
            Value::Object(conditions) => conditions
                .iter()
                .take_while(|_| self.take_step())
                .filter(|(condition, _)| self.applies(condition))
                .find_map(|(_, inner)| self.mapped_target(inner, entry, depth + 1)),
            Value::Array(alternatives) => {
                let mut alternatives = alternatives.iter().take_while(|_| self.take_step());
                alternatives.find_map(|inner| self.mapped_target(inner, entry, depth + 1))
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
            if !entry.is_imports || target.starts_with("../") || target.starts_with('/') {
                return None;
            }
            let inner = self.asked_from(&entry.package.directory)?;
            let found = inner.resolve(&fill(target), entry.extensions);
            self.steps.set(inner.steps.get());
            return found;
        }
        let forbidden = |text: &str| text.split('/').any(|part| matches!(part, "." | ".." | "node_modules"));
        if forbidden(&target[2..]) || forbidden(entry.subpath) {
            return None;
        }
        let file = path::join(&entry.package.directory, &fill(target));
        self.input_of_output(&file, entry).or_else(|| self.manifest_file(&file, entry.extensions))
    }

    /// Maps a path in the output folder of the importing project to the source that it is built from.
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
        // TypeScript tries every directory from the top of the disk down; those above the repository are skipped.
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
