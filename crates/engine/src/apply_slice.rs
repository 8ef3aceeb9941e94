//! The verb `x07 ast apply-slice`: an edited slice back into the file that it was cut from. The file must be the one that
//! was sliced, by its digest, and the slice is cut again to see what of it was edited.

use serde_json::Value;
use stan_lang::x07::{X07, read_module};
use stan_model::document::x07::{Closure, Diagnostic, Digests, EmbeddedJson, Enclosure, SliceMeta, SliceReport};
use stan_slice::{PointerSpace, Slice, SliceRequest};

use crate::documents::{DocumentStore, Outcome, digest};
use crate::slice::{EXIT_INPUT, EXIT_REQUEST, line};

/// What to put back, and where the module goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplySliceCommand {
    pub input: String,
    /// The edited slice.
    pub slice: String,
    /// What `ast slice` reported about it, or a pack: the slice's metadata and the digest of the file.
    pub meta: String,
    /// A file for the module; standard output gets it otherwise.
    pub out: Option<String>,
    /// What is printed goes into a report, so standard error stays silent about what was changed.
    pub is_wrapped: bool,
}

/// Runs the verb. Every failure is a report in the form of the slice's.
pub fn apply_slice(store: &mut dyn DocumentStore, command: &ApplySliceCommand) -> Outcome {
    let mut run = Run { store, command, digests: Digests::default() };
    match run.apply() {
        Ok(outcome) => outcome,
        Err((exit_code, message)) => run.failure(exit_code, message),
    }
}

struct Run<'r> {
    store: &'r mut dyn DocumentStore,
    command: &'r ApplySliceCommand,
    digests: Digests,
}

type Failure = (u8, String);

impl Run<'_> {
    fn apply(&mut self) -> Result<Outcome, Failure> {
        let command = self.command;
        if command.out.as_deref() == Some("-") {
            return Err((EXIT_REQUEST, "--out '-' is not supported (without --out the module is printed)".to_owned()));
        }
        let [file, slice, meta] = [&command.input, &command.slice, &command.meta].map(|name| self.read(name));
        let (file, slice, meta) = (file?, slice?, meta?);
        let told = Told::read(&meta).map_err(|message| (EXIT_INPUT, format!("{}: {message}", command.meta)))?;
        let mut notes = String::new();
        match &told.digest {
            Some(told) if *told != digest(&command.input, &file).sha256 => {
                let message = format!("{} is not the file that was sliced: its SHA-256 is not {told}", command.input);
                return Err((EXIT_REQUEST, message));
            }
            Some(_) => {}
            None => {
                notes = line("note: the metadata has no digest of the file, so a change of it since may go unseen");
            }
        }
        let invalid = |name: &str, message: String| (EXIT_INPUT, format!("{name}: {message}"));
        let module = read_module(&file).map_err(|error| invalid(&command.input, error.to_string()))?;
        let edited = read_module(&slice).map_err(|error| invalid(&command.slice, error.to_string()))?;
        let again = told
            .slice_again(&module)
            .ok_or_else(|| (EXIT_REQUEST, format!("{} is not about a slice of {}", command.meta, command.input)))?;
        let cut = read_module(&again.ast).map_err(|error| invalid(&command.input, error.to_string()))?;
        let applied =
            stan_slice::apply(&module, &cut, &edited, &X07).map_err(|error| (EXIT_REQUEST, error.to_string()))?;
        // Reading it again checks the whole: a new name may be there already, a renamed one may have another prefix.
        let merged = read_module(&applied.document).map_err(|error| (EXIT_REQUEST, error.to_string()))?;
        let mut document =
            stan_slice::canonical_document(&merged, &X07).map_err(|error| (EXIT_REQUEST, error.to_string()))?;
        document.push(b'\n');
        if !applied.changed.is_empty() {
            notes.push_str(&line(&format!("note: changed {}", applied.changed.join(", "))));
        }
        let stderr = if command.is_wrapped { String::new() } else { notes };
        let inputs = self.digests.inputs.clone();
        let Some(out) = &command.out else {
            return Ok(Outcome { stdout: document, stderr, inputs, ..Outcome::default() });
        };
        self.store.write(out, &document).map_err(|error| (EXIT_INPUT, format!("write: {out}: {error}")))?;
        Ok(Outcome { stderr, inputs, outputs: vec![digest(out, &document)], ..Outcome::default() })
    }

    fn read(&mut self, name: &str) -> Result<Vec<u8>, Failure> {
        let bytes = self.store.read(name).map_err(|error| (EXIT_INPUT, format!("read: {name}: {error}")))?;
        self.digests.inputs.push(digest(name, &bytes));
        Ok(bytes)
    }

    fn failure(&self, exit_code: u8, message: String) -> Outcome {
        let report = SliceReport {
            ok: false,
            input: self.command.input.clone(),
            out: self.command.out.clone(),
            project: None,
            slice_meta: Told::default().request().stub_meta(),
            diagnostics: vec![Diagnostic::failure(message.clone())],
            digests: self.digests.clone(),
            slice_ast: EmbeddedJson(None),
        };
        let (diagnostics, inputs) = (report.diagnostics.clone(), self.digests.inputs.clone());
        let stdout = report.into_line().unwrap_or_default();
        Outcome { exit_code, stdout, stderr: line(&message), diagnostics, inputs, outputs: Vec::new() }
    }
}

/// What was told about a slice when it was made.
#[derive(Default)]
struct Told {
    meta: Value,
    /// SHA-256 of the file that was sliced.
    digest: Option<String>,
}

impl Told {
    /// Reads a report of `ast slice`, the same in a `--json` report, a pack, or the metadata alone.
    fn read(bytes: &[u8]) -> Result<Self, String> {
        let document: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        let report = document.pointer("/result/stdout_json").unwrap_or(&document);
        let meta = ["/slice_meta", "/ast/slice_meta"].iter().find_map(|pointer| report.pointer(pointer));
        let meta = meta.unwrap_or(report);
        if !["ptr", "enclosure", "closure"].iter().all(|key| meta.get(key).is_some_and(Value::is_string)) {
            return Err("neither a report of `ast slice`, nor a pack, nor the metadata of a slice".to_owned());
        }
        // The file comes last: a pack names the diagnostics and the project before it.
        let input = report.pointer("/digests/inputs").and_then(Value::as_array).and_then(|inputs| inputs.last());
        let digest = input.and_then(|input| input.get("sha256")).and_then(Value::as_str).map(str::to_owned);
        Ok(Self { meta: meta.clone(), digest })
    }

    fn request(&self) -> SliceRequest {
        let text = |key| self.meta.get(key).and_then(Value::as_str).unwrap_or_default();
        let bound = |key| self.meta.get("truncation").and_then(|cut| cut.get(key)).and_then(Value::as_u64);
        SliceRequest {
            pointer: text("ptr").to_owned(),
            reading: PointerSpace::Canonical,
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

    /// The slice as it was made. How its pointer was read is not told, but there is one reading that gives what is.
    fn slice_again(&self, module: &stan_model::module::SourceModule<'_>) -> Option<Slice> {
        [PointerSpace::Canonical, PointerSpace::File, PointerSpace::Toolchain].into_iter().find_map(|reading| {
            let slice = stan_slice::slice(module, &X07, &SliceRequest { reading, ..self.request() }).ok()?;
            self.is_of(&slice.meta).then_some(slice)
        })
    }

    fn is_of(&self, meta: &SliceMeta) -> bool {
        serde_json::to_value(meta).is_ok_and(|meta| meta == self.meta)
    }
}
