//! Decides whether a file is kept out of archives and packs because it contains secrets. Shared by all verbs and front ends; the
//! rules are in `stan_secrets`.

use std::path::Path;

use stan_archive::{BINARY_PREFIX, HeldBack, Secrets};
use stan_model::document::run_report::{SecretFile, SecretHit};
use stan_repo::{System, SystemExt as _};
use stan_secrets::{Hit, Stream, credential_file, keep_for, scan_file};

use crate::config::Config;

/// The secrets because of which a file must not be handed on; `None` if there are none. `path` is relative to the root. Only the
/// command line can allow a file (`Config::allowed_secrets`). Does not check whether the file is binary.
pub fn secrets_of(config: &Config, path: &str, text: &[u8]) -> Option<SecretFile> {
    if config.allowed_secrets.contains(path) {
        return None;
    }
    match credential_file(path) {
        Some(rule) => Some(by_name(path, rule)),
        None => by_hits(path, scan_file(path, text)),
    }
}

/// Like [`secrets_of`], for a file on disk with several names: any of them may mark it as secret. The first is reported. A binary
/// file is never held back; an unreadable one is an error.
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

/// The treatment of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Judged {
    Free,
    Binary,
    Held(SecretFile),
}

/// A file that the archive held back, as reports show it.
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
