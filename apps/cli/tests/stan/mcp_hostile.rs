//! `stan mcp` with invalid, hostile, impatient or disconnected clients.

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use stan_engine::tokens::Tokenizer;

use crate::mcp_client::{Client, repository};
use crate::support::Repository;

fn ping(id: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }).to_string()
}

fn call(id: u64, tool: &str, arguments: Value) -> String {
    let params = json!({ "name": tool, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
}

#[test]
fn ids_are_returned_as_sent() {
    let repository = repository();
    let mut client = Client::start(&repository, &[]);
    for id in [json!(0), json!(-1), json!(1.5), json!(u64::MAX), json!(""), json!("é\0\n"), json!("x".repeat(100_000))]
    {
        client.send(&ping(id.clone()));
        let answer = client.next();
        assert!(answer["id"] == id && answer["result"].is_object(), "{answer}");
    }
    for id in [json!(true), json!([]), json!({}), Value::Null] {
        client.send(&ping(id));
        assert_eq!(client.next()["error"]["code"], -32_600);
    }
    // Two calls with the same id both get an answer.
    for _ in 0..20 {
        client.send(&call(1, "find", json!({ "symbol": "b" })));
    }
    (0..20).for_each(|_| assert_eq!(client.next()["id"], 1));
    assert_eq!(client.close(), 0);
}

#[test]
fn invalid_lines_are_answered_and_the_server_continues() {
    let repository = repository();
    let mut client = Client::start(&repository, &[]);
    for (line, code) in [
        (&b"\xff\xfe\x00"[..], -32_700),
        (b"{\"id\":1,\"method\":\"ping\xff\"}", -32_700),
        (b"{", -32_700),
        (b"{\"id\":1,\"method\":\"ping\"}{\"id\":2,\"method\":\"ping\"}", -32_700),
        (b"null", -32_600),
        (b"\"x\"", -32_600),
        (b"[]", -32_600),
        (b"{\"id\":1,\"method\":5}", -32_600),
        (b"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", -32_600),
        (b"{\"id\":1,\"method\":\"tools/call\",\"params\":[1]}", -32_602),
        (b"{\"id\":1,\"method\":\"\\u0000\\u001b[31m\"}", -32_601),
    ] {
        client.send_bytes(line);
        assert_eq!(client.next()["error"]["code"], code, "{:?}", String::from_utf8_lossy(line));
    }
    for deep in ["[", "{\"a\":"] {
        client.send(&deep.repeat(100_000));
        assert_eq!(client.next()["error"]["code"], -32_700);
    }
    // Bytes that shells and editors add to a line.
    client.send_bytes(b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r");
    assert_eq!(client.next()["id"], 1);
    client.send("   \r\n\t\n");
    client.send(&ping(json!(2)));
    assert_eq!(client.next()["id"], 2);
    assert_eq!(client.close(), 0);
}

#[test]
fn lines_of_a_hundred_megabytes_are_refused_and_do_not_add_up() {
    let repository = repository();
    let mut client = Client::start(&repository, &[]);
    for _ in 0..3 {
        client.send_bytes(&vec![b'x'; 100_000_000]);
        assert_eq!(client.next()["error"]["code"], -32_600);
    }
    client.send(&ping(json!(1)));
    assert_eq!(client.next()["id"], 1);
    #[cfg(target_os = "linux")]
    {
        let status = std::fs::read_to_string(format!("/proc/{}/status", client.child.id())).unwrap();
        let resident = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        let kilobytes: u64 = resident.split_whitespace().nth(1).unwrap().parse().unwrap();
        assert!(kilobytes < 200_000, "{resident}");
    }
    assert_eq!(client.close(), 0);
}

#[test]
fn batches_are_answered_in_order_and_do_not_hold_up_the_rest() {
    let repository = repository();
    let mut client = Client::start(&repository, &[]);
    let batch = json!([
        { "jsonrpc": "2.0", "id": 1, "method": "ping" },
        { "jsonrpc": "2.0", "method": "notifications/initialized" },
        { "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "find", "arguments": { "symbol": "b" } } },
        3,
        { "jsonrpc": "2.0", "id": 4, "method": "nope" },
    ]);
    let answer = client.ask(&batch);
    let ids: Vec<Value> = answer.as_array().unwrap().iter().map(|one| one["id"].clone()).collect();
    assert_eq!(ids, [json!(1), json!(2), Value::Null, json!(4)], "{answer}");
    assert_eq!(answer[1]["result"]["isError"], false, "{answer}");
    // A batch of notifications has no answer.
    client.send(&json!([{ "jsonrpc": "2.0", "method": "notifications/initialized" }]).to_string());
    client.send(&ping(json!(5)));
    assert_eq!(client.next()["id"], 5);
    assert_eq!(client.close(), 0);
}

fn with_many_files() -> Repository {
    let repository = repository();
    for number in 0..300 {
        repository.write(&format!("src/m{number}.ts"), &format!("import './b.js';\nexport const m{number} = 1;\n"));
    }
    repository
}

#[test]
fn the_end_of_the_input_ends_the_server_behind_the_answers() {
    let repository = with_many_files();
    let mut client = Client::start(&repository, &[]);
    for id in 0..50 {
        client.send(&call(id, "overview", json!({})));
    }
    // Without a line end.
    let messages = client.finish(ping(json!("last")).as_bytes());
    assert_eq!(messages.len(), 51, "everything that was asked for is answered");
}

#[test]
fn a_server_without_a_reader_ends_without_working_off_its_calls() {
    let repository = with_many_files();
    let mut child = repository
        .command(&["mcp"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    for id in 0..900 {
        writeln!(input, "{}", call(id, "context", json!({ "about": format!("m{id} imports b") }))).unwrap();
    }
    drop(child.stdout.take());
    drop(input);
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(started.elapsed() < Duration::from_secs(60), "it still works though no one reads");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(child.wait_with_output().unwrap().stderr, b"");
}

#[test]
fn answers_to_cancelled_calls_are_not_sent() {
    let repository = with_many_files();
    let mut client = Client::start(&repository, &[]);
    for id in 0..60 {
        client.send(&call(id, "overview", json!({})));
    }
    for id in 0..60 {
        let params = json!({ "requestId": id, "reason": "not wanted" });
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }).to_string());
    }
    for params in [json!({}), json!({ "requestId": null }), json!({ "requestId": {} }), json!([1]), Value::Null] {
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }).to_string());
    }
    client.send(&call(99, "find", json!({ "symbol": "b" })));
    // A few may have been answered before the cancellation.
    let before = (0..).map(|_| client.next()).take_while(|answer| answer["id"] != 99).count();
    assert!(before < 40, "{before} of 60 were answered");
    // The id can be used again.
    client.send(&call(3, "find", json!({ "symbol": "b" })));
    assert_eq!(client.next()["id"], 3);
    assert_eq!(client.close(), 0);
}

#[test]
fn wrong_arguments_are_reported_within_the_budget() {
    let repository = repository();
    let mut client = Client::start(&repository, &[]);
    let refusal = |client: &mut Client, tool: &str, arguments: Value| {
        let answer = client.call(1, tool, arguments);
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    };
    let near = refusal(&mut client, "read", json!({ "file": ["src/a.ts"] }));
    assert!(near.contains("did you mean `files`?"), "{near}");
    let near = refusal(&mut client, "overview", json!({ "bugdet": 5 }));
    assert!(near.contains("did you mean `budget`?"), "{near}");
    let kinds = refusal(&mut client, "related", json!({ "relation": "deps", "files": ["src/a.ts"], "kinds": "x" }));
    assert!(kinds.contains("runtime, type, dynamic") && !kinds.contains("--help"), "{kinds}");
    let many: Vec<String> = (0..20_000).map(|number| format!("src/none{number}.ts")).collect();
    for (tool, arguments) in [
        ("read", json!({ "files": many })),
        ("related", json!({ "relation": "deps", "files": many })),
        ("overview", json!({ "focus": many })),
    ] {
        let text = refusal(&mut client, tool, arguments);
        let tokens = Tokenizer::O200k.count(text.as_bytes());
        assert!(tokens <= 4_000, "{tool}: {tokens} tokens");
    }
    // Numbers beyond any repository mean "all".
    let all = json!({ "relation": "dependents", "files": ["src/b.ts"], "depth": u64::MAX, "budget": u64::MAX });
    assert!(client.text("related", all).contains("with space/ü.ts"));
    assert_eq!(client.close(), 0);
}

#[test]
fn no_spelling_of_a_path_escapes_the_repository() {
    let repository = repository();
    let above = repository.root().parent().unwrap().to_owned();
    std::fs::write(above.join("secret.ts"), "export const Hidden = 'hidden words';\n").unwrap();
    #[cfg(unix)]
    for (target, link) in
        [("..", "up"), ("../secret.ts", "v2"), ("..", "v3"), ("v3", "chain"), ("/proc/self/environ", "env.ts")]
    {
        std::os::unix::fs::symlink(target, repository.root().join(link)).unwrap();
    }
    let absolute = above.join("secret.ts").to_str().unwrap().to_owned();
    let url = format!("file://{absolute}");
    let paths = [
        "../secret.ts",
        &absolute,
        &url,
        "src/../../secret.ts",
        "up/secret.ts",
        "v2",
        "v3/secret.ts",
        "chain/secret.ts",
        "env.ts",
        "C:\\secret.ts",
        "D:secret.ts",
        "\\\\host\\share",
        "\\\\?\\C:\\x",
        "..\\secret.ts",
        "{..,x}/secret.ts",
        "[.][.]/secret.ts",
        "%2e%2e/secret.ts",
        "a\0/../../secret.ts",
        "src/a.ts\0",
        "/dev/stdin",
        "@../secret.ts",
        "~/secret.ts",
        "．．/secret.ts",
    ];
    let mut client = Client::start(&repository, &[]);
    for path in paths {
        for (tool, arguments) in [
            ("read", json!({ "files": [path] })),
            ("read", json!({ "files": ["src/a.ts", format!("{path}#Hidden")], "level": "line" })),
            ("related", json!({ "relation": "dependents", "files": [path] })),
            ("context", json!({ "at": [format!("{path}:1:1")] })),
            ("context", json!({ "symbol": [format!("{path}#Hidden")] })),
            ("context", json!({ "focus": [path] })),
            ("context", json!({ "focus": [format!("{path}:2")] })),
            ("overview", json!({ "focus": [path] })),
        ] {
            let answer = client.call(1, tool, arguments.clone());
            assert_eq!(answer["result"]["isError"], true, "{tool} {arguments}: {answer}");
            assert!(!answer.to_string().contains("hidden words"), "{tool} {arguments}: {answer}");
        }
        for (tool, arguments) in [
            ("context", json!({ "about": format!("@{path}") })),
            ("context", json!({ "about": format!(" @{path}") })),
            ("context", json!({ "changed": path })),
            ("context", json!({ "log": format!("{path}:1:1: error: x\n{path}(1,1): error TS2304: x\n") })),
            ("find", json!({ "words": format!("Hidden {path}") })),
            ("find", json!({ "symbol": format!("{path}#Hidden") })),
            ("check", json!({ "reply": format!("### File: {path}\n\n```\nx\n```\n") })),
            ("read", json!({ "files": ["src/a.ts"], "since": path })),
            ("related", json!({ "relation": "deps", "files": ["src/a.ts"], "kinds": path })),
        ] {
            let answer = client.call(1, tool, arguments.clone());
            assert!(answer["result"].is_object(), "{tool} {arguments}: {answer}");
            assert!(!answer.to_string().contains("hidden words"), "{tool} {arguments}: {answer}");
        }
    }
    assert_eq!(client.close(), 0);
    assert_eq!(std::fs::read_to_string(absolute).unwrap(), "export const Hidden = 'hidden words';\n");
}

#[test]
fn an_edit_of_the_same_size_and_time_is_seen_at_once() {
    let repository = repository();
    let path = repository.root().join("src/b.ts");
    let mut client = Client::start(&repository, &[]);
    client.text("overview", json!({}));
    for round in 0..12 {
        let time = std::fs::metadata(&path).unwrap().modified().unwrap();
        let name = ["kilo", "lima", "mike"][round % 3];
        let text = format!("export const {name} = 1;\n");
        if round % 2 == 0 {
            std::fs::write(&path, text).unwrap();
        } else {
            std::fs::write(path.with_extension("new"), text).unwrap();
            std::fs::rename(path.with_extension("new"), &path).unwrap();
        }
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        for (tool, arguments) in [
            ("overview", json!({})),
            ("read", json!({ "files": ["src/b.ts"] })),
            ("find", json!({ "symbol": name })),
            ("context", json!({ "symbol": [format!("src/b.ts#{name}")] })),
        ] {
            let text = client.text(tool, arguments);
            assert!(text.contains(name), "round {round}: {tool}: {text}");
        }
    }
    assert_eq!(client.close(), 0);
}

#[test]
fn a_name_that_is_declared_more_than_once_means_all_of_them() {
    let repository = repository();
    repository.write(
        "src/shape.ts",
        "export interface Shape {\n  area: number;\n}\nexport const Shape = {\n  unit: (): Shape => ({ area: 1 }),\n};\n",
    );
    repository.write("go.mod", "module example.test/m\n");
    repository.write(
        "m.go",
        "package m\n\ntype A struct{ n int }\ntype B struct{ n int }\n\nfunc (a *A) Run() int { return a.n }\n\nfunc (b B) Run() int { return -b.n }\n",
    );
    let mut client = Client::start(&repository, &[]);
    let text = client.text("context", json!({ "symbol": ["src/shape.ts#Shape"] }));
    assert!(text.contains("area: number;") && text.contains("unit: (): Shape"), "{text}");
    for name in ["A.Run", "(*A).Run"] {
        for (tool, arguments) in [
            ("read", json!({ "files": [format!("m.go#{name}")] })),
            ("context", json!({ "symbol": [format!("m.go#{name}")] })),
        ] {
            let text = client.text(tool, arguments);
            assert!(text.contains("return a.n") && !text.contains("return -b.n"), "{tool} {name}: {text}");
        }
        let text = client.text("find", json!({ "symbol": name }));
        assert!(text.starts_with("m.go:6-6"), "{text}");
    }
    let both = client.text("read", json!({ "files": ["m.go#Run"] }));
    assert!(both.contains("return a.n") && both.contains("return -b.n"), "{both}");
    let near = client.text("read", json!({ "files": ["m.go#A.Rum"] }));
    assert!(near.contains("`A.Run`"), "{near}");
    assert_eq!(client.close(), 0);
}
