//! Finds the Python distribution that installed a file: the one whose `RECORD` lists it with the same size and hash.
//!
//! A file that was modified after installation, or that no `RECORD` lists, has none: it is addressed by its path.

use std::path::Path;

use rustc_hash::FxHashMap;
use stan_graph::PackageFile;
use stan_model::{Digest, Ecosystem, SITE_FOLDER};
use stan_repo::{EntryKind, Files, System, SystemExt as _, World};

use crate::cache::Manifests;

/// Real records are far smaller; a larger one is not read.
const MAX_RECORD_BYTES: u64 = 16 << 20;

/// A bound against hostile input: no real environment has this many distributions in one folder.
const MAX_DISTRIBUTIONS: usize = 4096;

/// The suffix of a distribution's metadata folder.
const METADATA: &str = ".dist-info";

/// Splits the path of an installed file into its site-packages folder and the path below it.
pub(super) fn split_site(absolute: &str) -> Option<(&str, &str)> {
    let start = absolute.rfind(&format!("/{SITE_FOLDER}/"))?;
    let end = start + 1 + SITE_FOLDER.len();
    Some((absolute.get(..end)?, absolute.get(end + 1..)?))
}

/// The files to look up, by site-packages folder and path below it.
#[derive(Default)]
pub(super) struct Distributions {
    sites: FxHashMap<Box<str>, FxHashMap<Box<str>, Vec<Installed>>>,
}

/// One line of a `RECORD`.
struct Installed {
    name: String,
    version: String,
    /// SHA-256 as in `RECORD`: URL-safe base64 without padding.
    hash: String,
    size: Option<u64>,
}

impl Distributions {
    pub(super) fn want(&mut self, absolute: &str) {
        if let Some((site, path)) = split_site(absolute) {
            self.sites.entry(site.into()).or_default().entry(path.into()).or_default();
        }
    }

    /// Reads the records of every folder with a wanted file.
    pub(super) fn read(&mut self, system: &dyn System, world: &World<'_>, observed_at: i64, manifests: &mut Manifests) {
        let mut buffer = Vec::new();
        let mut sites: Vec<_> = self.sites.iter_mut().collect();
        sites.sort_unstable_by(|one, other| one.0.cmp(other.0));
        for (site, wanted) in sites {
            let folders = world.list(site).into_iter().filter(|(_, kind)| *kind == EntryKind::Dir);
            let named = folders.filter_map(|(folder, _)| {
                let (name, version) = folder.strip_suffix(METADATA)?.rsplit_once('-')?;
                Some((normal_name(name), version.to_owned(), format!("{site}/{folder}/RECORD")))
            });
            for (name, version, record) in named.take(MAX_DISTRIBUTIONS) {
                buffer.clear();
                manifests.note(system, &record, observed_at);
                match system.read_real(Path::new(&record), MAX_RECORD_BYTES, &mut buffer) {
                    Ok(_) => take_wanted(&String::from_utf8_lossy(&buffer), &name, &version, wanted),
                    Err(error) => manifests.note_unreadable(&error),
                }
            }
        }
    }

    /// The distribution that installed this file, if size and digest match.
    pub(super) fn file(&self, absolute: &str, size: u64, digest: &Digest) -> Option<PackageFile> {
        let (site, path) = split_site(absolute)?;
        let hash = base64_url(&digest.0);
        let is_same = |one: &&Installed| one.hash == hash && one.size.is_none_or(|known| known == size);
        let installed = self.sites.get(site)?.get(path)?.iter().find(is_same)?;
        Some(PackageFile {
            ecosystem: Ecosystem::Pypi,
            name: installed.name.clone(),
            version: installed.version.clone(),
            path: path.to_owned(),
        })
    }
}

/// Lines of `path,sha256=hash,size`; a path with a comma or quote is quoted.
fn take_wanted(record: &str, name: &str, version: &str, wanted: &mut FxHashMap<Box<str>, Vec<Installed>>) {
    for line in record.lines() {
        let mut fields = line.rsplitn(3, ',');
        let (Some(size), Some(hash), Some(path)) = (fields.next(), fields.next(), fields.next()) else { continue };
        let unquoted = path.strip_prefix('"').and_then(|path| path.strip_suffix('"'));
        let path = unquoted.map_or_else(|| path.to_owned(), |path| path.replace("\"\"", "\""));
        let Some(hash) = hash.strip_prefix("sha256=") else { continue };
        if let Some(installed) = wanted.get_mut(&*path) {
            installed.push(Installed {
                name: name.to_owned(),
                version: version.to_owned(),
                hash: hash.trim_end_matches('=').to_owned(),
                size: size.trim().parse().ok(),
            });
        }
    }
}

/// The normalised name (PEP 503), as registries spell it.
fn normal_name(name: &str) -> String {
    let mut normal = String::with_capacity(name.len());
    for character in name.chars() {
        if matches!(character, '-' | '_' | '.') {
            if !normal.ends_with('-') {
                normal.push('-');
            }
        } else {
            normal.extend(character.to_lowercase());
        }
    }
    normal
}

/// URL-safe base64 without padding.
fn base64_url(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0_u32, |bits, byte| (bits << 8) | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for index in 0..=chunk.len() {
            let six = (bits >> (18 - 6 * index)) & 63;
            text.push(char::from(ALPHABET[six as usize]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_spelled_as_in_records() {
        for (bytes, expected) in [(&b""[..], ""), (b"f", "Zg"), (b"fo", "Zm8"), (b"foo", "Zm9v"), (b"\xfb\xff", "-_8")]
        {
            assert_eq!(base64_url(bytes), expected);
        }
    }

    #[test]
    fn names_of_python_packages_are_normalised() {
        assert_eq!(normal_name("Typing_Extensions"), "typing-extensions");
        assert_eq!(normal_name("zope.interface"), "zope-interface");
        assert_eq!(normal_name("a-_.b"), "a-b");
    }
}
