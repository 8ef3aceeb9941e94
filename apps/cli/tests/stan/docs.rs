//! One page per command in `docs/commands`: a hand-written part, whose examples are run, and below a marker the part generated
//! from the definition of the command line. `UPDATE_EXPECT=1 cargo test -p stan-cli --test stan docs` writes both, and creates
//! the page of a new command.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use clap::{Arg, Command};
use expect_test::expect_file;

const MARK: &str =
    "<!-- Generated from here on; `UPDATE_EXPECT=1 cargo test -p stan-cli --test stan docs` rewrites it. -->\n";

const EXIT_CODES: &str = "Exit codes: 0 done, 1 the input or the workspace is at fault, 2 usage, 3 verification failed, \
                          4 internal error.\n";

/// The project that the examples are run in; `docs/commands/README.md` shows it.
const SHOP: &[(&str, &str)] = &[
    (
        "package.json",
        "{\"name\":\"shop\",\"version\":\"1.0.0\",\"type\":\"module\",\"dependencies\":{\"money\":\"2.1.0\"}}\n",
    ),
    ("tsconfig.json", "{\"compilerOptions\":{\"module\":\"nodenext\",\"strict\":true}}\n"),
    (".gitignore", "node_modules\n"),
    (
        "src/main.ts",
        "/** Where the shop starts. @module */\nimport { total } from './cart.js';\nimport { format } from 'money';\n\n\
         console.log(format(total([{ name: 'tea', price: 4 }])));\n",
    ),
    (
        "src/cart.ts",
        "/** Sums of carts. @module */\nimport type { Item } from './item.js';\n\n\
         export const total = (items: Item[]): number => items.reduce((sum, item) => sum + item.price, 0);\n",
    ),
    ("src/item.ts", "export interface Item {\n  name: string;\n  price: number;\n}\n"),
    (
        "node_modules/money/package.json",
        "{\"name\":\"money\",\"version\":\"2.1.0\",\"types\":\"index.d.ts\",\"main\":\"index.js\"}\n",
    ),
    ("node_modules/money/index.d.ts", "export declare function format(amount: number): string;\n"),
    ("node_modules/money/index.js", "exports.format = (amount) => amount.toFixed(2);\n"),
];

#[test]
fn pages_are_up_to_date() {
    let definition = definition();
    for command in commands(&definition) {
        let begun = format!("# `stan {}`\n\n{}.\n\n", command.get_name(), about(command));
        check(&format!("{}.md", command.get_name()), &begun, &generated(command));
    }
    check("README.md", "# Commands\n\n", &index(&definition));
}

#[test]
fn guides_are_up_to_date() {
    for guide in ["guide-assistant.md", "guide-loop.md", "guide-red-build.md"] {
        let path = folder().join("..").join(guide);
        expect_test::expect_file![&path].assert_eq(&replay(&std::fs::read_to_string(&path).unwrap()));
    }
}

#[test]
fn the_guide_to_datasets_has_every_column() {
    let path = folder().join("../guide-fleet.md");
    let page = fs::read_to_string(&path).unwrap();
    let (start, end) = ("|---|---|---|---|\n", "<!-- End of the generated part. -->");
    let (before, rest) = page.split_once(start).unwrap();
    let (_, after) = rest.split_once(end).unwrap();
    let mut table = String::new();
    for schema in stan_engine::export::TABLES {
        for (index, column) in schema.columns.iter().enumerate() {
            let name = if index == 0 { format!("`{}`: {}", schema.name, schema.about) } else { String::new() };
            table += &format!("| {name} | `{}` | {} | {} |\n", column.name, column.kind.sql(), escaped(column.about));
        }
    }
    let version = format!("## Tables, version {}", stan_engine::export::schema_version());
    assert!(before.contains(&version), "the guide has the heading `{version}`");
    expect_file![path].assert_eq(&format!("{before}{start}{table}{end}{after}"));
}

#[test]
fn every_page_is_the_page_of_a_command() {
    let definition = definition();
    let mut expected: BTreeSet<String> =
        commands(&definition).map(|command| format!("{}.md", command.get_name())).collect();
    expected.insert("README.md".to_owned());
    let found: BTreeSet<String> =
        fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(found, expected);
}

#[test]
fn the_index_names_every_page() {
    let docs = folder().join("..");
    let index = fs::read_to_string(docs.join("README.md")).unwrap();
    for entry in fs::read_dir(&docs).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name == "README.md" || index.contains(&format!("]({name}")), "docs/README.md does not link {name}");
    }
}

fn definition() -> Command {
    let mut definition = stan_cli::stan_command().disable_help_subcommand(true);
    definition.build();
    definition
}

fn commands(definition: &Command) -> impl Iterator<Item = &Command> {
    definition.get_subcommands().filter(|command| !command.is_hide_set())
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/commands")
}

/// Compares a page with itself, its examples run and its lower part generated again.
fn check(name: &str, begun: &str, generated: &str) {
    let path = folder().join(name);
    let page = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    let written = page.split(MARK).next().filter(|written| !written.trim().is_empty()).unwrap_or(begun);
    expect_file![path].assert_eq(&format!("{}{MARK}\n{generated}", replay(written)));
}

#[cfg(unix)]
fn replay(written: &str) -> String {
    let shop = crate::support::Repository::new(SHOP);
    let scratch = tempfile::tempdir().unwrap();
    crate::examples::Session::new(scratch.path(), shop.root().to_owned()).replay(written)
}

/// The examples are written for `sh`.
#[cfg(not(unix))]
fn replay(written: &str) -> String {
    let _ = SHOP;
    written.to_owned()
}

fn generated(command: &Command) -> String {
    let mut out = String::new();
    let below: Vec<&Command> = commands(command).collect();
    for command in if below.is_empty() { vec![command] } else { below } {
        let usage = command.clone().render_usage().to_string();
        let usage = usage.trim_start_matches("Usage: ").trim();
        out.push_str(&format!("## Usage: `{usage}`\n\n{}.\n\n", about(command)));
        out.push_str(&table(command.get_arguments().filter(|arg| !arg.is_global_set())));
    }
    out.push_str("[Options of every command](README.md#options-of-every-command) also apply.\n\n");
    out + EXIT_CODES
}

fn index(definition: &Command) -> String {
    let mut out = "## All commands\n\n| command | what it does |\n|---|---|\n".to_owned();
    for command in commands(definition) {
        let name = command.get_name();
        out.push_str(&format!("| [`stan {name}`]({name}.md) | {} |\n", escaped(&about(command))));
    }
    out.push_str("\n## Options of every command\n\n");
    out.push_str(&table(definition.get_arguments().filter(|arg| arg.is_global_set())));
    out + EXIT_CODES
}

/// Nothing when there are no options; every command has `--help`.
fn table<'a>(arguments: impl Iterator<Item = &'a Arg>) -> String {
    let mut rows: Vec<&Arg> =
        arguments.filter(|arg| !arg.is_hide_set() && !matches!(arg.get_id().as_str(), "help" | "version")).collect();
    rows.sort_by_key(|arg| !arg.is_positional());
    if rows.is_empty() {
        return String::new();
    }
    let mut out = "| option | meaning |\n|---|---|\n".to_owned();
    for arg in rows {
        let short = arg.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
        out.push_str(&format!("| `{short}{arg}` | {} |\n", escaped(&meaning(arg))));
    }
    out.push('\n');
    out
}

fn meaning(arg: &Arg) -> String {
    let mut meaning = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let values: Vec<String> = arg.get_possible_values().iter().map(|value| format!("`{}`", value.get_name())).collect();
    if arg.get_action().takes_values() && !values.is_empty() {
        meaning.push_str(&format!("; one of {}", values.join(", ")));
    }
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    if arg.get_action().takes_values() && !defaults.is_empty() {
        meaning.push_str(&format!("; `{}` by default", defaults.join(" ")));
    }
    meaning
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
