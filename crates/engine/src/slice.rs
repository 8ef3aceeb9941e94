//! The verb `x07 ast slice`: one module file in, a report out, the slice in it or in a file of its own.

use stan_lang::x07::{X07, read_module};
use stan_model::Untrusted;
use stan_model::document::x07::{Diagnostic, Digests, EmbeddedJson, SliceReport};
use stan_slice::{PointerSpace, SliceRequest};

use crate::documents::{DocumentStore, Outcome, digest};

/// Exit code when the input or the output is at fault.
pub(crate) const EXIT_INPUT: u8 = 2;
/// Exit code when the request cannot be met.
pub(crate) const EXIT_REQUEST: u8 = 20;

/// What to slice, and where the slice goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SliceCommand {
    pub input: String,
    /// A file for the slice; the report then only tells about it.
    pub out: Option<String>,
    pub request: SliceRequest,
    /// The user did not choose how the pointer is read, so standard error tells when that matters.
    pub tells_reading: bool,
    /// What is printed goes into a report in the toolchain's form, which has the toolchain's fields and no other.
    pub is_wrapped: bool,
}

/// Runs the verb. Every failure is a report as well.
pub fn slice(store: &mut dyn DocumentStore, command: &SliceCommand) -> Outcome {
    let mut run = Run { store, command, digests: Digests::default(), stderr: String::new() };
    match run.slice() {
        Ok(report) => run.finish(0, report),
        Err((exit_code, message)) => {
            let report = run.failure(message);
            run.finish(exit_code, report)
        }
    }
}

struct Run<'r> {
    store: &'r mut dyn DocumentStore,
    command: &'r SliceCommand,
    digests: Digests,
    stderr: String,
}

impl Run<'_> {
    fn slice(&mut self) -> Result<SliceReport, (u8, String)> {
        let command = self.command;
        if command.out.as_deref() == Some("-") {
            return Err((EXIT_REQUEST, "--out '-' is not supported (stdout is reserved for the report)".to_owned()));
        }
        let bytes = self.store.read(&command.input).map_err(|error| {
            self.stderr = line(&error.to_string());
            (EXIT_INPUT, error.to_string())
        })?;
        self.digests.inputs.push(digest(&command.input, &bytes));
        let module = read_module(&bytes).map_err(|error| (EXIT_INPUT, error.to_string()))?;
        if command.tells_reading && stan_slice::readings_differ(&module, &X07, &command.request.pointer) {
            self.stderr = reading_note(&command.request);
        }
        let mut slice =
            stan_slice::slice(&module, &X07, &command.request).map_err(|error| (EXIT_REQUEST, error.to_string()))?;
        if let Some(out) = &command.out {
            slice.ast.push(b'\n');
            self.store.write(out, &slice.ast).map_err(|error| {
                let message = format!("write: {out}: {error}");
                self.stderr = line(&message);
                (EXIT_INPUT, message)
            })?;
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

    fn failure(&self, message: String) -> SliceReport {
        SliceReport {
            ok: false,
            input: self.command.input.clone(),
            out: self.command.out.clone(),
            project: None,
            slice_meta: self.command.request.stub_meta(),
            diagnostics: vec![Diagnostic::failure(message)],
            digests: self.digests.clone(),
            slice_ast: EmbeddedJson(None),
        }
    }

    fn finish(self, exit_code: u8, mut report: SliceReport) -> Outcome {
        let (inputs, outputs) = (report.digests.inputs.clone(), report.digests.outputs.clone());
        let diagnostics = report.diagnostics.clone();
        if self.command.is_wrapped {
            report
                .diagnostics
                .iter_mut()
                .filter_map(|found| found.data.as_mut())
                .for_each(|data| data.dropped_decls.clear());
        }
        match report.into_line() {
            Ok(stdout) => Outcome { exit_code, stdout, stderr: self.stderr, diagnostics, inputs, outputs },
            // Only a length beyond 2^53 could come here.
            Err(error) => Outcome { exit_code: EXIT_INPUT, stderr: line(&error.to_string()), ..Outcome::default() },
        }
    }
}

/// A message as one line of standard error: it may quote the input, which must not begin a line of its own.
pub(crate) fn line(message: &str) -> String {
    format!("{}\n", Untrusted::new(message))
}

/// A file that is not in canonical order has two places for one pointer.
fn reading_note(request: &SliceRequest) -> String {
    let (read, other) = match request.reading {
        PointerSpace::File => ("the file as written", "without --reading it is read in the canonical document"),
        PointerSpace::Canonical | PointerSpace::Toolchain => {
            ("the canonical document", "--reading file reads it in the file as written")
        }
    };
    line(&format!("note: {} was read in {read}, whose order is another; {other}", request.trimmed_pointer()))
}
