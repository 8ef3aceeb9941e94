//! Limits of the machine, and other users: little address space, no home folder, private files, caches written by another user, a
//! run that holds the lock.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

use stan_archive::{Holder, Lock};
use stan_engine::OsSystem;

use crate::project::succeeds;
use crate::support::Repository;

const FILES: &[(&str, &str)] = &[
    ("package.json", "{\"name\":\"app\",\"version\":\"1.0.0\"}\n"),
    (".gitignore", ".stan/\n"),
    ("src/a.ts", "import { b } from './b';\nimport 'node:child_process';\nexport const a = b;\n"),
    ("src/b.ts", "export const b = 1;\n"),
];

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).permissions().mode()
        & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Runs with a common umask, independent of the machine's.
fn run_with_umask(repository: &Repository, arguments: &[&str]) -> Output {
    let stan = repository.command(arguments);
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "umask 022; exec \"$0\" \"$@\""]).arg(stan.get_program()).args(stan.get_args());
    shell.current_dir(repository.root()).env_clear().env("XDG_STATE_HOME", repository.state_home());
    let output = shell.output().expect("there is a shell");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

#[test]
fn archives_of_private_files_are_private() {
    let repository = Repository::new(FILES);
    let at = |path: &str| repository.root().join(path);
    let modes = || [".stan/output/archive.tar", ".stan/output/archive.diff.tar"].map(|path| mode(&at(path)));
    run_with_umask(&repository, &["run"]);
    assert_eq!(modes(), [0o644, 0o644]);
    let shared = fs::read(at(".stan/output/archive.tar")).unwrap();

    // The bytes are equal, but the permissions are not.
    set_mode(&at("src/b.ts"), 0o600);
    run_with_umask(&repository, &["run"]);
    assert_eq!(mode(&at(".stan/output/archive.tar")), 0o600);
    assert!(fs::read(at(".stan/output/archive.tar")).unwrap() == shared, "modes within the archive stay");
    repository.write("src/b.ts", "export const b = 2;\n");
    run_with_umask(&repository, &["run"]);
    assert_eq!(modes(), [0o600, 0o600]);

    set_mode(&at("src/b.ts"), 0o644);
    repository.write("src/b.ts", "export const b = 3;\n");
    run_with_umask(&repository, &["run"]);
    assert_eq!(modes(), [0o644, 0o644], "a new archive of shared files is shared");
}

#[test]
fn copies_of_private_files_are_private() {
    let repository = Repository::new(FILES);
    repository.write("stan.config.yml", "stan-core:\n  imports:\n    notes: notes/**\n    plain: plain/**\n");
    repository.write(".gitignore", ".stan/\nnotes/\nplain/\nnode_modules/\n");
    repository.write("notes/secret.md", "secret\n");
    repository.write("plain/open.md", "open\n");
    repository.write("node_modules/p/package.json", "{\"name\":\"p\",\"version\":\"1.0.0\",\"main\":\"i.js\"}\n");
    repository.write("node_modules/p/i.js", "exports.p = 1;\n");
    repository.write("src/c.ts", "import 'p';\n");
    let at = |path: &str| repository.root().join(path);
    set_mode(&at("notes/secret.md"), 0o600);
    set_mode(&at("node_modules/p/i.js"), 0o640);
    run_with_umask(&repository, &["run", "--context", "--meta"]);
    repository.write(".stan/context/dependency.state.json", "{\"v\":2,\"i\":[[\"src/c.ts\",1]]}\n");
    run_with_umask(&repository, &["run", "--context"]);
    assert_eq!(mode(&at(".stan/imports/notes/secret.md")), 0o600);
    assert_eq!(mode(&at(".stan/imports/notes")), 0o700);
    assert_eq!(mode(&at(".stan/imports/plain/open.md")), 0o644);
    assert_eq!(mode(&at(".stan/context/npm/p/1.0.0/i.js")), 0o600);
    assert_eq!(mode(&at(".stan/output/archive.tar")), 0o600);

    // A copy of an earlier run with too wide permissions is replaced.
    for copy in [".stan/imports/notes/secret.md", ".stan/context/npm/p/1.0.0/i.js"] {
        set_mode(&at(copy), 0o644);
    }
    run_with_umask(&repository, &["run", "--context"]);
    assert_eq!(mode(&at(".stan/imports/notes/secret.md")), 0o600);
    assert_eq!(mode(&at(".stan/context/npm/p/1.0.0/i.js")), 0o600);
}

/// With too little address space for any of the default stacks.
#[test]
fn little_address_space_is_enough() {
    let repository = Repository::new(FILES);
    let expected = succeeds(&repository, &["graph", "--json", "--no-cache"]);
    for (kilobytes, arguments) in [
        (1_000_000, &["graph", "--json", "--no-cache"][..]),
        (600_000, &["graph", "--json", "--no-cache"]),
        (300_000, &["graph", "--json", "--no-cache"]),
        (300_000, &["graph", "--json", "--no-cache", "--threads", "64"]),
        (300_000, &["run"]),
        (300_000, &["run", "--context", "--meta"]),
        (300_000, &["select"]),
        (300_000, &["snap"]),
        (300_000, &["verify"]),
    ] {
        let stan = repository.command(arguments);
        let mut shell = Command::new("/bin/sh");
        let script = format!("ulimit -v {kilobytes}; exec \"$0\" \"$@\"");
        shell.args(["-c", &script]).arg(stan.get_program()).args(stan.get_args());
        shell.current_dir(repository.root()).env_clear().env("XDG_STATE_HOME", repository.state_home());
        let output = shell.output().expect("there is a shell");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{kilobytes} kB, {arguments:?}: {:?} {errors}", output.status);
        if arguments.contains(&"--json") {
            assert!(String::from_utf8_lossy(&output.stdout) == expected, "{kilobytes} kB, {arguments:?}: {errors}");
        }
    }
}

#[test]
fn the_wait_for_a_locked_workspace_is_configurable() {
    let repository = Repository::new(FILES);
    succeeds(&repository, &["run"]);
    let holder = Holder { process: 4711, command: "stan run".to_owned() };
    let _held = Lock::acquire(&OsSystem, repository.root(), ".stan", &holder, &mut || false, &mut |_| {})
        .expect("the lock is free");
    // As if it had been acquired ten minutes ago.
    let lock = fs::File::options().write(true).open(repository.root().join(".stan/.lock")).unwrap();
    lock.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(600)).unwrap();
    for (arguments, longest) in [
        (&["run", "--no-wait"][..], 20),
        (&["snap", "--no-wait"], 20),
        (&["state", "migrate", "--no-wait"], 20),
        (&["run", "--wait", "0"], 20),
        (&["run", "--wait", "1"], 30),
    ] {
        let started = Instant::now();
        let output = repository.output(arguments, &[]);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(started.elapsed().as_secs() < longest, "{arguments:?}");
        if arguments[0] == "state" {
            assert_eq!(output.status.code(), Some(1));
            continue;
        }
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {errors}");
        assert!(errors.contains("(pid 4711: stan run, for 10 min)"), "{arguments:?}: {errors}");
        assert!(errors.contains("--wait SECONDS"), "{errors}");
        assert_eq!(errors.contains("waiting for another run"), arguments.contains(&"1"), "{errors}");
    }
    let both = repository.output(&["run", "--wait", "3", "--no-wait"], &[]);
    assert_eq!(both.status.code(), Some(2));
}

/// Copies the files of a folder, as a checkout or an unpacked archive would.
fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// The message about how the cache was used.
fn how(repository: &Repository, arguments: &[&str]) -> String {
    let output = repository.output(arguments, &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_committed_cache_changes_no_answer() {
    let repository = Repository::new(FILES);
    let truth = succeeds(&repository, &["graph", "--json", "--no-cache"]);
    let cache = repository.root().join(".stan/cache");
    let shipped = repository.root().with_file_name("shipped");

    // The attacker creates the cache in a repository that hides an import, at the same path (as in CI), and then restores the
    // files whose stats are in the index. Only the times differ.
    let honest = fs::read(repository.root().join("src/a.ts")).unwrap();
    repository.write("src/a.ts", "import { b } from './b';\nexport const a = b;\n");
    std::thread::sleep(std::time::Duration::from_millis(2_100));
    succeeds(&repository, &["graph", "--json"]);
    copy_folder(&cache, &shipped);
    fs::write(repository.root().join("src/a.ts"), honest).unwrap();
    fs::remove_dir_all(&cache).unwrap();

    copy_folder(&shipped, &cache);
    assert!(how(&repository, &["graph", "-v"]).contains("analysed 4 files"), "not even the facts are taken");
    assert_eq!(succeeds(&repository, &["graph", "--json"]), truth);
    assert!(succeeds(&repository, &["graph", "--meta"]).contains("child_process"));

    // Overwrites our own cache, whose seals remain.
    for file in ["graph.index", "graph.data"] {
        fs::copy(shipped.join(file), cache.join(file)).unwrap();
    }
    assert!(how(&repository, &["graph", "-v"]).contains("analysed 4 files"));
    assert_eq!(succeeds(&repository, &["graph", "--json"]), truth);
}

#[test]
fn a_cache_serves_where_it_was_written() {
    let repository = Repository::new(FILES);
    std::thread::sleep(std::time::Duration::from_millis(2_100));
    let unchanged = "cache: nothing changed\n";
    succeeds(&repository, &["graph"]);
    assert_eq!(how(&repository, &["graph", "-v"]), unchanged);
    // Only the user may read the key.
    let key = repository.state_home().join("stan/cache.key");
    assert_eq!((fs::read(&key).unwrap().len(), mode(&key)), (32, 0o600));
    // Without a home folder there is no cache, but no failure.
    let mut homeless = repository.command(&["graph", "-v"]);
    let output = homeless.env_remove("XDG_STATE_HOME").output().unwrap();
    assert!(output.status.success() && String::from_utf8_lossy(&output.stderr).contains("analysed 4 files"));
    // A cache in the user's own folder is trusted after a restore, without a key.
    let outside = repository.root().with_file_name("outside");
    let typed = outside.display().to_string();
    let arguments = ["graph", "-v", "--cache-dir", &typed];
    how(&repository, &arguments);
    let restored: PathBuf = outside.with_file_name("restored");
    copy_folder(&outside, &restored);
    fs::remove_dir_all(&outside).unwrap();
    copy_folder(&restored, &outside);
    assert_eq!(how(&repository, &arguments), unchanged);
    assert!(!outside.join("graph.index.seal").exists());
}
