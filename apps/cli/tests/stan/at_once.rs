//! Several runs at once in one workspace: they run one after the other, and a waiting run names the holder of the lock.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use stan_archive::{Holder, Lock};
use stan_engine::OsSystem;

use crate::archives::contents;
use crate::project::{ARCHIVE, DIFF, everything, succeeds, thread};
use crate::support::Repository;

fn start(repository: &Repository, arguments: &[&str], epoch: &str) -> Child {
    let mut command = repository.command(arguments);
    command.env("SOURCE_DATE_EPOCH", epoch).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().expect("stan can be started")
}

#[test]
fn a_waiting_run_names_the_holder() {
    let repository = thread();
    repository.write("src/helper.ts", "export const helper = 1;\n");
    let holder = Holder { process: std::process::id(), command: "stan run".to_owned() };
    let lock = Lock::acquire(&OsSystem, repository.root(), ".stan", &holder, &mut || false, &mut |_| {})
        .expect("no run is active");
    let before = everything(repository.root());
    for arguments in [&["run", "--context"][..], &["run"], &["snap"], &["state", "migrate"]] {
        let mut child = start(&repository, arguments, "0");
        let mut line = String::new();
        BufReader::new(child.stderr.take().expect("it is piped")).read_line(&mut line).expect("stderr is text");
        assert_eq!(line, format!("waiting for another run (pid {}: stan run)\n", std::process::id()));
        assert!(everything(repository.root()) == before, "{arguments:?} did not wait");
        child.kill().expect("it is still waiting");
        child.wait().expect("it was killed");
    }
    let child = start(&repository, &["run", "--context"], "0");
    drop(lock);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    succeeds(&repository, &["verify"]);
    // A command that only reads needs no lock.
    let _held = Lock::acquire(&OsSystem, repository.root(), ".stan", &holder, &mut || false, &mut |_| {});
    for arguments in [&["verify"][..], &["select"], &["graph"], &["run", "--context", "--plan"]] {
        succeeds(&repository, arguments);
    }
}

/// The times of all entries. Names are short, so there are no pax records in between.
fn times(archive: &Path) -> Vec<String> {
    let bytes = fs::read(archive).expect("there is an archive");
    let mut times = Vec::new();
    let mut at = 0;
    while bytes.get(at).is_some_and(|first| *first != 0) {
        let octal = |from: usize| String::from_utf8_lossy(&bytes[at + from..at + from + 11]).into_owned();
        times.push(octal(136));
        let size = usize::from_str_radix(&octal(124), 8).expect("sizes are octal");
        at += 512 + size.div_ceil(512) * 512;
    }
    times.sort_unstable();
    times.dedup();
    times
}

#[test]
fn runs_never_interleave() {
    let repository = thread();
    // Every run has a different time, so that a mixture would be detected.
    let mut children: Vec<Child> =
        (1..=6).map(|number| start(&repository, &["run", "--context"], &number.to_string())).collect();
    children.push(start(&repository, &["snap", "--context"], "0"));
    while children.iter_mut().any(|child| child.try_wait().is_ok_and(|status| status.is_none())) {
        // A concurrent reader only sees complete archives.
        contents(&repository.root().join(ARCHIVE));
        contents(&repository.root().join(DIFF));
    }
    for child in children {
        let output = child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        // The fixture has its own instructions, which `run` reports.
        let is_expected = |line: &str| {
            line.starts_with("waiting for another run (pid ") && line.ends_with(')')
                || line.starts_with("warning: `.stan/system/stan.system.md` differs")
        };
        assert!(said.lines().all(is_expected), "{said}");
    }
    let [full, diff] = [ARCHIVE, DIFF].map(|archive| times(&repository.root().join(archive)));
    assert_eq!(full.len(), 1, "the archive is of one run");
    assert_eq!(full, diff, "both archives are of the same run");
    succeeds(&repository, &["verify"]);
}
