//! `stan mcp` as a client sees it: messages in, messages out, until standard input ends.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

use crate::support::Repository;

fn repository() -> Repository {
    Repository::new(&[
        ("package.json", "{\"name\":\"app\",\"type\":\"module\"}\n"),
        ("src/a.ts", "import { b } from './b.js';\nexport const a = b + 1;\n"),
        ("src/b.ts", "export const b = 1;\n"),
        ("with space/ü.ts", "import '../src/a.js';\r\nexport const c = 3;\r\n"),
    ])
}

struct Client {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
}

impl Client {
    fn start(repository: &Repository, arguments: &[&str]) -> Self {
        let arguments = [&["mcp"], arguments].concat();
        let mut child = repository
            .command(&arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).expect("a line is a message");
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        Self { child, input, messages }
    }

    fn send(&mut self, line: &str) {
        let input = self.input.as_mut().expect("it is open");
        input.write_all(line.as_bytes()).and_then(|()| input.write_all(b"\n")).expect("the server reads");
    }

    fn ask(&mut self, message: &Value) -> Value {
        self.send(&message.to_string());
        self.messages.recv().expect("an answer comes")
    }

    fn call(&mut self, id: u64, tool: &str, arguments: Value) -> Value {
        self.ask(&json!({
            "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": arguments }
        }))
    }

    fn text(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.call(1, tool, arguments);
        answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// Ends standard input, and says how the server ended.
    fn close(mut self) -> i32 {
        drop(self.input.take());
        self.child.wait().expect("it ends").code().unwrap_or(-1)
    }
}

#[test]
fn a_client_shakes_hands_lists_the_tools_and_calls_one() {
    let repository = repository();
    let mut client = Client::start(&repository, &[]);
    let hello = client.ask(&json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": { "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } }
    }));
    assert_eq!(hello["result"]["protocolVersion"], "2025-06-18");
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
    let tools = client.ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }));
    let names: Vec<&str> =
        tools["result"]["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["overview", "related", "context", "read", "find", "check"]);
    // Three bytes are a token in the worst case of such texts.
    assert!(tools["result"]["tools"].to_string().len() < 3 * 1_500, "the schemas are small");
    let text = client.text("find", json!({ "symbol": "b" }));
    assert!(text.contains("src/b.ts:1") && text.contains("src/a.ts"), "{text}");
    assert_eq!(client.close(), 0);
}

#[test]
fn answers_are_fresh_after_an_edit_and_since_tells_what_changed() {
    let repository = repository();
    let mut client = Client::start(&repository, &[]);
    let related = json!({ "relation": "dependents", "files": ["src/b.ts"] });
    let first = client.call(1, "related", related.clone());
    assert!(first["result"]["structuredContent"]["text"].as_str().unwrap().contains("src/a.ts"), "{first}");
    let digest = first["result"]["structuredContent"]["digest"].as_str().unwrap().to_owned();
    repository.write("src/d.ts", "import './b.js';\n");
    let mut since = related;
    since["since"] = json!(digest);
    let text = client.text("related", since.clone());
    assert!(text.contains("src/d.ts"), "{text}");
    let again = client.call(3, "related", since);
    let digest = again["result"]["structuredContent"]["digest"].as_str().unwrap().to_owned();
    let text = client.text("related", json!({ "relation": "dependents", "files": ["src/b.ts"], "since": digest }));
    assert!(text.starts_with("unchanged\n"), "{text}");
    assert_eq!(client.close(), 0);
}

#[test]
fn paths_out_of_the_repository_and_wrong_arguments_are_refused() {
    let repository = repository();
    std::fs::write(repository.root().join("../secret.ts"), "export const s = 1;\n").unwrap();
    let mut client = Client::start(&repository, &[]);
    #[cfg(unix)]
    for (target, link) in [("../../secret.ts", "src/link.ts"), ("..", "up")] {
        std::os::unix::fs::symlink(target, repository.root().join(link)).unwrap();
    }
    for path in ["../secret.ts", "/etc/passwd", "src/../../secret.ts", "src/link.ts", "up/secret.ts"] {
        let place = format!("{path}:1");
        for (tool, arguments) in [("read", json!({ "files": [path] })), ("context", json!({ "at": [place] }))] {
            let answer = client.call(1, tool, arguments);
            assert_eq!(answer["result"]["isError"], true, "{path}: {answer}");
            assert!(!answer.to_string().contains("export const s"), "{path}: {answer}");
        }
    }
    let unknown = client.call(2, "read", json!({ "files": ["src/aa.ts"] }));
    assert!(unknown["result"]["content"][0]["text"].as_str().unwrap().contains("src/a.ts"), "near names: {unknown}");
    assert_eq!(client.call(3, "fly", json!({}))["error"]["code"], -32_602);
    client.send("{ not json");
    assert_eq!(client.messages.recv().unwrap()["error"]["code"], -32_700);
    let text = client.text("related", json!({ "relation": "deps", "files": ["with space/ü.ts"] }));
    assert!(text.contains("src/a.ts"), "{text}");
    assert_eq!(client.close(), 0);
}

#[test]
fn many_calls_at_once_are_all_answered() {
    let repository = repository();
    let mut client = Client::start(&repository, &[]);
    for id in 0..200 {
        client.send(
            &json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
                "params": { "name": "related", "arguments": { "relation": "deps", "files": ["src/a.ts"] } } })
            .to_string(),
        );
    }
    let mut answered: Vec<u64> = (0..200)
        .map(|_| {
            let answer = client.messages.recv().expect("an answer comes");
            assert_eq!(answer["result"]["isError"], false, "{answer}");
            answer["id"].as_u64().unwrap()
        })
        .collect();
    answered.sort_unstable();
    assert_eq!(answered, (0..200).collect::<Vec<_>>());
    assert_eq!(client.close(), 0);
}

#[test]
fn a_root_that_is_not_there_is_said_at_the_start() {
    let repository = repository();
    let told = repository.stan(&["mcp", "--root", "nowhere"]);
    assert!(told.starts_with("exit 1") && told.contains("cannot enter `nowhere`"), "{told}");
}
