//! The rule for canonical ids: maps one file outside the repository to one address below `<stanPath>/context`.
//!
//! Names and versions come from untrusted manifests, so each is checked before it becomes part of a path.

use sha2::{Digest as _, Sha256};
use stan_model::document::is_absolute;
use stan_model::{Digest, Ecosystem, PACKAGE_FOLDER};

pub use stan_model::document::externals_lock::PackageFile;

/// A file outside the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalFile {
    /// Its real path, with `/` as separator.
    pub absolute: String,
    /// Its path from the root, for a file inside the repository: its address must not depend on where the root is.
    pub inside: Option<String>,
    /// The installed package that it belongs to.
    pub package: Option<PackageFile>,
    /// One line about it.
    pub description: Option<String>,
}

impl ExternalFile {
    /// A file by its real path. `root` is the absolute path of the repository.
    pub fn new(root: &str, absolute: String, package: Option<PackageFile>) -> Self {
        let inside = absolute.strip_prefix(root.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'));
        Self { inside: inside.map(str::to_owned), absolute, package, description: None }
    }
}

/// The maximum length of a file name on common file systems, in bytes.
const MAX_SEGMENT_BYTES: usize = 255;

/// The archive address of a file.
pub fn canonical_id(stan_path: &str, file: &ExternalFile) -> String {
    let stan_path = stan_path.trim_end_matches('/');
    match file.package.as_ref().filter(|package| is_safe_package(package)) {
        Some(PackageFile { ecosystem, name, version, path }) => {
            format!("{stan_path}/{}", ecosystem.address(name, version, path))
        }
        None => {
            let place = file.inside.as_deref().unwrap_or(&file.absolute);
            let digest = Digest(Sha256::digest(place.as_bytes()).into());
            format!("{stan_path}/{}/{digest}/{}", Ecosystem::Abs.context_folder(), safe_basename(&file.absolute))
        }
    }
}

/// Whether name, version and path are valid file names on every system. Otherwise the file is addressed by hash.
pub fn is_safe_package(package: &PackageFile) -> bool {
    let PackageFile { ecosystem, name, version, path } = package;
    let is_safe_name = match name.strip_prefix('@').and_then(|scoped| scoped.split_once('/')) {
        Some((scope, name)) => is_safe_name(scope) && is_safe_name(name),
        // The module path ends at the only `@` of the address.
        None if *ecosystem == Ecosystem::Go => !name.contains('@') && name.split('/').all(is_safe_name),
        // Package `@s` in version `p` would have the same addresses as package `@s/p`.
        None => !name.starts_with('@') && is_safe_name(name),
    };
    is_safe_name && is_safe_version(version) && !version.contains('@') && path.split('/').all(is_safe_segment)
}

/// The id of a missing node whose specifier contains a path of this machine; `None` for all others.
///
/// The rest of the id still shows what was requested. Such nodes have no contents, so a collision is harmless.
pub(super) fn private_specifier(specifier: &str) -> Option<String> {
    let after_modules = specifier.split(['/', '\\']).any(|segment| segment == PACKAGE_FOLDER).then(|| {
        let start = specifier.rfind(PACKAGE_FOLDER).map_or(0, |start| start + PACKAGE_FOLDER.len());
        specifier.get(start..).unwrap_or_default().trim_start_matches(['/', '\\'])
    });
    let shown = match after_modules {
        Some(rest) => rest,
        None if is_absolute(specifier) => specifier.rsplit(['/', '\\']).next().unwrap_or_default(),
        None if specifier.is_empty() || specifier.contains('\0') => specifier,
        None => return None,
    };
    Some(format!("missing:{}", shown.replace('\0', "\u{fffd}")))
}

fn is_safe_name(name: &str) -> bool {
    // Tools trust some hidden directories, such as `.git`.
    !name.starts_with('.') && name != PACKAGE_FOLDER && is_portable(name)
}

fn is_safe_version(version: &str) -> bool {
    !version.starts_with('.') && is_portable(version)
}

/// A segment with the same meaning on every system on which an archive may be unpacked.
fn is_portable(segment: &str) -> bool {
    is_safe_segment(segment)
        && !segment.ends_with(['.', ' '])
        && !segment.starts_with(' ')
        && !segment.contains(['<', '>', ':', '"', '|', '?', '*', '/'])
}

fn is_safe_segment(segment: &str) -> bool {
    !segment.is_empty()
        && segment != "."
        && segment != ".."
        && segment.len() <= MAX_SEGMENT_BYTES
        && !segment.contains(|character: char| character == '\\' || character.is_control())
}

/// The basename of a path, with unsafe characters replaced. The hash before it keeps different files apart.
fn safe_basename(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default();
    if is_safe_segment(name) {
        return name.to_owned();
    }
    let mut safe: String = name
        .chars()
        .map(|character| if character == '\\' || character.is_control() { '_' } else { character })
        .collect();
    safe.truncate(safe.floor_char_boundary(MAX_SEGMENT_BYTES));
    if is_safe_segment(&safe) { safe } else { "file".to_owned() }
}
