//! The laws of `stan mcp`'s parser of lines and calls, as far as they need no repository.

use serde_json::Value;

/// Options that a call may set, each joined to its value. Permissions and folders are only set when the server starts.
const OPTIONS: [&str; 14] = [
    "--about",
    "--at",
    "--budget",
    "--changed",
    "--depth",
    "--dry-run",
    "--focus",
    "--kinds",
    "--level",
    "--log",
    "--no-archive",
    "--seen",
    "--since",
    "--symbol",
];

/// Each message has at most one answer, which is a result or an error with an id from the input. A call is translated to a
/// read-only command with known options, and all paths in it are checked and stay inside the root.
pub fn law(bytes: &[u8]) {
    let answers = stan_cli::mcp_answers(bytes);
    assert_eq!(answers, stan_cli::mcp_answers(bytes), "the same twice");
    let ids = ids(bytes);
    for answer in &answers {
        assert!(answer["result"].is_object() != answer["error"].is_object(), "{answer}");
        assert!(answer["id"].is_null() || ids.contains(&answer["id"]), "{answer}");
        assert!(answer["error"].is_null() || answer["error"]["code"].is_i64(), "{answer}");
        if let Some(arguments) = answer["result"]["arguments"].as_array() {
            let arguments: Vec<&str> = arguments.iter().filter_map(Value::as_str).collect();
            let paths = answer["result"]["paths"].as_array().into_iter().flatten().filter_map(Value::as_str);
            command(&arguments, &paths.collect::<Vec<_>>());
        }
    }
}

/// The ids of all requests.
fn ids(bytes: &[u8]) -> Vec<Value> {
    let lines = bytes.split(|byte| *byte == b'\n');
    let lines = lines.map(|line| line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line));
    let parsed = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let messages = parsed.flat_map(|line| match line {
        Value::Array(batch) => batch,
        one => vec![one],
    });
    messages.filter_map(|message| message.get("id").cloned()).collect()
}

fn command(arguments: &[&str], paths: &[&str]) {
    let split = arguments.iter().position(|argument| *argument == "--").unwrap_or(arguments.len());
    let (options, named) = arguments.split_at(split);
    let name = options.first().copied().unwrap_or_default();
    let reading = ["map", "deps", "dependents", "cycles", "pack", "read", "find", "symbol", "check"];
    assert!(reading.contains(&name), "{arguments:?}");
    for option in &options[1..] {
        let (key, value) = option.split_once('=').unwrap_or((option, ""));
        assert!(OPTIONS.contains(&key), "{option}");
        let is_path = matches!(key, "--focus" | "--at" | "--symbol");
        assert!(!is_path || paths.iter().any(|path| value.starts_with(path)), "{option} was not checked");
        assert!(key != "--about" || !value.starts_with('@'), "{option} would read a file");
    }
    if matches!(name, "read" | "deps" | "dependents") {
        assert!(named.len() >= 2, "{arguments:?}");
        named[1..].iter().for_each(|file| {
            assert!(paths.iter().any(|path| file.starts_with(path)), "{file} was not checked");
        });
    }
    paths.iter().for_each(|path| assert!(stays_inside(path), "{path:?} leaves the root"));
    // clap never parses an argument as one of its own commands or options.
    let line = ["stan"].iter().chain(arguments).copied();
    if let Err(refused) = stan_cli::stan_command().try_get_matches_from(line) {
        assert!(refused.use_stderr(), "{arguments:?} asks for help");
    }
}

/// For any file system on any operating system.
fn stays_inside(path: &str) -> bool {
    let mut depth = 0_i64;
    let stays = path.split(['/', '\\']).all(|name| {
        depth += match name {
            "" | "." => 0,
            ".." => -1,
            _ => 1,
        };
        depth >= 0
    });
    stays && !path.is_empty() && !path.starts_with(['/', '\\']) && !path.contains('\0') && path.get(1..2) != Some(":")
}
