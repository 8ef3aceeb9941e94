//! The verb `x07 agent context`: diagnostics and a project in, one pack for an agent out.
//!
//! The pack never holds an absolute path unless the user gave one that leads elsewhere: the same project gives the
//! same bytes on every machine.

use stan_lang::x07::{X07, read_module, read_project};
use stan_model::document::x07::{Closure, Diagnostic, Digests, EmbeddedJson, Enclosure, SliceReport};
use stan_slice::{ContextPack, Diagnostics, ProjectFacts, SliceRequest};

use crate::documents::{DocumentStore, Outcome, digest};
use crate::slice::EXIT_INPUT;

/// What to pack, and where the pack goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextCommand {
    pub diag: String,
    /// The project's manifest: this file, never one of the same name further up.
    pub project: String,
    pub out: Option<String>,
    /// When not given: `decl` for a pointer into a declaration, `module` for any other.
    pub enclosure: Option<Enclosure>,
    pub closure: Closure,
    pub max_nodes: Option<u64>,
    pub max_bytes: Option<u64>,
    /// The directory that paths are shown relative to; absolute.
    pub working_directory: String,
    pub toolchain_version: &'static str,
}

/// Runs the verb. Every failure is a report in the form of the slice's.
pub fn context_pack(store: &mut dyn DocumentStore, command: &ContextCommand) -> Outcome {
    let mut run = Run { store, command, digests: Digests::default(), pointer: String::new() };
    match run.pack() {
        Ok(outcome) => outcome,
        Err(message) => run.failure(message),
    }
}

struct Run<'r> {
    store: &'r mut dyn DocumentStore,
    command: &'r ContextCommand,
    digests: Digests,
    /// Where the focus is, as far as it is known.
    pointer: String,
}

impl Run<'_> {
    fn pack(&mut self) -> Result<Outcome, String> {
        let command = self.command;
        if command.out.as_deref() == Some("-") {
            return Err("--out '-' is not supported".to_owned());
        }
        let diag_bytes = self.read("diag", &command.diag)?;
        let diagnostics = Diagnostics::read(&diag_bytes).map_err(|error| format!("{}: {error}", command.diag))?;
        self.pointer.clone_from(&diagnostics.focus.pointer);
        let project_bytes = self.read("project", &command.project)?;
        let manifest = read_project(&project_bytes).map_err(|error| format!("{}: {error}", command.project))?;
        let entry_path = self.entry_path(&manifest.entry);
        let entry_bytes = self.read("entry", &entry_path)?;
        let module = read_module(&entry_bytes).map_err(|error| format!("{entry_path}: {error}"))?;
        let request = self.request();
        let slice = stan_slice::slice(&module, &X07, &request)
            .map_err(|error| format!("slice entry at {:?}: {error}", self.pointer))?;
        let schema_version = module.fixed.iter().find(|(key, _)| *key == "schema_version");
        let pack = ContextPack {
            toolchain_version: command.toolchain_version,
            project: ProjectFacts { root: self.project_root(), world: manifest.world, entry: manifest.entry },
            diagnostics: &diagnostics,
            source_schema_version: schema_version.map_or("", |(_, text)| text),
            slice,
            inputs: self.digests.inputs.clone(),
        };
        let line = pack.into_line().map_err(|error| error.to_string())?;
        let Some(out) = &command.out else {
            return Ok(Outcome { stdout: line, inputs: self.digests.inputs.clone(), ..Outcome::default() });
        };
        self.store.write(out, &line).map_err(|error| format!("write: {out}: {error}"))?;
        Ok(Outcome { outputs: vec![digest(out, &line)], ..Outcome::default() })
    }

    fn read(&mut self, what: &str, path: &str) -> Result<Vec<u8>, String> {
        let bytes = self.store.read(path).map_err(|error| format!("read {what}: {path}: {error}"))?;
        let shown = shown_path(path, &self.command.working_directory);
        self.digests.inputs.push(digest(&shown, &bytes));
        Ok(bytes)
    }

    fn request(&self) -> SliceRequest {
        let command = self.command;
        // The focus may be anywhere, and a diagnostic is no request for a certain enclosure.
        let is_in_declaration = self.pointer.starts_with("/decls/");
        let default = if is_in_declaration { Enclosure::Decl } else { Enclosure::Module };
        SliceRequest {
            pointer: self.pointer.clone(),
            enclosure: command.enclosure.unwrap_or(default),
            closure: command.closure,
            max_nodes: command.max_nodes,
            max_bytes: command.max_bytes,
        }
    }

    /// The project's directory as shown in the pack.
    fn project_root(&self) -> String {
        let shown = shown_path(&self.command.project, &self.command.working_directory);
        match shown.rsplit_once('/') {
            Some(("", _)) => "/".to_owned(),
            Some((directory, _)) => directory.to_owned(),
            None => ".".to_owned(),
        }
    }

    fn entry_path(&self, entry: &str) -> String {
        match self.command.project.rsplit_once('/') {
            Some((directory, _)) => format!("{directory}/{entry}"),
            None => entry.to_owned(),
        }
    }

    fn failure(&self, message: String) -> Outcome {
        let report = SliceReport {
            ok: false,
            input: self.command.diag.clone(),
            out: self.command.out.clone(),
            project: Some(self.command.project.clone()),
            slice_meta: self.request().stub_meta(),
            diagnostics: vec![Diagnostic::failure(message.clone())],
            digests: self.digests.clone(),
            slice_ast: EmbeddedJson(None),
        };
        let stdout = report.into_line().unwrap_or_default();
        let stderr = format!("{message}\n");
        Outcome { exit_code: EXIT_INPUT, stdout, stderr, inputs: self.digests.inputs.clone(), outputs: Vec::new() }
    }
}

/// A path as given, or relative to the working directory when it is absolute and lies below it.
fn shown_path(path: &str, working_directory: &str) -> String {
    let below = path.strip_prefix(working_directory.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'));
    match below {
        Some(rest) if path.starts_with('/') && !rest.is_empty() => rest.to_owned(),
        _ => path.to_owned(),
    }
}
