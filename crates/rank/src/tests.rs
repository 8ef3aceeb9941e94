//! The whole ranking on small repositories: the order of files, and the reasons.

use expect_test::{Expect, expect};

use super::*;

struct Fixture {
    paths: Vec<&'static str>,
    index: WordIndex,
    layout: Layout,
    history: History,
    messages: Messages,
}

impl Fixture {
    fn corpus(&self) -> Corpus<'_> {
        Corpus { layout: &self.layout, index: &self.index, history: &self.history, messages: &self.messages }
    }
}

/// A shop: `files` with their texts, imports by name, commits as lists of names (the newest first, a day apart).
fn fixture(files: &[(&'static str, &str)], imports: &[(&str, &str)], commits: &[(&str, &[&str])]) -> Fixture {
    let paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
    let number = |path: &str| paths.iter().position(|known| *known == path).unwrap() as u32;
    let mut counter = WordCounter::default();
    let counted: Vec<FileWords> = files.iter().map(|(path, text)| counter.count(path, text.as_bytes())).collect();
    let edges: Vec<Edge> =
        imports.iter().map(|(from, to)| Edge { from: number(from), to: number(to), weight: Fixed::ONE }).collect();
    let history = commits.iter().enumerate().map(|(days, (message, files))| {
        let (message, message_length) = message_words(message);
        let mut files: Vec<u32> = files.iter().map(|path| number(path)).collect();
        files.sort_unstable();
        Change { age: days as u64 * 86_400, size: files.len() as u32, files, message, message_length }
    });
    let changes: Vec<Change> = history.collect();
    let (history, messages) = (History::new(&changes, paths.len()), Messages::new(&changes));
    let layout = Layout::new(paths.iter().copied(), &edges);
    Fixture { index: WordIndex::build(&counted), layout, history, messages, paths }
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
    let corpus = fixture.corpus();
    let number = |path: &&str| fixture.paths.iter().position(|known| known == path).unwrap() as u32;
    let focus: Vec<(u32, Fixed)> = focus.iter().map(|path| (number(path), Fixed::ONE)).collect();
    let ranking = rank(corpus, Question { focus: &focus, text, named: &[] });
    let mut order: Vec<usize> =
        (0..fixture.paths.len()).filter(|file| !focus.iter().any(|(one, _)| *one as usize == *file)).collect();
    order.sort_by_key(|&file| (std::cmp::Reverse(ranking.score(file)), file));
    let line = |file: usize| {
        let terms: Vec<String> = ranking
            .terms(file)
            .iter()
            .take(3)
            .map(|(signal, value)| format!("{} {}", signal.name(), value.thousandths()))
            .collect();
        let reason =
            ranking.reason(file, &ranking.terms(file)).map_or_else(|| "-".to_owned(), |reason| shown(fixture, &reason));
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
        Reason::NamedInText => "named in the text".to_owned(),
        Reason::Message(commit) => format!("message of {commit}"),
    }
}

#[test]
fn a_focus_ranks_what_changed_with_it_imports_it_or_tests_it() {
    check(
        &shop(),
        &["src/cart.ts"],
        None,
        expect![[r#"
            src/tax.ts 4830: changed together (2 of 2 commits) (changes 1480, near changes 1096, path 749)
            src/item.ts 3331: imported by src/cart.ts (words 750, path 749, vocabulary 611)
            test/cart.test.ts 2899: test of src/cart.ts (path 1105, uses 750, near hits 446)
            src/mail.ts 2822: sibling via src/hub.ts (path 749, changes with hits 707, near changes 408)
            src/page.ts 2588: imports src/cart.ts (uses 750, path 749, near hits 432)
            src/hub.ts 2199: imported by src/cart.ts (path 749, defines 434, near hits 423)
            README.md 26: - (vocabulary 26)
        "#]],
    );
}

#[test]
fn a_text_ranks_files_with_its_words_and_messages() {
    check(
        &shop(),
        &[],
        Some("Round the tax rate"),
        expect![[r#"
            src/tax.ts 6263: mentions rate, tax (text words 2250, text messages 1500, text path 1250)
            src/cart.ts 2741: message of 0 (text messages 1494, changes with hits 1000, near hits 247)
            src/mail.ts 1021: message of 1 (changes with hits 707, near hits 161, text messages 152)
            src/hub.ts 161: - (near hits 161)
            src/item.ts 150: - (near hits 150)
            src/page.ts 150: - (near hits 150)
            test/cart.test.ts 150: - (near hits 150)
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
            src/tax.ts 10835: mentions taxRate (text words 2250, text messages 1500, changes 1306)
            src/cart.ts 2855: sibling via src/hub.ts (changes with hits 1000, path 634, near changes 520)
            src/hub.ts 2417: imported by src/mail.ts (words 750, path 634, defines 500)
            src/page.ts 844: - (path 634, imports 162, vocabulary 35)
            src/item.ts 822: - (path 634, imports 162, near hits 13)
            test/cart.test.ts 750: test of src/cart.ts (path 300, names of hits 250, imports 162)
            README.md 0: - ()
        "#]],
    );
}

/// No file contains `mailRate`, not even `src/mail.ts`.
#[test]
fn a_file_with_a_part_of_an_identifier_does_not_mention_the_whole() {
    let shop = shop();
    let question = Question { text: Some("use `mailRate`"), ..Question::default() };
    let ranking = rank(shop.corpus(), question);
    let tax = shop.paths.iter().position(|path| *path == "src/tax.ts").expect("a file");
    assert_eq!(ranking.reason_of(Signal::TextWords, tax), Some(Reason::Mentions(vec!["Rate".to_owned()])));
}

/// Files that change often are a better answer than none.
#[test]
fn files_that_change_often_answer_a_text_without_known_words() {
    let shop = shop();
    let best = |text: &'static str| {
        let ranking = rank(shop.corpus(), Question { text: Some(text), ..Question::default() });
        (0..shop.paths.len())
            .filter(|&file| ranking.terms(file).iter().any(|(signal, _)| *signal == Signal::Churn))
            .count()
    };
    assert!(best("zzz qqq") > 0);
    assert_eq!(best("round the tax rate"), 0);
}

#[test]
fn without_history_or_edges_or_words() {
    let mut poor = shop();
    poor.history = History::new(&[], poor.paths.len());
    poor.layout = Layout::new(poor.paths.iter().copied(), &[]);
    check(
        &poor,
        &["src/cart.ts"],
        None,
        expect![[r#"
            test/cart.test.ts 3202: test of src/cart.ts (path 1105, uses 750, names 500)
            src/item.ts 3103: shares item (words 750, path 749, vocabulary 611)
            src/page.ts 2336: uses addItem (uses 750, path 749, near hits 430)
            src/hub.ts 1929: defines hub (path 749, defines 434, near hits 398)
            src/mail.ts 1325: shares hub (path 749, near hits 350, words 125)
            src/tax.ts 768: - (path 749, vocabulary 18)
            README.md 26: - (vocabulary 26)
        "#]],
    );
    check(
        &fixture(&[("a.ts", ""), ("b/a.test.ts", "")], &[], &[]),
        &["a.ts"],
        Some(""),
        expect![[r#"
            b/a.test.ts 2500: test of a.ts (path 1500, names 500, near hits 500)
        "#]],
    );
}

#[test]
fn a_passage_is_worth_the_rare_words_of_the_text_that_it_has() {
    let fixture = shop();
    let corpus = fixture.corpus();
    let weights =
        rank(corpus, Question { focus: &[], text: Some("the price of an item is rounded twice"), named: &[] })
            .text_weights()
            .unwrap();
    let both = weights.score("function priceOf(item) { return item.price }");
    let one = weights.score("function addItem(item, item2) { return item }");
    assert!(both > one && one > Fixed::ZERO, "{both:?} {one:?}");
    assert_eq!(weights.score("item item item"), weights.score("item"), "a word counts once");
    assert_eq!(weights.score("the of is"), Fixed::ZERO);
    assert!(rank(corpus, Question { focus: &[(0, Fixed::ONE)], text: None, named: &[] }).text_weights().is_none());
}

#[test]
fn a_path_that_the_text_spells_out_comes_first() {
    let shop = shop();
    let corpus = shop.corpus();
    let mail = shop.paths.iter().position(|path| *path == "src/mail.ts").unwrap();
    let best = |named: &[u32]| {
        let ranking = rank(corpus, Question { focus: &[], text: Some("the cart adds an item"), named });
        let best = (0..shop.paths.len()).max_by_key(|file| ranking.score(*file)).unwrap();
        (best, ranking.reason(best, &ranking.terms(best)))
    };
    assert_ne!(best(&[]).0, mail);
    assert_eq!(best(&[mail as u32]), (mail, Some(Reason::NamedInText)));
}
