//! Turns the engine's outcomes into what `x07` prints: the toolchain's reports and messages, which name options as typed, and
//! exit codes.

use stan_engine::x07_documents::{Diagnostic, FileDigest, SliceReport};
use stan_engine::{
    ApplyError, ApplySliceOutcome, ContextOutcome, DocumentFailure, ExitClass, PointerSpace, SizeBound, SliceError,
    SliceOutcome, SliceRequest, Untrusted,
};

/// The output of the program, and its exit code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProgramOutcome {
    pub(crate) exit_code: u8,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    /// All findings, with all details.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The inputs that the report names.
    pub(crate) inputs: Vec<FileDigest>,
    /// The files that were written.
    pub(crate) outputs: Vec<FileDigest>,
}

/// How a slice is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Printing {
    /// The user did not choose how the pointer is interpreted, so print a note on stderr if that matters.
    pub(crate) tells_reading: bool,
    /// The output goes into a report in the toolchain's format, which has only the toolchain's fields; stderr stays empty if a
    /// pack was made.
    pub(crate) is_wrapped: bool,
}

/// A slice, or why there is none.
pub(crate) fn of_slice(outcome: SliceOutcome, request: &SliceRequest, printing: Printing) -> ProgramOutcome {
    let SliceOutcome { class, mut report, failure, readings_differ } = outcome;
    let mut stderr = String::new();
    if printing.tells_reading && readings_differ {
        stderr = reading_note(request);
    }
    if let Some(failure) = &failure {
        let message = message(failure, "--out '-' is not supported (stdout is reserved for the report)");
        if matches!(failure, DocumentFailure::Io(_)) {
            stderr = line(&message);
        }
        report.diagnostics = vec![Diagnostic::failure(message)];
    }
    let (inputs, outputs) = (report.digests.inputs.clone(), report.digests.outputs.clone());
    let diagnostics = report.diagnostics.clone();
    if printing.is_wrapped {
        let data = report.diagnostics.iter_mut().filter_map(|found| found.data.as_mut());
        data.for_each(|data| data.dropped_decls.clear());
    }
    match report.into_line() {
        Ok(stdout) => ProgramOutcome { exit_code: exit_code(class), stdout, stderr, diagnostics, inputs, outputs },
        // Only possible for a length above 2^53.
        Err(error) => ProgramOutcome { exit_code: 2, stderr: line(&error.to_string()), ..ProgramOutcome::default() },
    }
}

/// A pack, or why there is none.
pub(crate) fn of_pack(outcome: ContextOutcome, printing: Printing) -> ProgramOutcome {
    let ContextOutcome { class, pack, failure, truncation, inputs, outputs } = outcome;
    let exit_code = exit_code(class);
    let Some((failure, report)) = failure else {
        let stderr = if printing.is_wrapped { String::new() } else { truncation_note(&truncation) };
        return ProgramOutcome {
            exit_code,
            stdout: pack.unwrap_or_default(),
            stderr,
            inputs,
            outputs,
            ..ProgramOutcome::default()
        };
    };
    let failed = failed(message(&failure, "--out '-' is not supported"), *report);
    ProgramOutcome { exit_code, inputs, outputs, ..failed }
}

/// A module with the edits of a slice, or why there is none.
pub(crate) fn of_applied_slice(outcome: ApplySliceOutcome, printing: Printing) -> ProgramOutcome {
    let ApplySliceOutcome { class, document, changed, is_unverified, failure, inputs, outputs } = outcome;
    let exit_code = exit_code(class);
    let Some((failure, report)) = failure else {
        let mut stderr = String::new();
        if is_unverified && !printing.is_wrapped {
            stderr += &line("note: the metadata has no digest of the file, so a change of it since may go unseen");
        }
        if !changed.is_empty() && !printing.is_wrapped {
            stderr += &line(&format!("note: changed {}", changed.join(", ")));
        }
        let stdout = document.unwrap_or_default();
        return ProgramOutcome { exit_code, stdout, stderr, inputs, outputs, ..ProgramOutcome::default() };
    };
    let message = message(&failure, "--out '-' is not supported (without --out the module is printed)");
    ProgramOutcome { exit_code, inputs, outputs, ..failed(message, *report) }
}

/// A failure report, printed on both streams.
fn failed(message: String, report: SliceReport) -> ProgramOutcome {
    let stderr = line(&message);
    let diagnostics = vec![Diagnostic::failure(message)];
    let report = SliceReport { diagnostics: diagnostics.clone(), ..report };
    ProgramOutcome { stdout: report.into_line().unwrap_or_default(), stderr, diagnostics, ..ProgramOutcome::default() }
}

fn exit_code(class: ExitClass) -> u8 {
    match class {
        ExitClass::Done => 0,
        ExitClass::Input => 2,
        ExitClass::Request => 20,
    }
}

fn message(failure: &DocumentFailure, out_is_stdout: &str) -> String {
    match failure {
        DocumentFailure::OutIsStandardOutput => out_is_stdout.to_owned(),
        DocumentFailure::Slice(error) => slice_error(error),
        DocumentFailure::Entry { pointer, error } => format!("slice entry at {pointer:?}: {}", slice_error(error)),
        DocumentFailure::Apply(ApplyError::NotCanonical(error)) => slice_error(error),
        DocumentFailure::Apply(error @ ApplyError::CutAway { .. }) => {
            format!("{error}; slice again with a larger bound or --closure all")
        }
        DocumentFailure::Io(message) | DocumentFailure::Document(message) => message.clone(),
        DocumentFailure::Apply(_) | DocumentFailure::OtherFile { .. } | DocumentFailure::OtherSlice { .. } => {
            failure.to_string()
        }
    }
}

/// The toolchain's messages, which name options.
fn slice_error(error: &SliceError) -> String {
    match error {
        SliceError::BoundIsZero { bound: SizeBound::Declarations } => "--max-nodes must be >= 1".to_owned(),
        SliceError::BoundIsZero { bound: SizeBound::Bytes } => "--max-bytes must be >= 1".to_owned(),
        SliceError::NotInDeclaration { enclosure, declarations } => {
            format!("--enclosure {enclosure} requires --ptr under /{declarations}/<i>")
        }
        SliceError::NotADefinition { kind } => {
            format!("--enclosure defn requires a defn/defasync decl, got kind={kind:?}")
        }
        SliceError::CannotTruncate { max_bytes, minimum } => format!(
            "failed to truncate slice to --max-bytes={max_bytes}: the smallest document that holds the focus has {minimum} bytes"
        ),
        SliceError::InvalidPointer { .. } | SliceError::PointerNotFound { .. } | SliceError::NotCanonical(_) => {
            error.to_string()
        }
    }
}

/// A message as one line on stderr. It may quote the input, which must not be able to start a line.
fn line(message: &str) -> String {
    format!("{}\n", Untrusted::new(message))
}

/// If a file is not in canonical order, a pointer has two meanings.
fn reading_note(request: &SliceRequest) -> String {
    let (read, other) = match request.pointer_space {
        PointerSpace::File => ("the file as written", "without --reading it is read in the canonical document"),
        PointerSpace::Canonical | PointerSpace::Toolchain => {
            ("the canonical document", "--reading file reads it in the file as written")
        }
    };
    line(&format!("note: {} was read in {read}, whose order is another; {other}", request.trimmed_pointer()))
}

/// The pack says how much a limit cut; this note names the declarations.
fn truncation_note(diagnostics: &[Diagnostic]) -> String {
    let mut note = String::new();
    for diagnostic in diagnostics {
        let dropped = diagnostic.data.as_ref().map(|data| data.dropped_decls.join(", ")).unwrap_or_default();
        let dropped = if dropped.is_empty() { dropped } else { format!("; without {dropped}") };
        note.push_str(&line(&format!("note: {}{dropped}", diagnostic.message)));
    }
    note
}
