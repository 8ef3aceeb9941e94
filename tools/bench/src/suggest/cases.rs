//! The cases, and the program's answers to them.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;
use serde_json::Value;

use crate::Result;

/// A repository at the parent of a commit, and the changes of the commit.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Case {
    pub(super) id: String,
    pub(super) repo: String,
    pub(super) lang: String,
    pub(super) focus: String,
    /// The other sources that the commit changed.
    pub(super) truth: Vec<String>,
    /// Its message without file names.
    pub(super) text: String,
    /// Relative to the folder of the cases.
    pub(super) directory: String,
}

/// The parts of the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum QueryMode {
    Focus,
    /// The same, in a copy without git.
    NoGit,
    Both,
    Text,
    /// The text of an issue instead of the commit's message.
    Issue,
}

impl QueryMode {
    pub(super) const ALL: [Self; 3] = [Self::Focus, Self::Both, Self::Text];

    pub(super) fn has_focus(self) -> bool {
        matches!(self, Self::Focus | Self::NoGit | Self::Both)
    }

    pub(super) fn has_text(self) -> bool {
        !matches!(self, Self::Focus | Self::NoGit)
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Focus => "one changed file",
            Self::NoGit => "one changed file, no git",
            Self::Both => "one changed file and the message",
            Self::Text => "the message alone",
            Self::Issue => "an issue's text alone",
        }
    }
}

/// The cases of a folder.
pub(super) fn read(folder: &Path) -> Result<Vec<Case>> {
    let file = folder.join("cases.json");
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(serde_json::from_str(&text)?)
}

/// Texts by the id of their case.
pub(super) fn issues(text: &str) -> Result<BTreeMap<String, String>> {
    Ok(serde_json::from_str(text)?)
}

/// The program in one repository.
pub(super) struct Program<'p> {
    pub(super) stan: &'p Path,
    pub(super) folder: &'p Path,
    /// The cache folder: the first query to a repository is cold, the others are warm.
    pub(super) cache: &'p Path,
}

impl Program<'_> {
    /// The proposed files, one list per budget.
    pub(super) fn proposals(&self, case: &Case, mode: QueryMode, budgets: &[u64]) -> Result<Vec<Vec<String>>> {
        let own = if mode.has_focus() { self.tokens_of(&case.focus) } else { 0 };
        budgets.iter().map(|budget| self.proposal(case, mode, budget + own)).collect()
    }

    /// An estimate: a quarter of the file size.
    pub(super) fn tokens_of(&self, path: &str) -> u64 {
        std::fs::metadata(self.folder.join(path)).map_or(0, |meta| meta.len().div_ceil(4))
    }

    fn proposal(&self, case: &Case, mode: QueryMode, budget: u64) -> Result<Vec<String>> {
        let mut arguments: Vec<String> = ["suggest", "--json", "--tokens", "bytes4"].map(str::to_owned).to_vec();
        arguments.extend(["--cache-dir".to_owned(), self.cache.to_string_lossy().into_owned()]);
        arguments.extend(["--budget".to_owned(), budget.to_string()]);
        if mode.has_focus() {
            arguments.extend(["--focus".to_owned(), case.focus.clone()]);
        }
        if mode.has_text() {
            arguments.extend(["--about".to_owned(), "@-".to_owned()]);
        }
        let report = self.json(&arguments, &case.text)?;
        let nodes = report["nodes"].as_array().ok_or("the report has no nodes")?;
        Ok(nodes.iter().filter_map(|node| node["nodeId"].as_str()).map(str::to_owned).collect())
    }

    /// Runs the program with a text on its standard input.
    pub(super) fn json(&self, arguments: &[String], input: &str) -> Result<Value> {
        let mut child = Command::new(self.stan)
            .arg("-C")
            .arg(self.folder)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // Ignore errors: a program that needs no input may have exited already.
            let _ = stdin.write_all(input.as_bytes());
        }
        let output = child.wait_with_output()?;
        if !output.status.success() {
            let lines: Vec<String> =
                String::from_utf8_lossy(&output.stderr).lines().take(4).map(str::to_owned).collect();
            return Err(format!("stan {} failed: {}", arguments.join(" "), lines.join(" ")).into());
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// The files that git tracks and everything around them, except `.git`.
    pub(super) fn copy_without_git(&self, target: &Path) -> Result<()> {
        for path in self.git(&["ls-files", "-z"])?.split('\0').filter(|path| !path.is_empty()) {
            let place = target.join(path);
            if let Some(folder) = place.parent() {
                std::fs::create_dir_all(folder)?;
            }
            std::fs::copy(self.folder.join(path), place)?;
        }
        Ok(())
    }

    /// The output of git.
    pub(super) fn git(&self, arguments: &[&str]) -> Result<String> {
        let output = Command::new("git").arg("-C").arg(self.folder).args(arguments).stdin(Stdio::null()).output()?;
        if !output.status.success() {
            return Err(format!("git {} failed", arguments.join(" ")).into());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}
