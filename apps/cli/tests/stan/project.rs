//! A small TypeScript project with an installed package and an active thread, for tests that break it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::Repository;

pub(crate) const ARCHIVE: &str = ".stan/output/archive.tar";
pub(crate) const DIFF: &str = ".stan/output/archive.diff.tar";
pub(crate) const META: &str = ".stan/context/dependency.meta.json";
pub(crate) const STATE: &str = ".stan/context/dependency.state.json";
pub(crate) const MAP: &str = ".stan/context/dependency.map.json";
pub(crate) const SNAPSHOT: &str = ".stan/diff/.archive.snapshot.context.json";

pub(crate) const EXTERNAL: &str = "node_modules/zed/index.d.ts";
pub(crate) const NODE: &str = ".stan/context/npm/zed/1.2.3/index.d.ts";

const FILES: &[(&str, &str)] = &[
    ("stan.config.yml", "stan-core:\n  stanPath: .stan\n"),
    ("package.json", "{\"name\":\"app\",\"version\":\"1.0.0\"}\n"),
    ("tsconfig.json", "{\"compilerOptions\":{\"module\":\"nodenext\"}}\n"),
    (".gitignore", "node_modules\n/.stan/*\n!/.stan/system\n"),
    (".stan/system/stan.system.md", "Follow the protocol.\n"),
    ("src/index.ts", "import {helper} from './helper.js';\nimport {z} from 'zed';\nhelper(z);\n"),
    ("src/helper.ts", "export const helper = (x: unknown) => x;\n"),
    ("node_modules/zed/package.json", "{\"name\":\"zed\",\"version\":\"1.2.3\",\"types\":\"index.d.ts\"}\n"),
    (EXTERNAL, "export declare const z: number;\n"),
];

pub(crate) const SELECTION: &str = "{\"v\":2,\"i\":[[\"src/index.ts\",1]]}\n";

/// The project before any command ran.
pub(crate) fn fresh() -> Repository {
    Repository::new(FILES)
}

/// The project during a thread: map, selection, archives and snapshot exist and are consistent.
pub(crate) fn thread() -> Repository {
    let repository = fresh();
    repository.write(STATE, SELECTION);
    succeeds(&repository, &["run", "--context"]);
    repository
}

/// Runs a command that must succeed, and returns its stdout.
pub(crate) fn succeeds(repository: &Repository, arguments: &[&str]) -> String {
    let output = repository.output(arguments, &[]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Everything below a folder by relative path: files with their bytes, symlinks with their targets. Leaves out the cache, the
/// lock and the copies of applied replies, which are not outputs.
pub(crate) fn everything(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).expect("folders can be listed") {
            let path = entry.expect("entries can be read").path();
            let name = path.strip_prefix(folder).expect("it was found there").to_string_lossy().into_owned();
            if [".stan/cache", ".stan/.lock", ".stan/patch"].iter().any(|own| path.ends_with(own)) {
                continue;
            }
            let kind = path.symlink_metadata().expect("it was listed").file_type();
            let what = if kind.is_symlink() {
                let target = fs::read_link(&path).expect("it is a link");
                format!("link to {}", target.display()).into_bytes()
            } else if kind.is_dir() {
                pending.push(path);
                b"folder".to_vec()
            } else {
                fs::read(&path).unwrap_or_default()
            };
            found.insert(name, what);
        }
    }
    found
}
