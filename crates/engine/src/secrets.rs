//! Whether a file is kept out of archives and packs because it contains secrets. The same decision for every verb and front end; the
//! rules are in `stan_secrets`.

use std::path::Path;

use stan_archive::{BINARY_PREFIX, HeldBack, Secrets};
use stan_model::document::run_report::{SecretFile, SecretHit};
use stan_repo::{System, SystemExt as _};
use stan_secrets::{Hit, Stream, credential_file, keep_for, scan_file};

use crate::config::Config;

/// Why the text of a file must not be handed on; `None` when it may. `path` is relative to the root. Only the command line
/// allows a file (`Config::allowed_secrets`). Whether a file is binary is not asked here.
pub fn secrets_of(config: &Config, path: &str, text: &[u8]) -> Option<SecretFile> {
    if config.allowed_secrets.contains(path) {
        return None;
    }
    match credential_file(path) {
        Some(rule) => Some(by_name(path, rule)),
        None => by_hits(path, scan_file(path, text)),
    }
}

/// As [`secrets_of`], for a file on the disk that has several names: any of them may mark it as a secret. The first is
/// the one that is reported. A binary is never held back, and what cannot be read is not judged.
pub(crate) fn secrets_on_disk(
    system: &dyn System,
    config: &Config,
    names: &[&str],
    absolute: &str,
) -> Result<Judged, std::io::Error> {
    let name = names.first().copied().unwrap_or_default();
    let is_allowed = names.iter().any(|name| config.allowed_secrets.contains(*name));
    let credential = names.iter().copied().chain([absolute]).find_map(credential_file);
    let mut start: Option<bool> = None;
    let mut stream = Stream::default();
    system.read_chunks(Path::new(absolute), &mut |piece| {
        let prefix = piece.get(..BINARY_PREFIX).unwrap_or(piece);
        let is_binary = *start.get_or_insert_with(|| prefix.contains(&0));
        if !is_binary && !is_allowed && credential.is_none() {
            stream.update(piece);
        }
    })?;
    Ok(match credential {
        _ if start == Some(true) => Judged::Binary,
        _ if is_allowed => Judged::Free,
        Some(rule) => Judged::Held(by_name(name, rule)),
        None => by_hits(name, keep_for(name, stream.finish())).map_or(Judged::Free, Judged::Held),
    })
}

/// What becomes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Judged {
    Free,
    Binary,
    Held(SecretFile),
}

/// What the archive held back, as reports say it.
pub(crate) fn reported(file: &HeldBack) -> SecretFile {
    match &file.secrets {
        Secrets::Credential(rule) => by_name(&file.name, rule),
        Secrets::Hits(hits) => SecretFile { path: file.name.clone(), hits: hits.iter().map(shown).collect() },
    }
}

fn by_name(path: &str, rule: &'static str) -> SecretFile {
    SecretFile { path: path.to_owned(), hits: vec![SecretHit { line: None, rule: rule.to_owned() }] }
}

fn by_hits(path: &str, hits: Vec<Hit>) -> Option<SecretFile> {
    (!hits.is_empty()).then(|| SecretFile { path: path.to_owned(), hits: hits.iter().map(shown).collect() })
}

fn shown(hit: &Hit) -> SecretHit {
    SecretHit { line: Some(hit.line), rule: hit.rule.to_owned() }
}
