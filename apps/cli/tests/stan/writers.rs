//! Every command that writes, with edits that cause it to write, for tests that kill it or fill its disk.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::project::STATE;
use crate::support::Repository;

/// A command that writes.
pub(crate) struct Writer {
    pub(crate) name: &'static str,
    program: &'static str,
    pub(crate) arguments: &'static [&'static str],
    /// Edits the repository to a version, so that the command has something to write.
    pub(crate) edit: fn(&Path, usize),
    /// Whether its outputs are independent documents, so that some may be new while others are old.
    pub(crate) is_loose: bool,
}

const STAN: &str = env!("CARGO_BIN_EXE_stan");
const X07: &str = env!("CARGO_BIN_EXE_x07");

const fn stan(name: &'static str, arguments: &'static [&'static str], edit: fn(&Path, usize)) -> Writer {
    Writer { name, program: STAN, arguments, edit, is_loose: false }
}

pub(crate) const RUN: Writer = stan("run --context", &["run", "--context"], edit_sources);

/// All other commands.
pub(crate) const WRITERS: &[Writer] = &[
    stan("run", &["run"], edit_sources),
    stan("run --context --meta", &["run", "--context", "--meta"], edit_sources),
    stan("snap", &["snap"], edit_sources),
    stan("snap set", &["snap", "set", "1"], edit_history),
    stan("run -s", &["run", "--context", "-s", "evidence"], edit_script),
    stan("apply", &["apply", "--no-archive", "reply.md"], edit_reply),
    stan("apply --undo", &["apply", "--undo"], edit_applied),
    stan("state migrate", &["state", "migrate"], edit_selection),
    stan(
        "suggest --write",
        &["suggest", "--focus", "src/index.ts", "--budget", "100000", "--tokens", "bytes4", "--write"],
        edit_sources,
    ),
    stan("init --force --agents", &["init", "--force", "--agents"], edit_documents),
    stan("init --agents=remove", &["init", "--agents=remove"], edit_block),
    stan("graph", &["graph", "--json"], edit_sources),
    Writer { is_loose: true, ..stan("man --out", &["man", "--out", "pages"], edit_pages) },
    Writer {
        program: X07,
        ..stan(
            "x07 ast slice --out",
            &["ast", "slice", "--in", "m.x07.json", "--ptr", "/decls/0", "--out", "slices/s.json"],
            edit_module,
        )
    },
];

impl Writer {
    pub(crate) fn command(&self, root: &Path) -> Command {
        let mut command = Command::new(self.program);
        command.current_dir(root).args(self.arguments).env_clear().stdin(Stdio::null());
        command
    }

    /// Runs it, which must succeed, and returns its output.
    pub(crate) fn succeeds(&self, root: &Path) -> String {
        let output = self.command(root).output().expect("it can be started");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {said}", self.name);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Whether its output must not depend on the cache.
    pub(crate) fn is_graph(&self) -> bool {
        self.name == "graph"
    }
}

/// The output of `stan graph` without a cache.
pub(crate) fn plain_graph(root: &Path) -> String {
    let plain = Writer { arguments: &["graph", "--json", "--no-cache"], ..stan("graph", &[], edit_sources) };
    plain.succeeds(root)
}

/// Enough files that a run takes some time.
pub(crate) fn repository() -> Repository {
    let repository = Repository::new(&[
        ("package.json", "{\"name\":\"app\",\"version\":\"1.0.0\"}\n"),
        (".gitignore", "node_modules\n/.stan/*\n!/.stan/system\n"),
        (".stan/system/stan.system.md", "Follow the protocol.\n"),
    ]);
    for number in 0..12 {
        let package = format!("node_modules/p{number}");
        let manifest = format!("{{\"name\":\"p{number}\",\"version\":\"1.0.{number}\",\"main\":\"index.js\"}}\n");
        repository.write(&format!("{package}/package.json"), &manifest);
        repository.write(&format!("{package}/index.js"), &format!("exports.p = {number};\n").repeat(number * 300 + 1));
    }
    edit_sources(repository.root(), 0);
    repository
}

fn put(root: &Path, path: &str, text: &str) {
    let path: PathBuf = root.join(path);
    fs::create_dir_all(path.parent().expect("it is below the root")).expect("folders can be made");
    fs::write(path, text).expect("files can be written");
}

/// Edits the sources and the selection to a version.
pub(crate) fn edit_sources(root: &Path, version: usize) {
    let mut index = String::new();
    for number in 0..40 {
        let _ = writeln!(index, "import './m{number}';");
        let text = format!("import 'p{}';\nexport const x = {version};\n", (number + version) % 12);
        put(root, &format!("src/m{number}.ts"), &text.repeat(number % 7 + 1));
    }
    put(root, "src/index.ts", &index);
    let depth = version % 3;
    put(root, STATE, &format!("{{\"v\":2,\"i\":[[\"src/index.ts\",{depth}],[\"src/m{depth}.ts\",1]]}}\n"));
}

/// Adds two baselines, so that `undo` has one to return to.
fn edit_history(root: &Path, version: usize) {
    for version in [1_000 + version, 2_000 + version] {
        edit_sources(root, version);
        stan("snap", &["snap"], edit_sources).succeeds(root);
    }
}

/// A script whose output changes.
fn edit_script(root: &Path, version: usize) {
    edit_sources(root, version);
    let script = format!("echo {version}; sort src/m1.ts");
    put(
        root,
        "stan.config.yml",
        &format!("stan-core:\n  stanPath: .stan\nstan-cli:\n  scripts:\n    evidence: '{script}'\n"),
    );
}

/// A reply of whole files, which can be applied twice.
fn edit_reply(root: &Path, version: usize) {
    edit_sources(root, version);
    let mut reply = format!("### File: made/v{version}.ts\n\n```\nexport {{}};\n```\n\n");
    for number in 0..30 {
        let _ = write!(reply, "### File: src/m{number}.ts\n\n```\nexport const applied = {version};\n```\n\n");
    }
    put(root, "reply.md", &reply);
}

/// Two applied replies, so that after the first undo there is another one.
fn edit_applied(root: &Path, version: usize) {
    for part in ["one", "two"] {
        edit_reply(root, version);
        put(root, &format!("made/{part}.ts"), &format!("export const before = {version};\n"));
        let reply = format!("### File: made/{part}.ts\n\n```\nexport const applied = {version};\n```\n");
        put(root, "reply.md", &reply);
        stan("apply", &["apply", "--no-archive", "reply.md"], edit_reply).succeeds(root);
    }
}

/// A selection in version 1.
fn edit_selection(root: &Path, version: usize) {
    put(root, STATE, &format!("{{\"include\":[[\"src/index.ts\",{}]],\"exclude\":[]}}\n", version % 5));
}

/// User-written documents that `init` maintains.
fn edit_documents(root: &Path, version: usize) {
    put(root, ".stan/system/stan.system.md", &format!("Our own rules, version {version}.\n").repeat(200));
    put(root, "AGENTS.md", &format!("# Agents {version}\n\nBe kind.\n"));
    put(root, ".gitignore", &format!("node_modules\n# {version}\n"));
    let _ = fs::remove_file(root.join(".stan/system/stan.todo.md"));
}

fn edit_block(root: &Path, version: usize) {
    put(root, "AGENTS.md", &format!("# Agents {version}\n\n<!-- stan:begin -->\nold\n<!-- stan:end -->\n\nBe kind.\n"));
}

fn edit_pages(root: &Path, version: usize) {
    put(root, "pages/stan.1", &format!("an older page {version}\n"));
}

fn edit_module(root: &Path, version: usize) {
    let body = vec![version.to_string(); 2_000].join(",");
    let module = format!(
        r#"{{"schema_version":"x07.x07ast@0.9.0","kind":"module","module_id":"m","imports":[],"decls":[{{"kind":"defn","name":"m.f","params":[],"result":"i32","body":["begin",{body}]}}]}}"#
    );
    put(root, "m.x07.json", &module);
}

/// Temporary files left anywhere below a folder.
pub(crate) fn left_behind(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("folders can be listed") {
        let entry = entry.expect("entries can be read");
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type().expect("it was listed").is_dir() {
            found.extend(left_behind(&entry.path()));
        } else if name.starts_with(".stan-tmp-") {
            found.push(name);
        }
    }
    found
}

/// Checks that each output is the old or the new one, and that files which exist before and after exist in between.
pub(crate) fn check_whole(
    what: &str,
    old: &BTreeMap<String, Vec<u8>>,
    torn: &BTreeMap<String, Vec<u8>>,
    new: &BTreeMap<String, Vec<u8>>,
) {
    for (path, bytes) in torn.iter().filter(|(path, _)| !path.contains(".stan-tmp-")) {
        let is_whole = Some(bytes) == old.get(path) || Some(bytes) == new.get(path) || bytes == b"folder";
        assert!(is_whole, "{what}: {path} is neither the old nor the new one");
    }
    for path in old.keys().filter(|path| new.contains_key(*path)) {
        assert!(torn.contains_key(path), "{what}: {path} is gone");
    }
}
