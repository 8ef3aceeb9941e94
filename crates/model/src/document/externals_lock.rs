//! `dependency.map.json`: where each external file of a map is on this machine, and the expected hash of its bytes (spec 20 §5).
//! Private to the host: none of it may reach an archive. Checking files against it is `stan_archive`'s job.

use std::collections::BTreeMap;

use super::error::DocumentError;
use super::node_id::{check_node_id, is_absolute};
use super::read::{DocumentReader, Pointer};
use crate::jcs;
use crate::json::{JsonKind, NodeId};
use crate::{Digest, Ecosystem, document::read::quoted};

/// Every external file by its canonical id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExternalsLock {
    pub nodes: BTreeMap<String, LockedExternal>,
}

/// One file outside the repository, identified by size and hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockedExternal {
    /// The absolute real path on this machine.
    pub locator: String,
    pub size: u64,
    pub sha256: Digest,
    /// Set for files of installed packages.
    pub package: Option<PackageFile>,
}

/// A file by its path in a package.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PackageFile {
    /// The registry that the package comes from.
    pub ecosystem: Ecosystem,
    /// `name`, `@scope/name`, or the path of a module.
    pub name: String,
    pub version: String,
    /// Relative to the package's directory.
    pub path: String,
}

/// Reads an externals lock and returns all findings. `file` is only the name for them.
pub fn decode(bytes: &[u8], file: &str) -> Result<ExternalsLock, Vec<DocumentError>> {
    let mut reader = DocumentReader::parse(bytes, file)?;
    let nodes = read_document(&mut reader);
    match nodes {
        Some(nodes) if !reader.has_errors() => Ok(ExternalsLock { nodes }),
        _ => Err(reader.into_errors()),
    }
}

impl ExternalsLock {
    /// The document: sorted by id, minified, a newline at the end.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = b"{\"v\":1,\"nodes\":{".to_vec();
        for (index, (id, node)) in self.nodes.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            jcs::write_string(id, &mut out);
            out.extend_from_slice(b":{\"id\":");
            jcs::write_string(id, &mut out);
            out.extend_from_slice(b",\"locatorAbs\":");
            jcs::write_string(&node.locator, &mut out);
            out.extend_from_slice(format!(",\"size\":{},\"sha256\":\"{}\"", node.size, node.sha256).as_bytes());
            if let Some(package) = &node.package {
                for (key, text) in
                    [("pkgName", &package.name), ("pkgVersion", &package.version), ("pathInPackage", &package.path)]
                {
                    out.extend_from_slice(format!(",\"{key}\":").as_bytes());
                    jcs::write_string(text, &mut out);
                }
            }
            out.push(b'}');
        }
        out.extend_from_slice(b"}}\n");
        out
    }
}

fn read_document(reader: &mut DocumentReader<'_>) -> Option<BTreeMap<String, LockedExternal>> {
    let (top, root) = (Pointer::ROOT, reader.tree().root());
    let [version, nodes] = reader.fields(root, &top, ["v", "nodes"])?;
    match version {
        Some(version) if reader.whole_number(version) == Some(1) => {}
        Some(version) => reader.expected(&top.key("v"), "the version 1", version, None),
        None => reader.wrong(&top, "the version is missing; the next `stan run --context` writes a new file", None),
    }
    let Some(nodes) = nodes else {
        reader.wrong(&top, "`nodes` is missing; the next `stan run --context` writes a new file", None);
        return None;
    };
    let pointer = top.key("nodes");
    if reader.tree().kind(nodes) != JsonKind::Object {
        reader.expected(&pointer, "an object", nodes, None);
        return None;
    }
    let mut all = BTreeMap::new();
    // Collected, because reading a value reports findings through `&mut reader`, from which the fields borrow.
    let fields: Vec<(NodeId, NodeId)> = reader.tree().fields(nodes).collect();
    for (key, value) in fields {
        let id = reader.tree().string(key).unwrap_or_default();
        let pointer = pointer.key(&id);
        if let Err(error) = check_node_id(&id) {
            reader.expected(&pointer, &error.to_string(), key, None);
        }
        if let Some(node) = read_node(reader, value, &pointer, &id)
            && all.insert(id.to_string(), node).is_some()
        {
            reader.wrong(&pointer, "this node is there twice", None);
        }
    }
    Some(all)
}

const KEYS: [&str; 7] = ["id", "locatorAbs", "size", "sha256", "pkgName", "pkgVersion", "pathInPackage"];

fn read_node(reader: &mut DocumentReader<'_>, node: NodeId, at: &Pointer<'_>, own_id: &str) -> Option<LockedExternal> {
    let values = reader.fields(node, at, KEYS)?;
    for (key, value) in KEYS.iter().zip(values).take(4) {
        if value.is_none() {
            reader.wrong(at, format!("`{key}` is missing"), Some(node));
        }
    }
    let [id, locator, size, sha256, package @ ..] = values;
    if let Some(id) = id
        && reader.tree().string(id).is_none_or(|id| id != own_id)
    {
        reader.expected(&at.key("id"), &quoted(own_id), id, Some(node));
    }
    let locator = locator.and_then(|value| {
        let text = reader.tree().string(value).filter(|text| is_absolute(text) && !text.contains('\0'));
        if text.is_none() {
            reader.expected(&at.key("locatorAbs"), "an absolute path", value, Some(node));
        }
        text
    });
    let size = size.and_then(|value| {
        let size = reader.exact_number(value);
        if size.is_none() {
            reader.expected(&at.key("size"), "a number of bytes", value, Some(node));
        }
        size
    });
    let sha256 = sha256.and_then(|value| {
        let digest = reader.tree().string(value).and_then(|text| Digest::from_hex(&text));
        if digest.is_none() {
            reader.expected(&at.key("sha256"), "a SHA-256 of 64 lower-case hex digits", value, Some(node));
        }
        digest
    });
    let package = read_package(reader, package, node, at, own_id)?;
    Some(LockedExternal { locator: locator?.into_owned(), size: size?, sha256: sha256?, package })
}

/// The three fields of installed packages: all or none, and consistent with the id.
fn read_package(
    reader: &mut DocumentReader<'_>,
    fields: [Option<NodeId>; 3],
    node: NodeId,
    at: &Pointer<'_>,
    own_id: &str,
) -> Option<Option<PackageFile>> {
    if fields.iter().all(Option::is_none) {
        return Some(None);
    }
    let mut texts = Vec::with_capacity(3);
    for (key, value) in KEYS.iter().skip(4).zip(fields) {
        match value {
            Some(value) => texts.extend(reader.string(value, &at.key(key), "a string", node)),
            None => reader.wrong(at, format!("`{key}` is missing beside the other fields of a package"), Some(node)),
        }
    }
    let [name, version, path] = <[_; 3]>::try_from(texts).ok()?.map(std::borrow::Cow::into_owned);
    let place = |ecosystem: Ecosystem| ["/", &ecosystem.address(&name, &version, &path)].concat();
    let is_own = |ecosystem: &Ecosystem| {
        let place = place(*ecosystem);
        own_id.ends_with(&place) || own_id == &place[1..]
    };
    // The document does not name the registry; the id does. A package that its id was not built from proves nothing.
    let Some(ecosystem) = Ecosystem::REGISTRIES.into_iter().find(is_own) else {
        let place = place(Ecosystem::Npm);
        reader.wrong(
            at,
            format!("the package's fields belong to another id, one that ends in {}", quoted(&place)),
            Some(node),
        );
        return None;
    };
    Some(Some(PackageFile { ecosystem, name, version, path }))
}

#[cfg(test)]
mod tests;
