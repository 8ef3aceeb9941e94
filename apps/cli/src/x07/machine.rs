//! The machine flags, which may be anywhere in the command line and are removed before the other arguments are parsed.

use std::ffi::OsString;

use clap::{Arg, ArgAction, Command};

/// The form of standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MachineMode {
    /// The command's own output.
    Off,
    /// A report about the run, as canonical JSON.
    Canonical,
    /// The same, indented.
    Pretty,
    /// One line per event.
    Lines,
}

/// The machine flags of one run.
pub(crate) struct MachineFlags {
    pub(crate) mode: MachineMode,
    pub(crate) schema: bool,
    pub(crate) schema_id: bool,
    pub(crate) report_out: Option<String>,
    pub(crate) quiet: bool,
    /// Errors in the flags.
    pub(crate) errors: Vec<String>,
    /// All other arguments.
    pub(crate) passthrough: Vec<OsString>,
}

impl MachineFlags {
    pub(crate) fn take_from(arguments: &[OsString]) -> Self {
        let mut flags = Self {
            mode: MachineMode::Off,
            schema: false,
            schema_id: false,
            report_out: None,
            quiet: false,
            errors: Vec::new(),
            passthrough: Vec::new(),
        };
        let mut lines = false;
        let mut rest = arguments.iter().peekable();
        while let Some(argument) = rest.next() {
            let text = argument.to_string_lossy();
            match text.split_once('=').map_or((&*text, None), |(name, value)| (name, Some(value))) {
                ("--json", Some(value)) => match json_mode(value) {
                    Some(mode) => flags.mode = mode,
                    None => flags.errors.push(format!(
                        "unsupported --json value {value:?}; expected one of: true,false,canon,pretty,off"
                    )),
                },
                ("--json", None) => {
                    let given = rest.peek().and_then(|next| json_mode(&next.to_string_lossy()));
                    flags.mode = given.unwrap_or(MachineMode::Canonical);
                    if given.is_some() {
                        rest.next();
                    }
                }
                ("--jsonl", None) => lines = true,
                ("--json-schema", None) => flags.schema = true,
                ("--json-schema-id", None) => flags.schema_id = true,
                ("--quiet-json", None) => flags.quiet = true,
                ("--report-out", Some(path)) => flags.report_out = Some(path.to_owned()),
                ("--report-out", None) => match rest.next() {
                    Some(path) => flags.report_out = Some(path.to_string_lossy().into_owned()),
                    None => flags.errors.push("--report-out requires a path".to_owned()),
                },
                _ => flags.passthrough.push(argument.clone()),
            }
        }
        flags.check(lines);
        flags
    }

    pub(crate) fn wants_schema(&self) -> bool {
        self.schema || self.schema_id
    }

    /// The command as a dotted name, such as `ast.slice`.
    pub(crate) fn scope(&self) -> Option<&'static str> {
        let mut words = Vec::new();
        let mut rest = self.passthrough.iter();
        while let Some(argument) = rest.next() {
            let text = argument.to_string_lossy();
            if text == "--out" {
                rest.next();
            } else if !text.starts_with('-') {
                words.push(text.into_owned());
            }
        }
        match (words.first().map(String::as_str), words.get(1).map(String::as_str)) {
            (Some("ast"), Some("slice")) => Some("ast.slice"),
            (Some("ast"), Some("apply-slice")) => Some("ast.apply-slice"),
            (Some("ast"), _) => Some("ast"),
            (Some("agent"), Some("context")) => Some("agent.context"),
            (Some("agent"), _) => Some("agent"),
            _ => None,
        }
    }

    fn check(&mut self, lines: bool) {
        if self.quiet && self.report_out.is_none() {
            self.errors.push("--quiet-json requires --report-out <PATH>".to_owned());
        }
        if lines {
            if self.mode != MachineMode::Off {
                self.errors.push("--jsonl conflicts with --json=<mode>".to_owned());
            }
            self.mode = MachineMode::Lines;
        }
    }
}

/// The command with the machine flags among its options, for completions and the manual. It is never used for parsing.
pub(crate) fn describe(command: Command) -> Command {
    let switch = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).help(help).action(ArgAction::SetTrue).global(true)
    };
    let json = Arg::new("json").long("json").value_name("MODE").value_parser(["canon", "pretty", "off"]);
    command.args([
        json.num_args(0..=1).require_equals(true).global(true).help("Print a report about the run as JSON"),
        switch("jsonl", "Print a line of JSON for each event"),
        switch("json-schema", "Print the JSON Schema of the report"),
        switch("json-schema-id", "Print the name of that schema"),
        switch("quiet-json", "With --report-out: print no report"),
        Arg::new("report-out")
            .long("report-out")
            .value_name("PATH")
            .global(true)
            .help("Write the report to this file too"),
    ])
}

fn json_mode(value: &str) -> Option<MachineMode> {
    match value.trim() {
        "" | "true" | "canon" => Some(MachineMode::Canonical),
        "false" | "off" => Some(MachineMode::Off),
        "pretty" => Some(MachineMode::Pretty),
        _ => None,
    }
}
