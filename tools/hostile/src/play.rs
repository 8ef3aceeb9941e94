//! Runs one tree: builds it, runs every command twice, and checks the promises after each run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::judge::Scene;
use super::process::{Machine, NOBODY, Ran, TracedRun};
use super::site::{Scale, Site};
use super::steps::{self, HostileStep, Repeats};
use super::trees::{Owner, Tree};
use super::walk::{self, Listing};
use super::{archives, build, remove};
use crate::Result;

/// The result of one tree.
pub(super) struct Played {
    pub(super) name: &'static str,
    pub(super) commands: usize,
    pub(super) runs: usize,
    pub(super) codes: BTreeMap<i32, usize>,
    pub(super) slowest: Duration,
    pub(super) peak_bytes: u64,
    pub(super) archives: usize,
    /// Broken promises: the command, and the breach.
    pub(super) breaches: Vec<(String, String)>,
    pub(super) skipped: Vec<String>,
}

impl Played {
    pub(super) fn line(&self) -> String {
        format!("{}: {} commands, {} runs, {} breaches", self.name, self.commands, self.runs, self.breaches.len())
    }
}

pub(super) fn play(tree: &Tree, scale: Scale, machine: &Machine, folder: &Path) -> Result<Played> {
    let place = folder.join(tree.name);
    let mut stage = Stage {
        tree,
        machine,
        outputs: folder.join("runs").join(tree.name),
        scratch: folder.join("runs").join(format!("{}-extracted", tree.name)),
        site: set_up(tree, &place, scale, machine)?,
        listing: Listing::new(),
        extracted: BTreeSet::new(),
        played: Played {
            name: tree.name,
            commands: 0,
            runs: 0,
            codes: BTreeMap::new(),
            slowest: Duration::ZERO,
            peak_bytes: 0,
            archives: 0,
            breaches: Vec::new(),
            skipped: Vec::new(),
        },
    };
    fs::create_dir_all(&stage.outputs)?;
    Command::new("chmod").arg("777").arg(&stage.outputs).status()?;
    if tree.owner != Owner::User && !machine.is_root {
        stage.site.skipped.push("no other user: only root can become one".to_owned());
    }
    stage.played.skipped = stage.site.skipped.clone();
    if !tree.swapped.is_empty() {
        stage.race()?
    } else {
        stage.commands(scale)?
    }
    remove(&place)?;
    Ok(stage.played)
}

/// Builds the tree and changes its owner if necessary.
fn set_up(tree: &Tree, place: &Path, scale: Scale, machine: &Machine) -> Result<Site> {
    let site = build(tree, place, scale)?;
    if tree.owner == Owner::Nobody && machine.is_root {
        Command::new("chown").args(["-hR", &format!("{NOBODY}:{NOBODY}")]).arg(place).status()?;
    }
    Ok(site)
}

struct Stage<'a> {
    tree: &'a Tree,
    machine: &'a Machine,
    outputs: PathBuf,
    scratch: PathBuf,
    site: Site,
    /// The listing of the site's folder after the last run.
    listing: Listing,
    /// Digests of archives that were extracted already.
    extracted: BTreeSet<[u8; 32]>,
    played: Played,
}

impl Stage<'_> {
    fn commands(&mut self, scale: Scale) -> Result<()> {
        self.listing = walk::list(self.site.folder(), &Listing::new())?;
        for step in steps::all(&self.site.path("given")) {
            if self.tree.fresh && self.played.commands > 0 {
                let place = self.site.folder().to_owned();
                self.site = set_up(self.tree, &place, scale, self.machine)?;
                self.listing = walk::list(&place, &Listing::new())?;
            }
            self.step(&step)?;
        }
        Ok(())
    }

    /// Runs the command under the tracer. If it succeeds, runs it again without; both must give the same result.
    fn step(&mut self, step: &HostileStep) -> Result<()> {
        self.played.commands += 1;
        let first = self.run(step, true)?;
        if first.code != Some(0) || step.repeats == Repeats::Never {
            return Ok(());
        }
        let archive = self.archive();
        if step.repeats == Repeats::Archive {
            self.extract_archives(step)?;
        }
        let second = self.run(step, false)?;
        if second.code != Some(0) {
            self.breach(step, format!("succeeded, and then ended with the code {:?}", second.code));
        }
        let same = match step.repeats {
            Repeats::Output => first.stdout == second.stdout,
            Repeats::Archive => archive == self.archive(),
            Repeats::SuccessOnly | Repeats::Never => true,
        };
        if !same {
            self.breach(step, "gave other bytes the second time".to_owned());
        }
        Ok(())
    }

    fn run(&mut self, step: &HostileStep, traced: bool) -> Result<Ran> {
        let ran = self.perform(step, traced)?;
        let after = walk::list(self.site.folder(), &self.listing)?;
        let scene = Scene { site: &self.site, stan_path: self.tree.stan_path, step };
        let breaches = scene.of_disk(&self.listing, &after);
        self.listing = after;
        breaches.into_iter().for_each(|breach| self.breach(step, breach));
        Ok(ran)
    }

    fn perform(&mut self, step: &HostileStep, traced: bool) -> Result<Ran> {
        let run = TracedRun {
            program: step.program(self.machine),
            arguments: &step.arguments,
            folder: self.site.folder(),
            outputs: &self.outputs,
            as_nobody: self.tree.owner != Owner::User,
            traced,
        };
        let ran = run.perform(self.machine)?;
        let scene = Scene { site: &self.site, stan_path: self.tree.stan_path, step };
        let mut breaches = scene.of_output(&ran);
        if let Some(traced) = &ran.trace {
            breaches.extend(scene.of_trace(traced));
        }
        breaches.into_iter().for_each(|breach| self.breach(step, breach));
        self.played.runs += 1;
        *self.played.codes.entry(ran.code.unwrap_or(-1)).or_default() += 1;
        self.played.slowest = self.played.slowest.max(ran.processor);
        self.played.peak_bytes = self.played.peak_bytes.max(ran.peak_bytes);
        Ok(ran)
    }

    /// Runs commands while files and folders are swapped with symlinks: here only the output can be checked.
    fn race(&mut self) -> Result<()> {
        let pairs = self
            .tree
            .swapped
            .iter()
            .map(|path| (self.site.path(&format!("repo/{path}")), self.site.path(&format!("twins/{path}"))));
        let pairs: Vec<(PathBuf, PathBuf)> = pairs.collect();
        let over = std::sync::atomic::AtomicBool::new(false);
        let rounds = self.site.scale.of(6, 100);
        std::thread::scope(|scope| {
            let swapping = scope.spawn(|| swap(&pairs, &over));
            let outcome = (0..rounds).try_for_each(|_| self.racing_round());
            over.store(true, std::sync::atomic::Ordering::Relaxed);
            let swaps = swapping.join().unwrap_or(0);
            self.played
                .skipped
                .push(format!("{swaps} swaps in {rounds} rounds; neither traced nor compared with before"));
            outcome
        })
    }

    fn racing_round(&mut self) -> Result<()> {
        for step in steps::racing() {
            self.played.commands += 1;
            self.perform(&step, false)?;
            let own = self.site.repository().join(self.tree.stan_path);
            let before: Listing = Listing::new();
            let written = walk::list(&own, &before).unwrap_or_default();
            let scene = Scene { site: &self.site, stan_path: self.tree.stan_path, step: &step };
            let prefix = format!("repo/{}/", self.tree.stan_path);
            let placed = written.into_iter().map(|(path, entry)| ([prefix.as_bytes(), &path].concat(), entry));
            let breaches = scene.of_disk(&before, &placed.collect());
            breaches.into_iter().for_each(|breach| self.breach(&step, breach));
        }
        Ok(())
    }

    /// The digest of the archive, unless something else is at its path.
    fn archive(&self) -> Option<[u8; 32]> {
        self.digest_of("archive.tar").map(|(_, digest)| digest)
    }

    fn digest_of(&self, name: &str) -> Option<(PathBuf, [u8; 32])> {
        let output = self.site.repository().join(self.tree.stan_path).join("output");
        let path = output.join(name);
        let is = |path: &Path, wanted: fn(&fs::Metadata) -> bool| {
            fs::symlink_metadata(path).is_ok_and(|found| wanted(&found))
        };
        let is_own = is(&output, fs::Metadata::is_dir) && is(&path, fs::Metadata::is_file);
        // Opening a named pipe at its path would block.
        let file = is_own.then(|| fs::File::open(&path).ok()).flatten()?;
        walk::hash(file).map(|digest| (path, digest))
    }

    /// Extracts the archives that a run has just written with GNU tar; equal archives only once.
    fn extract_archives(&mut self, step: &HostileStep) -> Result<()> {
        for name in ["archive.tar", "archive.diff.tar"] {
            let Some((path, digest)) = self.digest_of(name) else { continue };
            if !self.extracted.insert(digest) {
                continue;
            }
            self.played.archives += 1;
            for fault in archives::extract(&path, &self.scratch)? {
                self.breach(step, format!("{name}: {fault}"));
            }
        }
        Ok(())
    }

    /// Reports each breach of a command once.
    fn breach(&mut self, step: &HostileStep, breach: String) {
        let entry = (step.shown(), breach);
        if !self.played.breaches.contains(&entry) {
            self.played.breaches.push(entry);
        }
    }
}

/// Swaps each pair as fast as possible until `over`, and returns how often.
fn swap(pairs: &[(PathBuf, PathBuf)], over: &std::sync::atomic::AtomicBool) -> usize {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let mut swaps = 0;
    while !over.load(std::sync::atomic::Ordering::Relaxed) {
        for (inside, outside) in pairs {
            if renameat_with(CWD, inside, CWD, outside, RenameFlags::EXCHANGE).is_ok() {
                swaps += 1;
            }
        }
        std::thread::sleep(Duration::from_micros(50));
    }
    swaps
}
