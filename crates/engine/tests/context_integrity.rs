//! A thousand corruptions between a context run and a frozen one. Each must be detected and reported with the expected and the
//! found value, and must leave all outputs unchanged. `apps/cli/tests` has the same tests of the real program.

mod support;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use stan_engine::Engine;
use stan_engine::config::Config;
use stan_engine::context::reports::ArchiveMode;
use stan_engine::context::{EngineError, EngineErrorKind, NoProgress, Repository, RunRequest, run};
use stan_engine::graph::GraphRequest;
use stan_repo::{AllowedFolder, EntryKind, MemorySystem, SystemExt as _};

use stan_testkit::Random;
use support::ROOT;

const META: &str = "/r/.stan/context/dependency.meta.json";
const MAP: &str = "/r/.stan/context/dependency.map.json";
const STATE: &str = "/r/.stan/context/dependency.state.json";

/// Externals that are hoisted, in a store behind links, in two versions, and outside the repository. Some of them, and some
/// sources, are not selected.
const REPOSITORY: &str = "
//- /r/package.json
{}
//- /r/src/index.ts
import './helper';
import 'zed';
import 'linked';
import '../../outside/shared';
import 'zed/large';
//- /r/src/helper.ts
export const helper = 1;
//- /r/src/unselected.ts
import 'zed/other';
import '../../outside/unselected';
//- /r/packages/old/index.ts
import 'zed';
//- /r/packages/old/node_modules/zed/package.json
{\"name\":\"zed\",\"version\":\"0.9.0\",\"main\":\"index.js\"}
//- /r/packages/old/node_modules/zed/index.js
exports.old = true;
//- /r/node_modules/zed/package.json
{\"name\":\"zed\",\"version\":\"1.2.3\",\"main\":\"index.js\"}
//- /r/node_modules/zed/index.js
exports.z = 1;
//- /r/node_modules/zed/other.js
exports.other = 1;
//- /r/node_modules/.pnpm/linked@2.0.0/node_modules/@a/linked/package.json
{\"name\":\"@a/linked\",\"version\":\"2.0.0\",\"main\":\"lib/main.js\"}
//- /r/node_modules/.pnpm/linked@2.0.0/node_modules/@a/linked/lib/main.js
exports.linked = true;
//- link /r/node_modules/linked -> .pnpm/linked@2.0.0/node_modules/@a/linked
//- /outside/shared.ts
export const shared = 'outside';
//- /outside/unselected.ts
export const unselected = 'outside';
";

const SELECTION: &str = "{\"v\":2,\"i\":[[\"src/index.ts\",1],[\"packages/old/index.ts\",1]]}\n";

/// `lines` decides whether an external is verified before it is copied or, above 1 MiB, while it is copied.
fn repository(lines: usize) -> MemorySystem {
    let system = MemorySystem::from_fixture(REPOSITORY);
    system.set_file("/r/node_modules/zed/large.js", "exports.large = 1;\n".repeat(lines)).set_file(STATE, SELECTION);
    system
}

fn context_run(system: &MemorySystem, frozen: bool) -> Result<(), EngineError> {
    let mut config = Config::default();
    let outside = "/outside".to_owned();
    config.allowed_outside.push(AllowedFolder { spelled: outside.clone(), real: outside });
    let repository = Repository { root: ROOT, config: &config };
    let work = GraphRequest::default();
    let request = RunRequest { frozen, ..RunRequest::new(ArchiveMode::Context, work) };
    let engine = Engine::new(system).with_threads(Some(1));
    run(&engine, &repository, &request, &mut NoProgress).map(drop)
}

fn read(system: &MemorySystem, path: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    system.read_into(Path::new(path), &mut bytes).unwrap();
    bytes
}

fn document(system: &MemorySystem, path: &str) -> Value {
    serde_json::from_slice(&read(system, path)).unwrap()
}

/// All files below stan's folder.
fn outputs(system: &MemorySystem) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut pending = vec!["/r/.stan".to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in system.read_dir(Path::new(&folder)).unwrap() {
            let path = format!("{folder}/{}", entry.name.to_str().unwrap());
            match entry.kind {
                EntryKind::Dir => pending.push(path),
                _ => drop(found.insert(path.clone(), read(system, &path))),
            }
        }
    }
    found
}

/// One corruption: the files that it writes (`None` removes), and the nodes of which one must be reported.
struct Corruption {
    what: String,
    files: Vec<(String, Option<Vec<u8>>)>,
    nodes: Vec<String>,
}

struct Corruptor<'a> {
    random: Random,
    system: &'a MemorySystem,
    meta: Value,
    map: Value,
    /// Absolute path by node id, for every file in the map.
    files: Vec<(String, String)>,
}

impl<'a> Corruptor<'a> {
    fn new(system: &'a MemorySystem, seed: u64) -> Self {
        let (meta, map) = (document(system, META), document(system, MAP));
        let nodes = meta["n"].as_object().unwrap();
        let mut files: Vec<(String, String)> = nodes
            .iter()
            .filter(|(_, node)| node["k"] == 0 || node["k"] == 1)
            .map(|(id, _)| {
                let external = map["nodes"][id]["locatorAbs"].as_str().map(str::to_owned);
                (id.clone(), external.unwrap_or_else(|| format!("/r/{id}")))
            })
            .collect();
        files.sort_unstable();
        Self { random: Random::new(seed), system, meta, map, files }
    }

    fn any<'v, T>(&mut self, values: &'v [T]) -> &'v T {
        &values[self.random.below(values.len())]
    }

    fn next(&mut self) -> Corruption {
        match self.random.below(10) {
            0..5 => self.bytes(),
            5..7 => self.meta_entry(),
            7..9 => self.map_entry(),
            _ => self.map_byte(),
        }
    }

    /// Changes the bytes of a file in the map.
    fn bytes(&mut self) -> Corruption {
        let files = self.files.clone();
        let (node, path) = self.any(&files).clone();
        let mut bytes = read(self.system, &path);
        let (what, bytes) = match self.random.below(7) {
            0 if !bytes.is_empty() => {
                let at = self.random.below(bytes.len());
                bytes[at] ^= 1 << self.random.below(8);
                ("flip a bit of", Some(bytes))
            }
            1 if !bytes.is_empty() => {
                bytes.truncate(self.random.below(bytes.len()));
                ("truncate", Some(bytes))
            }
            2 => {
                bytes.extend(std::iter::repeat_n(b'\n', 1 + self.random.below(3)));
                ("extend", Some(bytes))
            }
            3 => (
                "replace by other bytes of the same length",
                Some(bytes.iter().map(|byte| byte.wrapping_add(1)).collect()),
            ),
            4 => ("remove", None),
            5 => ("empty or fill", Some(if bytes.is_empty() { b"x".to_vec() } else { Vec::new() })),
            _ => {
                let (_, other) = self.any(&files).clone();
                ("replace by another file", Some(read(self.system, &other)))
            }
        };
        Corruption { what: format!("{what} {path}"), files: vec![(path, bytes)], nodes: vec![node] }
    }

    /// Changes the size or the hash of a node in the map.
    fn meta_entry(&mut self) -> Corruption {
        let files = self.files.clone();
        let ((node, _), (other, _)) = (self.any(&files).clone(), self.any(&files).clone());
        let mut meta = self.meta.clone();
        let entry = &self.meta["n"][&node];
        let (what, nodes) = match self.random.below(3) {
            0 => {
                let size = entry["s"].as_u64().unwrap();
                meta["n"][&node]["s"] = Value::from(self.other_number(size));
                ("another size", vec![node])
            }
            1 => {
                let hash = entry["h"].as_str().unwrap().to_owned();
                meta["n"][&node]["h"] = Value::from(self.other_digit(&hash, b"ABCDEFabcdef0123456789-_"));
                ("another hash", vec![node])
            }
            _ => {
                for key in ["s", "h"] {
                    meta["n"][&node][key] = self.meta["n"][&other][key].clone();
                    meta["n"][&other][key] = self.meta["n"][&node][key].clone();
                }
                ("exchanged promises", vec![node, other])
            }
        };
        let bytes = meta.to_string().into_bytes();
        Corruption {
            what: format!("{what} in the meta: {nodes:?}"),
            files: vec![(META.to_owned(), Some(bytes))],
            nodes,
        }
    }

    /// Changes the size, hash or location of a node in the private map, or removes the entry.
    fn map_entry(&mut self) -> Corruption {
        let nodes = self.map["nodes"].as_object().unwrap();
        let mut ids: Vec<String> = nodes.keys().cloned().collect();
        ids.sort_unstable();
        let (node, other) = (self.any(&ids).clone(), self.any(&ids).clone());
        let mut map = self.map.clone();
        let entry = self.map["nodes"][&node].clone();
        let what = match self.random.below(5) {
            0 => {
                let size = entry["size"].as_u64().unwrap();
                map["nodes"][&node]["size"] = Value::from(self.other_number(size));
                "another size"
            }
            1 => {
                let hash = entry["sha256"].as_str().unwrap().to_owned();
                map["nodes"][&node]["sha256"] = Value::from(self.other_digit(&hash, b"0123456789abcdef"));
                "another hash"
            }
            2 => {
                map["nodes"][&node]["locatorAbs"] = self.map["nodes"][&other]["locatorAbs"].clone();
                "the place of another file"
            }
            3 => {
                let places = ["/nowhere", "/", "/r", "/r/src/index.ts", "relative.js", ""];
                map["nodes"][&node]["locatorAbs"] = Value::from(*self.any(&places));
                "another place"
            }
            _ => {
                map["nodes"].as_object_mut().unwrap().remove(&node);
                "no entry"
            }
        };
        let bytes = map.to_string().into_bytes();
        Corruption {
            what: format!("{what} in the map: {node}"),
            files: vec![(MAP.to_owned(), Some(bytes))],
            nodes: vec![node],
        }
    }

    /// Flips any bit of the private map, so the affected node is unknown.
    fn map_byte(&mut self) -> Corruption {
        let mut bytes = read(self.system, MAP);
        let at = self.random.below(bytes.len());
        bytes[at] ^= 1 << self.random.below(8);
        let what = format!("byte {at} of the map: {}", String::from_utf8_lossy(&bytes));
        Corruption { what, files: vec![(MAP.to_owned(), Some(bytes))], nodes: Vec::new() }
    }

    fn other_number(&mut self, number: u64) -> u64 {
        match self.random.below(4) {
            0 => number + 1,
            1 => number.saturating_sub(1),
            2 => number * 10,
            _ => self.random.below(1 << 40) as u64,
        }
    }

    fn other_digit(&mut self, text: &str, digits: &[u8]) -> String {
        let mut bytes = text.as_bytes().to_vec();
        let at = self.random.below(bytes.len());
        bytes[at] = *self.any(digits);
        String::from_utf8(bytes).unwrap()
    }
}

/// A change that leaves the parsed value equal does not count as corruption.
fn says_the_same(before: &[u8], after: &[u8]) -> bool {
    let parsed = |bytes| serde_json::from_slice::<Value>(bytes).ok();
    before == after || parsed(before).is_some_and(|before| parsed(after) == Some(before))
}

fn check(system: &MemorySystem, corruption: &Corruption) -> Option<EngineErrorKind> {
    let Corruption { what, files, nodes } = corruption;
    let saved: Vec<(String, Vec<u8>)> = files.iter().map(|(path, _)| (path.clone(), read(system, path))).collect();
    let is_nothing = files.iter().zip(&saved).all(|((path, new), (_, old))| {
        let is_document = path == META || path == MAP;
        new.as_ref().is_some_and(|new| if is_document { says_the_same(old, new) } else { new == old })
    });
    for (path, bytes) in files {
        match bytes {
            Some(bytes) => system.set_file(path, bytes.clone()),
            None => system.remove(path),
        };
    }
    let before = outputs(system);
    let outcome = context_run(system, true);
    if !is_nothing {
        let refusal = outcome.err().unwrap_or_else(|| panic!("this got through: {what}"));
        let text = refusal.to_string();
        assert!(outputs(system) == before, "{what}: the outputs changed: {text}");
        match refusal.kind {
            EngineErrorKind::Verification => {
                assert!(nodes.is_empty() || nodes.iter().any(|node| text.contains(node.as_str())), "{what}: {text}");
                assert!(text.contains("expected") && text.contains("found"), "{what}: {text}");
            }
            EngineErrorKind::Input => assert!(text.contains(".json"), "{what}: a document is named: {text}"),
            EngineErrorKind::Locked | EngineErrorKind::Usage | EngineErrorKind::Internal => panic!("{what}: {text}"),
        }
        restore(system, saved);
        return Some(refusal.kind);
    }
    restore(system, saved);
    None
}

fn restore(system: &MemorySystem, saved: Vec<(String, Vec<u8>)>) {
    for (path, bytes) in saved {
        system.set_file(path, bytes);
    }
}

#[test]
fn every_corruption_is_detected() {
    corrupt(&repository(2), 950, 3);
}

#[test]
fn every_corruption_is_detected_beside_a_large_file() {
    corrupt(&repository(60_000), 50, 4);
}

fn corrupt(system: &MemorySystem, count: usize, seed: u64) {
    context_run(system, false).unwrap();
    context_run(system, true).expect("nothing is wrong yet");
    let mut corruptor = Corruptor::new(system, seed);
    assert!(corruptor.files.iter().filter(|(id, _)| id.contains("/context/")).count() >= 7, "{:?}", corruptor.files);
    let (mut verified, mut unreadable, mut tried) = (0, 0, 0);
    while verified + unreadable < count {
        let corruption = corruptor.next();
        match check(system, &corruption) {
            Some(EngineErrorKind::Verification) => verified += 1,
            Some(_) => unreadable += 1,
            None => {}
        }
        tried += 1;
        assert!(tried < 2 * count, "most corruptions are corruptions");
    }
    assert!(verified > count * 7 / 10, "most documents can still be read: {verified} of {}", verified + unreadable);
    context_run(system, true).expect("everything was put back");
}
