//! Runs the examples of the documentation, so that they show what the program prints. In a `console` block, a line that starts
//! with `$ ` is a command for `sh`, and following lines that start with `> ` continue it. Everything else is output, and is
//! replaced by the current one; the working directory is shown as `/…`. Not run on a terminal: there are no colours and no
//! progress.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use expect_test::expect_file;

/// A shell that finds the programs of this build and remembers `cd`.
pub(crate) struct Session {
    folder: PathBuf,
    /// The first working directory, as in absolute paths; different in each session.
    machine: String,
    /// Outside of the folder that commands see.
    output: PathBuf,
    environment: Vec<(&'static str, OsString)>,
}

impl Session {
    /// `scratch` is for the session's own files; `folder` is the first working directory.
    pub(crate) fn new(scratch: &Path, folder: PathBuf) -> Self {
        let machine = folder.canonicalize().expect("it exists");
        let machine = machine.to_str().expect("temporary folders have plain names").to_owned();
        let programs = Path::new(env!("CARGO_BIN_EXE_stan")).parent().expect("it is in a folder");
        let mut path = programs.as_os_str().to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let environment = vec![("PATH", path), ("HOME", scratch.into()), ("LC_ALL", "C".into())];
        Self { folder, machine, output: scratch.join("output"), environment }
    }

    /// The page with the current output of each command.
    pub(crate) fn replay(&mut self, page: &str) -> String {
        let mut shown = String::new();
        let mut lines = page.lines().peekable();
        let mut is_console = false;
        while let Some(line) = lines.next() {
            let command = line.strip_prefix("$ ").filter(|_| is_console);
            if line == "```console" {
                is_console = true;
            } else if line == "```" {
                is_console = false;
            }
            if command.is_some() || !is_console || line == "```console" {
                shown.push_str(line);
                shown.push('\n');
            }
            let Some(command) = command else { continue };
            let mut script = command.to_owned();
            while let Some(more) = lines.next_if(|line| line.starts_with("> ") || *line == ">") {
                script.push('\n');
                script.push_str(more.get(2..).unwrap_or_default());
                shown.push_str(more);
                shown.push('\n');
            }
            shown.push_str(&self.run(&script));
            if !shown.ends_with('\n') {
                shown.push('\n');
            }
        }
        shown
    }

    /// Standard output and standard error interleaved, as on a terminal.
    fn run(&mut self, script: &str) -> String {
        if let Some(folder) = script.strip_prefix("cd ") {
            self.folder.push(folder);
            return String::new();
        }
        let output = File::create(&self.output).expect("the session has a folder of its own");
        Command::new("sh")
            .args(["-c", script])
            .current_dir(&self.folder)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stderr(output.try_clone().expect("it can be opened twice"))
            .stdout(output)
            .status()
            .expect("there is a shell");
        fs::read_to_string(&self.output).expect("examples print text").replace(&self.machine, "/…")
    }
}

#[test]
fn output_is_replaced_and_everything_else_stays() {
    let scratch = tempfile::tempdir().unwrap();
    fs::create_dir(scratch.path().join("work")).unwrap();
    let mut session = Session::new(scratch.path(), scratch.path().join("work"));
    let page = "# Page\n\n```console\n$ echo a\nold\n$ cat <<E\n> b\n> E\n$ mkdir d\n$ cd d\n$ ls -d ../d; false\n$ pwd\n```\n\n```sh\n$ echo c\n```\n";
    let expected = page.replace("old", "a").replace("> E\n", "> E\nb\n").replace("; false\n", "; false\n../d\n");
    let expected = expected.replace("$ pwd\n", "$ pwd\n/…/d\n");
    assert_eq!(session.replay(page), expected);
    assert_eq!(Session::new(scratch.path(), scratch.path().join("work")).replay("no blocks\n"), "no blocks\n");
}

/// `UPDATE_EXPECT=1 cargo test -p stan-cli --test stan recorded -- --ignored` records them again.
#[test]
#[ignore = "needs npm and its registry"]
fn recorded_pages_are_up_to_date() {
    for page in ["README.md", "docs/guide-first-thread.md"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
        let scratch = tempfile::tempdir().unwrap();
        fs::create_dir(scratch.path().join("work")).unwrap();
        let mut session = Session::new(scratch.path(), scratch.path().join("work"));
        // npm stores the address of its registry and its downloads in the user's folder.
        session.environment.extend(std::env::var_os("HOME").map(|home| ("HOME", home)));
        expect_file![&path].assert_eq(&session.replay(&fs::read_to_string(&path).unwrap()));
    }
}
