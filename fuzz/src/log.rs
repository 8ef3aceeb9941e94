//! The laws of the reader of compilers' and test runners' output, which `stan suggest` takes a focus from.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use stan_engine::suggest::files_named;
use stan_graph::Map;
use stan_model::NodeKind;

/// Only sources of the map are named, sorted and once, and each by a line of its own: reading the lines apart finds the
/// same. A file's own name is somewhere in the log.
pub fn law(bytes: &[u8]) {
    static MAP: OnceLock<Map> = OnceLock::new();
    let map = MAP.get_or_init(|| Map::decode(MAP_DOCUMENT, "map").expect("this is a map"));
    let found = files_named(map, "/r/repo", bytes);
    assert!(found.is_sorted_by(|left, right| left < right), "sorted and unique");
    let lines = bytes.split(|&byte| byte == b'\n').flat_map(|line| files_named(map, "/r/repo", line));
    assert_eq!(found, lines.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>(), "lines stand alone");
    // A space may be written as `%20`, and terminal sequences may lie between letters.
    let text = String::from_utf8_lossy(bytes).replace("%20", " ");
    for &node in &found {
        assert_eq!(map.kind(node), NodeKind::Source);
        let name = map.id(node).rsplit('/').next().unwrap_or_default();
        assert!(text.contains(name) || bytes.contains(&0x1b), "{name:?} is not in the log");
    }
}

const MAP_DOCUMENT: &[u8] = br#"{"v":2,"n":{
    "app/(shop)/[id]/page.tsx":{"k":0,"s":1},
    "gone":{"k":3},
    "lib/my file.ts":{"k":0,"s":1},
    "main.ts":{"k":0,"s":1},
    "node:fs":{"k":2},
    "pkg/one/src/deep.ts":{"k":0,"s":1},
    "pkg/one/src/index.ts":{"k":0,"s":1},
    "pkg/two/src/index.ts":{"k":0,"s":1},
    "src/a.ts":{"k":0,"s":1},
    "src/b.ts":{"k":0,"s":1}}}"#;
