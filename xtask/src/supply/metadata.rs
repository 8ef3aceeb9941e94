//! The packages of a workspace and their dependencies, from `cargo metadata`, with the checksums of the lock file. Includes the
//! dependencies of every platform, not only this machine's.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) licence: Option<String>,
    /// `None` for our own packages.
    pub(super) source: Option<String>,
    /// SHA-256 of the archive, from the lock file.
    pub(super) checksum: Option<String>,
    /// Ids of its dependencies.
    pub(super) needs: BTreeSet<String>,
    /// Ids of dependencies that only its tests need.
    pub(super) test_needs: BTreeSet<String>,
}

/// Packages by cargo's package id.
pub(super) struct Workspace {
    pub(super) packages: BTreeMap<String, Package>,
}

impl Workspace {
    /// Runs `cargo metadata` for the workspace of `manifest`, with the features of releases. The lock file must be up to date.
    pub(super) fn load(manifest: &Path) -> crate::Result<Self> {
        let output = crate::cargo::command(Path::new("."))
            .args(["metadata", "--format-version", "1", "--locked", "--manifest-path"])
            .arg(manifest)
            .output()?;
        if !output.status.success() {
            return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim()).into());
        }
        let metadata: Value = serde_json::from_slice(&output.stdout)?;
        let root = PathBuf::from(metadata.get("workspace_root").and_then(Value::as_str).ok_or("no workspace root")?);
        let lock = std::fs::read_to_string(root.join("Cargo.lock"))?;
        Ok(Workspace { packages: read(&metadata, &lock)? })
    }

    /// The packages that are reachable from those that `start` picks, including these. Test dependencies of other packages do not
    /// count.
    pub(super) fn reached(&self, start: impl Fn(&Package) -> bool, with_tests: bool) -> BTreeSet<String> {
        let mut open: Vec<&String> =
            self.packages.iter().filter(|(_, package)| start(package)).map(|(id, _)| id).collect();
        let mut reached = BTreeSet::new();
        while let Some(id) = open.pop() {
            let Some(package) = self.packages.get(id) else { continue };
            if reached.insert(id.clone()) {
                open.extend(&package.needs);
                if with_tests && package.source.is_none() {
                    open.extend(&package.test_needs);
                }
            }
        }
        reached
    }
}

/// Parses the output of cargo and adds the checksums of `Cargo.lock`.
pub(super) fn read(metadata: &Value, lock: &str) -> Result<BTreeMap<String, Package>, String> {
    let checksums = checksums(lock)?;
    let mut packages = BTreeMap::new();
    for value in metadata.get("packages").and_then(Value::as_array).ok_or("no packages")? {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let required = |key: &str| text(key).ok_or_else(|| format!("a package without `{key}`"));
        let (name, version) = (required("name")?, required("version")?);
        let checksum = checksums.get(&format!("{name}@{version}")).cloned();
        let (licence, source) = (text("license"), text("source"));
        let package = Package { name, version, licence, source, checksum, ..Package::default() };
        packages.insert(required("id")?, package);
    }
    for node in metadata.pointer("/resolve/nodes").and_then(Value::as_array).ok_or("nothing is resolved")? {
        let id = node.get("id").and_then(Value::as_str).ok_or("a node without `id`")?;
        let package = packages.get_mut(id).ok_or_else(|| format!("`{id}` is resolved but no package"))?;
        for dependency in node.get("deps").and_then(Value::as_array).into_iter().flatten() {
            let Some(target) = dependency.get("pkg").and_then(Value::as_str) else { continue };
            let kinds = dependency.get("dep_kinds").and_then(Value::as_array).into_iter().flatten();
            for kind in kinds {
                let for_tests = kind.get("kind").and_then(Value::as_str) == Some("dev");
                let needs = if for_tests { &mut package.test_needs } else { &mut package.needs };
                needs.insert(target.to_owned());
            }
        }
    }
    Ok(packages)
}

fn checksums(lock: &str) -> Result<BTreeMap<String, String>, String> {
    let table: toml::Table =
        lock.parse().map_err(|error: toml::de::Error| format!("Cargo.lock: {}", error.message()))?;
    let packages = table.get("package").and_then(toml::Value::as_array).into_iter().flatten();
    let entry = |package: &toml::Value| {
        let text = |key: &str| package.get(key).and_then(toml::Value::as_str);
        Some((format!("{}@{}", text("name")?, text("version")?), text("checksum")?.to_owned()))
    };
    Ok(packages.filter_map(entry).collect())
}

/// A workspace with one program, two of its dependencies, and one that only its tests need.
#[cfg(test)]
pub(super) fn example() -> Workspace {
    let source = "registry";
    let package = |name: &str, licence: &str, source: Option<&str>| {
        serde_json::json!({ "id": format!("id-{name}"), "name": name, "version": "1.0.0", "license": licence,
                            "source": source })
    };
    let dependency = |name: &str, kind: Option<&str>| serde_json::json!({ "pkg": format!("id-{name}"), "dep_kinds": [{ "kind": kind }] });
    let metadata = serde_json::json!({
        "packages": [package("stan-cli", "MIT", None), package("a", "MIT/Apache-2.0", Some(source)),
                     package("b", "Zlib", Some(source)), package("only-tests", "GPL-3.0", Some(source))],
        "resolve": { "nodes": [
            { "id": "id-stan-cli", "deps": [dependency("a", None), dependency("only-tests", Some("dev"))] },
            { "id": "id-a", "deps": [dependency("b", Some("build"))] },
            { "id": "id-b", "deps": [] },
            { "id": "id-only-tests", "deps": [] },
        ] },
    });
    let lock = ["a", "b", "only-tests"]
        .map(|name| format!("[[package]]\nname = \"{name}\"\nversion = \"1.0.0\"\nchecksum = \"{name}00\"\n"))
        .concat();
    let packages = read(&metadata, &lock).expect("it is what cargo writes");
    Workspace { packages }
}

#[cfg(test)]
mod tests {
    use super::{example, read};

    #[test]
    fn packages_are_joined_with_their_checksums_and_needs() {
        let workspace = example();
        let cli = &workspace.packages["id-stan-cli"];
        assert_eq!((cli.checksum.as_deref(), cli.source.as_deref()), (None, None));
        assert_eq!(workspace.packages["id-a"].checksum.as_deref(), Some("a00"));
        let ours = |package: &super::Package| package.source.is_none();
        assert_eq!(workspace.reached(ours, false).len(), 3);
        assert_eq!(workspace.reached(ours, true).len(), 4);
    }

    #[test]
    fn metadata_that_cargo_did_not_write_is_refused() {
        assert!(read(&serde_json::json!({}), "").is_err());
        assert!(read(&serde_json::json!({ "packages": [{}] }), "").is_err());
        assert!(read(&serde_json::json!({ "packages": [] }), "[[").is_err());
    }
}
