//! Which zone of the workspace a path is in, and what the assistant may write.
//!
//! Purely lexical: nothing is stat'ed. Zones are compared case-insensitively, because some file systems are, and with `\` as a
//! separator, because some programs accept it.

use stan_model::Ecosystem;
use stan_model::{bare_name, is_git_folder};

/// How a reply uses a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Created, changed or removed.
    Write,
    /// Removed or moved with everything below it.
    WriteTree,
    /// Copied from.
    Read,
}

/// Why a path may not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PathFault {
    /// It does not name a file of the repository.
    Outside(&'static str),
    /// It belongs to stan or git, not to the user.
    Reserved(String),
}

/// The folders and files of a workspace.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    stan: String,
    pub(crate) state: String,
    pub(crate) map: String,
    pub(crate) overview: String,
    pub(crate) scratch: String,
    pub(crate) todo: String,
}

impl Layout {
    pub(crate) fn new(stan_path: &str) -> Self {
        let stan = normalise(stan_path);
        let below = |path: &str| format!("{stan}/{path}");
        Self {
            state: below("context/dependency.state.json"),
            map: below("context/dependency.meta.json"),
            overview: below("context/dependency.overview.md"),
            scratch: below("system/stan.scratch.md"),
            todo: below("system/stan.todo.md"),
            stan,
        }
    }

    /// Below `<stanPath>/system/`.
    pub(crate) fn is_system(&self, path: &str) -> bool {
        self.zone(path).is_some_and(|rest| is_below(&rest, "system"))
    }

    /// `<stanPath>/imports` or below it.
    pub(crate) fn is_import(&self, path: &str) -> bool {
        self.zone(path).is_some_and(|rest| is_at_or_below(&rest, "imports"))
    }

    /// A folder that contains the imports, so that removing it removes them.
    pub(crate) fn holds_imports(&self, path: &str) -> bool {
        self.is_inside(&slashes(path)) || self.is_import(path)
    }

    /// A staged external: below the folder of an ecosystem in `<stanPath>/context/`.
    pub(crate) fn is_staged(&self, path: &str) -> bool {
        self.zone(path)
            .is_some_and(|rest| Ecosystem::ALL.iter().any(|ecosystem| is_below(&rest, ecosystem.context_folder())))
    }

    /// Why a path may not be accessed this way. Rules:
    ///
    /// | path | fault |
    /// |---|---|
    /// | empty, NUL, `/x`, `\x`, `C:/x`, `C:x`, `~`, `~/x` | outside |
    /// | any `..` segment, with either separator | outside |
    /// | a segment that some file system treats as `.git` | reserved |
    /// | `<stanPath>/{diff,patch,output,cache}` and below, `<stanPath>/.lock` | reserved |
    /// | `<stanPath>/context` and below, except the state | reserved; the map and staged files may be copied from |
    /// | a folder that contains one of these, removed or moved | reserved |
    pub(crate) fn fault(&self, path: &str, access: Access) -> Option<PathFault> {
        if let Some(fault) = outside(path) {
            return Some(PathFault::Outside(fault));
        }
        let normal = slashes(path);
        if normal.split('/').any(is_git_folder) {
            return Some(PathFault::Reserved("belongs to git".to_owned()));
        }
        if access == Access::WriteTree && self.is_inside(&bare_path(path)) {
            return Some(PathFault::Reserved("holds the tool's own files".to_owned()));
        }
        let zone = self.zone(path)?;
        let tool = |what: &str| Some(PathFault::Reserved(format!("{what}, which only the tool writes")));
        for folder in ["output", "diff", "patch", "cache"] {
            if is_at_or_below(&zone, folder) {
                return tool(&format!("is in `{}/{folder}/`", self.stan));
            }
        }
        if zone.eq_ignore_ascii_case(".lock") {
            return tool("is the tool's lock");
        }
        if !is_at_or_below(&zone, "context") || slashes(path) == self.state {
            return None;
        }
        if access == Access::Read && (self.is_staged(path) || [&self.map, &self.overview].contains(&&slashes(path))) {
            return None;
        }
        Some(PathFault::Reserved(format!("is in `{}/context/`, where the assistant writes only the state", self.stan)))
    }

    /// Whether a folder is or contains `<stanPath>`; the empty path is the repository.
    fn is_inside(&self, folder: &str) -> bool {
        folder.is_empty() || is_at_or_below(&self.stan, folder)
    }

    /// The part after `<stanPath>/`; empty for the folder itself. Accepts spellings that some file system treats as equal.
    fn zone(&self, path: &str) -> Option<String> {
        let path = bare_path(path);
        let rest = path.get(self.stan.len()..)?;
        let is_inside = path.get(..self.stan.len())?.eq_ignore_ascii_case(&self.stan);
        if !is_inside {
            return None;
        }
        rest.strip_prefix('/').or_else(|| rest.is_empty().then_some("")).map(str::to_owned)
    }
}

/// Normalises a path inside the repository: removes `.` segments, doubled and trailing slashes.
pub(crate) fn normalise(path: &str) -> String {
    let is_plain = !path.is_empty() && path.split('/').all(|segment| !segment.is_empty() && segment != ".");
    if is_plain || path.starts_with('/') {
        return path.to_owned();
    }
    path.split('/').filter(|segment| !segment.is_empty() && *segment != ".").collect::<Vec<_>>().join("/")
}

/// Why a path does not name a file of the repository; `None` if it does.
pub(crate) fn outside(path: &str) -> Option<&'static str> {
    let bytes = path.as_bytes();
    if path.is_empty() {
        return Some("is empty");
    }
    if bytes.contains(&0) {
        return Some("holds a NUL character");
    }
    let has_drive = bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.get(1) == Some(&b':');
    if path.starts_with(['/', '\\']) || has_drive {
        return Some("is absolute");
    }
    if path == "~" || path.starts_with("~/") || path.starts_with("~\\") {
        return Some("points to a home directory");
    }
    path.split(['/', '\\']).any(|segment| segment == "..").then_some("has a `..` segment")
}

/// Whether a file runs code when its folder is opened, entered, installed or committed to.
///
/// | file, at any depth | runs it |
/// |---|---|
/// | `.vscode/tasks.json`, `.vscode/launch.json`, `.devcontainer/**` | the editor |
/// | `.mcp.json`, `.vscode/mcp.json`, `.cursor/mcp.json`, `.claude/settings*.json`, `.gemini/settings.json`, `.codex/config.toml` | the assistant: they start servers and hooks |
/// | `.cargo/config`, `.cargo/config.toml` | cargo, also when an editor opens the folder |
/// | `.envrc` | direnv, in the shell |
/// | `.npmrc`, `.yarnrc`, `.yarnrc.yml`, `.pnpmfile.cjs` | the package manager |
/// | `.husky/**`, `.githooks/**` | git |
/// | `node_modules/**` | code that imports the package |
pub(crate) fn runs_code(path: &str) -> bool {
    let lower = slashes(path).to_ascii_lowercase();
    let segments: Vec<&str> = lower.split('/').collect();
    let Some((name, folders)) = segments.split_last() else { return false };
    let is_in = |folder: &str| folders.contains(&folder);
    let is_tool = match folders.last().copied().unwrap_or_default() {
        ".vscode" => matches!(*name, "tasks.json" | "launch.json" | "mcp.json"),
        ".cursor" => *name == "mcp.json",
        ".claude" => name.starts_with("settings") && name.ends_with(".json"),
        ".gemini" => *name == "settings.json",
        ".codex" => *name == "config.toml",
        ".cargo" => matches!(*name, "config" | "config.toml"),
        _ => false,
    };
    is_tool
        || matches!(*name, ".mcp.json" | ".envrc" | ".npmrc" | ".yarnrc" | ".yarnrc.yml" | ".pnpmfile.cjs")
        || [".husky", ".githooks", ".devcontainer", "node_modules"].iter().any(|folder| is_in(folder))
}

fn slashes(path: &str) -> String {
    normalise(&path.replace('\\', "/"))
}

/// Resolves `..` segments, so that they cannot hide a reserved path.
fn resolve(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split(['/', '\\']) {
        match segment {
            "" | "." => {}
            ".." => _ = segments.pop(),
            segment => segments.push(segment),
        }
    }
    segments.join("/")
}

/// Every name of a path as the most lenient file systems compare it.
fn bare_path(path: &str) -> String {
    resolve(path).split('/').map(bare_name).collect::<Vec<_>>().join("/")
}

fn is_below(path: &str, folder: &str) -> bool {
    path.len() > folder.len() && is_at_or_below(path, folder)
}

fn is_at_or_below(path: &str, folder: &str) -> bool {
    path.get(..folder.len()).is_some_and(|start| start.eq_ignore_ascii_case(folder))
        && matches!(path.as_bytes().get(folder.len()), None | Some(b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(access: Access, path: &str, is_faulty: bool) {
        let fault = Layout::new(".stan").fault(path, access);
        assert_eq!(fault.is_some(), is_faulty, "{path}: {fault:?}");
    }

    #[test]
    fn writable_paths_are_distinguished_from_reserved_ones() {
        let free = [
            "src/a.ts",
            "./src/a.ts",
            "a..b/c",
            "..a",
            "src/...",
            ".gitignore",
            ".github/x.yml",
            "git/x",
            ".stan/system/x.md",
            ".stan/context/dependency.state.json",
            ".stan/contexts/x",
            ".stan/output.md",
            ".stan/imports/x",
            ".stanley/output/x",
            "output/x",
            "context/npm/x",
            "src/.stan/output/x",
            "a:b/c",
            "c/d:e",
            "a~/b",
            "~a",
        ];
        // Excluded, because it is a drive path: one letter and a colon, and then anything.
        for path in free.into_iter().filter(|path| *path != "a:b/c") {
            check(Access::Write, path, false);
        }
        for path in [
            "",
            "/etc/passwd",
            "\\x",
            "C:/x",
            "C:\\x",
            "c:x",
            "a:b/c",
            "../x",
            "a/../../x",
            "a/../b",
            "..",
            "a\\..\\b",
            "~/x",
            "x\0y",
            ".git/config",
            ".git",
            "sub/.git/hooks/x",
            ".GIT/config",
            "git~1/config",
            ".git./config",
            ".git /config",
            ".g\u{200c}it/config",
            ".git::$INDEX_ALLOCATION/config",
            "sub/.git\u{feff}/hooks/x",
            ".stan/output/archive.tar",
            ".stan/output",
            ".stan/Output/x",
            ".stan/diff/x",
            ".stan/patch/x",
            ".stan/context/dependency.meta.json",
            ".stan/context/dependency.map.json",
            ".stan/context/npm/zod/4.0.0/index.d.ts",
            ".stan/context/abs/x/y",
            ".stan/context/notes.md",
            ".stan\\output\\x",
            "./.stan/output/x",
            ".stan//output/x",
            ".stan/system/../output/x",
            ".stan/.lock",
        ] {
            check(Access::Write, path, true);
        }
    }

    #[test]
    fn folders_and_sources_are_checked_by_access() {
        check(Access::WriteTree, ".stan", true);
        check(Access::WriteTree, ".", true);
        check(Access::WriteTree, "src", false);
        check(Access::WriteTree, ".stan/system", false);
        check(Access::Read, ".stan/context/npm/zod/4.0.0/index.d.ts", false);
        check(Access::Read, ".stan/context/dependency.meta.json", false);
        check(Access::Read, ".stan/context/dependency.map.json", true);
        check(Access::Read, ".stan/imports/x", false);
        check(Access::Read, "/etc/passwd", true);
        check(Access::Read, ".git/config", true);
    }

    #[test]
    fn folders_of_the_workspace_are_distinguished() {
        let layout = Layout::new("./tools/stan/");
        assert_eq!(layout.state, "tools/stan/context/dependency.state.json");
        assert!(layout.is_system("tools/stan/system/x.md"));
        assert!(!layout.is_system("tools/stan/system"));
        assert!(!layout.is_system("tools/stan/systems/x.md"));
        assert!(layout.is_import("tools/stan/imports/a"));
        assert!(layout.is_import("tools/stan/x/../imports/a"));
        assert!(!layout.is_import("tools/stan/imports.md"));
        assert!(layout.holds_imports("tools"));
        assert!(!layout.holds_imports("tool"));
        assert_eq!(normalise("./a//b/./c/"), "a/b/c");
    }
}
