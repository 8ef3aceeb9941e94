//! A context run that repeats the last one because nothing has changed: its report and outputs equal those of a run without a
//! cache, and any change of an input is detected.

mod support;

use stan_engine::Engine;
use stan_engine::config::Config;
use stan_engine::context::reports::{ArchiveMode, RunReport};
use stan_engine::context::{NoProgress, Repository, RunRequest, run};
use stan_engine::graph::GraphRequest;
use stan_engine::tokens::Tokenizer;
use stan_repo::SystemExt as _;
use support::disk::{Disk, MemoryDisk};
use support::edits::start;

const CACHE: &str = "/r/.stan/cache";
const KEPT: &str = ".stan/cache/run.data";
const OUTPUTS: [&str; 6] = [
    ".stan/output/archive.tar",
    ".stan/output/archive.diff.tar",
    ".stan/output/archive.diff.json",
    ".stan/context/dependency.meta.json",
    ".stan/context/dependency.overview.md",
    ".stan/context/dependency.map.json",
];

/// The report, and the bytes of all outputs.
type RunResult = (RunReport, Vec<Option<Vec<u8>>>);

fn repository() -> MemoryDisk {
    let disk = MemoryDisk::new();
    start(&disk);
    disk.write("README.md", b"# Read this\n");
    disk.write("src/picked.ts", b"export const picked = 1;");
    disk.write("secret.txt", b"-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn/ygWyF8PbnGy0AHB7\n");
    disk.write("package-lock.json", b"{}");
    disk.write(".stan/system/stan.project.md", b"Speak plainly.\n");
    disk.write(".stan/context/dependency.state.json", br#"{"v":2,"i":[["src/picked.ts",0],["absent.ts",0]]}"#);
    disk
}

fn outcome(disk: &MemoryDisk, config: &Config, cache: Option<&str>) -> RunResult {
    disk.wait(3_000_000_000);
    let repository = Repository { root: disk.root(), config };
    let work = GraphRequest {
        cache_directory: cache.map(str::to_owned),
        state_directory: Some("/state".into()),
        ..GraphRequest::default()
    };
    let request = RunRequest { tokens: Some(Tokenizer::Bytes4), ..RunRequest::new(ArchiveMode::Context, work) };
    let report = run(&Engine::new(disk.system()), &repository, &request, &mut NoProgress).expect("it can be archived");
    (RunReport { errors_are_known: false, ..report }, OUTPUTS.iter().map(|output| disk.read(output)).collect())
}

/// Runs until nothing changes any more, and returns the report and outputs of that run.
fn settled(disk: &MemoryDisk, config: &Config) -> RunResult {
    for _ in 0..3 {
        outcome(disk, config, Some(CACHE));
    }
    let kept = outcome(disk, config, Some(CACHE));
    assert_eq!(outcome(disk, config, None), kept, "a run without a cache says and leaves the same");
    // That run changed the stat of recorded folders, so only the next run is stored.
    outcome(disk, config, Some(CACHE));
    kept
}

/// Whether the next run repeats the last one: any other run needs the map and stores it again.
fn is_repeated(disk: &MemoryDisk, config: &Config) -> bool {
    let map = ".stan/cache/map.data";
    let bytes = disk.read(map).expect("a run keeps its map");
    let _ = disk.system().remove_file("/r/.stan/cache/map.data".as_ref());
    outcome(disk, config, Some(CACHE));
    let is_repeated = disk.read(map).is_none();
    if is_repeated {
        disk.write(map, &bytes);
    }
    is_repeated
}

#[test]
fn an_unchanged_run_is_repeated_without_its_map() {
    let disk = repository();
    let config = Config::default();
    let kept = settled(&disk, &config);
    assert!(is_repeated(&disk, &config));
    assert_eq!(outcome(&disk, &config, Some(CACHE)), kept);
    assert_eq!(kept.0.secrets.len(), 1);
    assert!(kept.0.left_out.iter().any(|file| file.path == "absent.ts"));
    assert_eq!(kept.0.written, [".stan/context/dependency.map.json"], "it is written again, by its permissions");
    assert!(disk.system().open("/r/.stan/context/dependency.map.json".as_ref()).unwrap().private);
}

/// Their stats are in the graph's index, and a run is repeated only if all of these are unchanged.
#[test]
fn files_of_the_graph_are_not_recorded_a_second_time() {
    let disk = repository();
    let config = Config::default();
    settled(&disk, &config);
    let kept = disk.read(KEPT).expect("a run is kept");
    let has = |path: &[u8]| kept.windows(path.len()).any(|window| window == path);
    assert!(has(b"/r/absent.ts") && has(b"/r/.stan/output/archive.tar"));
    assert!(!has(b"/r/src/picked.ts") && !has(b"/r/README.md"));
}

#[test]
fn every_change_invalidates_the_kept_run() {
    type Edit = (&'static str, fn(&MemoryDisk));
    let edits: [Edit; 18] = [
        ("a file of the root", |disk| disk.write("README.md", b"# Read that\n")),
        ("a new file of the root", |disk| disk.write("NEW.md", b"new\n")),
        ("a selected file", |disk| disk.write("src/picked.ts", b"export const picked = 2;")),
        ("a file that was absent", |disk| disk.write("absent.ts", b"export {};")),
        ("a file that is not archived", |disk| disk.write("src/more.ts", b"export const more = 1;")),
        ("a secret that is gone", |disk| disk.write("secret.txt", b"nothing\n")),
        ("a file that is left out", |disk| disk.remove("package-lock.json")),
        ("an instruction", |disk| disk.write(".stan/system/stan.project.md", b"Speak.\n")),
        ("a new instruction", |disk| disk.write(".stan/system/sub/more.md", b"More.\n")),
        ("the selection", |disk| disk.write(".stan/context/dependency.state.json", br#"{"v":2,"i":[]}"#)),
        ("the snapshot", |disk| disk.write(".stan/diff/.archive.snapshot.context.json", b"{}")),
        ("an archive that is gone", |disk| disk.remove(".stan/output/archive.tar")),
        ("an archive that was altered", |disk| disk.write(".stan/output/archive.tar", b"altered")),
        ("a diff that was altered", |disk| disk.write(".stan/output/archive.diff.tar", b"altered")),
        ("a map that was altered", |disk| disk.write(".stan/context/dependency.meta.json", b"{}")),
        ("an overview that is gone", |disk| disk.remove(".stan/context/dependency.overview.md")),
        ("a private map that was altered", |disk| disk.write(".stan/context/dependency.map.json", b"{}")),
        ("a package that an import resolves to", |disk| {
            disk.write("node_modules/p/package.json", br#"{"name":"p","version":"2.0.0"}"#);
        }),
    ];
    for (name, edit) in edits {
        let disk = repository();
        disk.write("src/p.ts", b"import 'p';");
        disk.write("node_modules/p/index.js", b"exports.p = 1;");
        disk.write("node_modules/p/package.json", br#"{"name":"p","version":"1.0.0"}"#);
        let config = Config::default();
        let before = settled(&disk, &config);
        assert!(is_repeated(&disk, &config), "{name}");
        edit(&disk);
        let warm = outcome(&disk, &config, Some(CACHE));
        let after = settled(&disk, &config);
        assert_eq!(warm.1, after.1, "{name}: what it leaves");
        let said = |report: &RunReport| RunReport { written: Vec::new(), removed: Vec::new(), ..report.clone() };
        assert_eq!(said(&warm.0), said(&after.0), "{name}: what it says");
        // Restoring an output gives the same bytes as before.
        let is_restored = name == "a private map that was altered";
        assert!(is_restored || warm.1 != before.1 || warm.0 != before.0, "{name} changes nothing");
    }
}

#[test]
fn another_configuration_is_another_run() {
    let disk = repository();
    let mut config = Config::default();
    let first = settled(&disk, &config);
    config.excludes.push("README.md".to_owned());
    let second = settled(&disk, &config);
    assert_ne!(first.1, second.1);
    config.excludes.clear();
    assert_eq!(settled(&disk, &config), first);
    config.allowed_secrets.insert("secret.txt".to_owned());
    assert!(settled(&disk, &config).0.secrets.is_empty());
}

/// A repository cannot supply the report of a run.
#[test]
fn a_stored_run_from_the_repository_is_not_trusted() {
    let disk = repository();
    let config = Config::default();
    let truth = settled(&disk, &config);
    let kept = disk.read(KEPT).expect("a run is kept");
    disk.wait(1_000_000_000);
    disk.write(KEPT, &kept);
    assert!(!is_repeated(&disk, &config), "its seal does not fit any more");
    assert_eq!(settled(&disk, &config), truth);
}

/// The target of a link may change without a change of the link's stat.
#[test]
fn runs_with_links_are_not_kept() {
    let disk = repository();
    let config = Config::default();
    disk.write("src/below.md", b"below");
    disk.link("linked.md", "src/below.md");
    settled(&disk, &config);
    assert_eq!(disk.read(KEPT), None);
}

/// After a touch or an edit, the second run is an unchanged run.
#[test]
fn runs_after_a_touch_or_an_edit_are_repeated_again() {
    let disk = repository();
    let config = Config::default();
    settled(&disk, &config);
    for text in [b"export const picked = 1;".as_slice(), b"import './a'; export const picked = 2;"] {
        disk.write("src/picked.ts", text);
        let kept = settled(&disk, &config);
        assert!(is_repeated(&disk, &config));
        assert_eq!(outcome(&disk, &config, Some(CACHE)), kept);
    }
}
