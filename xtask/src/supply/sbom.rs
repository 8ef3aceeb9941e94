//! The software bill of materials of the programs: CycloneDX 1.5 as JSON. The same lock file gives the same bytes: no time, no
//! random serial number, no path.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::metadata::{Package, Workspace};

/// The package with the programs.
const PROGRAM: &str = "stan-cli";

/// The document, with a final newline.
pub(super) fn document(workspace: &Workspace) -> Result<String, String> {
    let shipped = workspace.reached(|package| package.name == PROGRAM, false);
    let program = workspace.packages.values().find(|package| package.name == PROGRAM).ok_or("stan-cli is gone")?;
    let all = workspace.reached(|package| package.source.is_none(), true);
    let (mut components, mut dependencies) = (BTreeMap::new(), BTreeMap::new());
    for id in &all {
        let package = workspace.packages.get(id).ok_or_else(|| format!("`{id}` is not a package"))?;
        let name = reference(package);
        if package.name != PROGRAM {
            components.insert(name.clone(), component(package, shipped.contains(id)));
        }
        let needs: BTreeSet<String> =
            package.needs.iter().filter_map(|id| workspace.packages.get(id)).map(reference).collect();
        dependencies.insert(name.clone(), json!({ "ref": name, "dependsOn": needs }));
    }
    let mut described = component(program, true);
    described.insert("type".to_owned(), json!("application"));
    described.remove("scope");
    let document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": described },
        "components": components.into_values().collect::<Vec<_>>(),
        "dependencies": dependencies.into_values().collect::<Vec<_>>(),
    });
    Ok(format!("{document:#}\n"))
}

/// The package URL, which is also its id within the document.
fn reference(package: &Package) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version.replace('+', "%2B"))
}

/// `scope` distinguishes parts of the programs from packages that only builds or tests of other crates need.
fn component(package: &Package, is_shipped: bool) -> Map<String, Value> {
    let mut component = Map::new();
    let mut set = |key: &str, value: Value| component.insert(key.to_owned(), value);
    set("type", json!("library"));
    set("bom-ref", json!(reference(package)));
    set("name", json!(package.name));
    set("version", json!(package.version));
    set("scope", json!(if is_shipped { "required" } else { "excluded" }));
    if let Some(licence) = &package.licence {
        set("licenses", json!([{ "expression": normalised(licence) }]));
    }
    if let Some(checksum) = &package.checksum {
        set("hashes", json!([{ "alg": "SHA-256", "content": checksum }]));
    }
    if package.source.is_some() {
        set("purl", json!(reference(package)));
    }
    component
}

/// A licence expression in SPDX syntax: older manifests may use `/` for `OR`.
fn normalised(expression: &str) -> String {
    let spaced = expression.replace('/', " OR ");
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use serde_json::Value;

    use super::super::metadata::{Workspace, example};
    use super::document;

    /// Checks the requirements of the standard for the parts that are used here; panics with the path of the first violation.
    fn check_structure(document: &Value) {
        assert_eq!(document["bomFormat"], "CycloneDX");
        assert_eq!(document["specVersion"], "1.5");
        assert!(document["version"].as_u64().is_some_and(|version| version >= 1));
        assert!(document.get("serialNumber").is_none() && document["metadata"].get("timestamp").is_none());
        assert_eq!(document["metadata"]["component"]["type"], "application");
        let components = document["components"].as_array().expect("components are a list");
        let mut references = BTreeSet::from([document["metadata"]["component"]["bom-ref"].as_str().expect("a ref")]);
        let mut last = "";
        for component in components {
            let name = component["bom-ref"].as_str().expect("every component has a ref");
            assert!(last < name, "{last} before {name}: components are sorted and unique");
            last = name;
            references.insert(name);
            assert!(component["name"].is_string() && component["version"].is_string(), "{name}");
            assert!(["required", "excluded"].contains(&component["scope"].as_str().expect("a scope")), "{name}");
            assert!(component["licenses"][0]["expression"].is_string(), "{name} has no licence");
            if component.get("purl").is_some() {
                let hash = &component["hashes"][0];
                assert_eq!(hash["alg"], "SHA-256", "{name}");
                assert!(hash["content"].as_str().is_some_and(|hash| !hash.is_empty()), "{name}");
            }
        }
        for dependency in document["dependencies"].as_array().expect("dependencies are a list") {
            assert!(references.contains(dependency["ref"].as_str().expect("a ref")));
            for target in dependency["dependsOn"].as_array().expect("a list") {
                assert!(references.contains(target.as_str().expect("a ref")), "{target} is not a component");
            }
        }
        assert_eq!(document["dependencies"].as_array().map(Vec::len), Some(references.len()));
    }

    #[test]
    fn the_example_is_described() {
        let text = document(&example()).expect("it has the program");
        let value: Value = serde_json::from_str(&text).expect("it is JSON");
        check_structure(&value);
        let scope = |name: &str| {
            let components = value["components"].as_array().expect("a list");
            components.iter().find(|component| component["name"] == name).map(|component| component["scope"].clone())
        };
        assert_eq!(scope("b"), Some("required".into()), "what builds a dependency counts");
        assert_eq!(scope("only-tests"), Some("excluded".into()));
        assert!(text.contains("\"expression\": \"MIT OR Apache-2.0\""), "{text}");
    }

    #[test]
    fn this_workspace_is_described_the_same_twice() {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
        let describe = || document(&Workspace::load(&manifest).expect("cargo knows it")).expect("it has the program");
        let text = describe();
        assert_eq!(text, describe());
        check_structure(&serde_json::from_str(&text).expect("it is JSON"));
        assert!(!text.contains("file://"), "no path of this machine");
    }
}
