//! Random values assigned to a name that marks them as secret: `api_key = "…"`, `"password": "…"`, `TOKEN=…`,
//! `<secret>…</secret>`.

use std::ops::Range;

use crate::made_up::is_made_up;
use crate::nearby::EMULATOR_KEY;
use crate::randomness::{is_hex, is_random, is_uuid};
use crate::web_token;

const MIN_LENGTH: usize = 20;
const MAX_LENGTH: usize = 512;

/// Suffixes of secret names, in lower case and without separators.
const NAMES: [&[u8]; 22] = [
    b"apikey",
    b"secret",
    b"secretkey",
    b"secretaccesskey",
    b"accesskey",
    b"password",
    b"passwd",
    b"passphrase",
    b"privatekey",
    b"credential",
    b"credentials",
    b"signingkey",
    b"encryptionkey",
    b"masterkey",
    b"accountkey",
    b"sharedkey",
    b"authkey",
    b"storagekey",
    b"serverkey",
    b"apisecretkey",
    b"adminkey",
    b"secretkeybase",
];

/// Tokens that grant access. Many other tokens only page through lists or identify requests.
const TOKENS: [&[u8]; 15] = [
    b"authtoken",
    b"accesstoken",
    b"apitoken",
    b"bottoken",
    b"refreshtoken",
    b"sessiontoken",
    b"bearertoken",
    b"usertoken",
    b"personaltoken",
    b"privatetoken",
    b"deploytoken",
    b"githubtoken",
    b"gitlabtoken",
    b"npmtoken",
    b"slacktoken",
];

/// Suffixes of environment variables whose values are public.
const OPEN_TOKENS: [&[u8]; 6] =
    [b"NEXT_TOKEN", b"PAGE_TOKEN", b"CSRF_TOKEN", b"XSRF_TOKEN", b"CLIENT_TOKEN", b"REQUEST_TOKEN"];

/// `token` itself, names like `accessToken`, or the name of an environment variable.
fn is_token_name(name: &[u8], folded: &[u8]) -> bool {
    let own = name.rsplit(|byte| matches!(byte, b'.' | b':')).next().unwrap_or(name);
    let is_variable = own.ends_with(b"_TOKEN") && !OPEN_TOKENS.iter().any(|end| own.ends_with(end));
    own.eq_ignore_ascii_case(b"token") || is_variable || TOKENS.iter().any(|end| folded.ends_with(end))
}

pub(crate) fn matched(text: &[u8], run: &Range<usize>) -> Option<&'static str> {
    let value = value_around(text, run)?;
    let (name, is_quoted) = name_before(text, &value)?;
    let secret = text.get(value.clone())?;
    let folded: Vec<u8> = name.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase).collect();
    if is_uuid(secret) {
        // These two issue tokens that look like any UUID.
        let is_npm = name.ends_with(b"_authToken");
        let is_heroku = folded.starts_with(b"heroku") && folded.ends_with(b"apikey");
        return is_npm.then_some("npmrc-token").or_else(|| is_heroku.then_some("heroku-api-key"));
    }
    let is_npm = name.ends_with(b"_authToken") || name.ends_with(b":_auth") || name == b"_auth";
    let is_secret_name = is_npm || NAMES.iter().any(|end| folded.ends_with(end)) || is_token_name(name, &folded);
    if !is_secret_name || is_of_derived_value(&folded) || !is_secret_value(secret, is_quoted) {
        return None;
    }
    // npm's `_auth` is base64 of a user and a password, which may be words.
    if !is_npm && is_made_up(secret) {
        return None;
    }
    let is_aws = secret.len() == 40 && memchr::memmem::find(&folded, b"secret").is_some() && folded.starts_with(b"aws");
    Some(if is_npm {
        "npmrc-token"
    } else if is_aws {
        "aws-secret-access-key"
    } else {
        "assigned-secret"
    })
}

/// Whether a name says that its value was made from the secret and does not reveal it: `encryptedPassword`, `hashed_secret`.
fn is_of_derived_value(folded: &[u8]) -> bool {
    let holds = |word: &[u8]| memchr::memmem::find(folded, word).is_some();
    (holds(b"encrypted") && !holds(b"unencrypted")) || holds(b"hashed")
}

fn is_secret_value(value: &[u8], is_quoted: bool) -> bool {
    let value = value.strip_suffix(b"==").or_else(|| value.strip_suffix(b"=")).unwrap_or(value);
    // A value with an ellipsis at its end was truncated, so it is useless.
    let is_cut = value.ends_with(b"...");
    let is_hash = value.starts_with(b"sha") || value.strip_prefix(b"md5").is_some_and(is_hex);
    if !(MIN_LENGTH..=MAX_LENGTH).contains(&value.len()) || is_hash || is_cut || is_published(value) {
        return false;
    }
    if is_public_key(value) || is_web_token_without_secret(value) || is_identifier(value) {
        return false;
    }
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    // Without quotes, it could be an expression, but expressions have few digits.
    is_random(value) && (is_quoted || digits >= 3) && !is_dotted_name(value)
}

/// A key in DER that says so itself, for RSA or the usual curve.
fn is_public_key(value: &[u8]) -> bool {
    let marks: [&[u8]; 3] =
        [b"ANBgkqhkiG9w0BAQEFAAOC", b"MA0GCSqGSIb3DQEBAQUAA4", b"MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE"];
    let start = value.get(..40).unwrap_or(value);
    marks.iter().any(|mark| memchr::memmem::find(start, mark).is_some())
}

/// A web token that its own rule does not count, or only the header of one.
fn is_web_token_without_secret(value: &[u8]) -> bool {
    let is_header = || {
        let header = value.strip_suffix(b".").unwrap_or(value);
        web_token::decode(header).is_some_and(|text| text.starts_with(b"{\"alg\"") || text.ends_with(b"\"JWT\"}"))
    };
    value.starts_with(b"eyJ") && web_token::is_secret(value).map_or_else(is_header, |is_secret| !is_secret)
}

/// The address of an account or a contract in a ledger (`0x` and 40 digits), a UUID with a prefix, or a key for tests or
/// browsers.
fn is_identifier(value: &[u8]) -> bool {
    let is_address = value.len() == 42 && value.strip_prefix(b"0x").is_some_and(is_hex);
    let is_open =
        [&b"sk_test_"[..], b"rk_test_", b"pk_test_", b"pk_live_"].iter().any(|start| value.starts_with(start));
    let (prefix, end) = value.split_at(value.len().saturating_sub(36));
    is_address || is_open || (prefix.len() <= 4 && is_uuid(end))
}

/// Example values in the OAuth standards (RFC 6749, 6750, 7009 and 7662), which all its libraries quote.
const PUBLISHED: [&[u8]; 5] = [
    b"2YotnFZFEjr1zCsicMWpAA",
    b"tGzv3JOkF0XG5Qx2TlKWIA",
    b"7Fjfp0ZBr1KtDRbnfVdmIw",
    b"45ghiukldjahdnhzdauz",
    b"czZCaGRSa3F0MzpnWDFmQmF0M2JW",
];

/// An example value of a standard, or one whose two halves are equal.
fn is_published(value: &[u8]) -> bool {
    let (first, second) = value.split_at(value.len() / 2);
    PUBLISHED.contains(&value) || first == second || value.starts_with(EMULATOR_KEY)
}

/// `a.b.c` as a path or an expression: short parts, most of them without digits.
fn is_dotted_name(value: &[u8]) -> bool {
    let parts = value.split(|byte| matches!(byte, b'.' | b'/')).filter(|part| !part.is_empty());
    let longest = parts.clone().map(<[u8]>::len).max().unwrap_or(0);
    parts.count() > 2 && longest < MIN_LENGTH && !is_hex(value)
}

/// The whole value that contains a run.
fn value_around(text: &[u8], run: &Range<usize>) -> Option<Range<usize>> {
    let is_left = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'+' | b'/' | b'~' | b'-');
    let is_right = |byte: &u8| is_left(byte) || matches!(byte, b'.' | b'=');
    let before = text.get(run.start.saturating_sub(MAX_LENGTH)..run.start)?;
    let start = run.start - before.iter().rev().take_while(|byte| is_left(byte)).count();
    let after = text.get(run.end..)?;
    let end = run.end + after.iter().take(MAX_LENGTH).take_while(|byte| is_right(byte)).count();
    (end - start >= MIN_LENGTH && end - start <= MAX_LENGTH).then_some(start..end)
}

/// The name that a value is assigned to, and whether the value is in quotes.
fn name_before<'t>(text: &'t [u8], value: &Range<usize>) -> Option<(&'t [u8], bool)> {
    let before = text.get(value.start.saturating_sub(160)..value.start)?;
    let after = text.get(value.end..).unwrap_or_default();
    let quote = before.last().copied().filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    let rest = match quote {
        Some(quote) => {
            let after = after.strip_prefix(b"\\").unwrap_or(after);
            if after.first() != Some(&quote) {
                return None;
            }
            let rest = before.get(..before.len() - 1)?;
            rest.strip_suffix(b"\\").unwrap_or(rest)
        }
        None => {
            let ends = after.first().is_none_or(|byte| {
                matches!(byte, b'\n' | b'\r' | b' ' | b'\t' | b'"' | b'\'' | b'`' | b'<' | b'&' | b'\\' | b'#' | b';')
            });
            if !ends {
                return None;
            }
            before
        }
    };
    let rest = before_operator(rest, quote.is_some(), after)?;
    let name = last_name(rest)?;
    if matches!(name, b"string" | b"str" | b"String") {
        // `const token: string = "…"`
        let before_type = rest.trim_ascii_end().strip_suffix(name)?.trim_ascii_end();
        let before_type = before_type.strip_suffix(b"&").unwrap_or(before_type).trim_ascii_end();
        return Some((last_name(before_type.strip_suffix(b":")?)?, true));
    }
    Some((name, quote.is_some()))
}

/// The text before `=`, `:`, `:=`, `=>`, `==` or, for the text of an XML element, `>`.
fn before_operator<'t>(rest: &'t [u8], is_quoted: bool, after: &[u8]) -> Option<&'t [u8]> {
    let rest = trim_blanks(rest);
    let (last, shorter) = rest.split_last()?;
    let shorter = match last {
        b'=' | b':' => shorter,
        b'>' if shorter.last() == Some(&b'=') => shorter,
        b'>' if !is_quoted && after.starts_with(b"</") => return Some(shorter),
        _ => return None,
    };
    let mut rest = shorter;
    while let Some(shorter) = rest.strip_suffix(b"=").or_else(|| rest.strip_suffix(b":")) {
        rest = shorter;
    }
    Some(rest)
}

/// The name at the end of a text, ignoring quotes and brackets after it.
fn last_name(text: &[u8]) -> Option<&[u8]> {
    let mut text = trim_blanks(text);
    for _ in 0..4 {
        match text.split_last() {
            Some((b'"' | b'\'' | b'`' | b']' | b'\\' | b'?' | b'!', shorter)) => text = shorter,
            _ => break,
        }
    }
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':');
    let length = text.iter().rev().take(80).take_while(is_part).count();
    text.get(text.len() - length..).filter(|name| !name.is_empty())
}

fn trim_blanks(mut text: &[u8]) -> &[u8] {
    while let Some(shorter) = text.strip_suffix(b" ").or_else(|| text.strip_suffix(b"\t")) {
        text = shorter;
    }
    text
}

#[cfg(test)]
mod tests {
    /// Concatenated, so that no secret scanner flags the source.
    const VALUE: &str = concat!("q7Rz0bXk2Lm9", "vTgYw3HdPs5N");

    fn check(line: &str, is_found: bool) {
        let line = line.replace('@', VALUE);
        assert_eq!(!crate::scan(line.as_bytes()).is_empty(), is_found, "{line}");
    }

    #[test]
    fn assignments_are_found_in_many_notations() {
        for line in [
            "api_key = \"@\"",
            "\"apiKey\": \"@\",",
            "  'client-secret' => '@',",
            "const token: string = \"@\";",
            "let api_key: &str = \"@\";",
            "export DB_PASSWORD=@\n",
            "password: @\n",
            "process.env[\"API_KEY\"] = '@';",
            "<password>@</password>",
            "{\\\"secret\\\":\\\"@\\\"}",
            "secret := `@`",
            "- \"AUTH_TOKEN=@\"",
            "spring.datasource.password=@\r\n",
            "Set `DB_PASSWORD=@` first.",
            "Server=db;Password=@;Timeout=3",
            "unencrypted_password = \"@\"",
            "private_key = \"0x@\"",
        ] {
            check(line, true);
        }
        for line in [
            "name = \"@\"",
            "token(\"@\")",
            "password: @...\n",
            "password: @@\n",
            "\"access_token\":\"2YotnFZFEjr1zCsicMWpAA\"",
            "tokenType = \"@\"",
            "nextToken: \"@\"",
            "// password @",
            "hash: \"@\"",
            "api_key = get(@)",
            "encryptedPassword = \"@\"",
            "'hashed_secret': '@'",
            "\"token\": \"0x680dee9edfff0c397736e10b017cf6a0aee4ba31\"",
            "api_token: T-55a68eb5-c785-4720-a2ca-8b03903bf641\n",
            "api_key = \"sk_test_@\"",
            "password: md59543f1d82624df2b31672ec0f7050460\n",
            "secret: swift-dockerhub-2026\n",
            "api_key: \"ABC123abc123ABC123abc123ABC123ab\"",
            "token = 'eyJhbGciOiJSUzI1NiJ9.' + 'a'",
            "TOKEN = 'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAuNIzKBOFB77aT'",
            "token = x.@;",
            "apiKey: \"YOUR_API_KEY_GOES_HERE_123\"",
            "apiKey: \"${SOME_SECRET_VALUE_12345}\"",
            "token = \"some-long-identifier-of-a-thing-2\"",
            "token = \"123e4567-e89b-12d3-a456-426614174000\"",
            "password = \"aaaaaaaaaaaaaaaaaaaaaaaa1\"",
            "secret: \"src/components/forms/v2/input.tsx\"",
        ] {
            check(line, false);
        }
    }
}
