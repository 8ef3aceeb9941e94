//! Archives in the forms that people paste or unpack: zip, Markdown and XML, with diffs and in parts.

use std::collections::BTreeSet;
use std::fs;

use stan_engine::tokens::Tokenizer;

use crate::support::Repository;

fn repository() -> Repository {
    let long: String = (0..400).map(|line| format!("export const value{line} = {line};\n")).collect();
    Repository::new(&[
        ("package.json", "{\"name\":\"app\",\"version\":\"1.0.0\"}\n"),
        ("src/a.ts", "export const a = 1;\n"),
        ("src/b.ts", "import { a } from './a.js';\nexport const b = a; // ``` and ]]>\n"),
        ("src/long.ts", &long),
    ])
}

fn outputs(repository: &Repository) -> BTreeSet<String> {
    let entries = fs::read_dir(repository.root().join(".stan/output")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn read(repository: &Repository, name: &str) -> String {
    fs::read_to_string(repository.root().join(".stan/output").join(name)).unwrap()
}

#[test]
fn a_diff_has_the_format_of_the_archive() {
    let repository = repository();
    for (format, file) in [("md", "### File: src/b.ts"), ("xml", "<file path=\"src/b.ts\">")] {
        repository.write("src/b.ts", "export const b = 1;\n");
        repository.stan(&["snap", "--plain"]);
        repository.stan(&["run"]);
        repository.write("src/b.ts", "export const b = 2;\n");
        repository.stan(&["run", "--format", format]);
        let (whole, diff) = (format!("archive.{format}"), format!("archive.diff.{format}"));
        assert!(read(&repository, &whole).contains("value399"), "{format}");
        let text = read(&repository, &diff);
        assert!(text.contains(file) && text.contains("archive.diff.json") && !text.contains("value399"), "{text}");
    }
    assert!(!outputs(&repository).contains("archive.diff.md"), "another form replaces it");
}

#[test]
fn zip_archives_and_their_diffs_are_verified() {
    let repository = repository();
    repository.stan(&["run", "--format", "zip"]);
    repository.write("src/a.ts", "export const a = 2;\n");
    repository.stan(&["run", "--format", "zip"]);
    for archive in [".stan/output/archive.zip", ".stan/output/archive.diff.zip"] {
        let said = repository.stan(&["verify", archive]);
        assert!(said.starts_with("exit 0") && said.contains("matches"), "{archive}: {said}");
    }
    repository.write("src/a.ts", "export const a = 3;\n");
    for archive in [".stan/output/archive.zip", ".stan/output/archive.diff.zip"] {
        let said = repository.stan(&["verify", archive]);
        assert!(said.starts_with("exit 3") && said.contains("src/a.ts"), "{archive}: {said}");
    }
}

#[test]
fn parts_name_each_other_and_keep_to_their_size() {
    let repository = repository();
    repository.stan(&["run", "--format", "md", "--split", "1200"]);
    let parts: Vec<String> =
        outputs(&repository).into_iter().filter(|name| name.contains("-of-") && !name.contains("diff")).collect();
    assert!(parts.len() > 2, "{parts:?}");
    for part in &parts {
        let text = read(&repository, part);
        let tokens = Tokenizer::O200k.count(text.as_bytes());
        assert!(tokens <= 1200, "{part} has {tokens} tokens");
        let head = text.lines().take(4).collect::<Vec<_>>().join("\n");
        let named = parts.iter().filter(|other| *other != part && head.contains(other.as_str())).count();
        assert!(named == parts.len() - 1 || (parts.len() > 6 && named >= 1), "{part}: {head}");
    }
}

#[test]
fn copy_requires_a_text_format() {
    let repository = repository();
    let said = repository.stan(&["run", "--copy"]);
    assert!(said.starts_with("exit 2") && said.contains("--format md"), "{said}");
    assert!(!repository.root().join(".stan/output").exists(), "nothing was written");
    let said = repository.stan(&["run", "--format", "md", "--copy"]);
    assert!(said.starts_with("exit 0"), "{said}");
}
