//! Sizes at which recursion, exponential search or quadratic work would show. Nothing is timed: a search with the wrong
//! complexity would not finish.

use super::fixture::{Fixture, Sketch, Source};
use crate::tunnel::stars::{Limits, StarTables};
use crate::tunnel::{FileKey, Tunneller};

fn local(name: String) -> (String, Source) {
    (name, Source::Local)
}

fn passes_on(file: u32, name: &str) -> (String, Source) {
    (name.to_owned(), Source::Name(Some(file), name.to_owned()))
}

#[test]
fn every_name_of_a_chain_of_a_hundred_thousand_re_exports_is_found() {
    const LENGTH: u32 = 100_000;
    let mut fixture = Fixture::default();
    for file in 0..LENGTH - 1 {
        let (exports, imports) = (vec![passes_on(file + 1, "x")], vec![(file + 1, "x".to_owned())]);
        fixture.push(file.to_string(), Sketch { exports, imports, ..Sketch::default() });
    }
    fixture.push("last".to_owned(), Sketch { exports: vec![local("x".to_owned())], ..Sketch::default() });
    let tunneller = Tunneller::new(&fixture);
    for file in (0..LENGTH).rev().chain(0..LENGTH) {
        let expected: &[FileKey] = if file < LENGTH - 2 { &[FileKey(LENGTH - 1)] } else { &[] };
        let edges: Vec<FileKey> = tunneller.implicit_edges(FileKey(file)).edges.into_iter().map(|(to, _)| to).collect();
        assert_eq!(edges, expected);
    }
}

#[test]
fn a_ring_of_a_hundred_thousand_stars() {
    const LENGTH: u32 = 100_000;
    let mut fixture = Fixture::default();
    for file in 0..LENGTH {
        let stars = vec![Some((file + 1) % LENGTH)];
        fixture.push(file.to_string(), Sketch { exports: vec![local(format!("x{file}"))], stars, ..Sketch::default() });
    }
    let tunneller = Tunneller::new(&fixture);
    assert_eq!(&*tunneller.definers(FileKey(0), "x99999"), [FileKey(99_999)]);
    assert_eq!(&*tunneller.definers(FileKey(5), "x4"), [FileKey(4)]);
    for file in 0..LENGTH {
        assert_eq!(&*tunneller.definers(FileKey(file), "nobody"), []);
    }
}

#[test]
fn a_barrel_of_five_thousand_stars_with_five_thousand_importers() {
    const FILES: u32 = 5_000;
    let mut fixture = Fixture::default();
    let stars = (1..=FILES).map(Some).collect();
    fixture.push("barrel".to_owned(), Sketch { stars, ..Sketch::default() });
    for file in 1..=FILES {
        let exports = ["Component", "Props", "use", "type"].map(|name| local(format!("{name}{file}")));
        // A name that every file has is ambiguous, but it must not cost a search each time.
        let exports = exports.into_iter().chain([local("common".to_owned())]).collect();
        let imports = [file % FILES + 1, file * 7 % FILES + 1].map(|other| (0, format!("Component{other}")));
        let imports = imports.into_iter().chain([(0, format!("missing{file}"))]).collect();
        fixture.push(file.to_string(), Sketch { exports, imports, ..Sketch::default() });
    }
    let tunneller = Tunneller::new(&fixture);
    for file in 1..=FILES {
        let mut expected = vec![FileKey(file % FILES + 1), FileKey(file * 7 % FILES + 1)];
        expected.retain(|other| other.0 != file);
        expected.sort_unstable();
        expected.dedup();
        let edges: Vec<FileKey> = tunneller.implicit_edges(FileKey(file)).edges.into_iter().map(|(to, _)| to).collect();
        assert_eq!(edges, expected);
    }
    assert_eq!(tunneller.definers(FileKey(0), "common").len(), FILES as usize);
}

#[test]
fn a_thousand_small_barrels_over_one_large_barrel() {
    const FILES: u32 = 3_000;
    let mut fixture = Fixture::default();
    fixture.push("large".to_owned(), Sketch { stars: (1..=FILES).map(Some).collect(), ..Sketch::default() });
    for file in 1..=FILES {
        fixture.push(file.to_string(), Sketch { exports: vec![local(format!("x{file}"))], ..Sketch::default() });
    }
    for barrel in 0..1_000 {
        let stars = vec![Some(0), Some(barrel + 1)];
        fixture.push(format!("barrel {barrel}"), Sketch { stars, ..Sketch::default() });
    }
    let names: Vec<String> = (1..=FILES).map(|file| format!("x{file}")).collect();
    let tunneller = Tunneller::new(&fixture);
    for barrel in 0..1_000 {
        for step in 0..10 {
            let file = (barrel * 13 + step * 311) % FILES + 1;
            let definers = tunneller.definers(FileKey(FILES + 1 + barrel), &names[file as usize - 1]);
            assert_eq!(&*definers, [FileKey(file)]);
        }
    }
}

#[test]
fn a_ladder_with_exponentially_many_ways() {
    const RUNGS: u32 = 2_000;
    let mut fixture = Fixture::default();
    for rung in 0..RUNGS {
        let below = [Some(2 * rung + 2), Some(2 * rung + 3)].to_vec();
        for _ in 0..2 {
            fixture.push(rung.to_string(), Sketch { stars: below.clone(), ..Sketch::default() });
        }
    }
    for _ in 0..2 {
        fixture.push("end".to_owned(), Sketch { exports: vec![local("x".to_owned())], ..Sketch::default() });
    }
    let ends = [FileKey(2 * RUNGS), FileKey(2 * RUNGS + 1)];
    assert_eq!(&*Tunneller::new(&fixture).definers(FileKey(0), "x"), ends);
}

/// Every name is exported twice at every level, so no walk passes through a single state. Without a memo of all states, each of
/// the levels × names queries would walk all levels below.
#[test]
fn a_lattice_of_duplicate_names_that_are_all_imported() {
    const LEVELS: u32 = 300;
    const NAMES: u32 = 30;
    let mut fixture = Fixture::default();
    for level in 0..LEVELS {
        for _ in 0..2 {
            let below = [2 * level + 2, 2 * level + 3];
            let twice = |name: u32| {
                let source =
                    |side: usize| Source::Name(Some(below[side]), format!("x{}", (name + 1 + side as u32 * 7) % NAMES));
                [0, 1].map(|side| (format!("x{name}"), source(side)))
            };
            let imports = (0..NAMES).map(|name| (below[0], format!("x{name}"))).collect();
            let exports = (0..NAMES).flat_map(twice).collect();
            fixture.push(level.to_string(), Sketch { exports, imports, ..Sketch::default() });
        }
    }
    for _ in 0..2 {
        let exports = (0..NAMES).map(|name| local(format!("x{name}"))).collect();
        fixture.push("end".to_owned(), Sketch { exports, ..Sketch::default() });
    }
    let ends = [FileKey(2 * LEVELS), FileKey(2 * LEVELS + 1)];
    let tunneller = Tunneller::new(&fixture);
    for file in 0..2 * LEVELS {
        let edges: Vec<FileKey> = tunneller.implicit_edges(FileKey(file)).edges.into_iter().map(|(to, _)| to).collect();
        let expected: &[FileKey] = if file < 2 * LEVELS - 2 { &ends } else { &[] };
        assert_eq!(edges, expected, "{file}");
    }
}

/// The definers of a level are those of the level below and the level itself: listed separately, they would be five billion.
#[test]
fn a_chain_in_which_every_level_defines_the_name_too() {
    const LENGTH: u32 = 100_000;
    let mut fixture = Fixture::default();
    for file in 0..LENGTH - 1 {
        let exports = vec![local("x".to_owned()), passes_on(file + 1, "x")];
        fixture.push(file.to_string(), Sketch { exports, ..Sketch::default() });
    }
    fixture.push("last".to_owned(), Sketch { exports: vec![local("x".to_owned())], ..Sketch::default() });
    let tunneller = Tunneller::new(&fixture);
    assert_eq!(tunneller.definers(FileKey(0), "x").len(), LENGTH as usize);
    assert_eq!(tunneller.definers(FileKey(LENGTH - 10), "x").len(), 10);
}

#[test]
fn providers_behind_a_long_way_of_stars_are_searched_for_together() {
    const WAY: u32 = 3_000;
    const PROVIDERS: u32 = 3_000;
    let mut fixture = Fixture::default();
    for file in 0..WAY {
        let stars = if file + 1 < WAY { vec![Some(file + 1)] } else { (WAY..WAY + PROVIDERS).map(Some).collect() };
        fixture.push(file.to_string(), Sketch { stars, ..Sketch::default() });
    }
    let names: Vec<String> = (0..30).map(|name| format!("x{name}")).collect();
    for file in WAY..WAY + PROVIDERS {
        let exports = names.iter().cloned().map(local).collect();
        fixture.push(file.to_string(), Sketch { exports, ..Sketch::default() });
    }
    let tunneller = Tunneller::new(&fixture);
    for name in &names {
        assert_eq!(tunneller.definers(FileKey(0), name).len(), PROVIDERS as usize);
    }
}

#[test]
fn a_graph_of_billions_of_edges_is_not_made() {
    const FILES: u32 = 3_000;
    let mut fixture = Fixture::default();
    fixture.push("barrel".to_owned(), Sketch { stars: (1..=FILES).map(Some).collect(), ..Sketch::default() });
    for file in 1..=FILES {
        let exports = vec![local("common".to_owned()), local(format!("x{file}"))];
        let imports = vec![(0, "common".to_owned()), (0, format!("x{}", file % FILES + 1))];
        fixture.push(file.to_string(), Sketch { exports, imports, ..Sketch::default() });
    }
    let tunneller = Tunneller::new(&fixture);
    for file in 1..=FILES {
        tunneller.implicit_edges(FileKey(file));
    }
    assert!(tunneller.exceeds_edge_limit());
    let tunneller = Tunneller::new(&fixture).with_definer_limit();
    let implicit = tunneller.implicit_edges(FileKey(1));
    assert_eq!(implicit.edges, [(FileKey(2), stan_model::EdgeKind::Runtime)]);
    assert_eq!(implicit.left_out, Some(("common".into(), FILES as usize)));
    assert!(!tunneller.exceeds_edge_limit());
}

/// Each barrel is searched for each name: the number of states is barrels × names.
#[test]
fn states_of_long_searches_do_not_add_up() {
    const FILES: u32 = 300;
    let mut fixture = Fixture::default();
    for file in 0..FILES {
        let stars = vec![Some((file + 1) % FILES), Some((file * 7 + 3) % FILES)];
        let imports = (0..FILES).map(|name| (file, format!("x{name}"))).collect();
        let exports = vec![local(format!("x{file}"))];
        fixture.push(file.to_string(), Sketch { stars, exports, imports });
    }
    let mut tunneller = Tunneller::new(&fixture);
    (tunneller.walk_limit, tunneller.max_closed) = (8, 2_000);
    tunneller.stars = StarTables::new(Limits { follow: u32::MAX, entries: 0 });
    for file in 0..FILES {
        assert_eq!(tunneller.implicit_edges(FileKey(file)).edges.len(), FILES as usize - 1);
        let states = tunneller.long.lock().unwrap().closed_count();
        assert!(states <= 2_000 + FILES as usize + 1, "{states}");
    }
}

#[test]
fn threads_share_one_tunneller_and_agree() {
    const FILES: u32 = 400;
    let mut fixture = Fixture::default();
    fixture.push("barrel".to_owned(), Sketch { stars: (1..=FILES).map(Some).collect(), ..Sketch::default() });
    for file in 1..=FILES {
        let imports = (0..9).map(|step| (0, format!("x{}", (file * 31 + step * 7) % FILES + 1))).collect();
        fixture
            .push(file.to_string(), Sketch { exports: vec![local(format!("x{file}"))], imports, ..Sketch::default() });
    }
    let all = |tunneller: &Tunneller<'_>| {
        (0..=FILES).map(|file| tunneller.implicit_edges(FileKey(file)).edges).collect::<Vec<_>>()
    };
    let alone = all(&Tunneller::new(&fixture));
    let shared = Tunneller::new(&fixture);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| all(&shared))).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), alone);
        }
    });
}
