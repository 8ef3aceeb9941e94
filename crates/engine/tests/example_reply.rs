//! The example reply in the shipped instructions passes the gate, and small mistakes in it do not, so that the document and the
//! gate agree. The gate has its own tests in its crate.

use std::borrow::Cow;
use std::collections::BTreeMap;

use stan_engine::init::system_document;
use stan_model::document::state::{Entry, State};
use stan_reply::{ChangedFiles, CheckOptions, ClosureSize, ReplyFacts, check as check_reply};

/// The archive that the example replies to.
struct Archive {
    stan_path: &'static str,
    files: BTreeMap<String, &'static str>,
}

impl Archive {
    fn new(stan_path: &'static str) -> Self {
        let price = "export function total(prices: number[]): number {\n  \
                     return prices.map(Math.round).reduce((sum, price) => sum + price, 0);\n}\n";
        let files = [
            (format!("{stan_path}/context/dependency.meta.json"), "{}"),
            (format!("{stan_path}/context/dependency.state.json"), "{\"v\":2,\"i\":[[\"src/price.ts\",1]]}\n"),
            (format!("{stan_path}/system/stan.scratch.md"), ""),
            (format!("{stan_path}/system/stan.todo.md"), ""),
            ("src/price.ts".to_owned(), price),
        ];
        Self { stan_path, files: files.into() }
    }
}

impl ReplyFacts for Archive {
    fn stan_path(&self) -> &str {
        self.stan_path
    }
    fn archived(&self, path: &str) -> Option<Cow<'_, [u8]>> {
        self.files.get(path).map(|text| Cow::Borrowed(text.as_bytes()))
    }
    fn has_archived_below(&self, folder: &str) -> bool {
        self.files.keys().any(|path| path.starts_with(&format!("{folder}/")))
    }
    fn exists(&self, path: &str) -> bool {
        self.files.contains_key(path) || self.is_mapped(path)
    }
    fn first_unarchived_below(&self, _: &str) -> Option<String> {
        None
    }
    fn is_mapped(&self, id: &str) -> bool {
        ["src/legacy.ts", "src/price.ts", "src/tax.ts"].contains(&id)
    }
    fn state(&self) -> Option<Cow<'_, [u8]>> {
        self.archived(&format!("{}/context/dependency.state.json", self.stan_path))
    }
    fn selected(&self, state: &State) -> Vec<String> {
        state.include.iter().map(|entry| entry.node.clone()).collect()
    }
    fn closure_size(&self, _: &Entry) -> ClosureSize {
        ClosureSize::default()
    }
    fn imported_copy(&self, _: &str) -> Option<String> {
        None
    }
    fn tokens_after(&self, _: &State, _: &ChangedFiles) -> u64 {
        0
    }
}

fn example(stan_path: &str) -> String {
    let text = system_document(stan_path);
    let (_, rest) = text.split_once("<!-- stan:example -->\n~~~~~markdown\n").unwrap();
    rest.split_once("~~~~~\n<!-- /stan:example -->").unwrap().0.to_owned()
}

/// The codes that the gate reports after replacing `from` by `to` in the example.
fn check(from: &str, to: &str, expected: &[&str]) {
    for stan_path in [".stan", "tools/stan"] {
        let (from, to) = (from.replace(".stan", stan_path), to.replace(".stan", stan_path));
        let reply = example(stan_path);
        assert!(reply.contains(&from), "{from}");
        let report = check_reply(&reply.replace(&from, &to), &Archive::new(stan_path), &CheckOptions::default());
        let mut codes: Vec<&str> = report.findings.iter().filter_map(|found| found.code.get(11..)).collect();
        codes.dedup();
        assert_eq!(codes, expected, "{from:?} -> {to:?}: {report:#?}");
    }
}

#[test]
fn the_example_of_the_documentation_is_accepted() {
    check("## Changes", "## Changes", &[]);
}

#[test]
fn each_altered_part_of_the_example_is_reported() {
    check("present: yes", "present: no", &["0007", "0006"]);
    check("  - `src/price.ts` — present: yes\n", "", &["0005"]);
    check("  - x: `[\"src/legacy.ts\"]`\n", "", &["0010"]);
    check("- Dependency selection", "- dependency.state.json: no change\n- Dependency selection", &["0001"]);
    check("### Patch: src/price.ts", "### Patch: src/prices.ts", &["0013"]);
    check("prices.map(Math.round)", "prices.map(Math.floor)", &["0011"]);
    check("src/tax.ts", "src/taxes.ts", &["0101"]);
}
