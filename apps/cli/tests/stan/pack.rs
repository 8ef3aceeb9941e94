//! `stan pack`, `stan read` and `stan find`: their text for people and models, and their error messages.

use expect_test::expect;
use serde_json::Value;

use crate::support::Repository;

fn repository() -> Repository {
    Repository::new(&[
        ("package.json", "{\"name\":\"app\",\"type\":\"module\",\"dependencies\":{\"money\":\"2.1.0\"}}\n"),
        ("tsconfig.json", "{\"compilerOptions\":{\"module\":\"nodenext\",\"strict\":true}}\n"),
        (
            "src/cart.ts",
            "import { type Item, round } from './index.js';\nimport { format } from 'money';\n\n/** A cart. */\n\
             export class Cart {\n  private items: Item[] = [];\n  add(item: Item): void {\n    this.items.push(item);\n  }\n\
             \x20 total(): string {\n    let sum = 0;\n    for (const item of this.items) sum += item.prize;\n\
             \x20   return format(round(sum));\n  }\n}\n",
        ),
        ("src/index.ts", "export * from './item.js';\nexport { round } from './round.js';\n"),
        ("src/item.ts", "/** One thing. */\nexport interface Item {\n  name: string;\n  price: number;\n}\n"),
        (
            "src/round.ts",
            "export function round(value: number): number {\n  return Math.round(value * 100) / 100;\n}\n",
        ),
        ("src/notes.md", "one\ntwo\nthree\n"),
        ("node_modules/money/package.json", "{\"name\":\"money\",\"version\":\"2.1.0\",\"types\":\"index.d.ts\"}\n"),
        (
            "node_modules/money/index.d.ts",
            "/** Two digits. */\nexport declare function format(amount: number): string;\n",
        ),
        (
            "tsc.log",
            "src/cart.ts(12,55): error TS2551: Property 'prize' does not exist on type 'Item'. Did you mean 'price'?\n",
        ),
    ])
}

fn json(repository: &Repository, arguments: &[&str]) -> Value {
    let output = repository.output(arguments, &[]);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_log_becomes_the_declarations_that_explain_it() {
    expect![[r#"
        exit 0
        --- stdout
        # src/cart.ts:12:55 in `Cart.total`

        - error TS2551 src/cart.ts:12:55: Property 'prize' does not exist on type 'Item'. Did you mean 'price'?

            12 |     for (const item of this.items) sum += item.prize;

        ```ts src/cart.ts:10-14 (bb176f28f552)
          total(): string {
            let sum = 0;
            for (const item of this.items) sum += item.prize;
            return format(round(sum));
          }
        ```

        ```ts src/cart.ts:1-2,4-15 (bb176f28f552)
        import { type Item, round } from './index.js';
        import { format } from 'money';

        /** A cart. */
        export class Cart {
          private items: Item[] = [];
          … 2 members
        }
        ```

        ```ts src/item.ts:1-5 (36647be7c20d)
        /** One thing. */
        export interface Item {
          name: string;
          price: number;
        }
        ```

        ```ts node_modules/money/index.d.ts:2-2 (e74e24d8c810)
        export declare function format(amount: number): string;
        ```

        ```ts src/round.ts:1-3 (d39c7aa534fd)
        export function round(value: number): number { … }
        ```

        Not followed (1), they need a type checker: prize

        <!-- stan.pack@1 sha256:c8b0c462de3cc95995f7a37cec6a12a53844f2ac163ba044a713a6791a0bf361 -->
        --- stderr
    "#]]
    .assert_eq(&repository().stan(&["pack", "tsc.log"]));
}

#[test]
fn a_pack_as_xml_has_a_tag_for_each_item() {
    expect![[r#"
        exit 0
        --- stdout
        <pack schema="stan.pack@1">
        <focus file="src/round.ts" line="1" name="round"/>
        <item file="src/round.ts" lines="1-3" level="full" kind="function" name="round" sha256="d39c7aa534fd"><![CDATA[
        export function round(value: number): number {
          return Math.round(value * 100) / 100;
        }
        ]]></item>
        <missing file="src/round.ts" line="2" name="round" reason="needs-types"/>
        <digest sha256="7152f0026d5ab56c6f5c0c6a82ef1734971ec26d48c86c43636e9902d10a6338"/>
        </pack>
        --- stderr
    "#]]
    .assert_eq(&repository().stan(&["pack", "--symbol", "src/round.ts#round", "--format", "xml"]));
}

#[test]
fn log_location_and_symbol_give_the_same_pack() {
    let repository = repository();
    let texts = |pack: &Value| {
        let items = pack["items"].as_array().unwrap().iter();
        let mut texts: Vec<String> = items.map(|item| format!("{} {}", item["file"], item["name"])).collect();
        texts.sort_unstable();
        texts
    };
    let by_log = json(&repository, &["pack", "tsc.log", "--json"]);
    let by_place = json(&repository, &["pack", "--at", "src/cart.ts:12:55", "--json"]);
    let by_symbol = json(&repository, &["pack", "--symbol", "src/cart.ts#Cart.total", "--json"]);
    assert_eq!(texts(&by_log), texts(&by_place));
    assert_eq!(texts(&by_log), texts(&by_symbol));
    assert_eq!(by_log["focus"]["name"], "Cart.total");
    let round = by_log["items"].as_array().unwrap().iter().find(|item| item["name"] == "round").unwrap();
    assert_eq!((&round["file"], &round["level"]), (&"src/round.ts".into(), &"signature".into()));
    assert_eq!(round["elided"], serde_json::json!([[2, 3]]));
    let format = by_log["items"].as_array().unwrap().iter().find(|item| item["name"] == "format").unwrap();
    assert_eq!(format["package"]["version"], "2.1.0");
}

#[test]
fn mistakes_are_reported_with_advice() {
    let repository = repository();
    repository.write("empty.log", "all is well\n");
    let output: Vec<String> = [
        &["pack"][..],
        &["pack", "--at", "src/carts.ts:1"],
        &["pack", "--at", "src/cart.ts"],
        &["pack", "--at", "src/cart.ts:0"],
        &["pack", "--symbol", "src/cart.ts#Crat"],
        &["pack", "--symbol", "src/cart.ts"],
        &["pack", "empty.log"],
        &["pack", "tsc.log", "--from", "tcs"],
        &["pack", "tsc.log", "--diagnostic", "7"],
        &["pack", "tsc.log", "--budget", "many"],
        &["pack", "--focus", "src/*.rs"],
        &["pack", "--changed"],
        &["pack", "--at", "src/cart.ts:12", "--budget", "60", "--strict", "--out", "p.md"],
        &["read", "src/cart.ts#Crat"],
        &["find", "xyzzy"],
    ]
    .iter()
    .map(|arguments| {
        let said = repository.stan(arguments);
        let stderr = said.split("--- stderr\n").nth(1).unwrap_or_default();
        let first = said.lines().next().unwrap_or_default();
        format!("$ {}\n{first}\n{stderr}", arguments.join(" "))
    })
    .collect();
    expect![[r#"
        $ pack
        exit 2
        error: the following required arguments were not provided:
          <LOG|--log <LOG>|--at <FILE:LINE[:COL]>|--symbol <FILE#NAME[.MEMBER]>|--focus <FILE|GLOB>|--changed [<REV>]|--about <TEXT|@FILE>>

        Usage: stan pack <LOG|--log <LOG>|--at <FILE:LINE[:COL]>|--symbol <FILE#NAME[.MEMBER]>|--focus <FILE|GLOB>|--changed [<REV>]|--about <TEXT|@FILE>>

        For more information, try '--help'.
        $ pack --at src/carts.ts:1
        exit 1
        error: there is no such file
          `src/carts.ts`; did you mean `src/cart.ts`?
        $ pack --at src/cart.ts
        exit 2
        error: invalid value 'src/cart.ts' for '--at <FILE:LINE[:COL]>': write FILE:LINE or FILE:LINE:COLUMN; both start at 1

        For more information, try '--help'.
        $ pack --at src/cart.ts:0
        exit 2
        error: invalid value 'src/cart.ts:0' for '--at <FILE:LINE[:COL]>': write FILE:LINE or FILE:LINE:COLUMN; both start at 1

        For more information, try '--help'.
        $ pack --symbol src/cart.ts#Crat
        exit 1
        error: `src/cart.ts` declares no `Crat`; did you mean `Cart`?
          help: `stan outline src/cart.ts` lists what it declares
        $ pack --symbol src/cart.ts
        exit 2
        error: invalid value 'src/cart.ts' for '--symbol <FILE#NAME[.MEMBER]>': write FILE#Name or FILE#Name.member

        For more information, try '--help'.
        $ pack empty.log
        exit 1
        error: no diagnostic in the log names a file of the repository
          help: `stan pack --list LOG` shows what was read; -C names the folder that the log's paths are relative to
        $ pack tsc.log --from tcs
        exit 1
        error: no log format is called `tcs`
          help: one of sarif, lsp, eslint, oxlint, cargo, gcc, ruff, pyright, mypy, pylint, golangci-lint, go, biome, jest, stylelint, codequality, github, tsc, next, svelte-check, deno, esbuild, webpack, rollup, babel, rustc, cargo-test, tap, pytest, python, mocha, node, maven, kotlin, php, ruby, java, javac, msbuild
        $ pack tsc.log --diagnostic 7
        exit 1
        error: diagnostic 7 has no place in the repository
          help: the log has 1 of them; `stan pack --list` shows them
        $ pack tsc.log --budget many
        exit 2
        error: invalid value 'many' for '--budget <N>': `many` is not a number of tokens: write 20000, 20k or 1m

        For more information, try '--help'.
        $ pack --focus src/*.rs
        exit 1
        error: the focus names files that are not there
          `src/*.rs`
          help: name a file, a folder or a glob of the repository that git does not ignore
        $ pack --changed
        exit 1
        error: git cannot say what changed: there is no git repository around the root
          help: name the files with --focus instead
        $ pack --at src/cart.ts:12 --budget 60 --strict --out p.md
        exit 1
        error: the budget left something out
          help: raise --budget, or leave out --strict
        $ read src/cart.ts#Crat
        exit 1
        error: `src/cart.ts` declares no `Crat`; did you mean `Cart`?
          help: `stan outline src/cart.ts` lists what it declares
        $ find xyzzy
        exit 1
        error: nothing in the repository has `xyzzy`
    "#]].assert_eq(&output.concat());
}

#[test]
fn odd_places_are_shown_and_reported() {
    let repository = repository();
    repository.write("src/crlf.ts", "\u{feff}import {round} from './round.js';\r\nexport const a =\r\n  round(1);\r\n");
    repository.write("src/a b/ü\u{1f600}.ts", "export const x = 1;\n\n\nx.toFixed();\n// end\n");
    repository.write("empty.ts", "");
    let said: Vec<String> = [
        "src/cart.ts:1",
        "src/cart.ts:999",
        "src/notes.md:2",
        "src/crlf.ts:3:3",
        "src/a b/ü\u{1f600}.ts:4",
        "src/a b/ü\u{1f600}.ts:5",
        "empty.ts:1",
    ]
    .iter()
    .map(|place| {
        let output = repository.output(&["pack", "--at", place, "--json"], &[]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let pack: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let items = pack["items"].as_array().cloned().unwrap_or_default();
        let items: Vec<String> =
            items.iter().map(|item| format!("{}:{}-{}", item["kind"], item["start_line"], item["end_line"])).collect();
        format!("{place} {}\n{stderr}", items.join(" "))
    })
    .collect();
    expect![[r#"
        src/cart.ts:1 "lines":1-1 "interface":1-5 "function":1-3 "class":4-15
        src/cart.ts:999 "class":4-15 "imports":1-2 "interface":2-5 "function":2-2 "function":1-3
        warning: src/cart.ts: line 999 is beyond the end; the file has 15 lines
        warning: src/cart.ts:16: is in no declaration; the nearest one is shown
        src/notes.md:2 "lines":1-4
        src/crlf.ts:3:3 "variable":2-3 "imports":1-1 "function":1-3
        src/a b/ü😀.ts:4 "lines":4-4 "variable":1-1
        src/a b/ü😀.ts:5 "variable":1-1
        warning: src/a b/ü😀.ts:5: is in no declaration; the nearest one is shown
        empty.ts:1 "lines":1-1
    "#]]
    .assert_eq(&said.concat());
}

#[test]
fn no_pack_is_larger_than_its_budget_and_a_larger_one_has_no_less() {
    let repository = repository();
    let levels = |budget: u64| {
        let pack = json(&repository, &["pack", "tsc.log", "--json", "--budget", &budget.to_string()]);
        let rank = |level: &Value| ["line", "signature", "full"].iter().position(|name| level == name).unwrap();
        let items = pack["items"].as_array().unwrap().iter();
        let levels: std::collections::BTreeMap<String, usize> =
            items.map(|item| (item["name"].to_string(), rank(&item["level"]))).collect();
        (levels, pack["totals"]["tokens"].as_u64().unwrap())
    };
    let mut before = levels(60).0;
    for budget in [100, 150, 200, 300, 400, 600, 1_000, 16_000] {
        let (now, tokens) = levels(budget);
        assert!(tokens <= budget, "{tokens} tokens for {budget}");
        for (name, level) in &before {
            assert!(now.get(name) >= Some(level), "{name} at {budget}");
        }
        before = now;
    }
}

#[test]
fn a_pack_of_every_format_is_verified() {
    let repository = repository();
    for (format, name) in [("md", "pack.md"), ("xml", "pack.xml"), ("json", "pack.json")] {
        let made = repository.stan(&["pack", "tsc.log", "--format", format, "--out", name]);
        assert!(made.starts_with("exit 0\n--- stdout\n--- stderr"), "{made}");
        let verified = repository.stan(&["verify", name]);
        assert!(verified.starts_with("exit 0") && verified.contains("matches"), "{verified}");
    }
    repository.write("src/round.ts", "export const round = (value: number): number => value;\n");
    for name in ["pack.md", "pack.xml", "pack.json"] {
        let verified = repository.stan(&["verify", name]);
        assert!(verified.starts_with("exit 3") && verified.contains("src/round.ts"), "{verified}");
    }
}

#[test]
fn secrets_are_held_back() {
    let repository = repository();
    let key = ["AKIA", "QYLPMN5HFIQR7XYA"].concat();
    repository
        .write("src/round.ts", &format!("const key = '{key}';\nexport const round = (v: number): number => v;\n"));
    let said = repository.stan(&["pack", "tsc.log"]);
    assert!(said.starts_with("exit 0") && !said.contains(&key) && said.contains("secret"), "{said}");
    let read = repository.stan(&["read", "src/round.ts"]);
    assert!(!read.contains(&key) && read.contains("--allow-secret"), "{read}");
    let allowed = repository.stan(&["read", "src/round.ts", "--allow-secret", "src/round.ts"]);
    assert!(allowed.contains(&key), "{allowed}");
}

#[test]
fn logs_are_listed_without_a_repository() {
    let repository = Repository::new(&[("a.log", "x.ts(1,2): error TS1005: ';' expected.\n"), ("none.log", "fine\n")]);
    expect![[r#"
        exit 0
        --- stdout
        {"diagnostics":[{"tool":"tsc","file":"x.ts","line":1,"col":2,"severity":"error","code":"TS1005","message":"';' expected.","unit":"utf16","related":[],"frames":[],"found":false}]}
        --- stderr
        exit 0
        --- stdout
        {"diagnostics":[]}
        --- stderr
    "#]].assert_eq(&format!(
        "{}{}",
        repository.stan(&["pack", "--list", "a.log", "--json"]),
        repository.stan(&["pack", "--list", "none.log", "--json"])
    ));
}

#[test]
fn files_and_declarations_are_read_at_a_level() {
    let repository = repository();
    expect![[r#"
        exit 0
        --- stdout
        src/cart.ts:10-14
          total(): string {
            let sum = 0;
            for (const item of this.items) sum += item.prize;
            return format(round(sum));
          }
        --- stderr
        exit 0
        --- stdout
        src/cart.ts:1-16 (signatures)
        /** A cart. */
        export class Cart {
          private items: Item[] = [];
          add(item: Item): void { … }
          total(): string { … }
        }
        src/item.ts:1-6 (signatures)
        /** One thing. */
        export interface Item {
          name: string;
          price: number;
        }
        --- stderr
        exit 0
        --- stdout
        file src/cart.ts — 15 lines
        --- stderr
        exit 0
        --- stdout
        src/cart.ts:1-16 (signatures)
        /** A cart. */
        export class Cart {
          private items: Item[] = [];
          add(item: Item): void { … }
          total(): string { … }
        }
        left out, wholly or in part: src/item.ts; FILE:FROM-TO shows some lines, --budget 0 all
        shortened to fit the budget: FILE#Name shows one declaration, FILE:FROM-TO some lines, --budget 0 shows all
        --- stderr
    "#]]
    .assert_eq(&format!(
        "{}{}{}{}",
        repository.stan(&["read", "src/cart.ts#Cart.total"]),
        repository.stan(&["read", "src/cart.ts", "src/item.ts", "--level", "signature"]),
        repository.stan(&["read", "src/cart.ts", "--level", "line"]),
        repository.stan(&["read", "src/cart.ts", "src/item.ts", "--budget", "60"]),
    ));
}

#[test]
fn words_are_found_in_names_paths_and_lines() {
    let repository = repository();
    expect![[r#"
        exit 0
        --- stdout
        src/round.ts:1-3  export function round(value: number): number { … }
        src/round.ts
        src/cart.ts:1: import { type Item, round } from './index.js';
        src/cart.ts:13: return format(round(sum));
        src/index.ts:2: export { round } from './round.js';
        src/round.ts:2: return Math.round(value * 100) / 100;
        --- stderr
        exit 0
        --- stdout
        tsc.log:1: src/cart.ts(12,55): error TS2551: Property 'prize' does not exist on type 'Item'. Did you mean 'price'?
        --- stderr
        exit 0
        --- stdout
        src/cart.ts:2: import { format } from 'money';
        src/item.ts:1: /** One thing. */
        package.json:1: {"name":"app","type":"module","dependencies":{"money":"2.1.0"}}
        src/notes.md:1: one
        nothing has all of the words; these have some
        --- stderr
    "#]].assert_eq(&format!(
        "{}{}{}",
        repository.stan(&["find", "round"]),
        repository.stan(&["find", "cart", "item"]),
        repository.stan(&["find", "one", "xyzzy"]),
    ));
}

#[test]
fn files_enter_at_a_level() {
    let repository = repository();
    let shown = |arguments: &[&str]| {
        let pack = json(&repository, &[&["pack", "--json"], arguments].concat());
        let items = pack["items"].as_array().unwrap().iter();
        items.map(|item| format!("{} {}", item["file"], item["level"])).collect::<Vec<_>>().join(", ")
    };
    let output = [
        shown(&["--focus", "src/cart.ts"]),
        shown(&["--focus", "src/i*.ts"]),
        shown(&["--focus", "src/cart.ts", "--budget", "150"]),
        shown(&["--about", "rounding of prices"]),
        shown(&["--at", "src/cart.ts:12", "--focus", "src/notes.md"]),
    ];
    expect![[r#"
        "src/cart.ts" "full", "src/index.ts" "full", "src/item.ts" "full", "src/round.ts" "full", "package.json" "full", "src/notes.md" "full"
        "src/index.ts" "full", "src/item.ts" "full", "src/cart.ts" "full", "src/round.ts" "full", "package.json" "full", "src/notes.md" "full"
        "src/cart.ts" "line", "src/index.ts" "full"
        "src/round.ts" "full", "src/item.ts" "full", "src/index.ts" "full", "src/cart.ts" "full"
        "src/cart.ts" "full", "src/cart.ts" "signature", "src/cart.ts" "signature", "src/item.ts" "full", "node_modules/money/index.d.ts" "full", "src/round.ts" "signature", "src/notes.md" "full", "src/item.ts" "full", "src/index.ts" "full", "src/cart.ts" "full", "src/round.ts" "full""#]].assert_eq(&output.join("\n"));
}

#[test]
fn files_of_a_log_come_first_innermost_frame_first() {
    let repository = repository();
    repository.write(
        "crash.log",
        "Error: no\n    at round (<root>/src/round.ts:2:3)\n    at total (<root>/src/cart.ts:13:5)\n    at x (node:internal:1:1)\n",
    );
    let files = |arguments: &[&str]| {
        let pack = json(&repository, &[&["pack", "--json", "--about", "one thing"], arguments].concat());
        let items = pack["items"].as_array().unwrap().iter();
        let whole = items.filter(|item| item["kind"] == "file").map(|item| item["file"].as_str().unwrap().to_owned());
        whole.collect::<Vec<_>>()
    };
    assert_eq!(files(&[]).first().map(String::as_str), Some("src/item.ts"));
    let with_log = files(&["--log", "crash.log"]);
    assert_eq!(with_log.get(..2), Some(&["src/round.ts".to_owned(), "src/cart.ts".to_owned()][..]), "{with_log:?}");
}

#[test]
fn an_import_that_does_not_resolve_shows_the_exports() {
    let repository = Repository::new(&[
        (
            "src/main.ts",
            "import {\n  totl,\n  hidden,\n} from './sums.js';\nimport { x } from './smus.js';\n\n\
             export const main = () => totl(hidden, x);\n",
        ),
        (
            "src/sums.ts",
            "export * from './more.js';\nconst hidden = 1;\nexport function total(a: number): number {\n  return a;\n}\n\
             export const unrelatedName = 1;\n",
        ),
        ("src/more.ts", "export const totals = [1];\n"),
        ("a/index.ts", "export const a = 1;\n"),
        ("b/index.ts", "export const b = 1;\n"),
    ]);
    let items = |arguments: &[&str]| {
        let pack = json(&repository, arguments);
        let item = |item: &Value| {
            let [rank, level, text] = ["rank", "level", "text"].map(|key| item[key].to_string());
            format!("{rank} {level} {text}\n")
        };
        let missing = |one: &Value| format!("missing {one}\n");
        let items: String = pack["items"].as_array().unwrap().iter().map(item).collect();
        items + &pack["missing"].as_array().unwrap().iter().map(missing).collect::<String>()
    };
    let said = items(&["pack", "--at", "src/main.ts:2:3", "--json"]);
    let [hidden, module] = [["--at", "src/main.ts:3:3"], ["--at", "src/main.ts:5:19"]]
        .map(|place| items(&[&["pack", "--json"][..], &place].concat()));
    assert!(said.contains("exports total, totals, unrelatedName — src/sums.ts:1"), "{said}");
    assert!(
        said.contains("1 \"full\" \"export function total")
            || said.contains("export function total(a: number): number"),
        "{said}"
    );
    assert!(said.contains("\"near\":[\"total\",\"totals\"]"), "{said}");
    assert!(said.contains("2 \"full\" \"export const main") || said.contains("export const main"), "{said}");
    assert!(hidden.contains("const hidden = 1;"), "what is there and not exported: {hidden}");
    assert!(module.contains("\"reason\":\"unresolved-module\"") && module.contains("src/sums.ts"), "{module}");
    repository.write("ci.log", "index.ts(1,1): error TS1: Wrong.\nsrc/main.ts(7,1): error TS2: Wrong.\n");
    let ambiguous = items(&["pack", "ci.log", "--json"]);
    assert!(ambiguous.contains("\"near\":[\"a/index.ts\",\"b/index.ts\"]"), "{ambiguous}");
}

#[test]
fn a_text_brings_the_passages_of_files_whose_outlines_do_not_fit() {
    let mut large = String::from("/** Writes lines. */\nexport class Printer {\n");
    for number in 0..200 {
        large.push_str(&format!(
            "  step{number}(width: number, height: number): number {{\n    return {number};\n  }}\n"
        ));
    }
    large.push_str("  closeHyperlink(): string {\n    return 'truncated hyperlink';\n  }\n}\n");
    let repository = Repository::new(&[
        ("package.json", "{\"type\":\"module\"}\n"),
        ("src/printer.ts", &large),
        ("src/other.ts", "export const other = 1;\n"),
    ]);
    let pack = repository.stan(&["pack", "--about", "hyperlink of truncated lines is not closed", "--budget", "600"]);
    for shown in
        ["export class Printer {", "closeHyperlink(): string {", "return 'truncated hyperlink';", "… 600 lines"]
    {
        assert!(pack.contains(shown), "{shown}: {pack}");
    }
    assert!(!pack.contains("step7("), "{pack}");
}
