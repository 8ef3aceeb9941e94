//! Reads and parses lines of standard input of any length. Parsing is pure, so that tests and the fuzzer can pass any bytes.

use std::io::{self, BufRead, Read};

use serde_json::{Value, json};

use super::protocol::{self, Message};
use super::tools;

/// The maximum length of a message. Replies and logs are the largest things that clients send.
const MAX_MESSAGE_BYTES: u64 = 64 << 20;

/// The maximum number of messages in a batch. The answers to a batch are held until the last one is known.
const MAX_IN_BATCH: usize = 1_000;

/// A line of the input.
pub(super) enum Line {
    Nothing,
    One(Message),
    Batch(Vec<Message>),
}

/// Parses a line. Pure.
pub(super) fn understand(line: &[u8], tools: &Value) -> Line {
    let refused = |code, message: &str| Line::One(Message::Answer(protocol::error(&Value::Null, code, message)));
    if line.len() as u64 >= MAX_MESSAGE_BYTES {
        return refused(protocol::INVALID_REQUEST, "the message is too long");
    }
    // Some shells prepend a byte order mark to what they pipe.
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    if line.iter().all(u8::is_ascii_whitespace) {
        return Line::Nothing;
    }
    match serde_json::from_slice::<Value>(line) {
        Err(error) => refused(protocol::PARSE_ERROR, &format!("not JSON: {error}")),
        Ok(Value::Array(batch)) if batch.is_empty() => refused(protocol::INVALID_REQUEST, "an empty batch"),
        Ok(Value::Array(batch)) if batch.len() > MAX_IN_BATCH => {
            let message = format!("a batch has at most {MAX_IN_BATCH} messages");
            refused(protocol::INVALID_REQUEST, &message)
        }
        Ok(Value::Array(batch)) => Line::Batch(batch.iter().map(|message| protocol::read(message, tools)).collect()),
        Ok(message) => Line::One(protocol::read(&message, tools)),
    }
}

/// Reads one line, cut if it is too long; `false` at the end of the input.
pub(super) fn read_line(input: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    if input.take(MAX_MESSAGE_BYTES).read_until(b'\n', line)? == 0 {
        return Ok(false);
    }
    // Otherwise, the rest of the line would be read as the next message.
    if line.len() as u64 == MAX_MESSAGE_BYTES && line.last() != Some(&b'\n') {
        skip_line(input)?;
    }
    Ok(true)
}

/// Skips the rest of the line.
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

/// Answers an input without a repository, for tests and the fuzzer: a call is answered with the command line that it is
/// translated to and the paths that it names.
pub(crate) fn answers_without_repository(mut input: &[u8]) -> Vec<Value> {
    let (tools, mut answers, mut line) = (tools::list(), Vec::new(), Vec::new());
    while read_line(&mut input, &mut line).unwrap_or(false) {
        let messages = match understand(&line, &tools) {
            Line::Nothing => Vec::new(),
            Line::One(message) => vec![message],
            Line::Batch(batch) => batch,
        };
        answers.extend(messages.into_iter().filter_map(|message| match message {
            Message::Answer(answer) => Some(answer),
            Message::Call(call) => Some(match tools::asked(&call.tool, &call.arguments) {
                None => protocol::error(&call.id, protocol::INVALID_PARAMS, "no such tool"),
                Some(Err(message)) => call.answer(super::failed(&message, tools::DEFAULT_BUDGET)),
                Some(Ok(asked)) => call.answer(json!({ "arguments": asked.arguments, "paths": asked.paths })),
            }),
            Message::Cancelled(_) | Message::Nothing => None,
        }));
    }
    answers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_answered_one_by_one() {
        let answers = answers_without_repository(
            b"\n{\"id\":1,\"method\":\"ping\"}\n[]\nnonsense\n\xef\xbb\xbf \r\n{\"id\":2,\"method\":\"fly\"}",
        );
        let codes: Vec<i64> = answers.iter().map(|answer| answer["error"]["code"].as_i64().unwrap_or(0)).collect();
        assert_eq!(codes, [0, -32_600, -32_700, -32_601]);
    }

    #[test]
    fn a_line_that_is_too_long_is_refused_and_the_next_one_is_read() {
        let longest = usize::try_from(MAX_MESSAGE_BYTES).unwrap();
        for length in [longest - 2, longest - 1, longest, longest + 9_000_000] {
            let mut input = vec![b' '; length];
            input.extend_from_slice(b"\n{\"id\":1,\"method\":\"ping\"}\n");
            let answers = answers_without_repository(&input);
            let refused = usize::from(length + 1 >= longest);
            assert_eq!(answers.len(), 1 + refused, "{length}");
            assert_eq!(answers[refused]["id"], 1, "{length}");
        }
    }

    #[test]
    fn a_batch_above_the_limit_is_refused() {
        let batch = |count: usize| format!("[{}]", vec!["{\"id\":1,\"method\":\"ping\"}"; count].join(","));
        assert_eq!(answers_without_repository(batch(MAX_IN_BATCH).as_bytes()).len(), MAX_IN_BATCH);
        let refused = answers_without_repository(batch(MAX_IN_BATCH + 1).as_bytes());
        assert_eq!((refused.len(), &refused[0]["error"]["code"]), (1, &json!(-32_600)));
    }
}
