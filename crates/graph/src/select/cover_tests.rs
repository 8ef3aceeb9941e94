//! Covers of small maps, and the property that each map must have.

use proptest::prelude::*;
use stan_model::NodeKind;
use stan_model::document::state::State;

use super::*;
use crate::map::tests::{any_map, map_of};

/// `a -> b kinds [resolutions]` lines as a map of files of ten bytes; a line `a =30` sets a size.
fn map(edges: &str) -> Map {
    let mut nodes: std::collections::BTreeMap<&str, (u64, Vec<String>)> = std::collections::BTreeMap::new();
    for line in edges.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split(' ').collect();
        let node = nodes.entry(words[0]).or_insert((10, Vec::new()));
        if let Some(size) = words[1].strip_prefix('=') {
            node.0 = size.parse().unwrap();
            continue;
        }
        let resolutions = words.get(3).unwrap_or(&"1");
        node.1.push(format!("[\"{}\",{},{resolutions}]", words[1], words[2]));
        nodes.entry(words[1]).or_insert((10, Vec::new()));
    }
    let nodes = nodes.into_iter().map(|(id, (size, edges))| {
        if id.starts_with("node:") {
            return format!("\"{id}\":{{\"k\":2}}");
        }
        format!("\"{id}\":{{\"k\":0,\"s\":{size},\"e\":[{}]}}", edges.join(","))
    });
    map_of(&format!("{{\"v\":2,\"n\":{{{}}}}}", nodes.collect::<Vec<_>>().join(",")))
}

fn covered(edges: &str, wanted: &str) -> String {
    let map = map(edges);
    let nodes: Vec<u32> = wanted.split(' ').map(|id| map.find(id).unwrap()).collect();
    String::from_utf8(cover(&map, &nodes).encode()).unwrap().trim_end().replace("{\"v\":2,\"i\":", "").replace('"', "")
}

#[test]
fn sets_are_written_short() {
    let chain = "alpha beta 1\nbeta gamma 1\ngamma delta 1";
    assert_eq!(covered(chain, "alpha"), "[alpha]}");
    assert_eq!(covered(chain, "alpha beta gamma"), "[[alpha,2]]}");
    assert_eq!(covered(chain, "alpha beta gamma delta"), "[[alpha,3]]}");
    assert_eq!(covered(chain, "alpha gamma delta"), "[alpha,[gamma,1]]}");
    assert_eq!(covered("alpha beta 1\nalpha gamma 2", "alpha beta"), "[[alpha,1,1]]}");
    assert_eq!(covered("a b 1", "a b"), "[a,b]}");
    let wide = "alpha beta 1\nalpha gamma 1\nalpha delta 1\nalpha omega 1\nalpha omicron 1\nalpha zeta 1";
    assert_eq!(covered(wide, "alpha beta gamma delta omega zeta"), "[[alpha,1]],x:[omicron]}");
    assert_eq!(covered("alpha node:fs 1\nalpha beta 1", "alpha beta"), "[[alpha,1]]}");
}

/// The picked files of a map.
fn picked(map: &Map, picks: &[bool]) -> Vec<u32> {
    let files = map.indices().filter(|&node| matches!(map.kind(node), NodeKind::Source | NodeKind::External));
    files.zip(picks.iter().cycle()).filter(|(_, pick)| **pick).map(|(node, _)| node).collect()
}

fn selected(map: &Map, state: &State) -> Vec<u32> {
    select(map, state, &SelectOptions::default()).unwrap().selected
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_cover_selects_exactly_the_set(map in any_map(24), picks in prop::collection::vec(any::<bool>(), 1..24)) {
        let wanted = picked(&map, &picks);
        let state = cover(&map, &wanted);
        prop_assert_eq!(selected(&map, &state), wanted.clone());
        prop_assert!(state.include.len() <= wanted.len());
        prop_assert_eq!(cover(&map, &wanted).encode(), state.encode());
    }
}
