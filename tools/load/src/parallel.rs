//! Many processes at once in one workspace, in two situations: a complete workspace, where every answer is known, and one without
//! earlier runs, where all processes create the same missing folders.
//!
//! Waiting times are not checked, but a process that gives up must name the lock's holder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::generate::Repository;
use super::program::{Ran, Running, Stan, digest};
use super::report::Report;
use super::tree::{differences, digests};
use crate::Result;

const ARCHIVE: &str = ".stan/output/archive.tar";

/// The messages of a process that waits, and of one that waited too long.
const WAITS: &str = "waiting for another run (pid ";
const GAVE_UP: &str = "another run holds `.stan/.lock` (pid ";

/// The known answers and files of the workspace, without concurrency.
struct Alone {
    /// From commands to the digests of possible answers.
    answers: BTreeMap<String, BTreeSet<String>>,
    /// Archives that may exist, each with the diff of the same run.
    archives: BTreeSet<(String, String)>,
    /// Everything below `.stan` that no run changes any more.
    files: BTreeMap<String, String>,
}

pub(super) fn run(stan: Stan<'_>, repository: &Repository, processes: u64, report: &mut Report) -> Result<()> {
    let focus = repository.modules().nth(7).ok_or("a repository without modules")?;
    let commands = commands(&focus);
    repository.select(repository.modules().step_by(11).take(200))?;
    let alone = run_alone(stan, &commands)?;
    let outcome = at_once(stan, &commands, processes, Some(&alone))?;
    judge(&outcome, Some(&alone), report);
    let after = still_files(stan.root)?;
    let changed = differences(&alone.files, &after);
    report.law("no file is left behind, lost or changed", changed.is_empty(), listing(&changed));
    let last = pair(stan.root)?;
    report.law("both archives are of the same run", alone.archives.contains(&last), last.0);

    repository.forget_runs()?;
    repository.select(repository.modules().step_by(11).take(200))?;
    // `verify` needs an archive, which a workspace without earlier runs does not have.
    let first: Vec<Vec<&str>> = commands.iter().filter(|command| command.first() != Some(&"verify")).cloned().collect();
    let outcome = at_once(stan, &first, processes, None)?;
    judge(&outcome, None, report);
    let leftovers: Vec<String> = temporary(&digests(&stan.root.join(".stan"), |_| true)?);
    report.law("no temporary file is left in a new workspace", leftovers.is_empty(), listing(&leftovers));
    let settled = run_alone(stan, &commands)?;
    report.law(
        "the workspace that many made is the one that one makes",
        settled.answers == alone.answers && settled.archives == alone.archives && settled.files == alone.files,
        listing(&differences(&settled.files, &alone.files)),
    );
    Ok(())
}

fn commands(focus: &str) -> Vec<Vec<&str>> {
    vec![
        vec!["graph", "--json"],
        vec!["run", "--json"],
        vec!["run", "--context", "--json"],
        vec!["select", "--json"],
        vec!["snap", "--json"],
        vec!["verify", "--json"],
        vec!["suggest", "--focus", focus, "--budget", "20000", "--json"],
        vec!["run", "--context", "--plan", "--json"],
        vec!["graph", "--meta"],
    ]
}

/// Runs every command alone, twice after the workspace has settled: plain and context archives replace each other, so some
/// answers depend on which one exists.
fn run_alone(stan: Stan<'_>, commands: &[Vec<&str>]) -> Result<Alone> {
    for settle in [&["run"][..], &["run", "--context"], &["snap"], &["run"], &["run", "--context"]] {
        stan.succeed(settle)?;
    }
    let (mut answers, mut archives) = (BTreeMap::<String, BTreeSet<String>>::new(), BTreeSet::new());
    for archiver in [&["run"][..], &["run", "--context"]] {
        for command in commands {
            stan.succeed(archiver)?;
            archives.insert(pair(stan.root)?);
            let ran = stan.succeed(command)?;
            answers.entry(ran.command.clone()).or_default().insert(ran.answer_digest()?);
        }
    }
    Ok(Alone { answers, archives, files: still_files(stan.root)? })
}

fn pair(root: &Path) -> Result<(String, String)> {
    Ok((digest(&root.join(ARCHIVE))?, digest(&root.join(".stan/output/archive.diff.tar"))?))
}

/// Leaves out archives and their by-products, which change with every run, the lock, which names its last holder, and the cache,
/// which records times.
fn still_files(root: &Path) -> Result<BTreeMap<String, String>> {
    let mut files = digests(&root.join(".stan"), |_| true)?;
    // A context run is only cached if no file that it read was modified too recently to compare: that depends on the order of the
    // runs.
    files.retain(|name, _| !name.starts_with("diff/history/") && !name.starts_with("cache/run.data"));
    for (name, digest) in &mut files {
        // Which older baselines exist depends on the order of the runs.
        let depends_on_order = ["output/", "cache/", "diff/history/"].iter().any(|folder| name.starts_with(folder));
        if depends_on_order || name == ".lock" {
            digest.clear();
        }
    }
    Ok(files)
}

fn temporary(files: &BTreeMap<String, String>) -> Vec<String> {
    let expected = |name: &str| {
        matches!(name.split('/').next(), Some("context" | "cache" | "diff" | "output")) && !name.contains(".tmp")
            || name == ".lock"
    };
    files.keys().filter(|name| !expected(name)).cloned().collect()
}

struct ParallelResult {
    ran: Vec<Ran>,
    /// How often an archive was hashed meanwhile, and which of the hashes were unexpected.
    looks: u64,
    torn: Vec<String>,
}

fn at_once(stan: Stan<'_>, commands: &[Vec<&str>], processes: u64, alone: Option<&Alone>) -> Result<ParallelResult> {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| watch(&stan.root.join(ARCHIVE), alone, &over));
        let running: Result<Vec<Running>> = (0..processes)
            .zip(commands.iter().cycle())
            .map(|(number, command)| stan.start(command, &format!("process-{number:03}")))
            .collect();
        let ran: Result<Vec<Ran>> = running.and_then(|running| running.into_iter().map(Running::finish).collect());
        over.store(true, Ordering::Release);
        let (looks, torn) = watcher.join().map_err(|_| "the watcher panicked")??;
        Ok(ParallelResult { ran: ran?, looks, torn })
    })
}

/// Hashes the archive repeatedly while other processes replace it.
fn watch(archive: &Path, alone: Option<&Alone>, over: &AtomicBool) -> Result<(u64, Vec<String>)> {
    let (mut looks, mut torn) = (0, Vec::new());
    while let (Some(alone), false) = (alone, over.load(Ordering::Acquire)) {
        let found = digest(archive)?;
        looks += 1;
        if !alone.archives.iter().any(|(expected, _)| *expected == found) {
            torn.push(found);
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    Ok((looks, torn))
}

fn judge(outcome: &ParallelResult, alone: Option<&Alone>, report: &mut Report) {
    let of = if alone.is_some() { "a complete workspace" } else { "a new workspace" };
    let (mut gave_up, mut waited, mut bad) = (0, 0, Vec::new());
    for ran in &outcome.ran {
        gave_up += u64::from(ran.code == Some(1) && ran.said.contains(GAVE_UP));
        waited += u64::from(ran.said.contains(WAITS));
        if let Some(fault) = fault(ran) {
            bad.push(fault);
        }
    }
    let detail = format!("{} processes, {waited} waited, {gave_up} gave up; {}", outcome.ran.len(), listing(&bad));
    report.law(format!("all succeed or name the process they wait for, in {of}"), bad.is_empty(), detail);
    let Some(alone) = alone else { return };
    let others: Vec<String> =
        outcome.ran.iter().filter(|ran| ran.code == Some(0)).filter_map(|ran| other_answer(ran, alone)).collect();
    report.law("answers are those of one run alone", others.is_empty(), listing(&others));
    let detail = format!("{} looks; {}", outcome.looks, listing(&outcome.torn));
    report.law("a concurrent reader sees a whole archive", outcome.torn.is_empty(), detail);
}

/// The fault of a process, if any: an unexpected message, or a failure other than a reported wait.
fn fault(ran: &Ran) -> Option<String> {
    let waited_too_long = ran.code == Some(1) && ran.said.contains(GAVE_UP);
    if ran.code != Some(0) && !waited_too_long {
        return Some(ran.failure());
    }
    let expected = |line: &str| line.starts_with(WAITS) && line.ends_with(')') || waited_too_long;
    let odd = ran.said.lines().find(|line| !expected(line))?;
    Some(format!("stan {} said: {odd}", ran.command))
}

fn other_answer(ran: &Ran, alone: &Alone) -> Option<String> {
    let found = ran.answer_digest().unwrap_or_else(|error| error.to_string());
    let known = alone.answers.get(&ran.command).is_some_and(|known| known.contains(&found));
    (!known).then(|| format!("stan {} ({})", ran.command, ran.answer.display()))
}

fn listing(items: &[String]) -> String {
    let some: Vec<&str> = items.iter().take(6).map(String::as_str).collect();
    if items.is_empty() { "none wrong".to_owned() } else { format!("{} wrong: {}", items.len(), some.join("; ")) }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Ran, fault};
    use crate::program::Usage;

    #[test]
    fn only_success_and_explained_waits_are_not_faults() {
        let ran = |code, said: &str| Ran {
            command: "run".to_owned(),
            code,
            usage: Usage::default(),
            answer: PathBuf::new(),
            said: said.to_owned(),
        };
        let waits = "waiting for another run (pid 7: stan run)\n";
        let gave_up = "error: another run holds `.stan/.lock` (pid 7: stan run); wait for it to end\n";
        for (code, said) in [(Some(0), ""), (Some(0), waits), (Some(1), gave_up)] {
            assert_eq!(fault(&ran(code, said)), None, "{said}");
        }
        for (code, said) in [(Some(1), waits), (Some(4), ""), (None, ""), (Some(0), "warning: x\n"), (Some(2), gave_up)]
        {
            assert!(fault(&ran(code, said)).is_some(), "{code:?} {said}");
        }
    }
}
