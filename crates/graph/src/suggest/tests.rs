//! Rankings, budgets and covers on small maps, and the laws that hold for every map.

use std::collections::BTreeSet;

use proptest::prelude::*;
use stan_model::document::state::State;

use super::*;
use crate::map::tests::{any_map, map_of};
use crate::select::{SelectOptions, select};

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

fn focus(map: &Map, ids: &[&str]) -> Vec<Focus> {
    let one = |text: &&str| {
        let (id, depth) = text.split_once(':').unwrap_or((text, "0"));
        Focus { node: map.find(id).unwrap(), depth: depth.parse().unwrap() }
    };
    ids.iter().map(one).collect()
}

fn order(edges: &str, ids: &[&str]) -> String {
    let map = map(edges);
    let ranking = rank(&map, &focus(&map, ids));
    ranking.candidates.iter().map(|candidate| map.id(candidate.node)).collect::<Vec<_>>().join(" ")
}

#[test]
fn closer_files_come_first() {
    assert_eq!(order("a b 1\nb c 1\nc d 1\nx y 1", &["a"]), "a b c d", "by steps; what is out of reach is not there");
    assert_eq!(order("a t 2\na r 1\na l 4\na b 3", &["a"]), "a b r t l", "runtime, type, dynamic");
    assert_eq!(order("a i 1 2\na z 1 1\na m 1 3", &["a"]), "a m z i", "explicit before implicit");
    assert_eq!(order("a d 1\nu a 1", &["a"]), "a d u", "dependencies before dependents");
    assert_eq!(order("a x 1\na y 1\nb m 1\nm y 1", &["a", "b"]), "a b m y x", "near more focus files");
    assert_eq!(order("a x 1\na y 1\nx =30", &["a"]), "a y x", "smaller first");
    assert_eq!(order("p/a q/x 1\np/a p/y 1", &["p/a"]), "p/a p/y q/x", "the same folder first");
    assert_eq!(order("a b 1\na node:fs 1\nnode:fs c 1", &["a"]), "a b", "only files");
    assert_eq!(order("a b 1\nb c 1\na z 1", &["a:2"]), "a b c z", "all within the depth");
}

#[test]
fn one_of_many_importers_says_little() {
    let mut edges = String::from("a hub 1\na b 1\nb c 1\n");
    (0..40).for_each(|index| edges.push_str(&format!("u{index:02} hub 1\n")));
    assert!(order(&edges, &["a"]).starts_with("a b hub c u00"), "{}", order(&edges, &["a"]));
}

#[test]
fn ways_are_told() {
    let map = map("a b 1\nc b 1");
    let ranking = rank(&map, &focus(&map, &["a"]));
    let ids = |id: &str| ranking.path(map.find(id).unwrap()).iter().map(|&node| map.id(node)).collect::<Vec<_>>();
    assert_eq!((ids("a"), ids("c")), (vec!["a"], vec!["a", "b", "c"]));
}

fn taken(edges: &str, ids: &[&str], budget: u64) -> String {
    let map = map(edges);
    let ranking = rank(&map, &focus(&map, ids));
    let weigh = |nodes: &[u32]| nodes.iter().map(|&node| map.size(node).unwrap()).collect();
    let names = |list: &[Weighed]| list.iter().map(|one| map.id(one.candidate.node)).collect::<Vec<_>>().join(" ");
    match take(&ranking, budget, weigh) {
        Ok(taken) => format!("{} | {} | {}", names(&taken.taken), taken.total, names(&taken.too_heavy)),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_fits_is_taken() {
    let edges = "a b 1\nb c 1\nb =30\na =5";
    assert_eq!(taken(edges, &["a"], 45), "a b c | 45 | ");
    assert_eq!(taken(edges, &["a"], 44), "a b | 35 | c");
    assert_eq!(taken(edges, &["a"], 20), "a c | 15 | b");
    assert_eq!(taken(edges, &["a"], 5), "a | 5 | b c");
    assert_eq!(taken(edges, &["a"], 4), "the focus alone weighs 5, and the budget is 4");
    assert_eq!(taken(edges, &["a:1"], 30), "the focus alone weighs 35, and the budget is 30");
}

#[test]
fn the_search_ends_when_nothing_fits_for_long() {
    let mut edges = String::from("a =1\n");
    (0..300).for_each(|index| edges.push_str(&format!("a m{index:03} 1\nm{index:03} =50\n")));
    let map = map(&edges);
    let mut asked = 0;
    let ranking = rank(&map, &focus(&map, &["a"]));
    let taken = take(&ranking, 49, |nodes| {
        asked += nodes.len();
        nodes.iter().map(|&node| map.size(node).unwrap()).collect()
    });
    assert_eq!((taken.unwrap().not_weighed, asked), (300 - 64, 65));
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

/// The files of a map, some of them picked.
fn picked(map: &Map, picks: &[bool]) -> Vec<u32> {
    let files = map.indices().filter(|&node| rank::is_file(map, node));
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

    #[test]
    fn what_is_taken_fits_and_comes_in_order(map in any_map(24), picks in prop::collection::vec(any::<bool>(), 1..24), budget in 0u64..4000) {
        let focus: Vec<Focus> = picked(&map, &picks).into_iter().map(|node| Focus { node, depth: 0 }).collect();
        let ranking = rank(&map, &focus);
        let weight = |node: u32| map.size(node).unwrap_or(3);
        match take(&ranking, budget, |nodes| nodes.iter().map(|&node| weight(node)).collect()) {
            Err(error) => prop_assert!(error.needed > budget),
            Ok(taken) => {
                let nodes: BTreeSet<u32> = taken.taken.iter().map(|one| one.candidate.node).collect();
                prop_assert!(focus.iter().all(|one| nodes.contains(&one.node)));
                prop_assert_eq!(nodes.iter().map(|&node| weight(node)).sum::<u64>(), taken.total);
                prop_assert!(taken.total <= budget);
                prop_assert_eq!(nodes.len() + taken.too_heavy.len() + taken.not_weighed, ranking.candidates.len());
            }
        }
    }

    #[test]
    fn ways_are_ways(map in any_map(24), picks in prop::collection::vec(any::<bool>(), 1..24)) {
        let focus: Vec<Focus> = picked(&map, &picks).into_iter().map(|node| Focus { node, depth: 1 }).collect();
        let ranking = rank(&map, &focus);
        let has_edge = |from: u32, to: u32| map.edges(from).iter().any(|edge| edge.target == to);
        for candidate in &ranking.candidates {
            let path = ranking.path(candidate.node);
            prop_assert!(focus.iter().any(|one| one.node == path[0]));
            prop_assert!(path.windows(2).all(|pair| has_edge(pair[0], pair[1]) || has_edge(pair[1], pair[0])));
        }
    }
}
