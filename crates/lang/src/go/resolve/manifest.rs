//! Parses `go.mod` and `go.work`: modules, required versions, replacements, and the modules of a workspace. Both have the same
//! grammar: a keyword and words, on one line or in parentheses. Unknown lines are skipped.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;

/// The contents of a manifest.
#[derive(Debug, Default)]
pub(super) struct Manifest {
    /// The module's own path; absent in `go.work`.
    pub(super) path: Option<Box<str>>,
    /// Required versions by module path.
    pub(super) requires: FxHashMap<Box<str>, Box<str>>,
    /// By the path of the replaced module.
    replaces: FxHashMap<Box<str>, Replaced>,
    /// Folders of a workspace's modules.
    pub(super) uses: Vec<Box<str>>,
}

/// The replacements of a module: for all versions, and for single ones.
#[derive(Debug, Default)]
struct Replaced {
    all: Option<Replacement>,
    versions: FxHashMap<Box<str>, Replacement>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Replacement {
    /// A folder, relative to the manifest's.
    Folder(Box<str>),
    /// Another module.
    Module { path: Box<str>, version: Box<str> },
}

impl Manifest {
    pub(super) fn parse(text: &str) -> Self {
        let mut manifest = Self::default();
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
                (keyword, words) => manifest.directive(keyword, words),
            }
        }
        manifest
    }

    fn directive(&mut self, keyword: &str, words: &[&str]) {
        match (keyword, words) {
            ("module", [module, ..]) => {
                self.path.get_or_insert_with(|| (*module).into());
            }
            ("require", [module, version, ..]) => {
                self.requires.insert((*module).into(), (*version).into());
            }
            ("use", [folder, ..]) => self.uses.push((*folder).into()),
            ("replace", words) => {
                let Some((old, new)) =
                    words.iter().position(|word| *word == "=>").and_then(|at| words.split_at_checked(at))
                else {
                    return;
                };
                let by = match new {
                    [_, folder] if folder.starts_with(['.', '/']) => Replacement::Folder((*folder).into()),
                    [_, path, version, ..] => Replacement::Module { path: (*path).into(), version: (*version).into() },
                    _ => return,
                };
                if let [path, version @ ..] = old {
                    let replaced = self.replaces.entry((*path).into()).or_default();
                    match version.first() {
                        Some(version) => drop(replaced.versions.insert((*version).into(), by)),
                        None => replaced.all = Some(by),
                    }
                }
            }
            _ => {}
        }
    }

    /// The replacement of a module that is required in `version`. One for exactly this version takes precedence.
    pub(super) fn replacement(&self, path: &str, version: Option<&str>) -> Option<&Replacement> {
        let replaced = self.replaces.get(path)?;
        version.and_then(|version| replaced.versions.get(version)).or(replaced.all.as_ref())
    }
}

/// Compares versions (`v1.2.3-rc.1+meta`) by the rules of semantic versioning.
pub(super) fn compare_versions(one: &str, other: &str) -> Ordering {
    let (one, other) = (Version::of(one), Version::of(other));
    let pre = |one: &str, other: &str| match (one.is_empty(), other.is_empty()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => {
            let mut pairs = one.split('.').zip(other.split('.'));
            let differing =
                pairs.find_map(|(one, other)| Some(compare_parts(one, other)).filter(|order| order.is_ne()));
            differing.unwrap_or_else(|| one.split('.').count().cmp(&other.split('.').count()))
        }
    };
    one.numbers.cmp(&other.numbers).then_with(|| pre(one.pre, other.pre))
}

/// Compares pre-release identifiers: numbers sort before words.
fn compare_parts(one: &str, other: &str) -> Ordering {
    match (one.parse::<u64>(), other.parse::<u64>()) {
        (Ok(one), Ok(other)) => one.cmp(&other),
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) => one.cmp(other),
    }
}

struct Version<'v> {
    numbers: [u64; 3],
    pre: &'v str,
}

impl<'v> Version<'v> {
    fn of(text: &'v str) -> Self {
        let text = text.strip_prefix('v').unwrap_or(text);
        let text = text.split('+').next().unwrap_or(text);
        let (core, pre) = text.split_once('-').unwrap_or((text, ""));
        let mut numbers = [0; 3];
        for (number, part) in numbers.iter_mut().zip(core.split('.')) {
            *number = part.parse().unwrap_or(0);
        }
        Self { numbers, pre }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_read_alone_and_in_parentheses() {
        let manifest = Manifest::parse(
            "module \"example.com/m\" // comment\n\
             go 1.21\n\
             require example.com/a v1.0.0\n\
             require (\n\texample.com/b v1.2.0 // indirect\n\t\"example.com/c\" v2.0.0+incompatible\n)\n\
             replace example.com/a => ../a\n\
             replace (\n\texample.com/b v1.2.0 => example.com/fork v1.3.0\n\texample.com/b => ./b\n)\n\
             replace broken =>\nreplace => x y\nrequire lonely\n\
             exclude example.com/a v0.9.0\nuse ./x\nuse (\n\t./y\n)\n",
        );
        assert_eq!(manifest.path.as_deref(), Some("example.com/m"));
        let mut requires: Vec<(&str, &str)> =
            manifest.requires.iter().map(|(path, version)| (&**path, &**version)).collect();
        requires.sort_unstable();
        assert_eq!(
            requires,
            [("example.com/a", "v1.0.0"), ("example.com/b", "v1.2.0"), ("example.com/c", "v2.0.0+incompatible")]
        );
        assert_eq!(manifest.uses, ["./x".into(), "./y".into()]);
        let folder = |folder: &str| Some(Replacement::Folder(folder.into()));
        assert_eq!(manifest.replacement("example.com/a", None).cloned(), folder("../a"));
        assert_eq!(manifest.replacement("example.com/b", Some("v1.1.0")).cloned(), folder("./b"));
        let fork = Replacement::Module { path: "example.com/fork".into(), version: "v1.3.0".into() };
        assert_eq!(manifest.replacement("example.com/b", Some("v1.2.0")), Some(&fork));
        assert_eq!(manifest.replacement("example.com/c", None), None);
        assert!(!manifest.replaces.contains_key("broken"));
    }

    #[test]
    fn versions_are_compared_by_precedence() {
        let sorted = [
            "v0.0.0-20190101000000-aaaaaaaaaaaa",
            "v0.0.0-20200101000000-aaaaaaaaaaaa",
            "v0.9.10",
            "v1.0.0-alpha",
            "v1.0.0-alpha.1",
            "v1.0.0-alpha.beta",
            "v1.0.0-rc.2",
            "v1.0.0-rc.11",
            "v1.0.0",
            "v1.0.1",
            "v1.10.0+incompatible",
        ];
        for pair in sorted.windows(2) {
            assert_eq!(compare_versions(pair[0], pair[1]), Ordering::Less, "{pair:?}");
        }
        assert_eq!(compare_versions("v1.0.0+a", "v1.0.0+b"), Ordering::Equal);
    }
}
