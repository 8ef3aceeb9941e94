//! The same inputs give the same archives: for any number of threads, folder, locale, time zone and umask. Also, other tools can
//! read them.
#![cfg(unix)]

use std::fs;
use std::process::Command;

use crate::archives::names;
use crate::project::{ARCHIVE, DIFF, META, SELECTION, STATE, fresh};
use crate::support::Repository;

/// The archives and the meta of a context run and of a plain one, from a fresh repository.
fn outputs(umask: &str, threads: &str, environment: &[(&str, &str)]) -> Vec<Vec<u8>> {
    let repository = repository();
    let mut found = Vec::new();
    for arguments in ["run --context", "run"] {
        let script = format!("umask {umask}; exec \"$0\" {arguments} --threads {threads}");
        let output = Command::new("/bin/sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_stan")])
            .current_dir(repository.root())
            .env_clear()
            .envs(environment.iter().copied())
            .output()
            .expect("there is a shell");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        found.extend([ARCHIVE, DIFF, META].map(|file| fs::read(repository.root().join(file)).unwrap()));
    }
    found
}

fn repository() -> Repository {
    let repository = fresh();
    for number in 0..300 {
        repository.write(&format!("docs/{number}/Ä-é.md"), &format!("{number}\n").repeat(number * 7));
    }
    repository.write("large.txt", &"a line\n".repeat(400_000));
    repository.write(&format!("docs/{}.txt", "long".repeat(40)), "long\n");
    repository.write(STATE, SELECTION);
    repository
}

#[test]
fn the_same_bytes_everywhere() {
    let first = outputs("022", "1", &[]);
    for (umask, threads, environment) in [
        ("077", "8", &[("LANG", "tr_TR.UTF-8"), ("LC_ALL", "tr_TR.UTF-8"), ("TZ", "Pacific/Kiritimati")][..]),
        ("000", "3", &[("LANG", "C"), ("TZ", "America/St_Johns"), ("HOME", "/nonexistent"), ("USER", "other")]),
    ] {
        let second = outputs(umask, threads, environment);
        for (index, (first, second)) in first.iter().zip(&second).enumerate() {
            assert!(first == second, "output {index} differs with umask {umask} and {threads} threads");
        }
    }
}

#[test]
fn other_tools_list_what_is_in_an_archive() {
    let repository = repository();
    let output = repository.output(&["run"], &[("SOURCE_DATE_EPOCH", "1000000000")]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let archive = repository.root().join(ARCHIVE);
    let expected = names(&archive);
    let python = "import sys, tarfile\nfor member in tarfile.open(sys.argv[1]):\n    assert (member.mtime, member.uid, \
                  member.gid, member.uname) == (1000000000, 0, 0, '')\n    print(member.name)\n";
    for command in [&["tar", "--quoting-style=literal", "-tf"][..], &["bsdtar", "-tf"], &["python3", "-c", python]] {
        let output = Command::new(command[0])
            .args(&command[1..])
            .arg(&archive)
            .env("LC_ALL", "C.UTF-8")
            .env("PYTHONIOENCODING", "utf-8")
            .output();
        let Ok(output) = output else {
            println!("{} is not on this machine: skipped", command[0]);
            continue;
        };
        let listed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{}: {}", command[0], String::from_utf8_lossy(&output.stderr));
        assert_eq!(listed.lines().collect::<Vec<_>>(), expected, "{}", command[0]);
    }
}
