//! `stan mcp` as a client sees it: messages in, messages out, until standard input ends.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};
use stan_engine::tokens::Tokenizer;

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
    let tokens = Tokenizer::O200k.count(tools["result"]["tools"].to_string().as_bytes());
    assert!(tokens <= 1_500, "the schemas have {tokens} tokens");
    for tool in tools["result"]["tools"].as_array().unwrap() {
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
    }
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

/// One call of every tool, with arguments that it accepts.
fn one_call_of_each() -> Vec<(&'static str, Value)> {
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

#[test]
fn every_answer_is_what_its_output_schema_says() {
    let repository = repository();
    let mut client = Client::start(&repository, &[]);
    let tools = client.ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }));
    for (tool, arguments) in one_call_of_each() {
        let definition = tools["result"]["tools"].as_array().unwrap().iter().find(|one| one["name"] == tool).unwrap();
        let valid = |schema: &str, value: &Value| jsonschema::is_valid(&definition[schema], value);
        assert!(valid("inputSchema", &arguments), "{tool} {arguments}");
        let answer = client.call(2, tool, arguments.clone());
        assert_eq!(answer["result"]["isError"], false, "{tool} {arguments}: {answer}");
        assert!(valid("outputSchema", &answer["result"]["structuredContent"]), "{tool}: {answer}");
        assert_eq!(answer["result"]["structuredContent"]["answer"], "full");
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(Tokenizer::O200k.count(text.as_bytes()) <= 4_000, "{tool}");
    }
    assert_eq!(client.close(), 0);
}

#[test]
fn a_long_answer_keeps_to_its_budget_and_says_how_to_get_the_rest() {
    let repository = repository();
    let long: String =
        (0..3_000).map(|number| format!("export const value{number} = {{ number: {number} }};\n")).collect();
    repository.write("src/long.ts", &long);
    let mut client = Client::start(&repository, &[]);
    for (tool, mut arguments) in
        [("read", json!({ "files": ["src/long.ts"] })), ("find", json!({ "words": "value" })), ("overview", json!({}))]
    {
        for budget in [300, 4_000] {
            arguments["budget"] = json!(budget);
            let text = client.text(tool, arguments.clone());
            let tokens = Tokenizer::O200k.count(text.as_bytes());
            assert!(tokens <= budget, "{tool}: {tokens} tokens of {budget}");
            let says_so = ["cut", "left out", "more", "folded", "budget"].iter().any(|word| text.contains(word));
            assert!(says_so || tool == "overview", "{tool}: {text}");
        }
    }
    arguments_of_all(&mut client);
    assert_eq!(client.close(), 0);
}

/// `budget: 0` means everything.
fn arguments_of_all(client: &mut Client) {
    let text = client.text("read", json!({ "files": ["src/long.ts"], "budget": 0 }));
    assert!(text.contains("value0 ") && text.contains("value2999"), "{}", text.len());
}

#[test]
fn links_out_of_the_repository_are_refused_without_reading_them() {
    let repository = repository();
    let outside = repository.root().join("../outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("secret.ts"), "export const secret = 'hidden words';\n").unwrap();
    std::os::unix::fs::symlink(&outside, repository.root().join("linked")).unwrap();
    std::os::unix::fs::symlink(outside.join("secret.ts"), repository.root().join("src/s.ts")).unwrap();
    std::os::unix::fs::symlink("a.ts", repository.root().join("src/inside.ts")).unwrap();
    let mut client = Client::start(&repository, &[]);
    for path in ["linked/secret.ts", "src/s.ts", "linked/none/x.ts"] {
        for (tool, arguments) in [
            ("read", json!({ "files": [path] })),
            ("read", json!({ "files": [format!("{path}#secret")] })),
            ("related", json!({ "relation": "deps", "files": [path] })),
            ("context", json!({ "at": [format!("{path}:1:1")] })),
            ("context", json!({ "symbol": [format!("{path}#secret")] })),
            ("context", json!({ "focus": [path] })),
            ("overview", json!({ "focus": [path] })),
        ] {
            let answer = client.call(1, tool, arguments);
            assert_eq!(answer["result"]["isError"], true, "{tool} {path}: {answer}");
            assert!(!answer.to_string().contains("hidden words"), "{tool} {path}: {answer}");
        }
    }
    let text = client.text("read", json!({ "files": ["src/inside.ts"] }));
    assert!(text.contains("b + 1"), "{text}");
    for (tool, arguments) in one_call_of_each() {
        assert!(!client.text(tool, arguments).contains("hidden words"), "{tool}");
    }
    assert_eq!(client.close(), 0);
    let folder = outside.to_str().unwrap().to_owned();
    let mut client = Client::start(&repository, &["--allow-outside", &folder]);
    let text = client.text("read", json!({ "files": ["linked/secret.ts"] }));
    assert!(text.contains("hidden words"), "consent was given at the start: {text}");
    assert_eq!(client.close(), 0);
}

#[test]
fn paths_are_relative_to_the_root_wherever_the_server_is_started() {
    let repository = repository();
    repository.write("stan.config.yml", "stan-core:\n  stanPath: .stan\n");
    let mut client = Client::start(&repository, &["--root", "src"]);
    let text = client.text("related", json!({ "relation": "deps", "files": ["src/a.ts"] }));
    assert!(text.contains("src/b.ts"), "{text}");
    assert_eq!(client.close(), 0);
}

#[test]
fn since_sends_a_patch_and_a_new_server_knows_the_digest() {
    let repository = repository();
    let lines: String = (0..200).map(|number| format!("export const v{number} = {number};\n")).collect();
    repository.write("src/v.ts", &lines);
    let mut client = Client::start(&repository, &[]);
    // The cache is made by the first command that needs a graph.
    client.text("related", json!({ "relation": "cycles" }));
    let first = client.call(1, "read", json!({ "files": ["src/v.ts"] }));
    let digest = first["result"]["structuredContent"]["digest"].as_str().unwrap().to_owned();
    repository.write("src/v.ts", &lines.replace("v7 = 7;", "v7 = 'seven';"));
    let since = json!({ "files": ["src/v.ts"], "since": digest });
    let check = |answer: &Value| {
        let content = &answer["result"]["structuredContent"];
        assert_eq!(content["answer"], "changes", "{answer}");
        let text = content["text"].as_str().unwrap();
        assert!(
            text.starts_with("@@") && text.contains("-export const v7 = 7;\n+export const v7 = 'seven';\n"),
            "{text}"
        );
    };
    check(&client.call(2, "read", since.clone()));
    assert_eq!(client.close(), 0);
    let mut client = Client::start(&repository, &[]);
    check(&client.call(1, "read", since));
    let unknown = client.call(2, "read", json!({ "files": ["src/b.ts"], "since": "0123456789abcdef" }));
    assert_eq!(unknown["result"]["structuredContent"]["answer"], "full");
    assert!(unknown["result"]["structuredContent"]["text"].as_str().unwrap().contains("is not known any more"));
    // What lies in the cache under a digest is believed only if it has that digest.
    let planted = repository.root().join(".stan/cache/answers/0123456789abcdef");
    std::fs::write(&planted, "planted\n").unwrap();
    let unknown = client.call(3, "read", json!({ "files": ["src/a.ts"], "since": "0123456789abcdef" }));
    assert!(unknown["result"]["structuredContent"]["text"].as_str().unwrap().contains("is not known any more"));
    assert_eq!(client.close(), 0);
}

#[test]
fn the_stateless_revision_needs_no_handshake() {
    let repository = repository();
    let mut client = Client::start(&repository, &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
    });
    let found =
        client.ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": { "_meta": meta } }));
    assert_eq!(found["result"]["supportedVersions"][0], "2026-07-28");
    let answer = client.ask(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": { "name": "find", "arguments": { "symbol": "b" }, "_meta": meta } }));
    assert_eq!((&answer["result"]["resultType"], &answer["result"]["isError"]), (&json!("complete"), &json!(false)));
    for method in ["resources/list", "prompts/list", "logging/setLevel", "nonsense"] {
        let answer = client.ask(&json!({ "jsonrpc": "2.0", "id": 3, "method": method }));
        assert_eq!(answer["error"]["code"], -32_601, "{method}");
    }
    let bad = client.ask(
        &json!({ "jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": { "name": "find", "arguments": [] } }),
    );
    assert_eq!(bad["error"]["code"], -32_602);
    assert_eq!(client.close(), 0);
}

#[test]
fn progress_grows_and_a_cancelled_call_has_no_answer() {
    let repository = repository();
    let mut client = Client::start(&repository, &[]);
    client.send(
        &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "find", "arguments": { "symbol": "b" }, "_meta": { "progressToken": "p" } } })
        .to_string(),
    );
    let mut told = Vec::new();
    let answer = loop {
        let message = client.messages.recv().unwrap();
        match message["method"].as_str() {
            Some("notifications/progress") => told.push(message["params"]["progress"].as_u64().unwrap()),
            _ => break message,
        }
    };
    assert_eq!((told, &answer["id"]), (vec![0, 1], &json!(1)));
    // Many calls, so that the last one still waits when it is cancelled.
    for id in 100..140 {
        client.send(
            &json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "overview" } })
                .to_string(),
        );
    }
    client.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 139 } }).to_string(),
    );
    client.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "never" } })
            .to_string(),
    );
    let answered: Vec<u64> = (100..139).map(|_| client.messages.recv().unwrap()["id"].as_u64().unwrap()).collect();
    assert!(!answered.contains(&139), "{answered:?}");
    let answer = client.ask(&json!({ "jsonrpc": "2.0", "id": 200, "method": "ping" }));
    assert_eq!(answer["id"], 200, "the server goes on: {answer}");
    assert_eq!(client.close(), 0);
}

#[test]
fn a_reply_is_checked_with_and_without_an_archive() {
    let repository = repository();
    let mut client = Client::start(&repository, &[]);
    let bad = "### Patch: src/b.ts\n\n```\n<<<<<<< SEARCH\nnothing\n=======\nx\n>>>>>>> REPLACE\n```\n";
    let text = client.text("check", json!({ "reply": bad }));
    assert!(text.contains("STAN-REPLY-0011"), "{text}");
    assert!(repository.stan(&["run"]).starts_with("exit 0"));
    let text = client.text("check", json!({ "reply": bad }));
    assert!(text.contains("STAN-REPLY-0011"), "{text}");
    assert_eq!(std::fs::read_to_string(repository.root().join("src/b.ts")).unwrap(), "export const b = 1;\n");
    assert_eq!(client.close(), 0);
}

/// Two branches and a second worktree; answers are of what is checked out.
fn with_branches(repository: &Repository) -> Option<std::path::PathBuf> {
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
    // Detached, so that the branch can be checked out here as well.
    repository.git(&["worktree", "add", "-q", "--detach", second.to_str()?, "other"])?;
    Some(second)
}

#[test]
fn branches_and_worktrees_have_their_own_answers() {
    let repository = repository();
    let Some(second) = with_branches(&repository) else {
        println!("there is no git here: skipped");
        return;
    };
    let mut first = Client::start(&repository, &[]);
    let mut other = Client::start(&repository, &["--root", second.to_str().unwrap()]);
    let users = json!({ "relation": "dependents", "files": ["src/b.ts"] });
    assert!(!first.text("related", users.clone()).contains("src/only.ts"));
    assert!(other.text("related", users.clone()).contains("src/only.ts"));
    repository.git(&["worktree", "remove", "--force", second.to_str().unwrap()]).unwrap();
    repository.git(&["checkout", "-q", "other"]).unwrap();
    assert!(first.text("related", users.clone()).contains("src/only.ts"));
    repository.git(&["checkout", "-q", "main"]).unwrap();
    assert!(!first.text("related", users).contains("src/only.ts"));
    assert_eq!(first.close(), 0);
    assert_ne!(other.close(), -1, "a server whose folder is gone ends as well");
}

/// The memory of a process in kilobytes.
#[cfg(target_os = "linux")]
fn memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Calls of every kind with edits, branch switches and worktrees meanwhile: every answer is fresh, and memory stays flat.
#[cfg(target_os = "linux")]
fn soak(calls: usize) {
    let repository = repository();
    for number in 0..200 {
        repository.write(&format!("src/m{number}.ts"), &format!("import './b.js';\nexport const m{number} = 1;\n"));
    }
    let second = with_branches(&repository);
    let mut client = Client::start(&repository, &[]);
    let mut early = 0;
    for number in 0..calls {
        if number % 50 == 0 {
            repository.write("src/b.ts", &format!("export const b = {number};\n"));
            let text = client.text("read", json!({ "files": ["src/b.ts"] }));
            assert!(text.contains(&format!("b = {number};")), "call {number}: {text}");
        }
        if number % 400 == 200 && second.is_some() {
            let branch = if number % 800 == 200 { "other" } else { "main" };
            repository.git(&["checkout", "-qf", branch]);
            let text = client.text("related", json!({ "relation": "dependents", "files": ["src/b.ts"], "budget": 0 }));
            assert_eq!(
                text.contains("src/only.ts"),
                branch == "other" || second.is_none(),
                "call {number} on {branch}"
            );
        }
        let (tool, mut arguments) = one_call_of_each().swap_remove(number % one_call_of_each().len());
        if number % 7 == 0 {
            arguments["since"] = json!("0123456789abcdef");
        }
        let answer = client.call(number as u64, tool, arguments);
        assert_eq!(answer["id"], number, "{answer}");
        if number == calls / 5 {
            early = memory(client.child.id());
        }
    }
    let late = memory(client.child.id());
    println!("{calls} calls: {early} kB after a fifth of them, {late} kB at the end");
    assert!(late < early + early / 4 + 8_192, "memory grew from {early} kB to {late} kB");
    assert_eq!(client.close(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn memory_stays_flat_over_a_few_hundred_calls() {
    soak(420);
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "takes minutes"]
fn memory_stays_flat_over_ten_thousand_calls() {
    soak(10_000);
}
