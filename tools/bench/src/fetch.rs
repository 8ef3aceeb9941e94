//! Downloads corpora and peers through npm, once, and verifies them.
//!
//! Never runs code of a package: installs ignore scripts. npm's own settings choose the registry.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sha2::{Digest as _, Sha256};

use super::corpus::{Corpus, Layout, Package};
use crate::Result;

/// The folders of the benchmark, all below one that git ignores.
pub(super) struct Store {
    base: PathBuf,
}

impl Store {
    pub(super) fn open(root: &Path) -> Result<Self> {
        let base = root.join(".bench");
        for folder in ["corpus/.complete", "archives", "scratch"] {
            std::fs::create_dir_all(base.join(folder))?;
        }
        Ok(Store { base })
    }

    /// Where measured programs write.
    pub(super) fn scratch(&self, name: &str) -> PathBuf {
        self.base.join("scratch").join(name)
    }

    /// A folder that is kept between runs.
    pub(super) fn folder(&self, name: &str) -> PathBuf {
        self.base.join(name)
    }

    /// The folder of `corpus`, complete and as published.
    pub(super) fn corpus(&self, corpus: &Corpus) -> Result<PathBuf> {
        let folder = self.base.join("corpus").join(corpus.name);
        let marker = self.base.join("corpus/.complete").join(corpus.name);
        if std::fs::read_to_string(&marker).is_ok_and(|text| text == corpus.fingerprint()) {
            // An earlier run may have been stopped during an edit; the index has the published text.
            git(&folder, &["checkout", "--quiet", "--", "."])?;
            return Ok(folder);
        }
        eprintln!("fetch {}", corpus.name);
        let _ = std::fs::remove_file(&marker);
        let _ = std::fs::remove_dir_all(&folder);
        self.unpack_layout(corpus, &folder)?;
        make_repository(&folder)?;
        std::fs::write(&marker, corpus.fingerprint())?;
        Ok(folder)
    }

    fn unpack_layout(&self, corpus: &Corpus, folder: &Path) -> Result<()> {
        match corpus.layout {
            Layout::Single => self.unpack_all(corpus.packages, |_| folder.to_path_buf()),
            Layout::Installed { lock } => {
                self.unpack_all(corpus.packages, |_| folder.to_path_buf())?;
                std::fs::write(folder.join("package-lock.json"), lock)?;
                npm(folder, &["pkg", "delete", "devDependencies", "scripts", "workspaces"])?;
                npm(folder, &["ci", "--omit=dev"])
            }
            Layout::SideBySide => {
                self.unpack_all(corpus.packages, |package| folder.join("packages").join(folder_name(package.name)))?;
                let manifest = "{ \"name\": \"monorepo\", \"private\": true, \"workspaces\": [\"packages/*\"] }\n";
                Ok(std::fs::write(folder.join("package.json"), manifest)?)
            }
        }
    }

    fn unpack_all(&self, packages: &[Package], place: impl Fn(&Package) -> PathBuf) -> Result<()> {
        for package in packages {
            let (archive, folder) = (self.archive(package)?, place(package));
            std::fs::create_dir_all(&folder)?;
            unpack(&archive, &folder)?;
        }
        Ok(())
    }

    /// The archive of `package`, after verifying its hash.
    pub(super) fn archive(&self, package: &Package) -> Result<PathBuf> {
        let archive = self.base.join("archives").join(format!("{}.tgz", package.sha256));
        if archive.exists() && sha256_of(&archive)? == package.sha256 {
            return Ok(archive);
        }
        let incoming = self.scratch("incoming");
        let _ = std::fs::remove_dir_all(&incoming);
        std::fs::create_dir_all(&incoming)?;
        npm(&incoming, &["pack", &format!("{}@{}", package.name, package.version)])?;
        let Some(entry) = std::fs::read_dir(&incoming)?.next() else {
            return Err(format!("npm pack brought nothing for {}", package.name).into());
        };
        let packed = entry?.path();
        let found = sha256_of(&packed)?;
        if found != package.sha256 {
            return Err(format!("{}@{} has the hash {found}, not the pinned one", package.name, package.version).into());
        }
        std::fs::rename(packed, &archive)?;
        Ok(archive)
    }

    /// The folder with the peers, installed from their lock file.
    pub(super) fn peers(&self) -> Result<PathBuf> {
        const MANIFEST: &str = include_str!("../data/peers.package.json");
        const LOCK: &str = include_str!("../data/peers.package-lock.json");
        let (folder, marker) = (self.base.join("peers"), self.base.join("peers/.complete"));
        if std::fs::read_to_string(&marker).is_ok_and(|text| text == LOCK) {
            return Ok(folder);
        }
        eprintln!("fetch the peers");
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join("package.json"), MANIFEST)?;
        std::fs::write(folder.join("package-lock.json"), LOCK)?;
        npm(&folder, &["ci"])?;
        std::fs::write(marker, LOCK)?;
        Ok(folder)
    }

    /// A repository of ten files, to measure start-up.
    pub(super) fn tiny(&self) -> Result<PathBuf> {
        let folder = self.base.join("corpus/tiny");
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join("package.json"), "{ \"name\": \"tiny\" }\n")?;
        for index in 1..=9 {
            let text = format!("import './m{}';\nexport const a{index} = 1;\n", index % 9 + 1);
            std::fs::write(folder.join(format!("m{index}.ts")), text)?;
        }
        make_repository(&folder)?;
        Ok(folder)
    }
}

/// Unpacks an npm archive into an existing folder.
pub(super) fn unpack(archive: &Path, folder: &Path) -> Result<()> {
    let mut tar = Command::new("tar");
    tar.arg("xzf").arg(archive).arg("-C").arg(folder).args(["--strip-components=1", "--no-same-owner"]);
    succeed(&mut tar)
}

fn folder_name(package: &str) -> String {
    package.trim_start_matches('@').replace('/', "-")
}

/// Makes it like a user's repository: files are tracked in git, and installed packages are ignored.
pub(super) fn make_repository(folder: &Path) -> Result<()> {
    std::fs::write(folder.join(".gitignore"), "node_modules/\n")?;
    git(folder, &["init", "--quiet"])?;
    git(folder, &["add", "--all"])
}

pub(super) fn git(folder: &Path, arguments: &[&str]) -> Result<()> {
    if arguments.first() != Some(&"init") && !folder.join(".git").exists() {
        return Err(format!("{} is not a repository", folder.display()).into());
    }
    // The developer's own git settings must not change the corpus.
    let neutral = ["-c", "core.autocrlf=false", "-c", "core.excludesFile=", "-c", "core.safecrlf=false"];
    succeed(Command::new("git").args(neutral).args(arguments).current_dir(folder))
}

fn npm(folder: &Path, arguments: &[&str]) -> Result<()> {
    let mut command = Command::new("npm");
    command.env("npm_config_ignore_scripts", "true");
    for setting in ["audit", "fund", "update_notifier"] {
        command.env(format!("npm_config_{setting}"), "false");
    }
    succeed(command.args(arguments).current_dir(folder))
}

/// Runs a helper program; prints its stderr only if it fails.
pub(super) fn succeed(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    // Only the start: the cause is printed first, and some programs add pages of advice.
    let complaints = String::from_utf8_lossy(&output.stderr);
    let first: Vec<&str> = complaints.lines().filter(|line| !line.trim().is_empty()).take(8).collect();
    Err(format!("{name} failed in {:?}:\n{}", command.get_current_dir(), first.join("\n")).into())
}

/// Reads in pieces, because this process must stay small (see [`super::process`]).
pub(super) fn sha256_of(path: &Path) -> Result<String> {
    let (mut file, mut hasher, mut piece) = (File::open(path)?, Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut piece)? {
            0 => break,
            count => hasher.update(&piece[..count]),
        }
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
