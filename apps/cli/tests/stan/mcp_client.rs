//! A client of `stan mcp` for tests, and its calls.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::Repository;

pub(crate) fn repository() -> Repository {
    Repository::new(&[
        ("package.json", "{\"name\":\"app\",\"type\":\"module\"}\n"),
        ("src/a.ts", "import { b } from './b.js';\nexport const a = b + 1;\n"),
        ("src/b.ts", "export const b = 1;\n"),
        ("with space/ü.ts", "import '../src/a.js';\r\nexport const c = 3;\r\n"),
    ])
}

pub(crate) struct Client {
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
}

impl Client {
    pub(crate) fn start(repository: &Repository, arguments: &[&str]) -> Self {
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

    pub(crate) fn send(&mut self, line: &str) {
        self.send_bytes(line.as_bytes());
    }

    /// Sends a line of any bytes.
    pub(crate) fn send_bytes(&mut self, line: &[u8]) {
        let input = self.input.as_mut().expect("it is open");
        input.write_all(line).and_then(|()| input.write_all(b"\n")).expect("the server reads");
    }

    /// The next message; fails the test if the server does not answer.
    pub(crate) fn next(&self) -> Value {
        self.messages.recv_timeout(Duration::from_secs(120)).expect("an answer comes")
    }

    pub(crate) fn ask(&mut self, message: &Value) -> Value {
        self.send(&message.to_string());
        self.next()
    }

    pub(crate) fn call(&mut self, id: u64, tool: &str, arguments: Value) -> Value {
        self.ask(&json!({
            "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": arguments }
        }))
    }

    pub(crate) fn text(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.call(1, tool, arguments);
        answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// Sends the last bytes, closes standard input, and returns the remaining messages. The server must exit with 0.
    pub(crate) fn finish(mut self, last: &[u8]) -> Vec<Value> {
        let mut input = self.input.take().expect("it is open");
        input.write_all(last).expect("the server reads");
        drop(input);
        assert!(self.child.wait().expect("it ends").success());
        self.messages.iter().collect()
    }

    /// Closes standard input, and returns the exit code of the server.
    pub(crate) fn close(mut self) -> i32 {
        drop(self.input.take());
        self.child.wait().expect("it ends").code().unwrap_or(-1)
    }
}

/// One call of every tool, with valid arguments.
pub(crate) fn one_call_of_each() -> Vec<(&'static str, Value)> {
    vec![
        ("overview", json!({})),
        ("overview", json!({ "level": "folder", "focus": ["src"], "budget": 500 })),
        ("related", json!({ "relation": "deps", "files": ["src/a.ts"] })),
        ("related", json!({ "relation": "dependents", "files": ["src/b.ts"], "depth": 2 })),
        ("related", json!({ "relation": "cycles" })),
        ("context", json!({ "at": ["src/a.ts:2"] })),
        ("context", json!({ "symbol": ["src/b.ts#b"] })),
        ("context", json!({ "focus": ["src/a.ts"] })),
        ("context", json!({ "about": "what is b" })),
        ("context", json!({ "log": "src/a.ts(2,14): error TS2304: Cannot find name 'c'." })),
        ("read", json!({ "files": ["src/b.ts", "src/a.ts#a"], "level": "signature" })),
        ("find", json!({ "words": "b" })),
        ("find", json!({ "symbol": "b" })),
        ("check", json!({ "reply": "### File: src/b.ts\n\n```\nexport const b = 2;\n```\n" })),
    ]
}

/// Two branches and a second worktree; answers must match what is checked out.
pub(crate) fn with_branches(repository: &Repository) -> Option<std::path::PathBuf> {
    repository.write(".gitignore", ".stan/\n");
    repository.git(&["init", "-q", "-b", "main"])?;
    for arguments in [
        &["add", "."][..],
        &["-c", "user.name=t", "-c", "user.email=t@example.invalid", "commit", "-qm", "one"],
        &["checkout", "-qb", "other"],
    ] {
        repository.git(arguments)?;
    }
    repository.write("src/only.ts", "import './b.js';\n");
    for arguments in [
        &["add", "."][..],
        &["-c", "user.name=t", "-c", "user.email=t@example.invalid", "commit", "-qm", "two"],
        &["checkout", "-q", "main"],
    ] {
        repository.git(arguments)?;
    }
    let second = repository.root().parent()?.join("second");
    // Detached, so that the branch can be checked out here too.
    repository.git(&["worktree", "add", "-q", "--detach", second.to_str()?, "other"])?;
    Some(second)
}
