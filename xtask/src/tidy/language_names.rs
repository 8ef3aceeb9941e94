//! Only `crates/lang` knows languages: the engine, the graph and everything above must not name one of its folders, so that a new
//! language is a folder there and a row in its table. Within `crates/lang`, no language uses the folder of another: shared code
//! is beside the folders.

use super::{Finding, tree::Tree};

/// Code that must not name a language. Not checked: `crates/slice`, the slicer of x07, and `crates/diagnose`, whose grammars are
/// those of tools.
const NEUTRAL: &[&str] = &[
    "crates/model/src/",
    "crates/repo/src/",
    "crates/graph/src/",
    "crates/archive/src/",
    "crates/reply/src/",
    "crates/engine/src/",
    "crates/rank/src/",
    "crates/pack/src/",
    "crates/dataset/src/",
    "crates/secrets/src/",
    "crates/remote/src/",
    "apps/cli/src/",
];

/// The only language of `crates/lang` that the engine calls by name, for the `x07` program.
const EXEMPT: &str = "x07";

const LANGUAGES: &str = "crates/lang/src/";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut languages: Vec<&str> = tree
        .texts_ending("/mod.rs")
        .filter_map(|(path, text)| {
            let folder = path.strip_prefix(LANGUAGES)?.strip_suffix("/mod.rs")?;
            (!folder.contains('/') && text.contains("impl Language for") && folder != EXEMPT).then_some(folder)
        })
        .collect();
    languages.sort_unstable();
    let mut findings = Vec::new();
    for (path, text) in tree.texts_ending(".rs") {
        let own = path.strip_prefix(LANGUAGES).and_then(|rest| rest.split_once('/')).map(|(folder, _)| folder);
        let own = own.filter(|folder| languages.contains(folder));
        if own.is_none() && !NEUTRAL.iter().any(|folder| path.starts_with(folder)) {
            continue;
        }
        let remedy = match own {
            Some(_) => "move what both need out of its folder",
            None => "go through the traits of stan_lang::language",
        };
        let foreign: Vec<&str> = languages.iter().copied().filter(|language| own != Some(*language)).collect();
        for (index, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            for language in foreign.iter().filter(|language| names_module(code, language)) {
                findings.push(Finding::at(path, index + 1, format!("names the language `{language}`; {remedy}")));
            }
        }
    }
    findings
}

/// Whether a line uses the module of a language in a path.
fn names_module(code: &str, language: &str) -> bool {
    // Compare whole words: `xxhash_rust::` is another crate.
    let is_word = |at: usize| !code[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_');
    code.contains(&format!("stan_lang::{language}"))
        || code.match_indices(&format!("{language}::")).any(|(at, _)| is_word(at))
}

#[cfg(test)]
mod tests {
    use crate::tidy::check_lines;

    fn check(path: &str, line: &str, expected: &[&str]) {
        let files = [
            ("crates/lang/src/typescript/mod.rs", "impl Language for TypeScript {"),
            ("crates/lang/src/go/mod.rs", "impl Language for Go {"),
            ("crates/lang/src/jsonc/mod.rs", ""),
            (path, line),
        ];
        assert_eq!(check_lines(super::check, &files), expected, "{path}: {line}");
    }

    #[test]
    fn neutral_code_names_no_language() {
        let finding = |path: &str| {
            format!("{path}:1: names the language `typescript`; go through the traits of stan_lang::language")
        };
        for path in [
            "crates/engine/src/graph/mod.rs",
            "crates/graph/src/tunnel.rs",
            "crates/engine/src/cache/mod.rs",
            "crates/rank/src/definitions.rs",
        ] {
            check(path, "use stan_lang::typescript::extract::is_analysed;", &[&finding(path)]);
        }
        let path = "crates/engine/src/graph/compile.rs";
        check(path, "let target = typescript::resolve(request);", &[&finding(path)]);
        check(path, "// As in typescript::resolve.", &[]);
        check(path, "use stan_lang::Languages;", &[]);
        check(path, "use stan_lang::jsonc::parse;", &[]);
        check("crates/lang/src/project.rs", "use crate::typescript::TypeScript;", &[]);
        check("crates/engine/tests/new_language.rs", "use stan_lang::typescript::TypeScript;", &[]);
    }

    #[test]
    fn a_language_does_not_use_the_folder_of_another() {
        let path = "crates/lang/src/go/resolve/mod.rs";
        let finding = format!("{path}:1: names the language `typescript`; move what both need out of its folder");
        check(path, "use crate::typescript::resolve::path;", &[&finding]);
        check(path, "use crate::go::lexer::Token;", &[]);
        check(path, "use crate::paths::join_plain;", &[]);
    }
}
