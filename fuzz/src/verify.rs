//! The laws of `stan verify`: any bytes as the archive of a small workspace.

use std::path::Path;

use stan_archive::TarKind;
use stan_engine::Engine;
use stan_engine::config::Config;
use stan_engine::context::{EngineErrorKind, Repository, verify};
use stan_repo::{MemorySystem, SystemExt as _};

use crate::tar::{Entries, entries, with_checksums};
use crate::tree::{Fence, ROOT};

const ARCHIVE: &str = "/r/.stan/output/archive.tar";

const TREE: &str = "\
//- /r/a.ts
export const a = 1;
//- /r/none.ts
//- /r/src/b.ts
export const b = 2;
//- /r/.stan/context/dependency.map.json
{\"v\":1,\"nodes\":{}}
//- link /r/out -> ../secret
//- /secret/key
secret
";

/// The input as is, and with corrected header checksums. An archive that is reported as matching contains only files of the tree
/// with their exact bytes. Whatever it names, nothing outside of the root is read.
pub fn law(bytes: &[u8]) {
    check(bytes);
    let repaired = with_checksums(bytes);
    if repaired != bytes {
        check(&repaired);
    }
}

fn check(archive: &[u8]) {
    let system = MemorySystem::from_fixture(TREE);
    system.set_file(ARCHIVE, archive);
    let config = Config::default();
    let fence = Fence { system: &system, may_read: |path| path.starts_with("/r/") };
    let repository = Repository { root: ROOT, config: &config };
    let engine = Engine::new(&fence);
    let outcome = verify(&engine, &repository, None);
    assert_eq!(outcome, verify(&engine, &repository, None), "the same archive has the same report");
    let held = entries(archive, true);
    match outcome {
        Ok(report) => {
            assert!(report.entries <= held.0.len() as u64);
            let complaints = report.differ.len() + report.gone.len() + report.new.len();
            assert_eq!(report.matches, complaints == 0, "{report:?}");
            assert!(!report.matches || is_true(&system, &held), "{report:?}");
        }
        Err(refusal) => assert!(refusal.kind == EngineErrorKind::Input && !refusal.message.is_empty(), "{refusal}"),
    }
}

/// What a diff archive adds: the list of paths, or that nothing changed.
const LIST: &str = ".stan/output/archive.diff.json";
const NO_CHANGES: &str = ".stan/diff/.stan_no_changes";

/// Whether everything in an archive is a file of the tree, once, with its bytes, or a correct statement about a diff.
fn is_true(system: &MemorySystem, (held, end): &Entries) -> bool {
    let mut names: Vec<&str> = held.iter().filter_map(|(entry, _)| entry.safe_name()).collect();
    names.sort_unstable();
    names.dedup();
    let is_same = |name: &str, contents: &[u8]| {
        let mut bytes = Vec::new();
        system.read_into(Path::new(&format!("{ROOT}/{name}")), &mut bytes).is_ok() && bytes == contents
    };
    end.is_some_and(|end| end.is_marked && !end.has_trailing_bytes)
        && names.len() == held.len()
        && held.iter().all(|(entry, contents)| {
            let is_true = |name| match name {
                NO_CHANGES => true,
                LIST => is_true_list(system, contents),
                _ => is_same(name, contents),
            };
            entry.kind == TarKind::File && entry.safe_name().is_some_and(is_true)
        })
}

/// Whether the removed paths of a list are paths of the repository that do not exist.
fn is_true_list(system: &MemorySystem, contents: &[u8]) -> bool {
    let Ok(list) = serde_json::from_slice::<serde_json::Value>(contents) else { return false };
    let Some(removed) = list["removed"].as_array() else { return false };
    removed.iter().all(|path| {
        path.as_str().is_some_and(|path| {
            path.split('/').all(|name| !matches!(name, "" | "." | ".."))
                && system.read_into(Path::new(&format!("{ROOT}/{path}")), &mut Vec::new()).is_err()
        })
    })
}
