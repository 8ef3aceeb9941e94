//! JSON Web Tokens: three base64url parts, of which the first contains the signature algorithm.

use std::ops::Range;

/// Longer parts are not decoded.
const MAX_PART: usize = 4 << 10;

pub(crate) fn matched(text: &[u8], run: &Range<usize>) -> Option<&'static str> {
    let header = text.get(run.clone())?;
    if !header.starts_with(b"eyJ") || header.len() > MAX_PART {
        return None;
    }
    let rest = text.get(run.end..)?.strip_prefix(b".")?;
    let payload = part(rest)?;
    let signature = part(rest.get(payload.len()..)?.strip_prefix(b".")?)?;
    let header = decode(header)?;
    let is_token = memchr::memmem::find(&header, b"\"alg\"").is_some() && payload.len() >= 8 && signature.len() >= 20;
    (is_token && !is_documentation(&decode(payload)?)).then_some("json-web-token")
}

/// Tokens that expired before these rules were written (2025-01-01) are useless.
const EXPIRED: u64 = 1_735_689_600;

/// The example token of the JWT tutorials, or an expired one.
fn is_documentation(payload: &[u8]) -> bool {
    let holds = |text: &[u8]| memchr::memmem::find(payload, text).is_some();
    holds(b"\"1234567890\"")
        || holds(b"John Doe")
        || holds(b"00000000")
        || expiry(payload).is_some_and(|at| at < EXPIRED)
}

/// The number after `"exp":`.
fn expiry(payload: &[u8]) -> Option<u64> {
    let at = memchr::memmem::find(payload, b"\"exp\"")?;
    let rest = payload.get(at + 5..)?.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let digits = rest.iter().take(12).take_while(|byte| byte.is_ascii_digit());
    let number = digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0'));
    (number > 0).then_some(number)
}

fn part(text: &[u8]) -> Option<&[u8]> {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let length = text.iter().take(MAX_PART + 1).take_while(is_part).count();
    text.get(..length).filter(|part| !part.is_empty() && part.len() <= MAX_PART)
}

/// Decodes base64url; an incomplete last group is dropped.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let (mut bits, mut count) = (0u32, 0);
    for byte in text {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'-' => 62,
            b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(digit);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    Some(bytes)
}
