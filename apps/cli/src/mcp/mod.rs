//! `stan mcp`: the commands as tools of the Model Context Protocol, over standard input and output. Each call runs one command in
//! this process and returns its captured output, so that the answer is the command's. There is no index step. The only state are
//! the answers whose digests clients hold: every call sees the current files.

mod answers;
pub(crate) mod lines;
mod protocol;
mod tools;

use std::collections::BTreeMap;
use std::io::{self, BufRead};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clap::Parser;
use serde_json::{Value, json};
use stan_engine::tokens::Tokenizer;
use stan_engine::{CancellableSystem, Cancellation, Engine, Untrusted};

use crate::args::{Cli, ColorChoice, McpArgs};
use crate::exit::Failure;
use crate::terminal::{self, capture};
use crate::workspace::Workspace;

use self::answers::AnswerCache;
use self::lines::{Line, read_line, understand};
use self::protocol::{Call, Message};
use self::tools::DEFAULT_BUDGET;

/// How many calls run at once. More would only compete for threads, and each may hold an index of git of hundreds of megabytes.
const MAX_CALLS: usize = 2;

/// How many calls may wait. Then nothing more is read until some are answered.
const MAX_WAITING: usize = 1_000;

/// A buffer that a long line made larger than this is freed.
const MAX_KEPT_BUFFER: usize = 1 << 20;

/// A longer last line is not a notice of a command.
const MAX_NOTICE_BYTES: usize = 160;

/// The tokens of the lines around a truncated answer: the notice and the digest.
const FRAME: u64 = 60;

/// Tokens of the line with the digest.
const DIGEST: u64 = 20;

/// Serves until standard input ends.
pub(crate) fn run(cli: &Cli, engine: &Engine<'_>, args: &McpArgs) -> Result<(), Failure> {
    // Report a missing folder now, not with every call.
    let directory = args.root.as_deref().or(cli.global.directory.as_deref()).unwrap_or(".").to_owned();
    let typed = |name: &str, values: &[String]| -> Vec<String> {
        values.iter().map(|value| format!("--{name}={value}")).collect()
    };
    let mut first = vec!["stan".to_owned(), format!("--directory={directory}")];
    first.extend(typed("config", cli.global.config.as_slice()));
    first.extend(typed("stan-path", cli.global.stan_path.as_slice()));
    first.extend(typed("allow-outside", &cli.global.allow_outside));
    first.extend(typed("allow-secret", &cli.global.allow_secret));
    first.push("graph".to_owned());
    let first = Cli::try_parse_from(first).map_err(|error| Failure::internal(error.to_string()))?;
    let workspace = Workspace::find(&first, engine)?;
    let common = common_arguments(cli, &workspace);
    let answers = AnswerCache::of(&workspace.root, &workspace.config.stan_path);
    let server = Arc::new(Server {
        engine,
        common,
        workspace,
        tools: tools::list(),
        answers: Mutex::new(answers),
        in_flight: Mutex::default(),
        is_unread: AtomicBool::new(false),
    });
    let (sender, receiver) = sync_channel::<Job>(MAX_WAITING);
    let receiver = Arc::new(Mutex::new(receiver));
    std::thread::scope(|scope| {
        for _ in 0..MAX_CALLS {
            let (server, receiver) = (Arc::clone(&server), Arc::clone(&receiver));
            scope.spawn(move || server.work(&receiver));
        }
        let served = server.serve(&mut io::stdin().lock(), &mut |work| sender.send(work).is_ok());
        // The workers finish the requests so far (while there is a reader) and stop.
        drop(sender);
        served
    })?;
    Ok(())
}

/// The arguments of every command of this server. Consent is given here, and never in a call. Paths in calls are relative to the
/// root, like those in answers, wherever the server was started.
fn common_arguments(cli: &Cli, workspace: &Workspace<'_>) -> Vec<String> {
    let mut arguments = vec!["stan".to_owned(), format!("--directory={}", workspace.root), "--color=never".to_owned()];
    let absolute = |typed: &String| workspace.absolute(typed).unwrap_or_else(|| typed.clone());
    arguments.extend(cli.global.config.iter().map(|value| format!("--config={}", absolute(value))));
    arguments.extend(cli.global.stan_path.iter().map(|value| format!("--stan-path={value}")));
    arguments.extend(cli.global.allow_outside.iter().map(|value| format!("--allow-outside={}", absolute(value))));
    arguments.extend(cli.global.allow_secret.iter().map(|value| format!("--allow-secret={}", absolute(value))));
    arguments
}

/// Work that takes longer than reading a line.
enum Job {
    Call(Call),
    /// Several messages in one, as in revision 2025-03-26: answered together, in order.
    Batch(Vec<Message>),
}

struct Server<'e> {
    /// One for all calls: their threads are started once.
    engine: &'e Engine<'e>,
    common: Vec<String>,
    /// As it was when the server started; only its paths are used.
    workspace: Workspace<'e>,
    tools: Value,
    answers: Mutex<AnswerCache>,
    /// Unanswered requests by id (as JSON), with their cancellations.
    in_flight: Mutex<BTreeMap<String, Cancellation>>,
    /// Standard output is closed, so waiting requests have no reader.
    is_unread: AtomicBool,
}

impl Server<'_> {
    /// Reads messages, and answers them or passes them to the workers.
    fn serve(&self, input: &mut dyn BufRead, start: &mut dyn FnMut(Job) -> bool) -> io::Result<()> {
        let mut line = Vec::new();
        while !self.is_unread.load(Ordering::Relaxed) && read_line(input, &mut line)? {
            match understand(&line, &self.tools) {
                Line::Nothing => {}
                Line::Batch(batch) => drop(start(Job::Batch(batch))),
                Line::One(Message::Answer(answer)) => self.send(&answer),
                Line::One(Message::Cancelled(id)) => {
                    // Ignore cancellations of unknown or answered requests: nothing has to be remembered for them.
                    if let Some(cancellation) = lock(&self.in_flight).get(&id.to_string()) {
                        cancellation.cancel();
                    }
                }
                Line::One(Message::Call(call)) => {
                    lock(&self.in_flight).insert(call.id.to_string(), Cancellation::default());
                    start(Job::Call(call));
                }
                Line::One(Message::Nothing) => {}
            }
            line.clear();
            line.shrink_to(MAX_KEPT_BUFFER);
        }
        Ok(())
    }

    /// Sends a message. If standard output is closed, there is no reader left, so all work stops.
    fn send(&self, message: &Value) {
        if terminal::send(message).is_err() {
            self.is_unread.store(true, Ordering::Relaxed);
        }
    }

    /// Answers calls until there are no more.
    fn work(&self, waiting: &Mutex<Receiver<Job>>) {
        loop {
            let Ok(work) = lock(waiting).recv() else { return };
            match work {
                // Empty the queue without working: the reader of messages may be blocked because it is full.
                _ if self.is_unread.load(Ordering::Relaxed) => {}
                Job::Call(call) => self.work_on(&call),
                Job::Batch(batch) => self.batch(batch),
            }
        }
    }

    fn work_on(&self, call: &Call) {
        let id = call.id.to_string();
        let cancellation = lock(&self.in_flight).get(&id).cloned().unwrap_or_default();
        if cancellation.is_cancelled() {
            lock(&self.in_flight).remove(&id);
            return;
        }
        let progress = |done: u32| {
            if let Some(token) = &call.progress_token {
                self.send(&protocol::progress(token, done));
            }
        };
        progress(0);
        let answer = self.call_safely(call, &cancellation);
        // Before the answer is sent: the client may use the id again as soon as it has the answer.
        lock(&self.in_flight).remove(&id);
        if !cancellation.is_cancelled() {
            progress(1);
            self.send(&answer);
        }
    }

    fn batch(&self, batch: Vec<Message>) {
        let answer = |message| match message {
            Message::Answer(answer) => Some(answer),
            Message::Call(call) if !self.is_unread.load(Ordering::Relaxed) => {
                Some(self.call_safely(&call, &Cancellation::default()))
            }
            Message::Call(_) | Message::Cancelled(_) | Message::Nothing => None,
        };
        let answers: Vec<Value> = batch.into_iter().filter_map(answer).collect();
        if !answers.is_empty() {
            self.send(&Value::Array(answers));
        }
    }

    /// A fault in one call ends neither the worker nor the server.
    fn call_safely(&self, call: &Call, cancellation: &Cancellation) -> Value {
        catch_unwind(AssertUnwindSafe(|| self.call(call, cancellation))).unwrap_or_else(|_| {
            protocol::error(&call.id, protocol::INTERNAL_ERROR, "a fault in stan; please report it")
        })
    }

    fn call(&self, call: &Call, cancellation: &Cancellation) -> Value {
        let asked = match tools::asked(&call.tool, &call.arguments) {
            None => {
                let known = tools::names().join(", ");
                let message = format!("there is no tool `{}`; the tools are {known}", call.tool);
                return protocol::error(&call.id, protocol::INVALID_PARAMS, &message);
            }
            Some(Err(message)) => return call.answer(failed(&message, DEFAULT_BUDGET)),
            Some(Ok(asked)) => asked,
        };
        // A symlink of the repository may point anywhere; this is checked without opening its target.
        if let Some(path) = asked.paths.iter().find(|path| self.workspace.leads_outside(path)) {
            let message = format!("`{path}` leads out of the repository through a link");
            return call.answer(failed(&message, DEFAULT_BUDGET));
        }
        match self.command(&asked, cancellation) {
            Err(message) => call.answer(failed(&message, asked.budget)),
            // A cancelled command may have read only part of the files. Do not remember its output as an answer.
            Ok(_) if cancellation.is_cancelled() => call.answer(failed("cancelled", asked.budget)),
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
    fn command(&self, asked: &tools::Asked, cancellation: &Cancellation) -> Result<String, String> {
        // One hook for all commands: once cancelled, a command cannot read any more files, so it ends soon.
        let system = CancellableSystem::new(self.engine.system(), cancellation.clone());
        let engine = self.engine.over(&system);
        let own = match &asked.without_archive {
            Some(other) if !self.has_archive() => other,
            _ => &asked.arguments,
        };
        let arguments: Vec<&String> = self.common.iter().chain(own).collect();
        let (succeeded, captured) = capture(asked.stdin.clone(), || {
            let cli = match Cli::try_parse_from(&arguments) {
                Ok(cli) => cli,
                Err(error) => {
                    terminal::print_usage(&error, ColorChoice::Never);
                    return false;
                }
            };
            match crate::commands::run(&cli, &engine) {
                Ok(()) => true,
                Err(failure) => {
                    failure.tell(cli.global.color);
                    false
                }
            }
        });
        let printed = String::from_utf8_lossy(&captured.stdout).into_owned();
        let stderr = String::from_utf8_lossy(&captured.stderr).into_owned();
        // A command that fails but prints something (such as a rejected reply) has an answer.
        if !succeeded && printed.is_empty() {
            return Err(stderr);
        }
        Ok(bounded(printed + &stderr, asked.budget))
    }
}

/// The answer to an impossible call, from which the model can correct itself.
fn failed(message: &str, budget: u64) -> Value {
    // clap's errors refer to `--help`, which is not a tool.
    let lines = message.lines().filter(|line| !line.starts_with("For more information, try"));
    let text: String = lines.map(|line| format!("{}\n", Untrusted::new(line))).collect();
    let text = bounded(format!("{}\n", text.trim_end()), budget);
    json!({ "content": [{ "type": "text", "text": text }], "isError": true })
}

/// Truncates an answer above its budget after a whole line, and says how much is missing and how to get it. Commands keep to the
/// budget by their own count, which for some is an estimate; here tokens are counted.
fn bounded(text: String, budget: u64) -> String {
    // Shortcut: almost every token has at least two bytes.
    if budget == 0 || text.len() as u64 <= budget.saturating_mul(2) {
        return text;
    }
    let costs: Vec<u64> = text.split_inclusive('\n').map(|line| Tokenizer::O200k.count(line.as_bytes())).collect();
    let total: u64 = costs.iter().sum();
    if total.saturating_add(DIGEST) <= budget {
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
    // A command that left something out says so in its last line. Then the sufficient budget is unknown.
    let own = text.lines().next_back().filter(|line| line.contains("--budget 0") && line.len() <= MAX_NOTICE_BYTES);
    match own {
        Some(notice) if missing > 1 => {
            format!("{kept}… {} lines cut, and before that: {notice}\n", missing - 1)
        }
        Some(notice) => format!("{kept}{notice}\n"),
        None => {
            let needed = total.saturating_add(2 * FRAME).next_multiple_of(100);
            format!("{kept}… {missing} lines cut; ask for less, or with \"budget\": {needed}\n")
        }
    }
}

/// Safe after a panic: a worker leaves nothing half-done behind these locks.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_keeps_to_its_budget_and_counts_the_rest() {
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
        // The command's own notice about what it left out stays.
        let notice = "61 left out; --budget 0 shows all\n";
        let cut = bounded(text.clone() + notice, 1_000);
        assert!(cut.ends_with(&format!(" lines cut, and before that: {notice}")), "{cut}");
        assert!(Tokenizer::O200k.count(cut.as_bytes()) <= 1_000);
    }
}
