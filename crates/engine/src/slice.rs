//! The verb `x07 ast slice`: reads one module file and writes a report, with the slice in it or in a separate file.

use stan_lang::x07::{X07, read_module};
use stan_model::document::x07::{Digests, EmbeddedJson, SliceReport};
use stan_slice::SliceRequest;

use crate::documents::{DocumentFailure, DocumentStore, ExitClass, digest};

/// The module and focus, and where to write the slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SliceCommand {
    pub input: String,
    /// The file to write the slice to; the report then only describes it.
    pub out: Option<String>,
    pub request: SliceRequest,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SliceOutcome {
    pub class: ExitClass,
    /// Contains no diagnostic of the failure: the program adds it.
    pub report: SliceReport,
    pub failure: Option<DocumentFailure>,
    /// The two readings of the pointer resolve to different locations.
    pub readings_differ: bool,
}

/// Runs the verb. Every failure also gives a report.
pub fn slice(store: &mut dyn DocumentStore, command: &SliceCommand) -> SliceOutcome {
    let mut run = SliceRun { store, command, digests: Digests::default(), readings_differ: false };
    let (class, report, failure) = match run.slice() {
        Ok(report) => (ExitClass::Done, report, None),
        Err((class, failure)) => (class, run.failed(), Some(failure)),
    };
    SliceOutcome { class, report, failure, readings_differ: run.readings_differ }
}

struct SliceRun<'r> {
    store: &'r mut dyn DocumentStore,
    command: &'r SliceCommand,
    digests: Digests,
    readings_differ: bool,
}

impl SliceRun<'_> {
    fn slice(&mut self) -> Result<SliceReport, (ExitClass, DocumentFailure)> {
        let command = self.command;
        if command.out.as_deref() == Some("-") {
            return Err((ExitClass::Request, DocumentFailure::OutIsStandardOutput));
        }
        let io = |message: String| (ExitClass::Input, DocumentFailure::Io(message));
        let bytes = self.store.read(&command.input).map_err(|error| io(error.to_string()))?;
        self.digests.inputs.push(digest(&command.input, &bytes));
        let module =
            read_module(&bytes).map_err(|error| (ExitClass::Input, DocumentFailure::Document(error.to_string())))?;
        self.readings_differ = stan_slice::readings_differ(&module, &X07, &command.request.pointer);
        let mut slice = stan_slice::slice(&module, &X07, &command.request)
            .map_err(|error| (ExitClass::Request, DocumentFailure::Slice(error)))?;
        if let Some(out) = &command.out {
            slice.ast.push(b'\n');
            self.store.write(out, &slice.ast).map_err(|error| io(format!("write: {out}: {error}")))?;
            self.digests.outputs.push(digest(out, &slice.ast));
        }
        Ok(SliceReport {
            ok: true,
            input: command.input.clone(),
            out: command.out.clone(),
            project: None,
            slice_meta: slice.meta,
            diagnostics: slice.diagnostics,
            digests: self.digests.clone(),
            slice_ast: EmbeddedJson(command.out.is_none().then_some(slice.ast)),
        })
    }

    fn failed(&self) -> SliceReport {
        SliceReport {
            ok: false,
            input: self.command.input.clone(),
            out: self.command.out.clone(),
            project: None,
            slice_meta: self.command.request.stub_meta(),
            diagnostics: Vec::new(),
            digests: self.digests.clone(),
            slice_ast: EmbeddedJson(None),
        }
    }
}
