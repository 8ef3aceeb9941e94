//! The folder of one hostile tree: the repository, and beside it what must never be read or changed.
//!
//! All contents are fixed, so that two builds of a tree are equal. The contents of the trees are in `trees`; `walk` reads them
//! back.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, mknodat};

/// The word in every secret and in no repository. If it appears anywhere, something forbidden was read.
pub(super) const CANARY: &str = "kanarienvogel";

/// The size of the large trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    Short,
    Long,
}

impl Scale {
    pub(super) fn of<T>(self, short: T, long: T) -> T {
        match self {
            Self::Short => short,
            Self::Long => long,
        }
    }
}

/// The folder of one tree. Its `repo` is the repository on which the programs run.
#[derive(Clone, Debug)]
pub(super) struct Site {
    folder: PathBuf,
    pub(super) scale: Scale,
    /// Paths relative to the folder, outside of the repository, that a command may read because an import or `.git` names them. A
    /// trailing `/` includes everything below.
    pub(super) readable: Vec<&'static str>,
    /// The parts that could not be built on this machine.
    pub(super) skipped: Vec<String>,
}

impl Site {
    pub(super) fn new(folder: &Path, scale: Scale) -> Self {
        Self { folder: folder.to_owned(), scale, readable: Vec::new(), skipped: Vec::new() }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn path(&self, relative: &str) -> PathBuf {
        self.folder.join(relative)
    }

    pub(super) fn repository(&self) -> PathBuf {
        self.path("repo")
    }

    pub(super) fn directory(&mut self, relative: &str) -> io::Result<()> {
        fs::create_dir_all(self.path(relative))
    }

    pub(super) fn file(&mut self, relative: &str, contents: impl AsRef<[u8]>) -> io::Result<()> {
        self.file_named(OsStr::new(relative), contents)
    }

    /// A file whose name may be other than UTF-8.
    pub(super) fn file_named(&mut self, relative: &OsStr, contents: impl AsRef<[u8]>) -> io::Result<()> {
        let path = self.folder.join(relative);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, contents)
    }

    pub(super) fn file_of_bytes(&mut self, relative: &[u8], contents: &str) -> io::Result<()> {
        self.file_named(OsStr::from_bytes(relative), contents)
    }

    /// A symlink with exactly this target.
    pub(super) fn link(&mut self, relative: &str, target: &str) -> io::Result<()> {
        let path = self.path(relative);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        symlink(target, path)
    }

    /// A symlink to the absolute path of something in this folder.
    pub(super) fn absolute_link(&mut self, relative: &str, target: &str) -> io::Result<()> {
        let target = self.path(target).to_string_lossy().into_owned();
        self.link(relative, &target)
    }

    pub(super) fn fifo(&mut self, relative: &str) -> io::Result<()> {
        self.special(relative, FileType::Fifo, 0)
    }

    pub(super) fn socket(&mut self, relative: &str) -> io::Result<()> {
        self.special(relative, FileType::Socket, 0)
    }

    /// A device like `/dev/zero`, which never ends. Needs root; otherwise the tree reports that it lacks the device.
    pub(super) fn endless_device(&mut self, relative: &str) -> io::Result<()> {
        let made = self.special(relative, FileType::CharacterDevice, rustix::fs::makedev(1, 5));
        if let Err(error) = &made {
            self.skipped.push(format!("no device at {relative}: {error}"));
        }
        Ok(())
    }

    fn special(&mut self, relative: &str, kind: FileType, device: u64) -> io::Result<()> {
        let path = self.path(relative);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        Ok(mknodat(CWD, &path, kind, Mode::from_raw_mode(0o644), device)?)
    }

    /// A sparse file of `size` bytes that starts with `head`.
    pub(super) fn sparse(&mut self, relative: &str, head: &str, size: u64) -> io::Result<()> {
        self.file(relative, head)?;
        File::options().write(true).open(self.path(relative))?.set_len(size)
    }

    pub(super) fn mode(&mut self, relative: &str, mode: u32) -> io::Result<()> {
        fs::set_permissions(self.path(relative), fs::Permissions::from_mode(mode))
    }

    /// Changes the owner of a file. Needs root; otherwise removes the file, and the tree reports that.
    pub(super) fn give_away(&mut self, relative: &str) -> io::Result<()> {
        let path = self.path(relative);
        if let Err(error) = std::os::unix::fs::chown(&path, Some(super::process::NOBODY), None) {
            self.skipped.push(format!("{relative} cannot be another user's: {error}"));
            fs::remove_file(path)?;
        }
        Ok(())
    }

    /// `count` repetitions of `unit` between `head` and `tail`, written in pieces.
    pub(super) fn repeated(
        &mut self,
        relative: &str,
        head: &str,
        unit: &str,
        count: usize,
        tail: &str,
    ) -> io::Result<()> {
        self.file(relative, head)?;
        let file = File::options().append(true).open(self.path(relative))?;
        let mut out = io::BufWriter::new(file);
        for _ in 0..count {
            out.write_all(unit.as_bytes())?;
        }
        out.write_all(tail.as_bytes())?;
        out.flush()
    }

    /// The selection of the workspace.
    pub(super) fn selection(&mut self, entries: &str) -> io::Result<()> {
        self.file("repo/.stan/context/dependency.state.json", format!("{{\"v\":2,\"i\":[{entries}]}}\n"))
    }

    /// A small valid project, to which a tree adds something hostile.
    pub(super) fn project(&mut self) -> io::Result<()> {
        self.file("repo/package.json", r##"{"name":"shop","version":"1.0.0","imports":{"#cart":"./src/cart.ts"}}"##)?;
        self.file("repo/tsconfig.json", r#"{"compilerOptions":{"moduleResolution":"bundler"}}"#)?;
        self.file("repo/src/main.ts", MAIN)?;
        self.file("repo/src/cart.ts", "/** Sums. @module */\nexport const total = 1;\n")?;
        self.file("repo/node_modules/money/package.json", r#"{"name":"money","version":"2.1.0"}"#)?;
        self.file("repo/node_modules/money/index.d.ts", "export declare const format: string;\n")?;
        self.file("node_modules/above/package.json", r#"{"name":"above","version":"1.0.0"}"#)?;
        self.file("node_modules/above/index.d.ts", "export declare const above: string;\n")?;
        self.file("given/reply.md", REPLY)?;
        self.file("given/whole.md", WHOLE)?;
        self.file("given/build.log", "src/main.ts:1:1 - error TS2304\n../secret.txt:1:1 - error TS2304\n")?;
        self.file("given/mcp.jsonl", mcp_calls())?;
        self.file("given/module.x07.json", MODULE)?;
        self.file("given/x07.json", PROJECT)?;
        self.file("given/diagnostics.json", DIAGNOSTICS)
    }

    /// Secrets beside and above the repository, in the home folder and in a neighbouring repository; and bait files above the
    /// root that must not be read either.
    pub(super) fn canaries(&mut self) -> io::Result<()> {
        let secret = |place: &str| format!("{CANARY}-{place}\n");
        let module = |place: &str| {
            format!(
                "/** {CANARY} described @module */\nimport '{CANARY}-{place}';\nexport const secret = '{CANARY}';\n"
            )
        };
        let manifest = |place: &str| {
            format!(r#"{{"name":"{CANARY}-{place}","version":"{CANARY}","main":"./private.ts","workspaces":["*"]}}"#)
        };
        self.file("secret.txt", secret("beside"))?;
        self.file("package.json", manifest("above"))?;
        self.file("tsconfig.json", format!(r#"{{"compilerOptions":{{"paths":{{"*":["./{CANARY}/*"]}}}}}}"#))?;
        self.file(".gitignore", format!("*.ts\n{CANARY}\n"))?;
        self.file(&format!("vault/{CANARY}-name.txt"), secret("vault"))?;
        self.file("vault/key.pem", secret("key"))?;
        self.file("vault/private.ts", module("vault"))?;
        self.file("vault/index.ts", module("vault-index"))?;
        self.file("vault/package.json", manifest("vault"))?;
        self.file("vault/dependency.state.json", format!(r#"{{"v":2,"i":["{CANARY}"]}}"#))?;
        self.file("vault/dependency.meta.json", format!(r#"{{"v":2,"n":{{"{CANARY}":{{"k":0,"s":1}}}}}}"#))?;
        self.file("vault/dependency.map.json", secret("map"))?;
        self.file("vault/archive.tar", secret("archive"))?;
        self.file("vault/stan.system.md", secret("document"))?;
        self.file("vault/.archive.snapshot.json", secret("snapshot"))?;
        self.file("home/.ssh/id_rsa", secret("ssh"))?;
        self.file("home/.npmrc", secret("npmrc"))?;
        self.file("home/.gitconfig", format!("[core]\n\texcludesFile = ~/{CANARY}\n"))?;
        self.file("home/.config/git/ignore", secret("ignore"))?;
        self.file("home/.config/stan/config.yml", secret("config"))?;
        self.file("nodepath/trap/index.js", module("nodepath"))?;
        self.file("sibling/.git/HEAD", "ref: refs/heads/main\n")?;
        self.file("sibling/.git/index", secret("index"))?;
        self.file("sibling/.git/info/exclude", secret("exclude"))?;
        self.directory("sibling/.git/objects")?;
        self.directory("sibling/.git/refs")?;
        self.file("sibling/package.json", manifest("sibling"))?;
        self.file("sibling/src/private.ts", module("sibling"))?;
        self.file("sibling/.env", secret("env"))?;
        self.directory("tmp")
    }
}

/// Imports everything that the valid project has; `NODE_PATH` points to `trap`.
const MAIN: &str = "/** Where it starts. @module */\nimport { total } from './cart.js';\nimport { total as same } from '#cart';\n\
    import { format } from 'money';\nimport { above } from 'above';\nimport 'trap';\nimport 'node:fs';\n\
    console.log(total, same, format, above);\n";

/// The requests of an assistant that followed the repository's injected instructions.
fn mcp_calls() -> String {
    let hello = r#""method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"h","version":"1"}}"#;
    let call = |tool: &str, arguments: &str| {
        format!(r#""method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}"#)
    };
    let lines = [
        hello.to_owned(),
        call("overview", "{}"),
        call("read", r#"{"files":["src/main.ts","link.ts"]}"#),
        call("read", r#"{"files":["../secret.txt"]}"#),
        call("read", r#"{"files":[".git/config","src/../../secret.txt"]}"#),
        call("related", r#"{"relation":"deps","files":["src/main.ts"]}"#),
        call("find", r#"{"words":"total"}"#),
        call("find", r#"{"symbol":"total"}"#),
        call("overview", r#"{"focus":["../vault","up"]}"#),
        call("read", r#"{"files":["file:///etc/passwd"]}"#),
        call("context", r#"{"about":"@../secret.txt","changed":"../../x"}"#),
        call("context", r#"{"symbol":["../vault/private.ts#secret"],"focus":["../vault/private.ts:2"]}"#),
        call("check", r####"{"reply":"### File: ../secret.txt\n\n```\nx\n```\n"}"####),
        call("context", r#"{"at":["src/main.ts:1"]}"#),
        call("context", r#"{"log":"../secret.txt:1:1 - error TS2304\nsrc/main.ts:1:1 - error TS2304"}"#),
    ];
    lines.iter().enumerate().map(|(id, line)| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{line}}}\n")).collect()
}

const REPLY: &str = "## Input Data Changes\n\n- `src/main.ts` — present: yes\n- dependency.state.json: no change\n\n\
    ### Patch: src/cart.ts\n\n~~~diff\ndiff --git a/src/cart.ts b/src/cart.ts\n--- a/src/cart.ts\n+++ b/src/cart.ts\n\
    @@ -1,2 +1,2 @@\n /** Sums. @module */\n-export const total = 1;\n+export const total = 2;\n~~~\n";

/// A reply that can be applied twice.
const WHOLE: &str = "### File: src/cart.ts\n\n```ts\n/** Sums. @module */\nexport const total = 3;\n```\n\n### File: src/made/new.ts\n\n\
    ```ts\nexport {};\n```\n";

pub(super) const MODULE: &str = r#"{"schema_version":"x07.x07ast@0.9.0","kind":"module","module_id":"m","imports":[],"decls":[
{"kind":"defn","name":"m.f","params":[],"result":"i32","body":["begin",["m.g"],1]},
{"kind":"defn","name":"m.g","params":[],"result":"i32","body":2}]}
"#;

const PROJECT: &str = r#"{"schema_version":"x07.project@0.5.0","world":"solve-pure","entry":"module.x07.json","module_roots":["."]}
"#;

const DIAGNOSTICS: &str = r#"{"schema_version":"x07.x07diag@0.1.0","ok":false,"diagnostics":[{"code":"X07-TYPE-0001","severity":"error","stage":"type","message":"no","loc":{"kind":"x07ast","ptr":"/decls/0/body"}}]}
"#;
