//! The whole ranking on small repositories: who comes first, and why.

use expect_test::{Expect, expect};

use super::*;

struct Fixture {
    paths: Vec<&'static str>,
    index: WordIndex,
    edges: Vec<Edge>,
    history: Vec<Change>,
}

/// A shop: `files` with their texts, imports by name, commits as lists of names (the newest first, a day apart).
fn fixture(files: &[(&'static str, &str)], imports: &[(&str, &str)], commits: &[(&str, &[&str])]) -> Fixture {
    let paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
    let number = |path: &str| paths.iter().position(|known| *known == path).unwrap() as u32;
    let mut counter = WordCounter::default();
    let counted: Vec<FileWords> = files.iter().map(|(path, text)| counter.count(path, text.as_bytes())).collect();
    let edges =
        imports.iter().map(|(from, to)| Edge { from: number(from), to: number(to), weight: Fixed::ONE }).collect();
    let history = commits.iter().enumerate().map(|(days, (message, files))| {
        let (message, message_length) = message_words(message);
        let mut files: Vec<u32> = files.iter().map(|path| number(path)).collect();
        files.sort_unstable();
        Change { age: days as u64 * 86_400, size: files.len() as u32, files, message, message_length }
    });
    Fixture { index: WordIndex::build(&counted), edges, history: history.collect(), paths }
}

fn shop() -> Fixture {
    fixture(
        &[
            ("README.md", "the cart of the shop"),
            ("src/cart.ts", "import './item'; import './hub'; export function addItem(item) { return priceOf(item) }"),
            ("src/hub.ts", "export const hub = 0;"),
            ("src/item.ts", "export function priceOf(item) { return item.price }"),
            ("src/mail.ts", "import './hub'; export const sendMail = (letter) => letter;"),
            ("src/page.ts", "import './cart'; addItem(thing);"),
            ("src/tax.ts", "export const taxRate = 19;"),
            ("test/cart.test.ts", "import '../src/cart'; addItem(one);"),
        ],
        &[
            ("src/cart.ts", "src/item.ts"),
            ("src/cart.ts", "src/hub.ts"),
            ("src/mail.ts", "src/hub.ts"),
            ("src/page.ts", "src/cart.ts"),
            ("test/cart.test.ts", "src/cart.ts"),
        ],
        &[
            ("round the tax", &["src/cart.ts", "src/tax.ts"]),
            ("tax of letters", &["src/mail.ts", "src/tax.ts"]),
            ("tax again", &["src/cart.ts", "src/tax.ts"]),
        ],
    )
}

fn check(fixture: &Fixture, focus: &[&str], text: Option<&str>, expected: Expect) {
    let files: Vec<RankedFile> =
        fixture.paths.iter().map(|path| RankedFile { path: (*path).into(), class: file_class(path) }).collect();
    let corpus = Corpus { files: &files, index: &fixture.index, edges: &fixture.edges, history: &fixture.history };
    let number = |path: &&str| fixture.paths.iter().position(|known| known == path).unwrap() as u32;
    let focus: Vec<(u32, Fixed)> = focus.iter().map(|path| (number(path), Fixed::ONE)).collect();
    let ranking = rank(corpus, Question { focus: &focus, text });
    let mut order: Vec<usize> =
        (0..files.len()).filter(|file| !focus.iter().any(|(one, _)| *one as usize == *file)).collect();
    order.sort_by_key(|&file| (std::cmp::Reverse(ranking.score(file)), file));
    let line = |file: usize| {
        let terms: Vec<String> = ranking
            .terms(file)
            .iter()
            .take(3)
            .map(|(signal, value)| format!("{} {}", signal.name(), value.thousandths()))
            .collect();
        let reason = ranking.reason(file).map_or_else(|| "-".to_owned(), |reason| shown(fixture, &reason));
        format!("{} {}: {reason} ({})\n", fixture.paths[file], ranking.score(file).thousandths(), terms.join(", "))
    };
    expected.assert_eq(&order.into_iter().map(line).collect::<String>());
}

fn shown(fixture: &Fixture, reason: &Reason) -> String {
    let path = |file: &u32| fixture.paths[*file as usize];
    let word = |key: &TermKey| {
        let candidates =
            ["addItem", "priceOf", "item", "hub", "taxRate", "price", "export", "function", "return", "import"];
        candidates.iter().find(|word| words::key(word) == *key).copied().unwrap_or("?")
    };
    match reason {
        Reason::Imports(file) => format!("imports {}", path(file)),
        Reason::ImportedBy(file) => format!("imported by {}", path(file)),
        Reason::SiblingVia(file) => format!("sibling via {}", path(file)),
        Reason::TestOf(file) => format!("test of {}", path(file)),
        Reason::TestedBy(file) => format!("tested by {}", path(file)),
        Reason::NamedAs(file) => format!("named as {}", path(file)),
        Reason::ChangedTogether { common, of } => format!("changed together ({common} of {of} commits)"),
        Reason::Shares(key) => format!("shares {}", word(key)),
        Reason::Defines(key) => format!("defines {}", word(key)),
        Reason::Uses(key) => format!("uses {}", word(key)),
        Reason::Mentions(words) => format!("mentions {}", words.join(", ")),
        Reason::NamedLike(words) => format!("named like {}", words.join(", ")),
        Reason::Message(commit) => format!("message of {commit}"),
    }
}

#[test]
fn around_a_file() {
    check(
        &shop(),
        &["src/cart.ts"],
        None,
        expect![[r#"
            src/tax.ts 4940: changed together (2 of 2 commits) (changes 1480, near changes 1096, near hits 735)
            src/item.ts 3986: imported by src/cart.ts (words 1000, near hits 750, path 624)
            test/cart.test.ts 3259: test of src/cart.ts (path 920, uses 750, near hits 694)
            src/mail.ts 3162: sibling via src/hub.ts (changes with hits 707, path 624, near hits 537)
            src/page.ts 3009: imports src/cart.ts (uses 750, near hits 678, path 624)
            src/hub.ts 2619: imported by src/cart.ts (near hits 665, path 624, imports 489)
            README.md 26: - (vocabulary 26)
        "#]],
    );
}

#[test]
fn for_a_text() {
    check(
        &shop(),
        &[],
        Some("Round the tax rate"),
        expect![[r#"
            src/tax.ts 6762: mentions rate, tax (text words 2250, text messages 1500, text path 1250)
            src/cart.ts 3079: message of 0 (text messages 1494, changes with hits 1000, near hits 366)
            src/mail.ts 1263: message of 1 (changes with hits 707, near hits 236, churn 167)
            src/hub.ts 236: - (near hits 236)
            src/item.ts 222: - (near hits 222)
            src/page.ts 222: - (near hits 222)
            test/cart.test.ts 222: - (near hits 222)
            README.md 0: - ()
        "#]],
    );
}

#[test]
fn around_a_file_for_a_text() {
    check(
        &shop(),
        &["src/mail.ts"],
        Some("Letters: use `taxRate`"),
        expect![[r#"
            src/tax.ts 11345: mentions taxRate (text words 2250, text messages 1500, changes 1306)
            src/cart.ts 3271: sibling via src/hub.ts (changes with hits 1000, path 528, near changes 520)
            src/hub.ts 2831: imported by src/mail.ts (words 1000, path 528, defines 500)
            test/cart.test.ts 1119: test of src/cart.ts (names of hits 500, imports 324, path 250)
            src/page.ts 908: - (path 528, imports 324, vocabulary 35)
            src/item.ts 885: - (path 528, imports 324, near hits 20)
            README.md 0: - ()
        "#]],
    );
}

#[test]
fn without_history_or_edges_or_words() {
    let mut poor = shop();
    poor.history.clear();
    poor.edges.clear();
    check(
        &poor,
        &["src/cart.ts"],
        None,
        expect![[r#"
            src/item.ts 3486: shares item (words 1000, near hits 750, path 624)
            test/cart.test.ts 2727: test of src/cart.ts (path 920, uses 750, near hits 662)
            src/page.ts 2462: uses addItem (uses 750, near hits 631, path 624)
            src/hub.ts 2049: defines hub (path 624, near hits 584, defines 434)
            src/mail.ts 1401: shares hub (path 624, near hits 509, words 167)
            src/tax.ts 643: - (path 624, vocabulary 18)
            README.md 26: - (vocabulary 26)
        "#]],
    );
    check(
        &fixture(&[("a.ts", ""), ("b/a.test.ts", "")], &[], &[]),
        &["a.ts"],
        Some(""),
        expect![[r#"
            b/a.test.ts 2000: test of a.ts (path 1250, near hits 750)
        "#]],
    );
}
