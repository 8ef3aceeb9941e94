//! The first minutes of a new user: typing errors, empty selections, counts, warnings. One test for each situation that a
//! usability review found bad.

use std::process::Command;

use crate::support::Repository;

const STATE: &str = ".stan/context/dependency.state.json";

fn repository() -> Repository {
    Repository::new(&[
        ("package.json", "{\"name\":\"app\",\"type\":\"module\"}\n"),
        ("src/element/binding.ts", "import { size } from './size.js';\nexport const bind = () => size;\n"),
        ("src/element/size.ts", "export const size = 1;\n"),
        ("src/main.ts", "import { bind } from './element/binding.js';\nbind();\n"),
        ("src/self.ts", "import './self.js';\n"),
    ])
}

fn contains(output: &str, expected: &[&str]) {
    for text in expected {
        assert!(output.contains(text), "`{text}` is not in\n{output}");
    }
}

#[test]
fn a_misspelled_focus_names_the_near_file() {
    let output = repository().stan(&["suggest", "--focus", "src/element/bindng.ts"]);
    contains(&output, &["exit 1", "did you mean `src/element/binding.ts`?"]);
}

#[test]
fn a_folder_argument_means_the_files_below_it() {
    let output = repository().stan(&["graph", "src/element"]);
    contains(&output, &["exit 0", "modules                     2"]);
}

#[test]
fn a_budget_may_be_left_out_or_written_with_a_k() {
    for budget in [&[][..], &["--budget", "20k"], &["--budget", "20000"]] {
        let arguments = [&["suggest", "--focus", "src/main.ts"], budget].concat();
        contains(&repository().stan(&arguments), &["exit 0", "src/element/binding.ts"]);
    }
}

#[test]
fn a_selection_of_files_that_do_not_exist_fails_and_names_near_ones() {
    let repository = repository();
    repository.write(STATE, "{\"v\":2,\"i\":[[\"src/element/bindng.ts\",0]]}\n");
    let output = repository.stan(&["select"]);
    contains(
        &output,
        &["exit 1", "warning: `src/element/bindng.ts` is not in the map; did you mean `src/element/binding.ts`?"],
    );
    contains(&repository.stan(&["select", "--json"]), &["exit 1", "\"selectedCount\":0"]);
    // One existing file is enough for an answer.
    repository.write(STATE, "{\"v\":2,\"i\":[\"src/main.ts\",\"src/gone.ts\"]}\n");
    contains(&repository.stan(&["select"]), &["exit 0", "1 node", "`src/gone.ts` is not in the map"]);
}

#[test]
fn a_reply_without_patches_is_called_so() {
    let repository = repository();
    repository.write("reply.md", "hi\n");
    repository.stan(&["run"]);
    let output = repository.stan(&["check", "reply.md"]);
    contains(&output, &["note: the reply has no patch: there is nothing to apply"]);
}

#[test]
fn depth_is_an_option_of_graph() {
    let output = repository().stan(&["graph", "src/main.ts", "--depth", "1"]);
    contains(&output, &["exit 0", "modules                     2"]);
}

#[test]
fn warnings_are_shown_once_and_small_answers_have_one_line_of_them() {
    let repository = repository();
    for folder in ["a", "b", "c"] {
        repository.write(&format!("{folder}/broken.ts"), "import {;\n");
    }
    contains(&repository.stan(&["graph", "--stats"]), &["warning: a/broken.ts", "warning: c/broken.ts"]);
    contains(&repository.stan(&["graph", "--stats"]), &["note: 3 warnings as before"]);
    contains(&repository.stan(&["graph", "--stats", "-v"]), &["warning: a/broken.ts", "warning: c/broken.ts"]);
    let answer = repository.stan(&["deps", "src/main.ts"]);
    contains(&answer, &["2 more problems may cost edges"]);
    assert_eq!(answer.matches("warning").count(), 1, "{answer}");
}

#[test]
fn binary_files_are_counted_and_not_listed() {
    let repository = repository();
    for number in 0..300 {
        repository.write(&format!("public/image-{number:03}.png"), "\u{0}\u{1}PNG");
    }
    let output = repository.stan(&["run"]);
    contains(&output, &["exit 0", "300 files: public/image-000.png", "-v lists them"]);
    assert!(output.lines().count() < 40, "{output}");
}

#[test]
fn the_hint_below_the_counts_is_only_shown_on_a_terminal() {
    let repository = repository();
    let hint = "`stan map` shows what the repository holds";
    assert!(!repository.stan(&["graph"]).contains(hint));
    // `script` runs a program on a pseudo-terminal.
    let command = format!("{} graph", env!("CARGO_BIN_EXE_stan"));
    let Ok(output) =
        Command::new("script").args(["-qec", &command, "/dev/null"]).current_dir(repository.root()).output()
    else {
        return;
    };
    contains(&String::from_utf8_lossy(&output.stdout), &[hint]);
}

#[test]
fn help_is_in_colour_on_request() {
    for arguments in [&["--color", "always", "--help"][..], &["graph", "--help", "--color=always"]] {
        assert!(repository().stan(arguments).contains('\u{1b}'), "{arguments:?}");
    }
    assert!(!repository().stan(&["--help"]).contains('\u{1b}'));
    assert!(!repository().stan(&["--color", "never", "--help"]).contains('\u{1b}'));
}

#[test]
fn a_cycle_of_one_file_is_one_file() {
    contains(&repository().stan(&["graph", "--cycles"]), &["1 file: src/self.ts -> src/self.ts"]);
}

#[test]
fn an_empty_selection_says_how_to_fill_it() {
    contains(&repository().stan(&["select"]), &["exit 0", "0 nodes", "`stan suggest --about \"…\"` proposes one"]);
}

#[test]
fn tokens_are_counted_and_not_estimated() {
    let repository = repository();
    repository.write(STATE, "{\"v\":2,\"i\":[\"src/main.ts\"]}\n");
    for arguments in [&["run", "--tokens", "o200k"][..], &["run", "--context", "--tokens", "o200k"]] {
        let output = repository.stan(arguments);
        assert!(output.contains("o200k tokens") && !output.contains('~'), "{output}");
    }
}

#[test]
fn a_patch_with_a_wrong_hunk_count_is_accepted() {
    let repository = repository();
    let reply = "```diff\ndiff --git a/src/element/size.ts b/src/element/size.ts\n--- a/src/element/size.ts\n\
                 +++ b/src/element/size.ts\n@@ -1,7 +1,7 @@\n-export const size = 1;\n+export const size = 2;\n```\n";
    repository.write("reply.md", reply);
    let output = repository.stan(&["apply", "reply.md"]);
    contains(&output, &["exit 0", "src/element/size.ts"]);
    let changed = std::fs::read_to_string(repository.root().join("src/element/size.ts")).expect("it is there");
    assert_eq!(changed, "export const size = 2;\n");
}
