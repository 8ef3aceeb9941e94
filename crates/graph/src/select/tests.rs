//! The nodes that selections resolve to, with entries in both orders, and properties of closures compared with a naive search.

use proptest::prelude::*;

use super::*;
use crate::map::tests::{any_map, map_of};

/// `a -> b runtime`, as a map: all nodes are sources of one byte unless they start with `node:` or `no:`.
fn map(edges: &str) -> Map {
    let mut nodes: std::collections::BTreeMap<&str, Vec<String>> = std::collections::BTreeMap::new();
    for line in edges.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split(' ').collect();
        nodes.entry(words[0]).or_default();
        if let [from, to, mask] = words[..] {
            nodes.entry(to).or_default();
            nodes.entry(from).or_default().push(format!("[\"{to}\",{mask}]"));
        }
    }
    let nodes = nodes.into_iter().map(|(id, edges)| {
        let kind = if id.starts_with("node:") {
            "2"
        } else if id.starts_with("no:") {
            "3"
        } else {
            "0,\"s\":1"
        };
        format!("\"{id}\":{{\"k\":{kind},\"e\":[{}]}}", edges.join(","))
    });
    map_of(&format!("{{\"v\":2,\"n\":{{{}}}}}", nodes.collect::<Vec<_>>().join(",")))
}

fn entry(text: &str) -> Entry {
    let words: Vec<&str> = text.split(' ').collect();
    let number = |place: usize, default: u32| words.get(place).map_or(default, |word| word.parse().unwrap());
    Entry::new(words[0], number(1, 0), number(2, 7) as u8)
}

fn state(include: &[&str], exclude: &[&str]) -> State {
    let entries = |texts: &[&str]| texts.iter().map(|text| entry(text)).collect();
    State { include: entries(include), exclude: entries(exclude) }
}

fn check(edges: &str, include: &[&str], exclude: &[&str], expected: &str) {
    let map = map(edges);
    let mut reversed = state(include, exclude);
    reversed.include.reverse();
    reversed.exclude.reverse();
    for state in [state(include, exclude), reversed] {
        let summary = SelectionSummary::of(&map, &state, &SelectOptions::default()).unwrap();
        assert_eq!(summary.selected_node_ids.join(" "), expected, "{include:?} {exclude:?}");
    }
}

#[test]
fn depth_and_mask_bound_an_entry() {
    let edges = "a b 1\nb c 1\nc d 1\na t 2\nt u 2\na l 4";
    check(edges, &["a"], &[], "a");
    check(edges, &["a 1"], &[], "a b l t");
    check(edges, &["a 2"], &[], "a b c l t u");
    check(edges, &["a 9 1"], &[], "a b c d");
    check(edges, &["a 9 2"], &[], "a t u");
    check(edges, &["a 4294967295 6"], &[], "a l t u");
    check(edges, &["a 9 0"], &[], "a");
    check(edges, &["b 1", "t"], &[], "b c t");
    check(edges, &[], &["a 9"], "");
}

#[test]
fn cycles_terminate_at_any_depth() {
    check("a b 1\nb a 1\nb b 1", &["a 4294967295"], &[], "a b");
}

/// A shared table of best depths would let the first entry's visit of `m` hide the second's.
#[test]
fn entries_with_different_masks_may_reach_the_same_nodes() {
    check("a m 1\nb m 2\nm x 1\nm y 2", &["a 9 1", "b 9 2"], &[], "a b m x y");
    check("a m 1\nb m 2\nm x 1\nm y 2", &["a 9 1", "b 2 2"], &[], "a b m x y");
    check("a m 3\nm x 1\nm y 2", &["a 9 1", "m 1 2"], &[], "a m x y");
}

#[test]
fn the_deeper_of_two_entries_counts() {
    check("a b 1\nb c 1\nc d 1\nd e 1", &["a 1", "b 2"], &[], "a b c d");
    check("a b 1\nb c 1\nc d 1\nd e 1", &["a 3", "b 1"], &[], "a b c d");
    check("a b 1\nb c 1\nc d 1\nd e 1", &["a 9", "b"], &[], "a b c d e");
}

#[test]
fn excludes_win_over_includes() {
    let edges = "a b 1\nb c 1";
    check(edges, &["a 2"], &["b"], "a c");
    check(edges, &["a 2"], &["b 1"], "a");
    check(edges, &["a 2"], &["b 1 2"], "a c");
    check(edges, &["a"], &["a"], "");
    check(edges, &["gone"], &["gone"], "");
}

#[test]
fn nodes_that_are_not_files_are_left_out_after_the_subtraction() {
    let map = map("a node:fs 1\na no:x 1\na node:os 1\nno:x b 1");
    let selection = select(&map, &state(&["a 9"], &["node:os"]), &SelectOptions::default()).unwrap();
    assert_eq!(selection.selected.iter().map(|index| map.id(*index)).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(selection.warnings, ["`no:x` is missing and was left out", "`node:fs` is a builtin and was left out"]);
    let keep = SelectOptions { drop_kinds: Vec::new(), ..SelectOptions::default() };
    assert_eq!(select(&map, &state(&["a 9"], &[]), &keep).unwrap().selected.len(), 5);
}

#[test]
fn unknown_ids_are_kept_and_warned_about() {
    let map = map("a b 1");
    let selection = select(&map, &state(&["z", "a", "y 3", "z 1"], &["q", "y"]), &SelectOptions::default()).unwrap();
    assert_eq!(selection.unknown, ["z"]);
    assert_eq!(selection.total_bytes, 1);
    let expected = [
        "`q` is not in the map: nothing else is excluded by it",
        "`y` is not in the map: nothing else is excluded by it",
        "`z` is not in the map",
    ];
    assert_eq!(selection.warnings, expected);
}

#[test]
fn hashes_without_sizes_follow_the_policy() {
    let map = map_of(r#"{"v":2,"n":{"a":{"k":0,"h":"AAAAAAAAAAAAAAAAAAAAAA"},"b":{"k":0}}}"#);
    let run = |hash_without_size| {
        select(&map, &state(&["a", "b"], &[]), &SelectOptions { hash_without_size, ..SelectOptions::default() })
    };
    assert_eq!(run(HashWithoutSize::Warn).unwrap().warnings, ["`a` has a hash but no size: counted as 0 bytes"]);
    assert_eq!(run(HashWithoutSize::Ignore).unwrap().warnings, [""; 0]);
    let error = run(HashWithoutSize::Error).unwrap_err().to_string();
    assert_eq!(error, "the map has a hash but no size for `a`: write a new map with `stan run --context --meta`");
}

fn summary_of(map: &Map, include: &str, options: &SelectOptions) -> String {
    let include: Vec<SelectionEntry> = serde_json::from_str(include).unwrap();
    serde_json::to_string(&summarize(map, &include, &[], options).unwrap()).unwrap()
}

#[test]
fn summaries_take_both_forms() {
    let map = map_of(r#"{"v":2,"n":{"a":{"k":0,"s":5,"e":[["b",1],["c",2]]},"b":{"k":0,"s":7},"c":{"k":0,"s":7}}}"#);
    let two = SelectOptions { largest: 2, ..SelectOptions::default() };
    let all = r#"{"selectedNodeIds":["a","b","c"],"selectedCount":3,"totalBytes":19,"largest":[{"nodeId":"b","bytes":7},{"nodeId":"c","bytes":7}],"warnings":[]}"#;
    assert_eq!(summary_of(&map, r#"[["a",1]]"#, &two), all);
    assert_eq!(summary_of(&map, r#"[["./a",1,["runtime"]],["a",1,2]]"#, &two), all);
    let only_types = SelectOptions { default_kinds: 2, ..two };
    let types = r#"{"selectedNodeIds":["a","c"],"selectedCount":2,"totalBytes":12,"largest":[{"nodeId":"c","bytes":7},{"nodeId":"a","bytes":5}],"warnings":[]}"#;
    assert_eq!(summary_of(&map, r#"[["a",1]]"#, &only_types), types);
    let odd = summary_of(&map, r#"["a",["b"],["c",0,9],["c",0,["types"]],["c",0,9]]"#, &only_types);
    let warnings = r#""warnings":["`c`: \"types\" is not an edge kind; use runtime, type or dynamic","`c`: the bits above 7 of the mask 9 mean nothing"]}"#;
    assert!(odd.ends_with(warnings), "{odd}");
    for entry in ["[]", "3", r#"["a",-1]"#, r#"["a",0.5]"#, r#"["a",1,-1]"#, r#"["a",1,1,1]"#] {
        let error = serde_json::from_str::<SelectionEntry>(entry).unwrap_err().to_string();
        assert!(error.starts_with("expected a node id or [nodeId, depth"), "{entry}: {error}");
    }
}

fn path_of(edges: &str, include: &[&str], node: &str) -> String {
    let map = map(edges);
    let path = why(&map, &state(include, &[]), map.find(node).unwrap());
    path.map_or("none".to_owned(), |path| path.iter().map(|node| map.id(*node)).collect::<Vec<_>>().join(" "))
}

#[test]
fn reasons_are_the_shortest_paths_with_the_smallest_ids() {
    let edges = "a b 1\na c 1\nb d 1\nc d 1\nd e 1\ns d 2\nz e 2";
    for (include, node, expected) in [
        (&["a 9"][..], "a", "a"),
        (&["a 9"], "d", "a b d"),
        (&["a 9", "c 1"], "d", "c d"),
        (&["a 2", "s 9 2"], "d", "s d"),
        (&["a 9", "s 9 2"], "e", "a b d e"),
        (&["a 9", "s 9", "z 9 1"], "e", "s d e"),
        (&["a 1"], "d", "none"),
        (&["a 9 2"], "b", "none"),
        (&["a 9", "e"], "e", "e"),
    ] {
        assert_eq!(path_of(edges, include, node), expected, "{include:?} {node}");
    }
}

/// The nodes of one entry by the definition of spec 20 §3, with all shortest paths to them.
fn naive(map: &Map, entry: &Entry) -> Vec<Vec<u32>> {
    let Some(seed) = map.find(&entry.node) else { return Vec::new() };
    let mut paths: std::collections::BTreeMap<u32, Vec<u32>> = [(seed, vec![seed])].into();
    let mut level = paths.clone();
    for _ in 0..entry.depth.min(100) {
        let mut next: std::collections::BTreeMap<u32, Vec<u32>> = std::collections::BTreeMap::new();
        for path in level.values() {
            for edge in map.edges(path[path.len() - 1]).iter().filter(|edge| edge.kinds & entry.mask != 0) {
                if !paths.contains_key(&edge.target) {
                    let way = [path.as_slice(), &[edge.target]].concat();
                    let known = next.entry(edge.target).or_insert_with(|| way.clone());
                    *known = way.min(known.clone());
                }
            }
        }
        paths.extend(next.clone());
        level = next;
    }
    paths.into_values().collect()
}

fn naive_selection(map: &Map, state: &State) -> Vec<u32> {
    let reach = |entries: &[Entry]| -> BTreeSet<u32> {
        entries.iter().flat_map(|entry| naive(map, entry)).map(|path| path[path.len() - 1]).collect()
    };
    (&reach(&state.include) - &reach(&state.exclude)).into_iter().collect()
}

fn any_entry() -> impl Strategy<Value = Entry> {
    let depth = prop_oneof![0u32..5, Just(u32::MAX)];
    ("[a-d]{1,2}", depth, 0u8..8).prop_map(|(node, depth, mask)| Entry { node, depth, mask })
}

fn any_entries() -> impl Strategy<Value = Vec<Entry>> {
    prop::collection::vec(any_entry(), 0..6)
}

fn everything() -> SelectOptions {
    SelectOptions { drop_kinds: Vec::new(), ..SelectOptions::default() }
}

fn selected(map: &Map, include: &[Entry], exclude: &[Entry]) -> BTreeSet<u32> {
    let state = State { include: include.to_vec(), exclude: exclude.to_vec() };
    select(map, &state, &everything()).unwrap().selected.into_iter().collect()
}

/// A state with a million unknown files once took 1.3 GB until all were reported.
#[test]
fn too_many_unknown_entries_are_refused() {
    let map = map("a b 1");
    let entries = |count: usize| (0..count).map(|at| Entry::node(format!("f{at}"))).collect::<Vec<_>>();
    let select = |include, exclude| select(&map, &State { include, exclude }, &SelectOptions::default());
    assert_eq!(select(entries(100_000), Vec::new()).unwrap().unknown.len(), 100_000);
    for (include, exclude) in [(entries(100_001), Vec::new()), (Vec::new(), entries(100_001))] {
        let message = select(include, exclude).unwrap_err().to_string();
        assert_eq!(message, "100001 entries are not in the map, the first is `f0`: at most 100000 are looked for");
    }
    // There is no limit on entries that are in the map.
    let known = vec![Entry::node("a"); 300_000];
    assert_eq!(select(known, Vec::new()).unwrap().selected.len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_selection_is_that_of_the_naive_search(map in any_map(24), include in any_entries(), exclude in any_entries()) {
        let state = State { include, exclude };
        prop_assert_eq!(select(&map, &state, &everything()).unwrap().selected, naive_selection(&map, &state));
    }

    #[test]
    fn the_order_of_entries_does_not_matter(
        map in any_map(24),
        (include, shuffled) in any_entries().prop_flat_map(|entries| (Just(entries.clone()), Just(entries).prop_shuffle())),
        exclude in any_entries(),
    ) {
        let summary = |include: &[Entry], exclude: &[Entry]| {
            let state = State { include: include.to_vec(), exclude: exclude.to_vec() };
            SelectionSummary::of(&map, &state, &SelectOptions::default()).unwrap()
        };
        let turned: Vec<Entry> = exclude.iter().rev().cloned().collect();
        prop_assert_eq!(summary(&include, &exclude), summary(&shuffled, &turned));
    }

    #[test]
    fn more_depth_and_more_kinds_select_no_less(
        map in any_map(24), include in any_entries(), exclude in any_entries(), at in any::<prop::sample::Index>(), deeper in 0u32..4, bits in 0u8..8,
    ) {
        prop_assume!(!include.is_empty());
        let mut more = include.clone();
        let entry = &mut more[at.index(include.len())];
        entry.depth = entry.depth.saturating_add(deeper);
        entry.mask |= bits;
        prop_assert!(selected(&map, &include, &exclude).is_subset(&selected(&map, &more, &exclude)));
        prop_assert!(selected(&map, &exclude, &more).is_subset(&selected(&map, &exclude, &include)));
    }

    #[test]
    fn nothing_excluded_is_selected(map in any_map(24), include in any_entries(), exclude in any_entries()) {
        let excluded = selected(&map, &exclude, &[]);
        prop_assert!(selected(&map, &include, &exclude).is_disjoint(&excluded));
        let both = [include.clone(), exclude.clone()].concat();
        prop_assert_eq!(selected(&map, &both, &exclude), selected(&map, &include, &exclude));
    }

    #[test]
    fn reasons_equal_the_best_paths_of_a_naive_search(map in any_map(24), include in any_entries()) {
        let mut best: std::collections::BTreeMap<u32, Vec<u32>> = std::collections::BTreeMap::new();
        for path in include.iter().flat_map(|entry| naive(&map, entry)) {
            let known = best.entry(path[path.len() - 1]).or_insert_with(|| path.clone());
            if (path.len(), &path) < (known.len(), known) {
                *known = path;
            }
        }
        let reasons = Reasons::of(&map, &State { include, exclude: Vec::new() });
        for node in map.indices() {
            prop_assert_eq!(reasons.path(node), best.get(&node).cloned());
            let end = reasons.path(node).map(|path| {
                let cut = path.len().saturating_sub(3);
                (path[cut..].to_vec(), cut as u64)
            });
            prop_assert_eq!(reasons.end_of_path(node, 3), end);
        }
    }
}
