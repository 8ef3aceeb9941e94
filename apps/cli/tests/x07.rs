//! The program `x07` from outside: arguments, streams, exit codes, files.

use std::path::Path;
use std::process::{Command, Output, Stdio};

const MODULE: &str = r#"{"schema_version":"x07.x07ast@0.8.0","kind":"module","module_id":"m","imports":[],
"decls":[{"kind":"defn","name":"m.f","params":[],"result":"i32","body":["m.g"]},{"kind":"defn","name":"m.g","params":[],"result":"i32","body":1}]}"#;

fn run(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_x07"));
    command.args(arguments).current_dir(directory).stdin(Stdio::null()).output().unwrap()
}

/// A directory with one module.
#[expect(clippy::disallowed_methods, reason = "a test sets its own scene")]
fn directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("m.x07.json"), MODULE).unwrap();
    directory
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn the_version_is_printed_and_wrong_arguments_are_refused() {
    let directory = directory();
    let version = run(directory.path(), &["--version"]);
    assert_eq!(text(&version.stdout), concat!("x07 ", env!("CARGO_PKG_VERSION"), "\n"));
    let refused: [&[&str]; 9] = [
        &["ast"],
        &["ast", "slice"],
        &["ast", "slice", "--in", "m.x07.json", "--ptr", "-x"],
        &["ast", "slice", "--in", "", "--ptr", ""],
        &["ast", "slice", "--in", "m.x07.json", "--ptr", "", "--ptr", ""],
        &["ast", "slice", "--in", "m.x07.json", "--ptr", "", "--enclosure", "Decl"],
        &["ast", "slice", "--in", "m.x07.json", "--ptr", "", "--max-nodes", "-1"],
        &["ast", "slice", "--in", "m.x07.json", "--ptr", "", "--max-bytes", "1.5"],
        &["agent", "nope"],
    ];
    for arguments in refused {
        let output = run(directory.path(), arguments);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""), "{arguments:?}");
        assert!(!output.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_slice_to_standard_output_and_to_a_file() {
    let directory = directory();
    let output = run(directory.path(), &["ast", "slice", "--in=m.x07.json", "--ptr=/decls/1", "--max-nodes", "+3"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("\"ptr_remap\":[{\"from\":\"/decls/1\",\"to\":\"/decls/0\"}]"));
    let output =
        run(directory.path(), &["--out", "a/b/s.json", "ast", "slice", "--in", "m.x07.json", "--ptr", "/decls/1"]);
    assert!(text(&output.stdout).contains("\"slice_ast\":null"));
    #[expect(clippy::disallowed_methods, reason = "the test reads the files that were written")]
    let written = std::fs::read_to_string(directory.path().join("a/b/s.json")).unwrap();
    assert!(written.starts_with("{\"decls\":[{\"body\":1,") && written.ends_with("}\n"));
    let unwritable = run(directory.path(), &["ast", "slice", "--in", "m.x07.json", "--ptr", "/decls/1", "--out", "a"]);
    assert_eq!(unwritable.status.code(), Some(2));
    assert!(text(&unwritable.stdout).contains("write: a: "));
    #[expect(clippy::disallowed_methods, reason = "the test reads the files that were written")]
    let left = std::fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(left, 2, "no temporary file stays");
}

#[test]
fn the_machine_report_wraps_what_the_command_prints() {
    let directory = directory();
    let at = |more: &[&str]| {
        let arguments = [&["ast", "slice", "--in", "m.x07.json", "--ptr", "/decls/1"], more].concat();
        run(directory.path(), &arguments)
    };
    let wrapped: serde_json::Value = serde_json::from_slice(&at(&["--json"]).stdout).unwrap();
    assert_eq!(wrapped["schema_version"], "x07.tool.ast.slice.report@0.1.0");
    assert_eq!(wrapped["result"]["stdout"]["text"].as_str().unwrap(), text(&at(&[]).stdout));
    assert_eq!(wrapped["meta"]["inputs"], wrapped["result"]["stdout_json"]["digests"]["inputs"]);
    assert_eq!(at(&["--json=bogus"]).status.code(), Some(2));
    assert!(at(&["--json", "--quiet-json"]).stdout.is_empty());
    assert_eq!(text(&at(&["--json-schema-id"]).stdout), "x07.tool.ast.slice.report@0.1.0\n");
    assert!(text(&at(&["--json-schema"]).stdout).starts_with("{\n"));
    let lines = at(&["--jsonl"]);
    let events: Vec<&str> = text(&lines.stdout).lines().collect();
    assert!(events[0].contains("\"event\":\"start\"") && events[2].contains("\"event\":\"final_report\""));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test sets its own scene")]
fn n01_how_a_pointer_is_read() {
    let directory = directory();
    let mut module: serde_json::Value = serde_json::from_str(MODULE).unwrap();
    module["decls"].as_array_mut().unwrap().reverse();
    std::fs::write(directory.path().join("u.x07.json"), module.to_string()).unwrap();
    let check = |more: &[&str], name: &str| {
        let output =
            run(directory.path(), &[&["ast", "slice", "--in", "u.x07.json", "--ptr", "/decls/0"], more].concat());
        let printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let slice = printed.pointer("/result/stdout_json/slice_ast").unwrap_or(&printed["slice_ast"]);
        assert_eq!(slice["decls"][0]["name"], name, "{more:?}");
        text(&output.stderr).to_owned()
    };
    // The pointer refers to the canonical document, whatever the form of the command.
    check(&[], "m.f");
    check(&["--max-nodes", "7"], "m.f");
    check(&["--enclosure", "decl", "--json"], "m.f");
    check(&["--enclosure", "decl"], "m.f");
    check(&["--closure", "all"], "m.f");
    // No note if the user chose the interpretation.
    assert!(check(&["--reading", "file"], "m.g").is_empty());
    assert!(check(&["--reading", "toolchain", "--enclosure", "decl"], "m.f").is_empty());
    assert!(check(&[], "m.f").contains("--reading file"));
}

#[test]
fn a_module_is_read_from_standard_input() {
    use std::io::Write;
    let mut child = Command::new(env!("CARGO_BIN_EXE_x07"))
        .args(["ast", "slice", "--in", "-", "--ptr", "/decls/0"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(MODULE.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(text(&output.stdout).contains("\"in\":\"-\"") && output.status.success());
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test writes its input and reads the output")]
fn n20_an_edited_slice_goes_back() {
    let directory = directory();
    let at = |name: &str| directory.path().join(name);
    // The report of the machine form is accepted too.
    let slice = ["ast", "slice", "--in", "m.x07.json", "--ptr", "/decls/1", "--out", "s.json"];
    for machine in [&[][..], &["--json"]] {
        std::fs::write(at("m.x07.json"), MODULE).unwrap();
        let report = run(directory.path(), &[&slice, machine].concat());
        std::fs::write(at("report.json"), &report.stdout).unwrap();
        let cut = std::fs::read_to_string(at("s.json")).unwrap();
        std::fs::write(at("s.json"), cut.replace("\"body\":1", "\"body\":[\"+\",1,2]")).unwrap();
        let apply = ["ast", "apply-slice", "--in=m.x07.json", "--slice=s.json", "--meta=report.json"];
        let to_file = [&apply[..], &["--out", "m.x07.json"]].concat();
        let applied = run(directory.path(), &to_file);
        assert_eq!((applied.status.code(), text(&applied.stdout)), (Some(0), ""));
        assert_eq!(text(&applied.stderr), "note: changed m.g\n");
        let written: serde_json::Value = serde_json::from_slice(&std::fs::read(at("m.x07.json")).unwrap()).unwrap();
        let mut expected: serde_json::Value = serde_json::from_str(MODULE).unwrap();
        expected["decls"][1]["body"] = serde_json::json!(["+", 1, 2]);
        assert_eq!(written, expected);
        // The file has changed since.
        let again = run(directory.path(), &to_file);
        assert_eq!(again.status.code(), Some(20));
        assert!(text(&again.stderr).contains("m.x07.json is not the file that was sliced"));
        let wrapped = run(directory.path(), &[&apply[..], &["--json"]].concat());
        assert!(text(&wrapped.stdout).contains("\"schema_version\":\"x07.tool.ast.apply-slice.report@0.1.0\""));
        assert!(text(&wrapped.stdout).contains("\"exit_code\":20"));
    }
}
