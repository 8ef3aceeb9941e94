//! `stan mcp`: the commands as tools of the Model Context Protocol, over standard input and output. Each call runs one
//! command in this process, with its output captured, so that the answer is the command's. No index step and no state but
//! the answers whose digests clients hold: every call sees the files as they are.

mod answers;
mod protocol;
mod tools;

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clap::Parser;
use serde_json::{Value, json};
use stan_engine::tokens::Tokenizer;
use stan_engine::{Engine, Untrusted};

use crate::args::{Cli, McpArgs};
use crate::exit::Failure;
use crate::terminal::{self, capture};
use crate::workspace::Workspace;

use self::answers::Answers;
use self::protocol::{Call, Message};

/// The longest message. Replies and logs are the largest things that clients send.
const LONGEST_MESSAGE: u64 = 64 << 20;

/// Calls that run at once. More only wait for each other's threads.
const WORKERS: usize = 4;

/// Calls that wait. Beyond them nothing more is read until some are answered.
const MOST_WAITING: usize = 1_000;

/// Tokens that the lines around a cut answer may take: the notice and the digest.
const FRAME: u64 = 60;

/// Serves until standard input ends.
pub(crate) fn run(cli: &Cli, engine: &Engine<'_>, args: &McpArgs) -> Result<(), Failure> {
    // A folder that is not there is said now, not with every call.
    let directory = args.root.as_deref().or(cli.directory.as_deref()).unwrap_or(".").to_owned();
    let typed = |name: &str, values: &[String]| -> Vec<String> {
        values.iter().map(|value| format!("--{name}={value}")).collect()
    };
    let mut first = vec!["stan".to_owned(), format!("--directory={directory}")];
    first.extend(typed("config", cli.config.as_slice()));
    first.extend(typed("stan-path", cli.stan_path.as_slice()));
    first.extend(typed("allow-outside", &cli.allow_outside));
    first.extend(typed("allow-secret", &cli.allow_secret));
    first.push("graph".to_owned());
    let first = Cli::try_parse_from(first).map_err(|error| Failure::internal(error.to_string()))?;
    let workspace = Workspace::find(&first, engine)?;
    let common = common_arguments(cli, &workspace);
    let answers = Answers::of(&workspace.root, &workspace.config.stan_path);
    let server = Arc::new(Server {
        engine,
        common,
        workspace,
        tools: tools::list(),
        answers: Mutex::new(answers),
        in_flight: Mutex::default(),
    });
    let (sender, receiver) = sync_channel::<Call>(MOST_WAITING);
    let receiver = Arc::new(Mutex::new(receiver));
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            let (server, receiver) = (Arc::clone(&server), Arc::clone(&receiver));
            scope.spawn(move || server.work(&receiver));
        }
        let served = server.serve(&mut io::stdin().lock(), &terminal::send, &mut |call| sender.send(call).is_ok());
        // The workers finish what was asked for and stop.
        drop(sender);
        served
    })?;
    Ok(())
}

/// What every command of this server is started with. Consent is given here, and never in a call. Paths of calls are relative
/// to the root, as those in answers are, wherever the server was started.
fn common_arguments(cli: &Cli, workspace: &Workspace<'_>) -> Vec<String> {
    let mut arguments = vec!["stan".to_owned(), format!("--directory={}", workspace.root), "--color=never".to_owned()];
    let absolute = |typed: &String| workspace.absolute(typed).unwrap_or_else(|| typed.clone());
    arguments.extend(cli.config.iter().map(|value| format!("--config={}", absolute(value))));
    arguments.extend(cli.stan_path.iter().map(|value| format!("--stan-path={value}")));
    arguments.extend(cli.allow_outside.iter().map(|value| format!("--allow-outside={}", absolute(value))));
    arguments.extend(cli.allow_secret.iter().map(|value| format!("--allow-secret={}", absolute(value))));
    arguments
}

/// How messages are sent.
type Send<'s> = dyn Fn(&Value) -> io::Result<()> + 's;

struct Server<'e> {
    /// One for all calls: their threads are started once.
    engine: &'e Engine<'e>,
    common: Vec<String>,
    /// As it was when the server started; only where things are is taken from it.
    workspace: Workspace<'e>,
    tools: Value,
    answers: Mutex<Answers>,
    /// Requests that are not answered yet, as JSON, and whether their answer is not wanted any more.
    in_flight: Mutex<BTreeMap<String, bool>>,
}

impl Server<'_> {
    /// Reads messages and answers them, or gives them to the workers.
    fn serve(&self, input: &mut dyn BufRead, send: &Send<'_>, start: &mut dyn FnMut(Call) -> bool) -> io::Result<()> {
        let mut line = Vec::new();
        while read_line(input, &mut line)? {
            match understand(&line, &self.tools) {
                Line::Nothing => {}
                Line::Batch(batch) => self.batch(&batch, send)?,
                Line::One(Message::Answer(answer)) => send(&answer)?,
                Line::One(Message::Cancelled(id)) => {
                    // Of a request that was answered or never made there is nothing to remember.
                    if let Some(is_cancelled) = lock(&self.in_flight).get_mut(&id.to_string()) {
                        *is_cancelled = true;
                    }
                }
                Line::One(Message::Call(call)) => {
                    lock(&self.in_flight).insert(call.id.to_string(), false);
                    start(call);
                }
                Line::One(Message::Nothing) => {}
            }
        }
        Ok(())
    }

    /// Several messages in one, as the revision 2025-03-26 has them: answered together, in order.
    fn batch(&self, batch: &[Value], send: &Send<'_>) -> io::Result<()> {
        let answers: Vec<Value> = batch
            .iter()
            .filter_map(|message| match protocol::read(message, &self.tools) {
                Message::Answer(answer) => Some(answer),
                Message::Call(call) => Some(self.call_safely(&call)),
                Message::Cancelled(_) | Message::Nothing => None,
            })
            .collect();
        match (batch.is_empty(), answers.is_empty()) {
            (true, _) => send(&protocol::error(&Value::Null, protocol::INVALID_REQUEST, "an empty batch")),
            (false, true) => Ok(()),
            (false, false) => send(&Value::Array(answers)),
        }
    }

    /// Runs calls until there are no more.
    fn work(&self, calls: &Mutex<Receiver<Call>>) {
        loop {
            let Ok(call) = lock(calls).recv() else { return };
            let id = call.id.to_string();
            if lock(&self.in_flight).get(&id) == Some(&true) {
                lock(&self.in_flight).remove(&id);
                continue;
            }
            let progress = |done: u32| {
                if let Some(token) = &call.progress_token {
                    let _ = terminal::send(&protocol::progress(token, done));
                }
            };
            progress(0);
            let answer = self.call_safely(&call);
            // When standard output is closed there is no reader left; the end of standard input follows.
            if lock(&self.in_flight).remove(&id) != Some(true) {
                progress(1);
                let _ = terminal::send(&answer);
            }
        }
    }

    /// A fault in one call ends neither the worker nor the server.
    fn call_safely(&self, call: &Call) -> Value {
        catch_unwind(AssertUnwindSafe(|| self.call(call))).unwrap_or_else(|_| {
            protocol::error(&call.id, protocol::INTERNAL_ERROR, "a fault in stan; please report it")
        })
    }

    fn call(&self, call: &Call) -> Value {
        let asked = match tools::asked(&call.tool, &call.arguments) {
            None => {
                let known = tools::names().join(", ");
                let message = format!("there is no tool `{}`; the tools are {known}", call.tool);
                return protocol::error(&call.id, protocol::INVALID_PARAMS, &message);
            }
            Some(Err(message)) => return call.answer(failed(&message)),
            Some(Ok(asked)) => asked,
        };
        // A link of the repository may lead anywhere; that is found out without opening what it leads to.
        if let Some(path) = asked.paths.iter().find(|path| self.workspace.leads_outside(path)) {
            return call.answer(failed(&format!("`{path}` leads out of the repository through a link")));
        }
        match self.command(&asked) {
            Err(message) => call.answer(failed(&message)),
            Ok(text) => {
                let sent = lock(&self.answers).send(text, asked.since.as_deref());
                call.answer(json!({
                    "content": [{ "type": "text", "text": format!("{}digest: {}\n", sent.text, sent.digest) }],
                    "structuredContent": { "text": sent.text, "digest": sent.digest, "answer": sent.form.name() },
                    "isError": false,
                }))
            }
        }
    }

    /// Whether there is an archive that a reply can be checked against.
    fn has_archive(&self) -> bool {
        let path = format!("{}/{}/output/archive.tar", self.workspace.root, self.workspace.config.stan_path);
        self.engine.system().lstat(std::path::Path::new(&path)).is_ok()
    }

    /// Runs a command and returns what it printed; an error is what it said was wrong.
    fn command(&self, asked: &tools::Asked) -> Result<String, String> {
        let own = match &asked.without_archive {
            Some(other) if !self.has_archive() => other,
            _ => &asked.arguments,
        };
        let arguments: Vec<&String> = self.common.iter().chain(own).collect();
        let (succeeded, captured) = capture(asked.stdin.clone(), || {
            let cli = match Cli::try_parse_from(&arguments) {
                Ok(cli) => cli,
                Err(error) => {
                    terminal::print_usage(&error);
                    return false;
                }
            };
            match crate::commands::run(&cli, self.engine) {
                Ok(()) => true,
                Err(failure) => {
                    failure.tell(cli.color);
                    false
                }
            }
        });
        let printed = String::from_utf8_lossy(&captured.stdout).into_owned();
        let told = String::from_utf8_lossy(&captured.stderr).into_owned();
        // A command that fails with an answer (a rejected reply) has an answer.
        if !succeeded && printed.is_empty() {
            return Err(told);
        }
        Ok(bounded(printed + &told, asked.budget))
    }
}

/// The answer to a call that cannot be met: for the model to read and to do better.
fn failed(message: &str) -> Value {
    let text: String = message.lines().map(|line| format!("{}\n", Untrusted::new(line))).collect();
    json!({ "content": [{ "type": "text", "text": text }], "isError": true })
}

/// Cuts an answer that is above its budget after a whole line, and says what is missing and how to get it. Commands keep to the
/// budget by their own count, which for some is an estimate; here tokens are counted.
fn bounded(text: String, budget: u64) -> String {
    // A token has two bytes and more, in all but the oddest texts.
    if budget == 0 || text.len() as u64 <= budget.saturating_mul(2) {
        return text;
    }
    let costs: Vec<u64> = text.split_inclusive('\n').map(|line| Tokenizer::O200k.count(line.as_bytes())).collect();
    let total: u64 = costs.iter().sum();
    if total.saturating_add(FRAME) <= budget {
        return text;
    }
    let (mut left, mut kept) = (budget.saturating_sub(FRAME), String::new());
    let mut lines = text.split_inclusive('\n').zip(&costs);
    let cut = lines.by_ref().find(|(line, cost)| match left.checked_sub(**cost) {
        Some(rest) => {
            left = rest;
            kept.push_str(line);
            false
        }
        None => true,
    });
    let missing = lines.count() + usize::from(cut.is_some());
    let needed = total.saturating_add(2 * FRAME).next_multiple_of(100);
    format!("{kept}… {missing} lines cut; ask for less, or with \"budget\": {needed}\n")
}

/// A line of the input.
enum Line {
    Nothing,
    One(Message),
    Batch(Vec<Value>),
}

/// What a line says. Pure.
fn understand(line: &[u8], tools: &Value) -> Line {
    if line.len() as u64 >= LONGEST_MESSAGE {
        let answer = protocol::error(&Value::Null, protocol::INVALID_REQUEST, "the message is too long");
        return Line::One(Message::Answer(answer));
    }
    if line.iter().all(u8::is_ascii_whitespace) {
        return Line::Nothing;
    }
    match serde_json::from_slice::<Value>(line) {
        Err(error) => {
            let message = format!("not JSON: {error}");
            Line::One(Message::Answer(protocol::error(&Value::Null, protocol::PARSE_ERROR, &message)))
        }
        Ok(Value::Array(batch)) => Line::Batch(batch),
        Ok(message) => Line::One(protocol::read(&message, tools)),
    }
}

/// Reads one line, cut where it is too long; `false` at the end.
fn read_line(input: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    if input.take(LONGEST_MESSAGE).read_until(b'\n', line)? == 0 {
        return Ok(false);
    }
    if line.len() as u64 == LONGEST_MESSAGE && line.last() != Some(&b'\n') {
        skip_line(input)?;
    }
    Ok(true)
}

/// Reads to the end of the line and keeps nothing of it.
fn skip_line(input: &mut dyn BufRead) -> io::Result<()> {
    loop {
        let part = input.fill_buf()?;
        let (length, ends) = match part.iter().position(|byte| *byte == b'\n') {
            Some(end) => (end + 1, true),
            None => (part.len(), part.is_empty()),
        };
        input.consume(length);
        if ends {
            return Ok(());
        }
    }
}

/// A worker that failed leaves nothing half-done behind these locks.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answers to lines that need no repository, as [`Server::serve`] gives them.
    fn answers_of(mut input: &[u8]) -> Vec<Value> {
        let (tools, mut answers, mut line) = (tools::list(), Vec::new(), Vec::new());
        while read_line(&mut input, &mut line).unwrap_or(false) {
            let messages = match understand(&line, &tools) {
                Line::Nothing => Vec::new(),
                Line::One(message) => vec![message],
                Line::Batch(batch) => batch.iter().map(|message| protocol::read(message, &tools)).collect(),
            };
            for message in messages {
                match message {
                    Message::Answer(answer) => answers.push(answer),
                    Message::Call(call) => answers.push(match tools::asked(&call.tool, &call.arguments) {
                        None => protocol::error(&call.id, protocol::INVALID_PARAMS, "no such tool"),
                        Some(Err(message)) => call.answer(failed(&message)),
                        Some(Ok(asked)) => call.answer(json!({ "arguments": asked.arguments, "paths": asked.paths })),
                    }),
                    Message::Cancelled(_) | Message::Nothing => {}
                }
            }
        }
        answers
    }

    #[test]
    fn an_answer_keeps_to_its_budget_and_says_what_is_missing() {
        let line =
            "export const total = (items: Item[]): number => items.reduce((sum, item) => sum + item.price, 0);\n";
        let text = line.repeat(400);
        for budget in [100, 1_000, 4_000] {
            let cut = bounded(text.clone(), budget);
            assert!(Tokenizer::O200k.count(cut.as_bytes()) <= budget, "{budget}");
            let kept = cut.matches(line).count();
            assert!(cut.contains(&format!("… {} lines cut; ask for less, or with \"budget\": ", 400 - kept)), "{cut}");
        }
        let needed: u64 = bounded(text.clone(), 4_000).rsplit_once(": ").unwrap().1.trim().parse().unwrap();
        assert_eq!(bounded(text.clone(), needed), text, "what the notice says is enough");
        assert_eq!(bounded(text.clone(), 0), text);
    }

    #[test]
    fn lines_are_answered_one_by_one() {
        let answers = answers_of(b"\n{\"id\":1,\"method\":\"ping\"}\n[]\nnonsense\n{\"id\":2,\"method\":\"fly\"}");
        let codes: Vec<i64> = answers.iter().map(|answer| answer["error"]["code"].as_i64().unwrap_or(0)).collect();
        assert_eq!(codes, [0, -32_700, -32_601]);
    }

    /// Messages with random changes to their bytes: each line has at most one answer for each message in it, in JSON, and no
    /// path of a call leaves the repository.
    #[test]
    fn damaged_lines_are_answered_and_lead_nowhere() {
        let seeds = [
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#,
            r#"{"id":"a","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
            r#"{"id":1,"method":"tools/call","params":{"name":"read","arguments":{"files":["src/a.ts#x","../y"],"budget":9}}}"#,
            r#"[{"id":2,"method":"tools/call","params":{"name":"context","arguments":{"at":["a:1:2"]}}},{"method":"x"}]"#,
            r#"{"id":3,"method":"tools/call","params":{"name":"related","arguments":{"relation":"deps","files":["/etc/x"]}}}"#,
            r#"{"method":"notifications/cancelled","params":{"requestId":1}}"#,
        ];
        let words = ["..", "/", "\\", "\\u0000", "null", "{", "}", "[", "]", "\"", "1e999", "-1", "\n", "C:"];
        let mut state = 1_u64;
        let mut below = |bound: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).unwrap_or_default() % bound.max(1)
        };
        for round in 0..20_000 {
            let mut line = seeds[round % seeds.len()].as_bytes().to_vec();
            for _ in 0..=below(3) {
                let at = below(line.len());
                match below(3) {
                    0 => line[at] = u8::try_from(below(256)).unwrap_or_default(),
                    1 => drop(line.drain(at..(at + below(8)).min(line.len()))),
                    _ => drop(line.splice(at..at, words[below(words.len())].bytes())),
                }
                line.push(b' ');
            }
            for answer in answers_of(&line) {
                assert!(answer["result"].is_object() != answer["error"].is_object(), "{answer}");
                for path in answer["result"]["paths"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                    let first = path.split(['/', '\\']).next().unwrap_or_default();
                    let is_inside = !first.is_empty() && first != ".." && !path.contains('\0');
                    assert!(is_inside, "{path:?} of {:?}", String::from_utf8_lossy(&line));
                }
            }
        }
    }
}
