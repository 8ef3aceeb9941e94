//! The files directly in the root have a token budget in context archives (`rootTokens`).

use std::fs;

use crate::archives::{archived, json};
use crate::support::Repository;

/// About 30,000 tokens in the root; `package.json` and `README.md` are not the smallest.
fn repository(config: &str) -> Repository {
    let text = |tokens: usize| "abc\n".repeat(tokens);
    Repository::new(&[
        ("README.md", &text(9_000)),
        ("package.json", &format!("{{}}{}", " ".repeat(16_000))),
        ("a.config.txt", &text(3_000)),
        ("b.config.txt", &text(6_000)),
        ("CHANGELOG.md", &text(8_000)),
        ("drawing.bin", &format!("\0{}", text(50_000))),
        ("stan.config.yml", config),
        ("src/a.ts", "export const a = 1;\n"),
    ])
}

#[test]
fn a_root_beyond_its_budget_keeps_the_readme_the_manifest_and_the_smallest_files() {
    let repository = repository("");
    let plan = json(&repository, &["run", "--context", "--meta", "--plan", "--json"]);
    let report = json(&repository, &["run", "--context", "--meta", "--json"]);
    assert_eq!(archived(&repository), ["README.md", "a.config.txt", "package.json", "stan.config.yml"]);
    assert_eq!(plan["archive"]["files"], report["archive"]["files"]);
    let left_out = report["leftOut"].as_array().unwrap();
    let reason = |path: &str| left_out.iter().find(|file| file["path"] == path).unwrap()["reason"].as_str().unwrap();
    assert_eq!(reason("CHANGELOG.md"), "the files in the root exceed `rootTokens` (20000)");
    assert_eq!(reason("b.config.txt"), reason("CHANGELOG.md"));
    // The reader learns from the overview what can be selected.
    let overview = fs::read_to_string(repository.root().join(".stan/context/dependency.overview.md")).unwrap();
    assert!(overview.contains("to be selected by path: CHANGELOG.md, b.config.txt."), "{overview}");
    assert!(json(&repository, &["verify", "--json"])["matches"].as_bool().unwrap());
}

#[test]
fn a_selection_and_includes_bring_root_files_back() {
    let repository = repository("stan-core:\n  includes: [b.config.txt]\n");
    repository.write(".stan/context/dependency.state.json", r#"{"v":2,"i":["CHANGELOG.md"]}"#);
    repository.stan(&["run", "--context"]);
    for path in ["CHANGELOG.md", "b.config.txt", "README.md", "package.json"] {
        assert!(archived(&repository).iter().any(|name| name == path), "{path}");
    }
}

#[test]
fn the_budget_of_the_root_can_be_lifted_and_does_not_apply_to_plain_runs() {
    let unlimited = repository("stan-core:\n  context:\n    rootTokens: 0\n");
    unlimited.stan(&["run", "--context"]);
    assert!(archived(&unlimited).iter().any(|name| name == "CHANGELOG.md"));
    let plain = repository("");
    plain.stan(&["run"]);
    assert!(archived(&plain).iter().any(|name| name == "CHANGELOG.md"));
}
