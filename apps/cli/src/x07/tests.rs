//! The commands of `x07` on documents in memory: reports, exit codes, and packs that do not depend on the working directory.

use std::collections::BTreeMap;
use std::io;

use serde_json::{Value, json};
use stan_engine::x07_documents::{Closure, Enclosure};
use stan_engine::{ApplySliceCommand, ContextCommand, DocumentStore, PointerSpace, SliceCommand, SliceRequest};

use super::outcome::{self, Printing, ProgramOutcome};

const PLAIN: Printing = Printing { tells_reading: true, is_wrapped: false };
const WRAPPED: Printing = Printing { tells_reading: false, is_wrapped: true };

fn slice(memory: &mut Memory, command: &SliceCommand) -> ProgramOutcome {
    slice_with(memory, command, PLAIN)
}

fn slice_with(memory: &mut Memory, command: &SliceCommand, printing: Printing) -> ProgramOutcome {
    outcome::of_slice(stan_engine::slice(memory, command), &command.request, printing)
}

fn context_pack(memory: &mut Memory, command: &ContextCommand) -> ProgramOutcome {
    outcome::of_pack(stan_engine::context_pack(memory, command), PLAIN)
}

fn apply_slice(memory: &mut Memory, [input, slice, meta]: [&str; 3]) -> ProgramOutcome {
    let [input, slice, meta] = [input, slice, meta].map(str::to_owned);
    let command = ApplySliceCommand { input, slice, meta, out: None };
    outcome::of_applied_slice(stan_engine::apply_slice(memory, &command), PLAIN)
}

/// Documents by name. Writing to a name that ends in `/` fails.
#[derive(Default)]
struct Memory(BTreeMap<String, Vec<u8>>);

impl DocumentStore for Memory {
    fn read(&mut self, name: &str) -> io::Result<Vec<u8>> {
        self.0.get(name).cloned().ok_or_else(|| io::Error::from_raw_os_error(2))
    }

    fn write(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        if name.ends_with('/') {
            return Err(io::Error::from_raw_os_error(21));
        }
        self.0.insert(name.to_owned(), bytes.to_vec());
        Ok(())
    }
}

impl Memory {
    fn with(documents: &[(&str, Value)]) -> Self {
        Self(documents.iter().map(|(name, value)| ((*name).to_owned(), value.to_string().into_bytes())).collect())
    }
}

fn module() -> Value {
    json!({"schema_version": "x07.x07ast@0.9.0", "kind": "entry", "module_id": "m", "imports": [], "solve": ["m.f"], "decls": [
        {"kind": "defn", "name": "m.f", "params": [], "result": "i32", "body": ["begin", ["m.g"], 1]},
        {"kind": "defn", "name": "m.g", "params": [], "result": "i32", "body": 2},
    ]})
}

fn command(input: &str, pointer: &str) -> SliceCommand {
    SliceCommand {
        input: input.to_owned(),
        out: None,
        request: SliceRequest {
            pointer: pointer.to_owned(),
            pointer_space: PointerSpace::File,
            enclosure: Enclosure::Decl,
            closure: Closure::All,
            max_nodes: None,
            max_bytes: None,
        },
    }
}

fn report(outcome: &ProgramOutcome) -> Value {
    assert!(outcome.stdout.ends_with(b"\n"));
    let value: Value = serde_json::from_slice(&outcome.stdout).unwrap();
    let canonical = stan_engine::jcs::to_vec(&value).unwrap();
    assert_eq!(canonical, outcome.stdout[..outcome.stdout.len() - 1], "every report is canonical JSON");
    value
}

#[test]
fn exit_codes_and_reports_of_a_slice() {
    let mut memory = Memory::with(&[("ok.json", module()), ("bad.json", json!({"schema_version": 1}))]);
    let mut check = |command: &SliceCommand, exit_code: u8, inputs: usize, message: &str| {
        let outcome = slice(&mut memory, command);
        let report = report(&outcome);
        assert_eq!(outcome.exit_code, exit_code, "{report}");
        assert_eq!(report["ok"], json!(exit_code == 0));
        assert_eq!(report["digests"]["inputs"].as_array().unwrap().len(), inputs);
        let found = report["diagnostics"][0]["message"].as_str().unwrap_or_default();
        assert!(found.contains(message), "{found}");
        (outcome, report)
    };
    let (_, report) = check(&command("ok.json", "/decls/0"), 0, 1, "");
    assert_eq!(report["slice_ast"]["decls"][1]["name"], "m.g");
    let (outcome, _) = check(&command("none.json", ""), 2, 0, "No such file or directory");
    assert!(outcome.stderr.contains("No such file"));
    check(&command("bad.json", ""), 2, 1, "schema_version must be a string at /schema_version");
    check(&command("ok.json", "/nope"), 20, 1, "JSON Pointer not found: \"/nope\"");
    check(&command("ok.json", "nope"), 20, 1, "expected leading '/'");
    check(&command("ok.json", ""), 20, 1, "--enclosure decl requires --ptr under /decls/<i>");
    let to = |out: &str| SliceCommand { out: Some(out.to_owned()), ..command("ok.json", "/decls/1") };
    check(&to("-"), 20, 0, "--out '-'");
    let (outcome, report) = check(&to("a/slice.json"), 0, 1, "");
    assert_eq!(report["slice_ast"], Value::Null);
    assert_eq!(outcome.outputs[0].path, "a/slice.json");
    // Point 17 of docs/x07.md: an output that cannot be written is reported too, with options named as typed.
    check(&to("dir/"), 2, 1, "write: dir/: Is a directory");
    let mut zero = command("ok.json", "/decls/0");
    zero.request.max_nodes = Some(0);
    check(&zero, 20, 1, "--max-nodes must be >= 1");
    assert!(memory.0["a/slice.json"].ends_with(b"}\n"));
}

fn project() -> Value {
    json!({"schema_version": "x07.project@0.5.0", "world": "solve-pure", "entry": "src/main.x07.json", "module_roots": ["src"]})
}

fn diagnostics(pointer: &str) -> Value {
    json!({"schema_version": "x07.x07diag@0.1.0", "ok": false, "diagnostics": [
        {"code": "X07-W", "severity": "warning", "stage": "lint", "message": "w", "loc": {"kind": "x07ast", "ptr": ""}},
        {"code": "X07-E", "severity": "error", "stage": "type", "message": "e", "loc": {"kind": "x07ast", "ptr": pointer}},
    ]})
}

/// The documents of a project in `directory`, and the command to pack it.
fn world(directory: &str, working_directory: &str, pointer: &str) -> (Memory, ContextCommand) {
    let memory = Memory::with(&[
        ("-", diagnostics(pointer)),
        (&format!("{directory}x07.json"), project()),
        (&format!("{directory}src/main.x07.json"), module()),
    ]);
    let command = ContextCommand {
        diag: "-".to_owned(),
        project: format!("{directory}x07.json"),
        out: None,
        enclosure: None,
        closure: Closure::All,
        pointer_space: PointerSpace::Toolchain,
        max_nodes: None,
        max_bytes: None,
        working_directory: working_directory.to_owned(),
        toolchain_version: "1.2.3",
    };
    (memory, command)
}

#[test]
fn n16_a_pack_is_the_same_bytes_everywhere() {
    let (mut here, command) = world("", "/place/a", "  /decls/0/body\n");
    let relative = context_pack(&mut here, &command);
    let (mut there, command) = world("/else/where/", "/else/where", "  /decls/0/body\n");
    assert_eq!(context_pack(&mut there, &command).stdout, relative.stdout);
    let pack = report(&relative);
    assert_eq!(pack["project"], json!({"root": ".", "world": "solve-pure", "entry": "src/main.x07.json"}));
    let paths: Vec<&Value> = pack["digests"]["inputs"].as_array().unwrap().iter().map(|input| &input["path"]).collect();
    assert_eq!(paths, ["-", "x07.json", "src/main.x07.json"]);
    assert_eq!(pack["focus"], json!({"diag_code": "X07-E", "loc_ptr": "  /decls/0/body\n"}), "as in the diagnostic");
    assert_eq!(pack["ast"]["slice_meta"]["ptr"], "/decls/0/body");
    // A path outside of the working directory stays as given.
    let (mut outside, command) = world("/else/where/", "/place", "/decls/0");
    assert_eq!(report(&context_pack(&mut outside, &command))["project"]["root"], "/else/where");
}

#[test]
fn n16_a_request_that_reaches_above_names_the_project_from_the_highest_folder_it_reaches() {
    let check = |working_directory: &str, diag: &str, project: &str, root: Option<&str>| {
        let (mut memory, command) = world("/place/p/", working_directory, "/decls/0");
        memory.0.insert(diag.to_owned(), diagnostics("/decls/0").to_string().into_bytes());
        if !project.starts_with('/') {
            // The files that a relative name is resolved to.
            for name in ["x07.json", "src/main.x07.json"] {
                let bytes = memory.0[&format!("/place/p/{name}")].clone();
                if let Some(directory) = "/place/p".strip_prefix(working_directory) {
                    let relative = format!("{directory}/{name}");
                    memory.0.insert(relative.trim_start_matches('/').to_owned(), bytes);
                }
            }
        }
        let command = ContextCommand { diag: diag.to_owned(), project: project.to_owned(), ..command };
        let outcome = context_pack(&mut memory, &command);
        let found = report(&outcome)["project"]["root"].as_str().map(str::to_owned);
        assert_eq!(found.as_deref(), root, "{working_directory} {diag} {project}");
    };
    check("/place", "d.json", "p/x07.json", Some("p"));
    check("/place/p", "d.json", "x07.json", Some("."));
    check("/place/p", "a/../d.json", "x07.json", Some("."));
    check("/place", "d.json", "/place/p/x07.json", Some("p"));
    check("/place/p", "../d.json", "x07.json", Some("place/p"));
    check("/place/p", "../../../../d.json", "x07.json", Some("place/p"));
    // If a relative name does not exist here, the parent directories are searched.
    check("/place/p/src/deep", "d.json", "x07.json", Some("p"));
    check("/place/p/src/deep", "../../../d.json", "x07.json", Some("place/p"));
    check("/place/p/src", "d.json", "other.json", None);
    check("/place/p/src", "d.json", "/x07.json", None);
}

#[test]
fn n16_a_pack_tells_of_a_cut_once() {
    let (mut memory, command) = world("", "/", "/decls/0");
    let cut = ContextCommand { max_nodes: Some(1), ..command };
    let outcome = context_pack(&mut memory, &cut);
    let pack = report(&outcome);
    assert_eq!(pack["diagnostics"]["diagnostics"], diagnostics("/decls/0")["diagnostics"], "the file's and no other");
    assert_eq!(pack["ast"]["slice_meta"]["truncation"]["decls_after"], 1);
    assert_eq!(outcome.stderr, "note: x07 ast slice truncated (max_nodes); without m.g\n");
    assert_eq!(outcome::of_pack(stan_engine::context_pack(&mut memory, &cut), WRAPPED).stderr, "");
}

#[test]
fn n01_standard_error_tells_how_a_pointer_was_read_when_it_matters() {
    let mut unsorted = module();
    unsorted["decls"].as_array_mut().unwrap().reverse();
    let mut memory = Memory::with(&[("sorted.json", module()), ("unsorted.json", unsorted)]);
    let mut check = |input: &str, pointer_space: PointerSpace, tells_reading: bool, name: &str, note: &str| {
        let mut command = command(input, "/decls/0");
        command.request.pointer_space = pointer_space;
        let outcome = slice_with(&mut memory, &command, Printing { tells_reading, is_wrapped: false });
        assert_eq!(report(&outcome)["slice_ast"]["decls"][0]["name"], name);
        assert!(outcome.stderr.contains(note), "{}", outcome.stderr);
        assert_eq!(outcome.stderr.is_empty(), note.is_empty(), "{}", outcome.stderr);
    };
    check("sorted.json", PointerSpace::File, true, "m.f", "");
    check("unsorted.json", PointerSpace::File, true, "m.g", "was read in the file as written");
    check("unsorted.json", PointerSpace::Canonical, true, "m.f", "was read in the canonical document");
    check("unsorted.json", PointerSpace::Toolchain, false, "m.f", "");
}

/// Slices `m.json`, edits the first body, and returns the documents needed to apply it.
fn edited(document: &Value, pointer_space: PointerSpace) -> Memory {
    let mut memory = Memory::with(&[("m.json", document.clone())]);
    let mut command = command("m.json", "/decls/0");
    command.request.pointer_space = pointer_space;
    let made = slice(&mut memory, &command);
    let mut document = report(&made);
    memory.0.insert("report.json".to_owned(), made.stdout);
    memory.0.insert("meta.json".to_owned(), document["slice_meta"].to_string().into_bytes());
    memory.0.insert("same.json".to_owned(), document["slice_ast"].to_string().into_bytes());
    document["slice_ast"]["decls"][0]["body"] = json!(7);
    memory.0.insert("edited.json".to_owned(), document["slice_ast"].to_string().into_bytes());
    memory
}

#[test]
fn n20_an_edited_slice_goes_back_into_its_file() {
    let mut unsorted = module();
    unsorted["decls"].as_array_mut().unwrap().reverse();
    // Under both interpretations, pointer and metadata are the same.
    for (document, reading, place, name) in [
        (module(), PointerSpace::Canonical, 0, "m.f"),
        (unsorted.clone(), PointerSpace::Canonical, 0, "m.f"),
        (unsorted, PointerSpace::File, 1, "m.g"),
    ] {
        let mut memory = edited(&document, reading);
        let applied = apply_slice(&mut memory, ["m.json", "edited.json", "report.json"]);
        let mut expected = module();
        expected["decls"][place]["body"] = json!(7);
        assert_eq!(report(&applied), expected);
        assert_eq!((applied.exit_code, applied.stderr), (0, format!("note: changed {name}\n")));
        let same = apply_slice(&mut memory, ["m.json", "same.json", "report.json"]);
        assert_eq!((report(&same), same.stderr.as_str()), (module(), ""), "nothing edited, nothing changed");
        let unverified = apply_slice(&mut memory, ["m.json", "edited.json", "meta.json"]);
        assert_eq!(unverified.stdout, applied.stdout);
        assert!(unverified.stderr.contains("no digest"), "{}", unverified.stderr);
    }
}

#[test]
fn n20_a_slice_that_cannot_be_merged_is_rejected_with_a_report() {
    let mut memory = edited(&module(), PointerSpace::Canonical);
    memory.0.insert("changed.json".to_owned(), format!(" {}", module()).into_bytes());
    memory.0.insert("text.json".to_owned(), b"{".to_vec());
    let mut other = module();
    other["decls"][0]["body"] = json!(0);
    memory.0.insert("other.json".to_owned(), other.to_string().into_bytes());
    let mut lost: Value = serde_json::from_slice(&memory.0["edited.json"]).unwrap();
    lost["decls"].as_array_mut().unwrap().pop();
    memory.0.insert("lost.json".to_owned(), lost.to_string().into_bytes());
    let mut check = |names: [&str; 3], exit_code: u8, message: &str| {
        let outcome = apply_slice(&mut memory, names);
        let report = report(&outcome);
        assert_eq!((outcome.exit_code, &report["ok"]), (exit_code, &json!(false)), "{names:?}");
        assert!(report["diagnostics"][0]["message"].as_str().unwrap().contains(message), "{report}");
        assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
    };
    check(["changed.json", "edited.json", "report.json"], 20, "changed.json is not the file that was sliced");
    check(["m.json", "lost.json", "report.json"], 20, "\"m.g\" is missing in the edited slice");
    check(["other.json", "edited.json", "meta.json"], 20, "\"m.g\" was added to the slice");
    check(["m.json", "text.json", "report.json"], 2, "text.json: ");
    check(["m.json", "edited.json", "text.json"], 2, "text.json: ");
    check(["m.json", "edited.json", "m.json"], 2, "neither a report of `ast slice`");
    check(["m.json", "none.json", "report.json"], 2, "read: none.json: No such file");
}

#[test]
fn a_wrapped_report_has_the_fields_of_the_toolchain() {
    let mut memory = Memory::with(&[("ok.json", module())]);
    let mut command = command("ok.json", "/decls/0");
    command.request.max_nodes = Some(1);
    let plain = slice(&mut memory, &command);
    assert_eq!(report(&plain)["diagnostics"][0]["data"]["dropped_decls"], json!(["m.g"]));
    let wrapped = slice_with(&mut memory, &command, WRAPPED);
    assert_eq!(report(&wrapped)["diagnostics"][0]["data"].get("dropped_decls"), None);
    assert_eq!(wrapped.diagnostics, plain.diagnostics, "the report around it still tells");
}

#[test]
fn n17_a_failed_pack_is_a_report() {
    let (mut memory, command) = world("", "/", "/decls/9");
    let outcome = context_pack(&mut memory, &command);
    let failed = report(&outcome);
    assert_eq!((outcome.exit_code, &failed["ok"]), (2, &json!(false)));
    assert_eq!(
        failed["diagnostics"][0]["message"],
        "slice entry at \"/decls/9\": JSON Pointer not found: \"/decls/9\""
    );
    assert_eq!(failed["slice_meta"]["ptr"], "/decls/9");
    assert_eq!(failed["digests"]["inputs"].as_array().unwrap().len(), 3, "what was read is reported");
    let (mut memory, command) = world("", "/", "/decls/0");
    let out = ContextCommand { out: Some("dir/".to_owned()), ..command };
    let unwritable = report(&context_pack(&mut memory, &out));
    assert!(unwritable["diagnostics"][0]["message"].as_str().unwrap().starts_with("write: dir/: "));
}

#[test]
fn n18_standard_input_is_a_document() {
    let mut memory = Memory::with(&[("-", module())]);
    let report = report(&slice(&mut memory, &command("-", "/decls/0")));
    assert_eq!((&report["in"], &report["digests"]["inputs"][0]["path"]), (&json!("-"), &json!("-")));
}

#[test]
fn n19_a_pack_finds_its_enclosure() {
    for (pointer, enclosure) in [("/decls/1", "decl"), ("/solve", "module"), ("", "module"), ("/module_id", "module")] {
        let (mut memory, command) = world("", "/", pointer);
        let outcome = context_pack(&mut memory, &command);
        assert_eq!(outcome.exit_code, 0, "{pointer}");
        assert_eq!(report(&outcome)["ast"]["slice_meta"]["enclosure"], enclosure, "{pointer}");
    }
    let (mut memory, command) = world("", "/", "/solve");
    let asked = ContextCommand { enclosure: Some(Enclosure::Decl), ..command };
    assert_eq!(context_pack(&mut memory, &asked).exit_code, 2, "what is asked for is not replaced");
}

#[test]
fn diagnostics_of_tools_and_their_faults() {
    let check = |diag: Value, expected: &str| {
        let (mut memory, command) = world("", "/", "");
        memory.0.insert("-".to_owned(), diag.to_string().into_bytes());
        let outcome = context_pack(&mut memory, &command);
        let message = report(&outcome)["diagnostics"][0]["message"].as_str().unwrap_or("fine").to_owned();
        assert!(message.contains(expected), "{message}");
    };
    let item = |loc: Value| json!({"code": "C", "severity": "error", "loc": loc});
    let tool = |items: Value| json!({"schema_version": "x07.tool.lint.report@0.1.0", "ok": 7, "diagnostics": items, "result": {}});
    check(tool(json!([item(json!({"kind": "x07ast", "ptr": ""}))])), "fine");
    check(tool(json!([])), "no diagnostics");
    check(tool(json!([item(json!(null))])), "no loc at /diagnostics/0");
    check(tool(json!([item(json!({"kind": "text"}))])), "not x07ast");
    check(tool(json!([item(json!({"kind": "x07ast"}))])), "no loc.ptr");
    check(tool(json!([{"severity": "error"}])), "no code");
    check(json!({"schema_version": "other@0.1.0"}), "unsupported diag schema_version");
    check(tool(json!([item(json!({"kind": "x07ast", "ptr": "", "n": u64::MAX}))])), "/diagnostics/0/loc/n");
}

#[test]
fn packs_and_reports_are_valid_by_our_schemas() {
    let validator = |text: &str| jsonschema::validator_for(&serde_json::from_str::<Value>(text).unwrap()).unwrap();
    let packs = validator(include_str!("../../../../schemas/x07-agent.context.schema.json"));
    let reports = validator(include_str!("../../../../schemas/x07-slice.report.schema.json"));
    let bounds = [(None, None), (Some(1), None), (None, Some(170)), (Some(1), Some(150)), (None, Some(3))];
    for (max_nodes, max_bytes) in bounds {
        let (mut memory, command) = world("", "/", "/decls/0/body/1");
        let outcome = context_pack(&mut memory, &ContextCommand { max_nodes, max_bytes, ..command });
        let judge = if outcome.exit_code == 0 { &packs } else { &reports };
        let errors: Vec<String> = judge.iter_errors(&report(&outcome)).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        let outcome = slice(&mut memory, &bounded_command(max_nodes, max_bytes));
        let errors: Vec<String> = reports.iter_errors(&report(&outcome)).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
}

fn bounded_command(max_nodes: Option<u64>, max_bytes: Option<u64>) -> SliceCommand {
    let mut command = command("src/main.x07.json", "/decls/0/body/1");
    (command.request.max_nodes, command.request.max_bytes) = (max_nodes, max_bytes);
    command
}
