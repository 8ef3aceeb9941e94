//! The laws of packs (specification 60 §8) on generated repositories: packs are deterministic, a larger budget removes nothing,
//! text and digests match the files, and the budget is never exceeded.

use std::collections::BTreeMap;
use std::fmt::Write;

use stan_engine::Engine;
use stan_engine::config::Config;
use stan_engine::context::{NamedBytes, Repository};
use stan_engine::outline::AskedFile;
use stan_engine::pack::{AskedPlace, ITEM_TOKENS, Pack, PackOutcome, PackRequest, TAG_TOKENS, pack};
use stan_engine::tokens::Tokenizer;
use stan_repo::{MemorySystem, SystemExt as _};
use stan_testkit::Random;

const FILES: usize = 8;

/// Classes, interfaces, functions and types that use each other across files and through a barrel, with both kinds of line ends.
fn repository(root: &str, seed: u64) -> MemorySystem {
    let mut random = Random::new(seed);
    let system = MemorySystem::new();
    let barrel: String = (0..FILES).map(|file| format!("export * from './m{file}';\n")).collect();
    system.set_file(format!("{root}/src/index.ts"), barrel);
    for file in 0..FILES {
        let text = module(&mut random, file);
        let text = if file % 3 == 2 { format!("\u{feff}{}", text.replace('\n', "\r\n")) } else { text };
        system.set_file(format!("{root}/src/m{file}.ts"), text);
    }
    system.set_file(format!("{root}/tsconfig.json"), "{}");
    system
}

fn module(random: &mut Random, file: usize) -> String {
    let mut text = String::new();
    for _ in 0..1 + random.below(3) {
        let other = random.below(FILES);
        let from = if random.below(2) == 0 { "./index".to_owned() } else { format!("./m{other}") };
        let _ = writeln!(text, "import {{ T{other}, make{other}, C{other}, gone{other} }} from '{from}';");
    }
    let other = random.below(FILES);
    let _ = writeln!(text, "/** A type. */\nexport interface T{file} extends Base{file} {{\n  own: string;");
    for member in 0..random.below(60) {
        let _ = writeln!(text, "  member{member}: T{};", random.below(FILES));
    }
    let _ = writeln!(text, "}}\ninterface Base{file} {{ base: number }}");
    let _ = writeln!(text, "export type U{file} = {};", "'one' | ".repeat(random.below(80)) + "'last'");
    let _ = writeln!(text, "export function make{file}(from: T{other}): T{file} {{");
    for line in 0..random.below(120) {
        let _ = writeln!(text, "  const v{line} = make{}(from).member{}; // \u{1f600} `x`", random.below(FILES), line);
    }
    let _ = writeln!(text, "  return from as unknown as T{file};\n}}");
    let _ = writeln!(text, "export class C{file} extends C{other} {{\n  field: U{file} = 'last';");
    for method in 0..random.below(8) {
        let _ = writeln!(text, "  method{method}(a: T{other}): U{file} {{\n    return this.method0(a);\n  }}");
    }
    let _ = writeln!(text, "}}\nconst last = new C{file}().field;");
    text
}

struct Asked {
    file: String,
    line: u32,
}

fn packed(system: &MemorySystem, root: &str, asked: &Asked, budget: u64) -> PackOutcome {
    packed_for(system, root, asked, budget, ITEM_TOKENS)
}

fn packed_for(system: &MemorySystem, root: &str, asked: &Asked, budget: u64, item_tokens: u64) -> PackOutcome {
    let config = Config::default();
    let file = AskedFile { shown: asked.file.clone(), id: asked.file.clone() };
    let places = vec![AskedPlace { file, line: asked.line, col: None }];
    let request = PackRequest { places, budget, item_tokens, ..PackRequest::default() };
    pack(&Engine::new(system), &Repository { root, config: &config }, &request).expect("the file exists")
}

fn bytes_of(system: &MemorySystem, root: &str, file: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let path = format!("{root}/{file}");
    system.read_at_most(std::path::Path::new(&path), 1 << 20, &mut bytes).expect("packs show files that are there");
    bytes
}

/// Text consists of parts of its file, in order; whole items are exactly its lines; digests match the bytes.
fn check_items(system: &MemorySystem, root: &str, pack: &Pack) {
    for item in &pack.items {
        let bytes = bytes_of(system, root, &item.file);
        assert_eq!(item.sha256, stan_repo::sha256(&bytes).to_string());
        let text = String::from_utf8(bytes).expect("sources are text");
        let text = text.trim_start_matches('\u{feff}');
        let lines: Vec<&str> = text.split('\n').collect();
        let range = lines[item.start_line as usize - 1..item.end_line as usize].join("\n");
        if item.level == "line" {
            continue;
        }
        if item.level == "full" && item.elided.is_empty() {
            assert_eq!(item.text.trim_end(), range.trim_end(), "{}:{}", item.file, item.start_line);
        }
        let mut rest = range.as_str();
        let is_mark = |line: &str| line.trim_start().starts_with('\u{2026}');
        let pieces = item.text.lines().filter(|line| !is_mark(line)).flat_map(|line| line.split('\u{2026}'));
        for piece in pieces.map(|piece| piece.trim().trim_matches(['{', '}', '[', ']', '(', ')']).trim()) {
            let at =
                rest.find(piece).unwrap_or_else(|| panic!("{piece:?} is not next in {}: {}", item.file, item.text));
            rest = &rest[at + piece.len()..];
        }
    }
}

type Shown = BTreeMap<(String, String, String), (usize, Vec<u32>)>;

/// The level and the shown lines, by file, name and kind.
fn shown(pack: &Pack) -> Shown {
    let level = |level: &str| ["line", "signature", "full"].iter().position(|known| *known == level).expect("a level");
    let lines = |item: &stan_model::document::pack::PackItem| {
        let is_shown = |line: &u32| !item.elided.iter().any(|[from, to]| (from..=to).contains(&line));
        (item.start_line..=item.end_line).filter(is_shown).collect()
    };
    let key = |item: &stan_model::document::pack::PackItem| (item.file.clone(), item.name.clone(), item.kind.clone());
    pack.items.iter().map(|item| (key(item), (level(item.level), lines(item)))).collect()
}

#[test]
fn a_larger_budget_loses_nothing_and_no_budget_is_exceeded() {
    for seed in 0..24 {
        let (root, mut random) = ("/r", Random::new(seed + 1000));
        let system = repository(root, seed);
        let file = format!("src/m{}.ts", random.below(FILES));
        let last = String::from_utf8(bytes_of(&system, root, &file)).expect("text").lines().count();
        let asked = Asked { file, line: 1 + random.below(last) as u32 };
        let whole = packed(&system, root, &asked, 0);
        assert_eq!(whole.pack.truncation, None);
        let all = shown(&whole.pack).len() + whole.pack.omitted.len();
        let mut before = Shown::new();
        for budget in [250, 400, 700, 1_000, 1_500, 2_200, 3_300, 5_000, 8_000, 20_000] {
            let outcome = packed(&system, root, &asked, budget);
            let context = format!("seed {seed} {}:{} budget {budget}", asked.file, asked.line);
            check_items(&system, root, &outcome.pack);
            assert!(outcome.pack.totals.tokens <= budget, "{context}: {}", outcome.pack.totals.tokens);
            let tags = packed_for(&system, root, &asked, budget, TAG_TOKENS);
            for printed in [outcome.markdown(), tags.xml()] {
                let tokens = Tokenizer::O200k.count(&printed);
                assert!(budget < 400 || tokens <= budget, "{context}: {tokens} tokens are printed");
            }
            let now = shown(&outcome.pack);
            assert_eq!(now.len() + outcome.pack.totals.omitted as usize, all, "{context}: every candidate is reported");
            for (key, (level, lines)) in &before {
                let (now_level, now_lines) = now.get(key).unwrap_or_else(|| panic!("{context}: {key:?} is gone"));
                assert!(now_level >= level, "{context}: {key:?} was lowered");
                let is_kept = *now_level == 0 || lines.iter().all(|line| now_lines.contains(line));
                assert!(*level == 0 || is_kept, "{context}: {key:?} shows fewer lines");
            }
            before = now;
        }
    }
}

#[test]
fn the_same_bytes_at_any_place_and_any_time() {
    for seed in 0..6 {
        let asked = Asked { file: "src/m3.ts".to_owned(), line: 4 };
        let one = repository("/r", seed);
        let json = packed(&one, "/r", &asked, 4_000).json();
        assert_eq!(json, packed(&one, "/r", &asked, 4_000).json());
        let elsewhere = repository("/some where/else", seed);
        assert_eq!(json, packed(&elsewhere, "/some where/else", &asked, 4_000).json());
    }
}

#[test]
fn a_log_with_other_lines_around_it_is_the_same_place() {
    let system = repository("/r", 3);
    let config = Config::default();
    let repository = Repository { root: "/r", config: &config };
    let asked = Asked { file: "src/m1.ts".to_owned(), line: 9 };
    let of_place = packed(&system, "/r", &asked, 0).pack;
    let error = "src/m1.ts(9,1): error TS9999: It is wrong.\n";
    for text in [error.to_owned(), format!("> build\n\n> tsc\n\n{error}\nnpm error code 2\nFound 1 error.\n")] {
        let logs = vec![NamedBytes { name: "log".to_owned(), bytes: text.into_bytes() }];
        let of_log =
            pack(&Engine::new(&system), &repository, &PackRequest { logs, budget: 0, ..PackRequest::default() });
        let of_log = of_log.expect("the log has a place").pack;
        assert_eq!(of_log.items, of_place.items);
        assert_eq!(of_log.diagnostics.len(), 1);
    }
}
