//! The policy, held against the packages of a workspace. Pure: findings in, findings out, sorted.

use std::collections::BTreeMap;

use super::metadata::{Package, REGISTRY, Workspace};
use super::policy::Policy;
use super::spdx;

/// One sentence for each package that breaks the policy, with what to do.
pub(super) fn findings(workspace: &Workspace, policy: &Policy) -> Vec<String> {
    let mut findings: Vec<String> =
        workspace.packages.iter().flat_map(|(id, package)| of_package((id, package), workspace, policy)).collect();
    findings.extend(duplicates(workspace, policy));
    findings.sort();
    findings
}

fn of_package((id, package): (&String, &Package), workspace: &Workspace, policy: &Policy) -> Vec<String> {
    let Package { name, version, source, checksum, .. } = package;
    let mut findings = Vec::new();
    if let Some(fault) = licence_fault(package, policy) {
        findings.push(format!("{name} {version}: {fault}"));
    }
    if let Some(reason) = policy.forbidden.get(name).filter(|_| !only_wrapped(id, name, workspace, policy)) {
        findings.push(format!("{name} {version}: forbidden ({reason}); `cargo tree -i {name}` shows who brings it"));
    }
    match source.as_deref() {
        None => {}
        Some(REGISTRY) if checksum.as_ref().is_some_and(|checksum| !checksum.is_empty()) => {}
        Some(REGISTRY) => {
            findings.push(format!("{name} {version}: no checksum in Cargo.lock; run `cargo update -p {name}`"))
        }
        Some(other) => findings.push(format!("{name} {version}: comes from {other}; only crates.io is allowed")),
    }
    findings
}

/// Whether a forbidden package is here for those alone that may bring it.
fn only_wrapped(id: &String, name: &str, workspace: &Workspace, policy: &Policy) -> bool {
    let mut users = workspace.packages.values().filter(|user| user.needs.contains(id) || user.test_needs.contains(id));
    let wrappers = policy.wrappers.get(name);
    wrappers.is_some_and(|wrappers| !wrappers.is_empty() && users.all(|user| wrappers.contains(&user.name)))
}

fn licence_fault(package: &Package, policy: &Policy) -> Option<String> {
    let Some(licence) = &package.licence else {
        return Some("no licence in its manifest; choose another crate".to_owned());
    };
    let mut allowed = policy.allowed.clone();
    allowed.extend(policy.exceptions.get(&package.name).into_iter().flatten().cloned());
    match spdx::is_met(licence, &allowed) {
        Ok(true) => None,
        Ok(false) => {
            Some(format!("licence `{licence}` is not allowed; choose another crate, or allow it in deny.toml"))
        }
        Err(fault) => Some(fault),
    }
}

/// Two versions of one crate in what is built; what only tests bring in does not count.
fn duplicates(workspace: &Workspace, policy: &Policy) -> Vec<String> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for id in workspace.reached(|package| package.source.is_none(), false) {
        let Some(package) = workspace.packages.get(&id) else { continue };
        if !policy.tolerated.contains(&format!("{}@{}", package.name, package.version)) {
            versions.entry(&package.name).or_default().push(&package.version);
        }
    }
    let several = versions.into_iter().filter(|(_, versions)| versions.len() > 1);
    let sentence = |(name, mut versions): (&str, Vec<&str>)| {
        versions.sort_unstable();
        format!(
            "{name}: {} versions ({}); take one, or add the older to `bans.skip` in deny.toml",
            versions.len(),
            versions.join(", ")
        )
    };
    several.map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::super::metadata::{Workspace, example};
    use super::super::policy::Policy;
    use super::findings;

    const FINE: &str =
        "[licenses]\nallow = [\"MIT\", \"Zlib\"]\nexceptions = [{ crate = \"only-tests\", allow = [\"GPL-3.0\"] }]\n";

    fn check(change: impl Fn(&mut Workspace), addition: &str, expected: &[&str]) {
        let mut workspace = example();
        change(&mut workspace);
        let policy = Policy::parse(&[FINE, addition].concat()).expect("it is a policy");
        assert_eq!(findings(&workspace, &policy), expected);
    }

    fn package<'a>(workspace: &'a mut Workspace, id: &str) -> &'a mut super::Package {
        workspace.packages.get_mut(id).expect("it is in the example")
    }

    #[test]
    fn a_clean_workspace_has_no_findings() {
        check(|_| {}, "", &[]);
    }

    #[test]
    fn licences() {
        let refused = "b 1.0.0: licence `GPL-3.0` is not allowed; choose another crate, or allow it in deny.toml";
        check(|workspace| package(workspace, "id-b").licence = Some("GPL-3.0".to_owned()), "", &[refused]);
        let none = "b 1.0.0: no licence in its manifest; choose another crate";
        check(|workspace| package(workspace, "id-b").licence = None, "", &[none]);
    }

    #[test]
    fn forbidden_crates() {
        let expected = "b 1.0.0: forbidden (no network); `cargo tree -i b` shows who brings it";
        check(|_| {}, "[bans]\ndeny = [{ crate = \"b\", reason = \"no network\" }]\n", &[expected]);
        let wrapped = |by: &str| {
            format!("[bans]\ndeny = [{{ crate = \"b\", wrappers = [\"{by}\"], reason = \"no network\" }}]\n")
        };
        check(|_| {}, &wrapped("a"), &[]);
        check(|_| {}, &wrapped("c"), &[expected]);
    }

    #[test]
    fn sources_and_checksums() {
        let elsewhere = "b 1.0.0: comes from git+ssh://x; only crates.io is allowed";
        check(|workspace| package(workspace, "id-b").source = Some("git+ssh://x".to_owned()), "", &[elsewhere]);
        let unchecked = "b 1.0.0: no checksum in Cargo.lock; run `cargo update -p b`";
        check(|workspace| package(workspace, "id-b").checksum = None, "", &[unchecked]);
    }

    #[test]
    fn two_versions_of_one_crate() {
        let second = |workspace: &mut Workspace| {
            package(workspace, "id-b").name = "a".to_owned();
            package(workspace, "id-b").version = "0.9.0".to_owned();
        };
        let expected = "a: 2 versions (0.9.0, 1.0.0); take one, or add the older to `bans.skip` in deny.toml";
        check(second, "", &[expected]);
        check(second, "[bans]\nskip = [{ crate = \"a@0.9.0\" }]\n", &[]);
        // A second version that only tests bring in is tolerated.
        check(
            |workspace| package(workspace, "id-only-tests").name = "a".to_owned(),
            "",
            &["a 1.0.0: licence `GPL-3.0` is not allowed; choose another crate, or allow it in deny.toml"],
        );
    }
}
