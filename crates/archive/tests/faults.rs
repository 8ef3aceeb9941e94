//! Fails every single effect of a run in turn, once or from there on for good: outputs are old or new and whole, and the
//! next run succeeds.

mod support;

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use stan_archive::Error;
use stan_repo::{
    Access, DirEntry, HeldLock, InputFile, MemorySystem, OpenFile, OutputFile, Stat, System, WritableSystem,
};

use support::{Selection, external, outputs, run};

/// When to fail, counted in effects.
struct Plan {
    at: usize,
    /// Everything after it fails as well, as after a kill: not even the clean-up gets through.
    is_kill: bool,
    kind: io::ErrorKind,
    calls: AtomicUsize,
}

impl Plan {
    fn check(&self) -> io::Result<()> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        if call == self.at || (self.is_kill && call > self.at) { Err(self.kind.into()) } else { Ok(()) }
    }
}

struct FaultySystem<'m> {
    inner: &'m MemorySystem,
    plan: Arc<Plan>,
}

struct Faulty<T> {
    inner: T,
    plan: Arc<Plan>,
}

impl FaultySystem<'_> {
    fn wrap<T>(&self, inner: T) -> Box<Faulty<T>> {
        Box::new(Faulty { inner, plan: Arc::clone(&self.plan) })
    }
}

impl System for FaultySystem<'_> {
    fn read_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.plan.check()?;
        self.inner.read_dir(path)
    }

    fn lstat(&self, path: &Path) -> io::Result<Stat> {
        self.plan.check()?;
        self.inner.lstat(path)
    }

    fn read_into(&self, path: &Path, buffer: &mut Vec<u8>) -> io::Result<Stat> {
        self.plan.check()?;
        self.inner.read_into(path, buffer)
    }

    fn open(&self, path: &Path) -> io::Result<OpenFile> {
        self.plan.check()?;
        let OpenFile { stat, executable, reader } = self.inner.open(path)?;
        Ok(OpenFile { stat, executable, reader: self.wrap(reader) })
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        self.plan.check()?;
        self.inner.read_link(path)
    }

    fn now(&self) -> i64 {
        self.inner.now()
    }
}

impl WritableSystem for FaultySystem<'_> {
    fn write_atomic(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.plan.check()?;
        self.inner.write_atomic(path, bytes)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.plan.check()?;
        self.inner.create_dir_all(path)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.plan.check()?;
        self.inner.remove_file(path)
    }

    fn create_new(&self, path: &Path, access: Access) -> io::Result<Box<dyn OutputFile>> {
        self.plan.check()?;
        Ok(self.wrap(self.inner.create_new(path, access)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.plan.check()?;
        self.inner.rename(from, to)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.plan.check()?;
        self.inner.remove_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.plan.check()?;
        self.inner.sync_dir(path)
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn HeldLock>>> {
        self.plan.check()?;
        Ok(self.inner.try_lock(path)?.map(|held| self.wrap(held) as Box<dyn HeldLock>))
    }
}

/// Large pieces go through in parts, as they may.
fn short(length: usize) -> usize {
    if length > 1 << 19 { length - (1 << 19) } else { length }
}

impl Read for Faulty<Box<dyn InputFile>> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.plan.check()?;
        let length = short(buffer.len());
        self.inner.read(&mut buffer[..length])
    }
}

impl Seek for Faulty<Box<dyn InputFile>> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

impl InputFile for Faulty<Box<dyn InputFile>> {
    fn stat(&self) -> io::Result<Stat> {
        self.plan.check()?;
        self.inner.stat()
    }
}

impl Write for Faulty<Box<dyn OutputFile>> {
    /// A full disk takes a part before it says so.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Err(error) = self.plan.check() {
            self.inner.write_all(&bytes[..bytes.len() / 2])?;
            return Err(error);
        }
        self.inner.write(&bytes[..short(bytes.len())])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl OutputFile for Faulty<Box<dyn OutputFile>> {
    fn sync(&mut self) -> io::Result<()> {
        self.plan.check()?;
        self.inner.sync()
    }
}

impl HeldLock for Faulty<Box<dyn HeldLock>> {
    fn describe(&mut self, holder: &str) -> io::Result<()> {
        self.plan.check()?;
        self.inner.describe(holder)
    }
}

/// A workspace after one run, edited since: what the second run is to archive.
fn workspace() -> (MemorySystem, Selection) {
    let system = MemorySystem::new();
    system.set_now(1_000_000_000_000);
    for name in ["a.ts", "b.ts", "gone.ts"] {
        system.set_file(format!("/r/{name}"), name.repeat(100));
    }
    system.set_file("/n/z/index.js", "old z").set_file("/n/kept/k.js", "kept").set_file("/n/away/x.js", "away");
    let first = Selection {
        files: ["a.ts", "b.ts", "gone.ts"].map(String::from).to_vec(),
        externals: vec![
            external(&system, ".stan/context/npm/away/1.0.0/x.js", "/n/away/x.js"),
            external(&system, ".stan/context/npm/kept/1.0.0/k.js", "/n/kept/k.js"),
            external(&system, ".stan/context/npm/z/1.0.0/index.js", "/n/z/index.js"),
        ],
    };
    run(&system, Path::new("/r"), &first).unwrap();
    system.set_file("/r/.stan/output/stale", "to be removed");
    system.set_file("/r/b.ts", "edited").remove("/r/gone.ts").set_file("/r/large.ts", "x".repeat((1 << 20) + 1));
    system.set_file("/n/z/index.js", "new z, and longer").set_file("/n/big.js", "y".repeat((1 << 20) + 3));
    let second = Selection {
        files: ["a.ts", "b.ts", "large.ts"].map(String::from).to_vec(),
        externals: vec![
            external(&system, ".stan/context/abs/0123/big.js", "/n/big.js"),
            external(&system, ".stan/context/npm/kept/1.0.0/k.js", "/n/kept/k.js"),
            external(&system, ".stan/context/npm/z/1.0.0/index.js", "/n/z/index.js"),
        ],
    };
    (system, second)
}

fn fail_everything(is_kill: bool, kind: io::ErrorKind) {
    let root = Path::new("/r");
    let (system, selection) = workspace();
    let old = outputs(&system, root);
    run(&system, root, &selection).unwrap();
    let new = outputs(&system, root);
    let (mut refused, mut half_done) = (0, 0);
    for at in 0.. {
        let (system, selection) = workspace();
        let plan = Arc::new(Plan { at, is_kill, kind, calls: AtomicUsize::new(0) });
        let faulty = FaultySystem { inner: &system, plan: Arc::clone(&plan) };
        let result = run(&faulty, root, &selection);
        let after = outputs(&system, root);
        match &result {
            Ok(_) => assert_eq!(after, new, "effect {at}: a run that says it succeeded has"),
            Err(Error::HalfCommitted { .. }) => half_done += 1,
            Err(error) => {
                refused += 1;
                assert!(error.to_string().len() > 20, "{error}");
                if !is_kill {
                    assert_eq!(after, old, "effect {at}: a failed run changes nothing ({error})");
                }
            }
        }
        let is_named = |path: &str| !path.contains("/.stan-tmp-");
        for (path, what) in after.iter().filter(|(path, _)| is_named(path)) {
            let is_whole = Some(what) == old.get(path) || Some(what) == new.get(path) || what == "folder";
            assert!(is_whole, "effect {at}: {path} is {what}");
        }
        for (path, what) in &old {
            assert!(new.get(path) != Some(what) || after.get(path) == Some(what), "effect {at}: {path} is gone");
        }
        run(&system, root, &selection).unwrap_or_else(|error| panic!("after effect {at}: {error}"));
        assert_eq!(outputs(&system, root), new, "the run after a failure at effect {at}");
        if plan.calls.load(Ordering::Relaxed) <= at {
            break;
        }
    }
    // Every write path is in these numbers; fewer would mean that a part of the run is not there.
    assert!(refused > 50 && half_done > 5, "{refused} refused, {half_done} half done");
}

#[test]
fn a_full_disk_at_any_moment() {
    fail_everything(false, io::ErrorKind::StorageFull);
}

#[test]
fn a_refusal_at_any_moment() {
    fail_everything(false, io::ErrorKind::PermissionDenied);
}

#[test]
fn a_kill_at_any_moment() {
    fail_everything(true, io::ErrorKind::Other);
}
