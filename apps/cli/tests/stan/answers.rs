//! `stan deps`, `stan dependents` and `stan cycles`: their text, that they agree with `stan graph --json`, and that the answer
//! stays small for hubs.

use std::collections::{BTreeMap, BTreeSet};

use expect_test::expect;
use serde_json::Value;
use stan_engine::tokens::Tokenizer;

use crate::support::Repository;

fn repository() -> Repository {
    Repository::new(&[
        ("package.json", "{\"name\":\"app\",\"type\":\"module\"}\n"),
        ("src/main.ts", "import { total, Item } from './shop/index.js';\nimport fs from 'node:fs';\nimport 'gone';\n"),
        ("src/shop/index.ts", "export * from './cart.js';\nexport type { Item as Item } from './item.js';\n"),
        ("src/shop/cart.ts", "import type { Item } from './item.js';\nexport const total = (items: Item[]) => 1;\n"),
        (
            "src/shop/item.ts",
            "export interface Item { name: string }\nexport const lazy = () => import('./cart.js');\n",
        ),
        ("src/odd name \u{e9}.ts", "import { total } from './shop/cart.js';\r\n"),
        ("src/self.ts", "import './self.js';\n"),
    ])
}

#[test]
fn dependencies_are_listed_with_imported_names() {
    let repository = repository();
    expect![[r#"
        exit 0
        --- stdout
        src/main.ts depends on 5 modules
          src/shop/cart.ts (implicit): total
          src/shop/index.ts: Item, total
          src/shop/item.ts (implicit): Item
          gone (missing)
          builtin: node:fs
        --- stderr
    "#]]
    .assert_eq(&repository.stan(&["deps", "src/main.ts"]));
    expect![[r#"
        exit 0
        --- stdout
        src/shop/cart.ts has 4 dependents
          src/main.ts (implicit): total
          src/odd name é.ts: total
          src/shop/index.ts
          src/shop/item.ts (dynamic)
        --- stderr
    "#]]
    .assert_eq(&repository.stan(&["dependents", "src/shop/cart.ts"]));
    expect![[r#"
        exit 0
        --- stdout
        src/main.ts depends on 5 modules
          src/shop/cart.ts (implicit): total
          src/shop/index.ts: Item, total
        3 left out (1 in builtin, 1 in missing, 1 in src/shop); --budget 0 shows all
        --- stderr
    "#]]
    .assert_eq(&repository.stan(&[
        "deps",
        "src/main.ts",
        "--depth",
        "3",
        "--kinds",
        "runtime,dynamic",
        "--limit",
        "2",
    ]));
}

#[test]
fn cycles_are_shown_by_a_shortest_ring() {
    let repository = repository();
    expect![[r#"
        exit 0
        --- stdout
        2 cycles
        2 files: src/shop/cart.ts -> src/shop/item.ts -> src/shop/cart.ts
        1 file: src/self.ts -> src/self.ts
        --- stderr
    "#]]
    .assert_eq(&repository.stan(&["cycles"]));
    expect![[r#"
        exit 0
        --- stdout
        1 cycle
        1 file: src/self.ts -> src/self.ts
        --- stderr
    "#]]
    .assert_eq(&repository.stan(&["cycles", "--kinds", "runtime"]));
    expect![[r#"
        exit 0
        --- stdout
        2 cycles
        1 file: src/self.ts -> src/self.ts
        1 cycle left out; --budget 0 shows all
        --- stderr
    "#]]
    .assert_eq(&repository.stan(&["cycles", "--shortest", "--limit", "1"]));
}

#[test]
fn unknown_files_are_reported_with_similar_ones() {
    let repository = repository();
    expect![[r#"
        exit 1
        --- stdout
        --- stderr
        error: not in the graph
          `src/shop/carts.ts`; did you mean `src/shop/cart.ts`?
          `src/shop` is a folder; `stan map --focus src/shop` shows its files
    "#]]
    .assert_eq(&repository.stan(&["deps", "src/shop/carts.ts", "src/shop"]));
    expect![[r#"
        exit 2
        --- stdout
        --- stderr
        error: invalid value 'runtimes' for '--kinds <KIND>'
          [possible values: runtime, type, dynamic]

          tip: a similar value exists: 'runtime'

        For more information, try '--help'.
    "#]]
    .assert_eq(&repository.stan(&["deps", "src/main.ts", "--kinds", "runtimes"]));
}

/// For each file, its targets with the kinds of edges.
type Edges = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

fn edges(graph: &Value) -> Edges {
    let mut edges = Edges::new();
    for (source, list) in graph["graph"]["edges"].as_object().unwrap() {
        for edge in list.as_array().unwrap() {
            let target = edge["target"].as_str().unwrap().to_owned();
            let kinds = edges.entry(source.clone()).or_default().entry(target).or_default();
            kinds.insert(edge["kind"].as_str().unwrap().to_owned());
        }
    }
    edges
}

fn json(repository: &Repository, arguments: &[&str]) -> Value {
    let output = repository.output(arguments, &[]);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn answered(answer: &Value) -> BTreeMap<String, BTreeSet<String>> {
    let modules = answer["files"][0]["modules"].as_array().unwrap();
    let kinds = |module: &Value| {
        let kinds = module["edges"].as_array().unwrap().iter();
        kinds.map(|kind| kind.as_str().unwrap().to_owned()).collect()
    };
    modules.iter().map(|module| (module["id"].as_str().unwrap().to_owned(), kinds(module))).collect()
}

#[test]
fn answers_agree_with_the_graph() {
    let repository = repository();
    let graph = json(&repository, &["graph", "--json"]);
    let edges = edges(&graph);
    for node in graph["graph"]["nodes"].as_object().unwrap().keys() {
        let others = |kinds: &BTreeMap<String, BTreeSet<String>>| {
            kinds.iter().filter(|(id, _)| *id != node).map(|(id, kinds)| (id.clone(), kinds.clone())).collect()
        };
        let forward: BTreeMap<_, _> = edges.get(node).map(others).unwrap_or_default();
        let backward: BTreeMap<_, _> = edges
            .iter()
            .filter(|(source, _)| *source != node)
            .filter_map(|(source, targets)| Some((source.clone(), targets.get(node)?.clone())))
            .collect();
        for extra in [&["--no-cache"][..], &[]] {
            let ask = |verb: &str| {
                let asked = [&[verb, node.as_str(), "--json", "--budget", "0"], extra].concat();
                json(&repository, &asked)
            };
            assert_eq!(answered(&ask("deps")), forward, "{node}");
            assert_eq!(answered(&ask("dependents")), backward, "{node}");
        }
    }
}

#[test]
fn warm_answers_are_the_cold_ones() {
    let repository = repository();
    let ask = || repository.stan(&["deps", "src/main.ts", "src/shop/cart.ts", "--depth", "2"]);
    let cold = ask();
    assert_eq!(ask(), cold);
    repository.write("src/shop/cart.ts", "export const total = 1, other = 2;\n");
    let edited = ask();
    assert_ne!(edited, cold);
    assert_eq!(ask(), edited);
    let fresh = repository.stan(&["deps", "src/main.ts", "src/shop/cart.ts", "--depth", "2", "--no-cache"]);
    assert_eq!(fresh, edited);
}

#[test]
fn answers_about_hubs_stay_small() {
    let mut files: Vec<(String, String)> = (0..400)
        .map(|index| {
            let names: String = (0..12).map(|name| format!("exportedName{name}, ")).collect();
            let folder = index % 7;
            let path = format!("packages/application-{folder}/source/components/SomeComponent{index}.ts");
            (path, format!("import {{ {names} }} from '../../../hub/hub.js';\nimport '../../../hub/other.js';\n"))
        })
        .collect();
    let exports: String = (0..12).map(|name| format!("export const exportedName{name} = 1;\n")).collect();
    let imports: String = (0..400)
        .map(|index| format!("import '../application-{}/source/components/SomeComponent{index}.js';\n", index % 7))
        .collect();
    files.push(("packages/hub/hub.ts".to_owned(), format!("{imports}{exports}")));
    files.push(("packages/hub/other.ts".to_owned(), "export {};\n".to_owned()));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let repository = Repository::new(&files);
    for arguments in [
        &["dependents", "packages/hub/hub.ts"][..],
        &["dependents", "packages/hub/hub.ts", "packages/hub/other.ts"],
        &["deps", "packages/hub/hub.ts"],
        &["deps", "packages/hub/hub.ts", "--depth", "2"],
        &["cycles"],
        &["cycles", "--shortest"],
    ] {
        let output = repository.output(arguments, &[]);
        let tokens = Tokenizer::O200k.count(&output.stdout);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!((100..=500).contains(&tokens) || arguments.contains(&"--shortest"), "{arguments:?}: {tokens}\n{text}");
        assert!(tokens <= 500 && (text.contains("left out") || text.contains(", +") || tokens < 100), "{text}");
    }
}

#[test]
fn empty_and_odd_places() {
    let empty = Repository::new(&[]);
    assert!(empty.stan(&["cycles"]).contains("no cycles"));
    assert!(empty.stan(&["deps", "a.ts"]).starts_with("exit 1"));
    let repository = repository();
    let odd = repository.stan(&["deps", "src/odd name \u{e9}.ts"]);
    assert!(odd.contains("src/shop/cart.ts: total"), "{odd}");
    let below = repository.stan(&["-C", "src/shop", "deps", "cart.ts"]);
    assert!(below.starts_with("exit 0"), "{below}");
}
