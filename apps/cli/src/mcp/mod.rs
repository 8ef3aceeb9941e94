//! `stan mcp`: the commands as tools of the Model Context Protocol, over standard input and output. Each call runs one
//! command in this process, with its output captured, so that the answer is the command's. No index step and no state but
//! the answers whose digests clients hold: every call sees the files as they are.

mod answers;
mod protocol;
mod tools;

use std::collections::BTreeSet;
use std::io::{self, BufRead, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clap::Parser;
use serde_json::{Value, json};
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

/// Bytes of an answer for each token of its budget. The commands keep to the budget; this bounds what they print beside it.
const BYTES_PER_TOKEN: usize = 4;
const FRAME: usize = 2_000;

/// Serves until standard input ends.
pub(crate) fn run(cli: &Cli, engine: &Engine<'_>, args: &McpArgs) -> Result<(), Failure> {
    // A folder that is not there is said now, not with every call.
    let directory = args.root.as_deref().or(cli.directory.as_deref()).unwrap_or(".").to_owned();
    let first = Cli::try_parse_from(["stan", "-C", &directory, "graph"])
        .map_err(|error| Failure::internal(error.to_string()))?;
    Workspace::find(&first, engine)?;
    let server = Arc::new(Server {
        engine,
        common: common_arguments(cli, &directory),
        tools: tools::list(),
        answers: Mutex::default(),
        cancelled: Mutex::default(),
    });
    let (sender, receiver) = channel::<Call>();
    let receiver = Arc::new(Mutex::new(receiver));
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            let (server, receiver) = (Arc::clone(&server), Arc::clone(&receiver));
            scope.spawn(move || server.work(&receiver));
        }
        let served = server.serve(&mut io::stdin().lock(), &mut |call| sender.send(call).is_ok());
        // The workers finish what was asked for and stop.
        drop(sender);
        served
    })?;
    Ok(())
}

/// What every command of this server is started with. Consent is given here, and never in a call.
fn common_arguments(cli: &Cli, directory: &str) -> Vec<String> {
    let mut arguments = vec!["stan".to_owned(), format!("--directory={directory}"), "--color=never".to_owned()];
    let single = [("config", cli.config.as_ref()), ("stan-path", cli.stan_path.as_ref())];
    arguments.extend(single.iter().filter_map(|(name, value)| value.map(|value| format!("--{name}={value}"))));
    arguments.extend(cli.allow_outside.iter().map(|value| format!("--allow-outside={value}")));
    arguments.extend(cli.allow_secret.iter().map(|value| format!("--allow-secret={value}")));
    arguments
}

struct Server<'e> {
    /// One for all calls: their threads are started once.
    engine: &'e Engine<'e>,
    common: Vec<String>,
    tools: Value,
    answers: Mutex<Answers>,
    /// Requests whose answer is not wanted any more, as JSON.
    cancelled: Mutex<BTreeSet<String>>,
}

impl Server<'_> {
    /// Reads messages and answers them, or gives them to the workers.
    fn serve(&self, input: &mut dyn BufRead, start: &mut dyn FnMut(Call) -> bool) -> io::Result<()> {
        let mut line = Vec::new();
        loop {
            line.clear();
            if input.take(LONGEST_MESSAGE).read_until(b'\n', &mut line)? == 0 {
                return Ok(());
            }
            if line.len() as u64 == LONGEST_MESSAGE && line.last() != Some(&b'\n') {
                skip_line(input)?;
                terminal::send(&protocol::error(&Value::Null, protocol::INVALID_REQUEST, "the message is too long"))?;
                continue;
            }
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            match serde_json::from_slice::<Value>(&line) {
                Err(error) => {
                    let message = format!("not JSON: {error}");
                    terminal::send(&protocol::error(&Value::Null, protocol::PARSE_ERROR, &message))?;
                }
                Ok(Value::Array(batch)) => self.batch(&batch)?,
                Ok(message) => match protocol::read(&message, &self.tools) {
                    Message::Answer(answer) => terminal::send(&answer)?,
                    Message::Cancelled(id) => {
                        lock(&self.cancelled).insert(id.to_string());
                    }
                    Message::Call(call) => {
                        lock(&self.cancelled).remove(&call.id.to_string());
                        start(call);
                    }
                    Message::Nothing => {}
                },
            }
        }
    }

    /// Several messages in one, as the revision 2025-03-26 has them: answered together, in order.
    fn batch(&self, batch: &[Value]) -> io::Result<()> {
        let answers: Vec<Value> = batch
            .iter()
            .filter_map(|message| match protocol::read(message, &self.tools) {
                Message::Answer(answer) => Some(answer),
                Message::Call(call) => Some(self.call(&call)),
                Message::Cancelled(_) | Message::Nothing => None,
            })
            .collect();
        match (batch.is_empty(), answers.is_empty()) {
            (true, _) => terminal::send(&protocol::error(&Value::Null, protocol::INVALID_REQUEST, "an empty batch")),
            (false, true) => Ok(()),
            (false, false) => terminal::send(&Value::Array(answers)),
        }
    }

    /// Runs calls until there are no more.
    fn work(&self, calls: &Mutex<Receiver<Call>>) {
        loop {
            let Ok(call) = lock(calls).recv() else { return };
            if let Some(token) = &call.progress_token {
                let _ = terminal::send(&protocol::progress(token, 0));
            }
            let is_cancelled = || lock(&self.cancelled).remove(&call.id.to_string());
            if is_cancelled() {
                continue;
            }
            let answer = catch_unwind(AssertUnwindSafe(|| self.call(&call))).unwrap_or_else(|_| {
                protocol::error(&call.id, protocol::INTERNAL_ERROR, "a fault in stan; please report it")
            });
            // When standard output is closed there is no reader left; the end of standard input follows.
            if !is_cancelled() {
                let _ = terminal::send(&answer);
            }
        }
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
        match self.command(&asked) {
            Err(message) => call.answer(failed(&message)),
            Ok(text) => {
                let sent = lock(&self.answers).send(text, asked.since.as_deref());
                call.answer(json!({
                    "content": [{ "type": "text", "text": format!("{}digest: {}\n", sent.text, sent.digest) }],
                    "structuredContent": { "text": sent.text, "digest": sent.digest },
                    "isError": false,
                }))
            }
        }
    }

    /// Runs a command and returns what it printed; an error is what it said was wrong.
    fn command(&self, asked: &tools::Asked) -> Result<String, String> {
        let arguments: Vec<&String> = self.common.iter().chain(&asked.arguments).collect();
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

/// Cuts an answer that is far above its budget after a whole line, and says so.
fn bounded(text: String, budget: u64) -> String {
    let most = usize::try_from(budget).unwrap_or(usize::MAX).saturating_mul(BYTES_PER_TOKEN).saturating_add(FRAME);
    if budget == 0 || text.len() <= most {
        return text;
    }
    let whole = text.as_bytes()[..most].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let left = text.len() - whole;
    format!("{}… {left} bytes cut; ask with a larger budget\n", &text[..whole])
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
