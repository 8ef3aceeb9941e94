//! URLs with a password: `postgres://user:password@host`, `https://user:password@host`.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::randomness::{is_placeholder, is_wordy};

static SCHEME_END: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("://"));

/// A URL's password ends within this many bytes.
const REACH: usize = 512;

/// Schemes of databases, queues and mail. Other schemes are judged like `https`.
const STORES: [&[u8]; 22] = [
    b"postgres",
    b"postgresql",
    b"mysql",
    b"mysql2",
    b"mariadb",
    b"mongodb",
    b"mongodb+srv",
    b"redis",
    b"rediss",
    b"amqp",
    b"amqps",
    b"mssql",
    b"sqlserver",
    b"cockroachdb",
    b"clickhouse",
    b"couchbase",
    b"neo4j",
    b"nats",
    b"mqtt",
    b"ldap",
    b"smtp",
    b"smtps",
];

/// Passwords used in examples.
const WEAK: [&[u8]; 36] = [
    b"pass",
    b"passwd",
    b"pw",
    b"pwd",
    b"user",
    b"username",
    b"postgres",
    b"root",
    b"admin",
    b"test",
    b"guest",
    b"mypass",
    b"token",
    b"foo",
    b"bar",
    b"baz",
    b"hunter2",
    b"s3cret",
    b"p4ssw0rd",
    b"passw0rd",
    b"pa55word",
    b"tiger",
    b"scott",
    b"mysql",
    b"redis",
    b"mongo",
    b"rabbitmq",
    b"dev",
    b"development",
    b"local",
    b"key",
    b"auth",
    b"x-oauth-basic",
    b"qwerty",
    b"letmein",
    b"credentials",
];

pub(crate) fn passwords(text: &[u8], range: Range<usize>, found: &mut dyn FnMut(usize, &'static str)) {
    let window = text.get(..range.end.saturating_add(3).min(text.len())).unwrap_or_default();
    let part = window.get(range.start..).unwrap_or_default();
    for at in SCHEME_END.find_iter(part) {
        let at = range.start + at;
        if at < range.end
            && let Some(rule) = matched(text, at)
        {
            found(at, rule);
        }
    }
}

fn matched(text: &[u8], at: usize) -> Option<&'static str> {
    let rest = text.get(at + 3..)?;
    let rest = rest.get(..REACH).unwrap_or(rest);
    let is_end = |byte: &u8| {
        byte.is_ascii_whitespace()
            || matches!(
                byte,
                b'/' | b'?' | b'#' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b'|' | b'(' | b')' | b',' | b';'
            )
    };
    let length = rest.iter().position(is_end).unwrap_or(rest.len());
    let authority = rest.get(..length)?;
    let split = memchr::memrchr(b'@', authority)?;
    let (login, host) = (authority.get(..split)?, authority.get(split + 1..)?);
    let colon = memchr::memchr(b':', login)?;
    let (user, password) = (login.get(..colon)?, login.get(colon + 1..)?);
    // Judged as a person wrote it: `p%40ssword` has no digit.
    let decoded = is_percent_encoded(password).then(|| percent_decoded(password));
    let password = decoded.as_deref().unwrap_or(password);
    let before = text.get(at.saturating_sub(16)..at)?;
    let is_scheme = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'.' | b'-');
    let scheme = before.get(before.len() - before.iter().rev().take_while(is_scheme).count()..)?.to_ascii_lowercase();
    if scheme.is_empty() || !is_password(user, password, decoded.is_some()) {
        return None;
    }
    if STORES.contains(&scheme.as_slice()) {
        let is_found = is_remote(host) || (is_strong(password) && !is_example(host));
        return is_found.then_some("connection-password");
    }
    (is_remote(host) && is_strong(password)).then_some("address-password")
}

fn is_password(user: &[u8], password: &[u8], is_encoded: bool) -> bool {
    let is_template = !is_encoded
        && password.iter().any(|byte| matches!(byte, b'$' | b'{' | b'}' | b'[' | b']' | b'*' | b'<' | b'%'));
    let lower = password.to_ascii_lowercase();
    // One repeated character is a placeholder.
    let is_filler = password.iter().all(|byte| password.first() == Some(byte));
    password.len() >= 6
        && !is_template
        && !is_filler
        && user != password
        && !WEAK.contains(&lower.as_slice())
        && !is_placeholder(password)
}

/// Whether there are percent signs, and each of them starts an encoded character.
fn is_percent_encoded(password: &[u8]) -> bool {
    let other = password.iter().any(|byte| matches!(byte, b'$' | b'{' | b'}' | b'[' | b']' | b'*' | b'<'));
    let mut parts = password.split(|byte| *byte == b'%').skip(1).peekable();
    parts.peek().is_some()
        && !other
        && parts.all(|part| part.get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)))
}

fn percent_decoded(password: &[u8]) -> Vec<u8> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).unwrap_or(0) as u8;
    let mut parts = password.split(|byte| *byte == b'%');
    let mut decoded = parts.next().unwrap_or_default().to_vec();
    for part in parts {
        if let [first, second, rest @ ..] = part {
            decoded.push(digit(first) << 4 | digit(second));
            decoded.extend_from_slice(rest);
        }
    }
    decoded
}

/// Long enough, and not a word.
fn is_strong(password: &[u8]) -> bool {
    let has_digit = password.iter().any(u8::is_ascii_digit);
    let [has_upper, has_lower] = [u8::is_ascii_uppercase, u8::is_ascii_lowercase].map(|is| password.iter().any(is));
    let is_mixed = if has_digit { has_upper || has_lower } else { has_upper && has_lower && password.len() >= 10 };
    password.len() >= 8 && is_mixed && !password.ends_with(b"1234") && !is_wordy(password)
}

/// A host name with a dot, or an IP address, of another machine.
fn is_remote(host: &[u8]) -> bool {
    let name = host.split(|byte| *byte == b':').next().unwrap_or(host);
    memchr::memchr(b'.', name).is_some() && !is_example(host)
}

fn is_example(host: &[u8]) -> bool {
    let lower = host.to_ascii_lowercase();
    let name = lower.split(|byte| *byte == b':').next().unwrap_or(&lower);
    let reserved: [&[u8]; 7] = [b".example", b".test", b".invalid", b".local", b".localhost", b".internal", b"host"];
    // An encoded path is a socket of this machine.
    name.starts_with(b"%2f")
        || reserved.iter().any(|end| name.ends_with(end))
        || [&b"127.0.0.1"[..], b"0.0.0.0", b"[::1]", b"host", b"hostname", b"server"].contains(&name)
        || [&b"example."[..], b"yourhost", b"myhost", b"domain.", b"host.com", b"server.com", b"${", b"foo.", b"bar."]
            .iter()
            .any(|word| memchr::memmem::find(&lower, word).is_some())
}

#[cfg(test)]
mod tests {
    fn check(line: &str, rule: Option<&str>) {
        // Inserted here, so that no secret scanner flags the source.
        let line = line.replace("@@", concat!("Vt9x", "Qe3Lm2"));
        let found = crate::scan(line.as_bytes()).first().map(|hit| hit.rule);
        assert_eq!(found, rule, "{line}");
    }

    #[test]
    fn connection_strings_and_addresses() {
        let store = Some("connection-password");
        check("postgres://app:@@@db.acme.io:5432/x", store);
        check("DATABASE_URL=mysql://app:@@@10.1.2.3/x", store);
        check("mongodb+srv://app:@@@cluster0.ab1cd.mongodb.net", store);
        check("redis://:@@@cache.acme.io:6379", store);
        check("amqp://app:@@@queue:5672", store);
        check("https://bot:@@@git.acme.io/x.git", Some("address-password"));
        check("https://bot:%24@@%7B@git.acme.io/x.git", Some("address-password"));
        for line in [
            "postgres://user:password@db.acme.io/x",
            "postgres://app:@@@localhost:5432/x",
            "postgres://app:${PASSWORD}@db.acme.io/x",
            "postgres://app:<password>@db.acme.io/x",
            "postgres://postgres:postgres@db.acme.io/x",
            "mysql://root:secret123@db.example.com/x",
            "https://user:pass@acme.io/",
            "https://acme.io/a:b@c",
            "http://localhost:3000/@scope/x",
            "redis://cache.acme.io:6379",
            "https://user:@@@example.com",
            "https://bot:%s@git.acme.io",
            "http://user:p%40ssword@acme.io",
            "http://user:p%C3%A4ssword@acme.io",
            "amqp://user:pa%2Fssw@queue:5672",
            "mongodb://jesse:foo%2Fbar@%2FMongoDB.sock/",
        ] {
            check(line, None);
        }
    }
}
