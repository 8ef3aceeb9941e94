//! The write paths: the initial file system, and the call of the engine as in the programs. One row per write path in [`PATHS`].

use std::io;
use std::path::Path;

use stan_engine::Engine;
use stan_engine::config::{Config, FoundConfig, find};
use stan_engine::context::reports::ArchiveMode;
use stan_engine::context::reports::{ScriptEnd, ScriptReport};
use stan_engine::context::{
    EngineError, NamedBytes, NoProgress, Repository, RunRequest, SnapKinds, SnapRequest, SnapStep, StateSource,
    migrate_state, run, snap, snap_history,
};
use stan_engine::graph::{GraphRequest, Stats, graph, write_json};
use stan_engine::init::{AgentsBlock, InitOptions, apply, plan};
use stan_engine::relevance::{FocusFile, RankQuery};
use stan_engine::reply::{ApplyRequest, apply_reply, undo_reply};
use stan_engine::scripts::ScriptOutput;
use stan_engine::suggest::{SuggestRequest, suggest};
use stan_engine::x07_documents::{Closure, Enclosure};
use stan_engine::{DocumentStore, PointerSpace, SliceCommand, SliceRequest, slice, write_document};
use stan_repo::{AllowedFolder, MemorySystem, System, SystemExt as _, WritableSystem};

pub(crate) const ROOT: &str = "/r";
const BOTH_KINDS: SnapKinds = SnapKinds { plain: true, context: true };

const STATE: &str = "/r/.stan/context/dependency.state.json";

/// A write path.
pub(crate) struct WritePath {
    pub(crate) name: &'static str,
    pub(crate) before: fn() -> MemorySystem,
    pub(crate) act: fn(&dyn WritableSystem) -> Result<Done, String>,
    /// It writes archives that `verify` can check.
    pub(crate) is_a_run: bool,
    /// Its answer may lack unreadable files if it reports them.
    pub(crate) tells_what_it_missed: bool,
}

/// The output of a successful run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Done {
    /// Warnings and errors.
    pub(crate) said: Vec<String>,
    /// The text on stdout, for verbs whose result it is.
    pub(crate) answer: String,
}

const fn a_run(
    name: &'static str,
    before: fn() -> MemorySystem,
    act: fn(&dyn WritableSystem) -> Result<Done, String>,
) -> WritePath {
    WritePath { name, before, act, is_a_run: true, tells_what_it_missed: false }
}

const fn other(
    name: &'static str,
    before: fn() -> MemorySystem,
    act: fn(&dyn WritableSystem) -> Result<Done, String>,
) -> WritePath {
    WritePath { name, before, act, is_a_run: false, tells_what_it_missed: false }
}

const fn a_graph(name: &'static str, before: fn() -> MemorySystem) -> WritePath {
    WritePath { name, before, act: the_graph, is_a_run: false, tells_what_it_missed: true }
}

/// All write paths.
pub(crate) const PATHS: &[WritePath] = &[
    other("run", plain_before, |system| archive(system, ArchiveMode::Plain, false, false)),
    a_run("run --context, the first", opened, |system| archive(system, ArchiveMode::Context, false, false)),
    a_run("run --context, a later one", edited, |system| archive(system, ArchiveMode::Context, false, false)),
    a_run("run --context --meta", edited, |system| archive(system, ArchiveMode::Meta, false, false)),
    a_run("run --context --frozen", other_selection, |system| archive(system, ArchiveMode::Context, true, false)),
    a_run("run --context, a cache to make", edited, |system| archive(system, ArchiveMode::Context, false, true)),
    a_run("run --context, a damaged cache", cached, |system| archive(system, ArchiveMode::Context, false, true)),
    other("snap", edited, snapshots),
    other("state migrate", old_selection, |system| migrate(system, &StateSource::Workspace)),
    other("state migrate FILE", old_selection, |system| {
        migrate(system, &StateSource::File { shown: "mine.json".to_owned(), path: "/r/mine.json".to_owned() })
    }),
    other("init", bare, |system| {
        initialise(system, InitOptions { agents: Some(AgentsBlock::Add), ..InitOptions::default() })
    }),
    other("init --force --agents", people, |system| {
        initialise(system, InitOptions { force: true, agents: Some(AgentsBlock::Add), ..InitOptions::default() })
    }),
    other("init --agents=remove", with_block, |system| {
        initialise(system, InitOptions { agents: Some(AgentsBlock::Remove), ..InitOptions::default() })
    }),
    other("suggest --write", edited, suggestion),
    other("apply", edited, |system| applied(system, REPLY)),
    other("apply, after another", once_applied, |system| applied(system, REPLY)),
    other("apply --undo", once_applied, undone),
    other("snap undo", with_history, |system| walk(system, SnapStep::Set(1))),
    other("run -s", edited, with_evidence),
    a_graph("graph, no cache yet", edited),
    a_graph("graph, an old cache", renamed_since),
    a_graph("graph, a damaged cache", cached),
    other("x07 ast slice --out", module, |system| slice_to_file(system, "/r/out/slice.json")),
    other("x07 ast slice --out, a new folder", module, |system| slice_to_file(system, "/r/new/deep/slice.json")),
];

const FILES: &str = "
//- /r/stan.config.yml
stan-core:
  stanPath: .stan
  imports:
    notes: [/elsewhere/notes/*.md]
//- /r/package.json
{\"name\":\"app\"}
//- /r/tsconfig.json
{\"compilerOptions\":{\"module\":\"nodenext\"}}
//- /r/.gitignore
node_modules
//- /r/.stan/system/stan.system.md
Follow the protocol.
//- /r/src/index.ts
import './helper.js';
import 'zed';
import '../../elsewhere/shared.js';
//- /r/src/helper.ts
export const helper = 1;
//- /r/src/gone.ts
export {};
//- /r/node_modules/zed/package.json
{\"name\":\"zed\",\"version\":\"1.2.3\",\"main\":\"index.js\"}
//- /r/node_modules/zed/index.js
exports.z = 1;
//- /r/node_modules/zed/other.js
exports.z = 2;
//- /elsewhere/shared.ts
export const shared = 1;
//- /elsewhere/notes/a.md
A note.
//- /elsewhere/notes/b.md
Another.
";

/// Much later than the times of the files, so that stats are trusted.
const LATER: i64 = 1_000_000_000_000;

pub(crate) fn opened() -> MemorySystem {
    let system = MemorySystem::from_fixture(FILES);
    system.set_now(LATER).set_file(STATE, "{\"v\":2,\"i\":[[\"src/index.ts\",1]]}\n");
    system
}

/// After runs of all kinds, files were edited, added and removed.
pub(crate) fn edited() -> MemorySystem {
    let system = opened();
    archive(&system, ArchiveMode::Plain, false, false).unwrap();
    archive(&system, ArchiveMode::Context, false, false).unwrap();
    edit(&system);
    system
}

pub(crate) fn edit(system: &MemorySystem) {
    system.set_now(2 * LATER);
    system.set_file("/r/src/helper.ts", "import 'zed/other.js';\nexport const helper = 2;\n").remove("/r/src/gone.ts");
    system.set_file("/r/src/added.ts", "export {};\n").set_file("/r/node_modules/zed/index.js", "exports.z = 'new';\n");
    system.set_file("/elsewhere/notes/a.md", "Edited.\n").remove("/elsewhere/notes/b.md");
    system.set_file(STATE, "{\"v\":2,\"i\":[[\"src/index.ts\",2]]}\n").set_now(3 * LATER);
}

fn plain_before() -> MemorySystem {
    let system = opened();
    archive(&system, ArchiveMode::Context, false, false).unwrap();
    archive(&system, ArchiveMode::Plain, false, false).unwrap();
    edit(&system);
    system
}

/// Only the selection differs.
fn other_selection() -> MemorySystem {
    let system = opened();
    archive(&system, ArchiveMode::Context, false, false).unwrap();
    system.set_now(2 * LATER).set_file(STATE, "{\"v\":2,\"i\":[\"src/helper.ts\"]}\n");
    system
}

/// A cache that is valid except for one file.
fn cached() -> MemorySystem {
    let system = opened();
    archive(&system, ArchiveMode::Context, false, true).unwrap();
    system.set_now(2 * LATER).set_file("/r/src/helper.ts", "export const other = 1;\nexport const helper = 2;\n");
    system.set_now(3 * LATER);
    system
}

/// A cache that is older than the directory listing.
fn renamed_since() -> MemorySystem {
    let system = opened();
    the_graph(&system).unwrap();
    edit(&system);
    system
}

fn old_selection() -> MemorySystem {
    let system = opened();
    let old = "{\"include\":[[\"src/index.ts\",1]],\"exclude\":[]}\n";
    system.set_file(STATE, old).set_file("/r/mine.json", old);
    system
}

fn bare() -> MemorySystem {
    let system = MemorySystem::from_fixture("//- /r/src/a.ts\nexport {};\n");
    system.set_now(LATER);
    system
}

/// The user has files at every path that `init` manages.
pub(crate) fn people() -> MemorySystem {
    let system = MemorySystem::from_fixture(FILES);
    system.set_now(LATER).set_file("/r/AGENTS.md", "# Ours\n\nBe kind.\n");
    system
}

fn with_block() -> MemorySystem {
    let system = people();
    initialise(&system, InitOptions { agents: Some(AgentsBlock::Add), ..InitOptions::default() }).unwrap();
    system
}

fn module() -> MemorySystem {
    let system = MemorySystem::new();
    let text = r#"{"schema_version":"x07.x07ast@0.9.0","kind":"entry","module_id":"m","imports":[],"solve":["m.f"],
        "decls":[{"kind":"defn","name":"m.f","params":[],"result":"i32","body":1}]}"#;
    system.set_file("/r/m.json", text).set_file("/r/out/slice.json", "an older one");
    system
}

/// Opens the repository like the programs.
pub(crate) fn found(system: &dyn System) -> Result<FoundConfig, String> {
    let mut found = find(system, ROOT, None).map_err(|error| format!("{error}; fix it and run again"))?;
    // Like `--allow-outside /elsewhere` on the command line: the configuration imports notes from there.
    found
        .config
        .allowed_outside
        .push(AllowedFolder { spelled: "/elsewhere".to_owned(), real: "/elsewhere".to_owned() });
    Ok(found)
}

/// Formats an error like the programs.
fn text(refusal: &EngineError) -> String {
    format!("{refusal}; {}", refusal.hint.as_deref().unwrap_or_default())
}

/// One thread, so that calls come in the same order each time.
pub(crate) fn engine(system: &dyn WritableSystem) -> Engine<'_> {
    Engine::new(system).with_threads(Some(1))
}

pub(crate) fn work(with_cache: bool) -> GraphRequest {
    let cache_directory = with_cache.then(|| "/r/.stan/cache".to_owned());
    GraphRequest { cache_directory, state_directory: Some("/state".to_owned()), ..GraphRequest::default() }
}

fn archive(system: &dyn WritableSystem, mode: ArchiveMode, frozen: bool, with_cache: bool) -> Result<Done, String> {
    archive_with(system, mode, frozen, with_cache, Vec::new())
}

/// With the output of a script, which ran before anything that can fail here.
fn with_evidence(system: &dyn WritableSystem) -> Result<Done, String> {
    let report = ScriptReport {
        name: "test".to_owned(),
        path: ".stan/output/test.txt".to_owned(),
        end: ScriptEnd::Exited,
        exit_code: Some(1),
        milliseconds: 7,
        bytes: 7,
    };
    let scripts = vec![ScriptOutput { report, text: b"failed\n".to_vec() }];
    archive_with(system, ArchiveMode::Context, false, false, scripts)
}

fn archive_with(
    system: &dyn WritableSystem,
    mode: ArchiveMode,
    frozen: bool,
    with_cache: bool,
    scripts: Vec<ScriptOutput>,
) -> Result<Done, String> {
    let FoundConfig { root, config, .. } = found(system)?;
    let repository = Repository { root: &root, config: &config };
    let work = work(with_cache);
    let request = RunRequest { frozen, scripts, ..RunRequest::new(mode, work) };
    let report = run(&engine(system), &repository, &request, &mut NoProgress).map_err(|refusal| text(&refusal))?;
    let left_out = report.left_out.iter().map(|file| format!("{}: {}", file.path, file.reason));
    Ok(Done { said: report.warnings.into_iter().chain(report.errors).chain(left_out).collect(), answer: String::new() })
}

fn snapshots(system: &dyn WritableSystem) -> Result<Done, String> {
    let FoundConfig { root, config, .. } = found(system)?;
    let request = SnapRequest { kinds: BOTH_KINDS, work: work(false) };
    let report = snap(&engine(system), &Repository { root: &root, config: &config }, &request, &mut NoProgress);
    report.map(|report| Done { said: report.warnings, answer: String::new() }).map_err(|refusal| text(&refusal))
}

/// Whole files, so that applying the reply again changes nothing.
const REPLY: &str = "### File: src/helper.ts\n\n```\nexport const helper = 'applied';\n```\n\n### File: src/new/made.ts\n\n\
                     ```\nexport {};\n```\n\n### File: package.json\n\n```\n{\"name\":\"other\"}\n```\n";

const EARLIER: &str =
    "### File: src/index.ts\n\n```\nimport './helper.js';\n```\n\n### File: lib/a.ts\n\n```\n1\n```\n";

fn applied(system: &dyn WritableSystem, reply: &str) -> Result<Done, String> {
    let FoundConfig { root, config, .. } = found(system)?;
    let request = ApplyRequest {
        reply: NamedBytes { name: "reply.md".to_owned(), bytes: reply.as_bytes().to_vec() },
        archive: None,
        no_archive: true,
        seen: false,
        strict: false,
        dry_run: false,
    };
    let report =
        apply_reply(&Engine::new(system), &Repository { root: &root, config: &config }, &request, &mut NoProgress)
            .map_err(|refusal| text(&refusal))?;
    match report.feedback {
        Some(feedback) => Err(format!("{feedback}; send it again")),
        None => Ok(Done { said: report.notes, answer: String::new() }),
    }
}

/// A second undo has nothing to do.
fn undone(system: &dyn WritableSystem) -> Result<Done, String> {
    let FoundConfig { root, config, .. } = found(system)?;
    match undo_reply(&Engine::new(system), &Repository { root: &root, config: &config }, &mut NoProgress) {
        Ok(_) => Ok(Done::default()),
        Err(refusal) if refusal.message.contains("no applied reply") => Ok(Done::default()),
        Err(refusal) => Err(text(&refusal)),
    }
}

fn once_applied() -> MemorySystem {
    let system = edited();
    applied(&system, EARLIER).unwrap();
    system.set_now(4 * LATER);
    system
}

fn with_history() -> MemorySystem {
    let system = edited();
    snapshots(&system).unwrap();
    system.set_now(4 * LATER);
    system
}

fn walk(system: &dyn WritableSystem, step: SnapStep) -> Result<Done, String> {
    let FoundConfig { root, config, .. } = found(system)?;
    let repository = Repository { root: &root, config: &config };
    let report = snap_history(&Engine::new(system), &repository, BOTH_KINDS, step, &mut NoProgress);
    report.map(|report| Done { said: report.warnings, answer: String::new() }).map_err(|refusal| text(&refusal))
}

fn migrate(system: &dyn WritableSystem, source: &StateSource) -> Result<Done, String> {
    let FoundConfig { root, config, .. } = found(system)?;
    let repository = Repository { root: &root, config: &config };
    migrate_state(&engine(system), &repository, source, &mut NoProgress).map_err(|refusal| text(&refusal))?;
    Ok(Done::default())
}

fn initialise(system: &dyn WritableSystem, mut options: InitOptions) -> Result<Done, String> {
    let FoundConfig { root, config: Config { stan_path, .. }, file, .. } = found(system)?;
    options.config_file = file.as_deref().and_then(|file| file.rsplit('/').next()).map(str::to_owned);
    let plan = plan(&engine(system), &root, &stan_path, &options).map_err(|error| text(&error))?;
    apply(&engine(system), &plan).map_err(|error| text(&error))?;
    Ok(Done::default())
}

fn suggestion(system: &dyn WritableSystem) -> Result<Done, String> {
    let FoundConfig { root, config, .. } = found(system)?;
    let focus = vec![FocusFile { shown: "src/index.ts".into(), node_id: "src/index.ts".into(), depth: 1 }];
    let query = RankQuery { focus, ..RankQuery::default() };
    let request = SuggestRequest { query, budget: 10_000, write: true, work: work(false), ..SuggestRequest::default() };
    let report = suggest(&engine(system), &Repository { root: &root, config: &config }, &request, &mut NoProgress);
    report.map(|report| Done { said: report.warnings, answer: String::new() }).map_err(|refusal| text(&refusal))
}

pub(crate) fn the_graph(system: &dyn WritableSystem) -> Result<Done, String> {
    let FoundConfig { root, config, .. } = found(system)?;
    let outcome =
        graph(&engine(system), &config.graph_options(root), &work(true)).map_err(|error| error.to_string())?;
    let graph = outcome.graph.as_ref().expect("the whole graph was asked for");
    let mut bytes = Vec::new();
    write_json(graph, &Stats::of(graph, outcome.dirty as u64), &outcome.errors, &outcome.not_analysed(), &mut bytes)
        .expect("memory is writable");
    Ok(Done { said: outcome.errors, answer: String::from_utf8(bytes).expect("JSON is UTF-8") })
}

/// The documents of the `x07` verbs, on the system that may fail.
struct Documents<'s>(&'s dyn WritableSystem);

impl DocumentStore for Documents<'_> {
    fn read(&mut self, name: &str) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.0.read_into(Path::new(name), &mut bytes)?;
        Ok(bytes)
    }

    fn write(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        write_document(self.0, Path::new(name), bytes)
    }
}

fn slice_to_file(system: &dyn WritableSystem, out: &str) -> Result<Done, String> {
    let request = SliceRequest {
        pointer: "/decls/0".to_owned(),
        pointer_space: PointerSpace::File,
        enclosure: Enclosure::Decl,
        closure: Closure::All,
        max_nodes: None,
        max_bytes: None,
    };
    let command = SliceCommand { input: "/r/m.json".to_owned(), out: Some(out.to_owned()), request };
    let outcome = slice(&mut Documents(system), &command);
    // The report names the input.
    match outcome.failure {
        None => Ok(Done::default()),
        Some(failure) => Err(format!("{}: {failure}; run again", outcome.report.input)),
    }
}
