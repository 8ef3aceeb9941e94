//! `stan view` and the levels of diagrams: where the page is written, its contents, and that hostile names stay text.
//! `fixtures/view/check.mjs` tests it in a browser.

use std::fs;

use expect_test::expect;
use serde_json::Value;

use crate::support::Repository;

const PAGE: &str = ".stan/output/view.html";

fn repository() -> Repository {
    Repository::new(&[
        ("package.json", "{\"name\":\"app\",\"type\":\"module\"}\n"),
        ("src/a.ts", "import { b } from './lib/b.js';\nimport './gone.js';\nexport const a = b;\n"),
        ("src/lib/b.ts", "import { a } from '../a.js';\r\nexport const b = () => a;\r\n"),
        ("src/odd name \u{e9}\u{202e}.ts", "export {};\n"),
        ("logo.svg", "<svg/>\n"),
    ])
}

fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

fn page(repository: &Repository, path: &str) -> String {
    fs::read_to_string(repository.root().join(path)).unwrap()
}

#[test]
fn the_page_is_written_into_the_workspace_and_holds_files_cycles_and_missing_imports() {
    let repository = repository();
    let printed = repository.stan(&["view"]);
    assert!(printed.contains(".stan/output/view.html  5 files, "), "{printed}");
    assert!(printed.contains("1 cycle, 1 missing import, 0 selected"), "{printed}");
    let data = data(&page(&repository, PAGE));
    let names: Vec<&str> = data["files"].as_array().unwrap().iter().map(|file| file[0].as_str().unwrap()).collect();
    assert_eq!(names, ["logo.svg", "package.json", "a.ts", "b.ts", "odd name é\\u{202e}.ts"]);
    assert_eq!(data["missing"][0][0], "src/gone.js");
    assert_eq!(data["cycles"][0][0].as_array().unwrap().len(), 2);
    // The same inputs give the same bytes, so the page itself must not be one of the inputs.
    let first = page(&repository, PAGE);
    repository.stan(&["view", "--no-cache", "--threads", "1"]);
    assert_eq!(page(&repository, PAGE), first);
}

#[test]
fn a_selected_file_says_why_it_is_selected() {
    let repository = repository();
    repository.write(".stan/context/dependency.state.json", "{\"v\":2,\"i\":[[\"src/a.ts\",1]]}\n");
    repository.stan(&["view", "--out", "pages/out.html", "--focus", "src/lib"]);
    let data = data(&page(&repository, "pages/out.html"));
    assert_eq!(data["focus"], "src/lib");
    let reasons: Vec<&Value> = data["files"].as_array().unwrap().iter().map(|file| &file[13]).collect();
    let reason = |at: usize| reasons[at].as_str().unwrap_or("");
    assert_eq!((reason(2), reason(3)), ("named in the selection", "a dependency of src/a.ts"));
    assert_eq!(reasons[4], 0);
}

#[test]
fn an_empty_folder_gives_a_page_and_an_unknown_focus_gives_near_names() {
    let empty = Repository::new(&[]);
    assert!(empty.stan(&["view"]).starts_with("exit 0\n"));
    let repository = repository();
    expect![[r#"
        exit 1
        --- stdout
        --- stderr
        error: there is no such file or folder
          `src/aa.ts`; did you mean `src/a.ts`?
    "#]]
    .assert_eq(&repository.stan(&["view", "--focus", "src/aa.ts"]));
    assert!(!repository.root().join(PAGE).exists());
}

#[test]
fn nothing_is_written_through_a_link_in_place_of_the_output_folder() {
    let repository = repository();
    let outside = Repository::new(&[]);
    fs::create_dir_all(repository.root().join(".stan")).unwrap();
    std::os::unix::fs::symlink(outside.root(), repository.root().join(".stan/output")).unwrap();
    assert!(repository.stan(&["view"]).starts_with("exit 1\n"));
    assert!(!outside.root().join("view.html").exists());
}

#[test]
fn diagrams_of_folders_and_packages() {
    let repository = repository();
    expect![[r#"
        exit 0
        --- stdout
        flowchart LR
          n0["."]:::source
          n1["missing modules"]:::missing
          n2["src"]:::source
          n3["src/lib"]:::source
          n2 --> n1
          n2 --> n3
          n3 --> n2
          classDef source fill:#fff,stroke:#333
          classDef external fill:#eee,stroke:#888
          classDef builtin fill:#eef,stroke:#88a
          classDef missing fill:#fee,stroke:#c00,stroke-dasharray:4 4
        --- stderr
    "#]]
    .assert_eq(&repository.stan(&["graph", "--format", "mermaid", "--level", "folder"]));
    let near = repository.stan(&["graph", "src/lib/b.ts", "--format", "dot", "--depth", "1"]);
    assert!(near.contains("src/a.ts") && !near.contains("gone"), "{near}");
}

#[test]
fn a_diagram_that_mermaid_cannot_draw_is_refused_with_the_ways_out() {
    let repository = repository();
    expect![[r#"
        exit 1
        --- stdout
        --- stderr
        error: the diagram has 3 edges; Mermaid draws at most 1
          help: `--level folder --depth 2` or `--level package` draws less, `stan graph FILE --depth 1` a part; `--max-edges 0` writes it all the same; `stan view` shows everything
    "#]]
    .assert_eq(&repository.stan(&["graph", "--format", "mermaid", "--max-edges", "1"]));
    assert!(repository.stan(&["graph", "--format", "mermaid", "--max-edges", "0"]).starts_with("exit 0\n"));
}
