//! What other users must not see: paths of this machine, the user's name, and the private map, whatever the configuration, the
//! selection and symlinks say.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use crate::archives::contents;
use crate::support::Repository;

/// The user's name, which is in every absolute path.
const USER: &str = "secretuser";
const APP: &str = "home/secretuser/app";

const FILES: &[(&str, &str)] = &[
    ("stan.config.yml", "stan-core:\n  includes: ['**/dependency.map.json', '.stan/**']\n"),
    ("package.json", "{\"name\":\"app\",\"version\":\"1.0.0\"}\n"),
    (".gitignore", "node_modules\n.stan\n"),
    (".stan/system/stan.system.md", "Follow the protocol.\n"),
    ("src/index.ts", "import 'zed';\nimport '../../shared/outside';\nimport './gone';\nimport 'node:fs';\n"),
    ("node_modules/.pnpm/zed@1.2.3/node_modules/zed/index.js", "exports.z = 1;\n"),
    (
        "node_modules/.pnpm/zed@1.2.3/node_modules/zed/package.json",
        "{\"name\":\"zed\",\"version\":\"1.2.3\",\"main\":\"index.js\"}\n",
    ),
    ("../shared/outside.ts", "export const outside = true;\n"),
    // The workspace of an earlier configuration, and that of a package.
    ("old/context/dependency.map.json", "{\"v\":1,\"nodes\":{}}\n"),
    ("packages/p/.stan/context/dependency.map.json", "{\"v\":1,\"nodes\":{}}\n"),
];

/// The private map in every spelling, a symlink to it, the user's files, and an installed file by its path.
const SELECTED: &[&str] = &[
    "src/index.ts",
    ".stan/context/dependency.map.json",
    "./.stan/context/dependency.map.json",
    ".stan\\\\context\\\\dependency.map.json",
    ".STAN/context/dependency.map.json",
    ".stan/context/DEPENDENCY.MAP.JSON",
    ".stan//context/./dependency.map.json",
    "src/map.json",
    "map.json",
    "folder/dependency.map.json",
    "old/context/dependency.map.json",
    "packages/p/.stan/context/dependency.map.json",
    "src/passwords.txt",
    "node_modules/zed/index.js",
    "node_modules/.pnpm/zed@1.2.3/node_modules/zed/index.js",
    "src/zed/index.js",
];

fn repository() -> (Repository, PathBuf) {
    let repository = Repository::new(&[]);
    FILES.iter().for_each(|(path, text)| repository.write(&format!("{APP}/{path}"), text));
    let app = repository.root().join(APP);
    symlink(".pnpm/zed@1.2.3/node_modules/zed", app.join("node_modules/zed")).unwrap();
    symlink("../.stan/context/dependency.map.json", app.join("src/map.json")).unwrap();
    symlink(".stan/context/dependency.map.json", app.join("map.json")).unwrap();
    symlink(".stan/context", app.join("folder")).unwrap();
    symlink("../node_modules/zed", app.join("src/zed")).unwrap();
    symlink("../../shared/outside.ts", app.join("src/passwords.txt")).unwrap();
    (repository, app)
}

fn check_private(what: &str, text: &str, root: &str) {
    for private in [USER, root, "node_modules/", "locatorAbs", "\".stan/context/dependency.map.json"] {
        assert!(!text.contains(private), "{what} contains {private}: {text}");
    }
}

#[test]
fn nothing_private_is_in_any_archive() {
    let (repository, app) = repository();
    let root = repository.root().display().to_string();
    let run = |arguments: &[&str]| {
        let arguments = [arguments, &["--allow-outside", "../shared"]].concat();
        let output = repository.command(&arguments).current_dir(&app).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    let state = app.join(".stan/context/dependency.state.json");
    fs::create_dir_all(state.parent().unwrap()).unwrap();
    let entries: Vec<String> = SELECTED.iter().map(|path| format!("[\"{path}\",9]")).collect();
    let selection = format!("{{\"v\":2,\"i\":[{}]}}\n", entries.join(","));
    for arguments in [
        &["run", "--context", "--meta"][..],
        &["run", "--context"],
        &["run", "--context"],
        &["snap"],
        &["run", "--context", "--frozen"],
        &["run"],
        &["run"],
    ] {
        if !arguments.contains(&"--meta") {
            fs::write(&state, &selection).unwrap();
        }
        run(arguments);
        let meta = fs::read_to_string(app.join(".stan/context/dependency.meta.json")).unwrap();
        check_private("the meta", &meta, &root);
        assert!(meta.contains(".stan/context/npm/zed/1.2.3/index.js") && meta.contains(".stan/context/abs/"), "{meta}");
        for archive in ["archive.tar", "archive.diff.tar"] {
            let path = app.join(".stan/output").join(archive);
            if !path.exists() {
                continue;
            }
            for (name, bytes) in contents(&path) {
                let name_is_private = name.to_ascii_lowercase().ends_with("dependency.map.json")
                    || name.ends_with("map.json")
                    || name.contains("node_modules/");
                assert!(!name_is_private, "{arguments:?}: {archive} holds {name}");
                // The selection repeats what the assistant requested, whatever it was.
                if name != ".stan/context/dependency.state.json" {
                    check_private(
                        &format!("{arguments:?}: {name} in {archive}"),
                        &String::from_utf8_lossy(&bytes),
                        &root,
                    );
                }
            }
        }
        let mode =
            std::os::unix::fs::MetadataExt::mode(&fs::metadata(app.join(".stan/context/dependency.map.json")).unwrap());
        assert_eq!(mode & 0o777, 0o600);
    }
    let archive = contents(&app.join(".stan/output/archive.tar"));
    assert!(!archive.contains_key("src/passwords.txt"), "a link that leads out is not followed");
}
