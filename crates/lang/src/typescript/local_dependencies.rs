//! The dependencies of a manifest inside the repository: `file:`, `link:`, `portal:`, a plain relative path, and the `workspace:`
//! forms that name a folder or another package. No file access.

use stan_model::RepoPath;

use crate::jsonc::Value;

/// A package name that an install would link to a folder of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LocalDependency {
    /// A folder, relative to the repository's root.
    Folder { name: Box<str>, directory: Box<str> },
    /// Another name of a workspace package (`"a": "workspace:b@*"`).
    Alias { name: Box<str>, of: Box<str> },
}

/// The manifest fields that contain dependencies.
const FIELDS: [&str; 6] =
    ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "resolutions", "overrides"];

/// Further local dependencies of a manifest are ignored: real ones have a handful.
const MAX_DEPENDENCIES: usize = 1024;

/// The local dependencies of the manifest in `directory`, which is relative to the root.
pub(super) fn local_dependencies(manifest: &Value, directory: &str) -> Vec<LocalDependency> {
    let pnpm = manifest.get("pnpm").and_then(|pnpm| pnpm.get("overrides"));
    let fields = FIELDS.iter().filter_map(|field| manifest.get(field)).chain(pnpm);
    let entries = fields.flat_map(Value::entries);
    let named = entries.filter_map(|(name, value)| local(name, value.as_str()?, directory));
    named.take(MAX_DEPENDENCIES).collect()
}

fn local(name: &str, wanted: &str, directory: &str) -> Option<LocalDependency> {
    // Keys of `resolutions` may restrict the versions and dependents that they apply to. Those mean other packages.
    let is_plain = !name.is_empty() && !name.contains(['>', '*', '\\', ':']) && !name.get(1..)?.contains('@');
    if !is_plain || RepoPath::new(name).is_none() {
        return None;
    }
    if let Some(rest) = wanted.strip_prefix("workspace:") {
        if is_relative(rest) {
            return folder(name, rest, directory);
        }
        let (of, _) = rest.rsplit_once('@').filter(|(of, _)| !of.is_empty() && *of != name)?;
        return Some(LocalDependency::Alias { name: name.into(), of: of.into() });
    }
    let place = ["file:", "link:", "portal:"].iter().find_map(|protocol| wanted.strip_prefix(protocol));
    match place {
        Some(place) => folder(name, place, directory),
        None if is_relative(wanted) => folder(name, wanted, directory),
        None => None,
    }
}

fn is_relative(place: &str) -> bool {
    matches!(place, "." | "..") || place.starts_with("./") || place.starts_with("../")
}

/// A folder of the repository. Archives and paths that leave the repository are ignored.
fn folder(name: &str, place: &str, directory: &str) -> Option<LocalDependency> {
    let is_archive = [".tgz", ".tar.gz", ".tar"].iter().any(|ending| place.ends_with(ending));
    if is_archive || place.starts_with(['/', '~']) || place.contains(['\\', '\0']) {
        return None;
    }
    let mut segments: Vec<&str> = directory.split('/').filter(|segment| !segment.is_empty()).collect();
    for segment in place.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()?),
            other => segments.push(other),
        }
    }
    Some(LocalDependency::Folder { name: name.into(), directory: segments.join("/").into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_inside_the_repository_are_linked() {
        for (wanted, expected) in [
            ("file:./dep", Some("packages/app/dep")),
            ("file:dep/", Some("packages/app/dep")),
            ("link:../lib", Some("packages/lib")),
            ("portal:../..", Some("")),
            ("../lib", Some("packages/lib")),
            ("workspace:../lib", Some("packages/lib")),
            ("workspace:lib@*", Some("=lib")),
            ("workspace:@s/lib@^1", Some("=@s/lib")),
            ("workspace:*", None),
            ("workspace:^", None),
            ("workspace:x@*", None),
            ("file:../../../out", None),
            ("file:/abs", None),
            ("link:~/home", None),
            ("file:./x.tgz", None),
            ("^1.0.0", None),
            ("npm:other@1", None),
        ] {
            let found = local("x", wanted, "packages/app").map(|found| match found {
                LocalDependency::Folder { directory, .. } => directory.to_string(),
                LocalDependency::Alias { of, .. } => format!("={of}"),
            });
            assert_eq!(found.as_deref(), expected, "{wanted}");
        }
    }

    #[test]
    fn names_with_conditions_are_left_alone() {
        for name in ["a@^1", "**/a", "a>b", "", "../a", "a//b", "a\\b"] {
            assert_eq!(local(name, "link:./x", ""), None, "{name}");
        }
        assert!(local("$repo-utils", "link:./x", "").is_some());
        assert!(local("@s/a", "link:./x", "").is_some());
    }
}
