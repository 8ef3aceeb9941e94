//! The verb `x07 ast apply-slice`: merges an edited slice into the file that it was cut from. The file must have the SHA-256 that
//! the metadata records, and the original is sliced again to find what was edited.

use serde_json::Value;
use stan_lang::x07::{X07, read_module};
use stan_model::document::x07::{Closure, Digests, EmbeddedJson, Enclosure, FileDigest, SliceMeta, SliceReport};
use stan_model::module::SourceModule;
use stan_slice::{Applied, PointerSpace, SliceRequest};

use crate::documents::{DocumentFailure, DocumentStore, ExitClass, digest};

/// The edited slice, and where to write the merged module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplySliceCommand {
    pub input: String,
    /// The edited slice.
    pub slice: String,
    /// The slice's metadata and the digest of the file, from the report of `ast slice` or from a pack.
    pub meta: String,
    /// The file to write the module to.
    pub out: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplySliceOutcome {
    pub class: ExitClass,
    /// The canonical module with a newline, unless it was written to a file.
    pub document: Option<Vec<u8>>,
    /// The declarations that were changed or added.
    pub changed: Vec<String>,
    /// The metadata contains no digest of the file, so changes since then cannot be detected.
    pub is_unverified: bool,
    /// The failure, and the report about it, which does not contain the message.
    pub failure: Option<(DocumentFailure, Box<SliceReport>)>,
    pub inputs: Vec<FileDigest>,
    /// The files written.
    pub outputs: Vec<FileDigest>,
}

/// Runs the verb. A failure is reported in the same form as by the verb `slice`.
pub fn apply_slice(store: &mut dyn DocumentStore, command: &ApplySliceCommand) -> ApplySliceOutcome {
    let mut run = ApplyRun { store, command, digests: Digests::default() };
    match run.apply() {
        Ok(outcome) => outcome,
        Err((class, failure)) => ApplySliceOutcome {
            class,
            document: None,
            changed: Vec::new(),
            is_unverified: false,
            failure: Some((failure, Box::new(run.failed()))),
            inputs: run.digests.inputs,
            outputs: Vec::new(),
        },
    }
}

struct ApplyRun<'r> {
    store: &'r mut dyn DocumentStore,
    command: &'r ApplySliceCommand,
    digests: Digests,
}

type Failure = (ExitClass, DocumentFailure);

impl ApplyRun<'_> {
    fn apply(&mut self) -> Result<ApplySliceOutcome, Failure> {
        let command = self.command;
        if command.out.as_deref() == Some("-") {
            return Err((ExitClass::Request, DocumentFailure::OutIsStandardOutput));
        }
        let file = self.read(&command.input)?;
        let slice = self.read(&command.slice)?;
        let meta = self.read(&command.meta)?;
        let recorded = RecordedSlice::read(&meta).map_err(|message| invalid(&command.meta, &message))?;
        if let Some(recorded) =
            recorded.digest.as_ref().filter(|recorded| **recorded != digest(&command.input, &file).sha256)
        {
            let (name, sha256) = (command.input.clone(), recorded.clone());
            return Err((ExitClass::Request, DocumentFailure::OtherFile { name, sha256 }));
        }
        let module = read_module(&file).map_err(|error| invalid(&command.input, &error))?;
        let edited = read_module(&slice).map_err(|error| invalid(&command.slice, &error))?;
        let applied = self.merge(&recorded, &module, &edited)?;
        let mut outcome = ApplySliceOutcome {
            class: ExitClass::Done,
            document: None,
            changed: applied.changed,
            is_unverified: recorded.digest.is_none(),
            failure: None,
            inputs: self.digests.inputs.clone(),
            outputs: Vec::new(),
        };
        if let Some(out) = &command.out {
            let written = self.store.write(out, &applied.document);
            written.map_err(|error| (ExitClass::Input, DocumentFailure::Io(format!("write: {out}: {error}"))))?;
            outcome.outputs.push(digest(out, &applied.document));
        } else {
            outcome.document = Some(applied.document);
        }
        Ok(outcome)
    }

    fn read(&mut self, name: &str) -> Result<Vec<u8>, Failure> {
        let read = self.store.read(name);
        let bytes = read.map_err(|error| (ExitClass::Input, DocumentFailure::Io(format!("read: {name}: {error}"))))?;
        self.digests.inputs.push(digest(name, &bytes));
        Ok(bytes)
    }

    /// The canonical module with the edits and a final newline. The metadata does not record which of the two readings of the
    /// pointer was used, so each reading that reproduces the metadata is tried: a slice of another location has other names, and
    /// the edited one does not fit it.
    fn merge(
        &self,
        recorded: &RecordedSlice,
        module: &SourceModule<'_>,
        edited: &SourceModule<'_>,
    ) -> Result<Applied, Failure> {
        let mut first_failure = None;
        for pointer_space in [PointerSpace::Canonical, PointerSpace::File, PointerSpace::Toolchain] {
            let request = SliceRequest { pointer_space, ..recorded.request() };
            let again = stan_slice::slice(module, &X07, &request).ok();
            let Some(again) = again.filter(|slice| recorded.matches(&slice.meta)) else { continue };
            match merge_edits(module, &again.ast, edited) {
                Ok(applied) => return Ok(applied),
                Err(failure) => first_failure = first_failure.or(Some(failure)),
            }
        }
        let failure = first_failure.unwrap_or_else(|| DocumentFailure::OtherSlice {
            meta: self.command.meta.clone(),
            name: self.command.input.clone(),
        });
        Err((ExitClass::Request, failure))
    }

    fn failed(&self) -> SliceReport {
        SliceReport {
            ok: false,
            input: self.command.input.clone(),
            out: self.command.out.clone(),
            project: None,
            slice_meta: RecordedSlice::default().request().stub_meta(),
            diagnostics: Vec::new(),
            digests: self.digests.clone(),
            slice_ast: EmbeddedJson(None),
        }
    }
}

fn invalid(name: &str, error: &dyn std::fmt::Display) -> Failure {
    (ExitClass::Input, DocumentFailure::Document(format!("{name}: {error}")))
}

fn merge_edits(module: &SourceModule<'_>, cut: &[u8], edited: &SourceModule<'_>) -> Result<Applied, DocumentFailure> {
    let broken = |error: &dyn std::fmt::Display| DocumentFailure::Document(error.to_string());
    let cut = read_module(cut).map_err(|error| broken(&error))?;
    let mut applied = stan_slice::apply(module, &cut, edited, &X07)?;
    // Parsing the result checks the module as a whole: a new name may exist already, a renamed one may have a wrong prefix.
    let merged = read_module(&applied.document).map_err(|error| broken(&error))?;
    let mut document = stan_slice::canonical_document(&merged, &X07)?;
    document.push(b'\n');
    applied.document = document;
    Ok(applied)
}

/// The recorded metadata of a slice.
#[derive(Default)]
struct RecordedSlice {
    meta: Value,
    /// SHA-256 of the sliced file.
    digest: Option<String>,
}

impl RecordedSlice {
    /// Reads a `--json` report of `ast slice`, a pack, or the metadata alone.
    fn read(bytes: &[u8]) -> Result<Self, String> {
        let document: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        let report = document.pointer("/result/stdout_json").unwrap_or(&document);
        let meta = ["/slice_meta", "/ast/slice_meta"].iter().find_map(|pointer| report.pointer(pointer));
        let meta = meta.unwrap_or(report);
        if !["ptr", "enclosure", "closure"].iter().all(|key| meta.get(key).is_some_and(Value::is_string)) {
            return Err("neither a report of `ast slice`, nor a pack, nor the metadata of a slice".to_owned());
        }
        // The sliced file is the last input: a pack lists the diagnostics and the project before it.
        let input = report.pointer("/digests/inputs").and_then(Value::as_array).and_then(|inputs| inputs.last());
        let digest = input.and_then(|input| input.get("sha256")).and_then(Value::as_str).map(str::to_owned);
        Ok(Self { meta: meta.clone(), digest })
    }

    fn request(&self) -> SliceRequest {
        let text = |key| self.meta.get(key).and_then(Value::as_str).unwrap_or_default();
        let bound = |key| self.meta.get("truncation").and_then(|cut| cut.get(key)).and_then(Value::as_u64);
        SliceRequest {
            pointer: text("ptr").to_owned(),
            pointer_space: PointerSpace::Canonical,
            enclosure: match text("enclosure") {
                "module" => Enclosure::Module,
                "defn" => Enclosure::Defn,
                _ => Enclosure::Decl,
            },
            closure: match text("closure") {
                "locals" => Closure::Locals,
                "types" => Closure::Types,
                "imports" => Closure::Imports,
                _ => Closure::All,
            },
            max_nodes: bound("max_nodes"),
            max_bytes: bound("max_bytes"),
        }
    }

    /// Whether this equals the metadata of a slice.
    fn matches(&self, meta: &SliceMeta) -> bool {
        serde_json::to_value(meta).is_ok_and(|meta| meta == self.meta)
    }
}
