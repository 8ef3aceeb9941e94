//! A process that replaces a folder by a symlink while a command runs: what the link leads to is not shown. The check of a typed path
//! and the read that follows it are two calls, and the link may appear between any two.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use stan_engine::host::{self, HostEnvironment};
use stan_engine::outline::{AnswerSize, OutlineRequest, ReadLevel, ReadRequest, outline, read};
use stan_engine::{Engine, OpenOptions};
use stan_repo::{DirEntry, Links, MemorySystem, OpenFile, Stat, System, SystemLayer, WritableLayer};

const TREE: &str = "\
//- /r/package.json
{ \"name\": \"r\" }
//- /r/sub/a.ts
export const inside = 1;
//- /out/a.ts
export const leaked = 1;
";

/// Replaces `/r/sub` by a link to `/out` before call number `at`.
struct Swapping {
    system: MemorySystem,
    calls: AtomicUsize,
    at: usize,
}

impl Swapping {
    fn new(at: usize) -> Self {
        Self { system: MemorySystem::from_fixture(TREE), calls: AtomicUsize::new(0), at }
    }

    fn was_too_late(&self) -> bool {
        self.calls.load(Ordering::Relaxed) <= self.at
    }

    fn call<T>(&self, call: impl FnOnce(&MemorySystem) -> T) -> T {
        if self.calls.fetch_add(1, Ordering::Relaxed) == self.at {
            self.system.remove("/r/sub/a.ts").remove("/r/sub").set_link("/r/sub", "/out");
        }
        call(&self.system)
    }
}

impl SystemLayer for Swapping {
    type Inner = MemorySystem;

    fn inner(&self) -> &MemorySystem {
        &self.system
    }

    fn list_dir(&self, path: &Path, links: Links) -> io::Result<Vec<DirEntry>> {
        self.call(|system| system.list_dir(path, links))
    }

    fn lstat(&self, path: &Path) -> io::Result<Stat> {
        self.call(|system| system.lstat(path))
    }

    fn open_file(&self, path: &Path, links: Links) -> io::Result<OpenFile> {
        self.call(|system| system.open_file(path, links))
    }

    fn read_file(&self, path: &Path, links: Links, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Stat> {
        self.call(|system| system.read_file(path, links, limit, buffer))
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        self.call(|system| system.read_link(path))
    }
}

impl WritableLayer for Swapping {}

/// Runs `command` once for each call it makes. It may fail, but what it says may not contain what is behind the link.
fn check(name: &str, command: impl Fn(&Engine<'_>) -> Option<String>) {
    for at in 0.. {
        let system = Swapping::new(at);
        let shown = command(&Engine::new(&system)).unwrap_or_default();
        assert!(!shown.contains("leaked") && !shown.contains("out/"), "{name}, call {at}: {shown}");
        if system.was_too_late() {
            assert!(at > 5 && shown.contains("inside"), "{name}: only {at} calls\n{shown}");
            return;
        }
    }
}

#[test]
fn what_a_link_that_appeared_leads_to_is_not_read() {
    check("read", |engine| {
        let opened = engine.open("/r", &OpenOptions::default()).ok()?;
        let asked = vec![opened.asked_text(engine, "sub/a.ts").ok()?];
        let request = ReadRequest { asked, level: ReadLevel::Full, size: AnswerSize::default() };
        serde_json::to_string(&read(engine, &opened.repository(), &request).ok()?).ok()
    });
    check("outline", |engine| {
        let opened = engine.open("/r", &OpenOptions::default()).ok()?;
        let files = vec![opened.asked_file(engine, "sub/a.ts").ok()?];
        let request = OutlineRequest { files, size: AnswerSize::default() };
        serde_json::to_string(&outline(engine, &opened.repository(), &request).ok()?).ok()
    });
}

#[test]
fn a_pack_shows_nothing_behind_a_link_that_appeared() {
    for options in [json!({ "cwd": "/r", "at": "sub/a.ts:1" }), json!({ "cwd": "/r", "symbol": "sub/a.ts#inside" })] {
        let options = options.to_string();
        check("pack", |engine| host::call(engine, &HostEnvironment::default(), "pack", &options).ok());
    }
}
