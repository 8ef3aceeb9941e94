//! Completion scripts and manual pages contain every command and option, and shells and `man` can read them.

use std::fs;
use std::process::{Command, Stdio};

use crate::support::Repository;

const SHELLS: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];

/// The output of `program` without a repository and environment.
fn printed(program: &str, arguments: &[&str]) -> String {
    let nowhere = tempfile::tempdir().unwrap();
    let mut command = Command::new(program);
    let output = command.args(arguments).current_dir(nowhere.path()).env_clear().stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty());
    String::from_utf8(output.stdout).unwrap()
}

fn stan(arguments: &[&str]) -> String {
    printed(env!("CARGO_BIN_EXE_stan"), arguments)
}

fn x07(arguments: &[&str]) -> String {
    printed(env!("CARGO_BIN_EXE_x07"), arguments)
}

fn subcommands() -> Vec<String> {
    stan_cli::stan_command().get_subcommands().map(|command| command.get_name().to_owned()).collect()
}

#[test]
fn scripts_name_every_command() {
    for shell in SHELLS {
        let script = stan(&["completions", shell]);
        for name in subcommands().iter().map(String::as_str).chain(["validate", "migrate", "frozen", "cache-dir"]) {
            assert!(script.contains(name), "{shell}: {name}");
        }
        let script = x07(&["completions", shell]);
        for name in ["ast", "slice", "agent", "context", "ptr", "report-out", "json"] {
            assert!(script.contains(name), "x07, {shell}: {name}");
        }
    }
}

#[test]
fn an_unknown_shell_is_a_usage_error() {
    let repository = Repository::new(&[]);
    let output = repository.output(&["completions", "tcsh"], &[]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(SHELLS.iter().all(|shell| message.contains(shell)), "{message}");
}

/// Shells parse their scripts without errors; skips shells that are not installed.
#[test]
fn shells_read_their_scripts() {
    let folder = tempfile::tempdir().unwrap();
    for (shell, option) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
        for script in [stan(&["completions", shell]), x07(&["completions", shell])] {
            let file = folder.path().join("script");
            fs::write(&file, script).unwrap();
            if let Ok(output) = Command::new(shell).arg(option).arg(&file).output() {
                assert!(output.status.success(), "{shell}: {}", String::from_utf8_lossy(&output.stderr));
            }
        }
    }
}

/// Runs the script: bash's completions of `stan sel` and of `stan run --f`.
#[test]
fn bash_completes_commands_and_options() {
    let script = stan(&["completions", "bash"]);
    let ask =
        "COMP_WORDS=(stan \"$@\"); COMP_CWORD=$#; _stan stan \"${@: -1}\" \"${@: -2:1}\"; echo \"${COMPREPLY[*]}\"";
    let offered = |words: &[&str]| {
        let output =
            Command::new("bash").args(["-c", &format!("{script}\n{ask}"), "bash"]).args(words).output().ok()?;
        Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
    };
    let Some(first) = offered(&["sel"]) else { return };
    assert_eq!(first, "select");
    assert_eq!(offered(&["run", "--fr"]).unwrap(), "--frozen");
}

#[test]
fn the_manual_names_every_command_and_exit_code() {
    let page = stan(&["man"]);
    assert!(page.contains(".TH stan 1"), "{page}");
    assert!(page.contains("verification failed"), "the exit codes are listed: {page}");
    for name in subcommands() {
        assert!(page.contains(&format!("stan\\-{name}(1)")), "{name}: {page}");
    }
    assert!(x07(&["man"]).contains(".TH x07 1"));
    assert_eq!(stan(&["man"]), page, "the same bytes each time");
}

#[test]
fn the_manual_as_files() {
    let repository = Repository::new(&[]);
    let printed = repository.stan(&["man", "--out", "share/man1"]);
    for name in
        subcommands().iter().map(|name| format!("stan-{name}")).chain(["stan".into(), "stan-state-migrate".into()])
    {
        let file = format!("share/man1/{name}.1");
        assert!(printed.contains(&format!("{file}\n")), "{printed}");
        let text = fs::read_to_string(repository.root().join(&file)).unwrap();
        assert!(text.contains(&format!(".TH {name} 1")), "{text}");
        assert!(text.contains("color"), "global options are on every page: {text}");
    }
    assert_eq!(fs::read_dir(repository.root().join("share/man1")).unwrap().count(), printed.lines().count() - 3);
    repository.write("taken", "a file\n");
    let refused = repository.stan(&["man", "--out", "taken"]);
    assert!(refused.starts_with("exit 1\n"), "{refused}");
    assert!(refused.contains("cannot write the pages into `taken`"), "{refused}");
}

#[test]
fn the_manual_of_x07_as_files() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("pages");
    let names = x07(&["man", "--out", place.to_str().unwrap()]);
    assert_eq!(names.lines().count(), fs::read_dir(&place).unwrap().count());
    assert!(fs::read_to_string(place.join("x07-ast-slice.1")).unwrap().contains("enclosure"));
}
