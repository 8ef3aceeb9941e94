//! Runs `x07`: arguments in, one engine call, output and exit code out. No answer is computed here.

mod args;
mod files;
mod machine;
mod outcome;
mod print;
#[cfg(test)]
mod tests;
mod wrapper;

use std::ffi::OsString;
use std::time::Instant;

use stan_engine::{DocumentStore, Untrusted};

use crate::describe::ManualPage;

use args::Invocation;
use files::ProgramFiles;
use machine::{MachineFlags, MachineMode};
use outcome::ProgramOutcome;

/// Runs the program and returns its exit code.
pub(crate) fn run(arguments: Vec<OsString>) -> u8 {
    let started = Instant::now();
    let (program, rest) = match arguments.split_first() {
        Some((program, rest)) => (program.clone(), rest),
        None => (OsString::from("x07"), [].as_slice()),
    };
    let flags = MachineFlags::take_from(rest);
    let mut files = ProgramFiles;
    let outcome = if flags.wants_schema() {
        wrapper::schema(&flags)
    } else if flags.mode == MachineMode::Off && flags.errors.is_empty() {
        execute(&program, &flags.passthrough, false, &mut files)
    } else {
        let inner = flags.errors.is_empty().then(|| execute(&program, &flags.passthrough, true, &mut files));
        wrapper::wrap(&arguments, &flags, started, inner, &mut files)
    };
    print::print(&outcome)
}

fn execute(
    program: &OsString,
    arguments: &[OsString],
    is_wrapped: bool,
    files: &mut dyn DocumentStore,
) -> ProgramOutcome {
    match args::parse(program, arguments, is_wrapped) {
        Invocation::Slice(command, printing) => {
            outcome::of_slice(stan_engine::slice(files, &command), &command.request, printing)
        }
        Invocation::Context(command, printing) => {
            outcome::of_pack(stan_engine::context_pack(files, &command), printing)
        }
        Invocation::Apply(command, printing) => {
            outcome::of_applied_slice(stan_engine::apply_slice(files, &command), printing)
        }
        Invocation::Manual { folder, pages } => write_manual(&folder, &pages, files),
        Invocation::Text(outcome) => outcome,
    }
}

/// Writes the pages into the folder and prints their names.
fn write_manual(folder: &str, pages: &[ManualPage], files: &mut dyn DocumentStore) -> ProgramOutcome {
    let mut names = String::new();
    for page in pages {
        let name = format!("{}/{}", folder.trim_end_matches('/'), page.file_name);
        if let Err(error) = files.write(&name, page.text.as_bytes()) {
            return ProgramOutcome {
                exit_code: 2,
                stderr: format!("write {}: {error}\n", Untrusted::new(&name)),
                ..ProgramOutcome::default()
            };
        }
        names.push_str(&name);
        names.push('\n');
    }
    ProgramOutcome { stdout: names.into_bytes(), ..ProgramOutcome::default() }
}
