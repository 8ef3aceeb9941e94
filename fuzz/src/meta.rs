//! The laws of the map (`dependency.meta.json`) and of the long form of a graph.

use stan_graph::{JsonStyle, Map, SelectOptions, select, why};
use stan_model::NodeKind;
use stan_model::document::check_node_id;
use stan_model::document::state::{ALL_KINDS, Entry, State};

use crate::documents::check_findings;

/// A valid map, in either form, survives writing and parsing. Everything that is selected has a path to it.
pub fn law(bytes: &[u8]) {
    match Map::decode(bytes, "file.json") {
        Ok(map) => check_map(&map),
        Err(errors) => check_findings(bytes, &errors),
    }
    match Map::decode_long(bytes, "file.json") {
        // The long form may contain raw paths of files outside, which no map has.
        Ok(map) if map.indices().any(|node| check_node_id(map.id(node)).is_err()) => {}
        Ok(map) => check_map(&map),
        Err(errors) => check_findings(bytes, &errors),
    }
}

fn check_map(map: &Map) {
    for style in [JsonStyle::Minified, JsonStyle::Indented] {
        let document = written(map, style);
        let again = Map::decode(&document, "file.json");
        assert_eq!(again.as_ref(), Ok(map), "what is written is read: {}", String::from_utf8_lossy(&document));
        assert_eq!(written(&again.unwrap_or_default(), style), document, "there is one form");
    }
    for node in map.indices() {
        assert_eq!(map.find(map.id(node)), Some(node));
        // A file whose name would be a path on another system is a node that cannot be selected.
        let is_source = map.kind(node) == NodeKind::Source && map.id(node).contains(['\\', ':']);
        let may_be_odd = map.kind(node) == NodeKind::Missing || is_source;
        assert!(may_be_odd || check_node_id(map.id(node)).is_ok(), "{:?}", map.id(node));
        let edges = map.edges(node);
        assert!(edges.is_sorted_by(|left, right| left.target < right.target));
        assert!(edges.iter().all(|edge| (edge.target as usize) < map.node_count()));
    }
    let Some(first) = map.indices().next() else { return };
    let state = State { include: vec![Entry::new(map.id(first), u32::MAX, ALL_KINDS)], exclude: Vec::new() };
    let options = SelectOptions { drop_kinds: Vec::new(), ..SelectOptions::default() };
    let selection = select(map, &state, &options).expect("nothing is forbidden");
    for &node in &selection.selected {
        let path = why(map, &state, node).expect("what is selected has a reason");
        assert_eq!((path.first(), path.last()), (Some(&first), Some(&node)));
        for step in path.windows(2) {
            assert!(map.edges(step[0]).iter().any(|edge| edge.target == step[1]), "a reason follows edges");
        }
    }
}

fn written(map: &Map, style: JsonStyle) -> Vec<u8> {
    let mut document = Vec::new();
    map.write(&mut document, style).expect("memory is writable");
    document
}
