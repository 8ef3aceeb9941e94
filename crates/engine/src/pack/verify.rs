//! Whether a pack still matches the files: compares its digests with their contents. Reads the JSON form and both renderings.
//! Ignores paths that resolve outside the root, except files of packages that a lock file names.

use std::collections::BTreeMap;
use std::path::Path;

use stan_lang::ProjectResolvers;
use stan_lang::packages::{file_of_id, version_of};
use stan_model::RepoPath;
use stan_model::document::pack::SCHEMA;
use stan_model::document::reports::{Difference, VerifyReport};
use stan_repo::{AbsPath, System, escapes_root, hash_file};

use crate::context::{NamedBytes, Repository};
use crate::engine::Engine;
use crate::outline::{absolute, scan};

/// Compares the digests in a pack with the files on disk; `None` for a document that is not a pack.
pub fn verify_pack(engine: &Engine<'_>, repository: &Repository<'_>, pack: &NamedBytes) -> Option<VerifyReport> {
    let system = engine.system();
    let expected = digests(&pack.bytes)?;
    let mut report = VerifyReport {
        archive: pack.name.clone(),
        matches: false,
        entries: expected.len() as u64,
        differ: Vec::new(),
        gone: Vec::new(),
        new: Vec::new(),
        warnings: Vec::new(),
    };
    let of_packages: Vec<&str> =
        expected.keys().map(String::as_str).filter(|path| file_of_id(path).is_some()).collect();
    let in_stores = package_files(engine, repository, &of_packages);
    for (path, digest) in &expected {
        let is_package = file_of_id(path).is_some();
        let found = if is_package { in_stores.get(path.as_str()).cloned() } else { own_file(system, repository, path) };
        let Some(found) = found else {
            let reason = if is_package {
                "no lock file names its package in this version, or it is not downloaded here,"
            } else {
                "is outside the root"
            };
            report.warnings.push(format!("{path}: {reason} and was not checked"));
            continue;
        };
        match hash_file(system, Path::new(&found)) {
            Err(_) => report.gone.push(path.clone()),
            Ok(file) => {
                let found = file.digest.to_string();
                if !found.starts_with(digest.as_str()) {
                    let actual = digest.clone();
                    let with = "the tree".to_owned();
                    report.differ.push(Difference { path: path.clone(), with, expected: found, actual });
                }
            }
        }
    }
    report.matches = report.differ.is_empty() && report.gone.is_empty();
    Some(report)
}

/// The absolute path of a repository file; `None` for one outside the root.
fn own_file(system: &dyn System, repository: &Repository<'_>, path: &str) -> Option<String> {
    let found = absolute(repository.root, path);
    RepoPath::new(path).filter(|_| !escapes_root(system, repository.root, &found)).map(|_| found)
}

/// The paths of package files, by node id. A pack is untrusted: only packages that a lock file of the repository names are looked
/// up, and symlinks in stores are skipped.
fn package_files<'i>(engine: &Engine<'_>, repository: &Repository<'_>, ids: &[&'i str]) -> BTreeMap<&'i str, String> {
    if ids.is_empty() {
        return BTreeMap::new();
    }
    engine.parse(|| {
        let system: &dyn System = engine.system();
        let options = repository.config.graph_options(repository.root);
        let universe = scan(system, repository);
        let world = options.world(system, Some(&universe));
        let project = options.project(&world, &universe.files);
        let resolvers = ProjectResolvers::open(options.languages, &project);
        let place = |id: &str| {
            let file = file_of_id(id)?;
            let package = version_of(&file);
            resolvers.proof_of(&package)?;
            let folder = options.stores.package(&world, &package)?;
            let path = AbsPath::new(&folder.path).join(&file.path);
            // A deleted file counts as missing; a file behind a symlink is not read.
            (folder.is_file(&file.path) || !folder.files.is_file(&path)).then_some(path)
        };
        ids.iter().filter_map(|id| Some((*id, place(id)?))).collect()
    })
}

/// Digest, or digest prefix, by path; `None` if it is not a pack.
fn digests(bytes: &[u8]) -> Option<BTreeMap<String, String>> {
    let text = std::str::from_utf8(bytes).ok()?;
    if text.trim_start().starts_with('{') {
        let document: serde_json::Value = serde_json::from_str(text).ok()?;
        if document.get("schema_version")?.as_str()? != SCHEMA {
            return None;
        }
        let inputs = document.get("digests")?.get("inputs")?.as_array()?;
        let pair = |input: &serde_json::Value| {
            let path = input.get("path")?.as_str()?.to_owned();
            Some((path, input.get("sha256")?.as_str()?.to_owned()))
        };
        return Some(inputs.iter().filter_map(pair).filter(|(path, _)| !path.starts_with("log:")).collect());
    }
    if !text.contains(SCHEMA) {
        return None;
    }
    Some(text.lines().filter_map(|line| fence(line).or_else(|| tag(line))).collect())
}

/// `` ```ts path:1-9 (0123456789ab) ``
fn fence(line: &str) -> Option<(String, String)> {
    let rest = line.strip_prefix("```")?.trim_start_matches('`');
    let (_, rest) = rest.split_once(' ')?;
    let (place, digest) = rest.strip_suffix(')')?.rsplit_once(" (")?;
    let (path, _) = place.rsplit_once(':')?;
    Some((path.to_owned(), hexadecimal(digest)?))
}

/// `<item file="path" … sha256="0123456789ab">`
fn tag(line: &str) -> Option<(String, String)> {
    let rest = line.strip_prefix("<item file=\"")?;
    let (path, rest) = rest.split_once('"')?;
    let (_, rest) = rest.split_once("sha256=\"")?;
    let (digest, _) = rest.split_once('"')?;
    let path = path.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    Some((path, hexadecimal(digest)?))
}

fn hexadecimal(digest: &str) -> Option<String> {
    let is_hex = digest.len() >= 12 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| digest.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_of_all_forms() {
        let check = |text: &str, expected: &[(&str, &str)]| {
            let found = digests(text.as_bytes()).map(|found| found.into_iter().collect::<Vec<_>>());
            let expected = expected.iter().map(|(path, digest)| ((*path).to_owned(), (*digest).to_owned())).collect();
            assert_eq!(found, Some(expected), "{text}");
        };
        let hex = "0123456789ab";
        check(
            "{\"schema_version\":\"stan.pack@1\",\"digests\":{\"inputs\":[{\"path\":\"a b.ts\",\"sha256\":\"00\"},\
             {\"path\":\"log:x\",\"sha256\":\"11\"}]}}",
            &[("a b.ts", "00")],
        );
        check(
            "```ts src/a (b).ts:1-9 (0123456789ab)\ncode\n```\n<!-- stan.pack@1 sha256:0 -->",
            &[("src/a (b).ts", hex)],
        );
        check(
            "<pack schema=\"stan.pack@1\">\n<item file=\"a&amp;b.ts\" lines=\"1-2\" sha256=\"0123456789ab\">",
            &[("a&b.ts", hex)],
        );
        assert_eq!(digests(b"# no pack"), None);
        assert_eq!(digests(b"{}"), None);
    }
}
