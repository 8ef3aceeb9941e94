//! The configuration of a repository: where it is found, its keys, and the defaults.
//!
//! Anything unknown is an error, never a guess. Only reads `stan.config.yml`, `.yaml` and `.json`, and nothing else of the
//! repository.

mod error;
mod nearest;
mod owner;
mod read;
mod stan_path;
#[cfg(test)]
mod tests;
mod tree;

pub use nearest::nearest;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use stan_lang::PackageStores;
pub use stan_model::document::config::MetaHashes;
use stan_repo::{
    AbsPath, AllowedFolder, EntryKind, System, SystemExt as _, advice, is_transient, normal_path, real_path,
    relative_path,
};

pub(crate) use self::error::visible;
pub use self::error::{ConfigError, Finding};
pub(crate) use self::stan_path::label_refusal;
pub use self::tree::Position;
use crate::graph::GraphOptions;

/// The names of a configuration file. Two of them in one folder are an error.
pub const FILE_NAMES: [&str; 3] = ["stan.config.yml", "stan.config.yaml", "stan.config.json"];

/// Larger files are not configurations.
const MAX_SIZE: u64 = 1 << 20;

/// The values of the block `stan-core`. All globs in it are valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Root-relative path of stan's own folder: plain names, separated by `/`.
    pub stan_path: String,
    /// Globs that add files, overriding ignore rules.
    pub includes: Vec<String>,
    /// Globs that remove files, overriding `includes`.
    pub excludes: Vec<String>,
    /// Label → globs of files that are staged below `<stanPath>/imports/<label>`.
    pub imports: BTreeMap<String, Vec<String>>,
    /// Folders outside the root that the command line allows. No file can set this: a repository must not grant itself access to
    /// more of the machine.
    pub allowed_outside: Vec<AllowedFolder>,
    /// Download folders of this user's package managers. From the environment, never from a file.
    pub stores: PackageStores,
    pub context: ContextConfig,
    /// Root-relative files that are archived even if they contain secrets. Only the command line can set this.
    pub allowed_secrets: BTreeSet<String>,
    /// Name → command of the block `stan-cli`. A script runs only if the command line names it.
    pub scripts: BTreeMap<String, String>,
}

/// The options of the repository's map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextConfig {
    pub meta_hashes: MetaHashes,
    /// The maximum tokens of the overview; 0 for no limit.
    pub overview_tokens: u64,
    /// Larger maps are not archived; 0 for no limit.
    pub meta_tokens: u64,
    /// The budget of the files directly in the root in context archives; 0 for no limit.
    pub root_tokens: u64,
    /// Descriptions are truncated to this many characters.
    pub description_limit: u32,
    /// Tags that mark a describing comment, with their `@`; on a tie, the earlier tag wins.
    pub description_tags: Vec<String>,
    /// How many levels of imports are followed among externals.
    pub external_depth: u32,
    /// Whether files outside the root may be dependencies without consent on the command line.
    pub outside_root: bool,
    /// The maximum number of errors in a result; 0 for no limit.
    pub max_errors: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            stan_path: ".stan".to_owned(),
            includes: Vec::new(),
            excludes: Vec::new(),
            imports: BTreeMap::new(),
            allowed_outside: Vec::new(),
            stores: PackageStores::NONE,
            context: ContextConfig::default(),
            allowed_secrets: BTreeSet::new(),
            scripts: BTreeMap::new(),
        }
    }
}

impl Default for ContextConfig {
    fn default() -> Self {
        Self {
            meta_hashes: MetaHashes::All,
            overview_tokens: 16_000,
            meta_tokens: 50_000,
            root_tokens: 20_000,
            description_limit: 160,
            description_tags: vec!["@module".to_owned(), "@packageDocumentation".to_owned()],
            external_depth: 0,
            outside_root: true,
            max_errors: 50,
        }
    }
}

impl Config {
    /// The options of the repository's graph, which determine its contents. `root` is absolute and real.
    pub fn graph_options(&self, root: impl Into<String>) -> GraphOptions {
        let mut options = GraphOptions::new(root);
        options.scan.stan_path.clone_from(&self.stan_path);
        options.scan.includes.clone_from(&self.includes);
        options.scan.excludes.clone_from(&self.excludes);
        options.extract.description_tags.clone_from(&self.context.description_tags);
        options.extract.description_limit = self.context.description_limit as usize;
        options.resolve.outside_root = self.context.outside_root;
        options.allowed_outside.clone_from(&self.allowed_outside);
        options.stores.clone_from(&self.stores);
        // Packages in lock files may be read without consent, unless the configuration forbids it and the command line does not
        // allow it.
        let is_allowed = |folder: &str| self.allowed_outside.iter().any(|one| Path::new(folder).starts_with(&one.real));
        options.stores.retain(|store| self.context.outside_root || is_allowed(&store.folder));
        options.external_depth = self.context.external_depth;
        options.max_errors = self.context.max_errors as usize;
        options
    }

    /// Allows a folder outside the root, given relative to `directory` (absolute, real).
    pub fn allow_outside(&mut self, system: &dyn System, directory: &str, typed: &str) -> Result<(), ConfigError> {
        let refused = |reason: &str| {
            ConfigError::new("", format!("`--allow-outside {typed}` cannot be used, because {reason}; name a folder"))
        };
        let spelled = normal_path(directory, typed);
        let real = real_path(system, &Path::new(directory).join(typed)).map_err(|_| refused("it does not exist"))?;
        match system.lstat(Path::new(&real)) {
            Ok(stat) if stat.kind == EntryKind::Dir => {}
            Ok(_) => return Err(refused("it is not a folder")),
            Err(_) => return Err(refused("it cannot be inspected")),
        }
        self.allowed_outside.push(AllowedFolder { spelled, real });
        self.allowed_outside.sort_unstable();
        self.allowed_outside.dedup();
        Ok(())
    }

    /// Replaces `stanPath`, by the same rules as in a file.
    pub fn set_stan_path(&mut self, given: &str) -> Result<(), ConfigError> {
        self.stan_path = stan_path::stan_path(given).map_err(|message| ConfigError::new("", message))?;
        Ok(())
    }
}

/// A configuration, and its repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundConfig {
    pub config: Config,
    /// Absolute real path of the repository.
    pub root: String,
    /// Absolute path of the file; `None` if there is none and the defaults apply.
    pub file: Option<String>,
    /// Hints for the user, as whole sentences without a full stop.
    pub hints: Vec<String>,
}

/// Finds and reads the configuration for `directory`, an absolute real path. `explicit` is the path of the file instead, relative
/// to `directory`.
pub fn find(system: &dyn System, directory: &str, explicit: Option<&str>) -> Result<FoundConfig, ConfigError> {
    let file = match explicit {
        Some(file) => Some(explicit_file(system, directory, file)?),
        None => owner::checked(system, nearest_file(system, directory)?, directory)?,
    };
    let Some((root, name)) = file else {
        let hints = below_worktree(system, directory).into_iter().collect();
        return Ok(FoundConfig { config: Config::default(), root: directory.to_owned(), file: None, hints });
    };
    let path = join(&root, &name);
    // The path as the user would write it in the directory where the program was started.
    let shown = relative_path(directory, &path);
    let shown = shown.as_str();
    if explicit.is_none() {
        refuse_link_out(system, &root, &path, shown)?;
    }
    let (config, has_block) = read_file(system, &path, shown)?;
    let mut hints = Vec::new();
    if explicit.is_none() && root != directory {
        hints.push(format!("the configuration {shown} is used, so the root is {}", relative_path(directory, &root)));
    }
    if !has_block {
        hints.push(format!("{shown} has no block `{}`, so the defaults hold", read::BLOCK));
    }
    Ok(FoundConfig { config, root, file: Some(path), hints })
}

/// Parses the text of a configuration file. `shown` is its path in messages; the format is JSON if that ends with `.json`.
pub fn parse(text: &str, shown: &str) -> Result<Config, ConfigError> {
    parse_text(text, shown).map(|(config, _)| config)
}

fn parse_text(text: &str, shown: &str) -> Result<(Config, bool), ConfigError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let is_json = Path::new(shown).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let tree = if is_json { tree::read_json(text) } else { tree::read_yaml(text) };
    let tree = tree.map_err(|(place, message)| ConfigError::at(shown, place, message))?;
    read::read(tree.as_ref()).map_err(|findings| ConfigError { file: shown.to_owned(), findings })
}

/// A configuration that was found, not named by the user, may be a symlink, but not to a file outside the repository: error
/// messages would show its contents.
fn refuse_link_out(system: &dyn System, root: &str, path: &str, shown: &str) -> Result<(), ConfigError> {
    let Ok(real) = real_path(system, Path::new(path)) else { return Ok(()) };
    if AbsPath::new(root).below(&real).is_some() {
        return Ok(());
    }
    let message = "the configuration cannot be read, because it is a link that leads out of the repository; put a file in \
                   its place, or name one with `--config`";
    Err(ConfigError::new(shown, message))
}

fn read_file(system: &dyn System, path: &str, shown: &str) -> Result<(Config, bool), ConfigError> {
    let mut bytes = Vec::new();
    system.read_at_most(Path::new(path), MAX_SIZE, &mut bytes).map_err(|error| {
        let reason = match error.kind() {
            io::ErrorKind::FileTooLarge => "it is larger than 1 MiB, which no configuration is".to_owned(),
            io::ErrorKind::NotFound => "it does not exist, or is a dangling link".to_owned(),
            io::ErrorKind::PermissionDenied => "its permissions forbid it".to_owned(),
            _ => advice(&error),
        };
        ConfigError::new(shown, format!("the configuration cannot be read, because {reason}"))
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let before = error.as_bytes().get(..valid).unwrap_or_default();
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let column = 1 + String::from_utf8_lossy(before.get(start..).unwrap_or_default()).chars().count();
        let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let place = Position { line: narrow(line), column: narrow(column) };
        ConfigError::at(shown, place, "this is not UTF-8; save the file as UTF-8")
    })?;
    parse_text(&text, shown)
}

/// The nearest folder with a configuration, from `directory` upwards, and the file's name.
fn nearest_file(system: &dyn System, directory: &str) -> Result<Option<(String, String)>, ConfigError> {
    for folder in ancestors(directory) {
        let mut names = Vec::new();
        for name in FILE_NAMES {
            if is_file(system, &join(folder, name), folder == directory)? {
                names.push(name);
            }
        }
        match names.as_slice() {
            [] => {}
            [name] => return Ok(Some((folder.to_owned(), (*name).to_owned()))),
            [first, others @ ..] => {
                let message = format!(
                    "there is more than one configuration in {}: {first} and {}; keep one of them, or name one \
                     with `--config`",
                    if folder == directory { "this folder".to_owned() } else { relative_path(directory, folder) },
                    others.join(" and ")
                );
                return Err(ConfigError::new("", message));
            }
        }
        // Folders above a repository do not belong to it, and another user may have written them.
        if system.lstat(Path::new(&join(folder, ".git"))).is_ok() {
            break;
        }
    }
    Ok(None)
}

fn explicit_file(system: &dyn System, directory: &str, file: &str) -> Result<(String, String), ConfigError> {
    let refused = |reason: &str| ConfigError::new(file, format!("the configuration cannot be read, because {reason}"));
    let path = Path::new(directory).join(file);
    let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(|| refused("it names no file"))?;
    let folder = path.parent().ok_or_else(|| refused("it names no file"))?;
    let root = real_path(system, folder).map_err(|_| refused("its folder does not exist"))?;
    match system.lstat(Path::new(&join(&root, name))).map(|stat| stat.kind) {
        Ok(EntryKind::File | EntryKind::Link) => Ok((root, name.to_owned())),
        Ok(_) => Err(refused("it is not a file")),
        Err(_) => Err(refused("it does not exist")),
    }
}

/// Also true for a symlink, whose target is resolved when it is read. A path whose lstat fails may exist, and ignoring it would
/// archive files that it excludes; only for folders above the root is a denied lstat tolerated, because it is common there.
fn is_file(system: &dyn System, path: &str, is_inside: bool) -> Result<bool, ConfigError> {
    match system.lstat(Path::new(path)) {
        Ok(stat) => Ok(matches!(stat.kind, EntryKind::File | EntryKind::Link)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(false),
        Err(error) if is_inside || is_transient(&error) => {
            let message = format!("cannot tell whether there is a configuration: {}", advice(&error));
            Err(ConfigError::new(path, message))
        }
        Err(_) => Ok(false),
    }
}

/// A hint when the directory is inside a git worktree, but not its top.
fn below_worktree(system: &dyn System, directory: &str) -> Option<String> {
    let is_top = |folder: &&str| {
        let git = join(folder, ".git");
        match system.lstat(Path::new(&git)).map(|stat| stat.kind) {
            Ok(EntryKind::Dir | EntryKind::Link) => system.lstat(Path::new(&join(&git, "HEAD"))).is_ok(),
            Ok(EntryKind::File) => true,
            _ => false,
        }
    };
    let top = ancestors(directory).find(is_top).filter(|top| *top != directory)?;
    Some(format!(
        "no {} was found, so {directory} is taken for the root, although the git worktree starts at {top}; put a \
         configuration there, or run from there, if the whole of it is meant",
        FILE_NAMES[0]
    ))
}

fn ancestors(directory: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(directory), |path| match path.rsplit_once('/') {
        Some((_, "")) | None => None,
        Some(("", _)) => Some("/"),
        Some((parent, _)) => Some(parent),
    })
}

fn join(folder: &str, name: &str) -> String {
    AbsPath::new(folder).join(name)
}
