//! `stan init`: the files that a repository needs so that an assistant can work with it. First a plan, which only reads; then
//! [`apply`], which executes it. Running it again changes nothing that a user wrote.
//!
//! `config` finds the root and the workspace folder; the programs print.

mod agents;
mod apply;
mod clients;
mod difference;
mod error;
mod ignore_file;
mod path_state;
mod shipped;
#[cfg(test)]
mod tests;
mod text;

use serde::Serialize;
use stan_repo::{System, advice};

use self::agents::{Addition, BrokenMarkers, Removal};
use self::apply::write_planned;
use self::clients::Edit;
pub use self::clients::McpClient;
pub use self::difference::Difference;
use self::difference::difference;
pub use self::error::{InitConflict, InitError};
use self::path_state::PathState;
pub use self::shipped::system_document;
use crate::config::{Config, FILE_NAMES};
use crate::engine::Engine;
use crate::error::EngineError;

const AGENTS_FILE: &str = "AGENTS.md";
const IGNORE_FILE: &str = ".gitignore";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InitOptions {
    /// Replace a system document that differs from the shipped one.
    pub force: bool,
    /// What to do about the block in AGENTS.md; if it is removed, nothing else is done.
    pub agents: Option<AgentsBlock>,
    /// Clients that get `stan mcp` as a server.
    pub mcp: Vec<McpClient>,
    /// Clients to remove it from; if there are any, nothing else is done.
    pub remove_mcp: Vec<McpClient>,
    /// The root-relative path of the configuration in use, if it does not have one of the usual names.
    pub config_file: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentsBlock {
    Add,
    Remove,
}

/// The actions of a run, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitPlan {
    pub actions: Vec<Action>,
    /// Root-relative path of the workspace folder.
    pub stan_path: String,
    root: String,
    /// Folders to create, parents first.
    folders: Vec<String>,
    writes: Vec<Write>,
}

/// A file and the action on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Action {
    /// Root-relative.
    pub path: String,
    #[serde(flatten)]
    pub kind: ActionKind,
    /// The reason, where it is not obvious.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "action", rename_all = "camelCase")]
pub enum ActionKind {
    Create,
    /// The file stays as it is.
    Keep,
    /// The file does not exist and is not wanted.
    Absent,
    /// The file stays as it is, although the shipped text differs; the diff is from the file to the shipped text.
    Differs(Difference),
    /// Replaced by the shipped text.
    Replace(Difference),
    Append {
        lines: Vec<String>,
    },
    /// The block between the markers is updated.
    Update(Difference),
    /// The block between the markers is removed; the rest stays.
    RemoveBlock,
    /// The file is removed, because it contained only the block.
    Remove,
}

/// `stan init --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InitReport<'a> {
    pub stan_path: &'a str,
    /// Nothing was written; the actions are planned.
    pub dry_run: bool,
    /// Whether anything was, or would be, written.
    pub changed: bool,
    pub actions: &'a [Action],
}

/// A file before and after; `None` if it does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Write {
    path: String,
    before: Option<Vec<u8>>,
    after: Option<Vec<u8>>,
}

impl InitPlan {
    /// Whether anything would be written.
    pub fn changes_anything(&self) -> bool {
        !self.writes.is_empty()
    }

    pub fn report(&self, dry_run: bool) -> InitReport<'_> {
        InitReport { stan_path: &self.stan_path, dry_run, changed: self.changes_anything(), actions: &self.actions }
    }
}

/// Inspects the repository at `root` (absolute, real) and returns the actions. Writes nothing.
pub fn plan(engine: &Engine<'_>, root: &str, stan_path: &str, options: &InitOptions) -> Result<InitPlan, EngineError> {
    Ok(planned(engine.system(), root, stan_path, options)?)
}

/// Executes a plan, or rolls everything back.
pub fn apply(engine: &Engine<'_>, plan: &InitPlan) -> Result<(), EngineError> {
    Ok(write_planned(engine.system(), plan)?)
}

fn planned(system: &dyn System, root: &str, stan_path: &str, options: &InitOptions) -> Result<InitPlan, InitError> {
    let mut config = Config::default();
    config.set_stan_path(stan_path)?;
    let mut planner = Planner {
        system,
        force: options.force,
        plan: InitPlan {
            actions: Vec::new(),
            stan_path: config.stan_path,
            root: root.to_owned(),
            folders: Vec::new(),
            writes: Vec::new(),
        },
        refusals: Vec::new(),
    };
    if options.agents == Some(AgentsBlock::Remove) || !options.remove_mcp.is_empty() {
        if options.agents == Some(AgentsBlock::Remove) {
            planner.remove_block();
        }
        options.remove_mcp.iter().for_each(|client| planner.remove_client(*client));
    } else {
        planner.config(options.config_file.as_deref());
        planner.documents();
        planner.ignore_file();
        if options.agents == Some(AgentsBlock::Add) {
            planner.add_block();
        }
        options.mcp.iter().for_each(|client| planner.add_client(*client));
    }
    if planner.refusals.is_empty() { Ok(planner.plan) } else { Err(InitError::Refused(planner.refusals)) }
}

struct Planner<'a> {
    system: &'a dyn System,
    force: bool,
    plan: InitPlan,
    /// All conflicts are reported at once.
    refusals: Vec<InitConflict>,
}

impl Planner<'_> {
    fn config(&mut self, named: Option<&str>) {
        let known = named.into_iter().chain(FILE_NAMES);
        for name in known {
            match self.inspect(name) {
                PathState::File(_) | PathState::Link | PathState::TooLarge => {
                    return self.add_action(name, ActionKind::Keep);
                }
                // It may exist, and a second configuration beside it would make both unusable.
                place @ PathState::Unreadable(_) => return self.refuse(name, &place),
                PathState::Nothing | PathState::Folder | PathState::Other => {}
            }
        }
        let text = shipped::config(&self.plan.stan_path);
        self.create_or_keep(FILE_NAMES[0], &text);
    }

    fn documents(&mut self) {
        let folder = format!("{}/system", self.plan.stan_path);
        match path_state::missing_folders(self.system, &self.plan.root, &folder) {
            Ok(missing) => self.plan.folders.extend(missing),
            Err(refusal) => {
                self.refusals.push(refusal);
                return;
            }
        }
        self.system_document(&format!("{folder}/stan.system.md"));
        for name in ["stan.scratch.md", "stan.todo.md"] {
            self.create_or_keep(&format!("{folder}/{name}"), "");
        }
    }

    fn system_document(&mut self, path: &str) {
        let text = shipped::system_document(&self.plan.stan_path);
        let bytes = match self.inspect(path) {
            PathState::File(bytes) => bytes,
            PathState::Link if !self.force => {
                let note = "it is a link, so it was not compared with the shipped text";
                return self.add_action_with_note(path, ActionKind::Keep, note);
            }
            PathState::Nothing => return self.write(path, None, Some(text.into_bytes()), ActionKind::Create),
            other => return self.refuse(path, &other),
        };
        let plain = text::plain(&bytes);
        if *plain == *text.as_bytes() {
            return self.add_action(path, ActionKind::Keep);
        }
        let difference = difference(&plain, text.as_bytes());
        if self.force {
            self.write(path, Some(bytes), Some(text.into_bytes()), ActionKind::Replace(difference));
        } else {
            self.add_action(path, ActionKind::Differs(difference));
        }
    }

    /// A file that belongs to the user once it exists.
    fn create_or_keep(&mut self, path: &str, text: &str) {
        match self.inspect(path) {
            PathState::Nothing => self.write(path, None, Some(text.as_bytes().to_vec()), ActionKind::Create),
            PathState::File(_) | PathState::TooLarge => self.add_action(path, ActionKind::Keep),
            PathState::Link => self.add_action_with_note(path, ActionKind::Keep, "it is a link"),
            other => self.refuse(path, &other),
        }
    }

    fn ignore_file(&mut self) {
        let before = match self.inspect(IGNORE_FILE) {
            PathState::Nothing => None,
            PathState::File(bytes) if text::is_no_text(&bytes) => return self.refuse_binary(IGNORE_FILE),
            PathState::File(bytes) => Some(bytes),
            other => return self.refuse(IGNORE_FILE, &other),
        };
        let known = before.as_deref().unwrap_or_default();
        let lines = ignore_file::missing_lines(known, &self.plan.stan_path);
        if lines.is_empty() {
            return self.add_action(IGNORE_FILE, ActionKind::Keep);
        }
        let after = ignore_file::append(known, &lines);
        let kind = if before.is_none() { ActionKind::Create } else { ActionKind::Append { lines } };
        self.write(IGNORE_FILE, before, Some(after), kind);
    }

    fn add_block(&mut self) {
        let Some(before) = self.agents_file() else { return };
        let block = shipped::agents_block(&self.plan.stan_path);
        match agents::add(before.as_deref(), &block) {
            Err(broken) => self.refuse_markers(&broken),
            Ok(Addition::Unchanged) => self.add_action(AGENTS_FILE, ActionKind::Keep),
            Ok(Addition::Added(after)) => {
                let lines = block.lines().map(str::to_owned).collect();
                let kind = if before.is_none() { ActionKind::Create } else { ActionKind::Append { lines } };
                self.write(AGENTS_FILE, before, Some(after), kind);
            }
            Ok(Addition::Updated(after)) => {
                let old = text::plain(before.as_deref().unwrap_or_default());
                let kind = ActionKind::Update(difference(&old, &text::plain(&after)));
                self.write(AGENTS_FILE, before, Some(after), kind);
            }
        }
    }

    fn remove_block(&mut self) {
        let Some(before) = self.agents_file() else { return };
        let Some(before) = before else {
            return self.add_action_with_note(AGENTS_FILE, ActionKind::Absent, "there is nothing to remove");
        };
        match agents::remove(&before) {
            Err(broken) => self.refuse_markers(&broken),
            Ok(Removal::NoBlock) => {
                self.add_action_with_note(AGENTS_FILE, ActionKind::Keep, "there is no block of stan in it")
            }
            Ok(Removal::Rest(rest)) => self.write(AGENTS_FILE, Some(before), Some(rest), ActionKind::RemoveBlock),
            Ok(Removal::NothingLeft) => self.write(AGENTS_FILE, Some(before), None, ActionKind::Remove),
        }
    }

    fn add_client(&mut self, client: McpClient) {
        let path = client.file();
        let before = match self.inspect(path) {
            PathState::Nothing => None,
            PathState::File(bytes) => Some(bytes),
            other => return self.refuse(path, &other),
        };
        if let Some((folder, _)) = path.rsplit_once('/') {
            match path_state::missing_folders(self.system, &self.plan.root, folder) {
                Ok(missing) => self.plan.folders.extend(missing),
                Err(conflict) => return self.refusals.push(conflict),
            }
        }
        match client.add(before.as_deref()) {
            Err(message) => self.refusals.push(InitConflict { path: path.to_owned(), line: None, message }),
            Ok(Edit::Bytes(after)) => {
                let kind = match &before {
                    None => ActionKind::Create,
                    Some(old) => ActionKind::Update(difference(&text::plain(old), &text::plain(&after))),
                };
                self.write(path, before, Some(after), kind);
            }
            Ok(Edit::Unchanged | Edit::Remove) => self.add_action(path, ActionKind::Keep),
        }
    }

    fn remove_client(&mut self, client: McpClient) {
        let path = client.file();
        let before = match self.inspect(path) {
            PathState::Nothing => {
                return self.add_action_with_note(path, ActionKind::Absent, "there is nothing to remove");
            }
            PathState::File(bytes) => bytes,
            other => return self.refuse(path, &other),
        };
        match client.remove(&before) {
            Edit::Unchanged => self.add_action_with_note(path, ActionKind::Keep, "there is no server of stan in it"),
            Edit::Bytes(rest) => self.write(path, Some(before), Some(rest), ActionKind::RemoveBlock),
            Edit::Remove => self.write(path, Some(before), None, ActionKind::Remove),
        }
    }

    /// The bytes of AGENTS.md; `Some(None)` if it does not exist, `None` if there is a conflict.
    fn agents_file(&mut self) -> Option<Option<Vec<u8>>> {
        match self.inspect(AGENTS_FILE) {
            PathState::Nothing => return Some(None),
            PathState::File(bytes) if text::is_no_text(&bytes) => self.refuse_binary(AGENTS_FILE),
            PathState::File(bytes) => return Some(Some(bytes)),
            other => self.refuse(AGENTS_FILE, &other),
        }
        None
    }

    fn inspect(&self, path: &str) -> PathState {
        path_state::inspect(self.system, &self.plan.root, path)
    }

    fn add_action(&mut self, path: &str, kind: ActionKind) {
        self.plan.actions.push(Action { path: path.to_owned(), kind, note: None });
    }

    fn add_action_with_note(&mut self, path: &str, kind: ActionKind, note: &str) {
        self.plan.actions.push(Action { path: path.to_owned(), kind, note: Some(note.to_owned()) });
    }

    fn write(&mut self, path: &str, before: Option<Vec<u8>>, after: Option<Vec<u8>>, kind: ActionKind) {
        self.plan.writes.push(Write { path: path.to_owned(), before, after });
        self.add_action(path, kind);
    }

    fn refuse(&mut self, path: &str, place: &PathState) {
        let message = match place {
            PathState::Link => "this is a link, and stan writes through none; put a file in its place".to_owned(),
            PathState::Folder => "this is a folder where a file is needed; move it away".to_owned(),
            PathState::TooLarge => "this is larger than 8 MiB, which no such file is; make it smaller".to_owned(),
            PathState::Unreadable(error) => format!("this cannot be read: {}", advice(error)),
            PathState::Nothing | PathState::File(_) | PathState::Other => {
                "not a regular file; replace it with one".to_owned()
            }
        };
        self.refusals.push(InitConflict { path: path.to_owned(), line: None, message });
    }

    fn refuse_binary(&mut self, path: &str) {
        let message = "this is UTF-16 or binary, so no lines can be added; save it as UTF-8".to_owned();
        self.refusals.push(InitConflict { path: path.to_owned(), line: None, message });
    }

    fn refuse_markers(&mut self, broken: &BrokenMarkers) {
        let message = format!(
            "{}; leave one `<!-- stan:begin -->` and after it one `<!-- stan:end -->`, each on a line of its own, or neither",
            broken.reason
        );
        self.refusals.push(InitConflict { path: AGENTS_FILE.to_owned(), line: Some(broken.line), message });
    }
}
