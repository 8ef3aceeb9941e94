//! The laws of the selection (`dependency.state.json`): both versions, the migration, and the nodes that it resolves to.

use std::sync::OnceLock;

use stan_graph::{Map, SelectOptions, select};
use stan_model::document::state::{State, StateVersion, decode};
use stan_model::document::{check_node_id, normalise_node_id};

use crate::documents::check_findings;

/// A valid selection is written as version 2 with the same meaning, in a unique form, no longer than necessary. The selected
/// nodes do not depend on the order of the entries.
pub fn law(bytes: &[u8]) {
    let read = decode(bytes, "file.json");
    assert_eq!(read, decode(bytes, "file.json"), "the same bytes are read the same way");
    let decoded = match read {
        Ok(decoded) => decoded,
        Err(errors) => return check_findings(bytes, &errors),
    };
    for entry in decoded.state.include.iter().chain(&decoded.state.exclude) {
        assert!(check_node_id(&entry.node).is_ok() && entry.mask <= 7, "{entry:?}");
        assert_eq!(normalise_node_id(&entry.node).as_deref(), Ok(&*entry.node), "an id has one spelling");
    }
    let document = decoded.state.encode();
    // A depth such as `1e9` is written with up to ten digits, and a control character as `\u007f`.
    assert!(document.len() <= 6 * bytes.len() + 32, "{} bytes of {}", document.len(), bytes.len());
    let again = decode(&document, "file.json").expect("what is written is read");
    assert_eq!(again.state, decoded.state, "the migration keeps the meaning");
    assert_eq!((again.version, again.uses_aliases, again.warnings.len()), (StateVersion::V2, false, 0));
    assert_eq!(again.state.encode(), document, "there is one form");
    check_selection(&decoded.state);
}

fn check_selection(state: &State) {
    static MAP: OnceLock<Map> = OnceLock::new();
    let map = MAP.get_or_init(|| Map::decode(TREE, "map").expect("this is a map"));
    let mut turned = state.clone();
    turned.include.reverse();
    turned.exclude.reverse();
    let options = SelectOptions::default();
    let selection = select(map, state, &options).expect("every node has a size");
    assert_eq!(Ok(&selection), select(map, &turned, &options).as_ref(), "the order of entries is irrelevant");
    assert!(selection.selected.is_sorted_by(|left, right| left < right));
    assert!(selection.selected.iter().all(|&node| (node as usize) < map.node_count()));
    let total: u64 = selection.selected.iter().filter_map(|&node| map.size(node)).sum();
    assert_eq!(selection.total_bytes, total, "the total is that of the nodes");
}

const TREE: &[u8] = br#"{"v":2,"n":{
    "a":{"k":0,"s":1,"e":[["b",1],["c",2]]},
    "b":{"k":0,"s":2,"e":[["a",4],["src/d.ts",7]]},
    "c":{"k":0,"s":4,"e":[["node:fs",1],["x",1]]},
    "node:fs":{"k":2},
    "src/d.ts":{"k":0,"s":8},
    "x":{"k":3}}}"#;
