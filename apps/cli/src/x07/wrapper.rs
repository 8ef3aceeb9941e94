//! The report of a run with `--json`: what was printed, read and written, and how long it took.

use std::ffi::OsString;
use std::time::Instant;

use serde_json::{Value, json};
use stan_engine::jcs::{self, JcsError, ObjectBuilder};
use stan_engine::x07_documents::{Diagnostic, FileDigest};
use stan_engine::{DocumentStore, Untrusted};

use super::machine::{MachineFlags, MachineMode};
use super::outcome::ProgramOutcome;

const EVENTS_SCHEMA: &str = "x07.tool.events@0.1.0";

/// Prints a schema or its name.
pub(crate) fn schema(flags: &MachineFlags) -> ProgramOutcome {
    let id = if flags.mode == MachineMode::Lines { EVENTS_SCHEMA.to_owned() } else { schema_id(flags.scope()) };
    let text = if flags.schema {
        include_str!("../../../../schemas/x07-tool.report.schema.json").to_owned()
    } else {
        format!("{id}\n")
    };
    ProgramOutcome { stdout: text.into_bytes(), ..ProgramOutcome::default() }
}

/// Wraps the outcome of a command in a report, or the error in the flags if no command was run.
pub(crate) fn wrap(
    arguments: &[OsString],
    flags: &MachineFlags,
    started: Instant,
    inner: Option<ProgramOutcome>,
    files: &mut dyn DocumentStore,
) -> ProgramOutcome {
    let report = Report { arguments, flags, started };
    let exit_code = inner.as_ref().map_or(2, |inner| inner.exit_code);
    let printed = report.canonical(inner.as_ref()).and_then(|line| report.shown(line, inner.as_ref()));
    let (line, stdout) = match printed {
        Ok(printed) => printed,
        Err(error) => {
            return ProgramOutcome { exit_code: 3, stderr: format!("{error}\n"), ..ProgramOutcome::default() };
        }
    };
    if let Some(path) = &flags.report_out
        && let Err(error) = files.write(path, &line)
    {
        return ProgramOutcome {
            exit_code: 2,
            stderr: format!("write: {}: {error}\n", Untrusted::new(path)),
            ..ProgramOutcome::default()
        };
    }
    ProgramOutcome { exit_code, stdout: if flags.quiet { Vec::new() } else { stdout }, ..ProgramOutcome::default() }
}

struct Report<'r> {
    arguments: &'r [OsString],
    flags: &'r MachineFlags,
    started: Instant,
}

impl Report<'_> {
    /// The report as one canonical line.
    fn canonical(&self, inner: Option<&ProgramOutcome>) -> Result<Vec<u8>, JcsError> {
        let printed = inner.and_then(|inner| inner.stdout.strip_suffix(b"\n")).filter(|line| line.starts_with(b"{"));
        let diagnostics = self.diagnostics(inner)?;
        let exit_code = inner.map_or(2, |inner| inner.exit_code);
        let mut result = ObjectBuilder::new()
            .field("stdout", &stream(inner.map(|inner| inner.stdout.as_slice())))?
            .field("stderr", &stream(inner.map(|inner| inner.stderr.as_bytes())))?;
        if let Some(printed) = printed {
            result = result.raw("stdout_json", printed.to_vec());
        }
        let mut line = ObjectBuilder::new()
            .field("schema_version", &schema_id(self.flags.scope()))?
            .field("command", &self.command())?
            .field("ok", &(exit_code == 0))?
            .field("exit_code", &exit_code)?
            .raw("diagnostics", diagnostics)
            .field("meta", &self.meta(inner))?
            .raw("result", result.finish())
            .finish();
        line.push(b'\n');
        Ok(line)
    }

    /// The report for a file, and what is printed on standard output.
    fn shown(&self, line: Vec<u8>, inner: Option<&ProgramOutcome>) -> Result<(Vec<u8>, Vec<u8>), JcsError> {
        match self.flags.mode {
            MachineMode::Pretty => {
                // The line is canonical, so reading it back keeps the order of its keys.
                let value: Value = serde_json::from_slice(&line).unwrap_or_default();
                let mut pretty = serde_json::to_vec_pretty(&value).unwrap_or_else(|_| line.clone());
                pretty.push(b'\n');
                Ok((pretty.clone(), pretty))
            }
            MachineMode::Lines => {
                let mut lines = self.event(0, "start", jcs::to_vec(&json!({"scope": self.flags.scope()}))?)?;
                let mut sequence = 1;
                if let Some(inner) = inner {
                    let streams =
                        [("stdout_chunk", inner.stdout.as_slice()), ("stderr_chunk", inner.stderr.as_bytes())];
                    for (event, bytes) in streams.into_iter().filter(|(_, bytes)| !bytes.is_empty()) {
                        lines.extend(self.event(sequence, event, jcs::to_vec(&stream(Some(bytes)))?)?);
                        sequence += 1;
                    }
                }
                let report = line.strip_suffix(b"\n").unwrap_or(&line).to_vec();
                lines.extend(self.event(sequence, "final_report", report)?);
                Ok((line, lines))
            }
            MachineMode::Off | MachineMode::Canonical => Ok((line.clone(), line)),
        }
    }

    fn event(&self, sequence: u64, event: &str, data: Vec<u8>) -> Result<Vec<u8>, JcsError> {
        let mut line = ObjectBuilder::new()
            .field("schema_version", EVENTS_SCHEMA)?
            .field("command", &self.command())?
            .field("seq", &sequence)?
            .field("elapsed_ms", &self.elapsed_ms())?
            .field("event", event)?
            .raw("data", data)
            .finish();
        line.push(b'\n');
        Ok(line)
    }

    /// The command's findings, or why there are none.
    fn diagnostics(&self, inner: Option<&ProgramOutcome>) -> Result<Vec<u8>, JcsError> {
        let Some(inner) = inner else {
            let errors: Vec<Diagnostic> = self.flags.errors.iter().map(Diagnostic::bad_arguments).collect();
            return jcs::to_vec(&errors);
        };
        if inner.diagnostics.is_empty() && inner.exit_code != 0 {
            return jcs::to_vec(&[Diagnostic::failure(inner.stderr.trim())]);
        }
        jcs::to_vec(&inner.diagnostics)
    }

    fn meta(&self, inner: Option<&ProgramOutcome>) -> Value {
        let argv: Vec<String> = self.arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
        let sorted = |digests: Option<&Vec<FileDigest>>| {
            let mut digests = digests.cloned().unwrap_or_default();
            digests.sort_by(|left, right| left.path.cmp(&right.path));
            digests
        };
        json!({
            "tool": {"name": "x07", "version": env!("CARGO_PKG_VERSION")},
            "elapsed_ms": self.elapsed_ms(),
            "cwd": super::files::working_directory(),
            "argv": argv,
            "inputs": sorted(inner.map(|inner| &inner.inputs)),
            "outputs": sorted(inner.map(|inner| &inner.outputs)),
            "nondeterminism": {"uses_os_time": false, "uses_network": false, "uses_process": false},
        })
    }

    fn command(&self) -> String {
        self.flags.scope().map_or_else(|| "x07".to_owned(), |scope| format!("x07.{scope}"))
    }

    fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

fn schema_id(scope: Option<&str>) -> String {
    format!("x07.tool.{}.report@0.1.0", scope.unwrap_or("root"))
}

/// The bytes of a stream, and its text if there was one.
fn stream(bytes: Option<&[u8]>) -> Value {
    match bytes {
        Some(bytes) => json!({"bytes_len": bytes.len(), "text": String::from_utf8_lossy(bytes)}),
        None => json!({"bytes_len": 0}),
    }
}
