//! Laws of the overview on generated repositories, and its text on a small one.

use std::collections::BTreeMap;

use expect_test::expect;
use proptest::prelude::*;

use super::read::read;
use super::*;

/// About four bytes per token, as in real tokenizers.
fn count(text: &str) -> u64 {
    text.split_inclusive('\n').map(|line| line.len().div_ceil(4) as u64).sum()
}

fn file(path: &str, tokens: u64, exports: &[&str], imports: &[(u32, &[&str])]) -> OverviewFile {
    OverviewFile {
        path: path.to_owned(),
        is_code: path.ends_with(".ts"),
        size: tokens * 4,
        tokens,
        exports: exports.iter().map(|name| ((*name).into(), 1)).collect(),
        imports: imports
            .iter()
            .map(|(target, names)| OverviewImport {
                target: *target,
                names: names.iter().map(|name| (*name).into()).collect(),
            })
            .collect(),
        ..OverviewFile::default()
    }
}

fn options(budget: u64, focus: &[&str]) -> OverviewOptions {
    OverviewOptions { budget, focus: focus.iter().map(|path| (*path).to_owned()).collect(), names_within: 0 }
}

fn small() -> OverviewInput {
    let mut files = vec![
        file("README.md", 10, &[], &[]),
        file("assets/icons/a.svg", 10, &[], &[]),
        file("assets/icons/b.svg", 10, &[], &[]),
        file("assets/logo.png", 10, &[], &[]),
        file("src/main.ts", 1234, &[], &[(2, &[]), (5, &["Cart", "total"]), (6, &["Item"]), (7, &[])]),
        file("src/shop/cart.ts", 99_960, &["Cart", "total", "a", "b", "c", "odd name", "+d"], &[(6, &["Item"])]),
        file("src/shop/item.ts", 31, &["Item"], &[]),
        file("src/shop/main.ts", 2, &[], &[(4, &[])]),
    ];
    files[5].importers = 1;
    files[5].description = Some("Sums of\ncarts.".into());
    files[6].importers = 2;
    files[6].tests = vec![4];
    let packages = vec![OverviewPackage { name: "react".into(), version: "19.0.0".into(), importers: 3 }];
    let folders = vec![("src/shop".to_owned(), "What is sold.".into())];
    OverviewInput { files, packages, header: vec!["A small shop.".into()], folders }
}

#[test]
fn text_of_a_small_repository() {
    let all = overview(&small(), &OverviewOptions::default(), &count);
    expect![[r##"
        # A small shop.
        ./ + 1 md
        assets/ + 2 svg, 1 png
        src/
         main.ts 1.2k > /assets/icons/b.svg; cart Cart, total; item; shop/main
        src/shop/ # What is sold.
         cart.ts 100k <1 Cart, total, a, b, c, "odd name", "+d" > item # Sums of carts.
         item.ts 31 <2 Item ~ src/main
         main.ts 2 > src/main
        = react 19.0.0 <3
    "##]]
    .assert_eq(&all.text);
    assert_eq!((all.listed, all.folded), (4, 0));
    let few = |budget| overview(&small(), &options(budget, &[]), &count);
    expect![[r##"
        # A small shop.
        ./ + 1 md
        assets/ + 2 svg, 1 png
        src/
         main.ts 1.2k
        src/shop/ # What is sold.
         cart.ts 100k <1 Cart, "odd name", total, a, b, c, "+d" # Sums of carts.
         item.ts
         main.ts 2
        = react 19.0.0 <3
    "##]]
    .assert_eq(&few(60).text);
    expect![[r#"
        # A small shop.
        src/
         main.ts 1.2k
        src/shop/
         cart.ts
         item.ts
         main.ts 2
    "#]]
    .assert_eq(&few(25).text);
}

#[test]
fn large_files_keep_their_names_longest() {
    let exports = ["openArchive", "readEntry", "writeEntry"];
    let mut files = vec![file("src/large.ts", 9_000, &exports, &[]), file("src/small.ts", 90, &exports, &[])];
    files[1].importers = 40;
    let input = OverviewInput { files, ..OverviewInput::default() };
    expect![[r#"
        src/
         large.ts 9.0k openArchive, readEntry, writeEntry
         small.ts
    "#]]
    .assert_eq(&overview(&input, &options(22, &[]), &count).text);
}

#[test]
fn tiny_budgets_are_not_exceeded() {
    for budget in 1..120 {
        let found = overview(&small(), &options(budget, &["src/shop"]), &count);
        assert!(found.tokens <= budget && count(&found.text) == found.tokens, "{budget}:\n{}", found.text);
    }
}

fn edges(input: &OverviewInput) -> BTreeMap<String, Vec<String>> {
    let path = |index: u32| input.files[index as usize].path.clone();
    let code = input.files.iter().filter(|file| file.is_code);
    code.map(|file| {
        let mut targets: Vec<String> = file.imports.iter().map(|import| path(import.target)).collect();
        targets.sort_unstable();
        (file.path.clone(), targets)
    })
    .collect()
}

/// Repositories with colliding names and names that need quotes.
fn repositories() -> impl Strategy<Value = OverviewInput> {
    let segment = prop_oneof!["[ab]", "[ab]", "index", "a b", "[+*<>~#=\\\\]x", "\u{e9}", "\"q\"", "x\u{202e}y"];
    let extension = prop_oneof![4 => Just(".ts"), 1 => Just(".d.ts"), 1 => Just(".svg"), 1 => Just("")];
    let path = (prop::collection::vec(segment, 1..5), extension).prop_map(|(segments, extension)| {
        segments.join("/").replace("//", "/").replace("/.x", "/x").trim_matches(['/', '.']).to_owned() + extension
    });
    let name = prop_oneof!["[a-c]{1,3}", "default", "odd, name", ">", "\\+1"];
    let file = (
        path,
        prop::collection::vec(name, 0..9),
        prop::collection::vec((any::<prop::sample::Index>(), 0..3usize), 0..6),
    );
    prop::collection::btree_map(file.clone().prop_map(|(path, ..)| path), file, 1..30).prop_map(|made| {
        let paths: Vec<String> = made.keys().cloned().collect();
        let files = made.into_iter().enumerate().map(|(own, (path, (_, names, imports)))| {
            let mut exports: Vec<(Box<str>, u32)> = names.iter().map(|name| (name.as_str().into(), 1)).collect();
            exports.dedup();
            let mut imports: Vec<OverviewImport> = imports
                .iter()
                .map(|(target, count)| OverviewImport {
                    target: target.index(paths.len()) as u32,
                    names: names.iter().take(*count).map(|name| name.as_str().into()).collect(),
                })
                .filter(|import| import.target as usize != own)
                .collect();
            imports.sort_by_key(|import| import.target);
            imports.dedup_by_key(|import| import.target);
            let is_code = path.ends_with(".ts");
            let imports = if is_code { imports } else { Vec::new() };
            OverviewFile { is_code, tokens: path.len() as u64 * 100, exports, imports, path, ..OverviewFile::default() }
        });
        OverviewInput { files: files.collect(), packages: Vec::new(), header: vec!["h".into()], folders: Vec::new() }
    })
}

proptest! {
    #[test]
    fn without_a_budget_nothing_is_lost(input in repositories()) {
        let all = overview(&input, &OverviewOptions::default(), &count);
        let back = read(&all.text).map_err(|error| TestCaseError::fail(format!("{error}\n{}", all.text)))?;
        prop_assert_eq!(back.files, edges(&input), "{}", all.text);
    }

    #[test]
    fn only_names_on_imports_may_be_left_out(input in repositories(), names_within in 1u64..400) {
        let options = OverviewOptions { names_within, ..OverviewOptions::default() };
        let some = overview(&input, &options, &count);
        let all = overview(&input, &OverviewOptions::default(), &count);
        let back = read(&some.text).map_err(TestCaseError::fail)?;
        prop_assert_eq!(back.files, edges(&input));
        prop_assert!(some.tokens <= all.tokens && (all.tokens > names_within || some == all));
    }

    #[test]
    fn budgets_hold_and_texts_can_be_read(input in repositories(), budget in 1u64..400, focus in 0usize..30) {
        let focus = input.files.get(focus).map(|file| file.path.clone()).into_iter().collect();
        let found = overview(&input, &OverviewOptions { budget, focus, names_within: 0 }, &count);
        prop_assert!(found.tokens <= budget);
        prop_assert_eq!(count(&found.text), found.tokens);
        let shown = read(&found.text).map_err(TestCaseError::fail)?;
        for path in shown.files.keys() {
            prop_assert!(input.files.iter().any(|file| file.path == *path), "{path}");
        }
    }
}

/// A repository with more files than fit any budget.
fn large(folders: usize, files: usize) -> OverviewInput {
    let names = ["render", "parse", "createElement", "useState", "resolveConfig", "Options", "default"];
    let exports: Vec<(Box<str>, u32)> = names.iter().map(|name| ((*name).into(), 3)).collect();
    let mut all: Vec<OverviewFile> = (0..folders * files)
        .map(|index| OverviewFile {
            path: format!("packages/p{:04}/src/part{}/file{index}.ts", index % folders, index % 3),
            is_code: true,
            tokens: 500 + index as u64,
            exports: exports.clone(),
            importers: (index % 17) as u32,
            ..OverviewFile::default()
        })
        .collect();
    all.push(file("scripts/build.ts", 5, &["build"], &[]));
    all.push(file("index.ts", 5, &["main"], &[]));
    all.sort_by(|one, other| one.path.cmp(&other.path));
    OverviewInput { files: all, ..OverviewInput::default() }
}

#[test]
fn budgets_are_used_and_top_folders_are_named() {
    for (folders, files) in [(3, 30), (40, 25), (400, 100)] {
        let input = large(folders, files);
        let all = overview(&input, &OverviewOptions::default(), &count).tokens;
        for budget in [2_000, 8_000, 32_000] {
            let found = overview(&input, &options(budget, &[]), &count);
            assert!(found.tokens <= budget, "{} of {budget}", found.tokens);
            assert!(found.tokens * 10 >= budget.min(all) * 8, "{} of {budget} ({all} in all)", found.tokens);
            for folder in ["packages/", "scripts/", "./"] {
                assert!(found.text.contains(folder), "{folder} in\n{}", found.text);
            }
        }
    }
}

#[test]
fn more_top_folders_than_fit_are_counted() {
    let files = (0..5_000).map(|index| file(&format!("top{index:04}/a.ts"), 10, &["a"], &[])).collect();
    let input = OverviewInput { files, ..OverviewInput::default() };
    let found = overview(&input, &options(2_000, &[]), &count);
    assert!(found.tokens <= 2_000 && found.tokens >= 1_600, "{}", found.tokens);
    let named = found.text.lines().filter(|line| line.starts_with("top")).count();
    assert!(
        found.text.contains(&format!(" * {} more files in {} folders", 5_000 - named, 5_000 - named)),
        "{}",
        found.text
    );
}

/// A library that is used by the samples of a manual.
fn library_with_samples() -> OverviewInput {
    let library = (0..12).map(|index| OverviewFile {
        importers: 30,
        ..file(&format!("library/part{index:02}.ts"), 400, &["open", "close"], &[])
    });
    let sample = |index: u32| {
        let path = format!("samples/lesson{:02}/step{}.ts", index / 4, index % 4);
        OverviewFile { importers: 1, ..file(&path, 40, &["run"], &[]) }
    };
    let files = library.chain((0..240).map(sample)).collect();
    OverviewInput { files, ..OverviewInput::default() }
}

#[test]
fn folders_of_small_folders_are_one_line_while_the_budget_is_small() {
    let input = library_with_samples();
    let found = overview(&input, &options(130, &[]), &count);
    assert!(found.text.contains("samples/ * 240 files"), "{}", found.text);
    assert!(found.listed == 12 && found.tokens >= 104, "{} {}\n{}", found.listed, found.tokens, found.text);
    let found = overview(&input, &options(6_000, &[]), &count);
    assert_eq!((found.listed, found.folded), (252, 0), "{}", found.text);
    let found = overview(&input, &options(130, &["samples/lesson07"]), &count);
    let read = read(&found.text).expect("it is in the grammar");
    assert!((0..4).all(|step| read.files.contains_key(&format!("samples/lesson07/step{step}.ts"))), "{}", found.text);
}

#[test]
fn the_folder_that_most_code_uses_is_opened_in_part_before_others_are_whole() {
    let library = (0..200).map(|index| OverviewFile {
        importers: 30,
        ..file(&format!("packages/p{:02}/src/part{index}.ts", index / 5), 400, &["open", "close"], &[])
    });
    let example = |index: u32| file(&format!("examples/e{:02}/main{index}.ts", index / 2), 40, &["run"], &[]);
    let files = (0..60).map(example).chain(library).collect();
    let input = OverviewInput { files, ..OverviewInput::default() };
    let found = overview(&input, &options(400, &[]), &count);
    let lines = |start: &str| found.text.lines().filter(|line| line.starts_with(start)).count();
    assert_eq!((lines("examples/"), lines("packages/") > 8), (1, true), "{}", found.text);
}

#[test]
fn larger_files_get_more_names() {
    let names = ["openArchive", "readEntry", "writeEntry", "closeArchive", "listEntries", "findEntry"];
    let sizes = [("src/a.ts", 900), ("src/b.ts", 600), ("src/c.ts", 300), ("src/d.ts", 10)];
    let files = sizes.map(|(path, tokens)| file(path, tokens, &names, &[])).to_vec();
    let input = OverviewInput { files, ..OverviewInput::default() };
    expect![[r#"
        src/
         a.ts 900 openArchive, readEntry, listEntries, +3
         b.ts 600 openArchive, readEntry, listEntries, +3
         c.ts 300 openArchive, readEntry, listEntries, +3
         d.ts
    "#]]
    .assert_eq(&overview(&input, &options(45, &[]), &count).text);
}

#[test]
fn the_focus_is_unfolded() {
    let input = large(40, 25);
    let found = overview(&input, &options(3_000, &["packages/p0007"]), &count);
    let read = read(&found.text).expect("it is in the grammar");
    let inside = input.files.iter().filter(|file| file.path.starts_with("packages/p0007/"));
    for file in inside {
        assert!(read.files.contains_key(&file.path), "{}\n{}", file.path, found.text);
    }
}

#[test]
fn coarser_overviews_merge_the_files_of_a_folder() {
    let units = ["src", "src/shop"].map(|folder| Unit { folder: folder.to_owned(), description: None });
    let coarse = aggregate(&small(), &units);
    let text = overview(&coarse, &OverviewOptions::default(), &count).text;
    expect![[r##"
        # A small shop.
        ./ + 1 other
         src 1.2k <1 > /.; shop
        src/
         shop 100k <1 "+d", Cart, Item, a, b, c, "odd name", total > src
        = react 19.0.0 <3
    "##]]
    .assert_eq(&text);
}

#[test]
fn a_series_of_numbered_files_is_counted_unless_it_is_the_focus() {
    let numbered = (0..12).map(|number| file(&format!("db/{number:04}-step.ts"), 90, &["up", "down"], &[]));
    let mut files: Vec<OverviewFile> = numbered.chain([file("db/run.ts", 50, &["migrate"], &[])]).collect();
    files.extend((0..20).map(|number| file(&format!("src/part{number:02}.ts"), 40, &["openArchive"], &[])));
    let input = OverviewInput { files, ..OverviewInput::default() };
    let text = overview(&input, &options(90, &[]), &count).text;
    assert!(text.contains("run.ts") && !text.contains("-step") && text.contains(" * 12 more files"), "{text}");
    let text = overview(&input, &options(90, &["db"]), &count).text;
    assert!(text.contains("0000-step.ts"), "{text}");
    let everything = overview(&input, &options(0, &[]), &count).text;
    assert!(everything.contains("0011-step.ts"), "{everything}");
}
