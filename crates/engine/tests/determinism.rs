//! The same repository gives the same bytes with any number of threads, any order of directory listings, and at any path.

mod support;

use std::fmt::Write;

use stan_engine::graph::{GraphOptions, GraphRequest};
use stan_repo::MemorySystem;
use stan_testkit::Random;
use support::{json, run_on};

/// A few hundred files: barrels of barrels, cycles, packages, configurations, links, and all kinds of errors.
fn repository(root: &str, seed: u64) -> MemorySystem {
    let mut random = Random::new(seed);
    let system = MemorySystem::new();
    let put = |path: String, text: String| {
        system.set_file(format!("{root}/{path}"), text);
    };
    for package in 0..6 {
        let base = format!("packages/p{package}");
        put(format!("{base}/package.json"), format!("{{\"name\": \"p{package}\", \"main\": \"src/index.ts\"}}"));
        system.set_link(format!("{root}/node_modules/p{package}"), format!("../packages/p{package}"));
        let config = [
            "{}",
            "{\"compilerOptions\": {\"paths\": {\"~/*\": [\"./src/*\"]}}}",
            "{\"extends\": \"../../gone.json\"}",
        ];
        put(format!("{base}/tsconfig.json"), config[package % 3].to_owned());
        let barrel: String = (0..40).map(|i| format!("export * from './m{i}';\n")).collect();
        put(format!("{base}/src/index.ts"), barrel);
        for module in 0..40 {
            put(format!("{base}/src/m{module}.ts"), module_text(&mut random, package, module));
        }
    }
    for external in 0..8 {
        let base = format!("node_modules/e{external}");
        let next = (external + 1) % 8;
        put(format!("{base}/package.json"), format!("{{\"name\": \"e{external}\", \"types\": \"index.d.ts\"}}"));
        let barrel: String = (0..10).map(|i| format!("export * from './d{i}';\n")).collect();
        put(format!("{base}/index.d.ts"), format!("{barrel}export * from 'e{next}'; export * from './index';"));
        for definer in 0..10 {
            let star = (definer + 3) % 10;
            put(format!("{base}/d{definer}.d.ts"), format!("export const e{definer}: 1; export * from './d{star}';"));
        }
    }
    put(".gitignore".into(), "gen\nnode_modules\n".into());
    put("gen/one.ts".into(), "import './two'; export * from '../packages/p0/src/index';".into());
    put("gen/two.ts".into(), "import './one'; import './three';".into());
    system
        .set_link(format!("{root}/dangling.ts"), "nowhere")
        .set_link(format!("{root}/alias.ts"), "packages/p1/src/m1.ts");
    system
}

fn module_text(random: &mut Random, package: usize, module: usize) -> String {
    let mut text = format!("/** Module {module} of {package}. @module */\nexport const v{module} = 1;\n");
    for _ in 0..random.below(8) {
        let (other, name) = (random.below(6), random.below(50));
        let _ = match random.below(14) {
            0 => writeln!(text, "import {{v{name}}} from 'p{other}';"),
            1 => writeln!(text, "import {{v{name} as w}} from './index';"),
            2 => writeln!(text, "export * from './m{name}';"),
            3 => writeln!(text, "import type {{e{}}} from 'e{other}';", name % 12),
            4 => writeln!(text, "import {{e{}, e3 as q}} from 'e{other}';", name % 12),
            5 => writeln!(text, "import './gone{name}'; import 'gone{name}';"),
            6 => writeln!(text, "import fs from 'fs'; import 'node:path';"),
            7 => writeln!(text, "import '../../../gen/one';"),
            8 => writeln!(text, "const l = import('./m{name}'); const g = import.meta.glob('./m1*.ts');"),
            9 => writeln!(text, "export {{v{name} as x{name}}} from '~/m{name}';"),
            10 => writeln!(text, "import * as ns from 'p{other}'; export {{ns}};"),
            11 => writeln!(text, "import '../../../dangling'; import '../../../alias';"),
            12 => writeln!(text, "import 'packages/p{other}/src/m{name}.ts'; import 'node_modules/e{other}/d1.d.ts';"),
            _ => writeln!(text, "const broken = (((;"),
        };
    }
    text
}

fn answer(system: &MemorySystem, root: &str, threads: usize, external_depth: u32) -> String {
    let mut options = GraphOptions::new(root);
    options.external_depth = external_depth;
    json(&run_on(threads, system, &options, &GraphRequest::default()))
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_threads() {
    for (seed, depth) in [(1, 0), (2, 0), (3, 2)] {
        let system = repository("/r", seed);
        let first = answer(&system, "/r", 1, depth);
        assert!(first.len() > 50_000, "the repository is of some size");
        for threads in [2, 8, 2, 8] {
            assert_eq!(answer(&system, "/r", threads, depth), first, "seed {seed}, {threads} threads");
        }
    }
}

#[test]
fn the_order_of_listings_does_not_matter() {
    let system = repository("/r", 4);
    let first = answer(&system, "/r", 4, 1);
    for order in 1..6 {
        system.set_order(order);
        assert_eq!(answer(&system, "/r", 4, 1), first, "order {order}");
    }
}

#[test]
fn the_answer_does_not_depend_on_the_checkout_path() {
    let first = answer(&repository("/r", 5), "/r", 2, 1);
    for root in ["/place/somebody/a much longer place/r", "/x/packages/p1", "/ü"] {
        assert_eq!(answer(&repository(root, 5), root, 2, 1), first, "{root}");
    }
}

#[test]
fn twenty_runs_give_the_same_bytes() {
    let system = repository("/r", 6);
    let first = answer(&system, "/r", 8, 0);
    for time in 0..19 {
        assert_eq!(answer(&system, "/r", 8, 0), first, "run {time}");
    }
}

/// Ids may be interned in a different order in every run; stored and reloaded answers must not depend on it.
#[test]
fn a_cache_made_on_eight_threads_serves_one() {
    let system = repository("/r", 7);
    let options = GraphOptions::new("/r");
    let request = GraphRequest { cache_directory: Some("/c".into()), ..GraphRequest::default() };
    let first = answer(&system, "/r", 1, 0);
    for threads in [8, 1, 8] {
        assert_eq!(json(&run_on(threads, &system, &options, &request)), first);
    }
    system.set_now(10_000_000_000).set_file("/r/packages/p2/src/m3.ts", "export const v3 = 1; export * from './m4';");
    assert_eq!(json(&run_on(1, &system, &options, &request)), answer(&system, "/r", 8, 0));
}
