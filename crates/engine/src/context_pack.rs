//! The verb `x07 agent context`: diagnostics and a project in, one pack for an agent out.
//!
//! Paths below the working directory are shown relative to it, so that the same project gives the same bytes on every machine. If
//! the request reaches above the working directory, paths are relative to the highest folder that it reaches and start with that
//! folder's name. Absolute paths appear only if the user gave them.

use std::io;

use stan_lang::x07::{X07, read_module, read_project};
use stan_model::document::x07::{Closure, Diagnostic, Digests, EmbeddedJson, Enclosure, FileDigest, SliceReport};
use stan_slice::{ContextPack, Diagnostics, PointerSpace, ProjectFacts, SliceRequest};

use crate::documents::{DocumentFailure, DocumentStore, ExitClass, digest};

/// The inputs of a pack, and where to write it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextCommand {
    pub diag: String,
    /// The project's manifest. A relative path is looked up in the working directory, then in its parents.
    pub project: String,
    pub out: Option<String>,
    /// Default: `decl` for a pointer into a declaration, `module` for any other.
    pub enclosure: Option<Enclosure>,
    pub closure: Closure,
    pub pointer_space: PointerSpace,
    pub max_nodes: Option<u64>,
    pub max_bytes: Option<u64>,
    /// The directory that paths are shown relative to; absolute.
    pub working_directory: String,
    pub toolchain_version: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextOutcome {
    pub class: ExitClass,
    /// The pack as one line, unless it was written to a file.
    pub pack: Option<Vec<u8>>,
    /// The failure, and the report about it, which does not contain the message.
    pub failure: Option<(DocumentFailure, Box<SliceReport>)>,
    /// The effect of a bound on the slice.
    pub truncation: Vec<Diagnostic>,
    /// The inputs that the pack or the report names.
    pub inputs: Vec<FileDigest>,
    /// The files written.
    pub outputs: Vec<FileDigest>,
}

/// Runs the verb. Failures are reported in the format of the verb `slice`.
pub fn context_pack(store: &mut dyn DocumentStore, command: &ContextCommand) -> ContextOutcome {
    let mut run = ContextPackRun { store, command, digests: Digests::default(), pointer: String::new(), top: None };
    match run.pack() {
        Ok(outcome) => outcome,
        Err(failure) => ContextOutcome {
            class: ExitClass::Input,
            pack: None,
            inputs: run.digests.inputs.clone(),
            failure: Some((failure, Box::new(run.failed()))),
            truncation: Vec::new(),
            outputs: Vec::new(),
        },
    }
}

struct ContextPackRun<'r> {
    store: &'r mut dyn DocumentStore,
    command: &'r ContextCommand,
    digests: Digests,
    /// The pointer of the focus; empty until it is known.
    pointer: String,
    /// The folder that paths are relative to, if the request reaches above the working directory.
    top: Option<String>,
}

impl ContextPackRun<'_> {
    fn pack(&mut self) -> Result<ContextOutcome, DocumentFailure> {
        let command = self.command;
        if command.out.as_deref() == Some("-") {
            return Err(DocumentFailure::OutIsStandardOutput);
        }
        let diag_bytes = self.read("diag", &command.diag)?;
        let diagnostics = Diagnostics::read(&diag_bytes)
            .map_err(|error| DocumentFailure::Document(format!("{}: {error}", command.diag)))?;
        self.pointer.clone_from(&diagnostics.focus.pointer);
        let (project_path, project_bytes) = self.read_project_file()?;
        let manifest = read_project(&project_bytes).map_err(|error| self.broken(&project_path, &error))?;
        let entry_path = in_directory_of(&project_path, &manifest.entry);
        let entry_bytes = self.read("entry", &entry_path)?;
        let module = read_module(&entry_bytes).map_err(|error| self.broken(&entry_path, &error))?;
        let request = self.request();
        let slice = stan_slice::slice(&module, &X07, &request)
            .map_err(|error| DocumentFailure::Entry { pointer: self.pointer.clone(), error })?;
        let truncation = slice.diagnostics.clone();
        let schema_version = module.fixed.iter().find(|(key, _)| *key == "schema_version");
        let pack = ContextPack {
            toolchain_version: command.toolchain_version,
            project: ProjectFacts {
                root: directory_of(&self.shown(&project_path)),
                world: manifest.world,
                entry: manifest.entry,
            },
            diagnostics: &diagnostics,
            source_schema_version: schema_version.map_or("", |(_, text)| text),
            slice,
            inputs: self.digests.inputs.clone(),
        };
        let line = pack.into_line().map_err(|error| DocumentFailure::Document(error.to_string()))?;
        let done = |pack, inputs, outputs| ContextOutcome {
            class: ExitClass::Done,
            pack,
            failure: None,
            truncation,
            inputs,
            outputs,
        };
        let Some(out) = &command.out else {
            return Ok(done(Some(line), self.digests.inputs.clone(), Vec::new()));
        };
        self.store.write(out, &line).map_err(|error| DocumentFailure::Io(format!("write: {out}: {error}")))?;
        Ok(done(None, Vec::new(), vec![digest(out, &line)]))
    }

    fn broken(&self, path: &str, error: &dyn std::fmt::Display) -> DocumentFailure {
        DocumentFailure::Document(format!("{}: {error}", self.shown(path)))
    }

    fn read(&mut self, what: &str, path: &str) -> Result<Vec<u8>, DocumentFailure> {
        let read = self.store.read(path);
        let bytes = read.map_err(|error| DocumentFailure::Io(format!("read {what}: {}: {error}", self.shown(path))))?;
        self.digests.inputs.push(digest(&self.shown(path), &bytes));
        Ok(bytes)
    }

    /// The manifest, and the path where it was found.
    fn read_project_file(&mut self) -> Result<(String, Vec<u8>), DocumentFailure> {
        let command = self.command;
        let is_relative = !command.project.starts_with('/');
        let found = match self.store.read(&command.project) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && is_relative => {
                self.read_above(&command.project).ok_or(error)
            }
            read => read.map(|bytes| FoundProject { path: command.project.clone(), up: 0, bytes }),
        };
        let FoundProject { mut path, up, bytes } =
            found.map_err(|error| DocumentFailure::Io(format!("read project: {}: {error}", command.project)))?;
        let climbed = climbs(&command.diag).max(climbs(&command.project)).max(up);
        if climbed > 0 && is_relative {
            self.top = Some(folder_above(&command.working_directory, climbed + 1).to_owned());
            if !path.starts_with('/') {
                path = below(&command.working_directory, &path);
            }
        }
        self.digests.inputs.push(digest(&self.shown(&path), &bytes));
        Ok((path, bytes))
    }

    /// Reads the relative path from the parents of the working directory, nearest first.
    fn read_above(&mut self, path: &str) -> Option<FoundProject> {
        let mut directory = self.command.working_directory.trim_end_matches('/');
        let mut up = 0;
        while let Some((above, _)) = directory.rsplit_once('/') {
            up += 1;
            let candidate = below(above, path);
            if let Ok(bytes) = self.store.read(&candidate) {
                return Some(FoundProject { path: candidate, up, bytes });
            }
            directory = above;
        }
        None
    }

    /// A path as the pack shows it: relative to the working directory, or to the highest folder that the request reaches, if it
    /// is below one of them.
    fn shown(&self, path: &str) -> String {
        shown_path(path, self.top.as_deref().unwrap_or(&self.command.working_directory))
    }

    fn request(&self) -> SliceRequest {
        let command = self.command;
        // Diagnostics carry no enclosure, and their focus may be outside any declaration.
        let is_in_declaration = self.pointer.trim().starts_with("/decls/");
        let default = if is_in_declaration { Enclosure::Decl } else { Enclosure::Module };
        SliceRequest {
            pointer: self.pointer.clone(),
            pointer_space: command.pointer_space,
            enclosure: command.enclosure.unwrap_or(default),
            closure: command.closure,
            max_nodes: command.max_nodes,
            max_bytes: command.max_bytes,
        }
    }

    fn failed(&self) -> SliceReport {
        SliceReport {
            ok: false,
            input: self.command.diag.clone(),
            out: self.command.out.clone(),
            project: Some(self.command.project.clone()),
            slice_meta: self.request().stub_meta(),
            diagnostics: Vec::new(),
            digests: self.digests.clone(),
            slice_ast: EmbeddedJson(None),
        }
    }
}

/// The project manifest that a run reads.
struct FoundProject {
    path: String,
    /// How many levels above the working directory it is.
    up: usize,
    bytes: Vec<u8>,
}

/// How many levels a relative path climbs above its start, at most.
fn climbs(path: &str) -> usize {
    if path.starts_with('/') {
        return 0;
    }
    let (mut depth, mut highest) = (0_usize, 0_usize);
    for name in path.split('/').filter(|name| !matches!(*name, "" | ".")) {
        match (name, depth) {
            ("..", 0) => highest += 1,
            ("..", _) => depth -= 1,
            _ => depth += 1,
        }
    }
    highest
}

/// The folder `levels` up, or the root, as an empty string, if there are fewer.
fn folder_above(directory: &str, levels: usize) -> &str {
    let directory = directory.trim_end_matches('/');
    (0..levels).fold(directory, |folder, _| folder.rsplit_once('/').map_or("", |(above, _)| above))
}

fn below(directory: &str, path: &str) -> String {
    format!("{}/{path}", directory.trim_end_matches('/'))
}

fn directory_of(path: &str) -> String {
    match path.rsplit_once('/') {
        Some(("", _)) => "/".to_owned(),
        Some((directory, _)) => directory.to_owned(),
        None => ".".to_owned(),
    }
}

fn in_directory_of(file: &str, path: &str) -> String {
    file.rsplit_once('/').map_or_else(|| path.to_owned(), |(directory, _)| below(directory, path))
}

/// A path as given, but an absolute one below the working directory is made relative to it.
fn shown_path(path: &str, working_directory: &str) -> String {
    let below = path.strip_prefix(working_directory.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'));
    match below {
        Some(rest) if path.starts_with('/') && !rest.is_empty() => rest.to_owned(),
        _ => path.to_owned(),
    }
}
