//! Cleans a log before parsing: removes terminal escapes, carriage returns, a byte order mark, and the prefixes that CI systems
//! and task runners add to each line.

/// The log as text, one `\n` per line, without escapes and runner prefixes.
pub(crate) fn clean(log: &[u8]) -> String {
    let log = log.strip_prefix(b"\xef\xbb\xbf").unwrap_or(log);
    let mut plain = Vec::with_capacity(log.len());
    strip_escapes(log, &mut plain);
    let text = String::from_utf8_lossy(&plain);
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        out.push_str(without_prefixes(line));
    }
    out
}

/// Copies bytes without CSI and OSC sequences, carriage returns and other control characters except `\n` and `\t`.
fn strip_escapes(bytes: &[u8], out: &mut Vec<u8>) {
    let mut rest = bytes;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            0x1b => rest = after_escape(after),
            b'\n' | b'\t' => out.push(byte),
            0..0x20 | 0x7f => {}
            _ => out.push(byte),
        }
    }
}

fn after_escape(rest: &[u8]) -> &[u8] {
    match rest.first() {
        Some(b'[') => {
            let end = rest.iter().skip(1).position(|byte| (0x40..=0x7e).contains(byte) || *byte == b'\n');
            // An unterminated sequence must not swallow the rest of the log.
            end.map_or(&[], |end| rest.get(end + 1 + usize::from(rest.get(end + 1) != Some(&b'\n'))..).unwrap_or(&[]))
        }
        Some(b']') => {
            let end = rest.iter().position(|byte| matches!(byte, 0x07 | b'\n' | 0x1b));
            end.map_or(&[], |end| match rest.get(end) {
                Some(0x07) => rest.get(end + 1..).unwrap_or(&[]),
                Some(0x1b) if rest.get(end + 1) == Some(&b'\\') => rest.get(end + 2..).unwrap_or(&[]),
                _ => rest.get(end..).unwrap_or(&[]),
            })
        }
        Some(b'\n') | None => rest,
        Some(_) => rest.get(1..).unwrap_or(&[]),
    }
}

/// The line without prefixes of runners. Removes at most four nested prefixes.
fn without_prefixes(line: &str) -> &str {
    let mut line = line;
    for _ in 0..4 {
        let rest = after_time_stamp(line)
            .or_else(|| line.strip_prefix("npm ERR! "))
            .or_else(|| line.strip_prefix("npm error "))
            .or_else(|| after_buildkit(line))
            .or_else(|| after_task(line));
        match rest {
            Some(rest) => line = rest,
            None => break,
        }
    }
    line
}

/// `2026-01-02T03:04:05.678Z `, which starts each line of GitHub's raw logs, among others.
fn after_time_stamp(line: &str) -> Option<&str> {
    let (stamp, rest) = line.split_once(' ')?;
    let bytes = stamp.as_bytes();
    let shape = bytes.len() >= 20 && bytes.len() <= 35 && bytes.get(4) == Some(&b'-') && bytes.get(10) == Some(&b'T');
    (shape && stamp.ends_with('Z') && bytes.iter().all(|byte| byte.is_ascii_digit() || b"-:TZ.".contains(byte)))
        .then_some(rest)
}

/// `#12 3.456 `, the step and time of buildkit.
fn after_buildkit(line: &str) -> Option<&str> {
    let rest = line.strip_prefix('#')?;
    let (step, rest) = rest.split_once(' ')?;
    let (time, rest) = rest.split_once(' ')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (seconds, fraction) = time.split_once('.')?;
    (digits(step) && digits(seconds) && digits(fraction)).then_some(rest)
}

/// `@acme/web:build: ` of turbo, `packages/a build: ` of pnpm, `web  | ` of compose.
fn after_task(line: &str) -> Option<&str> {
    if let Some((name, rest)) = line.split_once(" | ")
        && is_package(name.trim_end())
        && !name.trim_end().bytes().all(|byte| byte.is_ascii_digit())
        && name.len() < 40
    {
        return Some(rest);
    }
    let (head, rest) = line.split_once(": ")?;
    let (name, task) = head.split_once(':').or_else(|| {
        let (name, task) = head.split_once(' ')?;
        name.contains('/').then_some((name, task))
    })?;
    let is_task = task.starts_with(|letter: char| letter.is_ascii_lowercase())
        && task.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_:".contains(&byte))
        && !matches!(task, "error" | "warning" | "note" | "info" | "fatal");
    (is_package(name) && is_task).then_some(rest)
}

fn is_package(name: &str) -> bool {
    let name = name.strip_prefix('@').unwrap_or(name);
    !name.is_empty()
        && name.len() < 120
        && name.starts_with(|letter: char| letter.is_ascii_alphanumeric())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn escapes_and_prefixes_are_removed() {
        for (log, expected) in [
            ("\u{feff}a\r\nb\r\n", "a\nb\n"),
            ("\x1b[96msrc/a.ts\x1b[0m:\x1b[93m2\x1b[0m", "src/a.ts:2"),
            ("\x1b]8;;http://x\x07link\x1b]8;;\x07!", "link!"),
            ("\x1b]8;;http://x\x1b\\link", "link"),
            ("\x1b[3\nnext", "\nnext"),
            ("2026-01-02T03:04:05.678Z src/a.ts(1,2): error", "src/a.ts(1,2): error"),
            ("npm ERR! code 1\nnpm error x", "code 1\nx"),
            ("#12 3.456 src/a.ts(1,2)", "src/a.ts(1,2)"),
            ("@acme/web:build: src/a.ts(1,2): error TS1: x", "src/a.ts(1,2): error TS1: x"),
            ("packages/a build: src/a.ts(1,2): error TS1: x", "src/a.ts(1,2): error TS1: x"),
            ("web-1  | boom", "boom"),
            ("queue.c:5:17: error: x", "queue.c:5:17: error: x"),
            ("src/a.ts error: x", "src/a.ts error: x"),
            ("12 | code", "12 | code"),
        ] {
            assert_eq!(clean(log.as_bytes()), expected, "{log:?}");
        }
    }
}
