//! Repositories with generated histories, created by the real `git` program: every storage format of objects, and checkouts with
//! changes. Asserts nothing.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use stan_testkit::{Git, Random};
use tempfile::TempDir;

pub(crate) struct History {
    _directory: TempDir,
    home: PathBuf,
    /// The checkout to compare.
    pub(crate) checkout: PathBuf,
    random: Random,
}

/// How the objects of a history are stored on disk.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Storage {
    Loose,
    Collected,
    DeepDeltas,
    NamedBases,
    OldIndex,
    LargeOffsets,
    HalfPacked,
    Alternates,
    Worktree,
    Shallow,
    Sha256,
    SplitIndex,
    SparseCheckout,
    NoExecutables,
}

pub(crate) const STORAGES: [Storage; 14] = [
    Storage::Loose,
    Storage::Collected,
    Storage::DeepDeltas,
    Storage::NamedBases,
    Storage::OldIndex,
    Storage::LargeOffsets,
    Storage::HalfPacked,
    Storage::Alternates,
    Storage::Worktree,
    Storage::Shallow,
    Storage::Sha256,
    Storage::SplitIndex,
    Storage::SparseCheckout,
    Storage::NoExecutables,
];

const PATHS: [&str; 12] = [
    "a.ts",
    "b.ts",
    "src/a.ts",
    "src/b.ts",
    "src/deep/c.ts",
    "src/deep/er/d.ts",
    "src-b/e.ts",
    "lib",
    "lib/f.ts",
    "src.ts",
    "docs/ü.md",
    "z/z/z/z.ts",
];

impl History {
    pub(crate) fn generate(seed: u64, storage: Storage) -> Self {
        let directory = tempfile::tempdir().unwrap();
        // Canonical, because the system's temporary directory may be behind a symlink.
        let home = directory.path().canonicalize().unwrap();
        let checkout = home.join("r");
        fs::create_dir(&checkout).unwrap();
        let mut history = Self { _directory: directory, home, checkout, random: Random::new(seed) };
        let format = if matches!(storage, Storage::Sha256) { "--object-format=sha256" } else { "--object-format=sha1" };
        history.git(&["init", "-q", format]);
        if matches!(storage, Storage::NoExecutables) {
            history.git(&["config", "core.fileMode", "false"]);
        }
        if matches!(storage, Storage::SplitIndex) {
            history.git(&["config", "splitIndex.maxPercentChange", "100"]);
            history.git(&["update-index", "--split-index"]);
        }
        history.commits(storage);
        history.store(storage);
        history.dirty();
        history
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.random.below(limit)
    }

    pub(crate) fn git_with_input(&self, arguments: &[&str], input: &str) -> Vec<u8> {
        let file = self.home.join("input");
        fs::write(&file, input).unwrap();
        let output = self.command(&self.checkout, arguments).stdin(fs::File::open(file).unwrap()).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    pub(crate) fn git_at(&self, at: &Path, arguments: &[&str]) -> Output {
        self.command(at, arguments).output().unwrap()
    }

    fn command(&self, at: &Path, arguments: &[&str]) -> Command {
        let mut command = Git::new(&self.home).command(at);
        command
            .args(["-c", "gc.auto=0"])
            .args(["-c", "user.name=N", "-c", "user.email=e@example.org", "-c", "protocol.file.allow=always"])
            .args(["-c", "advice.detachedHead=false", "-c", "core.quotePath=false"])
            .args(arguments)
            .env("GIT_AUTHOR_DATE", "1700000000 +0000")
            .env("GIT_COMMITTER_DATE", "1700000000 +0000");
        command
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> Vec<u8> {
        let output = self.git_at(&self.checkout, arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {error}");
        output.stdout
    }

    fn commits(&mut self, storage: Storage) {
        let count = 4 + self.below(5);
        for number in 0..count {
            self.edit(6);
            self.git(&["add", "--all"]);
            if self.below(4) == 0 {
                let id = if matches!(storage, Storage::Sha256) { "1".repeat(64) } else { "1".repeat(40) };
                self.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{id},sub/module")]);
            }
            self.git(&["commit", "-q", "--allow-empty", "-m", &format!("number {number}")]);
            match self.below(6) {
                0 => drop(self.git(&["tag", "-f", &format!("v{number}")])),
                1 => drop(self.git(&["tag", "-f", "-a", "-m", "a note", &format!("v{number}")])),
                2 if number > 0 => self.merge(number),
                _ => {}
            }
            if matches!(storage, Storage::HalfPacked) && number == count / 2 {
                self.git(&["gc", "-q"]);
            }
        }
        self.git(&["branch", "-f", "topic/one", "HEAD~1"]);
        self.git(&["tag", "-f", "-a", "-m", "a tag", "annotated", "HEAD~2"]);
        self.git(&["tag", "-f", "-a", "-m", "a tag of a tag", "twice", "annotated"]);
    }

    fn merge(&mut self, number: usize) {
        let side = format!("side{number}");
        self.git(&["checkout", "-q", "-b", &side, "HEAD~1"]);
        self.edit(2);
        self.git(&["add", "--all"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "aside"]);
        self.git(&["checkout", "-q", "main"]);
        self.git(&["merge", "-q", "-s", "ours", "-m", "joined", &side]);
    }

    fn store(&mut self, storage: Storage) {
        let from = self.checkout.clone();
        let repack = |option: &str, more: &[&str]| {
            let arguments = [&["-c", option, "repack", "-q", "-a", "-d", "-f"], more].concat();
            self.git(&arguments);
        };
        match storage {
            Storage::Collected => drop(self.git(&["gc", "-q", "--prune=now"])),
            Storage::DeepDeltas => repack("pack.threads=1", &["--depth=50", "--window=50"]),
            Storage::NamedBases => repack("repack.useDeltaBaseOffset=false", &["--depth=50"]),
            Storage::OldIndex => repack("pack.indexVersion=1", &[]),
            Storage::LargeOffsets => {
                repack("pack.threads=1", &[]);
                let folder = from.join(".git/objects/pack");
                let names = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
                let (packs, others): (Vec<PathBuf>, _) =
                    names.partition(|path| path.extension().is_some_and(|e| e == "pack"));
                others.into_iter().for_each(|path: PathBuf| fs::remove_file(path).unwrap());
                let pack = packs[0].display().to_string();
                self.git(&["index-pack", "--index-version=2,0x40", &pack]);
            }
            Storage::Alternates => self.clone_as(&["--shared"]),
            Storage::Shallow => {
                let url = format!("file://{}", from.display());
                let depth = 1 + self.below(3);
                self.checkout = self.home.join("clone");
                let to = self.checkout.display().to_string();
                let output = self.git_at(&self.home, &["clone", "-q", "--depth", &depth.to_string(), &url, &to]);
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            }
            Storage::Worktree => {
                let to = self.home.join("tree");
                self.git(&["worktree", "add", "-q", "-b", "other", &to.display().to_string(), "HEAD~1"]);
                self.checkout = to;
            }
            Storage::SparseCheckout => {
                self.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "src"]);
            }
            _ => {}
        }
    }

    fn clone_as(&mut self, options: &[&str]) {
        let (from, to) = (self.checkout.display().to_string(), self.home.join("clone"));
        let to_text = to.display().to_string();
        let arguments = [&["clone", "-q"], options, &[from.as_str(), to_text.as_str()]].concat();
        let output = self.git_at(&self.home, &arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        self.checkout = to;
        self.edit(2);
        self.git(&["add", "--all"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "on top"]);
    }

    /// Adds staged changes, unstaged changes, and untracked files.
    fn dirty(&mut self) {
        if self.below(2) == 0 {
            self.age();
            self.git(&["update-index", "-q", "--refresh", "--really-refresh"]);
        }
        let (staged, unstaged) = (self.below(3), self.below(5));
        self.edit(staged);
        self.git(&["add", "--all", "--sparse"]);
        self.edit(unstaged);
        match self.below(8) {
            0 => drop(fs::write(self.checkout.join("untracked.ts"), "new")),
            1 => drop(self.git_at(&self.checkout, &["rm", "-q", "--cached", "a.ts"])),
            2 => drop(fs::write(self.checkout.join(".gitignore"), "b.ts\nsrc/deep\n")),
            3 => drop(self.git_at(&self.checkout, &["update-index", "--assume-unchanged", "src/a.ts"])),
            4 => {
                let _ = fs::write(self.checkout.join("intended.ts"), "new");
                self.git(&["add", "-N", "intended.ts"]);
            }
            5 => {
                let _ = fs::rename(self.checkout.join("src"), self.checkout.join("moved"));
                let _ = symlink("moved", self.checkout.join("src"));
            }
            _ => {}
        }
    }

    /// Sets the times of all files to long ago, so that the index alone proves them unchanged.
    fn age(&self) {
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
        for path in PATHS {
            let path = self.checkout.join(path);
            if path.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
                fs::File::options().append(true).open(path).unwrap().set_modified(long_ago).unwrap();
            }
        }
    }

    fn any_path(&mut self) -> PathBuf {
        let path = PATHS[self.below(PATHS.len())];
        self.checkout.join(path)
    }

    fn edit(&mut self, times: usize) {
        for _ in 0..times {
            let path = self.any_path();
            let is_file = path.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
            match self.below(12) {
                0 => drop(fs::remove_file(&path)),
                1 if is_file => {
                    let mode = if self.below(2) == 0 { 0o755 } else { 0o644 };
                    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
                }
                2 if is_file => drop(fs::rename(&path, self.any_path())),
                3 if is_file => {
                    fs::remove_file(&path).unwrap();
                    symlink("a.ts", &path).unwrap();
                }
                // Equal in size: only the bytes and the times differ.
                4 if is_file => {
                    let mut bytes = fs::read(&path).unwrap();
                    bytes.iter_mut().take(1).for_each(|byte| *byte ^= 1);
                    fs::write(&path, bytes).unwrap();
                }
                5 => drop(fs::remove_dir_all(&path)),
                _ => self.write(&path),
            }
        }
    }

    /// A long text that differs a little from others, so that packs contain deltas.
    fn write(&mut self, path: &Path) {
        let changed = self.below(40);
        let text: String = (0..40)
            .map(|line| format!("line {line} {}\n", if line == changed { self.below(100) } else { 0 }))
            .collect();
        let is_blocked = path.symlink_metadata().is_ok_and(|metadata| !metadata.is_file());
        // If a file and a folder have the same path, the first one stays.
        if !is_blocked && fs::create_dir_all(path.parent().unwrap()).is_ok() {
            let _ = fs::write(path, text);
        }
    }
}
