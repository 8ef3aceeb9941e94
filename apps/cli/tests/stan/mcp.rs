//! `stan mcp` as a client sees it: messages in, messages out, until standard input ends.

use serde_json::{Value, json};
use stan_engine::tokens::Tokenizer;

use crate::mcp_client::{Client, one_call_of_each, repository, with_branches};

#[test]
fn a_client_initialises_lists_the_tools_and_calls_one() {
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
fn answers_are_current_after_an_edit_and_since_gives_the_difference() {
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
    assert_eq!(client.next()["error"]["code"], -32_700);
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
            let answer = client.next();
            assert_eq!(answer["result"]["isError"], false, "{answer}");
            answer["id"].as_u64().unwrap()
        })
        .collect();
    answered.sort_unstable();
    assert_eq!(answered, (0..200).collect::<Vec<_>>());
    assert_eq!(client.close(), 0);
}

#[test]
fn a_missing_root_is_reported_at_the_start() {
    let repository = repository();
    let output = repository.stan(&["mcp", "--root", "nowhere"]);
    assert!(output.starts_with("exit 1") && output.contains("cannot enter `nowhere`"), "{output}");
}

#[test]
fn every_answer_matches_its_output_schema() {
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
fn a_long_file_is_read_in_parts() {
    let repository = repository();
    let long: String =
        (1..=3_000).map(|number| format!("export const value{number} = {{ number: {number} }};\n")).collect();
    repository.write("src/long.ts", &long);
    let mut client = Client::start(&repository, &[]);
    let text = client.text("read", json!({ "files": ["src/long.ts"] }));
    assert!(text.contains("value1 ") && text.contains("value20 ") && text.contains(" more lines\n"), "{text}");
    assert!(text.contains("FILE:FROM-TO shows some lines"), "{text}");
    let text = client.text("read", json!({ "files": ["src/long.ts:2999-9999", "src/long.ts:7"] }));
    let expected = "src/long.ts:2999-3000\nexport const value2999 = { number: 2999 };\nexport const value3000 = { number: 3000 };\n\
        src/long.ts:7-7\nexport const value7 = { number: 7 };\n";
    assert!(text.starts_with(expected), "{text}");
    let text = client.text("read", json!({ "files": ["src/long.ts:10-2000"], "budget": 500 }));
    assert!(text.contains("value10 ") && !text.contains("value900 ") && text.contains(" more lines\n"), "{text}");
    let text = client.text("read", json!({ "files": ["src"] }));
    assert!(text.contains("is a folder; `stan map --focus src`"), "{text}");
    assert_eq!(client.close(), 0);
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
    // The first command that needs a graph creates the cache.
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
    // A cache entry under a digest is trusted only if its contents have that digest.
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
    let mut steps = Vec::new();
    let answer = loop {
        let message = client.next();
        match message["method"].as_str() {
            Some("notifications/progress") => steps.push(message["params"]["progress"].as_u64().unwrap()),
            _ => break message,
        }
    };
    assert_eq!((steps, &answer["id"]), (vec![0, 1], &json!(1)));
    // Enough calls that the last one is still queued when it is cancelled.
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
    let answered: Vec<u64> = (100..139).map(|_| client.next()["id"].as_u64().unwrap()).collect();
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
